"""An agent's wakes from beginning to end, and what a person may ask meanwhile."""

import pytest

from domain.agent.agent import Agent
from domain.agent.alert_events import (
    AlertSettled,
    Reason,
    TriggerMerged,
    WakeBackedOff,
    WakeBegun,
    WakeDropped,
    WakeQueued,
)
from domain.agent.alertness import (
    Alert,
    due_of,
    next_due,
    next_wake,
    run_key_of,
    run_status,
)
from domain.agent.alertness_rules import (
    back_off,
    begin,
    drop,
    drop_all_for_lifecycle,
    must_pause,
    notice,
    provider_until,
    request,
    settle,
)
from domain.agent.events import (
    AgentDestroyed,
    AgentPaused,
    AutomationSet,
    ModeSet,
)
from domain.errors import REFUSAL_CODES, Refused
from tests.support.agents import (
    ACTIVE,
    AGENT_ID,
    MORNING,
    OFF,
    ON,
    START,
    after,
    alert_of,
    asked,
    born,
    change,
    due,
    due_of_first,
    queued,
    rule_of,
    running,
    ticked,
)

DORMANT = born("hybrid", AgentPaused())
DESTROYED = born("hybrid", AgentDestroyed())
NONE = Alert(AGENT_ID)


# -------------------------------------------------------------------------------- while it runs


def test_one_wake_follows_the_running_one() -> None:
    alert = running()
    assert (alert.running, run_status(alert)) == (run_key_of(AGENT_ID, change(1)), "running")
    assert alert.running_since == START
    (fact,) = notice(alert, ACTIVE, change(2), after(30), ON)
    assert isinstance(fact, WakeQueued)
    assert fact.due_at == after(150)
    alert = alert_of([fact], alert)
    (more,) = notice(alert, ACTIVE, change(3), after(40), ON)
    assert more == TriggerMerged(fact.run_key, change(3))
    assert (next_wake(alert), next_due(alert), due(alert, MORNING)) == (None, "", False)


def test_the_throttle_is_armed_after_a_run_only_where_changes_wait() -> None:
    alert = running()
    assert settle(alert, alert.running, "completed", after(300)) == [
        AlertSettled(alert.running, "completed")
    ]
    follow = alert_of(notice(alert, ACTIVE, change(2), after(10), ON), alert)
    facts = settle(follow, follow.running, "completed", after(300))
    assert facts == [AlertSettled(follow.running, "completed", 0, after(420))]
    assert next_due(alert_of(facts, follow)) == after(420)
    for urgent in (asked("manual"), asked("user"), asked("recovery"), ticked(START)):
        begun = alert_of(notice(alert, ACTIVE, urgent, after(10), ON), alert)
        facts = settle(begun, begun.running, "completed", after(300))
        assert facts == [AlertSettled(begun.running, "completed")]
        assert due(alert_of(facts, begun), after(300))


def test_a_first_backoff_does_not_shorten_the_throttle() -> None:
    alert = running()
    alert = alert_of(notice(alert, ACTIVE, change(2), after(10), ON), alert)
    facts = settle(alert, alert.running, "failed", after(300))
    assert facts == [AlertSettled(alert.running, "failed", 1, after(420))]


def test_a_skipped_wake_leaves_the_backoff_as_it_was() -> None:
    alert = alert_of(settle(running(), running().running, "failed", START), running())
    alert = running(alert_of(notice(alert, ACTIVE, change(2), START, ON), alert))
    facts = settle(alert, alert.running, "skipped", after(5))
    assert facts == [AlertSettled(alert.running, "skipped", 1, after(60))]


def test_a_resume_takes_the_follow_up_out_of_the_throttle() -> None:
    alert = running()
    alert = alert_of(notice(alert, ACTIVE, change(2), after(1), ON), alert)
    alert = alert_of(request(alert, ACTIVE, asked("recovery"), after(2), ON), alert)
    failed = alert_of(settle(alert, alert.running, "failed", after(9)), alert)
    assert (failed.not_before, next_due(failed)) == (after(69), after(2))


def test_settling_what_does_not_run_changes_nothing() -> None:
    assert settle(NONE, "x", "completed", START) == []
    assert settle(running(), "x", "completed", START) == []
    assert settle(queued(), run_key_of(AGENT_ID, change(1)), "completed", START) == []


def test_failures_back_off_and_a_success_forgets_them() -> None:
    alert, at = NONE, START
    minutes = []
    for nth in range(1, 9):
        alert = running(alert_of(notice(alert, ACTIVE, change(nth), at, ON), alert), at)
        (fact,) = settle(alert, alert.running, "failed", at)
        assert isinstance(fact, AlertSettled)
        assert fact.failures == nth
        minutes.append((int(fact.not_before[11:13]) - 12) * 60 + int(fact.not_before[14:16]))
        alert = alert_of([fact], alert)
    assert minutes == [1, 2, 4, 8, 16, 32, 60, 60]
    assert [must_pause(failures) for failures in (0, 4, 5, 6)] == [False, False, True, True]
    assert run_status(alert) == "failed"
    assert due_of_first(notice(alert, ACTIVE, change(20), at, ON)) == after(3600)
    assert due_of_first(notice(alert, ACTIVE, ticked(START), at, ON)) == after(3600)
    alert = running(alert_of(request(alert, ACTIVE, asked("manual"), at, ON), alert), at)
    (fact,) = settle(alert, alert.running, "skipped", at)
    assert fact == AlertSettled(alert.running, "skipped", 8)
    assert settle(alert, alert.running, "completed", at) == [
        AlertSettled(alert.running, "completed")
    ]


def test_a_resumed_agent_begins_anew() -> None:
    alert = alert_of(settle(running(), running().running, "failed", START), running())
    assert (alert.failures, alert.not_before) == (1, after(60))
    facts = request(alert, ACTIVE, asked("recovery"), after(1), ON)
    alert = alert_of(facts, alert)
    assert (alert.failures, alert.not_before, next_due(alert)) == (0, "", after(1))


# ------------------------------------------------------------------------------ a person's request


def test_a_request_takes_the_place_and_the_triggers_of_the_queued_wake() -> None:
    alert = alert_of(notice(queued(), ACTIVE, change(2), after(1), ON), queued())
    old, new = run_key_of(AGENT_ID, change(1)), run_key_of(AGENT_ID, asked("manual"))
    facts = request(alert, ACTIVE, asked("manual"), after(5), ON)
    assert facts == [
        WakeQueued(new, asked("manual"), after(5), f"agent:run:{new}"),
        TriggerMerged(new, change(1)),
        TriggerMerged(new, change(2)),
        WakeDropped(old, "superseded", new),
    ]
    alert = alert_of(facts, alert)
    assert alert.queued is not None
    assert (alert.queued.run_key, alert.queued.reason) == (new, "manual")
    assert alert.queued.triggers == (asked("manual"), change(1), change(2))
    assert next_due(alert) == after(5)


def test_a_request_clears_the_backoff() -> None:
    alert = alert_of(settle(running(), running().running, "failed", START), running())
    alert = alert_of(request(alert, ACTIVE, asked("manual"), after(1), ON), alert)
    assert (alert.not_before, alert.failures, next_due(alert)) == ("", 1, after(1))


def test_a_question_that_is_superseded_keeps_its_words_and_session() -> None:
    facts = request(NONE, ACTIVE, asked("user", 1, words="p1"), START, ON)
    assert isinstance(facts[0], WakeQueued)
    assert facts[0].thread == "agent:session:session-1"
    alert = alert_of(facts)
    alert = alert_of(request(alert, ACTIVE, asked("user", 2, words="p2"), START, ON), alert)
    alert = alert_of(request(alert, ACTIVE, asked("manual"), START, ON), alert)
    assert alert.queued is not None
    assert alert.queued.words == ("p2", "p1")


def test_a_request_while_a_wake_runs_is_the_next_without_throttle() -> None:
    alert = running()
    alert = alert_of(notice(alert, ACTIVE, change(2), after(10), ON), alert)
    facts = request(alert, ACTIVE, asked("manual"), after(20), ON)
    assert isinstance(facts[-1], WakeDropped)
    alert = alert_of(facts, alert)
    assert alert.running == run_key_of(AGENT_ID, change(1))
    alert = alert_of(settle(alert, alert.running, "failed", after(30)), alert)
    assert due(alert, after(30))


@pytest.mark.parametrize(
    ("agent", "reason", "enabled", "code"),
    [
        (Agent(AGENT_ID), "manual", True, "unknown_agent"),
        (DESTROYED, "manual", True, "unknown_agent"),
        (DORMANT, "manual", True, "agent_dormant"),
        (DORMANT, "user", False, "agent_dormant"),
        (ACTIVE, "manual", False, "switched_off"),
        (born("autonomous"), "user", True, "invalid_value"),
    ],
)
def test_a_person_is_told_why_not(agent: Agent, reason: Reason, enabled: bool, code: str) -> None:
    assert code in REFUSAL_CODES
    with pytest.raises(Refused) as refused:
        request(NONE, agent, asked(reason), START, ON if enabled else OFF)
    assert refused.value.code == code


def test_creation_and_recovery_are_never_refused() -> None:
    assert rule_of(request(NONE, DORMANT, asked("creation"), START, ON)) == "dormant"
    assert rule_of(request(NONE, ACTIVE, asked("recovery"), START, OFF)) == "switched_off"


# ------------------------------------------------------------------------------ beginning and end


def test_a_wake_begins_when_it_is_due_or_asked_for() -> None:
    alert = queued()
    run_key = run_key_of(AGENT_ID, change(1))
    assert begin(alert, ACTIVE, run_key, after(119), ON) == []
    assert begin(alert, ACTIVE, run_key, after(120), ON) == [WakeBegun(run_key)]
    assert begin(alert, ACTIVE, run_key, START, ON, now=True) == [WakeBegun(run_key)]
    assert begin(running(alert), ACTIVE, run_key, after(120), ON) == []


def test_one_wake_of_an_agent_runs_at_a_time() -> None:
    alert = running()
    alert = alert_of(notice(alert, ACTIVE, change(2), START, ON), alert)
    assert alert.queued is not None
    for held in (alert, alert_of(back_off(alert, alert.running, MORNING, "budget"), alert)):
        with pytest.raises(Refused) as refused:
            begin(held, ACTIVE, alert.queued.run_key, MORNING, ON, now=True)
        assert refused.value.code == "agent_running"
    with pytest.raises(Refused) as refused:
        begin(alert, ACTIVE, "nobody", MORNING, ON)
    assert refused.value.code == "unknown_wake"


@pytest.mark.parametrize(
    ("agent", "enabled", "code"),
    [(DORMANT, True, "dormant"), (DESTROYED, True, "destroyed"), (ACTIVE, False, "switched_off")],
)
def test_a_queued_wake_of_an_agent_that_may_not_wake_is_dropped(
    agent: Agent, enabled: bool, code: str
) -> None:
    alert, setting = queued(), ON if enabled else OFF
    run_key = run_key_of(AGENT_ID, change(1))
    for now in (True, False):
        facts = begin(alert, agent, run_key, START, setting, now=now)
        assert facts == [WakeDropped(run_key, code)]
    held = running(alert)
    held = alert_of(back_off(held, run_key, MORNING, "provider"), held)
    assert begin(held, agent, run_key, START, setting) == [AlertSettled(run_key, "skipped")]


def test_what_was_queued_before_automation_went_off_runs_only_if_asked_for() -> None:
    alert = queued()
    run_key = run_key_of(AGENT_ID, change(1))
    agent = born("hybrid", AutomationSet(is_on=False))
    assert begin(alert, agent, run_key, MORNING, ON) == [WakeDropped(run_key, "automation_off")]
    assert begin(alert, agent, run_key, MORNING, ON, now=True) == [WakeBegun(run_key)]
    both = alert_of(request(alert, ACTIVE, asked("recovery"), START, ON), alert)
    assert begin(both, agent, run_key, MORNING, ON) == [WakeBegun(run_key)]
    silent = born("hybrid", ModeSet("interactive"))
    assert begin(both, silent, run_key, MORNING, ON) == [WakeDropped(run_key, "mode")]


def test_a_wake_that_waits_for_its_provider_counts_as_queued_and_goes_first() -> None:
    alert = running()
    run_key = alert.running
    alert = alert_of(back_off(alert, run_key, after(600), "provider"), alert)
    assert (alert.running, alert.running_since, run_status(alert)) == ("", "", "queued")
    alert = alert_of(notice(alert, ACTIVE, change(2), after(1), ON), alert)
    assert alert.queued is not None
    assert (next_due(alert), alert.queued.due_at) == (after(600), after(121))
    assert begin(alert, ACTIVE, run_key, after(599), ON) == []
    alert = alert_of(begin(alert, ACTIVE, run_key, after(600), ON), alert, after(600))
    assert (alert.running, alert.running_since) == (run_key, after(600))


def test_a_request_ends_the_wait_of_a_wake_that_has_begun() -> None:
    alert = running()
    run_key = alert.running
    alert = alert_of(back_off(alert, run_key, after(600), "budget"), alert)
    facts = request(alert, ACTIVE, asked("manual"), after(5), ON)
    assert facts[-1] == WakeBackedOff(run_key, after(5), "requested")
    alert = alert_of(facts, alert)
    assert next_wake(alert) == alert.waiting
    assert due(alert, after(5))
    assert len(request(alert, ACTIVE, asked("manual", 2), after(6), ON)) == 3


def test_a_budget_holds_a_queued_wake_whatever_hurries_it() -> None:
    alert = queued()
    assert alert.queued is not None
    alert = alert_of(back_off(alert, alert.queued.run_key, MORNING, "budget"), alert)
    alert = alert_of(notice(alert, ACTIVE, ticked(START), after(1), ON), alert)
    assert alert.queued is not None
    assert (alert.queued.due_at, due_of(alert.queued, alert)) == (after(1), MORNING)
    assert (alert.queued.waits_for, alert.queued.backoffs) == ("budget", 0)
    assert back_off(alert, "nobody", MORNING, "budget") == []


def test_the_wait_for_a_provider_doubles_or_is_the_one_it_names() -> None:
    alert = running()
    waits = []
    for _ in range(8):
        waits.append(provider_until(alert, START))
        alert = alert_of(back_off(alert, alert.running, waits[-1], "provider"), alert)
        alert = running(alert)
    assert waits == [after(60 * minutes) for minutes in (1, 2, 4, 8, 16, 32, 60, 60)]
    assert provider_until(alert, START, 17) == after(17)
    assert provider_until(alert, START, 10**9) == after(86_400)
    assert provider_until(NONE, START) == after(60)


def test_a_pause_ends_all_that_waits_and_leaves_what_runs_to_its_machine() -> None:
    alert = running()
    alert = alert_of(notice(alert, ACTIVE, change(2), START, ON), alert)
    assert alert.queued is not None
    dropped = WakeDropped(alert.queued.run_key, "dormant")
    assert drop_all_for_lifecycle(alert, "dormant") == [dropped]
    assert drop(alert, alert.running, "dormant") == []
    held = alert_of(back_off(alert, alert.running, MORNING, "provider"), alert)
    facts = drop_all_for_lifecycle(held, "dormant")
    assert facts == [AlertSettled(alert.running, "skipped"), dropped]
    empty = alert_of(facts, held)
    assert (empty.begun, empty.queued) == (None, None)
    assert drop_all_for_lifecycle(empty, "dormant") == []


def test_a_request_leaves_a_wait_alone_that_is_over_at_that_instant() -> None:
    alert = running()
    alert = alert_of(back_off(alert, alert.running, after(600), "budget"), alert)
    kinds = [type(fact) for fact in request(alert, ACTIVE, asked("manual"), after(600), ON)]
    assert WakeBackedOff not in kinds

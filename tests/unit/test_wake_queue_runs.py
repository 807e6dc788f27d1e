"""An agent's wakes from beginning to end, and what a person may ask meanwhile."""

import pytest

from domain.agent.agent import Agent, AgentDestroyed, AgentPaused, AutomationSet, ModeSet
from domain.agent.wake_queue import (
    Reason,
    TriggerMerged,
    WakeBackedOff,
    WakeBegun,
    WakeDropped,
    WakeQueue,
    WakeQueued,
    WakeSettled,
    due_of,
    next_due,
    next_wake,
    run_key_of,
    run_status,
)
from domain.agent.wake_queue_rules import (
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
from domain.errors import REFUSAL_CODES, Refused
from tests.support.agents import (
    ACTIVE,
    AGENT_ID,
    MORNING,
    OFF,
    ON,
    START,
    after,
    asked,
    born,
    change,
    due,
    due_of_first,
    queued,
    rule_of,
    running,
    ticked,
    wake_queue_of,
)

DORMANT = born("hybrid", AgentPaused())
DESTROYED = born("hybrid", AgentDestroyed())
NONE = WakeQueue(AGENT_ID)


# -------------------------------------------------------------------------------- while it runs


def test_one_wake_follows_the_running_one() -> None:
    wake_queue = running()
    assert (wake_queue.running, run_status(wake_queue)) == (
        run_key_of(AGENT_ID, change(1)),
        "running",
    )
    assert wake_queue.running_since == START
    (fact,) = notice(wake_queue, ACTIVE, change(2), after(30), ON)
    assert isinstance(fact, WakeQueued)
    assert fact.due_at == after(150)
    wake_queue = wake_queue_of([fact], wake_queue)
    (more,) = notice(wake_queue, ACTIVE, change(3), after(40), ON)
    assert more == TriggerMerged(fact.run_key, change(3))
    assert (next_wake(wake_queue), next_due(wake_queue), due(wake_queue, MORNING)) == (
        None,
        "",
        False,
    )


def test_the_throttle_is_armed_after_a_run_only_where_changes_wait() -> None:
    wake_queue = running()
    assert settle(wake_queue, wake_queue.running, "completed", after(300)) == [
        WakeSettled(wake_queue.running, "completed")
    ]
    follow = wake_queue_of(notice(wake_queue, ACTIVE, change(2), after(10), ON), wake_queue)
    facts = settle(follow, follow.running, "completed", after(300))
    assert facts == [WakeSettled(follow.running, "completed", 0, after(420))]
    assert next_due(wake_queue_of(facts, follow)) == after(420)
    for urgent in (asked("manual"), asked("user"), asked("recovery"), ticked(START)):
        begun = wake_queue_of(notice(wake_queue, ACTIVE, urgent, after(10), ON), wake_queue)
        facts = settle(begun, begun.running, "completed", after(300))
        assert facts == [WakeSettled(begun.running, "completed")]
        assert due(wake_queue_of(facts, begun), after(300))


def test_a_first_backoff_does_not_shorten_the_throttle() -> None:
    wake_queue = running()
    wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, change(2), after(10), ON), wake_queue)
    facts = settle(wake_queue, wake_queue.running, "failed", after(300))
    assert facts == [WakeSettled(wake_queue.running, "failed", 1, after(420))]


def test_a_skipped_wake_leaves_the_backoff_as_it_was() -> None:
    wake_queue = wake_queue_of(settle(running(), running().running, "failed", START), running())
    wake_queue = running(
        wake_queue_of(notice(wake_queue, ACTIVE, change(2), START, ON), wake_queue)
    )
    facts = settle(wake_queue, wake_queue.running, "skipped", after(5))
    assert facts == [WakeSettled(wake_queue.running, "skipped", 1, after(60))]


def test_a_resume_takes_the_follow_up_out_of_the_throttle() -> None:
    wake_queue = running()
    wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, change(2), after(1), ON), wake_queue)
    wake_queue = wake_queue_of(
        request(wake_queue, ACTIVE, asked("recovery"), after(2), ON), wake_queue
    )
    failed = wake_queue_of(settle(wake_queue, wake_queue.running, "failed", after(9)), wake_queue)
    assert (failed.not_before, next_due(failed)) == (after(69), after(2))


def test_settling_what_does_not_run_changes_nothing() -> None:
    assert settle(NONE, "x", "completed", START) == []
    assert settle(running(), "x", "completed", START) == []
    assert settle(queued(), run_key_of(AGENT_ID, change(1)), "completed", START) == []


def test_failures_back_off_and_a_success_forgets_them() -> None:
    wake_queue, at = NONE, START
    minutes = []
    for nth in range(1, 9):
        wake_queue = running(
            wake_queue_of(notice(wake_queue, ACTIVE, change(nth), at, ON), wake_queue), at
        )
        (fact,) = settle(wake_queue, wake_queue.running, "failed", at)
        assert isinstance(fact, WakeSettled)
        assert fact.failures == nth
        minutes.append((int(fact.not_before[11:13]) - 12) * 60 + int(fact.not_before[14:16]))
        wake_queue = wake_queue_of([fact], wake_queue)
    assert minutes == [1, 2, 4, 8, 16, 32, 60, 60]
    assert [must_pause(failures) for failures in (0, 4, 5, 6)] == [False, False, True, True]
    assert run_status(wake_queue) == "failed"
    assert due_of_first(notice(wake_queue, ACTIVE, change(20), at, ON)) == after(3600)
    assert due_of_first(notice(wake_queue, ACTIVE, ticked(START), at, ON)) == after(3600)
    wake_queue = running(
        wake_queue_of(request(wake_queue, ACTIVE, asked("manual"), at, ON), wake_queue), at
    )
    (fact,) = settle(wake_queue, wake_queue.running, "skipped", at)
    assert fact == WakeSettled(wake_queue.running, "skipped", 8)
    assert settle(wake_queue, wake_queue.running, "completed", at) == [
        WakeSettled(wake_queue.running, "completed")
    ]


def test_a_resumed_agent_begins_anew() -> None:
    wake_queue = wake_queue_of(settle(running(), running().running, "failed", START), running())
    assert (wake_queue.failures, wake_queue.not_before) == (1, after(60))
    facts = request(wake_queue, ACTIVE, asked("recovery"), after(1), ON)
    wake_queue = wake_queue_of(facts, wake_queue)
    assert (wake_queue.failures, wake_queue.not_before, next_due(wake_queue)) == (0, "", after(1))


# ------------------------------------------------------------------------------ a person's request


def test_a_request_takes_the_place_and_the_triggers_of_the_queued_wake() -> None:
    wake_queue = wake_queue_of(notice(queued(), ACTIVE, change(2), after(1), ON), queued())
    old, new = run_key_of(AGENT_ID, change(1)), run_key_of(AGENT_ID, asked("manual"))
    facts = request(wake_queue, ACTIVE, asked("manual"), after(5), ON)
    assert facts == [
        WakeQueued(new, asked("manual"), after(5), f"agent:run:{new}"),
        TriggerMerged(new, change(1)),
        TriggerMerged(new, change(2)),
        WakeDropped(old, "superseded", new),
    ]
    wake_queue = wake_queue_of(facts, wake_queue)
    assert wake_queue.queued is not None
    assert (wake_queue.queued.run_key, wake_queue.queued.reason) == (new, "manual")
    assert wake_queue.queued.triggers == (asked("manual"), change(1), change(2))
    assert next_due(wake_queue) == after(5)


def test_a_request_clears_the_backoff() -> None:
    wake_queue = wake_queue_of(settle(running(), running().running, "failed", START), running())
    wake_queue = wake_queue_of(
        request(wake_queue, ACTIVE, asked("manual"), after(1), ON), wake_queue
    )
    assert (wake_queue.not_before, wake_queue.failures, next_due(wake_queue)) == ("", 1, after(1))


def test_a_question_that_is_superseded_keeps_its_words_and_session() -> None:
    facts = request(NONE, ACTIVE, asked("user", 1, words="p1"), START, ON)
    assert isinstance(facts[0], WakeQueued)
    assert facts[0].thread == "agent:session:session-1"
    wake_queue = wake_queue_of(facts)
    wake_queue = wake_queue_of(
        request(wake_queue, ACTIVE, asked("user", 2, words="p2"), START, ON), wake_queue
    )
    wake_queue = wake_queue_of(request(wake_queue, ACTIVE, asked("manual"), START, ON), wake_queue)
    assert wake_queue.queued is not None
    assert wake_queue.queued.words == ("p2", "p1")


def test_a_request_while_a_wake_runs_is_the_next_without_throttle() -> None:
    wake_queue = running()
    wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, change(2), after(10), ON), wake_queue)
    facts = request(wake_queue, ACTIVE, asked("manual"), after(20), ON)
    assert isinstance(facts[-1], WakeDropped)
    wake_queue = wake_queue_of(facts, wake_queue)
    assert wake_queue.running == run_key_of(AGENT_ID, change(1))
    wake_queue = wake_queue_of(
        settle(wake_queue, wake_queue.running, "failed", after(30)), wake_queue
    )
    assert due(wake_queue, after(30))


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
    wake_queue = queued()
    run_key = run_key_of(AGENT_ID, change(1))
    assert begin(wake_queue, ACTIVE, run_key, after(119), ON) == []
    assert begin(wake_queue, ACTIVE, run_key, after(120), ON) == [WakeBegun(run_key)]
    assert begin(wake_queue, ACTIVE, run_key, START, ON, now=True) == [WakeBegun(run_key)]
    assert begin(running(wake_queue), ACTIVE, run_key, after(120), ON) == []


def test_one_wake_of_an_agent_runs_at_a_time() -> None:
    wake_queue = running()
    wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, change(2), START, ON), wake_queue)
    assert wake_queue.queued is not None
    for held in (
        wake_queue,
        wake_queue_of(back_off(wake_queue, wake_queue.running, MORNING, "budget"), wake_queue),
    ):
        with pytest.raises(Refused) as refused:
            begin(held, ACTIVE, wake_queue.queued.run_key, MORNING, ON, now=True)
        assert refused.value.code == "agent_running"
    with pytest.raises(Refused) as refused:
        begin(wake_queue, ACTIVE, "nobody", MORNING, ON)
    assert refused.value.code == "unknown_wake"


@pytest.mark.parametrize(
    ("agent", "enabled", "code"),
    [(DORMANT, True, "dormant"), (DESTROYED, True, "destroyed"), (ACTIVE, False, "switched_off")],
)
def test_a_queued_wake_of_an_agent_that_may_not_wake_is_dropped(
    agent: Agent, enabled: bool, code: str
) -> None:
    wake_queue, setting = queued(), ON if enabled else OFF
    run_key = run_key_of(AGENT_ID, change(1))
    for now in (True, False):
        facts = begin(wake_queue, agent, run_key, START, setting, now=now)
        assert facts == [WakeDropped(run_key, code)]
    held = running(wake_queue)
    held = wake_queue_of(back_off(held, run_key, MORNING, "provider"), held)
    assert begin(held, agent, run_key, START, setting) == [WakeSettled(run_key, "skipped")]


def test_what_was_queued_before_automation_went_off_runs_only_if_asked_for() -> None:
    wake_queue = queued()
    run_key = run_key_of(AGENT_ID, change(1))
    agent = born("hybrid", AutomationSet(is_on=False))
    assert begin(wake_queue, agent, run_key, MORNING, ON) == [
        WakeDropped(run_key, "automation_off")
    ]
    assert begin(wake_queue, agent, run_key, MORNING, ON, now=True) == [WakeBegun(run_key)]
    both = wake_queue_of(request(wake_queue, ACTIVE, asked("recovery"), START, ON), wake_queue)
    assert begin(both, agent, run_key, MORNING, ON) == [WakeBegun(run_key)]
    silent = born("hybrid", ModeSet("interactive"))
    assert begin(both, silent, run_key, MORNING, ON) == [WakeDropped(run_key, "mode")]


def test_a_wake_that_waits_for_its_provider_counts_as_queued_and_goes_first() -> None:
    wake_queue = running()
    run_key = wake_queue.running
    wake_queue = wake_queue_of(back_off(wake_queue, run_key, after(600), "provider"), wake_queue)
    assert (wake_queue.running, wake_queue.running_since, run_status(wake_queue)) == (
        "",
        "",
        "queued",
    )
    wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, change(2), after(1), ON), wake_queue)
    assert wake_queue.queued is not None
    assert (next_due(wake_queue), wake_queue.queued.due_at) == (after(600), after(121))
    assert begin(wake_queue, ACTIVE, run_key, after(599), ON) == []
    wake_queue = wake_queue_of(
        begin(wake_queue, ACTIVE, run_key, after(600), ON), wake_queue, after(600)
    )
    assert (wake_queue.running, wake_queue.running_since) == (run_key, after(600))


def test_a_request_ends_the_wait_of_a_wake_that_has_begun() -> None:
    wake_queue = running()
    run_key = wake_queue.running
    wake_queue = wake_queue_of(back_off(wake_queue, run_key, after(600), "budget"), wake_queue)
    facts = request(wake_queue, ACTIVE, asked("manual"), after(5), ON)
    assert facts[-1] == WakeBackedOff(run_key, after(5), "requested")
    wake_queue = wake_queue_of(facts, wake_queue)
    assert next_wake(wake_queue) == wake_queue.waiting
    assert due(wake_queue, after(5))
    assert len(request(wake_queue, ACTIVE, asked("manual", 2), after(6), ON)) == 3


def test_a_budget_holds_a_queued_wake_whatever_hurries_it() -> None:
    wake_queue = queued()
    assert wake_queue.queued is not None
    wake_queue = wake_queue_of(
        back_off(wake_queue, wake_queue.queued.run_key, MORNING, "budget"), wake_queue
    )
    wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, ticked(START), after(1), ON), wake_queue)
    assert wake_queue.queued is not None
    assert (wake_queue.queued.due_at, due_of(wake_queue.queued, wake_queue)) == (after(1), MORNING)
    assert (wake_queue.queued.waits_for, wake_queue.queued.backoffs) == ("budget", 0)
    assert back_off(wake_queue, "nobody", MORNING, "budget") == []


def test_the_wait_for_a_provider_doubles_or_is_the_one_it_names() -> None:
    wake_queue = running()
    waits = []
    for _ in range(8):
        waits.append(provider_until(wake_queue, START))
        wake_queue = wake_queue_of(
            back_off(wake_queue, wake_queue.running, waits[-1], "provider"), wake_queue
        )
        wake_queue = running(wake_queue)
    assert waits == [after(60 * minutes) for minutes in (1, 2, 4, 8, 16, 32, 60, 60)]
    assert provider_until(wake_queue, START, 17) == after(17)
    assert provider_until(wake_queue, START, 10**9) == after(86_400)
    assert provider_until(NONE, START) == after(60)


def test_a_pause_ends_all_that_waits_and_leaves_what_runs_to_its_machine() -> None:
    wake_queue = running()
    wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, change(2), START, ON), wake_queue)
    assert wake_queue.queued is not None
    dropped = WakeDropped(wake_queue.queued.run_key, "dormant")
    assert drop_all_for_lifecycle(wake_queue, "dormant") == [dropped]
    assert drop(wake_queue, wake_queue.running, "dormant") == []
    held = wake_queue_of(back_off(wake_queue, wake_queue.running, MORNING, "provider"), wake_queue)
    facts = drop_all_for_lifecycle(held, "dormant")
    assert facts == [WakeSettled(wake_queue.running, "skipped"), dropped]
    empty = wake_queue_of(facts, held)
    assert (empty.begun, empty.queued) == (None, None)
    assert drop_all_for_lifecycle(empty, "dormant") == []


def test_a_request_leaves_a_wait_alone_that_is_over_at_that_instant() -> None:
    wake_queue = running()
    wake_queue = wake_queue_of(
        back_off(wake_queue, wake_queue.running, after(600), "budget"), wake_queue
    )
    kinds = [type(fact) for fact in request(wake_queue, ACTIVE, asked("manual"), after(600), ON)]
    assert WakeBackedOff not in kinds

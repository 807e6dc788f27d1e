"""What an agent's attention makes of triggers, beginnings and ends."""

import pytest

from domain.agent.agent import Agent, AgentDestroyed, AgentPaused, AutomationSet, Subscribed
from domain.agent.wake_queue import (
    SEEN_KEPT,
    TRIGGERS_KEPT,
    Reason,
    TriggerMerged,
    TriggerSuppressed,
    WakeDropped,
    WakeQueue,
    WakeQueued,
    WakeQueueFact,
    next_due,
    run_key_of,
    run_status,
)
from domain.agent.wake_queue_rules import (
    Setting,
    notice,
    request,
    settle,
    throttled,
)
from domain.log.keys import key
from domain.log.timestamps import later
from tests.support.agents import (
    ACTIVE,
    AGENT_ID,
    AT_DAWN,
    BUILT_IN,
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
LINKED = Subscribed("linked", ("key:TASK",), defers_propagated=True)
LINKS = born("hybrid", LINKED)
NONE = WakeQueue(AGENT_ID)


# ------------------------------------------------------------------------------------- run keys


def test_run_keys_are_derived_from_what_caused_the_wake() -> None:
    assert run_key_of("a", change(1)) == key("run/subscription", "a", BUILT_IN, key("change", "1"))
    assert run_key_of("a", ticked("t1", "t2")) == key("run/timer", "a", "timer-1", "t1")
    assert run_key_of("a", asked("user", 2)) == key("run/user", "a", "session-1", "2")
    reasons: list[Reason] = ["manual", "creation", "recovery"]
    for reason in reasons:
        assert run_key_of("a", asked(reason, 7)) == key(f"run/{reason}", "a", "r1", "7")


# -------------------------------------------------------------------------------------- routing


@pytest.mark.parametrize(
    ("agent", "setting", "rule"),
    [
        (DESTROYED, OFF, "destroyed"),
        (Agent(AGENT_ID), ON, "destroyed"),
        (born("interactive", AgentPaused()), OFF, "dormant"),
        (Agent(AGENT_ID, "created"), ON, "dormant"),
        (born("interactive", AutomationSet(is_on=False)), OFF, "switched_off"),
        (born("interactive", AutomationSet(is_on=False)), ON, "mode"),
        (born("hybrid", AutomationSet(is_on=False)), ON, "automation_off"),
        (born("autonomous"), ON, "own_write"),
    ],
)
def test_the_first_rule_that_holds_suppresses(agent: Agent, setting: Setting, rule: str) -> None:
    facts = notice(NONE, agent, change(1), START, setting, origin=f"agent:{AGENT_ID}")
    assert rule_of(facts) == rule


@pytest.mark.parametrize("origin", ["person", "import:markdown"])
def test_persons_and_imports_wake_agents(origin: str) -> None:
    assert isinstance(notice(NONE, ACTIVE, change(1), START, ON, origin=origin)[0], WakeQueued)


def test_other_agents_are_heard_where_asked_for_and_up_to_three_hops() -> None:
    agent = born("hybrid", Subscribed("ears", ("key:TASK",), hears_agents=True))

    def heard(subscription: str, hop: int, by: str = "agent:other") -> list[WakeQueueFact]:
        trigger = change(1, subscription=subscription, hop=hop)
        return notice(NONE, agent, trigger, START, ON, origin=by)

    assert rule_of(heard(BUILT_IN, 1)) == "agent_write"
    assert rule_of(heard("gone", 1)) == "agent_write"
    assert isinstance(heard("ears", 3)[0], WakeQueued)
    assert rule_of(heard("ears", 4)) == "hops"
    assert rule_of(heard("ears", 1, f"agent:{AGENT_ID}")) == "own_write"


@pytest.mark.parametrize(
    ("mode", "heard"),
    [
        ("autonomous", {"subscription", "timer", "manual", "creation", "recovery"}),
        ("interactive", {"user", "manual"}),
        ("hybrid", {"subscription", "timer", "manual", "creation", "recovery", "user"}),
    ],
)
def test_a_mode_says_what_an_agent_wakes_on(mode: str, heard: set[str]) -> None:
    requests: tuple[Reason, ...] = ("user", "manual", "creation", "recovery")
    everything = [change(1), ticked(START), *(asked(reason) for reason in requests)]
    for trigger in everything:
        (fact,) = notice(NONE, born(mode), trigger, START, ON)
        if trigger.reason in heard:
            assert isinstance(fact, WakeQueued)
        else:
            assert fact == TriggerSuppressed(trigger, "mode")


def test_timers_are_automation_and_requests_are_not() -> None:
    agent = born("hybrid", AutomationSet(is_on=False))
    assert rule_of(notice(NONE, agent, ticked(START), START, ON)) == "automation_off"
    assert isinstance(request(NONE, agent, asked("recovery"), START, ON)[0], WakeQueued)


def test_the_same_trigger_again_is_no_second_one() -> None:
    wake_queue = queued()
    assert notice(wake_queue, ACTIVE, change(1), after(1), ON) == []
    assert notice(running(wake_queue), ACTIVE, change(1), after(1), ON) == []
    runs = running(wake_queue)
    done = wake_queue_of(settle(runs, runs.running, "completed", after(9)), runs)
    assert notice(done, ACTIVE, change(1), after(10), ON) == []
    suppressed = wake_queue_of(notice(NONE, DORMANT, change(2), START, ON))
    assert notice(suppressed, ACTIVE, change(2), after(1), ON) == []
    assert request(suppressed, DORMANT, change(2), after(1), ON) == []


def test_what_the_agent_saw_on_another_machine_wakes_it_no_more() -> None:
    (fact,) = notice(NONE, ACTIVE, change(2), START, ON, is_seen=True)
    assert fact == TriggerSuppressed(change(2), "seen_elsewhere")


def test_a_wake_that_is_dropped_and_does_not_wait_leaves_what_waits() -> None:
    waits = queued()
    assert wake_queue_of([WakeDropped("another", "cancelled")], waits) == waits


# ------------------------------------------------------------------------------ queue and throttle


def test_a_first_match_is_due_in_two_minutes() -> None:
    trigger = change(1)
    run_key = run_key_of(AGENT_ID, trigger)
    facts = notice(NONE, ACTIVE, trigger, START, ON)
    assert facts == [WakeQueued(run_key, trigger, after(120), f"agent:run:{run_key}")]
    wake_queue = wake_queue_of(facts)
    assert (next_due(wake_queue), run_status(wake_queue)) == (after(120), "queued")
    assert (due(wake_queue, after(119)), due(wake_queue, after(120))) == (False, True)


def test_later_matches_merge_and_do_not_move_the_wake() -> None:
    wake_queue = queued()
    facts = notice(wake_queue, ACTIVE, change(2, hop=2), after(60), ON)
    assert facts == [TriggerMerged(run_key_of(AGENT_ID, change(1)), change(2, hop=2))]
    wake_queue = wake_queue_of(facts, wake_queue)
    assert wake_queue.queued is not None
    assert (wake_queue.queued.triggers, wake_queue.queued.hop) == ((change(1), change(2, hop=2)), 2)
    assert (next_due(wake_queue), wake_queue.changed) == (after(120), 2)


def test_matches_only_through_a_link_wait_for_the_morning_where_asked_for() -> None:
    far = change(1, subscription="linked", is_propagated=True)
    assert due_of_first(notice(NONE, LINKS, far, START, AT_DAWN)) == MORNING
    assert due_of_first(notice(NONE, LINKS, far, START, ON)) == after(120)
    own = change(1, is_propagated=True)
    assert due_of_first(notice(NONE, LINKS, own, START, AT_DAWN)) == after(120)
    near = change(1, subscription="linked")
    assert due_of_first(notice(NONE, LINKS, near, START, AT_DAWN)) == after(120)


def test_a_direct_match_hurries_a_wake_that_waits_for_the_morning() -> None:
    far = change(1, subscription="linked", is_propagated=True)
    wake_queue = wake_queue_of(notice(NONE, LINKS, far, START, AT_DAWN))
    farther = change(2, subscription="linked", is_propagated=True)
    facts = notice(wake_queue, LINKS, farther, after(10), AT_DAWN)
    assert due_of_first(facts) == ""
    wake_queue = wake_queue_of(facts, wake_queue)
    facts = notice(wake_queue, LINKS, change(3), after(60), AT_DAWN)
    assert due_of_first(facts) == after(180)
    wake_queue = wake_queue_of(facts, wake_queue)
    assert next_due(wake_queue) == after(180)
    assert due_of_first(notice(wake_queue, LINKS, change(4), after(70), AT_DAWN)) == ""


def test_another_match_through_a_link_does_not_hurry_the_wake() -> None:
    far = change(1, subscription="linked", is_propagated=True)
    wake_queue = wake_queue_of(notice(NONE, LINKS, far, START, AT_DAWN))
    farther = change(2, subscription="linked", is_propagated=True)
    sooner = Setting(is_enabled=True, propagated_due=after(600))
    assert due_of_first(notice(wake_queue, LINKS, farther, after(10), sooner)) == ""


def test_a_backoff_holds_off_the_morning_too() -> None:
    held = wake_queue_of(settle(running(), running().running, "failed", MORNING), running())
    far = change(2, subscription="linked", is_propagated=True)
    assert due_of_first(notice(held, LINKS, far, START, AT_DAWN)) == later(MORNING, seconds=60)


def test_a_wake_with_a_direct_match_is_no_longer_one_through_links_only() -> None:
    far = change(1, subscription="linked", is_propagated=True)
    wake_queue = wake_queue_of(notice(NONE, LINKS, far, START, AT_DAWN))
    assert wake_queue.queued is not None
    assert wake_queue.queued.is_propagated_only
    wake_queue = wake_queue_of(notice(wake_queue, LINKS, change(2), START, AT_DAWN), wake_queue)
    assert wake_queue.queued is not None
    assert not wake_queue.queued.is_propagated_only


def test_the_trigger_that_made_the_run_key_is_never_left_out() -> None:
    wake_queue = queued()
    for nth in range(2, TRIGGERS_KEPT + 3):
        wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, change(nth), START, ON), wake_queue)
    assert wake_queue.queued is not None
    assert wake_queue.queued.triggers[:2] == (change(1), change(4))


def test_a_direct_match_just_before_the_morning_does_not_delay_it() -> None:
    far = change(1, subscription="linked", is_propagated=True)
    wake_queue = wake_queue_of(notice(NONE, LINKS, far, START, AT_DAWN))
    early = later(MORNING, seconds=-60)
    assert due_of_first(notice(wake_queue, LINKS, change(2), early, AT_DAWN)) == ""


def test_a_timer_is_due_when_it_ticks_and_takes_the_queued_wake_along() -> None:
    assert due_of_first(notice(NONE, ACTIVE, ticked(START), START, ON)) == START
    wake_queue = queued()
    assert due_of_first(notice(wake_queue, ACTIVE, ticked(START), after(5), ON)) == after(5)
    assert due_of_first(notice(wake_queue, ACTIVE, ticked(START), after(500), ON)) == ""


def test_creation_and_resume_are_due_at_once_and_join_what_is_queued() -> None:
    assert due_of_first(request(NONE, ACTIVE, asked("creation"), START, ON)) == START
    wake_queue = queued()
    (fact,) = request(wake_queue, ACTIVE, asked("recovery"), after(5), ON)
    assert fact == TriggerMerged(run_key_of(AGENT_ID, change(1)), asked("recovery"), after(5))


def test_a_wake_names_a_bounded_number_of_triggers_and_keeps_its_own() -> None:
    wake_queue = wake_queue_of(request(NONE, ACTIVE, asked("creation"), START, ON))
    for nth in range(TRIGGERS_KEPT + 10):
        trigger = change(nth) if nth != 1 else asked("recovery")
        wake_queue = wake_queue_of(notice(wake_queue, ACTIVE, trigger, START, ON), wake_queue)
    assert wake_queue.queued is not None
    kept = wake_queue.queued.triggers
    assert len(kept) == TRIGGERS_KEPT
    assert [kept[0], kept[1], kept[-1]] == [
        asked("creation"),
        asked("recovery"),
        change(TRIGGERS_KEPT + 9),
    ]
    assert len(wake_queue.seen) == SEEN_KEPT


def test_what_is_elsewhere_leaves_the_report_fresh() -> None:
    own = notice(NONE, ACTIVE, change(5), START, ON, origin=f"agent:{AGENT_ID}")
    assert wake_queue_of(own).changed == 0
    asleep = notice(NONE, DORMANT, change(5), START, ON)
    assert wake_queue_of(asleep).changed == 5
    assert (
        wake_queue_of(notice(NONE, ACTIVE, change(3), START, ON), wake_queue_of(asleep)).changed
        == 5
    )


def test_the_throttle_is_a_setting_that_travels() -> None:
    assert throttled(START) == throttled(START, 120) == later(START, seconds=120)
    assert throttled(START, 5) == later(START, seconds=5)

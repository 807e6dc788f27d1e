"""An agent's wake queue: triggers, beginnings, ends, a person's word, and stale reports."""

import pytest

from domain.agent import agent as a
from domain.agent import wake_queue as q
from domain.agent.wake_queue_rules import (
    Setting,
    back_off,
    begin,
    cancel,
    notice,
    order_sleep,
    provider_until,
    request,
    sleep,
    throttled,
)
from domain.errors import REFUSAL_CODES, Refused
from domain.log.keys import key
from domain.log.state import RecordedEvent
from domain.log.timestamps import later
from tests.support.agents import (
    ACTIVE,
    AGENT_ID,
    BUILT_IN,
    MORNING,
    OFF,
    ON,
    START,
    after,
    agent_of,
    asked,
    born,
    change,
    due,
    queued,
    rule_of,
    running,
    ticked,
    wake_queue_of,
)

DORMANT = born("hybrid", a.AgentPaused())
DESTROYED = born("hybrid", a.AgentDestroyed())
NONE = q.WakeQueue(AGENT_ID)


# ------------------------------------------------------------------------------------- run keys


def test_run_keys_are_derived_from_what_caused_the_wake() -> None:
    assert q.run_key_of("a", change(1)) == key(
        "run/subscription", "a", BUILT_IN, key("change", "1")
    )
    assert q.run_key_of("a", ticked("t1", "t2")) == key("run/timer", "a", "timer-1", "t1")
    assert q.run_key_of("a", asked("user", 2)) == key("run/user", "a", "session-1", "2")
    reasons: list[q.Reason] = ["manual", "creation", "recovery"]
    for reason in reasons:
        assert q.run_key_of("a", asked(reason, 7)) == key(f"run/{reason}", "a", "r1", "7")


# -------------------------------------------------------------------------------------- routing


@pytest.mark.parametrize(
    ("agent", "setting", "rule"),
    [
        (DESTROYED, OFF, "destroyed"),
        (a.Agent(AGENT_ID), ON, "destroyed"),
        (born("interactive", a.AgentPaused()), OFF, "dormant"),
        (a.Agent(AGENT_ID, "created"), ON, "dormant"),
        (born("interactive", a.AutomationSet(is_on=False)), OFF, "switched_off"),
        (born("interactive", a.AutomationSet(is_on=False)), ON, "mode"),
        (born("hybrid", a.AutomationSet(is_on=False)), ON, "automation_off"),
        (born("autonomous"), ON, "own_write"),
    ],
)
def test_the_first_rule_that_holds_suppresses(agent: a.Agent, setting: Setting, rule: str) -> None:
    facts = notice(NONE, agent, change(1), START, setting, origin=f"agent:{AGENT_ID}")
    assert rule_of(facts) == rule


def test_what_the_agent_saw_on_another_machine_wakes_it_no_more() -> None:
    (fact,) = notice(NONE, ACTIVE, change(2), START, ON, is_seen=True)
    assert fact == q.TriggerSuppressed(change(2), "seen_elsewhere")


# ------------------------------------------------------------------------------ queue and throttle


def test_a_first_match_is_due_in_two_minutes() -> None:
    trigger = change(1)
    run_key = q.run_key_of(AGENT_ID, trigger)
    facts = notice(NONE, ACTIVE, trigger, START, ON)
    assert facts == [q.WakeQueued(run_key, trigger, after(120), f"agent:run:{run_key}")]
    wake_queue = wake_queue_of(facts)
    assert (q.next_due(wake_queue), q.run_status(wake_queue)) == (after(120), "queued")
    assert (due(wake_queue, after(119)), due(wake_queue, after(120))) == (False, True)


def test_the_throttle_is_a_setting_that_travels() -> None:
    assert throttled(START) == throttled(START, 120) == later(START, seconds=120)
    assert throttled(START, 5) == later(START, seconds=5)


# -------------------------------------------------------------------------------- while it runs


# ------------------------------------------------------------------------------ a person's request


def test_a_question_that_is_superseded_keeps_its_words_and_session() -> None:
    facts = request(NONE, ACTIVE, asked("user", 1, words="p1"), START, ON)
    assert isinstance(facts[0], q.WakeQueued)
    assert facts[0].thread == "agent:session:session-1"
    wake_queue = wake_queue_of(facts)
    wake_queue = wake_queue_of(
        request(wake_queue, ACTIVE, asked("user", 2, words="p2"), START, ON), wake_queue
    )
    wake_queue = wake_queue_of(request(wake_queue, ACTIVE, asked("manual"), START, ON), wake_queue)
    assert wake_queue.queued is not None
    assert wake_queue.queued.words == ("p2", "p1")


@pytest.mark.parametrize(
    ("agent", "reason", "enabled", "code"),
    [
        (a.Agent(AGENT_ID), "manual", True, "unknown_agent"),
        (DESTROYED, "manual", True, "unknown_agent"),
        (DORMANT, "manual", True, "agent_dormant"),
        (DORMANT, "user", False, "agent_dormant"),
        (ACTIVE, "manual", False, "switched_off"),
        (born("autonomous"), "user", True, "invalid_value"),
    ],
)
def test_a_person_is_told_why_not(
    agent: a.Agent, reason: q.Reason, enabled: bool, code: str
) -> None:
    assert code in REFUSAL_CODES
    with pytest.raises(Refused) as refused:
        request(NONE, agent, asked(reason), START, ON if enabled else OFF)
    assert refused.value.code == code


def test_creation_and_recovery_are_never_refused() -> None:
    assert rule_of(request(NONE, DORMANT, asked("creation"), START, ON)) == "dormant"
    assert rule_of(request(NONE, ACTIVE, asked("recovery"), START, OFF)) == "switched_off"


# ------------------------------------------------------------------------------ beginning and end


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


# ------------------------------------------------------------------------------- what a person says

ASLEEP = wake_queue_of([q.AgentSlept(MORNING)])


def begun(wake_queue: q.WakeQueue, at: str, *, now: bool = False) -> list[object]:
    assert wake_queue.queued is not None
    return list(begin(wake_queue, ACTIVE, wake_queue.queued.run_key, at, ON, now=now))


def asleep_as(wake_queue: q.WakeQueue, *orders: a.SleepOrdered) -> str:
    """Until when an agent sleeps that was ordered to."""
    return q.heeding(wake_queue, agent_of(orders, ACTIVE)).sleeps_until or ""


def ordered(
    agent: a.Agent, until: str, *queues: q.WakeQueue, at: str = START
) -> list[a.SleepOrdered]:
    return order_sleep(agent, queues, until, at)


def test_an_agent_sleeps_until_the_later_of_what_holds_everywhere_and_here() -> None:
    assert asleep_as(ASLEEP, a.SleepOrdered(after(60))) == MORNING
    assert asleep_as(ASLEEP, a.SleepOrdered(longer := after(172_800))) == longer
    assert asleep_as(ASLEEP) == MORNING
    assert asleep_as(ASLEEP, a.SleepOrdered()) == MORNING  # who said that did not know


@pytest.mark.parametrize("until", [START, after(-1), "tomorrow", "2027-02-01"])
def test_a_sleep_ends_at_a_time_to_come_and_who_is_destroyed_has_none(until: str) -> None:
    destroyed = born("hybrid", a.AgentDestroyed())
    for agent, told, code in (
        (ACTIVE, until, "invalid_value"),
        (destroyed, MORNING, "unknown_agent"),
    ):
        with pytest.raises(Refused) as refused:
            ordered(agent, told)
        assert refused.value.code == code
        with pytest.raises(Refused) as refused:
            sleep(wake_queue_of([]), agent, told, START)
        assert refused.value.code == code


@pytest.mark.parametrize("trigger", [change(1), ticked(START), asked("creation")])
def test_what_comes_while_an_agent_sleeps_is_queued_until_it_wakes(trigger: q.Trigger) -> None:
    facts = notice(ASLEEP, ACTIVE, trigger, START, ON)
    then = wake_queue_of(facts, ASLEEP)
    assert then.queued is not None
    assert q.next_due(then) == MORNING
    for is_now in (False, True):
        assert begun(then, after(3_600), now=is_now) == []
        assert begun(then, MORNING, now=is_now) == [q.WakeBegun(then.queued.run_key)]
    ended = wake_queue_of([q.AgentSlept()], then)
    assert q.next_due(ended) < MORNING


def test_a_queued_wake_is_dropped_by_the_persons_word() -> None:
    waiting = queued()
    assert waiting.queued is not None
    run_key = waiting.queued.run_key
    assert cancel(waiting, run_key) == [q.WakeDropped(run_key, "cancelled")]
    assert wake_queue_of(cancel(waiting, run_key), waiting).queued is None


# ------------------------------------------------------------------------------------ stale reports

SEEN = {"desk": 20, "laptop": 80}


def noticed(*changes: tuple[int, str, int], rule: str = "dormant") -> q.WakeQueue:
    """The attention at the desk after changes: their number here, whose they are, and there."""
    queue = q.WAKE_QUEUE.initial("a1")
    for position, of, n in changes:
        told = q.Trigger("subscription", "s1", "desk", position, str(position), of=of, of_n=n)
        fact = q.TriggerSuppressed(told, rule)  # type: ignore[arg-type]  # one of the rules
        queue = q.WAKE_QUEUE.evolve(
            queue, RecordedEvent("alert:a1@desk", 1, "desk", 1, 0, START, fact)
        )
    return queue


@pytest.mark.parametrize(
    ("change", "is_stale"),
    [
        ((20, "", 0), False),  # the wake knew the desk up to there
        ((21, "", 0), True),  # later at the desk, though the laptop's numbers are higher
        ((90, "laptop", 80), False),  # it came with a late marker, and the wake had seen it
        ((90, "laptop", 81), True),
        ((21, "phone", 3), True),  # nobody had heard of the phone
    ],
)
def test_what_the_report_speaks_of_is_judged_by_the_numbers_of_who_wrote_it(
    change: tuple[int, str, int], is_stale: bool
) -> None:
    assert q.is_news(noticed(change), 90, SEEN) is is_stale


def test_the_newest_change_of_each_machine_counts() -> None:
    queue = noticed((5, "laptop", 81), (30, "laptop", 70), (31, "", 0), (19, "", 0))
    assert queue.changed_of == {"laptop": 81, "desk": 31}
    assert queue.changed == 31
    assert q.is_news(queue, 0, {"laptop": 81, "desk": 31}) is False


def test_alone_the_number_here_tells() -> None:
    assert [q.is_news(noticed((7, "", 0)), position) for position in (6, 7)] == [True, False]
    assert not q.is_news(noticed(), 0)


def test_what_does_not_concern_the_agent_makes_nothing_stale() -> None:
    assert not q.is_news(noticed((7, "", 0), rule="seen_elsewhere"), 0)

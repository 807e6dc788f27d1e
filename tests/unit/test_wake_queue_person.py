"""What a person says to an agent's attention: sleep, and cancel a wake that is queued."""

import pytest

from domain.agent.agent import Agent, AgentDestroyed, SleepOrdered
from domain.agent.wake_queue import (
    AgentSlept,
    Reason,
    Trigger,
    WakeBackedOff,
    WakeBegun,
    WakeDropped,
    WakeQueue,
    asleep_until,
    due_of,
    heeding,
    next_due,
)
from domain.agent.wake_queue_rules import begin, cancel, notice, order_sleep, request, sleep
from domain.errors import Refused
from domain.log.wire import Imported
from tests.support.agents import (
    ACTIVE,
    ON,
    START,
    after,
    agent_of,
    asked,
    born,
    change,
    queued,
    running,
    ticked,
    wake_queue_of,
)

MORNING = after(86_400)
ASLEEP = wake_queue_of([AgentSlept(MORNING)])


def begun(wake_queue: WakeQueue, at: str, *, now: bool = False) -> list[object]:
    assert wake_queue.queued is not None
    return list(begin(wake_queue, ACTIVE, wake_queue.queued.run_key, at, ON, now=now))


def asleep_as(wake_queue: WakeQueue, *orders: SleepOrdered) -> str:
    """Until when an agent sleeps that was ordered to."""
    return heeding(wake_queue, agent_of(orders, ACTIVE)).sleeps_until or ""


def ordered(agent: Agent, until: str, *queues: WakeQueue, at: str = START) -> list[SleepOrdered]:
    return order_sleep(agent, queues, until, at)


def test_an_agent_is_ordered_to_sleep_once_and_the_order_may_be_moved_and_taken_back() -> None:
    asleep = agent_of([SleepOrdered(MORNING)], ACTIVE)
    assert ordered(ACTIVE, MORNING) == [SleepOrdered(MORNING)]
    assert ordered(asleep, MORNING) == []
    assert ordered(asleep, after(60)) == [SleepOrdered(after(60))]
    assert ordered(asleep, "") == [SleepOrdered()]
    assert ordered(asleep, "", at=MORNING) == ordered(ACTIVE, "") == []


def test_an_agent_sleeps_until_the_later_of_what_holds_everywhere_and_here() -> None:
    assert asleep_as(ASLEEP, SleepOrdered(after(60))) == MORNING
    assert asleep_as(ASLEEP, SleepOrdered(later := after(172_800))) == later
    assert asleep_as(ASLEEP) == MORNING
    assert asleep_as(ASLEEP, SleepOrdered()) == MORNING  # who said that did not know


def test_a_new_order_takes_the_place_of_what_was_said_on_one_machine() -> None:
    (moved,), (ended,) = ordered(ACTIVE, after(60), ASLEEP), ordered(ACTIVE, "", ASLEEP)
    known = (Imported("r1", 1),)
    assert (moved, ended) == (SleepOrdered(after(60), known), SleepOrdered("", known))
    assert (asleep_as(ASLEEP, moved), asleep_as(ASLEEP, ended)) == (after(60), "")
    assert asleep_as(ASLEEP, ended, SleepOrdered(after(60))) == after(60)
    assert ordered(agent_of([ended], ACTIVE), "", ASLEEP) == []
    assert ordered(ACTIVE, "", ASLEEP, at=MORNING) == []  # it is over by itself
    again = wake_queue_of([AgentSlept(after(90))], ASLEEP, first=2)  # nobody knew of that
    assert asleep_as(again, ended) == after(90)


@pytest.mark.parametrize("until", [START, after(-1), "tomorrow", "2027-02-01"])
def test_an_order_to_sleep_names_a_time_to_come(until: str) -> None:
    with pytest.raises(Refused, match="no time to come"):
        ordered(ACTIVE, until)
    with pytest.raises(Refused) as refused:
        ordered(born("hybrid", AgentDestroyed()), MORNING)
    assert refused.value.code == "unknown_agent"


def test_what_comes_while_an_agent_is_ordered_to_sleep_waits_unless_a_person_asks() -> None:
    agent = agent_of([SleepOrdered(MORNING)], ACTIVE)
    held = wake_queue_of(notice(wake_queue_of([]), agent, change(1), START, ON))
    assert held.queued is not None
    run_key = held.queued.run_key
    for is_now in (False, True):
        assert begin(held, agent, run_key, after(3_600), ON, now=is_now) == []
        assert begin(held, agent, run_key, MORNING, ON, now=is_now) == [WakeBegun(run_key)]
    then = wake_queue_of(request(held, agent, asked("manual"), after(60), ON), held)
    assert then.queued is not None
    run_key = then.queued.run_key
    assert begin(then, agent, run_key, after(60), ON) == [WakeBegun(run_key)]


def test_an_agent_is_put_to_sleep_once_and_its_sleep_may_be_moved_and_ended() -> None:
    assert sleep(wake_queue_of([]), ACTIVE, MORNING, START) == [AgentSlept(MORNING)]
    assert sleep(ASLEEP, ACTIVE, MORNING, START) == []
    assert sleep(ASLEEP, ACTIVE, after(60), START) == [AgentSlept(after(60))]
    assert sleep(ASLEEP, ACTIVE, "", START) == [AgentSlept()]
    assert sleep(ASLEEP, ACTIVE, "", MORNING) == []
    assert sleep(wake_queue_of([]), ACTIVE, "", START) == []


@pytest.mark.parametrize("until", [START, after(-1), "tomorrow", "2027-02-01"])
def test_a_sleep_ends_at_a_time_to_come(until: str) -> None:
    with pytest.raises(Refused, match="no time to come"):
        sleep(wake_queue_of([]), ACTIVE, until, START)


def test_who_is_destroyed_does_not_sleep() -> None:
    with pytest.raises(Refused) as refused:
        sleep(wake_queue_of([]), born("hybrid", AgentDestroyed()), MORNING, START)
    assert refused.value.code == "unknown_agent"


@pytest.mark.parametrize("trigger", [change(1), ticked(START), asked("creation")])
def test_what_comes_while_an_agent_sleeps_is_queued_until_it_wakes(trigger: Trigger) -> None:
    facts = notice(ASLEEP, ACTIVE, trigger, START, ON)
    then = wake_queue_of(facts, ASLEEP)
    assert then.queued is not None
    assert next_due(then) == MORNING
    for is_now in (False, True):
        assert begun(then, after(3_600), now=is_now) == []
        assert begun(then, MORNING, now=is_now) == [WakeBegun(then.queued.run_key)]
    ended = wake_queue_of([AgentSlept()], then)
    assert next_due(ended) < MORNING


@pytest.mark.parametrize("reason", ["manual", "user", "recovery"])
def test_a_person_wakes_who_sleeps_and_takes_what_was_queued_along(reason: Reason) -> None:
    held = wake_queue_of(notice(ASLEEP, ACTIVE, change(1), START, ON), ASLEEP)
    then = wake_queue_of(request(held, ACTIVE, asked(reason), after(60), ON), held)
    assert then.queued is not None
    assert asleep_until(then.queued, then) == ""
    assert due_of(then.queued, then) == after(60)
    assert then.queued.trigger_count == 2
    assert then.sleeps_until == MORNING


def test_a_wake_that_began_before_goes_on_while_its_agent_sleeps() -> None:
    then = running()
    run_key = then.running
    asleep = wake_queue_of([AgentSlept(MORNING), WakeBackedOff(run_key, after(60), "budget")], then)
    assert next_due(asleep) == after(60)


def test_a_queued_wake_is_dropped_by_the_persons_word() -> None:
    waiting = queued()
    assert waiting.queued is not None
    run_key = waiting.queued.run_key
    assert cancel(waiting, run_key) == [WakeDropped(run_key, "cancelled")]
    assert wake_queue_of(cancel(waiting, run_key), waiting).queued is None


def test_a_begun_wake_is_not_cancelled_and_one_that_is_gone_is_not_there() -> None:
    then = running()
    run_key = then.running
    waits = wake_queue_of([WakeBackedOff(run_key, after(60), "provider")], then)
    for wake_queue in (then, waits):
        with pytest.raises(Refused, match="has begun") as refused:
            cancel(wake_queue, run_key)
        assert refused.value.remedy is not None
        assert refused.value.remedy.name == "pause_agent"
    with pytest.raises(Refused) as gone:
        cancel(wake_queue_of([]), run_key)
    assert gone.value.code == "unknown_wake"

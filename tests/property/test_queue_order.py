"""Schedules that are kept in order say what those that are sorted anew each time would say, and
what is taken from them costs as much in a large home as in a small one."""

from collections.abc import Iterable
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.runtime.due_index import AgentSchedule, Schedules, TimeIndex, WakeTurn, turns

TIMES = st.sampled_from(["2027-01-01", "2027-01-02", "2027-01-03"])
NOW = "2027-01-02"


class Counted(str):
    """A time that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __lt__(self, other: str) -> bool:
        Counted.compared += 1
        return super().__lt__(other)

    def __le__(self, other: str) -> bool:
        Counted.compared += 1
        return super().__le__(other)

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


@st.composite
def schedules(draw: st.DrawFn) -> AgentSchedule:
    agent = f"agent {draw(st.integers(0, 5))}"
    is_queued, is_running = draw(st.booleans()), draw(st.booleans())
    due, until, asked_at = draw(TIMES), draw(st.just("") | TIMES), draw(TIMES)
    found = AgentSchedule(agent, agent, running="r1" if is_running else "")
    if not is_queued:
        return found
    return AgentSchedule(
        agent, agent, due, "q1", running=found.running, until=until, asked_at=asked_at
    )


def sorted_anew(found: Iterable[AgentSchedule], *, is_now: bool) -> list[WakeTurn]:
    """The rule by itself: abandoned ones as they came, then what is due, by its time."""
    known = list(found)
    left = [WakeTurn(one, one.running, is_left=True) for one in known if one.running]
    due = [one for one in known if one.run_key and (one.until if is_now else one.due) <= NOW]
    due.sort(key=lambda one: (one.asked_at if is_now else one.due, one.agent))
    return left + [WakeTurn(one, one.run_key) for one in due]


@given(st.lists(schedules() | st.integers(0, 5), max_size=20), st.booleans())
def test_schedules_kept_in_order_are_those_sorted_anew(
    changes: list[AgentSchedule | int],
    is_now: bool,
) -> None:
    kept, known = Schedules(is_now=is_now), dict[str, AgentSchedule]()
    for change in changes:
        if isinstance(change, AgentSchedule):
            kept.put(change)
            known[change.agent] = change
        else:
            kept.drop(f"agent {change}")
            known.pop(f"agent {change}", None)
        wanted = sorted_anew(known.values(), is_now=is_now)
        assert list(turns(kept, NOW, lambda one: bool(one.running))) == wanted


@given(st.lists(st.tuples(st.integers(0, 5), st.none() | TIMES), max_size=20), TIMES)
def test_times_kept_in_order_are_those_sorted_anew(
    changes: list[tuple[int, str | None]], now: str
) -> None:
    kept, known = TimeIndex(), dict[str, str]()
    for nth, at in changes:
        name = f"name {nth}"
        if at is None:
            kept.drop(name)
            known.pop(name, None)
        else:
            kept.put(name, at)
            known[name] = at
    assert list(kept.due(now)) == [
        one for at, one in sorted(map(_turned, known.items())) if at <= now
    ]
    assert kept.next_at(now) == min((at for at in known.values() if at > now), default="")


def _turned(one: tuple[str, str]) -> tuple[str, str]:
    return one[1], one[0]


@pytest.mark.parametrize("agents", [100, 10_000])
def test_a_turn_costs_the_same_however_many_agents_are_due(agents: int) -> None:
    asked: list[str] = []

    def is_abandoned(one: AgentSchedule) -> bool:
        asked.append(one.agent)
        return False

    def queued(nth: int) -> AgentSchedule:
        name = f"agent {nth:06}"
        return AgentSchedule(name, name, Counted(f"2027-01-01T{nth:06}"), "q1")

    kept = Schedules(queued(nth) for nth in range(agents))
    kept.put(AgentSchedule("busy", "busy", running="r1"))
    Counted.compared = 0
    begun = [turn.schedule for turn in islice(turns(kept, NOW, is_abandoned), 3)]
    for one in begun:
        kept.put(AgentSchedule(one.agent, one.name, Counted("2027-01-03"), "q2"))
    assert kept.next_at(NOW) == "2027-01-03"
    assert [one.agent for one in begun] == [f"agent {nth:06}" for nth in range(3)]
    assert asked == ["busy"]
    assert Counted.compared < 300  # binary searches; sorted anew it is more than one an agent

"""The geometry of a life as a line."""

from itertools import pairwise

import pytest

from adapters.web.timeline import (
    BINS,
    GAP_APART,
    GAPS_MAX,
    LANES,
    MARKS_MAX,
    TimelineEvent,
    gaps,
    marks,
    moments_of,
    nth_at,
)
from domain.log.timestamps import later

DAY = 86_400
START = "2027-01-01T00:00:00.000000Z"


def life(number: int, kind: str = "wake") -> list[TimelineEvent]:
    return [
        TimelineEvent(nth, later(START, seconds=nth * 60), kind, f"event {nth}")
        for nth in range(1, number + 1)
    ]


@pytest.mark.parametrize(("n", "nth"), [(0, -1), (1, 0), (2, 1), (9, 2)])
def test_a_moment_is_the_last_event_up_to_it(n: int, nth: int) -> None:
    assert nth_at(life(3), n) == nth


def test_what_happened_in_one_append_is_one_moment() -> None:
    reported, ended = (
        TimelineEvent(2, START, "report", "it reported"),
        TimelineEvent(2, START, "wake", "it ended"),
    )
    found = moments_of([TimelineEvent(1, START, "wake", "it began"), reported, ended, ended])
    assert [(one.n, one.text) for one in found] == [(1, "it began"), (2, "it reported; it ended")]


@pytest.mark.parametrize("number", [0, 1, 2, MARKS_MAX])
def test_a_short_life_has_a_mark_for_each_event_a_step_each(number: int) -> None:
    found = [one.x for one in marks(life(number))]
    assert [one.events for one in marks(life(number))] == [1] * number
    assert number < 2 or (found[0], found[-1]) == (0, 100)
    steps = {round(after - x, 6) for x, after in pairwise(found)}
    assert len(steps) == (number > 1)


def test_a_long_life_is_drawn_in_bars_that_stand_for_all_of_it() -> None:
    found = marks(life(5_000))
    assert len(found) == BINS
    assert sum(one.events for one in found) == 5_000
    assert max(one.height for one in found) == 1
    assert all(one.x + one.width <= 100 for one in found)
    assert {one.lane for one in found} == {[kind for kind, _ in LANES].index("wake")}


def test_what_lies_between_two_moments_is_written_the_longest_at_the_most() -> None:
    times = [
        START,
        later(START, seconds=5),
        *(later(START, seconds=day * DAY + 5) for day in (1, 4)),
    ]
    moments = [TimelineEvent(nth, at, "wake", "") for nth, at in enumerate(times)]
    assert [name for _, name in gaps(moments)] == ["1 d", "3 d"]
    assert [round(x, 1) for x, _ in gaps(moments)] == [50.0, 83.3]
    hourly = [one._replace(at=later(START, seconds=one.n * 3600)) for one in life(50)]
    assert len(gaps(hourly)) == GAPS_MAX
    crowded = [
        x for x, _ in gaps([one._replace(at=later(START, seconds=one.n * DAY)) for one in life(90)])
    ]
    assert all(after - one >= GAP_APART for one, after in pairwise(crowded))
    assert gaps(moments[:1]) == gaps([]) == []

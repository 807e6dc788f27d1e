"""The geometry of a life as a line."""

import pytest

from adapters.web.timeline import (
    BINS,
    LANES,
    LEFT,
    MARKS_MAX,
    WIDTH,
    TimelineEvent,
    drawn,
    marks,
    moments_of,
    named,
    nth_at,
)
from domain.log.timestamps import later

LATE = "2027-01-10T08:00:00.000000Z"
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
def test_a_short_life_has_a_mark_for_each_event_within_the_drawing(number: int) -> None:
    found = marks(life(number))
    assert [one.events for one in found] == [1] * number
    assert all(LEFT <= one.x <= WIDTH - LEFT for one in found)
    assert number < 2 or (found[0].x, found[-1].x) == (LEFT, WIDTH - LEFT)


def test_a_long_life_is_drawn_in_bars_that_stand_for_all_of_it() -> None:
    found = marks(life(5_000))
    assert len(found) == BINS
    assert sum(one.events for one in found) == 5_000
    assert max(one.height for one in found) == 1
    assert all(one.x + one.width <= WIDTH for one in found)
    assert {one.lane for one in found} == {[kind for kind, _ in LANES].index("wake")}


def test_all_at_one_time_stand_at_one_place_and_where_one_stands_is_drawn() -> None:
    same = [one._replace(at=START) for one in life(3)]
    assert {one.x for one in marks(same)} == {LEFT}
    last = f'class="now" x1="{(WIDTH - LEFT) / WIDTH * 100:.2f}%"'
    assert last in drawn(life(3), life(3)[-1].at, "a life", "UTC")
    assert "&lt;b&gt;" in drawn([TimelineEvent(1, START, "wake", "<b>")], START, "a life", "UTC")


def test_the_days_of_a_long_life_are_named_and_the_hours_of_a_short_one() -> None:
    long = [
        TimelineEvent(1, "2027-01-01T23:30:00.000000Z", "wake", ""),
        TimelineEvent(2, LATE, "wake", ""),
    ]
    days = named(long, "Europe/Berlin")
    assert [name for _, name in days] == ["3 Jan", "5 Jan", "7 Jan", "9 Jan"]
    assert [round(x, 1) for x, _ in days] == sorted(round(x, 1) for x, _ in days)
    assert all(0 <= x <= 100 for x, _ in days)
    short = [TimelineEvent(1, "2027-01-01T09:00:00.000000Z", "wake", ""), long[0]]
    assert [name for _, name in named(short, "UTC")][:2] == ["Fri 09:00", "Fri 13:50"]
    assert named([], "UTC") == []
    assert len(named(short[:1], "UTC")) == 1

"""Timers neither lose nor double a tick, whatever the zone and the schedule.

The oracle walks minute by minute through real time and looks at a wall clock; it knows nothing
of the code's way of resolving a wall time.
"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from adapters.home.schedules import Schedule, next_after, parse, parse_in, ticks_between
from domain.errors import Refused
from domain.log.timestamps import instant, moment

MINUTE = timedelta(minutes=1)
# Each zone with days around which its clocks change, in UTC.
CHANGES = {
    "UTC": ["2027-01-01"],
    "Europe/Berlin": ["2027-03-28", "2027-10-31"],
    "America/New_York": ["2027-03-14", "2027-11-07"],
    "Australia/Lord_Howe": ["2027-04-03", "2027-10-02"],
    "Pacific/Apia": ["2011-12-30", "2012-03-31"],
    "Africa/Casablanca": ["2027-02-07", "2027-03-14"],
    "Antarctica/Troll": ["2027-03-28", "2027-10-31"],  # two hours
    "America/Caracas": ["2007-12-09", "2016-05-01"],  # half an hour for ever
}


class Drawn:
    """A schedule with what it means, known without reading its text."""

    def __init__(self, text: str, minutes: set[int], hours: set[int], days: set[int]) -> None:
        self.schedule: Schedule = parse(text)
        self.is_counting = len(hours) == 24
        self._minutes, self._hours, self._days = minutes, hours, days

    def names(self, wall: datetime) -> bool:
        """Whether the schedule names this wall time."""
        return (
            wall.minute in self._minutes
            and wall.hour in self._hours
            and wall.isoweekday() % 7 in self._days
        )

    def __repr__(self) -> str:
        return self.schedule.text


MINUTES = {"0": {0}, "30": {30}, "15,45": {15, 45}, "*/10": set(range(0, 60, 10))}
HOURS = {"*": set(range(24)), "0-23": set(range(24)), "1-3": {1, 2, 3}}
HOURS |= {"*/2": set(range(0, 24, 2)), "2": {2}, "0": {0}, "7,19": {7, 19}}
DAYS = {"*": set(range(7)), "1-5": {1, 2, 3, 4, 5}, "0": {0}, "fri": {5}}


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    """A cron line of known meaning."""
    names = [draw(st.sampled_from(sorted(table))) for table in (MINUTES, HOURS, DAYS)]
    text = f"cron {names[0]} {names[1]} * * {names[2]}"
    return Drawn(text, MINUTES[names[0]], HOURS[names[1]], DAYS[names[2]])


@st.composite
def windows(draw: st.DrawFn) -> tuple[str, datetime, datetime]:
    """A zone, and a stretch of up to three days near one of its changes."""
    zone = draw(st.sampled_from(sorted(CHANGES)))
    day = datetime.fromisoformat(draw(st.sampled_from(CHANGES[zone]))).replace(tzinfo=UTC)
    start = day + draw(st.integers(-1_500, 1_500)) * MINUTE
    return zone, start, start + draw(st.integers(1, 4_000)) * MINUTE


def expected(drawn: Drawn, zone: str, start: datetime, end: datetime) -> list[datetime]:
    """Ticks after start, up to end, by looking at a wall clock once a minute."""
    there = ZoneInfo(zone)
    found = []
    at, last = start, start.astimezone(there).replace(tzinfo=None)
    while at < end:
        at += MINUTE
        wall = at.astimezone(there)
        shown = wall.replace(tzinfo=None, fold=0)
        skipped = [last + n * MINUTE for n in range(1, (shown - last) // MINUTE)]
        is_now = drawn.names(shown) and (drawn.is_counting or wall.fold == 0)
        if is_now or any(map(drawn.names, skipped)):
            found.append(at)
        last = shown
    return found


def following(schedule: Schedule, zone: str, start: datetime, end: datetime) -> list[datetime]:
    """Ticks after start, up to end, one after the other."""
    found = []
    at = next_after(schedule, zone, moment(start))
    while at and instant(at) <= end:
        found.append(instant(at))
        at = next_after(schedule, zone, at)
    return found


DAILY = Drawn("cron 30 2 * * *", {30}, {2}, set(range(7)))
HOURLY = Drawn("cron 0 * * * *", {0}, set(range(24)), set(range(7)))
AUTUMN = datetime(2027, 10, 30, tzinfo=UTC)


@given(drawn(), windows())
@example(DAILY, ("Europe/Berlin", AUTUMN, AUTUMN + 2_880 * MINUTE))
@example(HOURLY, ("Europe/Berlin", AUTUMN, AUTUMN + 2_880 * MINUTE))
@example(HOURLY, ("Antarctica/Troll", AUTUMN, AUTUMN + 2_880 * MINUTE))
def test_every_tick_comes_once_at_its_minute(
    drawn: Drawn, window: tuple[str, datetime, datetime]
) -> None:
    zone, start, end = window
    assert following(drawn.schedule, zone, start, end) == expected(drawn, zone, start, end)


@given(drawn(), windows(), st.integers(0, 4_000))
def test_a_window_may_be_split_anywhere(
    drawn: Drawn, window: tuple[str, datetime, datetime], minutes: int
) -> None:
    zone, start, end = window
    first = next_after(drawn.schedule, zone, moment(start))
    split, limit = min(end, start + minutes * MINUTE), 10_000
    early, between = ticks_between(drawn.schedule, zone, first, moment(split), limit)
    late, last = ticks_between(drawn.schedule, zone, between, moment(end), limit)
    whole, next_at = ticks_between(drawn.schedule, zone, first, moment(end), limit)
    assert ((*early, *late), last) == (whole, next_at)
    assert list(whole) == sorted(set(whole))
    assert all(at <= moment(end) for at in whole)
    assert not next_at or next_at > moment(end)


@given(drawn(), windows(), st.integers(2, 12))
def test_with_a_limit_the_first_and_the_newest_are_kept(
    drawn: Drawn, window: tuple[str, datetime, datetime], limit: int
) -> None:
    zone, start, end = window
    first = next_after(drawn.schedule, zone, moment(start))
    whole, next_at = ticks_between(drawn.schedule, zone, first, moment(end), 10_000)
    some, also = ticks_between(drawn.schedule, zone, first, moment(end), limit)
    assert also == next_at
    assert some == (whole if len(whole) <= limit else (whole[0], *whole[1 - limit :]))


@given(
    st.text(max_size=30) | st.from_regex(r"cron( [0-9*/,#lLwW?a-zA-Z-]{1,6}){5}", fullmatch=True)
)
@example("cron l l l l l")
@example("cron 0 0 lw/2 * *")
@example("cron 0 0 * * mon#2/3")
@example("cron 0 0 * * 5#6,l")
@example("once 0000-01-01 00:00")
@example("once 0001-01-01 00:00")
def test_any_text_is_a_schedule_or_refused(text: str) -> None:
    at = "2027-01-01T00:00:00.000000Z"
    with suppress(Refused):
        schedule, zone = parse_in(text, "Asia/Tokyo")
        assert parse(schedule.text) == schedule
        following = next_after(schedule, zone, at)
        assert not following or following > at

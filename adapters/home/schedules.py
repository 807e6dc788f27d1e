"""When timers fire: schedules, zones, and the two days a year that are not 24 hours (SPEC 3).

A schedule means a wall clock in a zone; the core is told instants. Which wall times a cron line
names is `cronsim`'s business (Debian's rules, small, no dependencies of its own). Which instants
those are is decided here, so that one rule covers every form:

- a wall time that a clock change skips fires at the first instant after the gap; times that
  share that instant are one tick;
- a wall time that comes twice fires the first time;
- but a schedule that fires in every hour of the day counts hours, and so fires in both of them."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from msgspec import Struct

from adapters.home.zones import zone_named
from domain.agent.deciders import SCHEDULE_MAX, TICKS_MAX
from domain.errors import invalid
from domain.journal.day import minutes_of
from domain.log.timestamps import Shift, instant, moment
from domain.text import squeeze
from domain.wake.commands import LocalTime

FORMS = (
    "every hour, every day 07:00, every weekday 07:00, every monday 09:30, "
    "cron 0 7 * * 1-5 or once 2027-01-01 07:00"
)
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_DAYS_OF_WEEK = {"day": "*", "weekday": "1-5"} | {name: str(n) for n, name in enumerate(_DAYS)}
_TIME = r"(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])"
_EVERY = re.compile(rf"every (?P<day>[a-z]+) {_TIME}")
_ONCE = re.compile(rf"once (?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}) {_TIME}")
_CRON = re.compile(r"cron(?P<fields>( [^ ]+){5})")
_WORDS = {"every hour": 2, "every": 3, "once": 3, "cron": 6}  # a zone may follow them

HOURS_OF_DAY = 24
_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
_YEAR = timedelta(days=400)  # and a little
_OFFSET_AT = len("2026-11-21T14:05")
_SECOND = timedelta(seconds=1)


class Schedule(Struct, frozen=True):
    """A schedule in its normal form; `cron` is empty where it happens once.

    `text` is what is stored. `at` is the wall time of a single one, else None."""

    text: str
    cron: str = ""
    at: datetime | None = None


def parse(text: str) -> Schedule:
    """Read a schedule; white space, case and a leading zero do not matter. Raises Refused, code
    ``invalid_value``.

    >>> parse(" Every  Monday 9:30").text
    'every monday 09:30'
    """
    if len(text) > SCHEDULE_MAX:
        raise invalid(f"a schedule of {len(text)} characters", f"use {SCHEDULE_MAX} at most")
    given = squeeze(text).lower()
    if given == "every hour":
        return Schedule(given, "0 * * * *")
    if (found := _EVERY.fullmatch(given)) and found["day"] in _DAYS_OF_WEEK:
        hour, minute = int(found["hour"]), int(found["minute"])
        normal = f"every {found['day']} {hour:02}:{minute:02}"
        return Schedule(normal, f"{minute} {hour} * * {_DAYS_OF_WEEK[found['day']]}")
    if found := _ONCE.fullmatch(given):
        return _once(found)
    if found := _CRON.fullmatch(given):
        return _cron(found["fields"].strip())
    raise invalid(f"{text!r} is no schedule", f"write {FORMS}")


def parse_in(text: str, zone: str) -> tuple[Schedule, str]:
    """Read a schedule that may name its zone at the end; else `zone` is meant. Raises Refused, code
    ``invalid_value``.

    >>> schedule, zone = parse_in("every day 07:00 Europe/Berlin", "UTC")
    >>> schedule.text, zone
    ('every day 07:00', 'Europe/Berlin')
    """
    words = squeeze(text).split(" ")
    form = " ".join(words[:2]).lower()
    count = _WORDS.get(form) or _WORDS.get(words[0].lower(), len(words))
    schedule = parse(" ".join(words[:count]))
    if len(words) > count + 1:
        told = f"{' '.join(words[count:])!r} after {schedule.text!r} is no time zone"
        raise invalid(told, "name one zone at most, like Europe/Berlin")
    return schedule, zone_named(words[count] if len(words) > count else zone).key


def next_after(schedule: Schedule, zone: str, at: str) -> str:
    """The first tick after `at`, or empty if there is none any more.

    >>> next_after(parse("every day 02:30"), "Europe/Berlin", "2027-03-27T12:00:00.000000Z")
    '2027-03-28T01:00:00.000000Z'
    """
    following = next(_instants(schedule, zone_named(zone), instant(at)), None)
    return "" if following is None else moment(following)


def next_local(time: str, zone: str, at: str) -> str:
    """The next instant after `at` when clocks in the zone show `time`, ``"06:00"`` for example."""
    return next_after(parse(f"every day {time}"), zone, at)


def ticks_between(
    schedule: Schedule, zone: str, first: str, now: str, limit: int = TICKS_MAX
) -> tuple[tuple[str, ...], str]:
    """The ticks that have come since a timer was resolved last, and the one after them.

    Args:
        zone: An IANA name.
        first: The tick it waits for; kept even if the zone's rules have changed since.
        now: The present; a tick at this very instant has come.
        limit: Most ticks; of more, the first and the newest are given, as an agent keeps them.

    Returns:
        Ticks, ascending, none before `first`; and the next one, empty if there is none. Before
        `first` there are no ticks, and it stays the next one.
    """
    if not first or now < first:
        return (), first
    start, end, span = instant(first), instant(now), timedelta(hours=1)
    there = zone_named(zone)
    while True:  # bounded: the span grows until it holds enough, or all
        since = end - span if span < end - start else start
        ticks = takewhile(lambda tick: tick <= end, _instants(schedule, there, since))
        newest = deque(ticks, maxlen=limit - 1)
        if since == start or len(newest) == limit - 1:
            break
        span *= 4
    return (first, *map(moment, newest)), next_after(schedule, zone, now)


def first_shown(local: str, zone: str) -> str:
    """The instant when clocks in a zone first show a local time, as a timer would fire: what a
    clock change skips is the end of the gap.

    >>> first_shown("2027-03-28T02:30", "Europe/Berlin")
    '2027-03-28T01:00:00.000000Z'
    >>> first_shown("2027-10-31T02:30", "Europe/Berlin")
    '2027-10-31T00:30:00.000000Z'
    """
    return moment(_shown_times(datetime.fromisoformat(local), zone_named(zone)).first)


def shown_on(date: str, time: str, zone: str) -> str:
    """The same of a time of a day, up to ``24:00``.

    >>> shown_on("2027-03-27", "24:00", "Europe/Berlin")
    '2027-03-27T23:00:00.000000Z'
    """
    try:
        wall = datetime.fromisoformat(date) + timedelta(minutes=minutes_of(time))
        return moment(_shown_times(wall, zone_named(zone)).first)
    except OverflowError:
        raise invalid(f"{date} is at an end of the calendar", "name a nearer day") from None


def local_time(at: str, zone: str) -> LocalTime:
    """What clocks in a zone show at an instant, as an agent is told it (agents.md 0.9).

    >>> local_time("2026-11-21T13:05:00.000000Z", "UTC")
    LocalTime(weekday='Saturday', time='2026-11-21T13:05', zone='UTC', offset='+00:00', earlier=())
    """
    now, zone_there = instant(at), zone_named(zone)
    there = now.astimezone(zone_there)
    text, day = there.isoformat(timespec="minutes"), _DAYS[there.isoweekday() % len(_DAYS)]
    shifts = tuple(_shifts(now, zone_there))
    return LocalTime(day.capitalize(), text[:_OFFSET_AT], zone, text[_OFFSET_AT:], shifts)


def _shifts(now: datetime, zone: ZoneInfo) -> Iterator[Shift]:
    """The offsets that held in the year before, oldest first; none lasts less than a week."""
    known = now - _YEAR
    while known < now:
        following = min(known + _WEEK, now)
        before = known.astimezone(zone)
        if before.utcoffset() != following.astimezone(zone).utcoffset():
            until = _gap_end(known, following, zone)
            yield Shift(moment(until), before.isoformat(timespec="minutes")[_OFFSET_AT:])
        known = following


# ---------------------------------------------------------------------------------------- parsing


def _once(found: re.Match[str]) -> Schedule:
    hour, minute = int(found["hour"]), int(found["minute"])
    text = f"{found['date']} {hour:02}:{minute:02}"
    try:
        at = datetime.fromisoformat(text)  # a wall time: the zone is the timer's
    except ValueError:
        raise invalid(f"there is no {found['date']}", f"write {FORMS}") from None
    return Schedule(f"once {text}", at=at)


def _cron(fields: str) -> Schedule:
    try:
        CronSim(fields, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        reason = str(error).replace("Bad", "bad").replace("-", " ")
        instead = "write minute, hour, day of month, month and day of week, as in cron 0 7 * * 1-5"
        raise invalid(f"{fields!r} is no cron line ({reason})", instead) from None
    return Schedule(f"cron {fields}", fields)


# --------------------------------------------------------------------------- from walls to instants


class ShownTimes(NamedTuple):
    """When a clock shows a wall time: at `first`, and again at `second` if it is set back."""

    first: datetime
    second: datetime | None = None


def _instants(schedule: Schedule, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """The ticks after an instant, ascending, each once; UTC."""
    last = after
    try:
        for tick in _in_order(_wall_times(schedule, after, zone)):
            if tick > last:
                yield tick
                last = tick
    except OverflowError:  # the year 10000
        return


def _in_order(seen: Iterable[ShownTimes]) -> Iterator[datetime]:
    """All instants in order; no wall time has an earlier first than the one before it."""
    waiting: list[datetime] = []
    for one in seen:
        heappush(waiting, one.first)
        if one.second is not None:
            heappush(waiting, one.second)
        while waiting and waiting[0] <= one.first:
            yield heappop(waiting)


def _wall_times(schedule: Schedule, after: datetime, zone: ZoneInfo) -> Iterator[ShownTimes]:
    """When the wall times are seen, from shortly before an instant on."""
    local = after.astimezone(zone).replace(tzinfo=None)
    if schedule.at is not None:
        yield ShownTimes(_shown_times(schedule.at, zone).first)
        return
    ahead = CronSim(schedule.cron, local - _SECOND)
    if len(ahead.hours) < HOURS_OF_DAY:
        yield from (ShownTimes(_shown_times(wall, zone).first) for wall in ahead)
        return
    for wall in CronSim(schedule.cron, local - _DAY):  # some before may come a second time
        yield _shown_times(wall, zone)


def _shown_times(wall: datetime, zone: ZoneInfo) -> ShownTimes:
    early = wall.replace(tzinfo=zone).astimezone(UTC)
    late = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if early < late:
        return ShownTimes(early, late)
    return ShownTimes(early if early == late else _gap_end(late, early, zone))


def _gap_end(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """The instant of the one change of a zone between two instants; whole seconds."""
    old = before.astimezone(zone).utcoffset()
    while after - before > _SECOND:  # bounded: halves what is left
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after

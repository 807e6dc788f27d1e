"""Times as they are stored: text of fixed width, UTC, microseconds (DESIGN 4).

Arithmetic on UTC instants only; zones are resolved in adapters. Fixed width makes text order
the order of time."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from domain.log.wire import Part

_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"
_STORED = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"
)


def moment(instant: datetime) -> str:
    """An aware instant as it is stored.

    >>> moment(datetime(2027, 1, 1, tzinfo=UTC))
    '2027-01-01T00:00:00.000000Z'
    """
    utc = instant.astimezone(UTC)
    return utc.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def instant(at: str) -> datetime:
    """The aware UTC instant of a stored time. Raises ValueError if it is none."""
    if _STORED.fullmatch(at):
        return datetime.fromisoformat(at)
    return datetime.strptime(at, _FORMAT).replace(tzinfo=UTC)  # fewer digits; eight times slower


def later(at: str, *, seconds: int) -> str:
    """`at` moved by whole seconds (negative: earlier).

    >>> later("2027-01-01T00:00:00.000000Z", seconds=120)
    '2027-01-01T00:02:00.000000Z'
    """
    return moment(instant(at) + timedelta(seconds=seconds))


def seconds_between(start: str, end: str) -> int:
    """Whole seconds from start to end, rounded down; negative if end is earlier."""
    return (instant(end) - instant(start)) // timedelta(seconds=1)


def is_date(text: str) -> bool:
    """Whether text is a real calendar date, ``YYYY-MM-DD``."""
    if len(text) != len("2027-01-01"):
        return False
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_moment(text: str) -> bool:
    """Whether text is a time as it is stored."""
    try:
        return moment(instant(text)) == text
    except ValueError:
        return False


# ---------------------------------------------------------------------- what a person's clock shows
# What a person's clock showed at an instant, from offsets that an adapter looked up.
#
# The core knows no zones: a `LocalTime` says which offset holds, and which did before, as far back
# as anybody is told of (ADR 41).


class Shift(Part, frozen=True):
    """An offset from UTC, ``+02:00``, and the instant when it ceased to hold."""

    until: str
    offset: str


def wall(at: str, offset: str, earlier: Sequence[Shift] = ()) -> str:
    """What a clock shows.

    `at`: an instant as it is stored. `offset`: the one that holds now. `earlier`: those that held
    before, oldest first.

    >>> summer = Shift("2026-10-25T01:00:00.000000Z", "+02:00")
    >>> wall("2026-10-25T00:30:00.000000Z", "+01:00", [summer])
    '2026-10-25T02:30'
    >>> wall("2026-10-25T01:30:00.000000Z", "+01:00", [summer])
    '2026-10-25T02:30'
    """
    held = next((one.offset for one in earlier if at < one.until), offset)
    return later(at, seconds=offset_seconds(held))[: len("2026-10-25T02:30")]


def offset_seconds(offset: str) -> int:
    hours, minutes, *seconds = map(int, offset[1:].split(":"))
    span = timedelta(hours=hours, minutes=minutes, seconds=sum(seconds))
    return int(span.total_seconds()) * (-1 if offset.startswith("-") else 1)

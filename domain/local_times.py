"""What a person's clock showed at an instant, from offsets that an adapter looked up.

The core knows no zones: a `LocalTime` says which offset holds, and which did before, as far back
as anybody is told of (ADR 41).
"""

from collections.abc import Sequence
from datetime import timedelta

from domain.timestamps import later
from domain.wire import Part


class Shift(Part, frozen=True):
    """An offset from UTC, ``+02:00``, and the instant when it ceased to hold."""

    until: str
    offset: str


def wall(at: str, offset: str, earlier: Sequence[Shift] = ()) -> str:
    """What a clock shows.

    Args:
        at: An instant as it is stored.
        offset: The one that holds now.
        earlier: Those that held before, oldest first.

    >>> summer = Shift("2026-10-25T01:00:00.000000Z", "+02:00")
    >>> wall("2026-10-25T00:30:00.000000Z", "+01:00", [summer])
    '2026-10-25T02:30'
    >>> wall("2026-10-25T01:30:00.000000Z", "+01:00", [summer])
    '2026-10-25T02:30'
    """
    held = next((one.offset for one in earlier if at < one.until), offset)
    return later(at, seconds=_seconds(held))[: len("2026-10-25T02:30")]


def _seconds(offset: str) -> int:
    hours, minutes, *seconds = map(int, offset[1:].split(":"))
    span = timedelta(hours=hours, minutes=minutes, seconds=sum(seconds))
    return int(span.total_seconds()) * (-1 if offset.startswith("-") else 1)

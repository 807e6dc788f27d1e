"""Clocks: the machine's, and one set by hand for runs that must repeat (DESIGN 9)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from domain.errors import Refused
from domain.moments import instant, moment
from domain.ports import Clock

VARIABLE = "WAKELOG_NOW"
YEAR_MIN, YEAR_MAX = 1970, 9000

# Python reads more forms than RFC 3339 has: weeks, times without an offset, other digits.
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


class SystemClock:
    """The machine's clock in UTC; its time zone is never read."""

    def now(self) -> str:
        """The present, to the microsecond."""
        return moment(datetime.now(UTC))


class ManualClock:
    """Begins at a given time; each reading is a step later than the one before.

    >>> clock = ManualClock("2027-01-01T00:00:00.000000Z")
    >>> clock.now(), clock.now()
    ('2027-01-01T00:00:00.000000Z', '2027-01-01T00:00:00.001000Z')
    """

    def __init__(self, start: str, step_ms: int = 1) -> None:
        self._next = instant(start)
        self._step = timedelta(milliseconds=step_ms)

    def now(self) -> str:
        """The present; the next reading is one step later."""
        read = self._next
        self._next = read + self._step
        return moment(read)

    def advance(self, *, seconds: int) -> None:
        """Let time pass: the next reading is so much later than it would have been."""
        self._next += timedelta(seconds=seconds)


def clock_from(environ: Mapping[str, str], last: str = "") -> Clock:
    """The clock that the environment asks for.

    Args:
        environ: With `WAKELOG_NOW` in it, a manual clock; empty counts as not set.
        last: Time of the later of both logs' last rows, as stored; empty if there is none. A
            manual clock begins no earlier than one millisecond after it.

    Raises:
        Refused: Code ``invalid_value``: `WAKELOG_NOW` is no time.
    """
    given = environ.get(VARIABLE, "")
    if not given:
        return SystemClock()
    start = rfc_3339(given)
    if last:
        start = max(start, moment(instant(last) + timedelta(milliseconds=1)))
    return ManualClock(start)


def rfc_3339(given: str) -> str:
    """A time with any offset, as it is stored.

    Raises:
        Refused: Code ``invalid_value``.

    >>> rfc_3339("2027-01-01T07:00:00+01:00")
    '2027-01-01T06:00:00.000000Z'
    """
    told = _told(given) if _RFC_3339.fullmatch(given) else None
    if told is None or not YEAR_MIN <= told.year <= YEAR_MAX:
        raise Refused(
            "invalid_value",
            because=f"{VARIABLE} is {given!r}, which is no time from {YEAR_MIN} to {YEAR_MAX}",
            instead="give date, time and offset, as in 2027-01-01T07:00:00Z",
        )
    return moment(told)


def _told(given: str) -> datetime | None:
    try:
        return datetime.fromisoformat(given.upper()).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day or hour; before the year 1
        return None

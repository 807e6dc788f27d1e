"""Clocks: the machine's, and one set by hand for runs that must repeat (DESIGN 9)."""

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from domain.errors import Refused, invalid
from domain.log.timestamps import instant, moment
from domain.ports import Clock

NOW_VARIABLE = "WAKELOG_NOW"
RIGHT_VARIABLE = "WAKELOG_CLOCK_IS_RIGHT"
DOUBTED_AHEAD = timedelta(days=400)  # a clock is doubted that is so far from a log's end
YEAR_MIN, YEAR_MAX = 1970, 9000
SLACK = timedelta(seconds=1)  # so far a clock goes back when it is set right, again and again
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Python reads more forms than RFC 3339 has: weeks, times without an offset, other digits.
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SystemClock:
    """The machine's clock in UTC, which never goes back; its time zone is never read.

    Where the machine's clock is set back, time goes on from the last reading at its own pace,
    until the machine's clock has caught up: what is due in two minutes is due in two minutes,
    and no log has to wait for its own last row."""

    def __init__(
        self,
        last: str = "",
        *,
        wall: Callable[[], datetime] = _utc_now,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """`last`: as stored; the clock is never before it; `steady`: seconds that never go back."""
        self._wall, self._steady = wall, steady
        self._last = instant(last) if last else _EPOCH
        self._held: tuple[datetime, float] | None = None  # since when time goes on by itself

    def now(self) -> str:
        """The present, to the microsecond."""
        wall = self._wall()
        if self._held is None and wall < self._last - SLACK:
            self._held = self._last, self._steady()
        if self._held is not None:
            since, then = self._held
            self._last = since + timedelta(seconds=self._steady() - then)
            if wall < self._last:
                return moment(self._last)
            self._held = None
        self._last = max(self._last, wall)
        return moment(self._last)

    def not_before(self, at: str) -> None:
        """A time that was read elsewhere: none that is read here comes before it."""
        if at and instant(at) > instant(self.now()) + SLACK:
            self._last, self._held = instant(at), None

    @property
    def seconds_behind(self) -> int:
        """How far the machine's clock is behind this one; 0 where it is not."""
        self.now()
        return 0 if self._held is None else int((self._last - self._wall()).total_seconds())


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

    def advance(self, *, seconds: float) -> None:
        """Let time pass: the next reading is so much later than it would have been."""
        self._next += timedelta(seconds=seconds)


def check_clock(
    environ: Mapping[str, str], last: str, wall: Callable[[], datetime] = _utc_now
) -> None:
    """Look whether a log may be written by the machine's clock: where that is far beyond the log's
    end, what is written so stays the present for good (ADR 84). One that was given, or that the
    person says is right, is not doubted. `last`: when the log was written last, as stored; empty:
    never. Raises Refused, code ``doubtful_clock``."""
    now = wall()
    is_given = environ.get(NOW_VARIABLE) or environ.get(RIGHT_VARIABLE)
    if is_given or not last or now - instant(last) <= DOUBTED_AHEAD:
        return
    because = f"this machine's clock says {now:%Y-%m-%d}, and the home was last written {last[:10]}"
    instead = "set the clock; if it is right, say so once: `wakelog --clock-is-right COMMAND`"
    raise Refused("doubtful_clock", because=because, instead=instead)


def clock_lag(clock: Clock) -> int:
    """By how many seconds the machine's clock is so far behind a log's end that one of both is
    wrong; 0: it is not, or it was given."""
    seconds = clock.seconds_behind if isinstance(clock, SystemClock) else 0
    return seconds if seconds > DOUBTED_AHEAD.total_seconds() else 0


def lag_text(seconds: int) -> str:
    """By how much a log is ahead, in words.

    >>> lag_text(90), lag_text(86_400), lag_text(12 * 31_557_600)
    ('90 seconds', '1 day', '12 years')
    """
    for unit, size in ("year", 31_557_600), ("day", 86_400):
        if (count := round(seconds / size)) and seconds >= size:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds} seconds"


def clock_from(environ: Mapping[str, str], last: str = "") -> Clock:
    """The clock that the environment asks for: with `WAKELOG_NOW` in it, a manual one. `last`: time
    of the later of both logs' last rows, as stored; no clock begins before it, a manual one a
    millisecond after it. Raises Refused, code ``invalid_value``: `WAKELOG_NOW` is no time."""
    given = environ.get(NOW_VARIABLE, "")
    if not given:
        return SystemClock(last)
    start = rfc_3339(given)
    if last:
        start = max(start, moment(instant(last) + timedelta(milliseconds=1)))
    return ManualClock(start)


def rfc_3339(given: str) -> str:
    """A time with any offset, as it is stored. Raises Refused, code ``invalid_value``.

    >>> rfc_3339("2027-01-01T07:00:00+01:00")
    '2027-01-01T06:00:00.000000Z'
    """
    told = _parsed_time(given) if _RFC_3339.fullmatch(given) else None
    if told is None or not YEAR_MIN <= told.year <= YEAR_MAX:
        because = f"{NOW_VARIABLE} is {given!r}, which is no time from {YEAR_MIN} to {YEAR_MAX}"
        raise invalid(because, "give date, time and offset, as in 2027-01-01T07:00:00Z")
    return moment(told)


def _parsed_time(given: str) -> datetime | None:
    try:
        return datetime.fromisoformat(given.upper()).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day or hour; before the year 1
        return None

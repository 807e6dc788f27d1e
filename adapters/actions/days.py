"""A day as people write it, alone or before a time of day: the one reader of options and forms."""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from domain.errors import invalid
from domain.text import squeeze

DAYS_HELP = "monday, +3d, tomorrow, 31.1.2027, YYYY-MM-DD"
_DAYS = {
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "gestern": -1,
    "heute": 0,
    "morgen": 1,
    "übermorgen": 2,
}
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WOCHE = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_LATER = re.compile(r"\+([0-9]{1,4})([dw])")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_SLASHED = re.compile(r"[0-9]{1,4}/[0-9]{1,2}(/[0-9]{1,4})?")
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?")


def spelled_out(given: str, there: Callable[[], datetime], *, is_back: bool = False) -> str:
    """A day in words as YYYY-MM-DD, with the time of day behind it, if any; else as it was given.

    Args:
        given: What a person wrote. A time of day alone is of today.
        there: What date and time it is, where the person is; asked only where that matters.
        is_back: A weekday, written in full, is the last one, else the next one: never the present
            day but with a time of it that is over, or still to come.

    Raises:
        Refused: Code ``invalid_value``: with slashes nobody knows which is the day.

    >>> friday = lambda: datetime(2027, 1, 1, 9)
    >>> spelled_out("mon", friday), spelled_out("+3d 7:00", friday), spelled_out("fri", friday)
    ('2027-01-04', '2027-01-04 07:00', '2027-01-08')
    >>> spelled_out("monday", friday, is_back=True), spelled_out("12.2.2027", friday)
    ('2026-12-28', '2027-02-12')
    """
    word, _, clock = squeeze(given).lower().partition(" ")
    if _CLOCK.fullmatch(word) and not clock:
        word, clock = "today", word
    if clock and not _CLOCK.fullmatch(clock):
        return given
    if _SLASHED.fullmatch(word):
        instead = f"write {DAYS_HELP}"
        raise invalid(f"which is the day and which the month of {given!r} is not clear", instead)
    clock = f"{clock:0>5}" if clock.count(":") == 1 else f"{clock:0>8}" if clock else ""
    try:
        found = _day(word, clock, there, is_back=is_back)
    except (ValueError, OverflowError):
        raise invalid(f"{given!r} is no date", f"write {DAYS_HELP}") from None
    return f"{found.isoformat()} {clock}".rstrip() if found else given


def _day(word: str, clock: str, there: Callable[[], datetime], *, is_back: bool) -> date | None:
    if word in _DAYS:
        return there().date() + timedelta(days=_DAYS[word])
    if later := _LATER.fullmatch(word):
        return there().date() + timedelta(days=int(later[1]) * (7 if later[2] == "w" else 1))
    if found := _DAY_FIRST.fullmatch(word):
        return date(int(found[3]), int(found[2]), int(found[1]))
    # a run key may begin with three letters
    named = [n for n, one in enumerate(_WEEK) if word == one or (word == one[:3] and not is_back)]
    named += [n for n, one in enumerate(_WOCHE) if word == one]
    return _weekday(named[0], clock, there(), is_back=is_back) if named else None


def _weekday(nth: int, clock: str, there: datetime, *, is_back: bool) -> date:
    """The next or last one: of the present day only what is over, or still to come."""
    shown = f"{there:%H:%M:%S}"
    if is_back:
        days = (nth - there.weekday()) % 7 - 7
        return there.date() + timedelta(days=0 if days == -7 and "" < clock <= shown else days)
    days = (nth - there.weekday()) % 7
    return there.date() + timedelta(days=days if days or clock > shown else 7)

"""What a person types, as it is stored: durations, days, times, statuses, languages, relations."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from domain.errors import Refused, invalid
from domain.journal.task import STATUSES, TaskField
from domain.log.timestamps import instant, is_date, moment
from domain.text import LANGUAGES, squeeze

if TYPE_CHECKING:
    from adapters.wiring import Home

NONE = "none"
TEXT_BYTES_MAX = 1_000_000  # of one note or description
_AMOUNT = r"[0-9]+(?:[.,][0-9]+)?"
_DURATION = re.compile(rf"(?:{_AMOUNT}d)?(?:{_AMOUNT}h)?(?:{_AMOUNT}m(?:in)?)?")
_LOCAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?")


def typed(field: TaskField, given: str, home: "Callable[[], Home]") -> Any:
    """The value of a task's plain field, ``none`` for the empty one; the journal checks it.

    `home` is asked only where it matters which day it is, and where."""
    if field.can_be_empty and squeeze(given).lower() == NONE:
        return field.empty
    match field.kind:
        case "minutes":
            return minutes(given)
        case "day":
            return day(given, home())
        case "language":
            return language_named(given)
        case "rule":
            from adapters.importers.rules import rule_read

            return rule_read(given)
    return given


def fields_of(given: Mapping[str, str | None], home: "Callable[[], Home]") -> dict[str, Any]:
    """What a person said of a task's fields, as the journal's commands take them; None is left
    out, and ``none`` empties one. `home`: as of `typed`. Raises Refused, ``invalid_value``."""
    from domain.journal.task import FIELDS

    fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if "reason" in fields and "status" not in fields:
        raise invalid("--reason is given without --status", "say which status it is for")
    if "status" in fields:
        fields["status"] = status_named(fields["status"])
    if "until" in fields:
        until = fields.pop("until")
        if fields.get("status") != "ON HOLD" or "wait_until" in fields:
            because = "--until is of a task that is set on hold"
            raise invalid(because, "say --status on-hold with it, or --wait-until DAY instead")
        fields["wait_until"] = day(until, home())
        fields.setdefault("reason", f"until {fields['wait_until']}")
    for field in FIELDS:
        if field.name in fields:
            fields[field.name] = typed(field, fields[field.name], home)
    return fields


def minutes(given: str) -> int:
    """An estimate: ``90``, ``90m``, ``2h``, ``1h30m``, ``1h30``, ``1d`` (8 hours).

    >>> minutes("90"), minutes("1h30m"), minutes("1.5h"), minutes("1h30")
    (90, 90, 90, 90)
    """
    from adapters.importers.marks import minutes as added_up

    told = given.replace(" ", "").lower()
    if told.isascii() and told.isdigit() and len(told) < 10:
        return int(told)
    # what stands behind the hours is minutes
    told = f"{told}m" if re.search("h[0-9]{1,2}$", told) else told
    read = added_up(told) if told and _DURATION.fullmatch(told) and len(told) < 20 else 0
    if not read:
        raise invalid(f"{given!r} is no duration", "write 90, 90m, 2h, 1h30 or none")
    return read


def day(given: str, home: "Home") -> str:
    """A due date as it is stored, whatever day it is where the home is, see `spelled_out`. Raises
    Refused, code ``invalid_value``: it is no day."""
    told = _told(given, home)
    if not is_date(told):
        raise invalid(f"{given!r} is no date", f"write {DAYS_HELP}")
    return told


def beginning(given: str, home: "Home") -> str:
    """A time to come, as it is stored: of a day alone its beginning, where the home is."""
    told = _told(given, home)
    at = f"{told} 00:00" if is_date(told) else told
    return first_instant(at, home.settings.timezone, home.services.clock.now)


def _told(given: str, home: "Home") -> str:
    now = home.services.clock.now
    return spelled_out(squeeze(given).lower(), lambda: there(now(), home.settings.timezone))


def first_instant(given: str, zone: str, now: Callable[[], str], *, is_back: bool = False) -> str:
    """A time that a person enters, as it is stored: RFC 3339, or what a clock in the zone shows.

    The day may be in words, a bare ``HH:MM`` is of today, see `spelled_out`. It is when a clock
    first shows it: of a time that comes twice the first one. Who looks back wants the last one, see
    `time_travel.last_instant`.

    >>> first_instant("2027-01-01 07:00", "Europe/Berlin", str)
    '2027-01-01T06:00:00.000000Z'
    """
    from adapters.home.clock import rfc_3339
    from adapters.home.zones import zone_named

    told = spelled_out(squeeze(given), lambda: there(now(), zone), is_back=is_back)
    try:
        if not _LOCAL.fullmatch(told):
            return rfc_3339(told)
        local = datetime.fromisoformat(told).replace(tzinfo=zone_named(zone))
        found = moment(local)
        back = local.astimezone(UTC).astimezone(local.tzinfo)
    except (Refused, ValueError, OverflowError):
        instead = "write YYYY-MM-DD HH:MM, monday 9:00, +3d, HH:MM of today, 2027-01-01T07:00:00Z"
        raise invalid(f"{given!r} is no time", instead) from None
    if back.replace(tzinfo=None) != local.replace(tzinfo=None):
        raise invalid(f"there is no {told} in {zone}: clocks skip it", "give another time")
    return found


def relation(given: str, inverse: Mapping[str, object]) -> str:
    """A relation's phrase: ``blocked-by`` and ``is blocked by`` are ``is_blocked_by``.

    >>> relation("Blocked-by", {"is_blocked_by": "blocks"})
    'is_blocked_by'
    """
    told = squeeze(given.replace("_", " ").replace("-", " ")).lower().replace(" ", "_")
    short = {name.partition("_")[2]: name for name in inverse}
    return short.get(told, told)


def status_named(given: str) -> str:
    """A status as it is stored.

    >>> status_named("in-progress")
    'IN PROGRESS'
    """
    told = squeeze(given.replace("_", " ").replace("-", " ")).upper()
    if told not in STATUSES:
        raise invalid(f"{given!r} is no status", f"use one of {', '.join(STATUSES)}")
    return told


def language_named(given: str) -> str:
    """A language code as it is stored; empty for ``none``."""
    told = squeeze(given).lower()
    if told == NONE:
        return ""
    if told not in LANGUAGES:
        raise invalid(f"{given!r} is no language code", "use two letters of ISO 639-1, like `en`")
    return told


def there(now: str, zone: str) -> datetime:
    """What a clock in the zone shows."""
    from adapters.home.zones import zone_named

    return instant(now).astimezone(zone_named(zone))


WORDS_MAX_BYTES = 16_384  # of one question


# --------------------------------------------------------------------------------------------- days

DAYS_HELP = "monday, +3d, tomorrow, eom, 31st, 31.1., 31.1.2027, YYYY-MM-DD"
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_DAYS |= {"gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2}
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WOCHE = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_LATER = re.compile(
    r"\+?([0-9]{1,4})(?:(d|days?)|(w|wks?|weeks?)|(mo|months?)|(?:y|yrs?|years?))", re.ASCII
)
_NTH = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})(?:\.([0-9]{4})?)?")
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
    >>> spelled_out("31.12.", friday), spelled_out("next week", friday), spelled_out("eom", friday)
    ('2027-12-31', '2027-01-04', '2027-01-31')
    >>> spelled_out("2 weeks", friday), spelled_out("31st", friday), spelled_out("eoy", friday)
    ('2027-01-15', '2027-01-31', '2027-12-31')
    """
    told = re.sub(r"^(next|\+?[0-9]+)[ -](?=[a-z])", r"\1", squeeze(given).lower())
    word, _, clock = told.partition(" ")
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
        return _later(later, there().date())
    if word in ("eow", "eom", "eoq", "eoy", "nextweek", "nextmonth"):
        return _end_of(word, there().date())
    if nth := _NTH.fullmatch(word):
        return _of_month(int(nth[1]), there().date(), is_back=is_back)
    if found := _DAY_FIRST.fullmatch(word):
        return _of_year(found, there, is_back=is_back)
    # a run key may begin with three letters
    named = [n for n, one in enumerate(_WEEK) if word == one or (word == one[:3] and not is_back)]
    named += [n for n, one in enumerate(_WOCHE) if word == one]
    return _weekday(named[0], clock, there(), is_back=is_back) if named else None


def _later(found: re.Match[str], today: date) -> date:
    """So many days, weeks, months or years on; a month that has no such day ends before it."""
    number = int(found[1])
    if found[2] or found[3]:
        return today + timedelta(number * (7 if found[3] else 1))
    months = today.year * 12 + today.month - 1 + number * (1 if found[4] else 12)
    first = date(months // 12, months % 12 + 1, 1)
    return first.replace(day=min(today.day, _last_of(first).day))


def _last_of(day: date) -> date:
    """The last day of its month."""
    return (day.replace(day=28) + timedelta(4)).replace(day=1) - timedelta(1)


def _end_of(word: str, today: date) -> date:
    """The last day of this week (Sunday), month, quarter or year, or the first of the next one."""
    if word in ("eow", "nextweek"):
        return today + timedelta((6 if word == "eow" else 7) - today.weekday())
    month = {"eoq": (today.month + 2) // 3 * 3, "eoy": 12}.get(word, today.month)
    return _last_of(date(today.year, month, 1)) + timedelta(word == "nextmonth")


def _of_month(day: int, today: date, *, is_back: bool) -> date | None:
    """The next such day of a month, or the last one; today may be it. None: no month has it."""
    days = (today + timedelta(-nth if is_back else nth) for nth in range(62))
    return next((one for one in days if one.day == day), None)


def _of_year(found: re.Match[str], there: Callable[[], datetime], *, is_back: bool) -> date:
    """A day and month: without a year the next one, or, of who looks back, the last one."""
    day, month = int(found[1]), int(found[2])
    if found[3]:
        return date(int(found[3]), month, day)
    today = there().date()
    for ahead in range(9):
        with suppress(ValueError):  # the 29th of February
            this = date(today.year - ahead if is_back else today.year + ahead, month, day)
            if (this <= today) if is_back else (this >= today):
                return this
    raise ValueError


def _weekday(nth: int, clock: str, there: datetime, *, is_back: bool) -> date:
    """The next or last one: of the present day only what is over, or still to come."""
    shown, days = f"{there:%H:%M:%S}", (nth - there.weekday()) % 7
    if is_back:
        return there.date() + timedelta(0 if not days and "" < clock <= shown else days - 7)
    return there.date() + timedelta(days if days or clock > shown else 7)

"""What a person types, as it is stored: durations, days, times, statuses, languages, relations."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapters.actions.days import DAYS_HELP, spelled_out
from domain.errors import Refused, invalid
from domain.journal.fields import TaskField
from domain.journal.task import STATUSES
from domain.text import squeeze
from domain.timestamps import is_date

if TYPE_CHECKING:
    from adapters.wiring import Home

NONE = "none"
TEXT_BYTES_MAX = 1_000_000  # of one note or description
_AMOUNT = r"[0-9]+(?:[.,][0-9]+)?"
_DURATION = re.compile(rf"(?:{_AMOUNT}d)?(?:{_AMOUNT}h)?(?:{_AMOUNT}m(?:in)?)?")
_LOCAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?")


def typed(field: TaskField, given: str, home: "Callable[[], Home]") -> Any:
    """The value of a task's plain field, ``none`` for the empty one; the journal checks it.

    `home` is asked only where it matters which day it is, and where.
    """
    if field.can_be_empty and squeeze(given).lower() == NONE:
        return field.empty
    match field.kind:
        case "minutes":
            return minutes(given)
        case "day":
            return day(given, home())
        case "language":
            return language_named(given)
    return given


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
    """A due date as it is stored, whatever day it is where the home is, see `spelled_out`.

    Raises:
        Refused: Code ``invalid_value``: it is no day.
    """
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
    `places.last_instant`.

    >>> first_instant("2027-01-01 07:00", "Europe/Berlin", str)
    '2027-01-01T06:00:00.000000Z'
    """
    from adapters.home.clock import rfc_3339
    from adapters.home.zones import zone_named
    from domain.timestamps import moment

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
    from domain.tools.languages import LANGUAGES

    told = squeeze(given).lower()
    if told == NONE:
        return ""
    if told not in LANGUAGES:
        raise invalid(f"{given!r} is no language code", "use two letters of ISO 639-1, like `en`")
    return told


def there(now: str, zone: str) -> datetime:
    """What a clock in the zone shows."""
    from adapters.home.zones import zone_named
    from domain.timestamps import instant

    return instant(now).astimezone(zone_named(zone))


WORDS_MAX_BYTES = 16_384  # of one question

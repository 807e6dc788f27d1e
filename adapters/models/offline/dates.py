"""Days that sentences name, and the day that is meant.

Relative dates are resolved against the day the text was written; without one they are nothing.
Decided: a weekday is the next one after that day, "this" may be that day itself, English
"next Friday" is in the following week (Monday to Sunday), German "nächsten Freitag" the first
one. A month alone is no date, nor is ``12/04``, which two countries read differently, unless
another date of the text or its language tells.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from adapters.models.offline.phrasing import (
    END,
    START,
    alternatives,
    expanded,
    meanings,
    pattern,
    phrases,
    rows,
    vocabulary,
)
from domain.text import fold

CACHE_MAX = 256
MASKS = "\ue000\ue002"
WEEK = timedelta(days=7)
Found = Mapping[str, str | None]

_NAMED = (
    r"(?:(?:{day}|(?:{short_day})\.?)\.?,? (?:{date_article} )?)?(?:(?P<iso>\d{4}-\d{2}-\d{2})|"
    r"(?P<nd>\d{1,2})\. ?(?P<nm>\d{1,2})\.(?:(?P<ny2>\d{2})(?!\d)| ?(?P<ny>\d{4}))?|"
    r"(?P<dd>\d{1,2})(?:\.|{nth})?(?: {date_of})? (?P<dm>{month}){end}\.?(?:,? "
    r"(?P<dy>20[2-9]\d)(?! [a-z]))?|(?P<mm>{month})\.? (?P<md>\d{1,2})(?:{nth})?(?!\d)(?:,? "
    r"(?P<my>20[2-9]\d)(?! [a-z]))?|(?:{the} )?(?P<nday_nth>{ordinal}|{last}) (?P<nday>{day}) "
    r"{date_in} (?P<nmon>{month}){end}|(?:{the} )?(?P<ow>{ordinal})(?: {date_of})? "
    r"(?P<om>{month}){end}|(?:{the} )?(?P<on>{late_ordinal})|(?!24/7)(?P<sa>\d{1,2})/"
    r"(?P<sb>\d{1,2})(?:/(?P<sy>\d{4}|\d\d))?(?![0-9/])|(?:{the} )?(?P<oe>\d{1,2}){nth}"
    r"(?! (?:{date_of} )?(?:{month}){end})|(?P<od>(?<!:)(?<!\b{hour_at} )\d{1,2})\.(?! ?\d))"
)
_RELATIVE = (
    r"(?P<fd>{day}|{today}|{tomorrow}),? (?:{in_weeks} (?P<fn>{count}) {weeks}|(?P<fw>{on_week}))|"
    r"(?P<dn>{day}),? {of_next_week}|(?P<tn>{in_a_week})|(?P<wd>{week_on}|(?P<wt>{weeks_on})) "
    r"(?P<wf>{day}|{today}|{tomorrow})|(?:{the} )?(?:(?:(?P<following>{following})|"
    r"(?P<this>{this})|{coming}) )?(?P<day>{day})(?:{day_part})?|"
    r"(?P<after>{after_tomorrow})|(?P<tomorrow>{tomorrow})|(?P<today>{today}|(?:{day_end})"
    r"(?! (?:{date_article} )?(?:{day}|\d)))|(?P<nm1>{next_month_end})|(?P<mend>{month_end})|"
    r"(?P<qend>{quarter_end})|{end_of} (?P<em>{month}|{quarter}){end}(?: (?P<ey>\d{4}))?|"
    r"{middle_of}(?P<mid>{month}){end}|{start_of} (?P<bm>{month}){end}|"
    r"{week_number} ?(?P<kw>\d{1,2})|(?P<ew>{next_week_end})|(?P<tw>{week_end})|"
    r"(?P<we>{weekend})|(?P<yend>{year_end})|"
    r"(?P<xmas>{christmas})|(?P<nicholas>{saint_nicholas})|(?P<easter>{easter})|"
    r"(?<=[a-z,:] )(?P<sd>(?-i:{short_day}))(?=[\s.,!;)]|$)"
)
_AHEAD = (
    r"(?P<count>{count}) (?:{more_of} )?(?:(?P<workdays>{workdays})|(?P<fortnights>{fortnights})|"
)
_AHEAD += r"(?P<weeks>{weeks})|(?P<months>{months_ahead})|(?P<days>{days_ahead})){end}"
_EXPLICIT = (("nd", "nm", ("ny", "ny2")), ("dd", "dm", ("dy",)), ("md", "mm", ("my",)))
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?![\d])")


@cache
def named_days() -> dict[str, int]:
    """The days of the week, Monday is 0."""
    return {name: nth - 1 for name, nth in meanings("days").items()}


@cache
def counts() -> dict[str, int]:
    """Small numbers in words."""
    return meanings("counts")


@cache
def _feasts() -> dict[str, int]:
    """Days after Easter Sunday."""
    told = (one.rsplit(" ", 1) for one in rows("feasts"))
    return {name: int(days) for name, days in told}


@cache
def known() -> dict[str, str]:
    """What the names in patterns of dates stand for."""
    late = [one for one in meanings("ordinals") if meanings("ordinals")[one] > 12]
    told = {
        "month": alternatives("months"),
        "quarter": alternatives("quarters"),
        "day": alternatives("days"),
        "short_day": "|".join(meanings("short_days")),
        "ordinal": "|".join(sorted(meanings("ordinals"), key=len, reverse=True)),
        "late_ordinal": "|".join(sorted(late, key=len, reverse=True)),
        "count": rf"\d{{1,3}}|{alternatives('counts')}",
        "easter": "|".join(sorted(_feasts(), key=len, reverse=True)),
    }
    return {name: f"(?:{said})" for name, said in told.items()}


@cache
def compiled(source: str) -> re.Pattern[str]:
    """A pattern with the names of this module in it."""
    return pattern(expanded(source, known()))


class Masked(NamedTuple):
    """A text whose dates are masked, so that patterns need not know them, and what stands there by
    where it begins; `spans`: with lengths of time ahead masked, too."""

    text: str
    found: dict[int, Found]
    spans: str

    def within(self, match: re.Match[str]) -> Found:
        """The first date, or length of time, within a match."""
        places = (one for one in sorted(self.found) if match.start() <= one < match.end())
        return next((self.found[one] for one in places if match.string[one] in MASKS), {})


@lru_cache(maxsize=CACHE_MAX)
def masked(text: str) -> Masked:
    """A sentence with its dates masked."""
    if not names_time(text):
        return Masked(text, {}, text)
    found: dict[int, Found] = {}
    plain = _mask(text, f"{START}(?:{_NAMED}|{_RELATIVE}){END}", MASKS[0], found)
    return Masked(plain, found, _mask(plain, START + _AHEAD, MASKS[1], found))


def _mask(text: str, source: str, mask: str, found: dict[int, Found]) -> str:
    for one in compiled(source).finditer(text):
        found[one.start()] = one.groupdict()
        text = text[: one.start()] + mask * (one.end() - one.start()) + text[one.end() :]
    return text


def names_a_day(sentence: str) -> bool:
    """Whether a date stands in a sentence, due or not."""
    told = masked(sentence).found.values()
    return any(one.get(name) for one in told for name in ("iso", "nd", "dd", "md"))


@lru_cache(maxsize=CACHE_MAX)
def names_time(sentence: str) -> bool:
    """Whether anything like a date may stand in a sentence: a quick look before the rules."""
    hint = rf"[0-9]|{START}(?:(?:{{day}})(?:{{day_part}})?|{{month}}|(?-i:{{short_day}})|"
    hint += rf"{{time_hint}}|[a-z-]*(?:{{late_ordinal}})){END}"
    return compiled(hint).search(sentence) is not None


@lru_cache(maxsize=1)  # asked of each sentence of a text
def order(text: str, language: str) -> str:
    """How a text writes ``10/03``: "dm" or "md", by its other dates, or its language; else ""."""
    for first, second in _SLASHED.findall(text):
        if (int(first) > 12) != (int(second) > 12):
            return "dm" if int(first) > 12 else "md"
    return "dm" if language in vocabulary("day_first") else ""


def resolve(found: Found, written: date | None, order: str = "") -> date | None:
    """The day that is named there; `order`: of day and month in ``10/03``."""
    get = found.get
    try:
        if iso := get("iso"):
            return date.fromisoformat(iso)
        if first := get("sa"):
            return _slashed(int(first), int(get("sb") or 0), get("sy") or "", written, order)
        for day, month, years in _EXPLICIT:
            if named := get(day):
                year = next((value for name in years if (value := get(name))), "")
                return _explicit(int(named), _month(get(month) or ""), year, written)
        if word := get("ow"):
            nth = meanings("ordinals")[fold(word)]
            return _explicit(nth, _month(get("om") or ""), "", written)
        return None if written is None else _relative(found, written)
    except (OverflowError, ValueError, KeyError):  # no such day, or the end of the calendar
        return None


def _relative(found: Found, written: date) -> date | None:
    get = found.get
    if ordinal := get("oe") or get("od"):
        return _ordinal(int(ordinal), written)
    if ordinal := get("on"):
        return _ordinal(meanings("ordinals")[fold(ordinal)], written)
    if nth := get("nday_nth"):
        day = named_days()[fold(get("nday") or "")]
        return _nth(fold(nth), day, _month(get("nmon") or ""), written)
    if weekday := get("dn"):
        return _monday(written) + WEEK + timedelta(days=named_days()[fold(weekday)])
    if get("tn"):
        return written + WEEK
    if start := get("fd") or get("wf"):
        said = fold(get("fn") or "")
        weeks = int(said) if said.isdecimal() else counts().get(said, 2 if get("wt") else 1)
        return _day_named(fold(start), written) + weeks * WEEK
    if name := get("day"):
        return _weekday(named_days()[fold(name)], found, written)
    if name := get("sd"):
        return _weekday(meanings("short_days")[name] - 1, found, written)
    for days, name in enumerate(("today", "tomorrow", "after")):
        if get(name):
            return written + timedelta(days=days)
    if count := get("count"):
        return _ahead(fold(count), found, written)
    return _span_end(found, written)


def _nth(nth: str, day: int, month: int, written: date) -> date | None:
    """ "The first Monday in April", "the last Friday of March"."""
    for year in (written.year, written.year + 1):
        days = (date(year, month, one) for one in range(1, monthrange(year, month)[1] + 1))
        named = [one for one in days if one.weekday() == day]
        place = meanings("ordinals").get(nth, len(named))
        if place <= len(named) and named[place - 1] >= written:
            return named[place - 1]
    return None


def _day_named(name: str, written: date) -> date:
    """A weekday, today or tomorrow."""
    if name in named_days():
        return _weekday(named_days()[name], {}, written)
    return written + timedelta(days=not pattern(phrases("today")).fullmatch(name))


def _span_end(found: Found, written: date) -> date | None:
    """The end of a week, month, quarter or year, or a feast."""
    get = found.get
    if name := next(filter(get, _ENDS), ""):
        return _ENDS[name](written)
    if feast := get("easter"):
        days = (_easter(year) for year in (written.year, written.year + 1))
        days = (day + timedelta(days=_feasts()[fold(feast)]) for day in days)
        return next(day for day in days if day >= written)
    if month := get("em") or get("mid"):
        number = _month(month)
        year = int(get("ey") or 0) or written.year + (number < written.month)
        return date(year, number, 15) if get("mid") else _month_end(date(year, number, 1))
    if month := get("bm"):
        return _first(_month(month), 1, written)
    if week := get("kw"):
        last = date.fromisocalendar(written.year, int(week), 5)
        return date.fromisocalendar(written.year + 1, int(week), 5) if last < written else last
    return None


def _easter(year: int) -> date:
    """Easter Sunday, by Gauss, for the years that this is of use."""
    moon = (19 * (year % 19) + 24) % 30
    moon -= moon == 29 or (moon == 28 and year % 19 > 10)
    days = (2 * (year % 4) + 4 * (year % 7) + 6 * moon + 5) % 7
    return date(year, 3, 22) + timedelta(days=moon + days)


def _ahead(count: str, found: Found, written: date) -> date:
    number = int(count) if count.isdecimal() else counts()[count]
    if found.get("months"):
        return _month_on(written, number)
    if found.get("workdays"):
        for _ in range(number):
            written += timedelta(days=max(1, 7 - written.weekday()) if written.weekday() > 3 else 1)
        return written
    weeks = 2 if found.get("fortnights") else bool(found.get("weeks"))
    return written + number * (weeks * WEEK or timedelta(days=1))


def _month_on(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    last = monthrange(day.year + years, month + 1)[1]
    return date(day.year + years, month + 1, min(day.day, last))


def _month_end(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _ordinal(day: int, written: date) -> date | None:
    """The next such day of a month: "the 7th"."""
    for months in range(13):
        first = _month_on(written.replace(day=1), months)
        if day <= _month_end(first).day and first.replace(day=day) >= written:
            return first.replace(day=day)
    return None


def _weekday(day: int, found: Found, written: date) -> date:
    if found.get("following"):
        return _monday(written) + WEEK + timedelta(days=day)
    days = (day - written.weekday()) % 7
    return written + timedelta(days=days or (0 if found.get("this") else 7))


def _explicit(day: int, month: int, year: str, written: date | None) -> date | None:
    """A day and month; without a year the first such day from the day of writing on."""
    if year:
        return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
    return None if written is None else _first(month, day, written)


def _first(month: int, day: int, written: date) -> date | None:
    for year in range(written.year, written.year + 9):  # a leap day comes within 8 years
        if not 1 <= day <= monthrange(year, month)[1]:
            continue
        if (found := date(year, month, day)) >= written:
            return found
    return None


_ENDS: Mapping[str, Callable[[date], date | None]] = {
    "ew": lambda day: _monday(day) + timedelta(days=11),
    "tw": lambda day: _monday(day) + timedelta(days=4 if day.weekday() < 5 else 6),
    "we": lambda day: _monday(day) + timedelta(days=5 if day.weekday() < 6 else 12),
    "yend": lambda day: date(day.year, 12, 31),
    "xmas": lambda day: _first(12, 24, day),
    "nicholas": lambda day: _first(12, 6, day),
    "qend": lambda day: _month_end(day.replace(day=1, month=(day.month + 2) // 3 * 3)),
    "mend": _month_end,
    "nm1": lambda day: _month_end(_month_on(day.replace(day=1), 1)),
}
"""Ends of spans and feasts that have a day of their own, from the day of writing on."""


def _slashed(first: int, second: int, year: str, written: date | None, order: str) -> date | None:
    """Where none of them can be no month two countries read it differently."""
    if first <= 12 and second <= 12 and not order and first != second:
        return None
    is_day = first > 12 or (second <= 12 and order != "md")
    return _explicit(*((first, second) if is_day else (second, first)), year, written)


def _month(name: str) -> int:
    last = 3 * meanings("quarters").get(fold(name), 0)
    return int(name) if name.isdecimal() else last or meanings("months")[fold(name)]

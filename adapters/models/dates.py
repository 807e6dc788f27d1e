"""Due dates in English and German sentences.

A date counts only beside a phrase that makes it a due date ("by", "due", "bis", "fällig").
Relative dates are resolved against the day the text was written; without one they are nothing.
Decided: "by Friday" is the next Friday after that day, "this" may be that day itself, English
"next Friday" is in the following week (Monday to Sunday), German "nächsten Freitag" the first
one. A month alone is no date, nor is ``12/04``, which two countries read differently.
"""

import re
from calendar import monthrange
from datetime import date, timedelta

from msgspec import Struct

from adapters.models.sentences import END, NEGATIVE, START, clause_before, pattern, quote, word_set
from domain.text import fold

_MONTH_NAMES = (
    "january januar jänner jan",
    "february februar feb",
    "march märz mar mär",
    "april apr",
    "may mai",
    "june juni jun",
    "july juli jul",
    "august aug",
    "september sept sep",
    "october oktober oct okt",
    "november nov",
    "december dezember dec dez",
)
_DAY_NAMES = (
    "monday montag mon",
    "tuesday dienstag tues tue",
    "wednesday mittwoch wed",
    "thursday donnerstag thurs thur thu",
    "friday freitag fri",
    "saturday samstag sonnabend sat",
    "sunday sonntag sun",
)
_COUNT_NAMES = (
    "one two three four five six seven eight nine ten",
    "einem zwei drei vier fünf sechs sieben acht neun zehn",
)
MONTHS = {name: nth for nth, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
DAYS = {name: nth for nth, names in enumerate(_DAY_NAMES) for name in names.split()}
COUNTS = {name: nth for names in _COUNT_NAMES for nth, name in enumerate(names.split(), 1)}

_MONTH = "|".join(MONTHS)
_DAY = "|".join(DAYS)
_EXPLICIT = (
    rf"(?:(?:{_DAY})\.?,? (?:den |dem |the )?)?(?:"
    rf"(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})"
    rf"|(?P<nd>\d{{1,2}})\. ?(?P<nm>\d{{1,2}})\.(?:(?P<ny2>\d{{2}})(?!\d)| ?(?P<ny>\d{{4}}))?"
    rf"|(?P<dd>\d{{1,2}})(?:\.|st|nd|rd|th)?(?: of)? (?P<dm>{_MONTH}){END}\.?"
    rf"(?:,? (?P<dy>\d{{4}}))?"
    rf"|(?P<mm>{_MONTH})\.? (?P<md>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<my>\d{{4}}))?)"
)
_NAMED = pattern(rf"{START}{_EXPLICIT}{END}")
_RELATIVE = (
    rf"(?:(?P<which>next|this|coming|nächste[nrms]?|kommende[nrms]?|diese[nrms]?) )?(?P<day>{_DAY})"
    r"|(?P<word>(?:the )?day after tomorrow|tomorrow|today|tonight|übermorgen|morgen|heute)"
    r"|(?P<end>(?:the )?end of (?:the |this )?month|month end|monatsende|ende des monats)"
)
_EXPLICIT_GROUPS = (("nd", "nm", ("ny", "ny2")), ("dd", "dm", ("dy",)), ("md", "mm", ("my",)))
_DATE = rf"(?:{_EXPLICIT}|{_RELATIVE}){END}"
_FILLER = "is|ist|was|on|by|am|bis|zum|den|dem|the|der|spätestens|latest|at"
_CUE = (
    "due(?: date)?|by|until|till|deadline|no later than|at the latest|bis|spätestens|fällig|"
    "fälligkeit|frist|abgabe|abgabetermin|abgabefrist|stichtag"
)
_AFTER_CUE = pattern(rf"{START}(?P<cue>{_CUE})(?:: ?| )(?:(?:{_FILLER}) ){{0,4}}{_DATE}")
_BEFORE_CUE = pattern(
    rf"{START}{_DATE} (?:is |ist )?(?:the |die )?(?:due|deadline|fällig|abgabe|abgabetermin){END}"
)
_WITHIN = pattern(
    rf"{START}(?P<cue>due in|within|innerhalb von|fällig in) (?:the next )?"
    rf"(?P<count>\d{{1,3}}|{'|'.join(COUNTS)}) (?P<unit>days?|weeks?|tage?n?|wochen?){END}"
)
_RANGE = pattern(rf"(?:{_DAY}|{_MONTH}|\d\.?) $")
_DENIED = NEGATIVE | word_set(
    "from von vom between zwischen if wenn falls whether ob maybe perhaps vielleicht might"
)
_LASTING = word_set(
    "vacation holiday holidays away closed open opened valid unavailable sick wait waiting busy "
    "out urlaub ferien abwesend geschlossen geöffnet offen gültig krank warte warten wartet"
)


class Dated(Struct, frozen=True):
    """A due date and the words it was read from."""

    day: date
    quote: str


def due(sentence: str, written: date | None) -> Dated | None:
    """The first due date of a sentence, if it names one.

    >>> due("Send it by Friday.", date(2026, 11, 19)).day.isoformat()
    '2026-11-20'
    """
    for rule in (_AFTER_CUE, _BEFORE_CUE, _WITHIN):
        for match in rule.finditer(sentence):
            day = None if _is_other(sentence, match) else _resolve(match.groupdict(), written)
            if day is not None:
                return Dated(day, quote(sentence, match.start(), match.end()))
    return None


def names_a_day(sentence: str) -> bool:
    """Whether a date stands in a sentence, due or not."""
    return _NAMED.search(sentence) is not None


def _is_other(sentence: str, match: re.Match[str]) -> bool:
    """Whether the phrase denies a date, or names a range or how long something lasts."""
    cue = fold(match.groupdict().get("cue") or "")
    before = clause_before(sentence, match.start())
    if not _DENIED.isdisjoint(before):
        return True
    if cue in ("until", "till", "bis"):
        head = sentence[max(0, match.start() - 20) : match.start()]
        return not _LASTING.isdisjoint(before) or _RANGE.search(head) is not None
    return False


def _resolve(found: dict[str, str | None], written: date | None) -> date | None:
    if iso := found.get("iso"):
        return _date(*(int(part) for part in iso.split("-")))
    for day, month, years in _EXPLICIT_GROUPS:
        if named := found.get(day):
            year = next((value for name in years if (value := found[name])), "")
            return _explicit(int(named), _month(found[month] or ""), year, written)
    if written is None:
        return None
    try:
        return _relative(found, written)
    except OverflowError:  # the end of the calendar
        return None


def _relative(found: dict[str, str | None], written: date) -> date | None:
    if name := found.get("day"):
        return _weekday(DAYS[fold(name)], fold(found.get("which") or ""), written)
    if word := found.get("word"):
        name = fold(word)
        days = 2 if "after" in name or "über" in name else 1 if "mor" in name else 0
        return written + timedelta(days=days)
    if count := found.get("count"):
        number = int(count) if count.isdecimal() else COUNTS[fold(count)]
        is_weeks = fold(found["unit"] or "").startswith("w")
        return written + timedelta(days=number * (7 if is_weeks else 1))
    return written.replace(day=monthrange(written.year, written.month)[1])


def _weekday(day: int, which: str, written: date) -> date:
    ahead = (day - written.weekday()) % 7
    if which == "next":
        return written + timedelta(days=7 - written.weekday() + day)
    if ahead == 0 and which != "this" and not which.startswith("diese"):
        ahead = 7
    return written + timedelta(days=ahead)


def _explicit(day: int, month: int, year: str, written: date | None) -> date | None:
    """A day and month; without a year the first such day from the day of writing on."""
    if year:
        return _date(int(year) + (2000 if len(year) == 2 else 0), month, day)
    if written is None:
        return None
    for candidate in range(written.year, written.year + 9):  # a leap day comes within 8 years
        found = _date(candidate, month, day)
        if found is not None and found >= written:
            return found
    return None


def _month(name: str) -> int:
    return int(name) if name.isdecimal() else MONTHS[fold(name)]


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None

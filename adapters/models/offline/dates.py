"""Days that English and German sentences name, and the day that is meant.

Relative dates are resolved against the day the text was written; without one they are nothing.
Decided: a weekday is the next one after that day, "this" may be that day itself, English
"next Friday" is in the following week (Monday to Sunday), German "nächsten Freitag" the first
one. A month alone is no date, nor is ``12/04``, which two countries read differently.
"""

from calendar import monthrange
from datetime import date, timedelta

from adapters.models.offline.sentences import END, START, pattern
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
    "tuesday dienstag tues tue dinstag tuseday",
    "wednesday mittwoch wed mitwoch wensday wednsday",
    "thursday donnerstag thurs thur thu donerstag thrusday thursdy",
    "friday freitag fri firday freitg",
    "saturday samstag sonnabend sat saterday",
    "sunday sonntag sun",
)
_COUNT_NAMES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen",
    "einem zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn",
    "a",
    "an",
    "einer",
)
_ORDINAL_NAMES = (
    """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
    twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth
    twenty-ninth thirtieth thirty-first""",
    """ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften
    zwölften dreizehnten vierzehnten fünfzehnten sechzehnten siebzehnten achtzehnten neunzehnten
    zwanzigsten""",
)
_ORDINALS = {name: nth for names in _ORDINAL_NAMES for nth, name in enumerate(names.split(), 1)}
_EASTER = {
    name: days
    for days, names in (
        (-3, ("maundy thursday", "gründonnerstag")),
        (-2, ("good friday", "karfreitag")),
        (1, ("easter monday", "ostermontag")),
        (0, ("easter", "ostersonntag", "ostern")),
        (49, ("pfingsten",)),
    )
    for name in names
}
"""Days after Easter Sunday."""
_SHORT_DAYS = {"mo": 0, "di": 1, "mi": 2, "do": 3, "fr": 4, "sa": 5}
MONTHS = {name: nth for nth, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
DAYS = {name: nth for nth, names in enumerate(_DAY_NAMES) for name in names.split()}
COUNTS = {name: nth for names in _COUNT_NAMES for nth, name in enumerate(names.split(), 1)}

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
DAY = "|".join(sorted(DAYS, key=len, reverse=True))
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_EXPLICIT = (
    rf"(?:(?:{DAY}|(?:mo|di|mi|do|fr|sa|so)\.?)\.?,? (?:on |der |den |dem |"
    r"the )?)?(?:(?P<iso>\d{4}-\d{2}-\d{2})|(?P<nd>\d{1,2})\. "
    r"?(?P<nm>\d{1,2})\.(?:(?P<ny2>\d{2})(?!\d)| ?(?P<ny>\d{4}))?|(?P<dd>\d{1,2})(?:\.|st|"
    rf"nd|rd|th)?(?: of)? (?P<dm>{_MONTH}){END}\.?(?:,? (?P<dy>20[2-9]\d)(?! [a-z]))?|"
    rf"(?P<mm>{_MONTH})\.? (?P<md>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<my>20[2-9]\d)(?! "
    rf"[a-z]))?|(?:the )?(?P<nth>{_ORDINAL}|last|letzten) (?P<nday>{DAY}) (?:in|of|"
    rf"im) (?P<nmon>{_MONTH}){END}|(?:the )?(?P<ow>{_ORDINAL})(?: of)? (?P<om>{_MONTH}){END}|"
    r"(?:the |dem |den )?(?P<on>[a-z-]{3,9}(?:teenth|tieth|ty-[a-z]{3,9}(?:th|st|nd|rd)|"
    r"zehnten|zigsten))|(?!24/7)(?P<sa>\d{1,2})/(?P<sb>\d{1,2})(?:/(?P<sy>\d{4}|"
    rf"\d\d))?(?![0-9/])|(?:the )?(?P<oe>\d{{1,2}})(?:st|nd|rd|th)(?! (?:of )?(?:{_MONTH}){END})|"
    r"(?P<od>\d{1,2})\.(?! ?\d))"
)
_NAMED = pattern(
    rf"{START}(?:{DAY})?(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}\. ?\d{{1,2}}\.|\d{{1,2}}(?:\.|st|nd|"
    rf"rd|th)?(?: of)? (?:{_MONTH}){END}|(?:{_MONTH})\.? \d{{1,2}})"
)
_WHICH = r"next|this|coming|nächste[nrms]?|kommende[nrms]?|diese[nrms]?"
_COUNT = rf"\d{{1,3}}|{'|'.join(sorted(COUNTS, key=len, reverse=True))}"
_RELATIVE = (
    rf"(?:(?P<fd>{DAY}|today|heute|tomorrow|morgen),? (?:in (?:(?P<fn>{_COUNT}) )(?:weeks?|"
    rf"wochen?)(?:' time)?|(?P<fw>week)))|(?P<dn>{DAY}),? (?:of )?(?:next week|"
    r"(?:in der )?nächste[rn]? woche)|(?P<tn>this time next week|heute in einer woche|"
    rf"in a week's time)|(?P<wd>a week|two weeks) (?:on|from|after) (?P<wf>{DAY}|today|tomorrow)|"
    rf"(?:the )?(?:(?P<which>{_WHICH}) )?(?P<day>{DAY})(?:abend|mittag|vormittag|nachmittag|morgen|"
    r"früh)?|(?P<word>(?:the )?day after tomorrow|tomorrow|today|tonight|übermorgen|morgen|heute|"
    rf"eod(?! (?:on )?(?:the |{DAY}|\d))|(?:the )?end of (?:the )?day|(?:end of )?business today)|"
    r"(?P<end>(?:the )?end of (?:the |this )?month|month[- ]end|monatsende|ende des monats|"
    r"ende (?:dieses |des )?monats|eom|ultimo|(?:the )?month's end)|(?:the )?(?:end of|"
    rf"ende) (?P<em>{_MONTH}){END}(?: (?P<ey>\d{{4}}))?|(?:mid[- ]?|mitte |"
    rf"middle of )(?P<mid>{_MONTH})|(?:(?:the )?(?:beginning|start) of|early|"
    rf"anfang) (?P<bm>{_MONTH}){END}|(?:kw|kalenderwoche|calendar week) ?(?P<kw>\d{{1,2}})|"
    r"(?:the )?(?:end of|ende|mitte) (?P<ew>next|nächster|kommender|der nächsten|"
    r"der kommenden) (?:week|woche)|(?P<tw>(?:the )?end of (?:the |this )?week|ende (?:der|"
    r"dieser) woche|wochenende|eow|(?:the |this )?weekend)|(?P<ny1>(?:the )?end of (?:the |"
    r"this )?year|year[- ]end|jahresende|ende (?:des|dieses) jahres|new year(?:'s)?(?: eve)?|"
    r"silvester|neujahr|jahreswechsel)|(?P<xmas>christmas(?: eve)?|xmas|weihnachten|heiligabend|"
    r"heilig abend)|(?P<nm1>end of next month|ende nächsten monats|ende des nächsten monats)|"
    rf"(?P<nicholas>nikolaus)|(?P<easter>{'|'.join(_EASTER)})|(?P<sd>(?-i:Mo|Di|Mi|Do|Fr|"
    r"Sa))(?=[\s.,!;)]|$)"
)
DATE = rf"(?:{_EXPLICIT}|{_RELATIVE}){END}"
_HINT = pattern(
    rf"[0-9]|{START}(?:{DAY}|(?:{DAY})(?:abend|mittag|vormittag|nachmittag|morgen|früh)|{_MONTH}|"
    r"mo|di|mi|do|fr|sa|today|tonight|tomorrow|übermorgen|morgen|heute|kw|kalenderwoche|calendar|"
    r"early|beginning|start|anfang|fortnight|eod|eom|eow|ultimo|[a-z-]+(?:teenth|tieth|zehnten|"
    r"zigsten)|time|month's|first|second|third|end|ende|mid|mitte|middle|day|days|tage?n?|weeks?|"
    r"wochen?|wochenende|weekend|easter|ostern|ostersonntag|ostermontag|karfreitag|gründonnerstag|"
    r"pfingsten|working|business|werktage?n?|months?|monat(?:en?)?|monatsende|month-end|year-end|"
    r"jahresende|jahreswechsel|new|neujahr|silvester|christmas|xmas|weihnachten|heilig|"
    rf"heiligabend|nikolaus|then|dahin|dann){END}"
)
AHEAD = (
    rf"(?P<count>{_COUNT}) (?P<unit>(?:working|business) days?|(?:werk|arbeits)tage?n?|days?|"
    rf"weeks?|fortnights?|months?|tage?n?|wochen?|monat(?:en?)?){END}"
)
_EXPLICIT_GROUPS = (("nd", "nm", ("ny", "ny2")), ("dd", "dm", ("dy",)), ("md", "mm", ("my",)))


def names_a_day(sentence: str) -> bool:
    """Whether a date stands in a sentence, due or not."""
    return _NAMED.search(sentence) is not None


def names_time(sentence: str) -> bool:
    """Whether anything like a date may stand in a sentence: a quick look before the rules."""
    return _HINT.search(sentence) is not None


def resolve(found: dict[str, str | None], written: date | None) -> date | None:
    """The day that the groups of `DATE` or `AHEAD` stand for."""
    if iso := found.get("iso"):
        return _date(*(int(part) for part in iso.split("-")))
    if first := found.get("sa"):
        return _slashed(int(first), int(found["sb"] or 0), found["sy"] or "", written)
    for day, month, years in _EXPLICIT_GROUPS:
        if named := found.get(day):
            year = next((value for name in years if (value := found[name])), "")
            return _explicit(int(named), _month(found[month] or ""), year, written)
    if word := found.get("ow"):
        return _explicit(_ORDINALS[fold(word)], _month(found["om"] or ""), "", written)
    if written is None:
        return None
    try:
        return _relative(found, written)
    except (OverflowError, ValueError):  # the end of the calendar
        return None


def _relative(found: dict[str, str | None], written: date) -> date | None:
    if ordinal := found.get("oe") or found.get("od"):
        return _ordinal(int(ordinal), written)
    if (ordinal := fold(found.get("on") or "")) in _ORDINALS:
        return _ordinal(_ORDINALS[ordinal], written)
    if nth := found.get("nth"):
        return _nth(
            fold(nth), DAYS[fold(found["nday"] or "")], _month(found["nmon"] or ""), written
        )
    if weekday := found.get("dn"):
        return _weekday(DAYS[fold(weekday)], "next", written)
    if found.get("tn"):
        return written + timedelta(days=7)
    if start := found.get("fd") or found.get("wf"):
        weeks = 2 if "two" in (found.get("wd") or "") else 1
        said = fold(found.get("fn") or "")
        weeks = int(said) if said.isdecimal() else COUNTS.get(said, weeks)
        return _day_named(fold(start), written) + timedelta(days=7 * weeks)
    if name := found.get("day"):
        return _weekday(DAYS[fold(name)], fold(found.get("which") or ""), written)
    if name := found.get("sd"):
        return _weekday(_SHORT_DAYS[fold(name)], "", written)
    if word := found.get("word"):
        name = fold(word)
        days = 2 if "after" in name or "über" in name else 1 if "mor" in name else 0
        return written + timedelta(days=days)
    if count := found.get("count"):
        return _ahead(fold(count), fold(found["unit"] or ""), written)
    return _span_end(found, written)


def _nth(nth: str, day: int, month: int, written: date) -> date | None:
    """ "The first Monday in April", "the last Friday of March"."""
    for year in (written.year, written.year + 1):
        days = (date(year, month, one) for one in range(1, monthrange(year, month)[1] + 1))
        named = [one for one in days if one.weekday() == day]
        place = _ORDINALS.get(nth, len(named))
        if place <= len(named) and named[place - 1] >= written:
            return named[place - 1]
    return None


def _day_named(name: str, written: date) -> date:
    """A weekday, today or tomorrow."""
    if name in DAYS:
        return _weekday(DAYS[name], "", written)
    return written + timedelta(days="mor" in name)


def _span_end(found: dict[str, str | None], written: date) -> date | None:
    """The end of a week, month or year, or a feast."""
    if found.get("ew"):
        return written + timedelta(days=11 - written.weekday())
    if found.get("tw"):
        is_weekend = fold(found["tw"] or "").endswith(("weekend", "wochenende"))
        last = 5 if is_weekend else 4
        ahead = last - written.weekday() + (7 if last == 5 and written.weekday() > 4 else 0)
        return written + timedelta(days=ahead if ahead >= 0 else 6 - written.weekday())
    if found.get("ny1"):
        return date(written.year, 12, 31)
    if found.get("xmas"):
        return _first(12, 24, written)
    if found.get("nicholas"):
        return _first(12, 6, written)
    if feast := found.get("easter"):
        days = (_easter(year) for year in (written.year, written.year + 1))
        days = (day + timedelta(days=_EASTER[fold(feast)]) for day in days)
        return next(day for day in days if day >= written)
    if month := found.get("em") or found.get("mid"):
        number = MONTHS[fold(month)]
        year = int(found.get("ey") or 0) or written.year + (number < written.month)
        return date(year, number, 15 if found.get("mid") else monthrange(year, number)[1])
    if month := found.get("bm"):
        return _first(MONTHS[fold(month)], 1, written)
    if week := found.get("kw"):
        friday = date.fromisocalendar(written.year, int(week), 5)
        past = friday < written
        return date.fromisocalendar(written.year + 1, int(week), 5) if past else friday
    if found.get("nm1"):
        written = _month_on(written.replace(day=1), 1)
    return written.replace(day=monthrange(written.year, written.month)[1])


def _easter(year: int) -> date:
    """Easter Sunday, by Gauss, for the years that this is of use."""
    moon = (19 * (year % 19) + 24) % 30
    moon -= moon == 29 or (moon == 28 and year % 19 > 10)
    ahead = (2 * (year % 4) + 4 * (year % 7) + 6 * moon + 5) % 7
    return date(year, 3, 22) + timedelta(days=moon + ahead)


def _ahead(count: str, unit: str, written: date) -> date:
    number = int(count) if count.isdecimal() else COUNTS[count]
    if unit.startswith("m"):
        return _month_on(written, number)
    if unit.startswith(("work", "bus", "werk", "arbeit")):
        for _ in range(number):
            written += timedelta(days=max(1, 7 - written.weekday()) if written.weekday() > 3 else 1)
        return written
    if unit.startswith("f"):
        return written + timedelta(days=14 * number)
    return written + timedelta(days=number * (7 if unit.startswith("w") else 1))


def _month_on(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    last = monthrange(day.year + years, month + 1)[1]
    return date(day.year + years, month + 1, min(day.day, last))


def _ordinal(day: int, written: date) -> date | None:
    """The next such day of a month: "the 7th"."""
    for months in range(13):
        first = _month_on(written.replace(day=1), months)
        found = _date(first.year, first.month, day)
        if found is not None and found >= written:
            return found
    return None


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
    return None if written is None else _first(month, day, written)


def _first(month: int, day: int, written: date) -> date | None:
    for year in range(written.year, written.year + 9):  # a leap day comes within 8 years
        found = _date(year, month, day)
        if found is not None and found >= written:
            return found
    return None


def _slashed(first: int, second: int, year: str, written: date | None) -> date | None:
    """Only where one of them can be no month: else two countries read it differently."""
    if (first > 12) == (second > 12):
        return None
    return _explicit(max(first, second), min(first, second), year, written)


def _month(name: str) -> int:
    return int(name) if name.isdecimal() else MONTHS[fold(name)]


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None

"""How a task repeats, as people, Obsidian Tasks and todo.txt's clients write it (SPEC 1, ADR 92).

What is stored is one spelling, see `domain.journal.repeat`."""

import re

from domain.errors import Refused, invalid
from domain.journal.repeat import DAYS, FREQUENCIES, INTERVAL_MAX, Rule, checked_rule, rule_of
from domain.text import squeeze

RULES_HELP = "write daily, every 2 weeks, every monday, monthly when done, or none"
_UNITS = {
    **dict.fromkeys(("d", "day", "days", "daily"), "DAILY"),
    **dict.fromkeys(("w", "week", "weeks", "weekly", "wk", "wks"), "WEEKLY"),
    **dict.fromkeys(("m", "month", "months", "monthly"), "MONTHLY"),
    **dict.fromkeys(("y", "year", "years", "yearly", "annually"), "YEARLY"),
    **dict.fromkeys(("tag", "tage", "täglich"), "DAILY"),
    **dict.fromkeys(("woche", "wochen", "wöchentlich"), "WEEKLY"),
    **dict.fromkeys(("monat", "monate", "monatlich"), "MONTHLY"),
    **dict.fromkeys(("jahr", "jahre", "jährlich"), "YEARLY"),
}
_WEEK = (
    ("monday", "montag"), ("tuesday", "dienstag"), ("wednesday", "mittwoch"),
    ("thursday", "donnerstag"), ("friday", "freitag"), ("saturday", "samstag"),
    ("sunday", "sonntag"),
)  # fmt: skip
_EVERY = re.compile(
    r"(?:(?:every|each|alle|jede[nrs]?)\s+)?(?:(?P<count>[0-9]{1,3}|other)\s+)?"
    r"(?P<unit>[a-zäöü]+)(?:\s+(?:on|am)\s+(?P<on>.+))?"
)
_WHEN_DONE = re.compile(r"\s+(?:when done|wenn erledigt)$")
_MONTH_DAY = re.compile(r"(?:the\s+)?([0-9]{1,2})(?:st|nd|rd|th|\.)?")


def rule_read(given: str) -> str:
    """A rule as a person writes it, as it is stored. Raises Refused, code ``invalid_value``: it is
    none that is known here.

    >>> rule_read("every 2 weeks on mon, thu when done"), rule_read("monthly")
    ('FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;FROM=DONE', 'FREQ=MONTHLY')
    >>> rule_read("every weekday"), rule_read("every month on the 15th")
    ('FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 'FREQ=MONTHLY;BYMONTHDAY=15')
    """
    told = squeeze(given).lower()
    if told.startswith("freq="):
        return checked_rule(told.upper())
    words = _WHEN_DONE.sub("", told)
    found = _EVERY.fullmatch(words)
    rule = _rule(found["unit"], found["count"] or "1", found["on"] or "") if found else None
    if rule is None:
        raise invalid(f"{given!r} says not how it repeats", RULES_HELP)
    return str(rule._replace(is_from_done=words != told))


def _rule(unit: str, count: str, on: str) -> Rule | None:
    interval = 2 if count == "other" else int(count)
    if unit in ("weekday", "weekdays", "werktag") and not on:
        return Rule("WEEKLY", interval, DAYS[:5])
    if unit not in _UNITS:  # every monday, every mon
        days = _days(unit)
        return Rule("WEEKLY", interval, days) if days and not on else None
    if not 0 < interval <= INTERVAL_MAX:
        return None
    frequency = _UNITS[unit]
    if not on:
        return Rule(frequency, interval)
    if frequency == "WEEKLY":
        days = _days(on)
        return Rule(frequency, interval, days) if days else None
    day = _MONTH_DAY.fullmatch(on)
    if frequency != "MONTHLY" or not day or not 1 <= int(day[1]) <= 31:
        return None
    return Rule(frequency, interval, month_day=int(day[1]))


def _days(words: str) -> tuple[str, ...]:
    """The days of a week that are named, all of them or none."""
    named = [one for one in re.split(r"[,\s]+|\band\b|\bund\b", words) if one]
    week = [*zip(DAYS, _WEEK, strict=True)]
    found = [next((day for day, names in week if _is_day(one, names)), "") for one in named]
    return tuple(found) if all(found) else ()


def _is_day(word: str, names: tuple[str, ...]) -> bool:
    return any(word in (full, f"{full}s", full[:3], full[:2]) for full in names)


def rule_found(words: str) -> str:
    """A rule that a file says; empty: it is none that is known here."""
    try:
        return rule_read(words)
    except Refused:
        return ""


# ------------------------------------------------------------------------- `rec:` of todo.txt

_REC = re.compile(r"(?P<strict>\+?)(?P<count>[1-9][0-9]{0,2})(?P<unit>[dbwmy])")
_REC_UNITS = dict(zip("dwmy", FREQUENCIES, strict=True))
_WORKDAYS = Rule("WEEKLY", days=DAYS[:5])


def rec_found(value: str) -> str:
    """The rule of ``rec:+1w`` (from the day it is due) or ``rec:1w`` (from the day it is done);
    empty: it is none that is known here.

    >>> rec_found("+2w"), rec_found("3d"), rec_found("2b")
    ('FREQ=WEEKLY;INTERVAL=2', 'FREQ=DAILY;INTERVAL=3;FROM=DONE', '')
    >>> rec_found("+1b")  # a day of business
    'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'
    """
    found = _REC.fullmatch(value.lower())
    if not found:
        return rule_found(value)
    rule = _WORKDAYS
    if found["unit"] != "b":
        rule = Rule(_REC_UNITS[found["unit"]], int(found["count"]))
    elif found["count"] != "1":
        return ""
    return str(rule._replace(is_from_done=not found["strict"]))


def rec_said(text: str) -> str:
    """A rule as it stands behind ``rec:``; empty: it cannot be said there.

    >>> rec_said("FREQ=WEEKLY;INTERVAL=2"), rec_said("FREQ=WEEKLY;BYDAY=MO")
    ('+2w', '')
    """
    rule = rule_of(text)
    strict = "" if rule.is_from_done else "+"
    if rule._replace(is_from_done=False) == _WORKDAYS:
        return f"{strict}1b"
    if rule.days or rule.month_day:
        return ""
    return f"{strict}{rule.interval}{'dwmy'[FREQUENCIES.index(rule.frequency)]}"

"""How a task repeats: rules as people write them, and the days that follow (SPEC 1, ADR 92).

Rules are read as Obsidian Tasks, todo.txt's clients and people write them; what is stored is one
spelling, see `domain.journal.repeat`.
"""

import re
from datetime import date, datetime, time, timedelta

from domain.errors import invalid
from domain.journal.repeat import DAYS, FREQUENCIES, INTERVAL_MAX, Rule, checked_rule, rule_of
from domain.journal.task import Task
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
    """A rule as a person writes it, as it is stored.

    >>> rule_read("every 2 weeks on mon, thu when done"), rule_read("monthly")
    ('FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;FROM=DONE', 'FREQ=MONTHLY')
    >>> rule_read("every weekday"), rule_read("every month on the 15th")
    ('FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 'FREQ=MONTHLY;BYMONTHDAY=15')

    Raises:
        Refused: Code ``invalid_value``: it is none that is known here.
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
    found = [
        next((DAYS[n] for n, full in enumerate(_WEEK) if _is_day(one, full)), "") for one in named
    ]
    return tuple(found) if all(found) else ()


def _is_day(word: str, names: tuple[str, ...]) -> bool:
    return any(word in (full, f"{full}s", full[:3], full[:2]) for full in names)


# ------------------------------------------------------------------------------------ the next days


def next_days(task: Task, today: str) -> tuple[str, str]:
    """When the task that follows a repeating one is due, and until when it waits: the first day of
    the rule after the one on which this one is due, or is done, that is not over; the wait as long
    before it as this one's.

    >>> next_days(Task("t", due="2027-01-31", repeat="FREQ=MONTHLY"), "2027-01-31")
    ('2027-02-28', '')
    """
    rule, now = rule_of(task.repeat), date.fromisoformat(today)
    was = date.fromisoformat(task.due) if task.due else now
    base = now if rule.is_from_done else was
    found = _after(rule, base, max(base, now - timedelta(days=1)))
    if not task.wait_until:
        return found.isoformat(), ""
    waits = found - (was - date.fromisoformat(task.wait_until))
    return found.isoformat(), waits.isoformat()


def _after(rule: Rule, base: date, last: date) -> date:
    """The first day of a rule that begins at `base` behind a later day."""
    from dateutil.relativedelta import relativedelta  # only what repeats waits for it
    from dateutil.rrule import DAILY, MO, WEEKLY, rrule

    if rule.frequency in FREQUENCIES[2:]:
        months = rule.interval * (12 if rule.frequency == "YEARLY" else 1)
        day = rule.month_day or base.day
        nth, found = 0, base + relativedelta(day=day)
        while found <= last:  # bounded by the years of a date
            nth += 1
            found = base + relativedelta(months=nth * months, day=day)
        return found
    days = [DAYS.index(one) for one in rule.days] or None
    first = datetime.combine(base, time())
    every = rrule(
        DAILY if rule.frequency == "DAILY" else WEEKLY,
        dtstart=first,
        interval=rule.interval,
        byweekday=days,
        wkst=MO,
    )
    found_at = every.after(datetime.combine(last, time()))
    if found_at is None:
        raise invalid("it repeats beyond the year 9999", "give it another rule")
    return found_at.date()


def next_fields(task: Task, today: str) -> dict[str, str]:
    """What a command that closes a task says of the one that follows it, if one does."""
    if not task.repeat:
        return {}
    try:
        due, wait_until = next_days(task, today)
    except (OverflowError, ValueError):
        raise invalid("the next one's day cannot be said", "give it another rule") from None
    return {"next_due": due, "next_wait": wait_until}

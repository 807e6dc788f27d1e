"""When a task that follows a repeating one is due, and until when it waits (SPEC 1, ADR 92)."""

from datetime import date, datetime, time, timedelta

from domain.errors import invalid
from domain.journal.repeat import DAYS, FREQUENCIES, Rule, rule_of
from domain.journal.task import Task


def next_days(task: Task, today: str) -> tuple[str, str]:
    """When the task that follows a repeating one is due, and until when it waits: the first day of
    the rule after the one on which this one is due, or is done, that is not over; the wait as long
    before it as this one's. One that only waits waits until that day, and is not due.

    >>> next_days(Task("t", due="2027-01-31", repeat="FREQ=MONTHLY"), "2027-01-31")
    ('2027-02-28', '')
    """
    rule, now = rule_of(task.repeat), date.fromisoformat(today)
    only_waits = task.wait_until if not task.due else ""
    was = date.fromisoformat(task.due or only_waits or today)
    base = now if rule.is_from_done else was
    found = _after(rule, base, max(base, now - timedelta(days=1)))
    if only_waits:
        return "", found.isoformat()
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

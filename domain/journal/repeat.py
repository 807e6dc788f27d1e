"""How a task repeats: a part of iCalendar's recurrence rules (RFC 5545, 3.3.10), in one spelling.

``FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH`` from the day it is due; with ``FROM=DONE`` behind it, which
is our own, from the day it is done. The day of the next one is for adapters to find."""

import re
from typing import NamedTuple

from domain.errors import invalid
from domain.log.keys import key

FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
INTERVAL_MAX = 999
_RULE = re.compile(
    rf"FREQ=(?P<freq>{'|'.join(FREQUENCIES)})(?:;INTERVAL=(?P<interval>[1-9][0-9]{{0,2}}))?"
    rf"(?:;BYDAY=(?P<days>(?:{'|'.join(DAYS)})(?:,(?:{'|'.join(DAYS)}))*))?"
    r"(?:;BYMONTHDAY=(?P<day>[1-9]|[12][0-9]|3[01]))?(?P<done>;FROM=DONE)?"
)


class Rule(NamedTuple):
    """A rule taken apart. `days` only by the week, `month_day` only by the month; `is_from_done`:
    the next one is counted from the day on which this one is done."""

    frequency: str
    interval: int = 1
    days: tuple[str, ...] = ()
    month_day: int = 0
    is_from_done: bool = False

    def __str__(self) -> str:
        """Its one spelling."""
        days = [day for day in DAYS if day in self.days]
        parts = [
            f"FREQ={self.frequency}",
            *([f"INTERVAL={self.interval}"] if self.interval > 1 else ()),
            *([f"BYDAY={','.join(days)}"] if days else ()),
            *([f"BYMONTHDAY={self.month_day}"] if self.month_day else ()),
            *(["FROM=DONE"] if self.is_from_done else ()),
        ]
        return ";".join(parts)


def rule_of(text: str) -> Rule:
    """A rule as it is stored, taken apart, or Refused.

    >>> rule_of("FREQ=WEEKLY;BYDAY=MO;FROM=DONE")
    Rule(frequency='WEEKLY', interval=1, days=('MO',), month_day=0, is_from_done=True)
    """
    found = _RULE.fullmatch(text)
    of_other = found and (
        (found["days"] and found["freq"] != "WEEKLY")
        or (found["day"] and found["freq"] != "MONTHLY")
    )
    if found is None or of_other:
        raise invalid(f"{text[:80]!r} is no rule", "write `every 2 weeks`, `monthly`, ...")
    return Rule(
        found["freq"],
        int(found["interval"] or 1),
        tuple((found["days"] or "").split(",")) if found["days"] else (),
        int(found["day"] or 0),
        bool(found["done"]),
    )


def checked_rule(text: str) -> str:
    """The one spelling of a rule, or Refused."""
    return str(rule_of(text))


def next_id(task: str) -> str:
    """The id of the task that follows one that repeats: whoever closes it makes the same one."""
    return key("task", "next", task)


_NAMES = dict(zip(DAYS, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), strict=True))
_UNITS = dict(zip(FREQUENCIES, ("day", "week", "month", "year"), strict=True))


def told(text: str) -> str:
    """A rule in words, which are read again as the same rule.

    >>> told("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;FROM=DONE"), told("FREQ=MONTHLY;BYMONTHDAY=31")
    ('every 2 weeks on Mon, Thu when done', 'every month on the 31st')
    """
    rule = rule_of(text)
    unit = _UNITS[rule.frequency]
    words = f"every {unit}" if rule.interval == 1 else f"every {rule.interval} {unit}s"
    if rule.days:
        words += f" on {', '.join(_NAMES[day] for day in rule.days)}"
    if rule.month_day:
        ending = {1: "st", 2: "nd", 3: "rd"}.get(rule.month_day % 10 * (rule.month_day // 10 != 1))
        words += f" on the {rule.month_day}{ending or 'th'}"
    return words + " when done" * rule.is_from_done

"""Budgets: what models may be asked in a day, in tokens (SPEC 2). Off unless set.

What is spent is read from the agent log, so it holds over restarts and for all processes. A day
is the person's. What a provider did not say counts as nothing: unknown stays unknown. Spending
is known after a reply only, so the reply that reaches a limit is the last one before the wait.
"""

from collections import Counter
from typing import NamedTuple

from adapters.home.schedules import next_local
from adapters.home.settings import Settings
from adapters.store.log import Log
from domain.timestamps import later
from domain.wake.events import ModelAnswered, unwrapped
from domain.wake.state import WAKE, Wake, spent_by

MIDNIGHT = "00:00"
DAY_SECONDS = 86_400


class _Day(NamedTuple):
    """A day of the person's, from `start` to before `end`, and what was spent in it."""

    start: str
    end: str
    by_wake: Counter[str]
    by_agent: Counter[str]


class Budgets:
    """Says whether a wake must wait before its next question to a model."""

    def __init__(self, agents: Log, settings: Settings) -> None:
        self._log = agents
        self._settings = settings
        self._day = _Day("", "", Counter(), Counter())
        self._seen = 0  # the last n that was counted

    @property
    def is_on(self) -> bool:
        """Whether any budget is set."""
        budget = self._settings.budget
        return bool(budget.tokens_per_wake or budget.tokens_per_agent_day or budget.tokens_per_day)

    def until(self, wake: Wake, at: str) -> str:
        """Until when a wake must wait; empty where it may go on.

        It waits for the person's next midnight: then the day's allowances begin anew, that of
        the wake too.
        """
        if not self.is_on:
            return ""
        self._count(at)
        budget, day = self._settings.budget, self._day
        spent_and_limits = (
            (day.by_wake[wake.run_key], budget.tokens_per_wake),
            (day.by_agent[wake.begun.agent], budget.tokens_per_agent_day),
            (day.by_agent.total(), budget.tokens_per_day),
        )
        is_spent = any(limit and spent >= limit for spent, limit in spent_and_limits)
        return day.end if is_spent else ""

    def _count(self, at: str) -> None:
        """Count the replies of the day so far that were not counted yet."""
        if not self._day.start <= at < self._day.end:
            start, end = _day_of(at, self._settings.timezone)
            self._day = _Day(start, end, Counter(), Counter())
            self._seen = self._last_before(start)
        spent: Counter[str] = Counter()
        for rows in self._log.appends(self._seen):
            self._seen = rows[0].n
            for row in rows:
                fact = unwrapped(row.fact)
                if isinstance(fact, ModelAnswered) and row.at >= self._day.start:
                    spent[row.entity] += spent_by(fact)
        with self._log.reading() as world:
            for run_key, tokens in spent.items():
                self._day.by_wake[run_key] += tokens
                self._day.by_agent[world.load(WAKE, run_key).begun.agent] += tokens

    def _last_before(self, at: str) -> int:
        """The last append's n before a time; times never go back, so halving finds it."""
        low, high = 0, self._log.tail().n
        while low < high:  # bounded: halves what is left
            middle = (low + high + 1) // 2
            found = next(self._log.appends(middle - 1), None)
            if found is not None and found[0].at < at:
                low = middle
            else:
                high = middle - 1
        return low


def _day_of(at: str, zone: str) -> tuple[str, str]:
    """When the person's day that holds an instant began, and when it ends.

    >>> _day_of("2027-01-01T12:00:00.000000Z", "Europe/Berlin")
    ('2026-12-31T23:00:00.000000Z', '2027-01-01T23:00:00.000000Z')
    """
    start = later(at, seconds=-2 * DAY_SECONDS)
    while (end := next_local(MIDNIGHT, zone, start)) <= at:  # bounded: two or three midnights
        start = end
    return start, end

"""Budgets: what models may be asked in a day, in tokens and in money (SPEC 2). Off unless set.

What is spent is read from the agent log, so it holds over restarts and for all processes. A day
is the person's. Late answers and those that failed count: they are paid. Where a provider did not
say what an answer took, its prompt is estimated from its bytes; a model of this machine that says
nothing counts as nothing. Spending is known after a reply only, so the reply that reaches a limit
is the last one before the wait. What forks of the home took is in a ledger beside it, and counts.

A fork only reads the logs of its home, so what it spends stands in neither of them. The ledger
only grows, a line an answer, and outlives the forks."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, replace

from adapters.home.prices import MICRO, cost, known_usage, price_at
from adapters.home.schedules import next_local
from adapters.home.settings import BudgetSettings, Settings
from adapters.store.log import Log
from domain.erasure import ErasureMade, Spent, read_list
from domain.errors import Refused
from domain.log.timestamps import later
from domain.policy.gate import is_leaving
from domain.ports import Usage
from domain.wake.wake import Wake, anyones, used

LEDGER_FILE = "spent.jsonl"


class LedgerEntry(Struct, frozen=True):
    """What one answer took. `fork`: the name of its folder; `cost`: millionths of the person's
    currency, rounded up."""

    fork: str
    agent: str
    model: str
    at: str = ""
    tokens: int = 0
    cost: int = 0


class ForkLedger:
    """The ledger of a home's forks."""

    def __init__(self, path: Path | None) -> None:
        """`path`: the file; None: there is none, and no fork."""
        self._path = path

    def write(self, spent: LedgerEntry) -> None:
        """Add a line. Raises Refused, code ``read_only``."""
        assert self._path is not None  # only a home with a folder has forks that are paid
        try:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(spent) + b"\n")
        except OSError as error:
            because = f"{self._path} cannot be written: {error.strerror}"
            instead = "give yourself permission to it, and free space"
            raise Refused("read_only", because=because, instead=instead) from None

    @property
    def size(self) -> int:
        """How long it is: where that is the same, nothing was added."""
        try:
            return self._path.stat().st_size if self._path is not None else 0
        except OSError:
            return 0

    def between(self, start: str, end: str) -> list[LedgerEntry]:
        """The lines of a time; one that was cut off, or is none, is left out."""
        if self._path is None or not self.size:
            return []
        found = list[LedgerEntry]()
        for line in self._path.read_bytes().splitlines():
            try:
                one = msgspec.json.decode(line, type=LedgerEntry)
            except msgspec.DecodeError:
                continue
            if start <= one.at < end:
                found.append(one)
        return found


# ------------------------------------------------------------------------------------------ budgets

MIDNIGHT = "00:00"
DAY_SECONDS = 86_400


class _Day(NamedTuple):
    """A day of the person's, from `start` to before `end`, and what was spent in it."""

    start: str
    end: str
    by_wake: Counter[str]
    by_agent: Counter[str]
    by_model: Counter[str]  # what they cost, of `WHOLE`


class Budgets:
    """Says whether a wake must wait before its next question to a model."""

    def __init__(self, agents: Log, settings: Settings, forks: ForkLedger | None = None) -> None:
        self._log = agents
        self._settings = settings
        self._forks = forks or ForkLedger(None)
        self._forked: tuple[str, int, list[LedgerEntry]] = ("", 0, [])  # the day, the ledger's size
        self._day = _Day("", "", Counter(), Counter(), Counter())
        self._seen = 0  # the last n that was counted

    @property
    def is_on(self) -> bool:
        """Whether any budget is set."""
        return self._settings.budget != BudgetSettings()

    def check_priced(self, model: str, at: str) -> None:
        """Refuse a model whose answers cost nobody knows what, where money is limited: code
        ``unpriced_model``."""
        is_limited = self._settings.budget.cost_per_day and is_leaving(model)
        if is_limited and price_at(self._settings.prices, model, at) is None:
            because = f"budget.cost_per_day is set, and no price of the model {model} holds now"
            instead = f'write [prices."{model}"] in settings.toml, with input and output below it'
            raise Refused("unpriced_model", because=because, instead=instead)

    def until(self, wake: Wake, at: str) -> str:
        """Until when a wake must wait; empty where it may go on. It waits for the person's next
        midnight: then the day's allowances begin anew, that of the wake too."""
        return self.until_of(wake.run_key, wake.begun.agent, at)

    def until_of(self, run_key: str, agent: str, at: str) -> str:
        """The same of a wake by its run key, or of a fork by its name."""
        if not self.is_on:
            return ""
        self._count(at)
        budget, day, forks = self._settings.budget, self._day, self._of_forks()
        by_agent = sum(one.tokens for one in forks if one.agent == agent)
        by_wake = sum(one.tokens for one in forks if one.fork == run_key)
        tokens, cost = sum(one.tokens for one in forks), sum(one.cost for one in forks)
        spent_and_limits = (
            (day.by_wake[run_key] + by_wake, budget.tokens_per_wake),
            (day.by_agent[agent] + by_agent, budget.tokens_per_agent_day),
            (day.by_agent.total() + tokens, budget.tokens_per_day),
            (day.by_model.total() + cost * MICRO, budget.cost_per_day * MICRO),
        )
        is_spent = any(limit and spent >= limit for spent, limit in spent_and_limits)
        return day.end if is_spent else ""

    def spent(self, about: LedgerEntry, known: Usage, at: str) -> LedgerEntry:
        """What an answer in a fork took, with its price, see `known_usage`."""
        price = price_at(self._settings.prices, about.model, at)
        micros = -(-(cost(known, price) or 0) // MICRO)
        return replace(about, at=at, tokens=_tokens(known), cost=micros)

    def _of_forks(self) -> list[LedgerEntry]:
        """What forks took in the day; it is read again only where the ledger has grown."""
        day, size = self._day, self._forks.size
        if self._forked[:2] != (day.start, size):
            self._forked = (day.start, size, self._forks.between(day.start, day.end))
        return self._forked[2]

    def _count(self, at: str) -> None:
        """Count the replies of the day so far that were not counted yet."""
        if not self._day.start <= at < self._day.end:
            self._begin(at)
        spent, gone = self._came()
        if gone:  # of answers that were counted nothing else is known any more: from the beginning
            self._begin(at)
            spent, gone = self._came()
        for one in gone:
            self._add("", one)
        with self._log.reading() as world:
            for run_key, told_at, usage in spent:
                begun = anyones(world, run_key).begun
                shown = (*begun.system, *begun.user) if usage.tokens_in is None else ()
                size = sum(len(world.payload(one.payload)) for one in shown)
                known = known_usage(usage, size, begun.model)
                self._add(run_key, Spent(told_at, begun.agent, begun.model, *astuple(known)))

    def _begin(self, at: str) -> None:
        start, end = _day_of(at, self._settings.timezone)
        self._day = _Day(start, end, Counter(), Counter(), Counter())
        self._seen = self._last_before(start)

    def _came(self) -> tuple[list[tuple[str, str, Usage]], list[Spent]]:
        """The answers of the day that came since: by their wakes, and those that were erased."""
        spent: list[tuple[str, str, Usage]] = []
        gone: list[Spent] = []
        for rows in self._log.came(self._seen):
            self._seen = max(rows[0].n, self._seen)
            for row in (one for one in rows if one.at >= self._day.start):
                if usage := used(row.fact):
                    spent.append((row.entity, row.at, usage))
                elif isinstance(row.fact, ErasureMade):
                    gone += read_list(self._log.payload(row.fact.listed)).spent
        return spent, [one for one in gone if one.at >= self._day.start]

    def _add(self, run_key: str, spent: Spent) -> None:
        """One more answer of the day."""
        tokens = _tokens(spent.usage)
        self._day.by_wake[run_key] += tokens
        self._day.by_agent[spent.agent] += tokens
        price = price_at(self._settings.prices, spent.model, spent.at)
        self._day.by_model[spent.model] += cost(spent.usage, price) or 0

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


def _tokens(known: Usage) -> int:
    return (known.tokens_in or 0) + (known.written or 0)


def _day_of(at: str, zone: str) -> tuple[str, str]:
    """When the person's day that holds an instant began, and when it ends.

    >>> _day_of("2027-01-01T12:00:00.000000Z", "Europe/Berlin")
    ('2026-12-31T23:00:00.000000Z', '2027-01-01T23:00:00.000000Z')
    """
    start = later(at, seconds=-2 * DAY_SECONDS)
    while (end := next_local(MIDNIGHT, zone, start)) <= at:  # bounded: two or three midnights
        start = end
    return start, end

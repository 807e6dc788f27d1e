"""What a fork of a paid model may take: its own limit, its home's budgets, and the home's day."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.home.settings import BudgetSettings, Settings
from adapters.runtime.budgets import LEDGER_FILE, Budgets, ForkLedger, LedgerEntry
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.timetravel.fork import Branch, ForkChanges, Forked, ForkSpending
from adapters.timetravel.logs_at import Past
from domain.ports import Reply, Request, Usage
from tests.support.consents import agree
from tests.support.services import START, StillClock, queued_key, services, task_with_agent

MODEL = "gemini:made-up"
TAKES = 1_000  # tokens of each answer; a fork here has two


class Paid:
    """A model that would be paid; it counts how often it was asked."""

    name = MODEL

    def __init__(self) -> None:
        self.asked = 0

    async def reply(self, request: Request) -> Reply:
        self.asked += 1
        return Reply(b"", "Fine.", (), Usage(TAKES, 0))


class Origin:
    """A home in which a wake ran on the rules, and where its forks write what they took."""

    def __init__(self, folder: Path, budget: BudgetSettings) -> None:
        self.folder, self.paid = folder, Paid()
        self.at: Services = services(model=None)
        _, self.agent = task_with_agent(self.at)
        self.run = queued_key(self.at, self.agent)
        asyncio.run(run_wake(self.at, self.agent, self.run))
        agree(self.at, self.agent, MODEL)
        self.ledger = ForkLedger(folder / LEDGER_FILE)
        self.budgets = Budgets(
            self.at.agents, replace(Settings(), budget=budget), ForkLedger(folder / LEDGER_FILE)
        )

    def fork(self, name: str, tokens_max: int = 50_000) -> Forked:
        past = Past(self.at.journal, self.at.agents)
        replica = self.at.agents.replica
        spot = past.run(self.run, replica, 0)
        about = LedgerEntry(name, self.agent, MODEL)
        spending = ForkSpending(self.budgets, StillClock(), self.ledger, about, tokens_max)
        branch = Branch(past, self.run, replica, self.at.settings)
        made = branch.make(
            self.folder / name, spot, ForkChanges(MODEL), self.paid, spending=spending
        )
        made.close()
        return made


def test_a_fork_counts_into_the_day_of_its_home_and_waits_with_it(tmp_path: Path) -> None:
    origin = Origin(tmp_path, BudgetSettings(tokens_per_day=4 * TAKES))
    first, second = origin.fork("one"), origin.fork("two")
    assert (first.stopped, second.stopped, origin.paid.asked) == ("", "", 4)
    third = origin.fork("three")
    assert third.stopped == "a budget of the home is spent until 2027-01-02T00:00:00.000000Z"
    assert origin.paid.asked == 4, "nobody was asked, nobody is paid"
    wake = origin.at.wake(origin.run)
    assert origin.budgets.until(wake, START), "the home's own wakes wait, too"
    assert not origin.budgets.until(wake, "2027-01-02T00:00:00.000000Z"), "until the next day"


def test_the_budget_of_a_wake_is_one_forks_alone(tmp_path: Path) -> None:
    origin = Origin(tmp_path, BudgetSettings(tokens_per_wake=2 * TAKES))
    assert [origin.fork(name).stopped for name in ("one", "two")] == ["", ""]
    assert not origin.budgets.until(origin.at.wake(origin.run), START), "nor the wake's it is of"


@pytest.mark.parametrize(("tokens_max", "asked"), [(10, 0), (50_000, 2)])
def test_a_fork_has_a_limit_of_its_own(tmp_path: Path, tokens_max: int, asked: int) -> None:
    origin = Origin(tmp_path, BudgetSettings())
    made = origin.fork("one", tokens_max)
    assert origin.paid.asked == asked
    assert made.stopped.startswith("its limit is 10 tokens: about") == (not asked)
    assert (tmp_path / LEDGER_FILE).exists() == bool(asked)


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    ledger = ForkLedger(tmp_path / LEDGER_FILE)
    ledger.write(LedgerEntry("one", "a", MODEL, START, 5))
    with (tmp_path / LEDGER_FILE).open("ab") as file:
        file.write(b'{"fork":"tw')
    assert [one.tokens for one in ledger.between(START, START + "Z")] == [5]

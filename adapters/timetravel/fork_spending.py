"""What a fork of a paid model may take: its own limit, and what is left of its home's day."""

from adapters.runtime.budgets import Budgets, known_usage
from adapters.runtime.fork_ledger import ForkLedger, Spent
from domain.ports import Clock, Request, Usage

TOKENS_MAX = 50_000  # of one fork, unless a person says another number


class Stopped(Exception):
    """Nobody answers this request; it says why."""


class Spending:
    """Each answer is written down in the home that the fork comes from, and counts into its day.

    Args:
        budgets: The home's; its log and its ledger are what was spent today.
        clock: The home's: a fork's own stands at the time of its wake.
        ledger: Where it is written down.
        spent: Of which fork, agent and model; its time and numbers are filled in.
        tokens_max: How many it may take.
    """

    def __init__(
        self, budgets: Budgets, clock: Clock, ledger: ForkLedger, spent: Spent, tokens_max: int
    ) -> None:
        self._budgets = budgets
        self._clock = clock
        self._ledger = ledger
        self._spent = spent
        self._tokens_max = tokens_max
        self.tokens = 0

    def check(self, request: Request) -> None:
        """Look whether a request may be asked.

        Raises:
            Stopped: It would take more than is left.
        """
        spent = self._spent
        if until := self._budgets.until_of(spent.fork, spent.agent, self._clock.now()):
            raise Stopped(f"a budget of the home is spent until {until}")
        about = known_usage(Usage(), _size(request), spent.model).tokens_in or 0
        if self.tokens + about > self._tokens_max:
            told = f"about {about:,} more are needed, {self.tokens:,} were taken"
            raise Stopped(f"its limit is {self._tokens_max:,} tokens: {told}")

    def took(self, request: Request, usage: Usage) -> None:
        """Write down what an answer took, or a failure."""
        known = known_usage(usage, _size(request), self._spent.model)
        spent = self._budgets.spent(self._spent, known, self._clock.now())
        self.tokens += spent.tokens
        self._ledger.write(spent)


def _size(request: Request) -> int:
    """The bytes that are sent."""
    sections = sum(len(one.text.encode()) for one in (*request.system, *request.user))
    replies = sum(len(one.reply) for one in request.exchanges)
    results = sum(len(r.output.encode()) for one in request.exchanges for r in one.results)
    return sections + replies + results

"""Who answers in a fork: the record, where it was asked the same, else a model, or nobody."""

from collections.abc import Mapping

from msgspec.structs import replace

from adapters.timetravel.fork_spending import Spending, Stopped
from domain.ports import Model, ModelFault, Reply, Request, Usage
from replay import fork
from replay.fork import Answer, How, ModelReply

NOBODY = "the request differs from the recorded one, and no model was given"


class UseRecorded(Exception):
    """The record answers this request."""

    def __init__(self, fact: ModelReply, asked: str) -> None:
        super().__init__("the record answers")
        self.fact = fact
        self.asked = asked


class ForkModel:
    """Answers with what was recorded for the same bytes; else asks somebody, or stops.

    `name` is what the wake is told that its model is called; `of`: whose the record is, where it
    answers whoever is asked. `spending` says what may be asked that is paid; None: nothing is.
    """

    def __init__(
        self,
        name: str,
        of: str,
        recorded: Mapping[str, ModelReply],
        asks: Model | None,
        how: How,
        spending: Spending | None = None,
    ) -> None:
        self._name = name
        self.of = of
        self._recorded = recorded
        self._asks = asks
        self._how: How = how
        self._spending = spending
        self.answers: list[Answer] = []

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, request: Request) -> Reply:
        """The chosen model's answer. What the record answers, or nobody, is raised."""
        asking = replace(request, model=self._name)
        asked = fork.digest(replace(request, model=self.of))
        if asked in self._recorded:
            raise UseRecorded(self._recorded[asked], asked)
        if self._asks is None:
            raise Stopped(NOBODY)
        if self._spending is not None:
            self._spending.check(asking)
        turn = len(request.exchanges) + 1
        self.answers.append(Answer(turn, self._how, self._name, fork.digest(asking)))
        try:
            reply = await self._asks.reply(asking)
        except ModelFault as fault:
            self._pay(asking, fault.usage)
            raise
        self._pay(asking, reply.usage)
        return reply

    def _pay(self, asking: Request, usage: Usage) -> None:
        if self._spending is not None:
            self._spending.took(asking, usage)

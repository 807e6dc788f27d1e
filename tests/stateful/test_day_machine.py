"""No order of deeds makes an agent's block meet another one (law 1 of days): put, move, keep,
remove, propose, confirm as proposed, edited or anyway, take back. What stands is told by a model
that counts minutes and shares no code with the product."""

import json
from contextlib import suppress
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from adapters.runtime import review
from domain.errors import Refused
from domain.journal import day as d
from domain.journal.commands import UndoDeed
from tests.support.days import TODAY, Planner, planner

TITLES = ("A", "B", "C")
QUARTERS = st.integers(8 * 4, 11 * 4)
SPANS = st.tuples(QUARTERS, st.integers(1, 8)).map(lambda one: (one[0], one[0] + one[1]))
Span = tuple[int, int]


def clock(quarter: int) -> str:
    return f"{quarter // 4:02}:{quarter % 4 * 15:02}"


class DayMachine(RuleBasedStateMachine):
    """A person and an agent that plan one day."""

    def __init__(self) -> None:
        super().__init__()
        self.of: Planner = planner(*TITLES)
        self.appends: list[int] = []

    @initialize(span=SPANS)
    def begins(self, span: Span) -> None:
        self.puts(span)

    def _blocks(self) -> list[d.Block]:
        return list(self.of.day().blocks)

    @rule(span=SPANS)
    def puts(self, span: Span) -> None:
        with suppress(Refused):
            self.of.put(clock(span[0]), clock(span[1]))
            self.appends.append(self.of.at.journal.tail().n)

    @rule(nth=st.integers(0, 9), span=SPANS, deed=st.sampled_from(("move", "keep", "remove")))
    def changes(self, nth: int, span: Span, deed: str) -> None:
        if not (blocks := self._blocks()):
            return
        block = blocks[nth % len(blocks)].id
        command: Any = {
            "move": d.PutBlock(TODAY, clock(span[0]), clock(span[1]), block),
            "keep": d.PutBlock(TODAY, block=block),
            "remove": d.RemoveBlock(TODAY, block),
        }[deed]
        with suppress(Refused):
            self.of.at.append_journal(command)
            self.appends.append(self.of.at.journal.tail().n)

    @rule(nth=st.integers(1, 3))
    def takes_back(self, nth: int) -> None:
        if nth <= len(self.appends):
            n = self.appends[-nth]
            with suppress(Refused):
                self.of.at.append_journal(UndoDeed((), (n,), days=(TODAY,)))

    @rule(title=st.sampled_from(TITLES), span=SPANS, other=SPANS)
    def proposes(self, title: str, span: Span, other: Span) -> None:
        names = [title, *(one for one in TITLES if one != title)]
        self.of.proposes(
            f"{names[0]} {clock(span[0])}-{clock(span[1])}",
            f"{names[1]} {clock(other[0])}-{clock(other[1])}",
            words="Plan it.",
        )

    @rule(
        nth=st.integers(0, 9),
        number=st.integers(1, 2),
        how=st.sampled_from(("as it is", "anyway", "edited", "undo")),
        span=SPANS,
    )
    def decides(self, nth: int, number: int, how: str, span: Span) -> None:
        if not (sets := self.of.sets):
            return
        chosen = sets[nth % len(sets)]
        items = {one.number: one for one in review.changes_of(self.of.at, chosen).items}
        if number not in items:
            return
        given: dict[str, Any] = {"is_anyway": how == "anyway"}
        if how == "edited":
            told = json.loads(items[number].arguments.text)
            times = {"start": clock(span[0]), "end": clock(span[1])}
            given = {"edit": json.dumps(told | times), "is_anyway": True}
        with suppress(Refused):
            if how == "undo":
                operation = self.of.operation(number, self.of.sets.index(chosen))
                review.undo(self.of.at, chosen, number, operation)
            else:
                review.confirm(self.of.at, chosen, number, **given)

    @invariant()
    def no_minute_is_taken_twice(self) -> None:
        minutes: set[int] = set()
        for one in self._blocks():
            begin, end = (int(t[:2]) * 60 + int(t[3:]) for t in (one.start, one.end))
            own = set(range(begin, end))
            assert own, one
            assert not minutes & own, f"{one.start}-{one.end} meets another block"
            minutes |= own

    def teardown(self) -> None:
        assert self.of.proved() == []


TestDayMachine = DayMachine.TestCase
TestDayMachine.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)

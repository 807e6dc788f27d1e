"""T2 and T3 of verdicts, as far as they are pure: an item of a change set is confirmed, edited,
rejected, put off and taken back on machines that stop between any two steps and meet when they
like; so is a confirmation taken back. Each operation has one effect, and who meets finishes what
others left (ADR 73, 78)."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from domain.changes import decisions
from domain.changes.change_set import (
    ChangeItem,
    ChangeSet,
    ChangesFact,
    ChangesIntent,
    ChangesReply,
    ItemConfirmed,
    ItemConfirming,
    ItemFailed,
    ItemProposed,
    ItemUndone,
    SetOpened,
    UndoAsked,
)
from domain.changes.in_doubt import items_in_doubt, undos_in_doubt
from domain.errors import Refused
from domain.log.wire import Words
from tests.support.agent_sides import MEETINGS, REPLICAS, known, state
from tests.support.sides import Sides

pytestmark = pytest.mark.slow

SET, ME = "changes:s1", "person"
WHO, EDITS = st.sampled_from(REPLICAS), st.sampled_from(("", "", "x"))
PROPOSED = ItemProposed(1, "set_title", Words("{}"), "", "f1", "", "")


class Verdicts(RuleBasedStateMachine):
    """The model is the journals: by machine, which operations are known to be applied or refused.
    A receipt of who applied an operation goes before those of who was refused. `undoes`: which
    operation each undo takes back."""

    def __init__(self) -> None:
        super().__init__()
        self.sides = Sides()
        self.sides.says("r0", PROPOSED, SetOpened("a1", "t1", "run"), of=SET)
        self.receipts: dict[str, dict[str, bool]] = {one: {} for one in REPLICAS}
        self.undoes: dict[str, str] = {}
        self.meet(set(REPLICAS))

    @rule(who=MEETINGS)
    def meet(self, who: set[str]) -> None:
        """Journal and agent log travel together."""
        self.sides.meet(*who)
        every: dict[str, bool] = {}
        for one in who:
            for operation, is_applied in self.receipts[one].items():
                every[operation] = is_applied or every.get(operation, False)
        for one in who:
            self.receipts[one] = dict(every)

    @rule(who=WHO, edit=EDITS)
    def confirm(self, who: str, edit: str) -> None:
        said, action = Words(edit) if edit else None, edit or "as proposed"
        self.decide(
            who, lambda known: decisions.confirm(known, 1, ME, action=action, arguments=said)
        )

    @rule(who=WHO)
    def reject(self, who: str) -> None:
        self.decide(who, lambda known: decisions.reject(known, 1, ME, "no", 1))

    @rule(who=WHO, what=st.sampled_from(("put off", "take back", "take back", "expire")))
    def decide_else(self, who: str, what: str) -> None:
        if what == "put off":
            self.decide(who, lambda known: decisions.defer(known, 1, ME, "", 1))
        elif what == "take back":
            self.decide(who, lambda known: decisions.reopen(known, 1, ME))
        else:
            self.decide(who, lambda known: decisions.expire(known, "", "the task is gone"))

    @rule(who=WHO)
    def undo(self, who: str) -> None:
        """The newest effect that is known there and stands; where it does not, the decider says."""
        for operation in sorted(self.standing(who)):
            number = next(
                row.fact.confirmation
                for row in known(self.sides, who, SET)
                if isinstance(row.fact, ItemConfirming) and row.fact.operation == operation
            )
            self.decide(who, partial(_undone, operation, number))

    @rule(who=WHO, edit=EDITS, others=MEETINGS, is_met=st.booleans(), is_killed=st.booleans())
    def confirm_and_undo(
        self, who: str, edit: str, others: set[str], is_met: bool, is_killed: bool
    ) -> None:
        """What these others did not know, or knew of the confirmation alone."""
        self.confirm(who, edit)
        self.perform(who, is_applied=True, is_killed=False, is_others=False)
        if is_met:
            self.meet({who, *others})
        self.undo(who)
        self.perform(who, is_applied=True, is_killed=is_killed, is_others=False)

    def standing(self, who: str) -> set[str]:
        """The confirmations whose effects are known to a machine, and not to be taken back."""
        applied = {one for one, is_applied in self.receipts[who].items() if is_applied}
        gone = {self.undoes[one] for one in applied & self.undoes.keys()}
        return applied - self.undoes.keys() - gone

    def take_over(self, who: str) -> None:
        self.decide(who, lambda known: decisions.retake(known, 1))

    @rule(who=WHO, is_applied=st.booleans(), is_killed=st.booleans(), is_others=st.booleans())
    def perform(self, who: str, is_applied: bool, is_killed: bool, is_others: bool) -> None:
        """The effect, as an attempt of its own if another machine asked for it; who is killed
        after it says nothing of it."""
        if is_others:
            self.take_over(who)
        for asked in decisions.pending_effects(self.known(who)):
            done = self.done(who, asked, is_applied=is_applied)
            if not is_killed:
                reply = _reply(asked, is_done=done)
                self.decide(who, partial(_settled, reply))

    def done(self, who: str, asked: ChangesIntent, *, is_applied: bool) -> bool:
        """The journal's word; what is not there cannot be taken back, and nothing is written."""
        if isinstance(asked, UndoAsked):
            self.undoes[asked.operation] = asked.undoes
            if not self.receipts[who].get(asked.undoes):
                return self.receipts[who].get(asked.operation, False)
        return self.receipts[who].setdefault(asked.operation, is_applied)

    def decide(self, who: str, what: Callable[[ChangeSet], Sequence[ChangesFact]]) -> None:
        try:
            facts = what(self.known(who))
        except Refused:
            return
        if facts:
            self.sides.says(who, *facts, of=SET)

    def known(self, who: str) -> ChangeSet:
        found: ChangeSet = state(self.sides, who, SET)
        return found

    @invariant()
    def what_is_confirmed_has_an_effect_and_names_it(self) -> None:
        for who in REPLICAS:
            (item,) = self.known(who).items
            if item.status == "confirmed":
                confirmed = {*item.operations} - self.undoes.keys()
                assert any(self.receipts[who].get(one) for one in confirmed)
            asked = {
                row.fact.operation
                for row in known(self.sides, who, SET)
                if isinstance(row.fact, ItemConfirming | UndoAsked)
            }
            assert asked == set(item.operations)

    def teardown(self) -> None:
        """Who knows all finishes what is left: T3, either side may."""
        for last in REPLICAS:
            self.meet(set(REPLICAS))
            self.finish(last)
        self.meet(set(REPLICAS))
        items = [self.known(who).items[0] for who in REPLICAS]
        assert all(item == items[0] for item in items)
        applied = {one for one, is_applied in self.receipts["r0"].items() if is_applied}
        assert (items[0].status == "confirmed") == bool(self.standing("r0"))
        assert applied <= set(items[0].operations)
        assert items[0].status != "confirming"
        self.shown(items[0])

    def finish(self, who: str) -> None:
        while pending := decisions.pending_effects(self.known(who)):  # each ends one of them
            (asked,) = pending
            self.take_over(who)
            done = self.done(who, asked, is_applied=True)
            reply = _reply(asked, is_done=done)
            self.decide(who, partial(_settled, reply))
        for doubt in items_in_doubt(self.known(who)):
            applied = [one for one in doubt.operations if self.receipts[who].get(one)]
            if confirmed := [one for one in applied if one not in self.undoes]:
                name = confirmed[0] if self.undoes else ""
                done_it = ItemConfirmed(doubt.item, doubt.confirmation, 1, name)
                self.decide(who, partial(_settled, done_it))
        for number, undo in undos_in_doubt(self.known(who)):
            if self.receipts[who].get(undo.operation):
                undone = ItemUndone(number, undo.confirmation, undo.operation, undo.undoes, 1)
                self.decide(who, partial(_settled, undone))

    def shown(self, item: ChangeItem) -> None:
        """What is still open is of verdicts that differ, and one of them stands."""
        for one in self.sides.open(SET):
            values = [side.value for side in one.sides]
            assert (one.kind, one.field) == ("verdicts", "item:1")
            assert len(set(values)) > 1
            assert one.stands == item.status


def _reply(asked: ChangesIntent, *, is_done: bool) -> ChangesReply:
    if isinstance(asked, UndoAsked):
        code = "" if is_done else "stale"
        return ItemUndone(1, asked.confirmation, asked.operation, asked.undoes, 0, code)
    assert isinstance(asked, ItemConfirming)
    if is_done:
        return ItemConfirmed(1, asked.confirmation, 1)
    return ItemFailed(1, asked.confirmation, "stale", "")


def _undone(operation: str, number: int, known: ChangeSet) -> list[ChangesFact]:
    return decisions.undo(known, 1, ME, operation, number)


def _settled(reply: ChangesReply, known: ChangeSet) -> list[ChangesFact]:
    return decisions.settle(known, reply, is_shared=True)


Verdicts.TestCase.settings = settings(max_examples=120, stateful_step_count=18)
TestT2AndT3OfVerdicts = Verdicts.TestCase

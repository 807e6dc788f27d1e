"""Any order of verdicts, outcomes, crashes and late replies leaves every item in one true state.

The test keeps its own small model, written by hand in each rule: what became of each item, and
what is in flight. Comparing the fold with itself would prove nothing.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from domain.changes import decisions
from domain.changes.change_set import (
    ChangeSet,
    ChangesFact,
    ItemConfirmed,
    ItemFailed,
    SuppressionDone,
    status_of,
)
from domain.errors import TOOL_CODES, Refused
from domain.log.wire import Words
from domain.tools.base import Proposal
from tests.support.proposals import AGENT, AT, BY_AGENT, LATER, add, after, label

HOPELESS = {"not_found", "redundant", "unknown_tool", "invalid_arguments"}
OPEN = {"pending", "confirming", "deferred"}
CHOICES = [*map(add, ("milk", "bread", "eggs", "jam")), label("urgent"), label("home")]
UNKNOWN = 99
batches = st.lists(st.sampled_from(CHOICES), min_size=1, max_size=3)


class Expected:
    """What an item should be."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        self.status = "pending"
        self.confirmation = 0
        self.attempt = 0  # of what is in flight; 0: nothing is
        self.operation = ""  # of what is in flight, or was last
        self.is_edited = False
        self.code = ""


class ChangeSetMachine(RuleBasedStateMachine):
    @initialize(batch=st.permutations(CHOICES), has_ended=st.sampled_from((True, True, False)))
    def begin(self, batch: list[Proposal], has_ended: bool) -> None:
        self.changes = ChangeSet("set-1")
        self.items: dict[int, Expected] = {}
        self.used: set[str] = set()
        self.is_shown = False
        self.the_wake_proposes(batch)
        if has_ended:
            self.the_wake_ends()

    @precondition(lambda self: not self.is_shown)
    @rule(batch=batches)
    def the_wake_proposes(self, batch: list[Proposal]) -> None:
        facts, _ = decisions.propose(self.changes, batch, "task-1")
        self.write(facts, len(batch))
        for proposal in batch:
            self.items[len(self.items) + 1] = Expected(proposal)

    @precondition(lambda self: not self.is_shown)
    @rule()
    def the_wake_ends(self) -> None:
        self.write(decisions.opened(self.changes, AGENT, "task-1", "run", LATER), 1)
        self.is_shown = True

    @rule(data=st.data(), is_edited=st.booleans())
    def confirm(self, data: st.DataObject, is_edited: bool) -> None:
        number = self.pick(data, "pending", "deferred")
        known = self.items.get(number)

        def decide() -> list[ChangesFact]:
            words = Words('{"title":"tea"}') if is_edited else None
            action = "tea" if is_edited or known is None else known.proposal.fingerprint
            return decisions.confirm(self.changes, number, "person", action=action, arguments=words)

        if self.refuses(number, decide, ("pending", "deferred"), ("confirming", "confirmed")):
            return
        assert known is not None
        self.write(decide(), 1)
        known.status, known.is_edited, known.code = "confirming", is_edited, ""
        known.confirmation += 1
        known.attempt, known.operation = 1, self.new_operation(number)

    @rule(data=st.data(), position=st.integers(1, 9))
    def the_operation_succeeds(self, data: st.DataObject, position: int) -> None:
        number = self.pick(data, "confirming")
        known = self.items.get(number)
        outcome = ItemConfirmed(number, known.confirmation if known else 1, position)
        if known is None or known.status != "confirming":
            self.write(decisions.settle(self.changes, outcome), 0)
            return
        self.write(decisions.settle(self.changes, outcome), 1)
        known.status, known.attempt = "confirmed", 0

    @rule(data=st.data(), code=st.sampled_from(("stale", "limit", *TOOL_CODES)))
    def the_operation_fails(self, data: st.DataObject, code: str) -> None:
        number = self.pick(data, "confirming")
        known = self.items.get(number)
        outcome = ItemFailed(number, known.confirmation if known else 1, code, "no good")
        facts = decisions.settle(self.changes, outcome)
        if known is None or known.status != "confirming":
            self.write(facts, 0)
            return
        is_lost = code in HOPELESS and not known.is_edited
        self.write(facts, 2 if is_lost else 1)
        known.status = "retracted" if is_lost else "pending"
        known.attempt, known.code, known.is_edited = 0, code, False

    @rule(data=st.data(), code=st.sampled_from(("", "internal")))
    def the_suppression_ends(self, data: st.DataObject, code: str) -> None:
        number = self.pick(data, "rejected")
        known = self.items.get(number)
        outcome = SuppressionDone(number, known.operation if known else "", code)
        facts = decisions.settle(self.changes, outcome)
        if known is None or known.status != "rejected" or not known.attempt:
            self.write(facts, 0)
            return
        self.write(facts, 1)
        known.attempt, known.code = 0, code

    @rule(data=st.data(), back=st.integers(1, 2))
    def an_older_outcome_arrives_late(self, data: st.DataObject, back: int) -> None:
        number = self.pick(data, "confirming", "confirmed")
        known = self.items.get(number)
        confirmation = known.confirmation - back if known else 1
        success = ItemConfirmed(number, confirmation)
        self.write(decisions.settle(self.changes, success), 0)
        failure = ItemFailed(number, confirmation, "stale", "")
        self.write(decisions.settle(self.changes, failure), 0)

    @rule(data=st.data())
    def a_crash_is_taken_over(self, data: st.DataObject) -> None:
        number = self.pick(data, "confirming", "rejected")
        known = self.items.get(number)
        if known is None:
            with pytest.raises(Refused):
                decisions.retake(self.changes, number)
            return
        self.write(decisions.retake(self.changes, number), 1 if known.attempt else 0)
        known.attempt += 1 if known.attempt else 0

    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        number = self.pick(data, "pending", "deferred")

        def decide() -> list[ChangesFact]:
            return decisions.reject(self.changes, number, "person", "no", 7)

        if self.refuses(number, decide, ("pending", "deferred"), ("rejected",)):
            return
        known = self.items[number]
        is_label = known.proposal.tool == "assign_task_label"
        self.write(decide(), 2 if is_label else 1)
        known.status = "rejected"
        if is_label:
            known.attempt = 1
            known.operation = self.intents()[number].operation

    @rule(data=st.data())
    def defer(self, data: st.DataObject) -> None:
        number = self.pick(data, "pending")

        def decide() -> list[ChangesFact]:
            return decisions.defer(self.changes, number, "person", "later", 7)

        if not self.refuses(number, decide, ("pending",), ("deferred",)):
            self.write(decide(), 1)
            self.items[number].status = "deferred"

    @rule(
        proposal=st.sampled_from(CHOICES),
        by=st.sampled_from((BY_AGENT, "agent:other")),
        is_reproposed=st.booleans(),
    )
    def the_agent_retracts(self, proposal: Proposal, by: str, is_reproposed: bool) -> None:
        again = frozenset({proposal.fingerprint} if is_reproposed else ())
        facts = decisions.retract(self.changes, [(proposal.fingerprint, "done")], by, again)
        is_own = by == BY_AGENT or not self.is_shown
        gone = [
            known
            for known in self.items.values()
            if is_own and not is_reproposed
            if known.proposal == proposal and known.status == "pending"
        ]
        self.write(facts, len(gone))
        for known in gone:
            known.status = "retracted"

    @precondition(lambda self: self.is_shown)
    @rule(chance=st.integers(0, 9))
    def time_passes(self, chance: int) -> None:
        at = LATER if chance == 1 else AT  # seldom, as it ends what else could happen
        reason = "task deleted" if chance == 2 else ""
        closing = {"pending", "deferred"} if reason else {"pending"} if at == LATER else set()
        gone = [known for known in self.items.values() if known.status in closing]
        self.write(decisions.expire(self.changes, at, reason), len(gone))
        for known in gone:
            known.status = "expired"

    @invariant()
    def agrees_with_the_model(self) -> None:
        seen = {
            item.number: (item.status, item.confirmation, item.error_code)
            for item in self.changes.items
        }
        assert seen == {
            number: (known.status, known.confirmation, known.code)
            for number, known in self.items.items()
        }

    @invariant()
    def what_is_in_flight_is_known(self) -> None:
        seen = {
            number: (intent.operation, intent.attempt) for number, intent in self.intents().items()
        }
        assert seen == {
            number: (known.operation, known.attempt)
            for number, known in self.items.items()
            if known.attempt
        }

    @invariant()
    def the_set_is_as_its_items(self) -> None:
        statuses = {known.status for known in self.items.values()}
        if statuses & OPEN:
            expected = "partially_resolved" if statuses - OPEN else "pending"
        else:
            expected = "expired" if "expired" in statuses else "resolved"
        assert status_of(self.changes) == expected

    # ------------------------------------------------------------------------------- parts

    def pick(self, data: st.DataObject, *statuses: str) -> int:
        """Mostly an item of these statuses, so that much happens to it; else any, or none."""
        fitting = [number for number, known in self.items.items() if known.status in statuses]
        return data.draw(st.sampled_from([*fitting * 9, *self.items, UNKNOWN]))

    def write(self, facts: Sequence[Any], count: int) -> None:
        """Append facts, of which there must be so many."""
        assert len(facts) == count
        self.changes = after(self.changes, facts)

    def refuses(
        self, number: int, decide: Any, allowed: tuple[str, ...], so_already: tuple[str, ...]
    ) -> bool:
        """Whether the model says that nothing is written; then the decider must say so too."""
        known = self.items.get(number)
        if known and self.is_shown and known.status in allowed:
            return False
        if known and self.is_shown and known.status in so_already:
            assert decide() == []
            return True
        code = "unknown_item" if known is None else "decided" if self.is_shown else "agent_running"
        with pytest.raises(Refused) as refused:
            decide()
        assert refused.value.code == code
        return True

    def intents(self) -> dict[int, Any]:
        return {intent.item: intent for intent in decisions.pending_effects(self.changes)}

    def new_operation(self, number: int) -> str:
        """The operation of a confirm, never seen before."""
        operation = str(self.intents()[number].operation)
        assert operation not in self.used
        self.used.add(operation)
        return operation


TestChangeSetMachine = ChangeSetMachine.TestCase
TestChangeSetMachine.settings = settings(max_examples=150)

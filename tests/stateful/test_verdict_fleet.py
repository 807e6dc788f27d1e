"""T2 and T3 over whole machines (sync.md 14.4): proposals are decided, edited, rejected and taken
back on three machines whose processes die at any append, whose rows come when they like, and which
take over from each other. Once all have met and recovered, an item is confirmed if and only if the
journal holds a receipt that its operation was applied, and none that took that back (ADR 73, 78).

The model reads rows alone: what was asked for, and which receipts say that it was applied.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from adapters.proof.prove import prove_logs
from adapters.runtime import recovery, review
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.store.memory import MemoryLogRecorder
from domain.append.causes import Receipt
from domain.changes.change_set import CHANGES, ChangeItem, ItemConfirming, UndoAsked
from domain.errors import Refused
from domain.journal.commands import AddLabel, ApplyOperation, UndoDeed
from domain.log.state import RecordedEvent
from tests.support.fleet import Fleet, Machine
from wakelog.testing import calls as reply

NAMES = ("desk", "laptop", "phone")
WHO, ITEM = st.sampled_from(NAMES), st.sampled_from((1, 2))
DIES = st.sampled_from(
    (None, None, None, ("journal", 1), ("journal", 2), ("agent", 2), ("agent", 3))
)
"""At which append of which log a process dies: of each pair before and right after it."""
ASKED, DONE_UNSAID = ("agent", 2), ("agent", 3)
EDITS = ("", '{"minutes":50}')
Dies = tuple[str, int] | None


def fused(name: str, replica: str) -> FaultyLog:
    return FaultyLog(name, MemoryLogRecorder(), replica)


class Decisions(RuleBasedStateMachine):
    """A set of two items: an estimate, and a label, whose rejection is an effect, too."""

    @initialize()
    def begin(self) -> None:
        self.fleet = Fleet(*NAMES, log=fused)
        desk = self.fleet["desk"]
        label = desk.services.append_journal(AddLabel("urgent")).result.ids[0]
        self.task = desk.task("Mend the roof")
        agent = desk.agent(self.task)
        labels = f'{{"labels":[{{"id":"{label}","confidence":"high"}}]}}'
        calls = ("update_task_estimate", '{"minutes":30}'), ("assign_task_labels", labels)
        desk.answers(reply(*calls), reply(text="Done."))
        desk.run()
        (self.set,) = desk.services.agent(agent).sets
        self.fleet.meet()
        assert [one.status for one in self.items("phone")] == ["pending", "pending"]

    def items(self, who: str) -> tuple[ChangeItem, ...]:
        return review.changes_of(self.fleet[who].services, self.set).items

    # ------------------------------------------------------------------------------- what happens

    @rule(who=WHO, item=ITEM, edit=st.sampled_from(EDITS), dies=DIES)
    def confirm(self, who: str, item: int, edit: str, dies: Dies) -> None:
        edit = edit if item == 1 else ""
        self.deed(who, lambda at: review.confirm(at.services, self.set, item, edit=edit), dies)

    @rule(who=WHO, item=ITEM, dies=DIES)
    def reject(self, who: str, item: int, dies: Dies) -> None:
        self.deed(who, lambda at: review.reject(at.services, self.set, item, "no"), dies)

    @rule(who=WHO, item=ITEM, dies=DIES)
    def take_back(self, who: str, item: int, dies: Dies) -> None:
        self.deed(who, lambda at: review.reopen(at.services, self.set, item), dies)

    @rule(who=WHO, item=ITEM, dies=DIES)
    def undo(self, who: str, item: int, dies: Dies) -> None:
        """What stands there by an effect that is known there."""
        for operation in sorted(self.asked(who)[item] & self.applied(who)):
            undoing = partial(self.undone, item, operation)
            self.deed(who, undoing, dies)

    def undone(self, item: int, operation: str, at: Machine) -> None:
        review.undo(at.services, self.set, item, operation)

    @rule(who=WHO, other=WHO, item=ITEM, dies=DIES, is_met=st.booleans())
    def confirm_and_undo(self, who: str, other: str, item: int, dies: Dies, is_met: bool) -> None:
        """Another one knows of the confirmation, or of neither."""
        self.confirm(who, item, "", None)
        if is_met:
            self.meet({who, other})
        self.undo(who, item, dies)

    @rule(who=WHO, item=ITEM, dies=DIES)
    def take_over(self, who: str, item: int, dies: Dies) -> None:
        """A person decides on what is in flight, wherever that began."""
        self.deed(who, lambda at: review.recover(at.services, self.set, item), dies)

    @rule(who=st.permutations(NAMES), item=ITEM, is_rejected=st.booleans())
    def decide_apart(self, who: list[str], item: int, is_rejected: bool) -> None:
        """One does it and dies before it can say so; another one, who cannot know, declines it, or
        takes it over where it is stale."""
        for one in NAMES * 2:
            self.fleet[one].sync()
        doer, other, _ = who
        if is_rejected:
            self.confirm(doer, item, "", DONE_UNSAID)
            self.reject(other, item, None)
        else:
            self.confirm(doer, item, "", ASKED)
            self.meet({doer, other})
            self.person_edits(other, 45)
            self.take_over(other, item, None)
            self.deed(doer, self.recovered, DONE_UNSAID)

    @rule(who=WHO, dies=DIES)
    def recover(self, who: str, dies: Dies) -> None:
        self.deed(who, self.recovered, dies)

    @rule(who=WHO, minutes=st.sampled_from((30, 45)))
    def person_edits(self, who: str, minutes: int) -> None:
        """Then what was proposed may be stale there."""
        self.fleet[who].edit(self.task, f"Mend the roof {minutes}")
        self.fleet[who].estimate(self.task, minutes)

    @rule(who=st.sets(WHO, min_size=2))
    def meet(self, who: set[str]) -> None:
        for one in sorted(who) * 2:
            self.fleet[one].sync()

    @rule(who=WHO)
    def lead(self, who: str) -> None:
        self.fleet[who].lead()

    def deed(self, who: str, what: Callable[[Machine], object], dies: Dies) -> None:
        """What a person asks for, whose process may die at one of the next appends."""
        machine = self.fleet[who]
        logs = {one.name: one for one in (machine.services.journal, machine.services.agents)}
        if dies:
            log = logs[dies[0]]
            assert isinstance(log, FaultyLog)
            log.fuse, log.is_after = (dies[1] + 1) // 2, dies[1] % 2 == 0
        with suppress(Refused, Crashed):
            what(machine)
        for log in logs.values():
            assert isinstance(log, FaultyLog)
            log.fuse = 0

    def recovered(self, at: Machine) -> None:
        recovery.recover(at.services, [], [self.set], [], lambda _: None)

    # --------------------------------------------------------------------------------- the model

    def asked(self, who: str) -> dict[int, set[str]]:
        """The operations that confirmations of each item asked for, by the rows alone."""
        found: dict[int, set[str]] = {1: set(), 2: set()}
        for row in self.rows(who, f"{CHANGES.name}:{self.set}", "agent"):
            if isinstance(row.fact, ItemConfirming):
                found[row.fact.item].add(row.fact.operation)
        return found

    def applied(self, who: str) -> set[str]:
        """The operations of which somebody's receipt says that they were applied, and none that
        their effect was taken back."""
        undoes = {
            row.fact.operation: row.fact.undoes
            for row in self.rows(who, f"{CHANGES.name}:{self.set}", "agent")
            if isinstance(row.fact, UndoAsked)
        }
        done = {
            row.fact.command.operation
            for row in self.rows(who, "receipt:", "journal")
            if isinstance(row.fact, Receipt)
            and isinstance(row.fact.command, ApplyOperation | UndoDeed)
            and row.fact.result.status == "applied"
        }
        return done - undoes.keys() - {undoes[one] for one in done & undoes.keys()}

    def rows(self, who: str, begin: str, name: str) -> list[RecordedEvent]:
        services = self.fleet[who].services
        log = services.journal if name == "journal" else services.agents
        return [row for rows in log.appends() for row in rows if row.stream.startswith(begin)]

    @invariant()
    def what_is_confirmed_names_all_that_was_asked_for(self) -> None:
        for who in NAMES:
            asked = self.asked(who)
            for item in self.items(who):
                if item.status == "confirmed":
                    assert set(item.operations) >= asked[item.number]

    def teardown(self) -> None:
        if not hasattr(self, "set"):
            return
        for _ in range(3):
            self.fleet.meet()
            for one in self.fleet.values():
                self.recovered(one)
        self.fleet.meet()
        counts = self.counts()
        for one in self.fleet.values():
            self.recovered(one)
        self.fleet.meet()
        assert counts == self.counts()  # once more: nothing
        first = self.items(NAMES[0])
        asked, applied = self.asked(NAMES[0]), self.applied(NAMES[0])
        for item in first:
            assert item.status != "confirming"
            assert (item.status == "confirmed") == bool(asked[item.number] & applied)
        for who in NAMES[1:]:
            assert self.items(who) == first
        self.one_effect_each(applied)
        for one in self.fleet.values():
            proved = prove_logs(one.services.journal, one.services.agents)
            assert proved.divergences == ()

    def counts(self) -> list[int]:
        logs = [(one.services.journal, one.services.agents) for one in self.fleet.values()]
        return [log.count() for pair in logs for log in pair]

    def one_effect_each(self, applied: set[str]) -> None:
        """S4: of all receipts that one was applied, the facts of one count."""
        at = self.fleet[NAMES[0]].services
        effects = Counter[str]()
        for rows in at.journal.appends():
            first = rows[0].fact
            if isinstance(first, Receipt) and isinstance(first.command, ApplyOperation):
                counted = at.journal.counted(rows)
                is_effect = any(row.stream.startswith("task:") for row in counted)
                effects[first.command.operation] += is_effect
        assert max(effects.values(), default=0) <= 1
        assert effects.keys() >= applied


Decisions.TestCase.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
TestT2AndT3OverWholeMachines = Decisions.TestCase

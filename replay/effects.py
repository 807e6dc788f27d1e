"""What the agent log asks of the journal and says came of it, against the receipts there (law 7).

An operation has its intent and its outcome in the agent log, and its receipt in the journal. One
that is asked for and applied and has no outcome yet is in doubt, which is no difference."""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from domain.append.causes import Cause, Receipt, Replied, Result
from domain.changes import change_set as c
from domain.changes.dependencies import applied_to
from domain.journal.commands import ApplyOperation, UndoDeed, UndoImport, VoidOperation
from domain.journal.day import DAY
from domain.journal.task import TASK
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import PayloadId, Words
from domain.wake.machine import ticket
from domain.wake.wake import WAKE, LateReply, ToolAsked, ToolReturned
from replay.appends import Append
from replay.divergence import ALTERED, RowDifference
from replay.payloads import text_of

PayloadBytes = Callable[[PayloadId], bytes | None]
OPERATIONS = (ApplyOperation, VoidOperation, UndoDeed)
UNDO = "undo"
"""What stands for a tool where an effect is taken back."""
FoundDifference = tuple[Append, RowDifference]
Place = tuple[str, int]
"""A replica, and an append of it."""
ReadAppend = Callable[[int, str], Append | None]
"""``read(n, replica)``: an append of a log once more."""
ReadReceipts = Callable[[str], Iterable[RecordedEvent]]
"""``kept(operation)``: what all replicas keep under an operation's id, in canonical order."""


class SettledOperation(NamedTuple):
    """A receipt of the journal, and where it stands."""

    replica: str
    n: int
    command: ApplyOperation | VoidOperation | UndoDeed
    result: Result


class AppliedOperation(NamedTuple):
    """Where the journal applied what nobody has asked for yet, and whose it says that it is."""

    replica: str
    n: int
    stream: str
    version: int
    agent: str


class OperationOutcome(NamedTuple):
    """What the agent log says of an operation: what it asked for, and the `code` it came to (empty:
    it was applied) at append `n` of the journal, where it says so. `made`: the ids and the tokens
    that it names; None: it names none."""

    operation: str
    task: str
    tool: str
    arguments: Words
    code: str = ""
    n: int = 0
    made: tuple[tuple[str, ...], tuple[str, ...]] | None = None


ReadOutcome = Callable[[Place], tuple[Append, OperationOutcome] | None]


class OpenOperations(Struct, frozen=True):
    """What has not met its other side: operations that were asked for, by whom; where the journal
    applied or settled one; and where the agent log says what came of one."""

    asked: dict[str, tuple[str, ...]] = {}
    applied: dict[str, AppliedOperation] = {}
    settled: tuple[str, ...] = ()
    said: dict[str, Place] = {}


class Effects:
    """Both sides of all operations, until each has met the other."""

    def __init__(
        self, journal: PayloadBytes, agents: PayloadBytes, kept: ReadReceipts = lambda _: ()
    ) -> None:
        self._journal, self._agents, self._kept = journal, agents, kept
        self._asked: dict[str, tuple[str, ...]] = {}  # intents without effect yet, by whom
        self._applied: dict[str, AppliedOperation] = {}  # and the other way round
        self._settled: dict[str, SettledOperation] = {}  # of which nothing was said yet
        self._said: dict[str, tuple[Append, OperationOutcome]] = {}  # and the other way round
        self._past: dict[str, Place] = {}  # of those, what a walk before this one has heard
        self._heard: ReadOutcome = lambda _: None
        self._found: list[FoundDifference] = []  # what differs of what was said first
        self.is_shared = False

    def left(self) -> OpenOperations:
        """What has not met its other side."""
        said = {key: (one.replica, one.n) for key, (one, _) in self._said.items()}
        return OpenOperations(
            dict(self._asked), dict(self._applied), tuple(self._settled), self._past | said
        )

    def resume(self, left: OpenOperations, heard: ReadOutcome, *, is_shared: bool) -> None:
        """Go on with what a walk has left. `heard` is what an append of the agent log says, if it
        says anything."""
        self._asked, self._applied = dict(left.asked), dict(left.applied)
        self._past, self._heard, self.is_shared = dict(left.said), heard, is_shared
        for operation in left.settled:
            for one in self._receipts_of(operation):
                self._settled[operation] = one

    def ask(self, operation: str, replica: str) -> None:
        """The agent log asks for an operation."""
        found = self._key(self._applied, operation, replica)
        if self._applied.pop(found, None) is None:
            self._asked[found] = (*self._asked.get(found, ()), replica)

    def _key(self, known: Container[str], operation: str, replica: str) -> str:
        """What an operation goes by: several machines of a shared home may ask for one, and each
        applies it once."""
        alone = operation in known or not self.is_shared
        return operation if alone else f"{operation}@{replica}"

    def take(self, one: Append) -> None:
        """An append of the journal; it may hold a receipt."""
        first = one.facts[0].fact if one.facts else None
        command = first.command if isinstance(first, Receipt) else None
        if not isinstance(first, Receipt) or not isinstance(command, OPERATIONS):
            return
        if not (operation := command.operation):
            return  # a person's own deed
        if not isinstance(command, VoidOperation):
            found = self._key(self._asked, operation, one.replica)
            if found in self._asked:
                others = sorted({*self._asked.pop(found)} - {one.replica})
                if self.is_shared and found == operation:  # asked before the journal said so
                    self._asked |= {f"{operation}@{name}": (name,) for name in others}
            else:
                place, agent = one.rows[0][:2], getattr(command, "agent", "")
                self._applied[found] = AppliedOperation(one.replica, one.n, *place, agent)
        if self.is_shared:
            return
        settled = SettledOperation(one.replica, one.n, command, first.result)
        past = self._past.pop(operation, None)
        if past is not None and (heard := self._heard(past)):
            self._said[operation] = heard
        if operation in self._said:
            by, said = self._said.pop(operation)
            self._found += [(by, known) for known in self._compared(said, settled)]
        else:
            self._settled[operation] = settled

    def hear(self, one: Append, said: OperationOutcome) -> Iterator[RowDifference]:
        """An append of the agent log says what came of an operation. Where it names no place in
        the journal, that may not have been walked so far."""
        if self.is_shared:
            if not self._is_met(one, said):
                self._said[f"{said.operation}@{one.replica}:{one.n}"] = one, said
        elif settled := self._settled.pop(said.operation, None):
            yield from self._compared(said, settled)
        elif said.n:
            yield _nowhere(said)
        else:
            self._said[said.operation] = one, said

    def _is_met(self, one: Append, said: OperationOutcome) -> bool:
        """Whether a receipt of a shared journal says the same: this machine's own, or that of
        another one, which answered for it."""
        every = self._receipts_of(said.operation)
        own = [settled for settled in every if settled.replica == one.replica]
        return any(not [*self._compared(said, settled)] for settled in own or every)

    def _receipts_of(self, operation: str) -> list[SettledOperation]:
        """The receipts of an operation, as far as the journal was walked."""
        return [
            SettledOperation(row.replica, row.n, row.fact.command, row.fact.result)
            for row in self._kept(operation)
            if row.row == 0 and isinstance(row.fact, Receipt)
            if isinstance(row.fact.command, OPERATIONS) and row.fact.command.operation
        ]

    def unasked(self) -> Iterator[tuple[str, AppliedOperation]]:
        """What was applied and nobody asked for."""
        for name, one in self._applied.items():
            yield name.partition("@")[0], one

    def unmet(self) -> Iterator[FoundDifference]:
        """At the end: what was said of operations before their receipts came, if they did."""
        yield from self._found
        past = (
            one for name, one in self._past.items() if self._receipts_of(name.partition("@")[0])
        )
        again = [heard for one in past if (heard := self._heard(one))] if self.is_shared else []
        for one, said in (*again, *self._said.values()):
            every = self._receipts_of(said.operation)
            if self._is_met(one, said):
                continue
            if every:
                yield from ((one, known) for known in self._compared(said, every[0]))
            elif not said.code:  # what came to nothing may have no receipt
                yield one, _nowhere(said)

    def _compared(
        self, said: OperationOutcome, settled: SettledOperation
    ) -> Iterator[RowDifference]:
        result, command = settled.result, settled.command
        code = "" if result.status == "applied" else result.code or result.status
        if said.code != code:
            yield RowDifference(0, ALTERED, "outcome", code or "applied", said.code or "applied")
        if said.n not in (0, settled.n):
            told = f"journal append {settled.n}, which holds {said.operation}"
            yield RowDifference(0, ALTERED, "data.position", told, f"journal append {said.n}")
        made = (result.ids if not code else (), result.tokens)
        if said.made not in (None, made):
            yield RowDifference(0, ALTERED, "data.changed", str(made), str(said.made))
        if isinstance(command, VoidOperation):
            return
        if isinstance(command, UndoDeed):
            done = command.tasks[0] if command.tasks else "", UNDO
        else:
            done = command.task, command.tool
        if (asked := (said.task, said.tool)) != done:
            yield RowDifference(0, ALTERED, "operation", " ".join(done), " ".join(asked))
        if isinstance(command, UndoDeed):
            return
        was = text_of(command.arguments, self._journal)
        now = text_of(said.arguments, self._agents)
        if None not in (was, now) and was != now:  # what is gone is told where it is named
            yield RowDifference(0, ALTERED, "operation.arguments", str(was), str(now))


def outcome_of(one: Append, cause: Cause, before: LogState) -> OperationOutcome | None:
    """What an append of the agent log, which was `before` it so far, says came of an operation;
    None: nothing that counts."""
    if not isinstance(cause, Replied) or isinstance(one.facts[0].fact, LateReply):
        return None
    fact = cause.fact
    if isinstance(fact, ToolReturned):
        wake = before.load(WAKE, cause.entity)
        asked = wake.asked  # of what never left the process there is none
        if not isinstance(asked, ToolAsked) or ticket(asked) != ticket(fact):
            return None
        code = "" if fact.status == "success" else fact.code
        named = fact.operation, wake.begun.task, asked.tool, asked.arguments
        return OperationOutcome(*named, code, fact.position, (fact.changed, fact.tokens))
    return _of_item(cause.entity, fact, before) if isinstance(fact, c.ChangesReply) else None


def _of_item(set_id: str, fact: c.ChangesReply, before: LogState) -> OperationOutcome | None:
    changes = before.load(c.CHANGES, set_id)
    item = c.find(changes, fact.item)
    if item is None or (asked := item.asked) is None:
        return None
    n = fact.position if isinstance(fact, c.ItemConfirmed | c.ItemUndone) else 0
    code = "" if isinstance(fact, c.ItemConfirmed) else fact.code
    if isinstance(asked, c.ItemConfirming):
        tool, words = item.tool, item.arguments_now or item.arguments
    elif isinstance(asked, c.UndoAsked):
        tool, words = UNDO, Words()
    else:
        tool = "suppress_label" if isinstance(asked, c.SuppressionAsked) else "lift_suppression"
        words = Words(f'{{"id":"{asked.label}"}}')
    return OperationOutcome(asked.operation, applied_to(changes, item), tool, words, code, n)


def misnamed(cause: Cause, before: LogState) -> Iterator[RowDifference]:
    """What a result says otherwise of the call that it is of, or of whether it came about."""
    if not isinstance(cause, Replied) or not isinstance(cause.fact, ToolReturned):
        return
    asked, fact = before.load(WAKE, cause.entity).asked, cause.fact
    if not isinstance(asked, ToolAsked) or ticket(asked) != ticket(fact):
        return
    status = "error" if fact.code else "success"
    called = {"action": asked.action, "callId": asked.call_id, "tool": asked.tool, "status": status}
    said = (fact.action, fact.call_id, fact.tool, fact.status)
    for (name, was), now in zip(called.items(), said, strict=True):
        if was != now:
            yield RowDifference(0, ALTERED, f"data.{name}", was, now)


def unrelated(cause: Cause, before: LogState) -> Iterator[RowDifference]:
    """Appends that a deed is said to be, and that changed none of its tasks and days."""
    if not isinstance(cause, UndoDeed | UndoImport):
        return
    days = cause.days if isinstance(cause, UndoDeed) else ()
    named = [*((TASK.name, one) for one in cause.tasks), *((DAY.name, one) for one in days)]
    rows = (row for kind, one in named for row in before.history(kind, one))
    known = {row.n for row in rows if row.replica == (getattr(cause, "of", "") or before.replica)}
    if left := [str(n) for n in cause.appends if n not in known]:
        told = "appends that changed its tasks"
        yield RowDifference(0, ALTERED, "data.command.appends", told, ", ".join(left))


def _nowhere(said: OperationOutcome) -> RowDifference:
    told = f"a receipt of the operation {said.operation} in the journal"
    actual = f"journal append {said.n} is none" if said.n else "there is none"
    return RowDifference(0, ALTERED, "receipt", told, actual)

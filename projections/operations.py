"""Effects that leave the process: in flight, done, or in doubt (DESIGN 2, law 5).

One document for each owner, a wake or a change set, because an outcome does not always name its
operation. An owner with an operation in flight stands on the shelf ``in_flight``, every other
one on ``settled``; a wake that asked for none leaves no document."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from domain.changes import change_set as c
from domain.log.state import RecordedEvent
from domain.wake import wake as e
from projections.view import View, of_kinds, position

SUPPRESSION = "suppress_label"
"""What `tool` says of the suppression of a rejected label."""
LIFT = "lift_suppression"
"""The same of its end, where the rejection was taken back."""
UNDO = "undo"
"""The same of the end of a confirmed effect."""
_TOOLS: dict[type, str] = {c.SuppressionAsked: SUPPRESSION, c.LiftAsked: LIFT, c.UndoAsked: UNDO}

EffectOutcome = Literal["", "success", "error", "partial", "queued", "denied", "in_doubt"]


class Operation(Struct, frozen=True):
    """An effect that was asked for.

    `item`: of a change set, else 0. `outcome` is empty while it is in flight; ``in_doubt`` says
    that its wake has ended without an answer: one that comes later stands here too, and had no
    other consequence. `position`: the journal's `n` that holds the effect, where it was named."""

    operation: str
    tool: str
    item: int
    attempt: int
    asked_at: str
    settled_at: str = ""
    outcome: EffectOutcome = ""
    code: str = ""
    position: int = 0


class OwnerOperations(Struct, frozen=True):
    """The operations of a wake (`owner` is its run key) or of a change set (its id), in order.

    `tools`: of a set, the tool of each item. `place` is that of the owner's first row."""

    owner: str
    place: str
    agent_id: str = ""
    task_id: str = ""
    run_key: str = ""
    operations: tuple[Operation, ...] = ()
    tools: dict[int, str] = {}

    @property
    def in_flight(self) -> tuple[Operation, ...]:
        return tuple(one for one in self.operations if not one.outcome)


def apply(document: OwnerOperations | None, row: RecordedEvent) -> OwnerOperations | None:
    """The owner's operations after this row."""
    if row.of_kind == "changes":
        return _of_set(document or OwnerOperations(row.entity, position(row)), row)
    match document, row.fact:
        case None, e.WakeStarted(agent=agent, task=task):
            return OwnerOperations(row.entity, position(row), agent, task, row.entity)
        case None, _:
            return None
        case OwnerOperations(operations=()), e.WakeFinished():
            return None
        case _:
            return _of_wake(document, row)


def _of_wake(document: OwnerOperations, row: RecordedEvent) -> OwnerOperations:
    match row.fact:
        case e.ToolAsked(action_type="read"):
            return document  # it has no effect
        case e.ToolAsked(operation=operation, tool=tool, attempt=attempt):
            return _asked(document, Operation(operation, tool, 0, attempt, row.at))
        case e.ToolReturned() as fact if fact.attempt:
            return _settled(document, fact.operation, "", row.at, **_outcome(fact))
        case e.LateReply(reply=e.ToolReturned() as fact):
            return _settled(document, fact.operation, "in_doubt", row.at, **_outcome(fact))
        case e.WakeFinished():
            return _changed(document, lambda one: not one.outcome, outcome="in_doubt")
        case _:
            return document


def _outcome(fact: e.ToolReturned) -> dict[str, Any]:
    return {"outcome": fact.status, "code": fact.code, "position": fact.position}


def _of_set(document: OwnerOperations, row: RecordedEvent) -> OwnerOperations:
    match row.fact:
        case c.ItemProposed(item=item, tool=tool):
            return replace(document, tools={**document.tools, item: tool})
        case c.SetOpened(agent=agent, task=task, run_key=run_key):
            return replace(document, agent_id=agent, task_id=task, run_key=run_key)
        case c.ItemConfirming() | c.SuppressionAsked() | c.LiftAsked() | c.UndoAsked() as fact:
            tool = _TOOLS.get(type(fact)) or document.tools.get(fact.item, "")
            made = Operation(fact.operation, tool, fact.item, fact.attempt, row.at)
            return _asked(document, made) if fact.operation else document  # in one append
        case c.ItemUndone() | c.SuppressionDone() | c.LiftDone() as fact:
            at_n = fact.position if isinstance(fact, c.ItemUndone) else 0
            outcome = "error" if fact.code else "success"
            change = {"outcome": outcome, "code": fact.code, "position": at_n}
            return _settled(document, fact.operation, "", row.at, **change)
        case c.ItemConfirmed(item=item, position=at_n):
            operation = _of_item(document, item)
            return _settled(document, operation, "", row.at, outcome="success", position=at_n)
        case c.ItemFailed(item=item, code=code):
            operation = _of_item(document, item)
            return _settled(document, operation, "", row.at, outcome="error", code=code)
        case _:
            return document


def _asked(document: OwnerOperations, made: Operation) -> OwnerOperations:
    """One more operation, or the next attempt of one that is known."""
    if all(one.operation != made.operation for one in document.operations):
        return replace(document, operations=(*document.operations, made))
    return _changed(
        document,
        lambda one: one.operation == made.operation and one.attempt < made.attempt,
        attempt=made.attempt,
    )


def _of_item(document: OwnerOperations, item: int) -> str:
    """The operation in flight of an item's confirmation, if any."""
    found = (one for one in document.in_flight if one.tool not in _TOOLS.values())
    return next((one.operation for one in found if one.item == item), "")


def _settled(
    document: OwnerOperations, operation: str, was: EffectOutcome, at: str, **change: Any
) -> OwnerOperations:
    """An operation with its outcome, if it stood at `was`; the first answer counts."""
    return _changed(
        document, lambda one: one.operation == operation and one.outcome == was, settled_at=at,
        **change,
    )  # fmt: skip


def _changed(
    document: OwnerOperations, which: Callable[[Operation], bool], **change: Any
) -> OwnerOperations:
    after = (replace(one, **change) if which(one) else one for one in document.operations)
    return replace(document, operations=tuple(after))


VIEW: View[OwnerOperations] = View(
    "operations", "agent", 1, OwnerOperations, of_kinds("wake", "changes"), apply,
    shelf=lambda document: "in_flight" if document.in_flight else "settled",
    entities=("wake", "changes"),
)  # fmt: skip

"""What an item waits for; and confirmations whose effect may be in the journal of a machine that
could not say so (ADR 73)."""

from typing import NamedTuple

from domain.changes.change_set import ChangeSet, Item
from domain.changes.events import (
    ChangesReply,
    ItemConfirmed,
    ItemConfirming,
    ItemFailed,
    LiftAsked,
    LiftDone,
    SuppressionAsked,
    SuppressionDone,
)


class Doubt(NamedTuple):
    """An item, the confirmation that a reply to it names, and all operations asked for."""

    item: int
    confirmation: int
    operations: tuple[str, ...]


def doubted(changes: ChangeSet) -> list[Doubt]:
    """The items that are not confirmed though a confirmation was asked for, of which nothing is
    under way. An operation that is applied in the journal makes its item confirmed."""
    return [
        Doubt(one.number, number, one.operations)
        for one in changes.items
        if one.status not in ("confirmed", "confirming") and (number := _last(one))
    ]


def awaits(item: Item, reply: ChangesReply) -> bool:
    """Whether an item waits for a reply."""
    match item.asked, reply:
        case SuppressionAsked() as asked, SuppressionDone(operation=operation):
            return asked.operation == operation
        case LiftAsked() as asked, LiftDone(operation=operation):
            return asked.operation == operation
        case ItemConfirming() as asked, ItemConfirmed() | ItemFailed():
            return asked.confirmation == reply.confirmation
        case _, ItemConfirmed() | ItemFailed() if item.held:
            return item.held.confirmation == reply.confirmation
        case _:
            return False


def is_late(item: Item, reply: ChangesReply) -> bool:
    """Whether a reply tells of an effect that nothing waits for any more."""
    return (
        isinstance(reply, ItemConfirmed)
        and item.status != "confirmed"
        and reply.confirmation <= _last(item)
    )


def _last(item: Item) -> int:
    """The confirmation that was asked for last, or that is held; 0: none."""
    return item.held.confirmation if item.held else item.confirmation

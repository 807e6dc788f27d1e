"""What an item waits for; and confirmations whose effect, or the end of it, may be in the journal
of a machine that could not say so (ADR 73, 78)."""

from typing import NamedTuple

from domain.changes import change_set as c
from domain.changes.change_set import ChangeItem, ChangeSet, ChangesReply, is_undone


class ItemInDoubt(NamedTuple):
    """An item, the confirmation that a reply to it names, and all operations asked for that may
    stand in the journal."""

    item: int
    confirmation: int
    operations: tuple[str, ...]


def items_in_doubt(changes: ChangeSet) -> list[ItemInDoubt]:
    """The items that are not confirmed though a confirmation was asked for, of which nothing is
    under way. An operation that is applied in the journal makes its item confirmed."""
    return [
        ItemInDoubt(one.number, number, left)
        for one in changes.items
        if one.status not in ("confirmed", "confirming")
        and (number := _last(one))
        and (left := tuple(name for name in one.operations if not is_undone(one, name)))
    ]


def undos_in_doubt(changes: ChangeSet) -> list[tuple[int, c.UndoAttempt]]:
    """By item, what was to be taken back and was not, as far as is known, and is not under way."""
    return [
        (one.number, undo)
        for one in changes.items
        for undo in one.undos or ()
        if not is_undone(one, undo.undoes, undo.confirmation)
        and (one.asked is None or one.asked.operation != undo.operation)
    ]


def awaits(item: ChangeItem, reply: ChangesReply) -> bool:
    """Whether an item waits for a reply."""
    match item.asked, reply:
        case c.SuppressionAsked() as asked, c.SuppressionDone(operation=operation):
            return asked.operation == operation
        case c.LiftAsked() as asked, c.LiftDone(operation=operation):
            return asked.operation == operation
        case c.UndoAsked() as asked, c.ItemUndone():
            of_asked = asked.operation, asked.confirmation, asked.undoes
            return of_asked == (reply.operation, reply.confirmation, reply.undoes)
        case c.ItemConfirming() as asked, c.ItemConfirmed() | c.ItemFailed():
            return asked.confirmation == reply.confirmation
        case _, c.ItemConfirmed() | c.ItemFailed() if item.held:
            return item.held.confirmation == reply.confirmation
        case _:
            return False


def is_late(item: ChangeItem, reply: ChangesReply) -> bool:
    """Whether a reply tells of an effect that nothing waits for any more."""
    if isinstance(reply, c.ItemUndone):
        is_known = reply.undoes in item.operations
        return is_known and not reply.code and not is_undone(item, reply.undoes)
    return (
        isinstance(reply, c.ItemConfirmed)
        and item.status != "confirmed"
        and reply.confirmation <= _last(item)
    )


def _last(item: ChangeItem) -> int:
    """The confirmation that was asked for last, or that is held; 0: none."""
    return item.held.confirmation if item.held else item.confirmation

"""What a person or the runtime can ask of change sets (SPEC 6).

STORAGE FORMAT: receipts keep commands, see `domain.log.wire`. `position` is the journal's last `n`
when it was decided, `category` the task's there (empty: nothing is
learnt of it); items count from 1."""

from typing import ClassVar

from domain.log.wire import Imported, Stored, Words


class ConfirmItem(Stored, frozen=True, tag="command.confirm_item.1"):
    """`arguments`: edited ones; `base`: the present values, of a confirmation `--anyway`."""

    said: ClassVar = ("changes", "item", "arguments")
    changes: str
    item: int
    by: str
    position: int
    arguments: Words | None = None
    base: str = ""
    category: str = ""


class RejectItem(Stored, frozen=True, tag="command.reject_item.1"):
    said: ClassVar = ("changes", "item", "reason")
    changes: str
    item: int
    by: str
    position: int
    reason: str = ""
    category: str = ""
    seen: tuple[Imported, ...] = ()  # of a shared journal: what `position` knows of each machine


class DeferItem(Stored, frozen=True, tag="command.defer_item.1"):
    """`until`: when it waits for the person again; empty: never of itself."""

    said: ClassVar = ("changes", "item", "reason", "until")
    changes: str
    item: int
    by: str
    position: int
    reason: str = ""
    until: str = ""
    category: str = ""
    seen: tuple[Imported, ...] = ()


class ReopenItem(Stored, frozen=True, tag="command.reopen_item.1"):
    """Take a rejection or deferral back. `category`: the one that it was learnt in, which is the
    task's where it was given; empty: nothing was."""

    said: ClassVar = ("changes", "item")
    changes: str
    item: int
    by: str
    position: int
    category: str = ""


class UndoItem(Stored, frozen=True, tag="command.undo_item.1"):
    """Take a confirmation back: that of the operation which was applied for it."""

    said: ClassVar = ("changes", "item")
    changes: str
    item: int
    by: str
    position: int
    operation: str


class RetakeEffect(Stored, frozen=True, tag="command.retake_effect.1"):
    """Take over an item's effect in doubt: the same operation, under the next attempt."""

    changes: str
    item: int


class ExpireItems(Stored, frozen=True, tag="command.expire_items.1"):
    """Expire what is undecided past its time, or, with a reason, whatever is undecided."""

    changes: str
    reason: str = ""


ChangesCommand = (
    ConfirmItem | RejectItem | DeferItem | RetakeEffect | ExpireItems | ReopenItem | UndoItem
)

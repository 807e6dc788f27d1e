"""What a verdict on a proposed label does besides: rejected, it is suppressed on the task; taken up
again, that is lifted. Each is an operation of its own."""

from itertools import count

import msgspec
from msgspec import Struct

from domain.changes.change_set import ChangeSet, Item
from domain.changes.events import LiftAsked, SuppressionAsked
from domain.keys import key

LABEL_TOOL = "assign_task_label"


class _LabelArguments(Struct):
    """The part of a label proposal's arguments that names the label."""

    id: str = ""


def suppression(changes: ChangeSet, item: Item) -> list[SuppressionAsked]:
    """The intent of a rejection; nothing if the item is about something else."""
    if not (label := _label_of(item)):
        return []
    operation = own_operation(changes, item, "suppress_label", label)
    return [SuppressionAsked(item.number, operation, label, 1)]


def lift(changes: ChangeSet, item: Item) -> list[LiftAsked]:
    """The intent of taking a rejection back; nothing if nothing was suppressed by it."""
    if not (label := _label_of(item)) or item.status != "rejected" or item.error_code:
        return []
    operation = own_operation(changes, item, "lift_suppression", label)
    return [LiftAsked(item.number, operation, label, 1)]


def _label_of(item: Item) -> str:
    if item.tool != LABEL_TOOL or not item.arguments.text:  # never so long as to be a payload
        return ""
    return msgspec.json.decode(item.arguments.text, type=_LabelArguments).id


def own_operation(changes: ChangeSet, item: Item, deed: str, about: str) -> str:
    """One that no earlier verdict on the item used."""
    action = key("action", deed, about)
    names = (
        key("operation", changes.run_key, action, "0", str(nth))
        for nth in count(1)  # bounded: each used id is passed once
    )
    return next(name for name in names if name not in item.operations)

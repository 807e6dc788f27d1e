"""What an item of a change set needs: another one that makes the task it names (ADR 40).

Nothing of it is stored: the id of a follow-up task follows from the set and the item's number, and
who names it in the same set needs that item."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from domain.changes import change_set as c
from domain.changes.change_set import ChangeItem, ChangeSet, ChangesFact
from domain.log.keys import key
from domain.log.wire import Words

FOLLOW_UP_TOOL = "create_follow_up_task"
CREATE_TOOL = "create_task"
MAKING = (FOLLOW_UP_TOOL, CREATE_TOOL)
"""Tools whose items make a task."""
RULES = "rules"


class _TargetArguments(Struct):
    """The part of an item's arguments that names another task."""

    target: str = msgspec.field(default="", name="targetTaskId")


def follow_up_id(set_id: str, number: int) -> str:
    """The id of the task that an item makes, if it makes one (DESIGN 6)."""
    return key("follow-up", set_id, str(number))


def applied_to(changes: ChangeSet, item: ChangeItem | None) -> str:
    """The task that an item is applied to: its set's, or the one that it makes; empty where it is
    no task's."""
    if item is not None and item.tool == CREATE_TOOL:
        return follow_up_id(changes.id, item.number)
    return changes.task


def target_of(item: ChangeItem, arguments: Words | None = None) -> str:
    """The other task that an item names; empty if it names none. `arguments`: the ones in force,
    where they are other than the item's."""
    said = arguments or item.arguments_now or item.arguments
    if '"targetTaskId"' not in said.text:  # who names a task is never so long as to be a payload
        return ""
    return msgspec.json.decode(said.text, type=_TargetArguments).target


def dependency_of(
    changes: ChangeSet, item: ChangeItem, arguments: Words | None = None
) -> ChangeItem | None:
    """The item that must be confirmed before this one."""
    if not (target := target_of(item, arguments)):
        return None
    made = (one for one in changes.items if one.tool == FOLLOW_UP_TOOL)
    return next((one for one in made if follow_up_id(changes.id, one.number) == target), None)


def unmet(changes: ChangeSet, facts: Iterable[ChangesFact]) -> list[c.ItemRetracted]:
    """The end of the undecided items that need what these facts close."""
    ended = (c.ItemRejected, c.ItemRetracted, c.ItemExpired)
    closed = {one.item: _WHY[type(one)] for one in facts if isinstance(one, ended)}
    found: list[c.ItemRetracted] = []
    for item in changes.items if closed else ():
        if item.status in ("pending", "deferred") and item.number not in closed:
            need = dependency_of(changes, item)
            if need is not None and need.number in closed:
                found.append(c.ItemRetracted(item.number, RULES, c.UNMET + closed[need.number]))
    return found


_WHY: dict[type, str] = {
    c.ItemRejected: "was rejected",
    c.ItemRetracted: "was retracted",
    c.ItemExpired: "has expired",
}

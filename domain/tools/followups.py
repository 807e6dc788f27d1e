"""The tools that reach a second task: a follow-up, items that move, a link (SPEC 5, ADR 40).

Here are the rules that the agent's own task tells, and the words for a person. What is written to
both tasks is made by `domain.handlers.journal`; which other task a proposal may name is told by
`domain.wake.visible_ids`."""

from collections.abc import Iterable
from functools import partial
from typing import Protocol

from domain.text import cut, squeeze
from domain.tools import arguments as a
from domain.tools.base import (
    Exploded,
    Facts,
    Tool,
    ToolEffect,
    ToolRefusal,
    found,
    quoted,
    redundant,
)
from domain.tools.snapshot import Snapshot, SnapshotItem

TITLES_SHOWN = 3
SHOWN = 80  # characters of a description
NAME_LENGTH = 8
"""So much of another task's id stands in a summary: its title is not this task's text."""


def named(task: str) -> str:
    """Another task as summaries name it; documents put its title there."""
    return f"task {task[:NAME_LENGTH]}"


def _find(snapshot: Snapshot, wanted: str) -> SnapshotItem | ToolRefusal:
    item = found(snapshot.items, wanted, "item")
    if isinstance(item, SnapshotItem) and item.is_archived:  # it may have moved away meanwhile
        return ToolRefusal("stale", f"Item {quoted(item.title)} is archived.")
    return item


def _movable(snapshot: Snapshot, wanted: Iterable[str]) -> Facts | ToolRefusal:
    """Whether these items are there to be moved, each once."""
    seen: set[str] = set()
    for one in wanted:
        if isinstance(item := _find(snapshot, one), ToolRefusal):
            return item
        if item.id in seen:
            return ToolRefusal("invalid_arguments", f"Item {quoted(item.title)} is named twice.")
        seen.add(item.id)
    return ()


def _state(snapshot: Snapshot, wanted: Iterable[str]) -> list[object]:
    """What a move rests on: the items as they are."""
    known = {item.id: item for item in snapshot.items}
    return [
        [item.title, item.is_checked, item.is_archived] if (item := known.get(one)) else None
        for one in wanted
    ]


def _carried(given: a.CreateFollowUpTask) -> list[str]:
    return [one.id for one in given.carry_over]


class _NewTask(Protocol):
    """What is said of a task that is made."""

    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def due_date(self) -> str: ...
    @property
    def priority(self) -> str | None: ...


def new_task_summary(
    what: str, given: _NewTask, titles: Iterable[str], also: Iterable[str] = ()
) -> str:
    """A task that is made, in words. `titles`: of the items that it has then; `also`: what is said
    of it before those."""
    parts = [f'{what} "{given.title}"']
    parts += [f"due {given.due_date}"] if given.due_date else []
    parts += [given.priority] if given.priority else []
    parts += also
    named = [f'"{one}"' for one in titles]
    if (more := len(named) - TITLES_SHOWN) > 0:
        named[TITLES_SHOWN:] = [f"{more} more"]
    parts += [f"with {', '.join(named)}"] if named else []
    about = f": {cut(squeeze(given.description), length_max=SHOWN)}" if given.description else ""
    return f"{', '.join(parts)}{about}"


def _follow_up_summary(snapshot: Snapshot, given: a.CreateFollowUpTask) -> str:
    known = {item.id: item.title for item in snapshot.items}
    titles = (known.get(one, one[:NAME_LENGTH]) for one in _carried(given))
    related = [_RELATED[given.relation]] if given.relation in _RELATED else []
    return new_task_summary("Create follow-up task", given, titles, related)


_RELATED = {"relates_to": "related to this one", "blocks": "which blocks this one"}


def _explode_moved(snapshot: Snapshot, given: a.MigrateChecklistItems) -> Exploded | ToolRefusal:
    accepted: dict[str, a.MigrateChecklistItem] = {}
    refusals: list[ToolRefusal] = []
    for one in given.items:
        if isinstance(item := _find(snapshot, one.id), ToolRefusal):
            refusals.append(item)
        elif item.id in accepted:
            refusals.append(redundant(f"Item {quoted(item.title)} is named twice."))
        else:
            accepted[item.id] = a.MigrateChecklistItem(item.id, given.target_task_id)
    return Exploded(tuple(accepted.values()), tuple(refusals))


def _moved_summary(snapshot: Snapshot, given: a.MigrateChecklistItem) -> str:
    titles = {item.id: item.title for item in snapshot.items}
    title = titles.get(given.id, f"{given.id[:NAME_LENGTH]}…")
    return f'Move: "{title}" to {named(given.target_task_id)}'


def _linkable(snapshot: Snapshot, given: a.ProposeLink, by: str) -> Facts | ToolRefusal:
    if given.target_task_id == snapshot.task:
        return ToolRefusal("invalid_arguments", "A task cannot be linked to itself.")
    return ()


_of_two = partial(Tool, hint="only where the texts plainly say so.", since=2, scope="two_tasks")

TOOLS = (
    _of_two(
        name="create_follow_up_task",
        brief="Propose a task for what is for later or another matter; open items may go along.",
        description=(
            "Propose a new task for what remains, where the texts say that it is for later or is "
            "another matter. Open items that belong to it move there. The answer names its id, for "
            "migrate_checklist_items and link_task. At most 3 such proposals may be open."
        ),
        arguments=a.CreateFollowUpTask,
        effect=ToolEffect(
            facts=lambda snapshot, given, _: _movable(snapshot, _carried(given)),
            values=lambda snapshot, given: _state(snapshot, _carried(given)),
            touches=lambda given: ("status", *(f"item:{one}" for one in _carried(given))),
            summary=_follow_up_summary,
            form={
                "title": "Title",
                "description": "Description",
                "dueDate": "Due on",
                "priority": "Priority",
            },
            others=lambda _, fresh: (fresh,),
        ),
        capabilities=("task.create",),
        entities=("task", "checklist", "item", "link"),
        tokens=("TASK", "CHECKLIST", "CHECKLIST_ITEM", "LABEL", "LINK"),
        risk="medium",
    ),
    _of_two(
        name="migrate_checklist_items",
        brief="Propose to move items to a linked task, or to a follow-up just proposed.",
        applies=lambda snapshot: any(not item.is_archived for item in snapshot.items),
        description=(
            "Propose to move items of this task, up to 20, to a linked task or to a follow-up task "
            "that you have just proposed. They keep their ticks."
        ),
        arguments=a.MigrateChecklistItems,
        array="items",
        singular="migrate_checklist_item",
        element=a.MigrateChecklistItem,
        explode=_explode_moved,
        effect=ToolEffect(
            facts=lambda snapshot, given, _: _movable(snapshot, [given.id]),
            values=lambda snapshot, given: _state(snapshot, [given.id]),
            touches=lambda given: (f"item:{given.id}",),
            summary=_moved_summary,
            form={"targetTaskId": "To the task"},
            others=lambda given, _: (given.target_task_id,),
        ),
        capabilities=("checklist.propose",),
        entities=("task", "checklist", "item"),
        tokens=("TASK", "CHECKLIST", "CHECKLIST_ITEM"),
        risk="medium",
    ),
    _of_two(
        name="link_task",
        brief="Propose how this task is related to another one that you were shown.",
        description=(
            "Propose a relation between this task and another one that you were shown: the "
            "relation is read from this task to the other one."
        ),
        arguments=a.ProposeLink,
        effect=ToolEffect(
            facts=_linkable,
            values=lambda _, __: [],
            touches=lambda given: (f"link:{given.target_task_id}",),
            summary=lambda _, given: (
                f"Link: {given.relation.replace('_', ' ')} {named(given.target_task_id)}"
            ),
            form={"relation": "Relation"},
            others=lambda given, _: (given.target_task_id,),
        ),
        capabilities=("link.propose",),
        entities=("task", "link"),
        tokens=("LINK",),
    ),
)

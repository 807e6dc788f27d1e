"""The tools about a task's checklist (SPEC 5)."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from domain.journal import task as t
from domain.journal.edits import fresh_item_id
from domain.keys import key
from domain.text import fold, squeeze
from domain.tools.arguments import (
    AddChecklistItem,
    AddMultipleChecklistItems,
    UpdateChecklistItem,
    UpdateChecklistItems,
)
from domain.tools.base import Effect, Exploded, Facts, Refusal, quoted, redundant
from domain.tools.definitions import Tool
from domain.tools.fields import is_persons
from domain.tools.snapshot import Snapshot, SnapshotItem

CHECKLIST_TITLE = "Checklist"
REASON_MIN = 20
"""So long is the reason against a person's own tick, at least (SPEC 1)."""


# ------------------------------------------------------------------------------------ adding


def _explode_added(snapshot: Snapshot, arguments: AddMultipleChecklistItems) -> Exploded | Refusal:
    """The items that are not there yet, in their order."""
    accepted: dict[str, AddChecklistItem] = {}
    refusals: list[Refusal] = []
    for item in arguments.items:
        if fold(item.title) in accepted:
            refusals.append(redundant(f"{quoted(item.title)} is named twice."))
        elif _is_there(snapshot, item.title):
            refusals.append(_there_already(item.title))
        else:
            accepted[fold(item.title)] = item
    return Exploded(tuple(accepted.values()), tuple(refusals))


def _add(snapshot: Snapshot, arguments: AddChecklistItem, by: str) -> Facts | Refusal:
    title = arguments.title
    if _is_there(snapshot, title):
        return _there_already(title)
    item = fresh_item_id(snapshot.task, title, {item.id for item in snapshot.items})
    if snapshot.checklists:
        return (t.ItemAdded(by, snapshot.checklists[0], item, title),)
    checklist = key("checklist", snapshot.task, fold(CHECKLIST_TITLE))
    added = t.ItemAdded(by, checklist, item, title)
    return t.ChecklistAdded(by, checklist, CHECKLIST_TITLE), added


def _is_there(snapshot: Snapshot, title: str) -> bool:
    return any(fold(item.title) == fold(title) for item in snapshot.items)


def _there_already(title: str) -> Refusal:
    return redundant(f"{quoted(title)} is on the task already.")


# ---------------------------------------------------------------------------------- changing


def _explode_updates(snapshot: Snapshot, arguments: UpdateChecklistItems) -> Exploded | Refusal:
    """The changes that are real, each without its part that is so already or is the person's."""
    accepted: list[UpdateChecklistItem] = []
    refusals: list[Refusal] = []
    named: set[str] = set()
    for update in arguments.items:
        item = _find(snapshot, update.id)
        if isinstance(item, Refusal):
            refusals.append(item)
        elif item.id in named:
            twice = f"Item {quoted(item.title)} is named twice; name each once in a call."
            refusals.append(redundant(twice))
        else:
            named.add(item.id)
            real, refusal = _allowed(item, update)
            accepted += [real] if real is not None else []
            refusals += [refusal] if refusal is not None else []
    return Exploded(tuple(accepted), tuple(refusals))


def _allowed(
    item: SnapshotItem, update: UpdateChecklistItem
) -> tuple[UpdateChecklistItem | None, Refusal | None]:
    """The part of an update that may be proposed, and why the rest, or all of it, may not."""
    real = _real(item, update)
    if real.is_empty:
        return None, redundant(f"Item {quoted(item.title)} is so already.")
    if (refusal := _sovereign(item, real)) is None:
        return real, None
    rest = replace(real, is_checked=None, reason="")
    return (None if rest.is_empty else rest), refusal


def _update(snapshot: Snapshot, arguments: UpdateChecklistItem, by: str) -> Facts | Refusal:
    item = _find(snapshot, arguments.id)
    if isinstance(item, Refusal):
        return item
    real = _real(item, arguments)
    if real.is_empty:
        return redundant(f"Item {quoted(item.title)} is so already.")
    if (refusal := _sovereign(item, real)) is not None:
        return refusal
    facts: list[t.TaskFact] = []
    if real.title:
        facts.append(t.ItemRetitled(by, item.id, real.title))
    if real.is_checked is not None:
        ticked = t.ItemChecked if real.is_checked else t.ItemUnchecked
        facts.append(ticked(by, item.id, real.reason))
    if real.is_archived is not None:
        put_away = t.ItemArchived if real.is_archived else t.ItemRestored
        facts.append(put_away(by, item.id))
    return tuple(facts)


def _find(snapshot: Snapshot, wanted: str) -> SnapshotItem | Refusal:
    found = (item for item in snapshot.items if item.id == wanted)
    missing = Refusal("not_found", f"This task has no item with the id {quoted(wanted)}.")
    return next(found, missing)


def _real(item: SnapshotItem, update: UpdateChecklistItem) -> UpdateChecklistItem:
    """The update without what is so already."""
    is_checked = None if update.is_checked is item.is_checked else update.is_checked
    return replace(
        update,
        is_checked=is_checked,
        title="" if update.title == squeeze(item.title) else update.title,
        is_archived=None if update.is_archived is item.is_archived else update.is_archived,
        reason="" if is_checked is None else update.reason,
    )


def _sovereign(item: SnapshotItem, real: UpdateChecklistItem) -> Refusal | None:
    if real.is_checked is None or not is_persons(item.checked_by):
        return None
    if len(real.reason) >= REASON_MIN:
        return None
    did = "ticked" if item.is_checked else "unticked"
    because = f"The person {did} {quoted(item.title)}"
    return Refusal("sovereignty", f"{because}; give a reason of {REASON_MIN} characters or more.")


def _values(snapshot: Snapshot, update: UpdateChecklistItem) -> object:
    item = _find(snapshot, update.id)
    if isinstance(item, Refusal):
        return None
    values: dict[str, object] = {}
    if update.is_checked is not None:
        values["isChecked"] = item.is_checked
    if update.title:
        values["title"] = item.title
    if update.is_archived is not None:
        values["isArchived"] = item.is_archived
    return values


def _parts(update: UpdateChecklistItem) -> tuple[str, ...]:
    named = {
        "title": bool(update.title),
        "isChecked": update.is_checked is not None,
        "isArchived": update.is_archived is not None,
    }
    return tuple(f"item:{update.id}.{name}" for name in named if named[name])


def _summary(snapshot: Snapshot, update: UpdateChecklistItem) -> str:
    item = _find(snapshot, update.id)
    title = f"{update.id[:8]}…" if isinstance(item, Refusal) else item.title
    parts = []
    if update.title:
        parts.append(f'Rename: "{title}" to "{update.title}"')
    if update.is_checked is not None:
        parts.append(f'{"Check" if update.is_checked else "Uncheck"}: "{title}"')
    if update.is_archived is not None:
        parts.append(f'{"Archive" if update.is_archived else "Restore"}: "{title}"')
    return "; ".join(parts)


def _now(snapshot: Snapshot, arguments: Mapping[str, Any]) -> str:
    item = _find(snapshot, str(arguments.get("id")))
    if isinstance(item, Refusal):
        return "gone"
    return f"{'[x]' if item.is_checked else '[ ]'} {item.title}"


TOOLS = (
    Tool(
        name="add_multiple_checklist_items",
        description="Propose new checklist items, up to 20. Leave out what is on the task already.",
        hint=(
            "only steps that the texts call for and that no item covers yet; short, in the task's "
            "language."
        ),
        arguments=AddMultipleChecklistItems,
        array="items",
        singular="add_checklist_item",
        element=AddChecklistItem,
        explode=_explode_added,
        effect=Effect(
            facts=_add,
            values=lambda snapshot, item: [_is_there(snapshot, item.title)],
            touches=lambda _: ("items",),
            summary=lambda _, item: f'Add: "{item.title}"',
            form={"title": "Item"},
        ),
        capabilities=("checklist.propose",),
        entities=("task", "checklist", "item"),
        tokens=("TASK", "CHECKLIST", "CHECKLIST_ITEM"),
    ),
    Tool(
        name="update_checklist_items",
        description=(
            "Propose to check, uncheck, rename, archive or restore items, up to 20, each named by "
            "its id and given only what changes. Against a tick that the person set or took away, "
            "give a reason of at least 20 characters."
        ),
        hint=("by the ids in the task. Learn spelling and wording from the correction examples."),
        applies=lambda snapshot: bool(snapshot.items),
        arguments=UpdateChecklistItems,
        array="items",
        singular="update_checklist_item",
        element=UpdateChecklistItem,
        explode=_explode_updates,
        effect=Effect(
            facts=_update,
            values=_values,
            touches=lambda update: (f"item:{update.id}",),
            summary=_summary,
            now=_now,
            parts=_parts,
            form={"title": "Item", "reason": "Because"},
            remedies={"sovereignty": "give_reason"},
        ),
        capabilities=("checklist.propose",),
        entities=("task", "item"),
        tokens=("TASK", "CHECKLIST_ITEM"),
        risk="medium",
    ),
)

"""The tools that change the agent's own task: one of its fields or its language, its labels, its
checklist (SPEC 5)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from domain.journal import task as t
from domain.journal.edits import fresh_item_id
from domain.log.keys import key
from domain.text import fold, squeeze
from domain.tools import arguments as a
from domain.tools.arguments import LABELS_MAX, Arguments
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

_HINT = "only where the value would differ from the present one. BLOCKED and ON HOLD need a reason."


def is_persons(by: str) -> bool:
    """Whether a person decided it, herself or in a file that was imported."""
    return bool(by) and not by.startswith("agent:")


def _sets(
    field: str,
    arguments: type[Arguments],
    fact: Callable[[str, Any], t.TaskFact],
    words: str,
    label: str,
    shown: Callable[[Any], str] = str,
) -> ToolEffect:
    """A field of the snapshot gets another value, the one argument of the call.

    `words` call it in a sentence, `label` beside its input; `shown` tells a value."""
    (attribute,), (name,) = arguments.__struct_fields__, arguments.__struct_encode_fields__

    def facts(snapshot: Snapshot, given: Arguments, by: str) -> Facts | ToolRefusal:
        value = getattr(given, attribute)
        if value == getattr(snapshot, field):
            return redundant(f"The {words} is already {shown(value)}.")
        return (fact(by, value),)

    def now(snapshot: Snapshot, _: object) -> str:
        value = getattr(snapshot, field)
        return shown(value) if value else "none"

    return ToolEffect(
        facts=facts,
        values=lambda snapshot, _: [getattr(snapshot, field)],
        touches=lambda _: (field,),
        summary=lambda _, given: f"Set {words} to {shown(getattr(given, attribute))}",
        now=now,
        form={name: label},
    )


def _title(snapshot: Snapshot, arguments: a.SetTaskTitle, by: str) -> Facts | ToolRefusal:
    if arguments.title == squeeze(snapshot.title):
        return redundant(f"The title is already {quoted(snapshot.title)}.")
    return (t.TaskRetitled(by, arguments.title),)


def _status(snapshot: Snapshot, arguments: a.SetTaskStatus, by: str) -> Facts | ToolRefusal:
    if arguments.status == snapshot.status:
        return redundant(f"The status is already {snapshot.status}.")
    return (t.StatusSet(by, arguments.status, arguments.reason),)


def _language(snapshot: Snapshot, arguments: a.SetTaskLanguage, by: str) -> Facts | ToolRefusal:
    if not (now := snapshot.language):
        return (t.LanguageSet(by, arguments.language_code),)
    if now != arguments.language_code and is_persons(snapshot.language_by):
        return ToolRefusal("sovereignty", f"The person set the language to {now}; it stays so.")
    return redundant(f"The language is already set, to {now}.")


def _minutes(minutes: int) -> str:
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


_of_task = partial(Tool, hint=_HINT, capabilities=("task.propose",))

FIELD_TOOLS = (
    _of_task(
        name="set_task_title",
        brief="Propose a better title; an untitled task gets it at once.",
        aliases=("update_task_title",),
        description="Propose a better title for the task. A task without a title gets it at once.",
        immediate_if="title_is_empty",
        arguments=a.SetTaskTitle,
        effect=ToolEffect(
            facts=_title,
            values=lambda snapshot, _: [snapshot.title],
            touches=lambda _: ("title",),
            summary=lambda _, arguments: f'Set title to "{arguments.title}"',
            now=lambda snapshot, _: snapshot.title,
            form={"title": "Title"},
        ),
        risk="medium",
    ),
    _of_task(
        name="update_task_estimate",
        brief="Propose how many minutes the whole task takes.",
        aliases=("set_task_estimate",),
        description="Propose how many minutes the whole task takes.",
        arguments=a.UpdateTaskEstimate,
        shape=lambda features: (
            a.UpdateTaskEstimate if features.long_estimates else a.UpdateTaskEstimateOfADay
        ),
        effect=_sets(
            "estimate", a.UpdateTaskEstimate, t.EstimateSet, "estimate", "Minutes", _minutes
        ),
    ),
    _of_task(
        name="update_task_due_date",
        brief="Propose the day on which the whole task is due.",
        aliases=("set_task_due_date",),
        description="Propose a due date. Only one that the person's own words support.",
        arguments=a.UpdateTaskDueDate,
        effect=_sets("due", a.UpdateTaskDueDate, t.DueSet, "due date", "Due on"),
        risk="medium",
    ),
    _of_task(
        name="update_task_priority",
        brief="Propose a priority, P0 the most urgent.",
        aliases=("set_task_priority",),
        description="Propose another priority, from P0 (most urgent) to P3.",
        arguments=a.UpdateTaskPriority,
        effect=_sets("priority", a.UpdateTaskPriority, t.PrioritySet, "priority", "Priority"),
    ),
    _of_task(
        name="set_task_status",
        brief="Propose a status; BLOCKED and ON HOLD with a reason.",
        aliases=("update_task_status",),
        description=(
            "Propose another status. BLOCKED and ON HOLD need a reason. Only the person sets DONE "
            "or REJECTED."
        ),
        arguments=a.SetTaskStatus,
        effect=ToolEffect(
            facts=_status,
            values=lambda snapshot, _: [snapshot.status, snapshot.status_reason],
            touches=lambda _: ("status",),
            summary=lambda _, arguments: (
                f"Set status to {arguments.status}"
                f"{f': {arguments.reason}' if arguments.reason else ''}"
            ),
            now=lambda snapshot, _: snapshot.status,
            form={"status": "Status", "reason": "Because"},
        ),
        risk="medium",
    ),
    Tool(
        name="set_task_language",
        brief="Set the language of the task's texts, where none is set and they leave no doubt.",
        aliases=("update_task_language",),
        description=(
            "Set the language that the task is written in, at once. Only while none is set and "
            "only when you are sure."
        ),
        hint="once, when the task has none and its texts leave no doubt.",
        applies=lambda snapshot: not snapshot.language,
        mode="immediate",
        arguments=a.SetTaskLanguage,
        effect=ToolEffect(
            facts=_language,
            values=lambda snapshot, _: [snapshot.language],
            touches=lambda _: ("language",),
            summary=lambda _, arguments: f"Set language to {arguments.language_code}",
        ),
        capabilities=("task.write_language",),
        output="domain.journal.task:LanguageSet",
        idempotency="operation_id",
    ),
)


# ------------------------------------------------------------------------------------------- labels

_RANK = {"very_high": 0, "high": 1, "medium": 2, "low": 3}


def _has_room(snapshot: Snapshot) -> bool:
    """Whether there is a label that could be assigned."""
    taken = {*snapshot.labels, *snapshot.suppressed}
    has_free = any(label.id not in taken for label in snapshot.available)
    return has_free and len(snapshot.labels) < LABELS_MAX


def _explode(snapshot: Snapshot, arguments: a.AssignTaskLabels) -> Exploded | ToolRefusal:
    """The labels to propose, the surest first; of equally sure ones the first named."""
    free = LABELS_MAX - len(snapshot.labels)
    if free <= 0:
        because = f"The task has {len(snapshot.labels)} labels; at most {LABELS_MAX} are assigned."
        return ToolRefusal("limit", because)
    accepted: dict[str, a.AssignTaskLabel] = {}
    refusals: list[ToolRefusal] = []
    for choice in sorted(arguments.labels, key=lambda label: _RANK[label.confidence]):
        if refusal := _once(snapshot, choice, accepted, free):
            refusals.append(refusal)
        else:
            accepted[choice.id] = a.AssignTaskLabel(choice.id, choice.confidence)
    return Exploded(tuple(accepted.values()), tuple(refusals))


def _once(
    snapshot: Snapshot, choice: a.LabelChoice, accepted: Mapping[str, object], free: int
) -> ToolRefusal | None:
    name = quoted(name_of(snapshot, choice.id))
    if choice.id in accepted:
        return redundant(f"Label {name} is named twice.")
    if (refusal := _no(snapshot, choice.id)) is not None:
        return refusal
    if choice.confidence == "low":
        return ToolRefusal("limit", f"Label {name} is dropped: its confidence is low.")
    if len(accepted) >= free:
        because = f"Label {name} is over the limit of {LABELS_MAX} labels a task."
        return ToolRefusal("limit", because)
    return None


def _no(snapshot: Snapshot, label: str) -> ToolRefusal | None:
    name = quoted(name_of(snapshot, label))
    if label in snapshot.labels:
        return redundant(f"Label {name} is assigned already.")
    if label in snapshot.suppressed:
        return ToolRefusal("sovereignty", f"The person does not want label {name} on this task.")
    if all(label != known.id for known in snapshot.available):
        return ToolRefusal("not_found", f"There is no available label with the id {quoted(label)}.")
    return None


def _assign(snapshot: Snapshot, arguments: a.AssignTaskLabel, by: str) -> Facts | ToolRefusal:
    if (refusal := _no(snapshot, arguments.id)) is not None:
        return refusal
    if arguments.confidence == "low":
        return ToolRefusal("invalid_arguments", "confidence: is low; such labels are not assigned")
    if len(snapshot.labels) >= LABELS_MAX:
        return ToolRefusal("limit", f"The task has {len(snapshot.labels)} labels already.")
    return (t.LabelAssigned(by, arguments.id),)


def name_of(snapshot: Snapshot, label: str) -> str:
    """A label's name; of one that the snapshot does not know, the beginning of its id."""
    names = (known.name for known in snapshot.available if known.id == label)
    return next(names, f"{label[:8]}…" if len(label) > 8 else label)


def _suppression(
    fact: Callable[[str, str], t.TaskFact], verb: str, already: str, *, is_on: bool
) -> ToolEffect:
    def facts(snapshot: Snapshot, arguments: a.SuppressLabel, by: str) -> Facts | ToolRefusal:
        if (arguments.id in snapshot.suppressed) is is_on:
            return redundant(f"Label {quoted(name_of(snapshot, arguments.id))} {already}.")
        return (fact(by, arguments.id),)

    return ToolEffect(
        facts=facts,
        values=lambda snapshot, arguments: [arguments.id in snapshot.suppressed],
        touches=lambda arguments: (f"label:{arguments.id}",),
        summary=lambda snapshot, arguments: f'{verb} label: "{name_of(snapshot, arguments.id)}"',
    )


SUPPRESS = _suppression(t.LabelSuppressed, "Suppress", "is suppressed already", is_on=True)
"""What rejecting a label does; no tool of the model."""
ALLOW = _suppression(t.LabelAllowed, "Allow", "is not suppressed", is_on=False)
"""What taking such a rejection back does."""

LABEL_TOOLS = (
    Tool(
        name="assign_task_labels",
        brief="Propose available labels, best first, no more than there is room for.",
        description=(
            "Propose available labels for the task, at most three; it has three at most. "
            "Suppressed labels were declined: leave them out."
        ),
        hint=(
            "only from the available labels, best first, never a suppressed one, and never more "
            "than the task has room for."
        ),
        applies=_has_room,
        arguments=a.AssignTaskLabels,
        array="labels",
        singular="assign_task_label",
        element=a.AssignTaskLabel,
        explode=_explode,
        effect=ToolEffect(
            facts=_assign,
            values=lambda snapshot, arguments: [arguments.id in snapshot.labels],
            touches=lambda arguments: (f"label:{arguments.id}",),
            summary=lambda snapshot, arguments: (
                f'Assign label: "{name_of(snapshot, arguments.id)}"'
            ),
            form={"id": "Label"},
            remedies={"limit": "make_room", "sovereignty": "allow_label"},
        ),
        capabilities=("labels.propose",),
        tokens=("TASK", "LABEL"),
    ),
)


# ------------------------------------------------------------------------------------ the checklist

CHECKLIST_TITLE = "Checklist"
REASON_MIN = 20
"""So long is the reason against a person's own tick, at least (SPEC 1)."""


def _explode_added(
    snapshot: Snapshot, arguments: a.AddMultipleChecklistItems
) -> Exploded | ToolRefusal:
    """The items that are not there yet, in their order."""
    accepted: dict[str, a.AddChecklistItem] = {}
    refusals: list[ToolRefusal] = []
    for item in arguments.items:
        if fold(item.title) in accepted:
            refusals.append(redundant(f"{quoted(item.title)} is named twice."))
        elif _is_there(snapshot, item.title):
            refusals.append(_there_already(item.title))
        else:
            accepted[fold(item.title)] = item
    return Exploded(tuple(accepted.values()), tuple(refusals))


def _add(snapshot: Snapshot, arguments: a.AddChecklistItem, by: str) -> Facts | ToolRefusal:
    title = arguments.title
    if _is_there(snapshot, title):
        return _there_already(title)
    item = fresh_item_id(snapshot.task, title, {item.id for item in snapshot.items})
    if snapshot.checklists:
        return (t.ItemAdded(by, snapshot.checklists[0], item, title),)
    made = key("checklist", snapshot.task, fold(CHECKLIST_TITLE))
    return t.ChecklistAdded(by, made, CHECKLIST_TITLE), t.ItemAdded(by, made, item, title)


def _is_there(snapshot: Snapshot, title: str) -> bool:
    return any(fold(item.title) == fold(title) for item in snapshot.items)


def _there_already(title: str) -> ToolRefusal:
    return redundant(f"{quoted(title)} is on the task already.")


def _explode_updates(
    snapshot: Snapshot, arguments: a.UpdateChecklistItems
) -> Exploded | ToolRefusal:
    """The changes that are real, each without its part that is so already or is the person's."""
    accepted: list[a.UpdateChecklistItem] = []
    refusals: list[ToolRefusal] = []
    named: set[str] = set()
    for update in arguments.items:
        if isinstance(item := _find(snapshot, update.id), ToolRefusal):
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
    item: SnapshotItem, update: a.UpdateChecklistItem
) -> tuple[a.UpdateChecklistItem | None, ToolRefusal | None]:
    """The part of an update that may be proposed, and why the rest, or all of it, may not."""
    real = _real(item, update)
    if real.is_empty:
        return None, redundant(f"Item {quoted(item.title)} is so already.")
    if (refusal := _sovereign(item, real)) is None:
        return real, None
    rest = replace(real, is_checked=None, reason="")
    return (None if rest.is_empty else rest), refusal


def _update(snapshot: Snapshot, arguments: a.UpdateChecklistItem, by: str) -> Facts | ToolRefusal:
    if isinstance(item := _find(snapshot, arguments.id), ToolRefusal):
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


def _find(snapshot: Snapshot, wanted: str) -> SnapshotItem | ToolRefusal:
    return found(snapshot.items, wanted, "item")


def _real(item: SnapshotItem, update: a.UpdateChecklistItem) -> a.UpdateChecklistItem:
    """The update without what is so already."""
    is_checked = None if update.is_checked is item.is_checked else update.is_checked
    return replace(
        update,
        is_checked=is_checked,
        title="" if update.title == squeeze(item.title) else update.title,
        is_archived=None if update.is_archived is item.is_archived else update.is_archived,
        reason="" if is_checked is None else update.reason,
    )


def _sovereign(item: SnapshotItem, real: a.UpdateChecklistItem) -> ToolRefusal | None:
    is_against = real.is_checked is not None and is_persons(item.checked_by)
    if not is_against or len(real.reason) >= REASON_MIN:
        return None
    because = f"The person {'ticked' if item.is_checked else 'unticked'} {quoted(item.title)}"
    needed = f"give a reason of {REASON_MIN} characters or more."
    return ToolRefusal("sovereignty", f"{because}; {needed}")


_FIELD_OF = {"title": "title", "isChecked": "is_checked", "isArchived": "is_archived"}


def _given(update: a.UpdateChecklistItem) -> list[str]:
    """What an update changes, by its names in JSON."""
    return [name for name, field in _FIELD_OF.items() if getattr(update, field) not in (None, "")]


def _values(snapshot: Snapshot, update: a.UpdateChecklistItem) -> object:
    if isinstance(item := _find(snapshot, update.id), ToolRefusal):
        return None
    return {name: getattr(item, _FIELD_OF[name]) for name in _given(update)}


def _summary(snapshot: Snapshot, update: a.UpdateChecklistItem) -> str:
    item = _find(snapshot, update.id)
    title = f"{update.id[:8]}…" if isinstance(item, ToolRefusal) else item.title
    parts = []
    if update.title:
        parts.append(f'Rename: "{title}" to "{update.title}"')
    if update.is_checked is not None:
        parts.append(f'{"Check" if update.is_checked else "Uncheck"}: "{title}"')
    if update.is_archived is not None:
        parts.append(f'{"Archive" if update.is_archived else "Restore"}: "{title}"')
    return "; ".join(parts)


def _now(snapshot: Snapshot, arguments: Mapping[str, Any]) -> str:
    if isinstance(item := _find(snapshot, str(arguments.get("id"))), ToolRefusal):
        return "gone"
    return f"{'[x]' if item.is_checked else '[ ]'} {item.title}"


CHECKLIST_TOOLS = (
    Tool(
        name="add_multiple_checklist_items",
        brief="Propose steps that no item covers yet, short, in the task's language.",
        description="Propose new checklist items, up to 20. Leave out what is on the task already.",
        hint=(
            "only steps that the texts call for and that no item covers yet; short, in the task's "
            "language."
        ),
        arguments=a.AddMultipleChecklistItems,
        array="items",
        singular="add_checklist_item",
        element=a.AddChecklistItem,
        explode=_explode_added,
        effect=ToolEffect(
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
        brief="Propose to tick, untick, rename, archive or restore items; give only what changes.",
        description=(
            "Propose to check, uncheck, rename, archive or restore items, up to 20, each named by "
            "its id and given only what changes. Against a tick that the person set or took away, "
            "give a reason of at least 20 characters."
        ),
        hint=("by the ids in the task. Learn spelling and wording from the correction examples."),
        applies=lambda snapshot: bool(snapshot.items),
        arguments=a.UpdateChecklistItems,
        array="items",
        singular="update_checklist_item",
        element=a.UpdateChecklistItem,
        explode=_explode_updates,
        effect=ToolEffect(
            facts=_update,
            values=_values,
            touches=lambda update: (f"item:{update.id}",),
            summary=_summary,
            now=_now,
            parts=lambda update: tuple(f"item:{update.id}.{name}" for name in _given(update)),
            form={"title": "Item", "reason": "Because"},
            remedies={"sovereignty": "give_reason"},
        ),
        capabilities=("checklist.propose",),
        entities=("task", "item"),
        tokens=("TASK", "CHECKLIST_ITEM"),
        risk="medium",
    ),
)

"""How the facts of a task make its state. Total: history is never refused.

`updated_at` moves with every fact; the `n` at which something was touched with facts of a person
or import only, because proposals that a person declined may come back once somebody else changed
the thing (SPEC 6). An agent's own facts change nothing there.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from domain.journal import task as t
from domain.journal.fields import FIELDS
from domain.journal.task import (
    Checklist,
    Item,
    Link,
    Note,
    Rating,
    StatusChange,
    Task,
    TimeEntry,
    Touch,
)
from domain.world import Kind, Recorded

Change = dict[str, Any]


def evolve(task: Task, recorded: Recorded) -> Task:
    """The task after one more fact."""
    apply = _APPLY.get(type(recorded.fact))
    if apply is None:
        return task
    if isinstance(recorded.fact, t.TaskCreated) and task.exists:
        return task  # another replica made the same task
    change = apply(task, recorded.fact, recorded)
    return replace(task, updated_at=recorded.at, **change)


TASK: Kind[Task] = Kind("task", Task, evolve)


def _touch(task: Task, by: str, field: str, row: Recorded) -> Change:
    known = task.touched.get(field)
    n = _row_of(by, row) or (known.n if known else 0)
    return {"touched": {**task.touched, field: Touch(n, by, row.at)}}


def _created(task: Task, fact: t.TaskCreated, row: Recorded) -> Change:
    opened = StatusChange(row.at, "OPEN", fact.by)
    return {
        "exists": True,
        "title": fact.title,
        "category": fact.category,
        "created_at": row.at,
        "history": (opened,),
        "touched": dict.fromkeys(("title", "category"), Touch(0, fact.by, row.at)),
    }


def _status(task: Task, fact: t.StatusSet, row: Recorded) -> Change:
    changed = StatusChange(row.at, fact.status, fact.by, fact.reason)
    return {
        "status": fact.status,
        "status_reason": fact.reason,
        "history": (*task.history, changed),
        **_touch(task, fact.by, "status", row),
    }


def _plain(task: Task, fact: Any, row: Recorded) -> Change:
    name, value = _PLAIN[type(fact)]
    return {name: getattr(fact, value), **_touch(task, fact.by, name, row)}


def _language(task: Task, fact: t.LanguageSet, row: Recorded) -> Change:
    return {**_plain(task, fact, row), "language_by": fact.by if fact.language else ""}


def _label_in(task: Task, fact: t.LabelAssigned, row: Recorded) -> Change:
    labels = (*(label for label in task.labels if label != fact.label), fact.label)
    return {"labels": labels, **_touch(task, fact.by, f"label:{fact.label}", row)}


def _label_out(task: Task, fact: t.LabelRemoved, row: Recorded) -> Change:
    labels = tuple(label for label in task.labels if label != fact.label)
    return {"labels": labels, **_touch(task, fact.by, f"label:{fact.label}", row)}


def _suppressed(task: Task, fact: t.LabelSuppressed, row: Recorded) -> Change:
    others = tuple(label for label in task.suppressed if label != fact.label)
    touched = _touch(task, fact.by, f"label:{fact.label}", row)
    return {"suppressed": (*others, fact.label), **touched}


def _allowed(task: Task, fact: t.LabelAllowed, row: Recorded) -> Change:
    left = tuple(label for label in task.suppressed if label != fact.label)
    return {"suppressed": left, **_touch(task, fact.by, f"label:{fact.label}", row)}


def _checklist(task: Task, fact: t.ChecklistAdded, row: Recorded) -> Change:
    return {"checklists": (*task.checklists, Checklist(fact.checklist, fact.title))}


def _item_added(task: Task, fact: t.ItemAdded, row: Recorded) -> Change:
    item = Item(
        fact.item,
        fact.checklist,
        fact.title,
        fact.by,
        is_checked=fact.is_checked,
        checked_by=fact.by if fact.is_checked else "",
        checked_at=row.at if fact.is_checked else "",
        touched=_row_of(fact.by, row),
    )
    items = task.items + (item,)  # noqa: RUF005  unpacking takes thrice as long on large tasks
    return {"items": items, **_touch(task, fact.by, "items", row)}


def _row_of(by: str, row: Recorded) -> int:
    return 0 if by.startswith("agent:") else row.n


def _item(task: Task, fact: Any, row: Recorded, **change: Any) -> Change:
    if touched := _row_of(fact.by, row):
        change["touched"] = touched
    return {"items": _with(task.items, fact.item, **change)}


def _with(parts: tuple[Any, ...], wanted: str, **change: Any) -> tuple[Any, ...]:
    """Items, notes or time entries with one of them changed; the newest are looked at first."""
    for place in range(len(parts) - 1, -1, -1):
        if parts[place].id == wanted:
            return (*parts[:place], replace(parts[place], **change), *parts[place + 1 :])
    return parts


def _item_retitled(task: Task, fact: t.ItemRetitled, row: Recorded) -> Change:
    change = _item(task, fact, row, title=fact.title, by=fact.by)
    return {**change, **_touch(task, fact.by, "items", row)}


def _checked(task: Task, fact: t.ItemChecked, row: Recorded) -> Change:
    return _item(task, fact, row, is_checked=True, checked_by=fact.by, checked_at=row.at)


def _unchecked(task: Task, fact: t.ItemUnchecked, row: Recorded) -> Change:
    return _item(task, fact, row, is_checked=False, checked_by=fact.by, checked_at=row.at)


def _archived(task: Task, fact: t.ItemArchived, row: Recorded) -> Change:
    return _item(task, fact, row, is_archived=True)


def _restored(task: Task, fact: t.ItemRestored, row: Recorded) -> Change:
    return _item(task, fact, row, is_archived=False)


def _note_added(task: Task, fact: t.NoteAdded, row: Recorded) -> Change:
    note = Note(fact.note, fact.note_kind, fact.words, fact.by, fact.recorded_at or row.at)
    notes = task.notes + (note,)  # noqa: RUF005  as with items
    return {"notes": notes, **_touch(task, fact.by, "notes", row)}


def _note_edited(task: Task, fact: t.NoteEdited, row: Recorded) -> Change:
    change = {"words": fact.words, "by": fact.by, "edited_at": row.at}
    notes = _with(task.notes, fact.note, **change)
    return {"notes": notes, **_touch(task, fact.by, "notes", row)}


def _note_removed(task: Task, fact: t.NoteRemoved, row: Recorded) -> Change:
    return {"notes": tuple(note for note in task.notes if note.id != fact.note)}


def _time_started(task: Task, fact: t.TimeStarted, row: Recorded) -> Change:
    entry = TimeEntry(fact.entry, fact.start, by=fact.by, touched=_row_of(fact.by, row))
    return {"time": (*task.time, entry)}


def _time_stopped(task: Task, fact: t.TimeStopped, row: Recorded) -> Change:
    """Without a summary it keeps the one that was noted while it ran."""
    change: Change = {"summary": fact.summary} if fact.summary else {}
    return _entry(task, fact, row, end=fact.end, by=fact.by, **change)


def _time_logged(task: Task, fact: t.TimeLogged, row: Recorded) -> Change:
    touched = _row_of(fact.by, row)
    entry = TimeEntry(fact.entry, fact.start, fact.end, fact.summary, fact.by, touched)
    return {"time": (*task.time, entry)}


def _time_edited(task: Task, fact: t.TimeEdited, row: Recorded) -> Change:
    change: Change = {"by": fact.by} if fact.start or fact.end else {}
    change |= {name: value for name in ("start", "end") if (value := getattr(fact, name))}
    change |= {} if fact.summary is None else {"summary": fact.summary}
    return _entry(task, fact, row, **change)


def _time_reopened(task: Task, fact: t.TimeReopened, row: Recorded) -> Change:
    """A list keeps what runs alone: the entry may have been left out there meanwhile."""
    if all(one.id != fact.entry for one in task.time):
        task = replace(task, time=(*task.time, TimeEntry(fact.entry, fact.start)))
    change: Change = {} if fact.summary is None else {"summary": fact.summary}
    return _entry(task, fact, row, end="", by=fact.by, **change)


def _time_removed(task: Task, fact: t.TimeRemoved, row: Recorded) -> Change:
    return {"time": tuple(one for one in task.time if one.id != fact.entry)}


def _entry(task: Task, fact: Any, row: Recorded, **change: Any) -> Change:
    if touched := _row_of(fact.by, row):
        change["touched"] = touched
    return {"time": _with(task.time, fact.entry, **change)}


def _rated(task: Task, fact: t.TaskRated, row: Recorded) -> Change:
    others = (one for one in task.ratings if one.entry != fact.entry)
    return {"ratings": (*others, Rating(fact.entry, fact.score, fact.comment, row.at))}


def _linked(task: Task, fact: t.TaskLinked, row: Recorded) -> Change:
    link = Link(fact.relation, fact.target)
    return {} if link in task.links else {"links": (*task.links, link)}


def _unlinked(task: Task, fact: t.TaskUnlinked, row: Recorded) -> Change:
    gone = Link(fact.relation, fact.target)
    return {"links": tuple(link for link in task.links if link != gone)}


def _deleted(task: Task, fact: t.TaskDeleted, row: Recorded) -> Change:
    return {"is_deleted": True}


def _undeleted(task: Task, fact: t.TaskRestored, row: Recorded) -> Change:
    return {"is_deleted": False}


def _imported(task: Task, fact: t.TaskImported, row: Recorded) -> Change:
    source = fact.by.partition(":")[2]
    others = tuple(known for known in task.imported if known[0] != source)
    return {"imported": (*others, (source, fact.document))}


def _deed_undone(task: Task, fact: t.DeedUndone, row: Recorded) -> Change:
    if not fact.source:
        return {}
    others = tuple(known for known in task.imported if known[0] != fact.source)
    back = ((fact.source, fact.document),) if fact.document else ()
    return {"imported": (*back, *others) if fact.is_older else (*others, *back)}


_PLAIN: dict[type, tuple[str, str]] = {
    t.TaskRetitled: ("title", "title"),
    t.TaskDescribed: ("description", "description"),
    t.CategorySet: ("category", "category"),
    **{one.fact: (one.name, one.value) for one in FIELDS},
}
"""What replaces one value: the field of the task, and that of the fact."""

_APPLY: dict[type, Callable[[Task, Any, Recorded], Change]] = {
    t.TaskCreated: _created,
    t.StatusSet: _status,
    **dict.fromkeys(_PLAIN, _plain),
    t.LanguageSet: _language,
    t.LabelAssigned: _label_in,
    t.LabelRemoved: _label_out,
    t.LabelSuppressed: _suppressed,
    t.LabelAllowed: _allowed,
    t.ChecklistAdded: _checklist,
    t.ItemAdded: _item_added,
    t.ItemRetitled: _item_retitled,
    t.ItemChecked: _checked,
    t.ItemUnchecked: _unchecked,
    t.ItemArchived: _archived,
    t.ItemRestored: _restored,
    t.NoteAdded: _note_added,
    t.NoteEdited: _note_edited,
    t.NoteRemoved: _note_removed,
    t.TimeStarted: _time_started,
    t.TimeStopped: _time_stopped,
    t.TimeLogged: _time_logged,
    t.TimeEdited: _time_edited,
    t.TimeReopened: _time_reopened,
    t.TimeRemoved: _time_removed,
    t.TaskRated: _rated,
    t.TaskLinked: _linked,
    t.TaskUnlinked: _unlinked,
    t.TaskDeleted: _deleted,
    t.TaskRestored: _undeleted,
    t.TaskImported: _imported,
    t.DeedUndone: _deed_undone,
}

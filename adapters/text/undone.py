"""What takes a deed back, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adapters.text.task import span
from domain.journal import task as t
from domain.journal.fields import FIELDS
from domain.journal.task import Task, TaskFact, item_of
from domain.timestamps import seconds_between

if TYPE_CHECKING:
    from adapters.documents.deeds import UndoableDeed

REFS_SHOWN = 3
_FIELDS = {one.fact: one for one in FIELDS}


def back(fact: TaskFact, task: Task, now: str) -> str:
    """One inverse fact; `task` as it is before or after it."""
    match fact:
        case t.TimeReopened(start=start):
            return f"Let the timer run on ({span(seconds_between(start, now) // 60)} by now)"
        case t.TaskRetitled(title=title):
            return f"Set the title back to “{title}”"
        case t.StatusSet(status=status):
            return f"Set the status back to “{status}”"
        case t.ItemArchived(item=item):
            return f"Put “{_title(task, item)}” away again"
        case t.ItemRetitled(item=item) | t.ItemChecked(item=item) | t.ItemUnchecked(item=item):
            return f"Change “{_title(task, item)}” back"
        case t.ItemRestored(item=item):
            return f"Bring “{_title(task, item)}” back"
        case t.TaskDeleted():
            return f"Delete “{task.title}”"
        case t.TaskRestored():
            return f"Bring “{task.title}” back"
        case t.DeedUndone(source=source):
            return "Set back what the file said last" if source else "Open the conflict again"
    if field := _FIELDS.get(type(fact)):
        value: Any = getattr(fact, field.value)
        return f"Set the {field.name} back to " + (f"“{value}”" if value else "none")
    return _BACK[type(fact)]


def named(one: "UndoableDeed") -> str:
    """A deed in a question: what it made, and of which tasks."""
    about = f" of “{one.tasks[0]}”" if one.tasks and not one.name.startswith("the ") else ""
    if not one.tasks and one.proposals:
        about = f" of {', '.join(one.proposals[:REFS_SHOWN])}"
    if one.task_count > 1:
        about = f", {one.task_count:,} tasks"
    return f"{one.name}{about}"


def made(facts: Sequence[tuple[TaskFact, Task]], what: str) -> str:
    """What a deed made of a task, by the facts that would take it back: ``due 2027-01-23``; of
    several tasks what it was."""
    if len({task.id for _, task in facts}) > 1:
        return what
    told: list[str] = []
    for fact, task in facts:
        if field := _FIELDS.get(type(fact)):
            told.append(f"{field.name} {getattr(task, field.name) or 'none'}")
        elif isinstance(fact, t.StatusSet):
            told.append(f"status {task.status}")
    return ", ".join(dict.fromkeys(told)) or what


def _title(task: Task, item: str) -> str:
    found = item_of(task, item)
    return found.title if found else item


_BACK: dict[type, str] = {
    t.TaskDescribed: "Set the description back",
    t.CategorySet: "Set the category back",
    t.LabelAssigned: "Put the label on again",
    t.LabelRemoved: "Take the label off again",
    t.LabelSuppressed: "Suppress the label again",
    t.LabelAllowed: "Allow the label again",
    t.NoteAdded: "Put the note back",
    t.NoteEdited: "Set the note's text back",
    t.NoteRemoved: "Take the note away again",
    t.TimeEdited: "Set the time entry back",
    t.TimeStarted: "Start the timer again",
    t.TimeLogged: "Put the time entry back",
    t.TimeStopped: "Stop the timer again",
    t.TimeRemoved: "Take the time entry away",
    t.TaskRated: "Set the rating back",
    t.TaskLinked: "Link it again",
    t.TaskUnlinked: "Take the link off again",
}


def stays(fact: TaskFact) -> str:
    """What of a deed nothing takes back."""
    return _STAYS.get(type(fact), "something that nothing takes back")


_STAYS: dict[type, str] = {
    t.TimeStopped: "the timer stays stopped, as another one runs",
    t.TimeRemoved: "the timer stays stopped, as another one runs",
    t.TaskRated: "the rating stays: rate again to replace it",
}

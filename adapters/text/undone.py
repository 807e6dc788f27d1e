"""What takes a deed back, in words."""

from typing import Any

from domain.journal import task as t
from domain.journal.fields import FIELDS
from domain.journal.task import Task, TaskFact, item_of

_FIELDS = {one.fact: one for one in FIELDS}


def back(fact: TaskFact, task: Task) -> str:
    """One inverse fact; `task` as it is before or after it."""
    match fact:
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
    t.TaskRated: "Set the rating back",
    t.TaskLinked: "Link it again",
    t.TaskUnlinked: "Take the link off again",
}


def stays(fact: TaskFact) -> str:
    """What of a deed nothing takes back."""
    return _STAYS.get(type(fact), "something that nothing takes back")


_STAYS: dict[type, str] = {
    t.TimeStarted: "the time entry stays: `wakelog task retime` corrects it",
    t.TimeStopped: "the timer stays stopped",
    t.TimeLogged: "the time entry stays: `wakelog task retime` corrects it",
    t.TaskRated: "the rating stays: rate again to replace it",
}

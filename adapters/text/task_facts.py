"""Facts of a task in words, each with what it changed, and who did it.

Then what takes a deed back.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from adapters.text.task import duration, span
from domain.journal import repeat
from domain.journal import task as t
from domain.journal.catalog import Catalog
from domain.journal.document import category_name, label_name
from domain.journal.task import FIELDS, Task, TaskFact, TaskField, item_of
from domain.log.timestamps import seconds_between
from domain.text import cut

if TYPE_CHECKING:
    from adapters.documents.results import UndoableDeed

TEXT_MAX = 160
KINDS = ("fields", "checklist", "notes", "time", "links", "file")
WHO = ("you", "agent", "file")
Who = Literal["you", "agent", "file"]

_FIELD_OF = {one.fact: one for one in FIELDS}
NOUNS = {one.name: one.name for one in FIELDS} | {"due": "due date", "wait_until": "wait"}


class FactNames(NamedTuple):
    """What ids stand for: the catalog's names, and the titles of other tasks."""

    catalog: Catalog
    title_of: Callable[[str], str]


def who(by: str) -> Who:
    """Who did it, of ``person``, ``agent:ID`` and ``import:SOURCE``.

    >>> who("person"), who("agent:a"), who("import:TODO.md")
    ('you', 'agent', 'file')
    """
    kinds: dict[str, Who] = {"agent": "agent", "import": "file"}
    return kinds.get(by.partition(":")[0], "you")


def subject(by: str) -> str:
    """Who did it, as a sentence begins.

    >>> subject("person"), subject("agent:a"), subject("import:TODO.md")
    ('You', 'The agent', 'The file TODO.md')
    """
    if who(by) == "file":
        return f"The file {by.partition(':')[2]}"
    return "The agent" if who(by) == "agent" else "You"


def concerns(fact: Any) -> tuple[str, ...]:
    """The fields of a task whose value a fact says: ``due``, ``item:ID``, ``link:blocks:ID``.

    >>> concerns(t.DueSet("person", "2027-01-01")), concerns(t.ItemChecked("person", "i1"))
    (('due',), ('tick:i1',))
    """
    match fact:
        case t.TaskCreated():
            return "title", "category", "status"
        case t.LabelAssigned(label=label) | t.LabelRemoved(label=label):
            return (f"label:{label}",)
        case t.ItemAdded(item=item):
            return f"item:{item}", f"tick:{item}"
        case t.ItemRetitled(item=item):
            return (f"item:{item}",)
        case t.ItemChecked(item=item) | t.ItemUnchecked(item=item):
            return (f"tick:{item}",)
        case t.NoteAdded(note=note) | t.NoteEdited(note=note):
            return (f"note:{note}",)
        case t.TaskLinked() | t.TaskUnlinked():
            return (f"link:{fact.relation}:{fact.target}",)
        case t.TaskRated(entry=entry):
            return (f"rating:{entry}" if entry else "rating",)
    if entry := getattr(fact, "entry", ""):
        return (f"time:{entry}",)
    name = _SAYS.get(type(fact)) or getattr(_FIELD_OF.get(type(fact)), "name", "")
    return (name,) if name else ()


_SAYS: dict[type, str] = {
    t.TaskRetitled: "title",
    t.TaskDescribed: "description",
    t.StatusSet: "status",
    t.CategorySet: "category",
}


def kind_of(fact: Any) -> str:
    """Which of `KINDS` a fact is."""
    name = type(fact).__name__
    return next((kind for begins, kind in _KINDS.items() if name.startswith(begins)), "fields")


_KINDS = {
    "Item": "checklist",
    "Checklist": "checklist",
    "Note": "notes",
    "Time": "time",
    "TaskRated": "time",
    "TaskLinked": "links",
    "TaskUnlinked": "links",
    "TaskImported": "file",
    "Difference": "file",
    "DeedUndone": "file",
}


def did(fact: Any, before: Task, names: FactNames) -> str:
    """What a fact did, to be said after its subject; `before` is the task before it.

    >>> names = FactNames(Catalog("main"), str)
    >>> did(t.DueSet("person", "2027-01-02"), Task("t", due="2027-01-01"), names)
    'changed the due date from 2027-01-01 to 2027-01-02'
    """
    if field := _FIELD_OF.get(type(fact)):
        was, value = (getattr(*one) for one in ((before, field.name), (fact, field.value)))
        shown = [_shown(field, one) for one in (was, value)]
        return _changed(NOUNS[field.name], *shown)
    match fact:
        case t.TaskCreated():
            return f"made the task {_quoted(fact.title)}"
        case t.TaskRetitled():
            return f"changed the title from {_quoted(before.title)} to {_quoted(fact.title)}"
        case t.StatusSet():
            because = f", because {_quoted(fact.reason)}" if fact.reason else ""
            return _changed("status", before.status, fact.status) + because
        case t.CategorySet():
            was, now = (category_name(names.catalog, one.category) for one in (before, fact))
            return _changed("category", was, now)
        case t.TaskLinked() | t.TaskUnlinked():
            told = "linked it" if isinstance(fact, t.TaskLinked) else "took away the link"
            return f"{told}: {phrase(fact.relation)} {_quoted(names.title_of(fact.target))}"
        case t.TaskRated():
            comment = f": {_quoted(fact.comment)}" if fact.comment else ""
            return f"rated {'its time' if fact.entry else 'it'} {fact.score} of 5{comment}"
        case t.DifferenceSettled():
            kept = "what the file says" if fact.keep == "file" else "your own"
            return f"settled the {NOUNS.get(fact.field, fact.field)}: kept {kept}"
    return _of_part(fact, before, names)


def _shown(field: TaskField, value: Any) -> str:
    if field.kind == "rule":
        return repeat.told(value) if value else ""
    return duration(value) if field.kind == "minutes" else str(value)


def phrase(relation: str) -> str:
    """A relation of a link in words."""
    return relation.replace("_", " ")


def _of_part(fact: Any, before: Task, names: FactNames) -> str:
    """What a fact did to a part of a task, or to all of it."""
    if isinstance(fact, t.ItemAdded):
        moved = ", moved here from another task" if fact.moved_from else ""
        return f"added the item {_quoted(fact.title)}{', ticked' * fact.is_checked}{moved}"
    if isinstance(fact, t.ItemRetitled):
        return f"renamed the item {_item(fact, before)} to {_quoted(fact.title)}"
    if told := _ITEMS.get(type(fact)):
        reason = getattr(fact, "reason", "")
        return f"{told} the item {_item(fact, before)}" + (f", because {reason}" if reason else "")
    if told := _LABELS.get(type(fact)):
        return told.format(_quoted(label_name(names.catalog, fact.label)))
    summary = getattr(fact, "summary", "")
    return _PLAINLY[type(fact)] + (f": {_quoted(summary)}" if summary else "")


def _item(fact: Any, before: Task) -> str:
    return _quoted(_title(before, fact.item))


def _changed(noun: str, was: str, now: str) -> str:
    if not now:
        return f"took away the {noun} ({was or 'none'})"
    return f"changed the {noun} from {was} to {now}" if was else f"set the {noun} to {now}"


def _quoted(text: str) -> str:
    return f"“{cut(text, length_max=TEXT_MAX)}”"


_ITEMS: dict[type, str] = {
    t.ItemChecked: "ticked",
    t.ItemUnchecked: "unticked",
    t.ItemArchived: "put away",
    t.ItemRestored: "brought back",
}
_LABELS: dict[type, str] = {
    t.LabelAssigned: "put the label {} on",
    t.LabelRemoved: "took the label {} off",
    t.LabelSuppressed: "said that no agent may propose the label {}",
    t.LabelAllowed: "let agents propose the label {} again",
}
_PLAINLY: dict[type, str] = {
    t.TaskDescribed: "changed the description",
    t.ChecklistAdded: "began a checklist",
    t.NoteAdded: "added a note",
    t.NoteEdited: "changed a note",
    t.NoteRemoved: "removed a note",
    t.TimeStarted: "started the timer",
    t.TimeStopped: "stopped the timer",
    t.TimeLogged: "entered time",
    t.TimeEdited: "corrected a time entry",
    t.TimeReopened: "let the timer run on",
    t.TimeRemoved: "took a time entry away",
    t.TaskDeleted: "deleted the task",
    t.TaskRestored: "brought the task back",
    t.TaskImported: "was compared with the task",
    t.DeedUndone: "took back what was said between the task and its file",
}


# ----------------------------------------------------------------------------- what takes them back
# What takes a deed back, in words.

REFS_SHOWN = 3


def undo_sentence(fact: TaskFact, task: Task, now: str) -> str:
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
    if field := _FIELD_OF.get(type(fact)):
        value: Any = getattr(fact, field.value)
        return f"Set the {field.name} back to " + (f"“{value}”" if value else "none")
    return _BACK[type(fact)]


def deed_question(one: "UndoableDeed") -> str:
    """A deed in a question: what it made, and of which tasks."""
    about = f" of “{one.tasks[0]}”" if one.tasks and not one.name.startswith("the ") else ""
    if not one.tasks and one.proposals:
        about = f" of {', '.join(one.proposals[:REFS_SHOWN])}"
    if one.task_count > 1:
        about = f", {one.task_count:,} tasks"
    return f"{one.name}{about}"


def deed_made(facts: Sequence[tuple[TaskFact, Task]], what: str) -> str:
    """What a deed made of a task, by the facts that would take it back: ``due 2027-01-23``; of
    several tasks what it was."""
    if len({task.id for _, task in facts}) > 1:
        return what
    told: list[str] = []
    for fact, task in facts:
        if field := _FIELD_OF.get(type(fact)):
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


def left_standing(fact: TaskFact) -> str:
    """What of a deed nothing takes back."""
    return _STAYS.get(type(fact), "something that nothing takes back")


_STAYS: dict[type, str] = {
    t.TimeStopped: "the timer stays stopped, as another one runs",
    t.TimeRemoved: "the timer stays stopped, as another one runs",
    t.TaskRated: "the rating stays: rate again to replace it",
}

"""The task stream: everything a person keeps about one task (SPEC 1, DESIGN 5).

STORAGE FORMAT. Logs outlive this code. A tag, a field's name, order, type and default never
change; a new field is optional and last; a changed meaning is a new tag.

`by` is who did it: ``person``, ``agent:<id>`` or ``import:<source>``. The union at the foot is
the list of what can happen to a task. `evolve` lives in `domain.journal.fold`.
"""

from typing import Literal

from msgspec import Struct

from domain.wire import PayloadId, Stored, Words

Status = Literal["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED"]
Priority = Literal["P0", "P1", "P2", "P3"]
NoteKind = Literal["note", "transcript", "image_analysis"]
Relation = Literal["relates_to", "blocks", "follows_up_on", "duplicates", "fixes", "supersedes"]

STATUSES: tuple[Status, ...] = (
    "OPEN",
    "GROOMED",
    "IN PROGRESS",
    "BLOCKED",
    "ON HOLD",
    "DONE",
    "REJECTED",
)
PRIORITIES: tuple[Priority, ...] = ("P0", "P1", "P2", "P3")
PERSON = "person"
RATING_MAX = 5  # the best; 1 is the worst


class TaskCreated(Stored, frozen=True, tag="task.created.1"):
    by: str
    title: str
    category: str


class TaskRetitled(Stored, frozen=True, tag="task.retitled.1"):
    by: str
    title: str


class TaskDescribed(Stored, frozen=True, tag="task.described.1"):
    by: str
    description: Words


class StatusSet(Stored, frozen=True, tag="task.status_set.1"):
    by: str
    status: Status
    reason: str = ""


class PrioritySet(Stored, frozen=True, tag="task.priority_set.1"):
    by: str
    priority: Priority


class EstimateSet(Stored, frozen=True, tag="task.estimate_set.1"):
    by: str
    minutes: int = 0  # 0: there is no estimate any more


class DueSet(Stored, frozen=True, tag="task.due_set.1"):
    by: str
    due: str = ""  # YYYY-MM-DD; empty: no due date any more


class LanguageSet(Stored, frozen=True, tag="task.language_set.1"):
    by: str
    language: str = ""  # ISO 639-1; empty: none any more


class CategorySet(Stored, frozen=True, tag="task.category_set.1"):
    by: str
    category: str


class LabelAssigned(Stored, frozen=True, tag="task.label_assigned.1"):
    by: str
    label: str


class LabelRemoved(Stored, frozen=True, tag="task.label_removed.1"):
    by: str
    label: str


class LabelSuppressed(Stored, frozen=True, tag="task.label_suppressed.1"):
    by: str
    label: str  # no agent shall propose it for this task


class LabelAllowed(Stored, frozen=True, tag="task.label_allowed.1"):
    by: str
    label: str


class ChecklistAdded(Stored, frozen=True, tag="task.checklist_added.1"):
    by: str
    checklist: str
    title: str


class ItemAdded(Stored, frozen=True, tag="task.item_added.1"):
    by: str
    checklist: str
    item: str
    title: str
    is_checked: bool = False
    moved_from: str = ""  # the item that it was, on the task that it came from


class ItemRetitled(Stored, frozen=True, tag="task.item_retitled.1"):
    by: str
    item: str
    title: str


class ItemChecked(Stored, frozen=True, tag="task.item_checked.1"):
    by: str
    item: str
    reason: str = ""


class ItemUnchecked(Stored, frozen=True, tag="task.item_unchecked.1"):
    by: str
    item: str
    reason: str = ""


class ItemArchived(Stored, frozen=True, tag="task.item_archived.1"):
    by: str
    item: str


class ItemRestored(Stored, frozen=True, tag="task.item_restored.1"):
    by: str
    item: str


class NoteAdded(Stored, frozen=True, tag="task.note_added.1"):
    by: str
    note: str
    note_kind: NoteKind
    words: Words
    recorded_at: str = ""  # empty: when the row was written


class NoteEdited(Stored, frozen=True, tag="task.note_edited.1"):
    by: str
    note: str
    words: Words


class NoteRemoved(Stored, frozen=True, tag="task.note_removed.1"):
    by: str
    note: str


class TimeStarted(Stored, frozen=True, tag="task.time_started.1"):
    by: str
    entry: str
    start: str


class TimeStopped(Stored, frozen=True, tag="task.time_stopped.1"):
    by: str
    entry: str
    end: str
    summary: str = ""


class TimeLogged(Stored, frozen=True, tag="task.time_logged.1"):
    by: str
    entry: str
    start: str
    end: str
    summary: str = ""


class TimeEdited(Stored, frozen=True, tag="task.time_edited.1"):
    by: str
    entry: str
    start: str = ""  # empty: as it is
    end: str = ""  # the same
    summary: str | None = None  # None: the same


class TimeReopened(Stored, frozen=True, tag="task.time_reopened.1"):
    """A stopped timer runs on, as if it had not been stopped."""

    by: str
    entry: str
    start: str  # its own, for folds that keep what runs alone
    summary: str | None = None  # None: as it is


class TimeRemoved(Stored, frozen=True, tag="task.time_removed.1"):
    by: str
    entry: str


class TaskRated(Stored, frozen=True, tag="task.rated.1"):
    by: str
    entry: str  # empty: the task itself
    score: int  # 1 to 5; a later one replaces it
    comment: str = ""


class TaskLinked(Stored, frozen=True, tag="task.linked.1"):
    by: str
    relation: Relation
    target: str


class TaskUnlinked(Stored, frozen=True, tag="task.unlinked.1"):
    by: str
    relation: Relation
    target: str


class TaskDeleted(Stored, frozen=True, tag="task.deleted.1"):
    by: str


class TaskRestored(Stored, frozen=True, tag="task.restored.1"):
    by: str


class TaskImported(Stored, frozen=True, tag="task.imported.1"):
    by: str  # import:<source>
    document: PayloadId  # an ImportedTask: what the file said


class DifferenceSettled(Stored, frozen=True, tag="task.difference_settled.1"):
    by: str
    field: str  # one of `differences.COMPARED`
    keep: Literal["file", "mine"]
    document: PayloadId  # what the file said


class DeedUndone(Stored, frozen=True, tag="task.deed_undone.1"):
    """What these appends of the same machine said, or settled, between the task and its files
    counts no more; with a `source`, that one said `document` last, empty: nothing yet.
    `is_older`: another source spoke after it."""

    by: str
    appends: tuple[int, ...]
    source: str = ""
    document: PayloadId = ""
    is_older: bool = False


TaskFact = (
    TaskCreated
    | TaskRetitled
    | TaskDescribed
    | StatusSet
    | PrioritySet
    | EstimateSet
    | DueSet
    | LanguageSet
    | CategorySet
    | LabelAssigned
    | LabelRemoved
    | LabelSuppressed
    | LabelAllowed
    | ChecklistAdded
    | ItemAdded
    | ItemRetitled
    | ItemChecked
    | ItemUnchecked
    | ItemArchived
    | ItemRestored
    | NoteAdded
    | NoteEdited
    | NoteRemoved
    | TimeStarted
    | TimeStopped
    | TimeLogged
    | TimeEdited
    | TimeReopened
    | TimeRemoved
    | TaskRated
    | TaskLinked
    | TaskUnlinked
    | TaskDeleted
    | TaskRestored
    | TaskImported
    | DifferenceSettled
    | DeedUndone
)


class StatusChange(Struct, frozen=True):
    """A line of the status history."""

    at: str
    status: Status
    by: str
    reason: str = ""


class Item(Struct, frozen=True):
    """A checklist item. `by` wrote its title; `touched` is the journal's `n` of the last fact
    of a person or import about it."""

    id: str
    checklist: str
    title: str
    by: str
    is_checked: bool = False
    checked_by: str = ""
    checked_at: str = ""
    is_archived: bool = False
    touched: int = 0


class Checklist(Struct, frozen=True):
    id: str
    title: str


class Note(Struct, frozen=True):
    id: str
    note_kind: NoteKind
    words: Words
    by: str
    at: str
    edited_at: str = ""


class TimeEntry(Struct, frozen=True):
    """A time entry; `end` is empty while its timer runs. `by` set its times last; `touched` is
    the journal's `n` of the last fact of a person or import about it."""

    id: str
    start: str
    end: str = ""
    summary: str = ""
    by: str = ""
    touched: int = 0


class Rating(Struct, frozen=True):
    """How well it went, by the person: 1 to 5. `entry` is empty where it is the task's."""

    entry: str
    score: int
    comment: str
    at: str


class Link(Struct, frozen=True):
    relation: Relation
    target: str


class Touch(Struct, frozen=True):
    """The journal's `n` of the last fact of a person or import about a field, 0 if there is none;
    and who said what it is now, and when."""

    n: int
    by: str
    at: str


class Task(Struct, frozen=True):
    """A task as its facts make it. `touched` is by a field's name, ``items``, ``notes`` or
    ``label:<id>``."""

    id: str
    exists: bool = False
    title: str = ""
    description: Words = Words()
    status: Status = "OPEN"
    status_reason: str = ""
    history: tuple[StatusChange, ...] = ()
    priority: Priority = "P2"
    estimate: int = 0
    due: str = ""
    language: str = ""
    language_by: str = ""
    category: str = ""
    labels: tuple[str, ...] = ()
    suppressed: tuple[str, ...] = ()
    checklists: tuple[Checklist, ...] = ()
    items: tuple[Item, ...] = ()
    notes: tuple[Note, ...] = ()
    time: tuple[TimeEntry, ...] = ()
    links: tuple[Link, ...] = ()
    imported: tuple[tuple[str, PayloadId], ...] = ()
    created_at: str = ""
    updated_at: str = ""
    is_deleted: bool = False
    touched: dict[str, Touch] = {}
    ratings: tuple[Rating, ...] = ()

    @property
    def running(self) -> tuple[TimeEntry, ...]:
        """The time entries whose timer runs."""
        return tuple(one for one in self.time if not one.end)

    @property
    def is_open(self) -> bool:
        """Whether there is still something to do: neither DONE, REJECTED nor deleted."""
        return self.exists and not self.is_deleted and self.status not in ("DONE", "REJECTED")


def item_of(task: Task, item_id: str) -> Item | None:
    """The task's item of that id, if it has one."""
    return next((item for item in task.items if item.id == item_id), None)


def rating_of(task: Task, entry: str = "") -> Rating | None:
    """The rating of a time entry, or of the task itself, if it has one."""
    return next((one for one in task.ratings if one.entry == entry), None)

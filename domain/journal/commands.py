"""What a person, an importer or an operation can ask of the journal.

STORAGE FORMAT: receipts keep commands, see `domain.log.wire`. An empty text or None leaves a field
as it is. Texts of any length travel as `Words`, made by adapters under the task's unit."""

from typing import ClassVar, Literal

from domain.journal.day import DayCommand
from domain.journal.task import NoteKind
from domain.log.wire import Part, PayloadId, Stored, Words


class CreateTask(Stored, frozen=True, tag="command.create_task.1"):
    said: ClassVar = (
        *("title", "category", "status", "reason", "priority", "estimate", "due", "language"),
        *("labels", "repeat", "wait_until"),
    )
    title: str
    category: str = ""  # name or id; empty: Inbox
    status: str = ""
    reason: str = ""
    priority: str = ""
    estimate: int = 0
    due: str = ""
    language: str = ""
    labels: tuple[str, ...] = ()  # names or ids
    scopes_labels: bool = False  # they may be used in its category from now on
    repeat: str = ""
    wait_until: str = ""
    makes_names: bool = False  # its category and its labels are made where they are not there


class EditTask(Stored, frozen=True, tag="command.edit_task.1"):
    """`stops_timer`: a status that closes the task ends its timer, too; without it, as of 0.2.0,
    it runs on. `next_due`, `next_wait`: of the task that follows one that repeats and is closed;
    both empty: none does."""

    said: ClassVar = (
        *("task", "title", "description", "status", "reason", "priority", "estimate", "due"),
        *("language", "category", "repeat", "wait_until"),
    )
    task: str
    title: str = ""
    description: Words | None = None
    status: str = ""
    reason: str = ""
    priority: str = ""
    estimate: int | None = None  # minutes; 0 clears
    due: str | None = None  # empty clears
    language: str | None = None  # empty clears
    category: str = ""
    stops_timer: bool = False
    repeat: str | None = None  # empty clears
    wait_until: str | None = None  # empty clears
    next_due: str = ""
    next_wait: str = ""
    makes_names: bool = False


class AddItems(Stored, frozen=True, tag="command.add_items.1"):
    task: str
    titles: tuple[str, ...]
    checklist: str = ""  # title; empty: the task's first, or a new "Checklist"


class EditItem(Stored, frozen=True, tag="command.edit_item.1"):
    task: str
    item: str
    title: str = ""
    is_checked: bool | None = None
    is_archived: bool | None = None


class AddNote(Stored, frozen=True, tag="command.add_note.1"):
    task: str
    note_kind: NoteKind
    words: Words


class EditNote(Stored, frozen=True, tag="command.edit_note.1"):
    """`corrects`: an edited transcript is a correction whoever wrote it; without it, as of 0.1.0,
    where the person did not."""

    said: ClassVar = ("task", "note", "words")
    task: str
    note: str
    words: Words
    corrects: bool = False


class RemoveNote(Stored, frozen=True, tag="command.remove_note.1"):
    task: str
    note: str


class ChangeLabels(Stored, frozen=True, tag="command.change_labels.1"):
    """`scopes_labels`: those that are assigned may be used in the task's category from now on.
    `makes_names`: those that are not there are made."""

    said: ClassVar = ("task", "assign", "remove", "suppress", "allow")
    task: str
    assign: tuple[str, ...] = ()  # names or ids, as all here
    remove: tuple[str, ...] = ()
    suppress: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    scopes_labels: bool = False
    makes_names: bool = False


class LinkTask(Stored, frozen=True, tag="command.link_task.1"):
    task: str
    phrase: str  # "blocks", "is_blocked_by", ...
    target: str


class UnlinkTask(Stored, frozen=True, tag="command.unlink_task.1"):
    task: str
    phrase: str
    target: str


class ConcludeTask(Stored, frozen=True, tag="command.conclude_task.1"):
    """Set a task DONE; what remains is a follow-up, with its open items unless `keeps_items`.

    `title`: the new task's, a payload of this one's unit: over several units a text stands in no
    row. `stops_timer`: as of `EditTask`."""

    said: ClassVar = ("task", "title", "keeps_items")
    task: str
    title: Words
    keeps_items: bool = False
    stops_timer: bool = False


class DeleteTask(Stored, frozen=True, tag="command.delete_task.1"):
    task: str


class RestoreTask(Stored, frozen=True, tag="command.restore_task.1"):
    """Bring a deleted task back. `revives`: labels that it carries are in use again."""

    said: ClassVar = ("task",)
    task: str
    revives: bool = False


class StartTimer(Stored, frozen=True, tag="command.start_timer.1"):
    task: str


class StopTimer(Stored, frozen=True, tag="command.stop_timer.1"):
    summary: str = ""


class LogTime(Stored, frozen=True, tag="command.log_time.1"):
    task: str
    start: str
    end: str
    summary: str = ""


class RetimeEntry(Stored, frozen=True, tag="command.retime_entry.1"):
    task: str
    entry: str
    start: str = ""
    end: str = ""
    summary: str | None = None


class RateTask(Stored, frozen=True, tag="command.rate_task.1"):
    task: str
    score: int
    entry: str = ""  # empty: the task itself
    comment: str = ""


class AddCategory(Stored, frozen=True, tag="command.add_category.1"):
    name: str
    language: str = ""


class RenameCategory(Stored, frozen=True, tag="command.rename_category.1"):
    category: str
    name: str


class AddCorrection(Stored, frozen=True, tag="command.add_correction.1"):
    category: str
    before: PayloadId
    after: PayloadId


class AddLabel(Stored, frozen=True, tag="command.add_label.1"):
    name: str
    categories: tuple[str, ...] = ()


class DeleteLabel(Stored, frozen=True, tag="command.delete_label.1"):
    label: str


class LabelScope(Part, frozen=True):
    """The categories, by id, of the tasks that carry a label."""

    label: str
    categories: tuple[str, ...]


class ScopeLabels(Stored, frozen=True, tag="command.scope_labels.1"):
    """Labels that older imports made everyone's belong to the categories of their tasks."""

    labels: tuple[LabelScope, ...]


class ImportedRef(Part, frozen=True):
    """A task of a file: its document is a payload of the task's unit."""

    task: str
    document: PayloadId


class ImportedLink(Part, frozen=True):
    """A link that a file names, as `LinkTask` says it."""

    task: str
    phrase: str
    target: str


class GoneTask(Part, frozen=True):
    """A task that its file has no more, and what becomes of it."""

    task: str
    how: Literal["reject", "delete"]


class NextTask(Part, frozen=True):
    """When what follows a task that repeats, and that its file closes, is due, and until when it
    waits."""

    task: str
    due: str
    wait_until: str = ""


class ImportTasks(Stored, frozen=True, tag="command.import_tasks.1"):
    """Up to 200 tasks of one file.

    `across_sources`: a task is compared with what any source said of it last, because some of
    these came from another one before. `is_three_way`: what the person changed since the last
    document stands, and is a difference where the file changed it, too; without it, as of 0.1.0,
    the file's is taken. `is_written_back`: the file was just made to say what stands here, which
    is news to no agent.

    `lines`: a payload of the unit ``shared``, what is kept of the source's lines; nothing is
    decided by it. `links` and `gone` come after the tasks. `restores`: tasks that come back, before
    they are compared: deleted ones, and closed ones, which are then as the file says, or open.
    `renames_items`: an item that has another title in the file gets it here, too, unless it was
    renamed here since. `stops_timers`: a timer of a task that is closed ends, too.
    `scopes_labels`: a label may be used in the categories of these tasks that carry it; without it,
    as of 0.2.0, a new one may in all. `nexts`: of tasks that repeat, which another one follows if
    they are closed. `bases`: what tasks that come back are compared with, where that is not what
    their file said last: several imports were taken back, down to the one that made them.
    `is_on_bases`: so are tasks of which a file of that name said nothing yet, with what an export
    would say of them."""

    said: ClassVar = ("source", "tasks", "across_sources")
    source: str
    tasks: tuple[ImportedRef, ...]
    across_sources: bool = False
    is_three_way: bool = False
    is_written_back: bool = False
    lines: PayloadId = ""
    links: tuple[ImportedLink, ...] = ()
    gone: tuple[GoneTask, ...] = ()
    restores: tuple[str, ...] = ()
    renames_items: bool = False
    stops_timers: bool = False
    scopes_labels: bool = False
    nexts: tuple[NextTask, ...] = ()
    bases: tuple[ImportedRef, ...] = ()
    is_on_bases: bool = False


class SettleDifference(Stored, frozen=True, tag="command.settle_difference.1"):
    """Say which of two stands, where a file and the person said different things of a field."""

    task: str
    field: str
    keep: Literal["file", "mine"]


class SideSeen(Part, frozen=True):
    """The append in which a machine said its side of a conflict."""

    replica: str
    n: int


class SettleConflict(Stored, frozen=True, tag="command.settle_conflict.1"):
    """Let what a machine said of a field stand, where several said something else without knowing
    of each other. `keep`: its replica; `seen`: the sides that were shown; empty: any."""

    task: str
    field: str
    keep: str
    seen: tuple[SideSeen, ...] = ()


class UndoImport(Stored, frozen=True, tag="command.undo_import.1"):
    """Take back what an import changed in these tasks; it is the appends `first` to `last`.

    `reopens`: it is exactly `appends`, and all of it is taken back: what the file is remembered to
    have said, conflicts, links, labels and categories, too; without it, as of 0.1.0, the fields."""

    said: ClassVar = ("tasks", "first", "last")
    tasks: tuple[str, ...]
    first: int
    last: int
    reopens: bool = False
    appends: tuple[int, ...] = ()


class UndoDeed(Stored, frozen=True, tag="command.undo_deed.1"):
    """Take back what these appends, all of one deed, changed in these tasks and days.

    `operation`: an operation of the agent log that it is done for, once; empty: a person's own
    deed. `of`: whose appends they are; empty: this replica's own. `reopens`: a timer that they
    stopped runs on, time that they entered is taken away, and so is a conflict that they settled
    and an import that they took back; without it, as of 0.1.0, all these stay. `revives`: labels of
    tasks that come back are in use again."""

    said: ClassVar = ("tasks", "appends", "operation", "of", "days")
    tasks: tuple[str, ...]
    appends: tuple[int, ...]
    operation: str = ""
    of: str = ""
    reopens: bool = False
    revives: bool = False
    days: tuple[str, ...] = ()


class ApplyOperation(Stored, frozen=True, tag="command.apply_operation.1"):
    """Run a tool on the task as it is now, once per operation id.

    `base`: digest of the values it was proposed on; empty takes them as they are.
    `categories`: what the agent may touch. `hop`: how many agents' writes led here, before
    this one. `others`: further tasks that it may write to; then `arguments` is always a payload.
    `revives`: a follow-up that was made for this and taken back is there again."""

    operation: str
    agent: str
    task: str
    tool: str
    arguments: Words
    base: str = ""
    categories: tuple[str, ...] = ()
    hop: int = 0
    others: tuple[str, ...] = ()
    revives: bool = False


class VoidOperation(Stored, frozen=True, tag="command.void_operation.1"):
    """Give an operation up, so that a slow process cannot apply it later. Reserved (ADR 38)."""

    operation: str
    task: str
    reason: str


JournalCommand = (
    CreateTask | EditTask | AddItems | EditItem | AddNote | EditNote | RemoveNote | ChangeLabels
    | LinkTask | UnlinkTask | ConcludeTask | DeleteTask | RestoreTask | StartTimer | StopTimer
    | LogTime | RetimeEntry | RateTask | AddCategory | RenameCategory | AddCorrection | AddLabel
    | DeleteLabel | ScopeLabels | DayCommand | ImportTasks | SettleDifference | SettleConflict
    | UndoImport | UndoDeed | ApplyOperation | VoidOperation
)  # fmt: skip

"""The task stream: everything a person keeps about one task (SPEC 1, DESIGN 5).

STORAGE FORMAT. Logs outlive this code. A tag, a field's name, order, type and default never
change; a new field is optional and last; a changed meaning is a new tag.

`by` is who did it: ``person``, ``agent:<id>`` or ``import:<source>``. The union `TaskFact` is the
list of what can happen to a task; `FIELDS` is the table of its plain fields."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from domain.errors import invalid
from domain.journal import repeat
from domain.log.state import RecordedEvent, StreamType
from domain.log.timestamps import is_date
from domain.log.wire import PayloadId, Stored, Words
from domain.text import is_language, squeeze

Status = Literal["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED"]
Priority = Literal["P0", "P1", "P2", "P3"]
NoteKind = Literal["note", "transcript", "image_analysis"]
Relation = Literal["relates_to", "blocks", "follows_up_on", "duplicates", "fixes", "supersedes"]

STATUSES: tuple[Status, ...] = get_args(Status)
CLOSED: tuple[Status, ...] = ("DONE", "REJECTED")
PRIORITIES: tuple[Priority, ...] = get_args(Priority)
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
    """`is_next`: it came with a task that repeats another one; of several the earliest stands."""

    by: str
    due: str = ""  # YYYY-MM-DD; empty: no due date any more
    is_next: bool = False


class RepeatSet(Stored, frozen=True, tag="task.repeat_set.1"):
    by: str
    rule: str = ""  # see `domain.journal.repeat`; empty: it comes once


class WaitSet(Stored, frozen=True, tag="task.wait_set.1"):
    by: str
    until: str = ""  # YYYY-MM-DD, from which day on it is shown; empty: always
    is_next: bool = False  # as of `DueSet`


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
    TaskCreated | TaskRetitled | TaskDescribed | StatusSet | PrioritySet | EstimateSet
    | DueSet | RepeatSet | WaitSet | LanguageSet | CategorySet
    | LabelAssigned | LabelRemoved | LabelSuppressed | LabelAllowed
    | ChecklistAdded | ItemAdded | ItemRetitled | ItemChecked | ItemUnchecked | ItemArchived
    | ItemRestored | NoteAdded | NoteEdited | NoteRemoved
    | TimeStarted | TimeStopped | TimeLogged | TimeEdited | TimeReopened | TimeRemoved
    | TaskRated | TaskLinked | TaskUnlinked | TaskDeleted | TaskRestored
    | TaskImported | DifferenceSettled | DeedUndone
)  # fmt: skip


class StatusChange(Struct, frozen=True):
    """A line of the status history."""

    at: str
    status: Status
    by: str
    reason: str = ""


class ChecklistItem(Struct, frozen=True):
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
    items: tuple[ChecklistItem, ...] = ()
    notes: tuple[Note, ...] = ()
    time: tuple[TimeEntry, ...] = ()
    links: tuple[Link, ...] = ()
    imported: tuple[tuple[str, PayloadId], ...] = ()
    created_at: str = ""
    updated_at: str = ""
    is_deleted: bool = False
    touched: dict[str, Touch] = {}
    ratings: tuple[Rating, ...] = ()
    repeat: str = ""
    wait_until: str = ""

    @property
    def running(self) -> tuple[TimeEntry, ...]:
        """The time entries whose timer runs."""
        return tuple(one for one in self.time if not one.end)

    @property
    def is_there(self) -> bool:
        """Whether it was made and is not deleted."""
        return self.exists and not self.is_deleted

    @property
    def is_open(self) -> bool:
        """Whether there is still something to do: neither DONE, REJECTED nor deleted."""
        return self.is_there and self.status not in CLOSED


def item_of(task: Task, item_id: str) -> ChecklistItem | None:
    """The task's item of that id, if it has one."""
    return next((item for item in task.items if item.id == item_id), None)


def rating_of(task: Task, entry: str = "") -> Rating | None:
    """The rating of a time entry, or of the task itself, if it has one."""
    return next((one for one in task.ratings if one.entry == entry), None)


# ------------------------------------------------------------------------ the table of plain fields
# One record each, from which what knows a field is derived (ADR 29). A plain field is one value
# that one fact replaces; title, description, status with its reason, category and labels have rules
# of their own. `tests/unit/test_task_fields.py` lists every place that must know a field.

MINUTES_MAX = 60_000  # of an estimate: a thousand hours
S = TypeVar("S", bound=str)


class TaskField(Struct, frozen=True):
    """A plain field. `name` is its name in `Task`, commands, an import's document and forms, and
    of its option; `kind` says how its values are checked, typed and kept in tables."""

    name: str
    fact: type[Any]  # says who changed it, and to what
    value: str  # the fact's field that holds the value
    kind: Literal["choice", "minutes", "day", "language", "rule"]
    key: str  # in JSON documents, and in the tables of a bisection
    column: str  # in the analytics' table `tasks`
    label: str  # of its input on the page
    metavar: str
    help: str  # of its option
    example: str = ""  # in its input while that is empty
    choices: tuple[str, ...] = ()  # as they are stored
    can_be_empty: bool = True  # an empty text or 0: there is none
    is_imported: bool = True  # files may say it
    pair: str = ""  # before the colon in a line of todo.txt

    @property
    def empty(self) -> Any:
        """The value that says that there is none."""
        return 0 if self.kind == "minutes" else ""


FIELDS = (
    TaskField(
        "priority", PrioritySet, "priority", "choice", key="priority", column="priority",
        label="Priority", metavar="P", help="P0 to P3.", choices=PRIORITIES, can_be_empty=False,
    ),
    TaskField(
        "estimate", EstimateSet, "minutes", "minutes", key="estimate_minutes",
        column="estimate_minutes", label="Estimate, minutes", metavar="E",
        help="90, 90m, 2h, 1h30 or none.", example="90, 2h, 1h30",
    ),
    TaskField(
        "due", DueSet, "due", "day", key="due_date", column="due", label="Due", metavar="DAY",
        help="YYYY-MM-DD, 31.1.2027, tomorrow, monday, +3d or none.", pair="due",
    ),
    TaskField(
        "language", LanguageSet, "language", "language", key="language", column="language",
        label="Language", metavar="L", help="Like en or de, or none.", example="en",
        is_imported=False,
    ),
    TaskField(
        "repeat", RepeatSet, "rule", "rule", key="repeat", column="repeat", label="Repeats",
        metavar="RULE", help="daily, every 2 weeks, every monday, monthly when done or none.",
        example="every 2 weeks", pair="rec",
    ),
    TaskField(
        "wait_until", WaitSet, "until", "day", key="wait_until", column="wait_until",
        label="Waits until", metavar="DAY", help="Hidden until that day; as --due.", pair="t",
    ),
)  # fmt: skip
"""In the order in which their facts are written and people are asked for them."""

ADDED = len(FIELDS) - 4
"""By how much a field more raises the versions of the view of tasks and of the analytics."""


def checked(field: TaskField, value: Any) -> Any:
    """A value as it is stored, or Refused."""
    if field.can_be_empty and value == field.empty:
        return value
    match field.kind:
        case "choice":
            return chosen(field.name, field.choices, value)
        case "minutes" if not 0 < value <= MINUTES_MAX:
            because = f"an {field.name} of {value} minutes is out of range"
            raise invalid(because, f"use 1 to {MINUTES_MAX} minutes, or 0 for none")
        case "day" if not is_date(value):
            raise invalid(f"{value!r} is no date", "use a real date as YYYY-MM-DD")
        case "language":
            value = squeeze(value).lower()
            if value and not is_language(value):
                because = f"{value!r} is no language code"
                raise invalid(because, "use two letters, `en` for example")
        case "rule":
            return repeat.checked_rule(value)
    return value


def chosen(name: str, choices: tuple[S, ...], value: str) -> S:
    """The one of the choices that a value names in any case, or Refused."""
    told = squeeze(value).upper()
    found = next((one for one in choices if one.upper() == told), None)
    if found is None:
        raise invalid(f"{value!r} is no {name}", f"use one of {', '.join(choices)}")
    return found


# ----------------------------------------------------------------------------------------- the fold
# Total: history is never refused. `updated_at` moves with every fact; the `n` at which something
# was touched with facts of a person or import only, because proposals that a person declined may
# come back once somebody else changed the thing (SPEC 6).

Change = dict[str, Any]
Apply = Callable[[Task, Any, RecordedEvent], Change]


def evolve(task: Task, recorded: RecordedEvent) -> Task:
    """The task after one more fact."""
    if (apply := _APPLY.get(type(recorded.fact))) is None:
        return task
    if isinstance(recorded.fact, TaskCreated) and task.exists:
        return task  # another replica made the same task
    return replace(task, updated_at=recorded.at, **apply(task, recorded.fact, recorded))


TASK: StreamType[Task] = StreamType("task", Task, evolve)


def _touch(task: Task, by: str, field: str, row: RecordedEvent) -> Change:
    known = task.touched.get(field)
    n = _row_of(by, row) or (known.n if known else 0)
    return {"touched": {**task.touched, field: Touch(n, by, row.at)}}


def _created(task: Task, fact: TaskCreated, row: RecordedEvent) -> Change:
    return {
        "exists": True,
        "title": fact.title,
        "category": fact.category,
        "created_at": row.at,
        "history": (StatusChange(row.at, "OPEN", fact.by),),
        "touched": dict.fromkeys(("title", "category"), Touch(0, fact.by, row.at)),
    }


def _status(task: Task, fact: StatusSet, row: RecordedEvent) -> Change:
    changed = StatusChange(row.at, fact.status, fact.by, fact.reason)
    return {
        "status": fact.status,
        "status_reason": fact.reason,
        "history": (*task.history, changed),
        **_touch(task, fact.by, "status", row),
    }


def _plain(task: Task, fact: Any, row: RecordedEvent) -> Change:
    name, value = _PLAIN[type(fact)]
    return {name: getattr(fact, value), **_touch(task, fact.by, name, row)}


def _label(field: Literal["labels", "suppressed"], *, is_in: bool) -> Apply:
    """The fact's label is the last one of a field, or none of it."""

    def apply(task: Task, fact: Any, row: RecordedEvent) -> Change:
        others = tuple(label for label in getattr(task, field) if label != fact.label)
        labels = (*others, fact.label) if is_in else others
        return {field: labels, **_touch(task, fact.by, f"label:{fact.label}", row)}

    return apply


def _item_added(task: Task, fact: ItemAdded, row: RecordedEvent) -> Change:
    item = ChecklistItem(
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


def _row_of(by: str, row: RecordedEvent) -> int:
    return 0 if by.startswith("agent:") else row.n


def _item(task: Task, fact: Any, row: RecordedEvent, **change: Any) -> Change:
    if touched := _row_of(fact.by, row):
        change["touched"] = touched
    return {"items": _with(task.items, fact.item, **change)}


def _with(parts: tuple[Any, ...], wanted: str, **change: Any) -> tuple[Any, ...]:
    """Items, notes or time entries with one of them changed; the newest are looked at first."""
    for place in range(len(parts) - 1, -1, -1):
        if parts[place].id == wanted:
            return (*parts[:place], replace(parts[place], **change), *parts[place + 1 :])
    return parts


def _but(parts: tuple[Any, ...], gone: str) -> tuple[Any, ...]:
    return tuple(one for one in parts if one.id != gone)


def _ticked(task: Task, fact: ItemChecked | ItemUnchecked, row: RecordedEvent) -> Change:
    is_checked = isinstance(fact, ItemChecked)
    return _item(task, fact, row, is_checked=is_checked, checked_by=fact.by, checked_at=row.at)


def _note_added(task: Task, fact: NoteAdded, row: RecordedEvent) -> Change:
    note = Note(fact.note, fact.note_kind, fact.words, fact.by, fact.recorded_at or row.at)
    notes = task.notes + (note,)  # noqa: RUF005  as with items
    return {"notes": notes, **_touch(task, fact.by, "notes", row)}


def _note_edited(task: Task, fact: NoteEdited, row: RecordedEvent) -> Change:
    notes = _with(task.notes, fact.note, words=fact.words, by=fact.by, edited_at=row.at)
    return {"notes": notes, **_touch(task, fact.by, "notes", row)}


def _time_added(task: Task, fact: TimeStarted | TimeLogged, row: RecordedEvent) -> Change:
    entry = TimeEntry(fact.entry, fact.start, by=fact.by, touched=_row_of(fact.by, row))
    if isinstance(fact, TimeLogged):
        entry = replace(entry, end=fact.end, summary=fact.summary)
    return {"time": (*task.time, entry)}


def _time_stopped(task: Task, fact: TimeStopped, row: RecordedEvent) -> Change:
    """Without a summary it keeps the one that was noted while it ran."""
    change: Change = {"summary": fact.summary} if fact.summary else {}
    return _entry(task, fact, row, end=fact.end, by=fact.by, **change)


def _time_edited(task: Task, fact: TimeEdited, row: RecordedEvent) -> Change:
    change: Change = {"by": fact.by} if fact.start or fact.end else {}
    change |= {name: value for name in ("start", "end") if (value := getattr(fact, name))}
    change |= {} if fact.summary is None else {"summary": fact.summary}
    return _entry(task, fact, row, **change)


def _time_reopened(task: Task, fact: TimeReopened, row: RecordedEvent) -> Change:
    """A list keeps what runs alone: the entry may have been left out there meanwhile."""
    if all(one.id != fact.entry for one in task.time):
        task = replace(task, time=(*task.time, TimeEntry(fact.entry, fact.start)))
    change: Change = {} if fact.summary is None else {"summary": fact.summary}
    return _entry(task, fact, row, end="", by=fact.by, **change)


def _entry(task: Task, fact: Any, row: RecordedEvent, **change: Any) -> Change:
    if touched := _row_of(fact.by, row):
        change["touched"] = touched
    return {"time": _with(task.time, fact.entry, **change)}


def _rated(task: Task, fact: TaskRated, row: RecordedEvent) -> Change:
    others = (one for one in task.ratings if one.entry != fact.entry)
    return {"ratings": (*others, Rating(fact.entry, fact.score, fact.comment, row.at))}


def _linked(task: Task, fact: TaskLinked | TaskUnlinked, row: RecordedEvent) -> Change:
    link = Link(fact.relation, fact.target)
    if isinstance(fact, TaskUnlinked):
        return {"links": tuple(known for known in task.links if known != link)}
    return {} if link in task.links else {"links": (*task.links, link)}


def _imported(task: Task, fact: TaskImported, row: RecordedEvent) -> Change:
    source = fact.by.partition(":")[2]
    return {"imported": (*_said_by_others(task, source), (source, fact.document))}


def _deed_undone(task: Task, fact: DeedUndone, row: RecordedEvent) -> Change:
    if not fact.source:
        return {}
    others = _said_by_others(task, fact.source)
    back = ((fact.source, fact.document),) if fact.document else ()
    return {"imported": (*back, *others) if fact.is_older else (*others, *back)}


def _said_by_others(task: Task, source: str) -> tuple[tuple[str, PayloadId], ...]:
    return tuple(known for known in task.imported if known[0] != source)


_PLAIN: dict[type, tuple[str, str]] = {
    TaskRetitled: ("title", "title"),
    TaskDescribed: ("description", "description"),
    CategorySet: ("category", "category"),
    **{one.fact: (one.name, one.value) for one in FIELDS},
}
"""What replaces one value: the field of the task, and that of the fact."""

_APPLY: dict[type, Apply] = {
    TaskCreated: _created,
    StatusSet: _status,
    **dict.fromkeys(_PLAIN, _plain),
    LanguageSet: lambda task, fact, row: {
        **_plain(task, fact, row),
        "language_by": fact.by if fact.language else "",
    },
    LabelAssigned: _label("labels", is_in=True),
    LabelRemoved: _label("labels", is_in=False),
    LabelSuppressed: _label("suppressed", is_in=True),
    LabelAllowed: _label("suppressed", is_in=False),
    ChecklistAdded: lambda task, fact, _: {
        "checklists": (*task.checklists, Checklist(fact.checklist, fact.title))
    },
    ItemAdded: _item_added,
    ItemRetitled: lambda task, fact, row: {
        **_item(task, fact, row, title=fact.title, by=fact.by),
        **_touch(task, fact.by, "items", row),
    },
    ItemChecked: _ticked,
    ItemUnchecked: _ticked,
    ItemArchived: lambda task, fact, row: _item(task, fact, row, is_archived=True),
    ItemRestored: lambda task, fact, row: _item(task, fact, row, is_archived=False),
    NoteAdded: _note_added,
    NoteEdited: _note_edited,
    NoteRemoved: lambda task, fact, _: {"notes": _but(task.notes, fact.note)},
    TimeStarted: _time_added,
    TimeStopped: _time_stopped,
    TimeLogged: _time_added,
    TimeEdited: _time_edited,
    TimeReopened: _time_reopened,
    TimeRemoved: lambda task, fact, _: {"time": _but(task.time, fact.entry)},
    TaskRated: _rated,
    TaskLinked: _linked,
    TaskUnlinked: _linked,
    TaskDeleted: lambda *_: {"is_deleted": True},
    TaskRestored: lambda *_: {"is_deleted": False},
    TaskImported: _imported,
    DeedUndone: _deed_undone,
}

"""Where a file and the person say different things of one field (ADR 48).

The document that was the last one when the person spoke is the base of both. What the file changed
since, and the person holds otherwise, is a *difference*: derived from the task's rows, not stored.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from domain.journal import catalog as c
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.imported import ImportedTask, decoded
from domain.journal.task import FIELDS, TASK, Task
from domain.log.state import MAIN, LogState, RecordedEvent
from domain.log.wire import PayloadId, words
from domain.text import squeeze

IMPORTED = {field.name: field for field in FIELDS if field.is_imported}
FACT_OF: dict[str, type[Any]] = {
    "title": t.TaskRetitled,
    "category": t.CategorySet,
    "status": t.StatusSet,
    **{field.name: field.fact for field in IMPORTED.values()},
    "description": t.TaskDescribed,
}
"""The fields in which a file and the person may differ, in the order in which they are taken, and
what sets them."""
COMPARED = tuple(FACT_OF)

_FIELD_OF = {fact: field for field, fact in FACT_OF.items()}
_FRESH = Task("")

AppendRef = tuple[str, int]
"""An append, by its replica and number."""

CategoryMeant = Callable[[str], str]
"""``meant(name)``: the id of the category that a file's name means, there or not."""


class ImportConflict(Struct, frozen=True):
    """A field of which the file says something else than what stands. `said` is its document;
    `held_by` and `held_at`: who said what stands, and when."""

    field: str
    source: str
    said_at: str
    said: ImportedTask
    held_by: str
    held_at: str


def import_conflicts_of(world: LogState, task_id: str) -> tuple[ImportConflict, ...]:
    """What is open between the person and the file of a task."""
    task = world.load(TASK, task_id)
    if not task.imported:
        return ()
    return import_conflicts(
        world.rows(TASK, task_id),
        task,
        lambda document: decoded(world.payload(document)),
        partial(c.category_meant, world.load(CATALOG, MAIN)),
    )


def import_conflicts(
    rows: Iterable[RecordedEvent],
    task: Task,
    document: Callable[[PayloadId], ImportedTask],
    meant: CategoryMeant,
) -> tuple[ImportConflict, ...]:
    """What is open between the person and the file of a task, which these rows of its stream make.
    `document`: what a payload of `TaskImported` says."""
    told: list[tuple[RecordedEvent, t.TaskImported]] = []
    held: dict[str, tuple[int, RecordedEvent, str]] = {}  # documents before it, the row, by whom
    for row in counted(rows):
        fact: Any = row.fact
        field = _field(fact)
        if isinstance(fact, t.TaskImported):
            told.append((row, fact))
        elif field and _is_nobodys(fact):
            held.pop(field, None)
        elif field:
            held[field] = len(told), row, fact.by
    found: list[ImportConflict] = []
    for field in COMPARED:
        known, spoken, by = held.get(field, (len(told), None, ""))
        if spoken is None or known == len(told) or task.is_deleted:
            continue
        newest, fact = told[-1]
        said = document(fact.document)
        base = document(told[known - 1][1].document) if known else ImportedTask(task.id, "")
        value = value_of(said, field, meant)
        is_news = value != value_of(base, field, meant)
        if value is not None and is_news and not _stands(task, field, value):
            source = fact.by.partition(":")[2]
            found.append(ImportConflict(field, source, newest.at, said, by, spoken.at))
    return tuple(found)


def said_since(held: dict[str, bool], row: RecordedEvent) -> dict[str, bool]:
    """The fields that somebody here spoke of, and whether a file spoke after that: only there a
    conflict can be open. `held`: the same before this row of the task. An empty field stands for
    any, once an undo took back what was said: what that was is not known here."""
    fact: Any = row.fact
    if isinstance(fact, t.DeedUndone):
        return {**held, "": True}
    if isinstance(fact, t.TaskImported):
        return dict.fromkeys(held, True)
    if not (field := _field(fact)):
        return held
    others = {one: is_said for one, is_said in held.items() if one != field}
    return others if _is_nobodys(fact) else {**others, field: False}


def _field(fact: Any) -> str:
    """The field that a fact sets or settles; empty: none of those compared."""
    return fact.field if isinstance(fact, t.DifferenceSettled) else _FIELD_OF.get(type(fact), "")


def counted(
    rows: Iterable[RecordedEvent], but: Iterable[AppendRef] = ()
) -> Sequence[RecordedEvent]:
    """The rows of a task's stream that count between it and its files: not those of a deed that was
    undone, nor of its undo, nor of the appends `but`."""
    every = [*rows]
    undone, undoing = undone_in(every, but)
    left_out = undone | undoing
    return [row for row in every if (row.replica, row.n) not in left_out] if left_out else every


def undone_in(
    rows: Sequence[RecordedEvent], but: Iterable[AppendRef] = ()
) -> tuple[set[AppendRef], set[AppendRef]]:
    """The appends that were undone, with those given, and the ones that undid them; an undo that
    was undone itself undid nothing."""
    undone = {*but}
    undoing: set[AppendRef] = set()
    for row in reversed(rows):
        fact: Any = row.fact
        if isinstance(fact, t.DeedUndone) and (row.replica, row.n) not in undone:
            undone.update((row.replica, n) for n in fact.appends)
            undoing.add((row.replica, row.n))
    return undone, undoing


def is_own(task: Task, field: str, base: ImportedTask, meant: CategoryMeant) -> bool:
    """Whether somebody here, no file, changed a field to what its file did not say before."""
    touch = task.touched.get(field)
    if touch is None or touch.by.startswith("import:"):
        return False
    value = value_of(base, field, meant)
    return not _stands(task, field, getattr(_FRESH, field) if value is None else value)


def is_put_back(rows: Sequence[RecordedEvent], field: str) -> bool:
    """Whether a field is a file's or nobody's: by the undo of an import, or because it came with a
    task that repeats another one."""
    if not any(isinstance(row.fact, t.DeedUndone) or _is_next(row.fact) for row in rows):
        return False
    last: Any = None
    for row in counted(rows):
        is_new = isinstance(row.fact, t.TaskCreated) and field in ("title", "category")
        if is_new or _FIELD_OF.get(type(row.fact)) == field:
            last = row.fact
    return last is None or _is_nobodys(last)


def _is_nobodys(fact: Any) -> bool:
    return fact.by.startswith("import:") or _is_next(fact)


def _is_next(fact: Any) -> bool:
    return getattr(fact, "is_next", False)


def may_differ(task: Task, document: ImportedTask, meant: CategoryMeant) -> bool:
    """Whether a task holds any field otherwise than a document has it; only its rows tell whether
    that is a difference."""
    values = ((field, value_of(document, field, meant)) for field in COMPARED)
    return any(value is not None and not _stands(task, field, value) for field, value in values)


def value_of(document: ImportedTask, field: str, meant: CategoryMeant) -> Any:
    """What a document says of a field, as a task holds it; None: nothing that can be taken."""
    match field:
        case "title":
            return squeeze(document.title)
        case "category":
            return meant(document.category)
        case "status":
            return document.status or "OPEN", squeeze(document.status_reason)
        case "description":
            return words(document.task_id, document.description)[0]
        case _:
            value = getattr(document, field)
            return value if value or IMPORTED[field].can_be_empty else None


def _stands(task: Task, field: str, value: Any) -> bool:
    """Whether a task holds a value; a status without a reason is held with any."""
    if field != "status":
        return bool(getattr(task, field) == value)
    status, reason = value
    return task.status == status and reason in ("", task.status_reason)

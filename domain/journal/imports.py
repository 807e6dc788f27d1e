"""What an import changes in a task: what *the file* changed since its last import (SPEC 1). And
what takes it back: the inverse edits, by the person; what was changed since stays.

The file's document of a task is compared with the one it had before, not with the task, so a
person's later edits survive; what both changed stays as the person has it, and is a conflict
(`domain.journal.import_conflicts`). A line that is gone changes nothing here.

`import_inverse` is of 0.1.0: it takes back fields, items and notes. What is undone today goes fact
by fact, as other deeds do (`domain.journal.undo`), and what it said to files is `unsaid`."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from domain.journal import edits
from domain.journal import task as t
from domain.journal.import_conflicts import (
    COMPARED,
    FACT_OF,
    IMPORTED,
    counted,
    is_own,
    is_put_back,
)
from domain.journal.imported import ImportedNote, ImportedTask
from domain.journal.task import PERSON, Task, TaskFact
from domain.log.keys import key
from domain.log.state import RecordedEvent
from domain.log.wire import Payload, PayloadId, words
from domain.text import fold, squeeze

SAYING = (t.TaskImported, t.DifferenceSettled, t.DeedUndone)
"""What counts between a task and its files, and changes nothing of the task."""


def unsaid(
    rows: Sequence[RecordedEvent], now: Task, replica: str, appends: Collection[int]
) -> list[t.DeedUndone]:
    """What makes that the appends of a replica's deed count no more between a task and its files.
    `now`: what the rows make."""
    undone = tuple(sorted({row.n for row in rows if row.replica == replica and row.n in appends}))
    left: dict[str, str] = {}
    for row in counted(rows, [(replica, n) for n in undone]):
        fact: Any = row.fact
        if isinstance(fact, t.TaskImported):
            source = fact.by.partition(":")[2]
            left.pop(source, None)
            left[source] = fact.document
    held = dict(now.imported)
    older = [*left][:-1]
    changed = [one for one in {**held, **left} if held.get(one) != left.get(one)]
    return [
        t.DeedUndone(PERSON, undone, one, left.get(one, ""), is_older=one in older)
        for one in changed
    ] or [t.DeedUndone(PERSON, undone)]


def is_unmade(rows: Sequence[RecordedEvent]) -> bool:
    """Whether what deleted a task last was the undo of the import that made it, or that brought it
    back: the same file brings it again."""
    undone = {(row.replica, row.n) for row in rows if isinstance(row.fact, t.DeedUndone)}
    ends = [row for row in rows if isinstance(row.fact, t.TaskDeleted | t.TaskRestored)]
    return any(
        isinstance(last.fact, t.TaskDeleted) and (last.replica, last.n) in undone
        for last in ends[-1:]
    )


def said_last(rows: Sequence[RecordedEvent]) -> PayloadId:
    """What a file said of a task last, whether it counts or not; empty: nothing."""
    facts = [row.fact for row in rows if isinstance(row.fact, t.TaskImported)]
    return facts[-1].document if facts else ""


def made_of(rows: Sequence[RecordedEvent]) -> PayloadId:
    """What a file said of a task with which it was made; empty: it was no file."""
    made = {(row.replica, row.n) for row in rows if isinstance(row.fact, t.TaskCreated)}
    return said_last([row for row in rows if (row.replica, row.n) in made])


def items_unmade(rows: Sequence[RecordedEvent]) -> set[str]:
    """The items that were put away when an import was taken back."""
    undone = {(row.replica, row.n) for row in rows if isinstance(row.fact, t.DeedUndone)}
    found: set[str] = set()
    for row in rows:
        fact: Any = row.fact
        if isinstance(fact, t.ItemArchived) and (row.replica, row.n) in undone:
            found.add(fact.item)
        elif isinstance(fact, t.ItemArchived | t.ItemRestored):
            found.discard(fact.item)
    return found


def import_inverse(before: Task, after: Task, now: Task) -> list[TaskFact]:
    """The facts that bring a task back to what it was before the import, if it was there; what was
    changed since stays."""
    if now.is_deleted:
        return []
    if not before.exists:
        return [t.TaskDeleted(PERSON)] if now.updated_at == after.updated_at else []
    facts: list[TaskFact] = []
    for field in COMPARED:
        was, made, held = (_held_field(one, field) for one in (before, after, now))
        if was != made and made == held:
            facts.append(FACT_OF[field](PERSON, *was))
    come = (one for one in after.labels if one not in before.labels)
    gone = (one for one in before.labels if one not in after.labels)
    facts += [t.LabelRemoved(PERSON, one) for one in come if one in now.labels]
    facts += [t.LabelAssigned(PERSON, one) for one in gone if one not in now.labels]
    for was, item in _changed(before, after, now, "items"):
        if was is None:
            facts.append(t.ItemArchived(PERSON, item.id))
        elif was.is_checked != item.is_checked:
            back = t.ItemChecked if was.is_checked else t.ItemUnchecked
            facts.append(back(PERSON, item.id))
    for was, note in _changed(before, after, now, "notes"):
        gone_again = t.NoteRemoved(PERSON, note.id)
        facts.append(t.NoteEdited(PERSON, note.id, was.words) if was else gone_again)
    return facts


def _held_field(task: Task, field: str) -> tuple[Any, ...]:
    held = getattr(task, field)
    return (held, task.status_reason) if field == "status" else (held,)


def _changed(before: Task, after: Task, now: Task, parts: str) -> Iterator[tuple[Any, Any]]:
    """The items or notes that an import changed and nobody since: as each was, if it was there,
    and as it is."""
    had, held = ({one.id: one for one in getattr(task, parts)} for task in (before, now))
    for one in getattr(after, parts):
        if had.get(one.id) != one and held.get(one.id) == one:
            yield had.get(one.id), one


# --------------------------------------------------------------------------- what an import changes


class ImportNames(NamedTuple):
    """How a file's names of categories and labels become ids; `meant` makes no category."""

    category: Callable[[str], str]
    label: Callable[[str], str]
    meant: Callable[[str], str]


def decide(  # noqa: PLR0913  what an import may be told of a task
    task: Task,
    before: ImportedTask | None,
    document: ImportedTask,
    names: ImportNames,
    by: str,
    *,
    is_three_way: bool = False,
    renames_items: bool = False,
    rows: Callable[[], Sequence[RecordedEvent]] = tuple,
) -> tuple[list[TaskFact], list[Payload]]:
    """Facts, without the closing `TaskImported`, and the payloads of long notes.

    Args:
        task: As it is now; it may not exist yet.
        before: What the same file said at its last import.
        document: What the file says now.
        names: Of categories and labels.
        is_three_way: What was changed here since stays as it is.
        renames_items: An item that the file calls otherwise than before gets its title.
        rows: Gives those of the task, where it matters whether an import was taken back.
    """
    facts: list[TaskFact] = []
    if not task.exists:
        category = names.category(document.category)
        facts.append(t.TaskCreated(by, document.title, category))
        task = Task(task.id, exists=True, title=document.title, category=category)
        before = ImportedTask(task.id, document.title, category=document.category)
    was = before or ImportedTask(task.id, "")
    payloads: list[Payload] = []
    for field in COMPARED:
        if _says(document, field) == _says(was, field):
            continue
        is_kept = is_three_way and is_own(task, field, was, names.meant)
        if not is_kept or is_put_back(rows(), field):
            taken, kept = take(task, field, document, names, by)
            facts += taken
            payloads += kept
    facts += _labels(task, was, document, names, by)
    facts += _items(task, was, document, rows, by, renames=renames_items)
    notes, kept = _notes(task, was, document, by, is_three_way=is_three_way)
    return facts + notes, [*payloads, *kept]


def gone_reason(source: str) -> str:
    """Why a task was rejected that its file has no more, as it stands in the task.

    >>> gone_reason("my  list.md")
    'no longer in my list.md'
    """
    return squeeze(f"no longer in {source}"[: edits.REASON_MAX])


def _says(document: ImportedTask, field: str) -> Any:
    said = getattr(document, field)
    return (said, document.status_reason) if field == "status" else said


def take(
    task: Task, field: str, now: ImportedTask, names: ImportNames, by: str
) -> tuple[list[TaskFact], Sequence[Payload]]:
    """Facts that make a field what a document says, and the payload of a long description."""
    match field:
        case "title":
            return edits.retitle(task, now.title, by), ()
        case "category":
            return edits.set_category(task, names.category(now.category), by), ()
        case "status":
            return edits.set_status(task, now.status or "OPEN", now.status_reason, by), ()
        case "description":
            said, kept = words(task.id, now.description)
            return edits.describe(task, said, by), kept
        case _:
            plain, value = IMPORTED[field], getattr(now, field)
            is_said = value or plain.can_be_empty
            return edits.set_field(task, plain, value, by) if is_said else [], ()


def _labels(
    task: Task, was: ImportedTask, now: ImportedTask, names: ImportNames, by: str
) -> list[TaskFact]:
    if now.labels == was.labels:
        return []
    added = [names.label(name) for name in now.labels if name not in was.labels]
    gone = [names.label(name) for name in was.labels if name not in now.labels]
    return [
        *(t.LabelAssigned(by, label) for label in added if label not in task.labels),
        *(t.LabelRemoved(by, label) for label in gone if label in task.labels),
    ]


def numbered(document: ImportedTask) -> dict[str, bool]:
    """Whether a file's document has each item checked, by item id, in the file's order. The id of
    a renamed item is no other one's, whatever that is called."""
    renamed = {item.id for item in document.items}
    counts = Counter[str]()
    found: dict[str, bool] = {}
    for item in document.items:
        folded, named = fold(item.title), item.id
        while not named or (named in renamed and not item.id):
            named = edits.item_id(document.task_id, folded, counts[folded])
            counts[folded] += 1
        found[named] = item.is_checked
    return found


def _items(
    task: Task,
    was: ImportedTask,
    now: ImportedTask,
    rows: Callable[[], Sequence[RecordedEvent]],
    by: str,
    *,
    renames: bool,
) -> list[TaskFact]:
    if not now.items:
        return []
    before, present = numbered(was), numbered(now)
    titles = dict(zip(before, (item.title for item in was.items), strict=True))
    known = {item.id: item for item in task.items}
    unmade = items_unmade(rows()) if any(item.is_archived for item in task.items) else ()
    facts, home = edits.checklist_for(task, now.checklist, by)
    added: list[TaskFact] = []
    changed: list[TaskFact] = []
    for item, (item_id, is_checked) in zip(now.items, present.items(), strict=True):
        if item_id not in known:
            title = edits.titled(item.title, edits.ITEM_TITLE_MAX)
            added.append(t.ItemAdded(by, home, item_id, title, is_checked))
            continue
        there, is_told = known[item_id], before.get(item_id) != is_checked
        changed += edits.edit_item(
            task,
            there,
            title=item.title if renames and titles.get(item_id) == there.title else "",
            is_checked=is_checked if is_told else None,
            is_archived=False if is_told and item_id in unmade else None,
            by=by,
        )
    return [*(facts if added else []), *added, *changed]


def _notes(
    task: Task, was: ImportedTask, now: ImportedTask, by: str, *, is_three_way: bool
) -> tuple[list[TaskFact], list[Payload]]:
    if now.notes == was.notes:
        return [], []
    before = _noted(was)
    known = {note.id for note in task.notes}
    edited = _edited(task, before, _noted(now)) if is_three_way else {}
    facts: list[TaskFact] = []
    payloads: list[Payload] = []
    for note_id, note in _noted(now).items():
        said, kept = words(task.id, note.text)
        if note_id in before and before[note_id].text == note.text:
            continue
        if note_id in known or note_id in edited:
            facts.append(t.NoteEdited(by, edited.get(note_id, note_id), said))
        else:
            facts.append(t.NoteAdded(by, note_id, "note", said, note.at))
        payloads += kept
    return facts, payloads


def _edited(
    task: Task, before: dict[str, ImportedNote], now: dict[str, ImportedNote]
) -> dict[str, str]:
    """The note that a new one of the file is an edit of: the only one that left it and resembles
    it, if nobody here edited it since."""
    gone = [note for note_id, note in before.items() if note_id not in now]
    new = {note_id: note.text for note_id, note in now.items() if note_id not in before}
    found: dict[str, str] = {}
    for note_id, text in new.items():
        like = [one for one in gone if _is_like(one.text, text)]
        rivals = [other for other in new.values() if like and _is_like(like[0].text, other)]
        if len(like) == len(rivals) == 1:
            stands = words(task.id, like[0].text)[0]
            held = [note.id for note in task.notes if note.words == stands]
            found |= {note_id: held[0]} if held else {}
    return found


def _is_like(one: str, other: str) -> bool:
    """Whether two texts share half of their words or more."""
    mine, theirs = set(fold(one).split()), set(fold(other).split())
    return len(mine & theirs) * 2 >= len(mine | theirs)


def _noted(document: ImportedTask) -> dict[str, ImportedNote]:
    counts = Counter[str]()
    found: dict[str, ImportedNote] = {}
    for note in document.notes:
        name = note.key or fold(note.text)
        found[key("note", document.task_id, name, str(counts[name]))] = note
        counts[name] += 1
    return found

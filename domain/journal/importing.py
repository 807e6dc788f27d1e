"""What an import changes in a task: what *the file* changed since its last import (SPEC 1).

The file's document of a task is compared with the one it had before, not with the task, so a
person's later edits survive; what both changed stays as the person has it, and is a difference
(`domain.journal.differences`). A line that is gone changes nothing here.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from domain.journal import edits
from domain.journal import task as t
from domain.journal.differences import COMPARED, IMPORTED, is_own, is_put_back
from domain.journal.imported import ImportedNote, ImportedTask
from domain.journal.task import Task, TaskFact
from domain.journal.undoing import items_unmade
from domain.keys import key
from domain.text import fold, squeeze
from domain.wire import Payload, words
from domain.world import Recorded


class Names(NamedTuple):
    """How a file's names of categories and labels become ids; `meant` makes no category."""

    category: Callable[[str], str]
    label: Callable[[str], str]
    meant: Callable[[str], str]


def decide(  # noqa: PLR0913  what an import may be told of a task
    task: Task,
    before: ImportedTask | None,
    document: ImportedTask,
    names: Names,
    by: str,
    *,
    is_three_way: bool = False,
    renames_items: bool = False,
    rows: Callable[[], Sequence[Recorded]] = tuple,
) -> tuple[list[TaskFact], list[Payload]]:
    """Facts, without the closing `TaskImported`, and the payloads of long notes.

    Args:
        task: As it is now; it may not exist yet.
        before: What the same file said at its last import, or None.
        document: What the file says now.
        names: Of categories and labels.
        by: Who did it.
        is_three_way: What was changed here since stays as it is.
        renames_items: An item that the file calls otherwise than before gets its title.
        rows: Gives those of the task, where it matters whether an import was taken back.
    """
    if not task.exists:
        created = [t.TaskCreated(by, document.title, names.category(document.category))]
        task = Task(task.id, exists=True, title=document.title, category=created[0].category)
        before = ImportedTask(task.id, document.title, category=document.category)
        facts: list[TaskFact] = [*created]
    else:
        facts = []
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
    task: Task, field: str, now: ImportedTask, names: Names, by: str
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
    task: Task, was: ImportedTask, now: ImportedTask, names: Names, by: str
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
    counts: dict[str, int] = {}
    found: dict[str, bool] = {}
    for item in document.items:
        folded, named = fold(item.title), item.id
        while not named or (named in renamed and not item.id):
            nth = counts.get(folded, 0)
            counts[folded] = nth + 1
            named = edits.item_id(document.task_id, folded, nth)
        found[named] = item.is_checked
    return found


def _items(
    task: Task,
    was: ImportedTask,
    now: ImportedTask,
    rows: Callable[[], Sequence[Recorded]],
    by: str,
    *,
    renames: bool,
) -> list[TaskFact]:
    if not now.items:
        return []
    before, present = numbered(was), numbered(now)
    titles = dict(zip(before, (item.title for item in was.items), strict=True))
    known = {item.id: item for item in task.items}
    is_away = any(item.is_archived for item in task.items)
    unmade = items_unmade(rows()) if is_away else ()
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


def _note_id(task: str, note: ImportedNote, nth: int) -> str:
    return key("note", task, note.key or fold(note.text), str(nth))


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
    counts: dict[str, int] = {}
    found: dict[str, ImportedNote] = {}
    for note in document.notes:
        name = note.key or fold(note.text)
        nth = counts.get(name, 0)
        counts[name] = nth + 1
        found[_note_id(document.task_id, note, nth)] = note
    return found

"""What takes an import back: the inverse edits, by the person. What was changed since stays.

`inverse` is of 0.1.0: it takes back fields, items and notes. What is undone today goes fact by
fact, as other deeds do (`taking_back`), and what it said to files is `unsaid`.
"""

from collections.abc import Collection, Sequence
from typing import Any

from domain.journal import task as t
from domain.journal.differences import COMPARED, IMPORTED, counted
from domain.journal.task import PERSON, Item, Note, Task, TaskFact
from domain.wire import PayloadId
from domain.world import Recorded

SAYING = (t.TaskImported, t.DifferenceSettled, t.DeedUndone)
"""What counts between a task and its files, and changes nothing of the task."""


def unsaid(
    rows: Sequence[Recorded], now: Task, replica: str, appends: Collection[int]
) -> list[t.DeedUndone]:
    """What makes that the appends of a deed count no more between a task and its files.

    Args:
        rows: Of the task's stream, in order.
        now: What they make.
        replica: Whose appends these are.
        appends: The deed.
    """
    own = {row.n for row in rows if row.replica == replica and row.n in appends}
    undone = tuple(sorted(own))
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


def is_unmade(rows: Sequence[Recorded]) -> bool:
    """Whether what deleted a task last was the undo of the import that made it, or that brought it
    back: the same file brings it again."""
    undone = {(row.replica, row.n) for row in rows if isinstance(row.fact, t.DeedUndone)}
    ends = [row for row in rows if isinstance(row.fact, t.TaskDeleted | t.TaskRestored)]
    return any(
        isinstance(last.fact, t.TaskDeleted) and (last.replica, last.n) in undone
        for last in ends[-1:]
    )


def said_last(rows: Sequence[Recorded]) -> PayloadId:
    """What a file said of a task last, whether it counts or not; empty: nothing."""
    facts = [row.fact for row in rows if isinstance(row.fact, t.TaskImported)]
    return facts[-1].document if facts else ""


def items_unmade(rows: Sequence[Recorded]) -> set[str]:
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


def inverse(before: Task, after: Task, now: Task) -> tuple[list[TaskFact], bool]:
    """The facts that bring a task back, and whether something was changed since and stays.

    Args:
        before: The task before the import; it may not exist.
        after: Right after it.
        now: As it is.
    """
    if now.is_deleted:
        return [], False
    if not before.exists:
        is_same = now.updated_at == after.updated_at
        return ([t.TaskDeleted(PERSON)], False) if is_same else ([], True)
    facts: list[TaskFact] = []
    is_stale = False
    for field in COMPARED:
        was, made, held = (_held(one, field) for one in (before, after, now))
        if was != made and made == held:
            facts.append(_back(before, field))
        is_stale |= made not in (was, held)
    facts += [
        t.LabelRemoved(PERSON, one)
        for one in after.labels
        if one not in before.labels and one in now.labels
    ]
    facts += [
        t.LabelAssigned(PERSON, one)
        for one in before.labels
        if one not in after.labels and one not in now.labels
    ]
    facts += _items(before, after, now)
    return facts + _notes(before, after, now), is_stale


def _held(task: Task, field: str) -> object:
    held: object = getattr(task, field)
    return (held, task.status_reason) if field == "status" else held


def _back(before: Task, field: str) -> TaskFact:
    match field:
        case "title":
            return t.TaskRetitled(PERSON, before.title)
        case "category":
            return t.CategorySet(PERSON, before.category)
        case "status":
            return t.StatusSet(PERSON, before.status, before.status_reason)
        case "description":
            return t.TaskDescribed(PERSON, before.description)
        case _:
            fact: TaskFact = IMPORTED[field].fact(PERSON, getattr(before, field))
            return fact


def _items(before: Task, after: Task, now: Task) -> list[TaskFact]:
    had: dict[str, Item] = {item.id: item for item in before.items}
    held: dict[str, Item] = {item.id: item for item in now.items}
    facts: list[TaskFact] = []
    for item in after.items:
        was = had.get(item.id)
        if was == item or held.get(item.id) != item:
            continue
        if was is None:
            facts.append(t.ItemArchived(PERSON, item.id))
        elif was.is_checked != item.is_checked:
            back = t.ItemChecked if was.is_checked else t.ItemUnchecked
            facts.append(back(PERSON, item.id))
    return facts


def _notes(before: Task, after: Task, now: Task) -> list[TaskFact]:
    had: dict[str, Note] = {note.id: note for note in before.notes}
    held: dict[str, Note] = {note.id: note for note in now.notes}
    facts: list[TaskFact] = []
    for note in after.notes:
        was = had.get(note.id)
        if was == note or held.get(note.id) != note:
            continue
        facts.append(
            t.NoteRemoved(PERSON, note.id)
            if was is None
            else t.NoteEdited(PERSON, note.id, was.words)
        )
    return facts

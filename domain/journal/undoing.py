"""What takes an import back: the inverse edits, by the person. What was changed since stays."""

from domain.journal import task as t
from domain.journal.differences import COMPARED, IMPORTED
from domain.journal.task import PERSON, Item, Note, Task, TaskFact


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
            continue
        if was.title != item.title and item.by.startswith("import:"):
            facts.append(t.ItemRetitled(PERSON, item.id, was.title))
        if was.is_checked != item.is_checked:
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

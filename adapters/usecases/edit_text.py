"""One task as a text that its person edits: our Markdown (ADR 53), and what they changed in it is
written by the deeds that there are. What the text does not say, links for example, stays."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.importers import markdown, writing
from adapters.importers.alignment import is_similar
from adapters.usecases import tasks
from adapters.usecases.resolve import nth_key
from adapters.usecases.task_lists import task_and_document
from domain.errors import Refused, invalid
from domain.journal.edits import NEEDS_REASON
from domain.journal.imported import ImportedItem, ImportedTask
from domain.journal.task import FIELDS, Task
from domain.text import fold, tokens

if TYPE_CHECKING:
    from adapters.usecases.tasks import UseCaseResult
    from adapters.wiring import Home

FIRST = (
    f"{writing.FIRST}: the heading is the category; below the title, indented by two: "
    "because: WHY, > description, notes, items -->"
)
SOURCE = "the editor"
NO_REASON = tuple(f"marked {mark} in {SOURCE}" for mark in ("[>]", "status:"))
Step = Callable[[str], "UseCaseResult"]  # does a part of the deed, under a key


class TaskText(NamedTuple):
    """A task as it was when its text was made."""

    task: Task
    document: ImportedTask
    text: str


def text_of(home: "Home", task_id: str) -> TaskText:
    task, document = task_and_document(home, task_id)
    return TaskText(task, document, writing.markdown([document]).replace(writing.HEADER, FIRST, 1))


def edit_as_text(
    home: "Home", before: TaskText, text: str, key: str = "", *, is_last: bool = False
) -> "UseCaseResult":
    """Write what is another in an edited text, as one deed; `is_last` as of `tasks.edit_task`.
    Raises Refused, code ``unreadable_file``: the text is not that of one task; ``stale``: the task
    was changed since its text was made."""
    was, now = _read(before.text), _read(text)
    if text_of(home, before.task.id).document != before.document:
        because = "the task was changed while you edited it"
        raise Refused("stale", because=because, instead="edit it once more")
    done = tasks.UseCaseResult((), has_changed=False, is_repeated=False)
    with tasks.dispatch_after_commit(home):
        for nth, step in enumerate(_steps(home, before.task, was, now, is_last=is_last), start=1):
            under = key or done.name
            made = step(nth_key(under, nth) if nth > 1 else under)
            done = done.then(made)._replace(ids=done.ids or made.ids)
    return done


def _read(text: str) -> ImportedTask:
    """The one task of a text. Raises Refused: it is none, or some of it would be lost."""
    lines = (text if text.startswith(writing.FIRST) else f"{FIRST}\n{text}").split("\n")
    found = markdown.read("\n".join(lines).encode(), source=SOURCE)
    problems = {one.line: one.reason.partition("; ")[0] for one in found.unreadable}
    problems |= {one.line: one.reason for one in found.remarks}
    for nth, line in enumerate(lines[1:], start=1):
        is_heading = line.startswith("#") and nth < min(found.lines, default=nth + 1)
        if line.strip() and not (line[0].isspace() or is_heading or nth in found.lines):
            problems.setdefault(nth + 1, "it belongs to no task; indent it by two blanks")
    if problems:
        nth, reason = min(problems.items())
        raise _unreadable(f"line {nth} of the text: {reason}")
    if len(found.tasks) != 1:
        raise _unreadable(f"the text has {len(found.tasks)} tasks, and should have one")
    return found.tasks[0]


def _unreadable(because: str) -> Refused:
    return Refused("unreadable_file", because=because, instead="edit it once more")


def _steps(
    home: "Home", task: Task, was: ImportedTask, now: ImportedTask, *, is_last: bool
) -> Iterator[Step]:
    """What is to be done, what may be refused first."""
    fields = _fields(was, now)
    said = now.description if now.description != was.description else None
    if fields or said is not None:

        def edit(key: str) -> "UseCaseResult":
            return tasks.edit_task(home, task.id, fields, key, description=said, is_last=is_last)

        yield edit
    before, after = ({fold(name): name for name in one.labels} for one in (was, now))
    if new := [name for folded, name in after.items() if folded not in before]:
        yield partial(tasks.assign_labels, home, task.id, new)
    if gone := [name for folded, name in before.items() if folded not in after]:
        yield partial(tasks.remove_labels, home, task.id, gone)
    yield from _items(home, task, was.items, now.items)
    old, texts = ([note.text for note in one.notes] for one in (was, now))
    for place, at, text in _changes(old, texts):
        if at is None:
            yield partial(tasks.add_note, home, task.id, text)
        elif place is None:
            yield partial(tasks.remove_note, home, task.id, task.notes[at].id)
        elif text != old[at]:
            yield partial(tasks.edit_note, home, task.id, task.notes[at].id, text)


def _fields(was: ImportedTask, now: ImportedTask) -> dict[str, Any]:
    """The fields that the text says otherwise, as `EditTask` takes them."""
    fields: dict[str, Any] = {} if now.title == was.title else {"title": now.title}
    if now.category and fold(now.category) != fold(was.category):
        fields["category"] = now.category
    said = now.status, "" if now.status_reason in NO_REASON else now.status_reason
    if said != (was.status, was.status_reason):
        status, reason = said[0] or "OPEN", said[1]
        if status not in NEEDS_REASON and reason == was.status_reason:
            reason = ""  # that of the status before, left where it stood
        elif status in NEEDS_REASON and not reason:
            raise invalid(f"{status} needs a reason", "write `because: WHY` below the title")
        fields |= {"status": status, "reason": reason}
    default = Task("")
    for one in FIELDS:
        if one.is_imported and getattr(now, one.name) != getattr(was, one.name):
            fields[one.name] = getattr(now, one.name) or getattr(default, one.name)
    return fields


def _items(
    home: "Home", task: Task, was: Sequence[ImportedItem], now: Sequence[ImportedItem]
) -> Iterator[Step]:
    """What becomes of the checklist; an item that the text has no more is put away."""
    ids = [one.id for one in task.items if not one.is_archived]
    new: list[ImportedItem] = []
    for place, at, title in _changes([one.title for one in was], [one.title for one in now]):
        if at is None:
            new += [now[place]] if place is not None else []
            continue
        fields: dict[str, Any] = {}
        if place is None:
            fields["is_archived"] = True
        else:
            fields |= {"title": title} if title != was[at].title else {}
            is_checked = now[place].is_checked
            fields |= {"is_checked": is_checked} if is_checked != was[at].is_checked else {}
        if fields:
            yield partial(tasks.edit_item, home, task.id, ids[at], fields)
    made: list[str] = []

    def add(key: str) -> "UseCaseResult":
        done = tasks.add_items(home, task.id, [one.title for one in new], key)
        made.extend(done.ids)
        return done._replace(ids=())  # those of tasks are told

    if new:
        yield add  # what comes next is asked for once it is done
    for item, one in zip(made, new, strict=True):
        if one.is_checked:
            yield partial(tasks.edit_item, home, task.id, item, {"is_checked": True})


def _changes(
    was: Sequence[str], now: Sequence[str]
) -> Iterator[tuple[int | None, int | None, str]]:
    """Each text with its place now and before, None where it has none. Equal ones are the same;
    then those in the same places, where all others are; else those that are much alike.

    >>> list(_changes(["Sand", "Oil"], ["Wash", "Sand it", "Oil"]))
    [(0, None, 'Wash'), (1, 0, 'Sand it'), (2, 1, 'Oil')]
    """
    found: list[int | None] = []
    for text in now:
        same = (at for at, one in enumerate(was) if one == text and at not in found)
        found.append(next(same, None))
    gone = [at for at in range(len(was)) if at not in found]
    new = [place for place, at in enumerate(found) if at is None]
    for place in new:
        alike = (at for at in gone if at not in found and _is_alike(was[at], now[place]))
        found[place] = place if new == gone else next(alike, None)
    yield from ((place, at, now[place]) for place, at in enumerate(found))
    yield from ((None, at, was[at]) for at in gone if at not in found)


def _is_alike(one: str, other: str) -> bool:
    mine, theirs = set(tokens(one)), set(tokens(other))
    return is_similar(one, other) or 2 * len(mine & theirs) >= min(len(mine), len(theirs)) > 0

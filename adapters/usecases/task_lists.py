"""Which tasks a list shows, and in which order: what is urgent first, or by one field.

The list can be had as a Markdown file, too."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.documents.tasks import catalog_of, categories_named, label_named
from adapters.home.files import check_no_database, make_file, replace_file
from adapters.usecases.inputs import day, status_named
from adapters.usecases.resolve import Titles, is_fuzzy_match
from domain.errors import Refused, invalid
from domain.journal.catalog import CATALOG
from domain.journal.document import category_name, label_name
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.task import TASK, Task
from domain.log.state import MAIN
from domain.text import fold
from projections.tasks import MARKS, VIEW, TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.journal.catalog import Catalog
    from domain.log.state import LogState

ORDERS = ("urgency", "due", "priority", "age", "newest", "title")
_NEVER = "9999"  # behind every date


class TaskFilter(NamedTuple):
    """What a listed task must be: all of it. Empty: whatever it is."""

    statuses: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    text: str = ""
    is_overdue: bool = False
    is_today: bool = False  # or overdue, where both are wanted
    not_labels: frozenset[str] = frozenset()
    due_before: str = ""  # that day is not among them
    due_after: str = ""
    is_blocked: bool | None = None  # by an open task
    is_waiting: bool | None = None  # until a day to come
    is_running: bool = False  # its timer
    is_back: bool = False  # or on hold until a day that has come, where due ones are wanted


def fits_filter(
    one: TaskDocument, wanted: TaskFilter, today: str, blocked: Collection[str] = ()
) -> bool:
    """Whether a task is one of those that are wanted on a day; `blocked` are those that are."""
    due, labels = one.task.due, set(one.labels)
    is_due = (wanted.is_overdue and "" < due < today) or (wanted.is_today and due == today)
    is_due = is_due or (wanted.is_back and is_back(one.status, one.task.wait_until, today))
    return (
        (not wanted.statuses or one.status in wanted.statuses)
        and (not wanted.categories or one.category in wanted.categories)
        and wanted.labels <= labels
        and not wanted.not_labels & labels
        and (is_due or not (wanted.is_overdue or wanted.is_today))
        and (not wanted.due_before or "" < due < wanted.due_before)
        and (not wanted.due_after or due > wanted.due_after)
        and wanted.is_blocked in (None, one.id in blocked)
        and wanted.is_waiting in (None, one.is_open and one.task.wait_until > today)
        and (one.task.running or not wanted.is_running)
        and (not wanted.text.strip() or is_fuzzy_match(wanted.text, Titles(one.id, (one.title,))))
    )


def filter_of(  # noqa: PLR0913  one for each option
    home: "Home",
    *,
    statuses: Sequence[str] = (),
    category: str = "",
    labels: Sequence[str] = (),
    not_labels: Sequence[str] = (),
    due_before: str = "",
    due_after: str = "",
    blocks: str | None = None,
    is_waiting: bool = False,
    **given: Any,
) -> TaskFilter:
    """What a person says of the tasks that are wanted. `blocks`: ``blocked`` or ``ready``;
    `given`: other fields of a `TaskFilter`. Raises Refused: there is no such thing."""
    catalog = catalog_of(home)
    return TaskFilter(
        frozenset(status_named(status) for status in statuses),
        categories_named(catalog, category),
        frozenset(label_named(catalog, label).id for label in labels),
        not_labels=frozenset(label_named(catalog, label).id for label in not_labels),
        due_before=day(due_before, home) if due_before else "",
        due_after=day(due_after, home) if due_after else "",
        is_blocked=blocks == "blocked" if blocks else None,
        is_waiting=is_waiting or None,
        **given,
    )


def due_now(home: "Home", category: str = "") -> TaskFilter:
    """What is due today, or was before, or was on hold until now."""
    categories = categories_named(catalog_of(home), category)
    return TaskFilter(categories=categories, is_overdue=True, is_today=True, is_back=True)


class ListedTasks(NamedTuple):
    """The tasks that are shown, those that were looked at for it, and how many are wanted, which is
    counted when it is asked for."""

    shown: Sequence[TaskDocument]
    found: Sequence[TaskDocument]
    total: Callable[[], int]


def tasks_listed(
    home: "Home",
    wanted: TaskFilter,
    scope: str = "",
    order: str = "",
    limit: int | None = None,
    *,
    is_shown: bool = False,
) -> ListedTasks:
    """The tasks of a scope (see `MARKS`; empty: those that are kept, or where it fits the open
    ones) that are wanted. `is_shown`: to somebody who looks for what to do."""
    today = day("today", home)
    is_due = wanted.is_overdue or wanted.is_today
    is_open = (is_shown or wanted.is_blocked is not None) and not wanted.statuses
    if not scope and (is_due or wanted.is_waiting or is_open):
        scope = "open"
        wanted = wanted._replace(is_waiting=bool(wanted.is_waiting))
    order = order or ("urgency" if is_shown else "")
    marks = MARKS[scope or "kept"]
    # only the documents tell which are wanted, and which come first
    is_narrowed = order or wanted != TaskFilter()
    if is_due and scope == "open":
        every = home.views.due(VIEW, today)
    else:
        every = home.views.marked(VIEW, marks, limit=-1 if is_narrowed else limit or -1)
    blocked = blocked_ids(home) if wanted.is_blocked is not None else ()
    found = [one for one in every if fits_filter(one, wanted, today, blocked)]
    shown = (ordered(found, order, today) if order else found)[:limit]

    def total() -> int:
        return len(found) if is_narrowed else sum(home.views.count(VIEW, one) for one in marks)

    return ListedTasks(shown, found, total)


def is_back(status: str, wait_until: str | None, today: str) -> bool:
    """Whether a task is on hold until a day, and that has come: no clock changes its status."""
    return status == "ON HOLD" and "" < (wait_until or "") <= today


def blocked_ids(home: "Home") -> set[str]:
    every = home.views.marked(VIEW, MARKS["open"])
    return {link.target for one in every for link in one.task.links if link.relation == "blocks"}


def ordered(tasks: Sequence[TaskDocument], order: str, today: str) -> list[TaskDocument]:
    """Tasks in one of `ORDERS`; what is alike in it stays as it came in.

    By urgency: what is overdue, then what is due, each by its date, then by priority and age."""

    def key(one: TaskDocument) -> Any:
        task, due = one.task, one.task.due or _NEVER
        return {
            "urgency": (not (one.is_open and due < today), due, task.priority),
            "due": due,
            "priority": task.priority,
            "age": task.created_at,
            "newest": task.created_at,
            "title": fold(task.title),
        }[order]

    found = sorted(tasks, key=key)
    return found[::-1] if order == "newest" else found


# ------------------------------------------------------------------------------------------- export
# Tasks as a Markdown file that imports to the same state (ADR 53).


class ExportedText(NamedTuple):
    """The file as a text, and how many tasks stand in it."""

    text: str
    tasks: int


def export_text(
    home: "Home", scope: str, wanted: TaskFilter, form: str = "markdown"
) -> ExportedText:
    """The tasks of a scope (see `MARKS`) that are wanted, in the order they came in; `form`:
    ``markdown``, or ``tasks``, records a line each."""
    from adapters.importers.task_records import written
    from adapters.importers.writing import markdown

    catalog = catalog_of(home)
    found = [
        one.id for one in home.views.marked(VIEW, MARKS[scope]) if fits_filter(one, wanted, "")
    ]
    with home.services.journal.reading() as world:
        tasks = [world.load(TASK, one) for one in found]
        documents = [document_of(one, world, catalog) for one in tasks]
        tail = home.services.journal.tail()
    links = [(one.id, link.relation, link.target) for one in tasks for link in one.links]
    if form == "tasks":
        return ExportedText(written(documents, links, f"{tail.replica}:{tail.n}"), len(tasks))
    return ExportedText(markdown(documents, links), len(tasks))


def task_and_document(home: "Home", task_id: str) -> tuple[Task, ImportedTask]:
    """A task as it is now, and as a file says it."""
    with home.services.journal.reading() as world:
        task = world.load(TASK, task_id)
        return task, document_of(task, world, world.load(CATALOG, MAIN))


def document_of(task: "Task", world: "LogState", catalog: "Catalog") -> ImportedTask:
    """A task as a file says it, what is so by default left out."""
    items: Sequence[ImportedItem] = [
        ImportedItem(item.title, item.is_checked) for item in task.items if not item.is_archived
    ]
    return ImportedTask(
        task.id,
        task.title,
        category=category_name(catalog, task.category),
        status="" if task.status == "OPEN" else task.status,
        status_reason=task.status_reason,
        priority="" if task.priority == "P2" else task.priority,
        estimate=task.estimate,
        due=task.due,
        labels=tuple(label_name(catalog, label) for label in task.labels),
        description=world.text(task.description),
        items=tuple(items),
        notes=tuple(ImportedNote(world.text(note.words)) for note in task.notes),
        repeat=task.repeat,
        wait_until=task.wait_until,
    )


def save_text(file: Path, text: str, *, is_replacing: bool) -> None:
    """Write a file whole or not at all; one that is there only if it shall be replaced, and where a
    link leads never. Raises Refused: it is there, is a link, or cannot be written."""
    if file.is_symlink():
        raise invalid(f"{file} is a link, and no link is followed", f"name {file.resolve()} itself")
    target = file.resolve()
    check_no_database(target)
    if target.exists() and not target.is_file():
        raise invalid(f"{file} is no file", "name another one")
    try:
        if is_replacing:
            replace_file(target, text)
        elif not make_file(target, text):
            raise invalid(f"{file} is there already", "name another one, or say --replace")
    except OSError as error:
        because = f"{file} cannot be written: {error.strerror}"
        raise Refused("read_only", because=because, instead="name another file") from None

"""The JSON documents about tasks, the catalog and imports, as SPEC 10 fixes them."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from adapters.documents.import_conflicts import ConflictDetails, conflicts_of
from adapters.documents.replica_conflicts import replica_conflicts_of
from adapters.wiring import Home
from domain.journal.catalog import (
    CATALOG,
    Catalog,
    Category,
    Label,
    find_category,
    find_label,
    unknown_category,
    unknown_label,
    with_inbox,
)
from domain.journal.document import TaskDetails, TaskLine, category_name, task_document, task_line
from domain.journal.imported import Unreadable
from domain.journal.links import LINKS, Links
from domain.journal.task import TASK, Task
from domain.log.state import MAIN, LogState
from domain.log.wire import Words
from domain.text import fold
from projections import agents, tasks
from projections.tasks import TaskDocument


class UnreadableLine(Struct, frozen=True):
    """A line of a file and what is the matter with it; a line 0 stands for the whole file."""

    line: int
    reason: str


class GoneItemDetails(Struct, frozen=True):
    """A checklist item that is not in the file any more; it is left alone here."""

    task_id: str
    id: str
    title: str


class RetitledTask(Struct, frozen=True):
    """A task that the file has under another title or heading now, by which it was found again."""

    task_id: str
    was: str
    title: str


class BoxCount(Struct, frozen=True):
    """How many boxes with marks of their own were read as open, and how many are no tasks."""

    read_as_open: int
    left_out: int


class ImportedFile(Struct, frozen=True):
    """What an import did with one file. `gone` are the ids of tasks that are not in it any more;
    `remarks` are lines that were read as open; `keys_replaced` counts by a variable's name,
    and as ``secret`` what `policy.scrub_entry` left out."""

    file: str
    format: str
    created: int
    changed: int
    unchanged: int
    gone: list[str]
    unreadable: list[UnreadableLine]
    gone_items: list[GoneItemDetails]
    remarks: list[UnreadableLine]
    boxes: BoxCount
    keys_replaced: dict[str, int]
    conflicts: int = 0  # open ones: fields that both the file and the person changed
    retitled: tuple[RetitledTask, ...] = ()  # found again under another title or heading
    gone_settled: list[str] = []  # of the tasks that are gone, what was rejected or deleted now
    named: list[UnreadableLine] = []  # keys that have no place here, each once
    agents: int = 0  # how many of the new tasks were given one
    told: list[UnreadableLine] = []  # what nobody can tell, and how it was taken
    deleted_here: list[str] = []  # ids of tasks that are deleted here and open in the file
    erased_here: list[str] = []  # ids of tasks that were erased here and are in the file
    done_here: list[str] = []  # that are done here and open in the file
    added_here: list[str] = []  # open tasks that are in no file
    gone_held: list[str] = []  # that are gone, and were not closed: too many to do that unasked
    restored: list[str] = []  # that came back
    moved_from: str = ""  # the path that the file had before


class ImportDetails(Struct, frozen=True):
    """What `import` prints; `events` counts the rows that it wrote."""

    files: list[ImportedFile]
    events: int


class CorrectionDetails(Struct, frozen=True):
    """What somebody wrote, and what it should have been."""

    before: str
    after: str
    at: str


class CategoryDetails(Struct, frozen=True):
    """A category. `tasks` counts those that are not deleted, the newest correction is the first."""

    id: str
    name: str
    language: str | None
    tasks: int
    corrections: list[CorrectionDetails]


class LabelDetails(Struct, frozen=True):
    """A label: the names of the categories that it may be used in, none: in all; `tasks` counts
    those that carry it."""

    id: str
    name: str
    categories: list[str]
    tasks: int


class TaskPage(Struct, frozen=True):
    """All about one task: what `task show` prints, for people and as a document."""

    task: Task
    links: Links
    catalog: Catalog
    agent_id: str
    texts: dict[str, str]  # long texts by the id of their payload
    titles: dict[str, str]  # of the linked tasks, by id
    conflicts: tuple[ConflictDetails, ...] = ()  # open ones between its file and the person

    def text(self, words: Words) -> str:
        """A text, wherever it is kept."""
        return self.texts[words.payload] if words.payload else words.text

    def document(self) -> TaskDetails:
        """The document of `task show`."""
        return task_document(self.task, self.links, self.catalog, self.agent_id, self.text)


class FoundLine(TaskLine, frozen=True):
    """A task that `search` found: `where` the words stand (``title``, ``description``, ``item``,
    ``note``, ``report``, ``observation`` or ``chat``), and the `text` there."""

    where: str
    text: str


class SummaryLine(Struct, frozen=True):
    """Of an ISO week (`name` is ``2027-W05``) how many tasks were open at its end, or are now, how
    many were made in it, and how many done; of a category the same of all these weeks."""

    name: str
    open: int
    created: int
    done: int


class TaskSummary(Struct, frozen=True):
    """What `summary` prints: the oldest week first, categories by name."""

    weeks: list[SummaryLine]
    categories: list[SummaryLine]


class GoneItem(Struct, frozen=True):
    """A checklist item that an import made and its file has no more."""

    task: str
    item: str
    title: str


class ImportReport(Struct):
    """What an import did with one file; `gone` are ids of tasks, `events` counts rows."""

    file: str
    format: str = ""
    created: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: tuple[str, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    events: int = 0
    failure: str = ""  # the file could not be read at all, and why
    left_out: tuple[str, ...] = ()  # what is no task by its nature, counted
    gone_items: tuple[GoneItem, ...] = ()
    remarks: tuple[Unreadable, ...] = ()  # boxes that were read as open
    boxes_as_open: int = 0
    boxes_left_out: int = 0
    keys_replaced: Mapping[str, int] = MappingProxyType({})  # how often, by what was replaced
    conflicts: tuple[ConflictDetails, ...] = ()  # open ones of its tasks
    settled: int = 0  # of those, what was settled by `--prefer`
    retitled: tuple[RetitledTask, ...] = ()
    gone_settled: tuple[str, ...] = ()  # of those gone before, what was rejected or deleted
    named: tuple[Unreadable, ...] = ()  # keys that have no place here, each once
    new: tuple[str, ...] = ()  # ids of the tasks that were created
    agents: int = 0  # how many of them were given one
    told: tuple[Unreadable, ...] = ()  # what nobody can tell, and how it was taken
    deleted_here: tuple[str, ...] = ()  # open in the file
    erased_here: tuple[str, ...] = ()  # in the file
    done_here: tuple[str, ...] = ()  # the same, and could be written back
    added_here: tuple[str, ...] = ()  # open tasks that are in no file
    gone_held: tuple[str, ...] = ()  # gone, and not closed: too many to do that unasked
    restored: tuple[str, ...] = ()  # tasks that came back
    moved_from: str = ""  # the path that the file had before

    def document(self) -> ImportedFile:
        """One of the `files` of `import`; a line 0 stands for the whole file."""
        told = asdict(self) | {
            "unreadable": [Unreadable(0, self.failure)] if self.failure else self.unreadable,
            "gone_items": [
                GoneItemDetails(one.task, one.item, one.title) for one in self.gone_items
            ],
            "boxes": BoxCount(self.boxes_as_open, self.boxes_left_out),
            "keys_replaced": dict(self.keys_replaced),
            "conflicts": len(self.conflicts),
        }
        return convert(told, ImportedFile, from_attributes=True)


def import_document(reports: Iterable[ImportReport]) -> ImportDetails:
    """The document of `import`."""
    reports = list(reports)
    files = [report.document() for report in reports]
    return ImportDetails(files, sum(report.events for report in reports))


def catalog_of(home: Home) -> Catalog:
    """The catalog as it is now."""
    with home.services.journal.reading() as world:
        return world.load(CATALOG, MAIN)


def category_named(catalog: Catalog, wanted: str) -> Category:
    """The category of an id or name, or Refused."""
    known = find_category(catalog, wanted)
    if known is None:
        raise unknown_category(wanted)
    return known


def categories_below(catalog: Catalog, wanted: str) -> frozenset[str]:
    """The ids of the category of an id or name, and of those below it: ``Work/Site`` is below
    ``Work``, which need not be there. None of no name."""
    known = find_category(catalog, wanted)
    name = fold(known.name if known else wanted)
    names = {category: f"{fold(one.name)}/" for category, one in catalog.categories.items()}
    return frozenset(one for one in names if name and names[one].startswith(f"{name}/"))


def categories_named(catalog: Catalog, wanted: str) -> frozenset[str]:
    """The categories that a filter means, see `categories_below`; none if none is given. Raises
    Refused: there is none of that name."""
    found = categories_below(catalog, wanted)
    if wanted and not found:
        raise unknown_category(wanted)
    return found


def label_named(catalog: Catalog, wanted: str) -> Label:
    """The living label of an id or name, or Refused."""
    known = find_label(catalog, wanted)
    if known is None:
        raise unknown_label(wanted)
    return known


def titles_of(home: Home) -> dict[str, str]:
    """The title of every task, by its id."""
    return {task.id: task.title for task in home.views.all(tasks.VIEW)}


def titles_among(home: Home, task_ids: Iterable[str]) -> dict[str, str]:
    """The titles of some tasks: of ten thousand, those few that are shown."""
    found = (home.views.get(tasks.VIEW, task_id) for task_id in task_ids)
    return {task.id: task.title for task in found if task is not None}


def task_lines(home: Home, found: Iterable[TaskDocument] | None = None) -> list[TaskLine]:
    """The documents of `task list`, in the order they came in; of all that are not deleted if none
    are given."""
    if found is None:
        found = home.views.marked(tasks.VIEW, tasks.MARKS["kept"])
    catalog = catalog_of(home)
    return [task_line(one.task, catalog, _agent_of(home, one.id)) for one in found]


def _agent_of(home: Home, task_id: str) -> str:
    """The id of a task's living agent; empty where it has none."""
    found = home.views.page(agents.VIEW, shelf=task_id)
    return next((agent.id for agent in found if agent.is_living), "")


def task_page(home: Home, task_id: str) -> TaskPage:
    """All about one task, as the journal stands now."""
    with home.services.journal.reading() as world:
        task, links = world.load(TASK, task_id), world.load(LINKS, task_id)
        said = [task.description, *(note.words for note in task.notes)]
        others = [link.target for link in task.links] + [link.source for link in links.incoming]
        page = TaskPage(
            task,
            links,
            world.load(CATALOG, MAIN),
            _agent_of(home, task_id),
            {words.payload: world.text(words) for words in said if words.payload},
            {other: world.load(TASK, other).title for other in others},
            tuple(conflicts_of(world, task_id)),
        )
        if not world.is_shared:  # asked here: a home in a database answers over a network
            return page
    return replace(page, conflicts=(*page.conflicts, *replica_conflicts_of(home, task_id)))


def category_documents(world: LogState, found: Iterable[Task]) -> list[CategoryDetails]:
    """Every category with its correction examples, newest first, and how many tasks it has."""
    counts: dict[str, int] = {}
    for task in found:
        if not task.is_deleted:
            counts[task.category] = counts.get(task.category, 0) + 1
    return [
        CategoryDetails(
            id=category.id,
            name=category.name,
            language=category.language or None,
            tasks=counts.get(category.id, 0),
            corrections=[
                CorrectionDetails(
                    world.payload(one.before).decode(),
                    world.payload(one.after).decode(),
                    one.captured_at,
                )
                for one in reversed(category.corrections)
            ],
        )
        for category in with_inbox(world.load(CATALOG, MAIN)).categories.values()
    ]


def category_lines(home: Home) -> list[CategoryDetails]:
    """The document of `category list`."""
    found = [one.task for one in home.views.all(tasks.VIEW)]
    with home.services.journal.reading() as world:
        return category_documents(world, found)


def label_lines(home: Home) -> list[LabelDetails]:
    """The document of `label list`."""
    found = [one for one in home.views.all(tasks.VIEW) if not one.is_deleted]
    return label_documents(
        catalog_of(home), lambda label: sum(label in one.labels for one in found)
    )


def label_documents(catalog: Catalog, count: Callable[[str], int]) -> list[LabelDetails]:
    """Every living label, its scope (empty: all categories), and how many tasks carry it."""
    return [
        LabelDetails(
            id=label.id,
            name=label.name,
            categories=[category_name(catalog, one) for one in label.categories],
            tasks=count(label.id),
        )
        for label in catalog.labels.values()
        if not label.is_deleted
    ]


# -------------------------------------------------------------------------- where a task comes from


class WhyLead(Struct, frozen=True):
    """Where a step leads: an ``entry`` of a task's history (``42.1``), a ``proposal`` of the wake
    `run_key` by what a person calls it, a ``wake``, or a ``note`` by its time."""

    kind: Literal["entry", "proposal", "wake", "note"]
    id: str
    task_id: str
    run_key: str | None = None


class WhyStep(Struct, frozen=True):
    """A step of how a value came to be, the newest first: it was ``set``, ``confirmed``, taken
    from a ``file``, ``undone``, set ``at_once`` by an agent, or never (``unset``); ``written`` into
    a file; then what was ``proposed``, on which ``words``, by which ``wake``, and what it was
    ``woken`` by. `words`: those that somebody wrote."""

    kind: str
    said: str
    at: str | None = None
    words: str | None = None
    lead: WhyLead | None = None


class FieldWhy(Struct, frozen=True):
    """What `why TASK FIELD` prints: a field, its value in words, and how it came to be."""

    task_id: str
    field: str
    label: str
    value: str
    steps: list[WhyStep]


class HistoryEntry(Struct, frozen=True):
    """A fact of a task. `entry` names it, ``42.1``; `kind` is one of ``fields``, ``checklist``,
    ``notes``, ``time``, ``links``, ``file``; `who` ``you``, ``agent`` or ``file``. `words`: those
    of a note or description. `proposal` is what a person calls the proposal that it carried out,
    of the wake `run_key`. `undo`: the deed that `wakelog undo` takes back, once where it did
    several things. `member`: which person of a home of several."""

    entry: str
    at: str
    kind: str
    who: str
    said: str
    words: str | None
    proposal: str | None
    run_key: str | None
    undo: str | None
    member: str | None = None


class TaskHistory(Struct, frozen=True):
    """The page `/tasks/ID/history`; `next` is the entry that the next page begins with."""

    task_id: str
    title: str
    entries: list[HistoryEntry]
    next: str | None
    looked_through: int

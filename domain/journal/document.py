"""The JSON document of a task, as it is now or as it was then (SPEC 10); null: there is none.

Times are RFC 3339 in UTC. The keys stand in the order of the fields."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from domain.journal.catalog import Catalog, category_of
from domain.journal.links import Links
from domain.journal.task import NoteKind, Priority, Relation, Status, Task, rating_of
from domain.log.wire import Words


class ItemCount(Struct, frozen=True):
    """How far a checklist is; archived items do not count."""

    done: int
    total: int


class TaskLine(Struct, frozen=True):
    """A task in a list. `due_date` is YYYY-MM-DD, `category` and `labels` are names, `agent_id` is
    that of its living agent; `running_since`: its timer runs. `repeat` is a rule, see
    `domain.journal.repeat`; before the day `wait_until` it is hidden."""

    id: str
    title: str
    status: Status
    priority: Priority
    due_date: str | None
    estimate_minutes: int | None
    language: str | None
    category: str
    labels: list[str]
    checklist: ItemCount
    agent_id: str | None
    running_since: str | None
    repeat: str | None
    wait_until: str | None


class ItemDetails(Struct, frozen=True):
    """An item of a checklist. `checked_by` is ``person``, ``agent:ID`` or ``import:SOURCE``."""

    id: str
    title: str
    checked: bool
    checked_by: str | None
    archived: bool


class NoteDetails(Struct, frozen=True):
    """A note of a task."""

    id: str
    kind: NoteKind
    text: str
    at: str


class TimeDetails(Struct, frozen=True):
    """Time that a task took; without an `end` its timer runs. `by` set its times last: ``person``,
    ``agent:ID`` or ``import:SOURCE``. `rating`: the person's."""

    id: str
    start: str
    end: str | None
    summary: str
    by: str
    rating: "RatingDetails | None"


class RatingDetails(Struct, frozen=True):
    """How well it went, by the person, from 1 to 5; `comment` may be empty."""

    score: int
    comment: str
    at: str


class LinkDetails(Struct, frozen=True):
    """A link to (``out``) or from (``in``) the task `task_id`; `relation` is that of its source."""

    relation: Relation
    direction: Literal["out", "in"]
    task_id: str


class HistoryDetails(Struct, frozen=True):
    """A status that a task was given, when, by whom and why."""

    at: str
    status: Status
    by: str
    reason: str


class TaskDetails(TaskLine, frozen=True):
    """All about a task: what `task show` prints. Lists stand in the order of their making;
    `suppressed_labels` are the names of those that no agent may propose."""

    description: str
    items: list[ItemDetails]
    notes: list[NoteDetails]
    time: list[TimeDetails]
    links: list[LinkDetails]
    history: list[HistoryDetails]
    suppressed_labels: list[str]
    rating: RatingDetails | None


def task_line(task: Task, catalog: Catalog, agent_id: str) -> TaskLine:
    """One of the documents of `task list`; `agent_id` is that of its living agent, if any."""
    items = [item for item in task.items if not item.is_archived]
    return TaskLine(
        id=task.id,
        title=task.title,
        status=task.status,
        priority=task.priority,
        due_date=task.due or None,
        estimate_minutes=task.estimate or None,
        language=task.language or None,
        category=category_name(catalog, task.category),
        labels=[label_name(catalog, label) for label in task.labels],
        checklist=ItemCount(sum(item.is_checked for item in items), len(items)),
        agent_id=agent_id or None,
        running_since=next((one.start for one in task.running), None),
        repeat=task.repeat or None,
        wait_until=task.wait_until or None,
    )


def task_document(
    task: Task, links: Links, catalog: Catalog, agent_id: str, text: Callable[[Words], str]
) -> TaskDetails:
    """The document of `task show`. `links`: those that lead to the task; `agent_id`: of its living
    agent, if any; `text` gives a text, wherever it is kept."""
    linked = [LinkDetails(link.relation, "out", link.target) for link in task.links]
    linked += [LinkDetails(link.relation, "in", link.source) for link in links.incoming]
    return TaskDetails(
        **asdict(task_line(task, catalog, agent_id)),
        description=text(task.description),
        items=[
            ItemDetails(
                item.id,
                item.title,
                item.is_checked,
                item.checked_by if item.is_checked else None,
                item.is_archived,
            )
            for item in task.items
        ],
        notes=[
            NoteDetails(note.id, note.note_kind, text(note.words), note.at) for note in task.notes
        ],
        time=[
            TimeDetails(
                one.id, one.start, one.end or None, one.summary, one.by, _rating(task, one.id)
            )
            for one in task.time
        ],
        links=linked,
        history=[HistoryDetails(one.at, one.status, one.by, one.reason) for one in task.history],
        suppressed_labels=[label_name(catalog, label) for label in task.suppressed],
        rating=_rating(task),
    )


def _rating(task: Task, entry: str = "") -> RatingDetails | None:
    one = rating_of(task, entry)
    return RatingDetails(one.score, one.comment, one.at) if one else None


def category_name(catalog: Catalog, category: str) -> str:
    """Its name; its id where the catalog does not know it."""
    return category_of(catalog, category).name


def label_name(catalog: Catalog, label: str) -> str:
    """Its name, deleted or not; its id where the catalog does not know it."""
    known = catalog.labels.get(label)
    return known.name if known else label

"""What `task list`, the search and an import's "gone" lines show of a task (SPEC 1, 10)."""

from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from domain.journal.import_conflicts import said_since
from domain.journal.task import ADDED, TASK, ChecklistItem, Status, Task
from domain.log.state import RecordedEvent
from projections.view import View, of_kinds, position

MARKS = {
    "kept": ("open", "closed"),
    "open": ("open",),
    "deleted": ("deleted",),
    "all": ("open", "closed", "deleted"),
}
"""The marks of the tasks that a list shows, by its scope; `kept` are those not deleted."""

UNSETTLED = "unsettled"
"""The shelf of the tasks of which alone a conflict with a file may be open."""


class TaskDocument(Struct, frozen=True, omit_defaults=True):
    """A task without what only `task show` needs: no notes, status history, or time that is over.

    `place` is that of its first row; `held` see `domain.journal.import_conflicts.said_since`."""

    task: Task
    place: str
    held: dict[str, bool] = {}

    @property
    def id(self) -> str:
        return self.task.id

    @property
    def title(self) -> str:
        return self.task.title

    @property
    def status(self) -> Status:
        return self.task.status

    @property
    def category(self) -> str:
        return self.task.category

    @property
    def labels(self) -> tuple[str, ...]:
        return self.task.labels

    @property
    def items(self) -> tuple[ChecklistItem, ...]:
        """The checklist items that are not archived."""
        return tuple(item for item in self.task.items if not item.is_archived)

    @property
    def is_open(self) -> bool:
        return self.task.is_open

    @property
    def is_deleted(self) -> bool:
        return self.task.is_deleted

    @property
    def is_unsettled(self) -> bool:
        """Whether a file spoke of it after somebody here did."""
        return any(self.held.values())

    @property
    def updated_at(self) -> str:
        return self.task.updated_at

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources it was imported from."""
        return tuple(source for source, _ in self.task.imported)


def apply(document: TaskDocument | None, row: RecordedEvent) -> TaskDocument | None:
    """The task after this row; what grows with the years and is not listed is left out."""
    known = document or TaskDocument(TASK.initial(row.entity), position(row))
    task = TASK.evolve(known.task, row)
    slim = replace(task, history=(), notes=(), time=task.running, touched={}, ratings=())
    return TaskDocument(slim, known.place, said_since(known.held, row))


def _mark(document: TaskDocument) -> str:
    """``deleted``, ``open`` or ``closed``."""
    if document.is_deleted:
        return "deleted"
    return "open" if document.is_open else "closed"


def _due(document: TaskDocument) -> str:
    """The day from which on `today` lists it."""
    task = document.task
    days = task.due, task.wait_until if task.status == "ON HOLD" else ""
    return min(filter(None, days), default="") if task.is_open else ""


VIEW: View[TaskDocument] = View(
    "tasks", "journal", 6 + ADDED, TaskDocument, of_kinds("task"), apply,
    shelf=lambda document: UNSETTLED if document.is_unsettled else "", mark=_mark, due=_due,
    turn=attrgetter("updated_at"), title="$.task.title", entities=("task",),
)  # fmt: skip

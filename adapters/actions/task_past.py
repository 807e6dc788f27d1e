"""A task's own rows, and what they name: why each of its fields is as it is stands in these alone,
however large the home is."""

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.documents.inbox import set_name
from adapters.documents.ranks import ranks_of
from adapters.text.happened import Names
from adapters.timetravel.why import append_of
from domain import envelope
from domain.changes.change_set import Item
from domain.journal.catalog import CATALOG
from domain.journal.commands import ApplyOperation
from domain.journal.fold import TASK
from domain.journal.task import Task
from domain.world import MAIN, Recorded
from projections import inbox, tasks
from projections.inbox import SetDocument

if TYPE_CHECKING:
    from adapters.wiring import Home


class Happened(NamedTuple):
    """A fact of a task, and the task before it; `is_shared`: machines share the journal."""

    row: Recorded
    before: Task
    is_shared: bool = False

    @property
    def entry(self) -> str:
        """How its history names it."""
        return entry_of(self.row, is_shared=self.is_shared)

    @property
    def by(self) -> str:
        return str(getattr(self.row.fact, "by", ""))


class Proposed(NamedTuple):
    """The proposal whose confirmation changed a task, as the person calls it."""

    set: SetDocument
    item: Item
    ref: str


def entry_of(row: Recorded, *, is_shared: bool) -> str:
    """How a task's history names a row: its append, and which row of that it is, ``42.3``; where
    machines share the journal, with whose that is, ``desk-42.3``."""
    return f"{row.replica}-{row.n}.{row.row}" if is_shared else f"{row.n}.{row.row}"


class TaskPast:
    """All that happened to a task.

    Args:
        home: Its views caught up.
        task_id: Which.
    """

    def __init__(self, home: "Home", task_id: str) -> None:
        self.home = home
        self.id = task_id
        self.is_shared = home.services.journal.is_shared
        self.happened: list[Happened] = []
        state = TASK.initial(task_id)
        with home.services.journal.reading() as world:
            rows = world.rows(TASK, task_id)
            self.names = Names(world.load(CATALOG, MAIN), self.title_of)
        for row in rows:
            before, state = state, TASK.evolve(state, row)
            self.happened.append(Happened(row, before, self.is_shared))
        self.task = state
        self._commands = cache(self._command_at)
        self._proposals = cache(self._proposals_of)

    def title_of(self, task_id: str) -> str:
        """The title of another task."""
        found = self.home.views.get(tasks.VIEW, task_id)
        return found.title if found else task_id[:8]

    def text(self, words: Any) -> str:
        """A text of the journal, wherever it is kept."""
        with self.home.services.journal.reading() as world:
            return world.text(words)

    def command_of(self, row: Recorded) -> Any:
        """What was asked for that made a row's append; None where that cannot be found."""
        return self._commands(row.n, row.replica)

    def _command_at(self, n: int, replica: str) -> Any:
        append = append_of(self.home.services.journal, n, replica)
        return envelope.cause_of(append[0])[0] if append else None

    def proposed(self, row: Recorded) -> Proposed | None:
        """The proposal that a row's append carried out; None where it was none."""
        command = self.command_of(row)
        if not isinstance(command, ApplyOperation):
            return None
        return self._proposals(command.task).get(command.operation)

    def _proposals_of(self, task_id: str) -> dict[str, Proposed]:
        """All proposals of a task, by the operations that they were carried out by."""
        found = self.home.views.page(inbox.VIEW, shelf=task_id)
        return {
            operation: Proposed(one, item, f"{set_name(self._ranks, one.id)}.{item.number}")
            for one in found
            for item in one.items
            for operation in item.operations
        }

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return ranks_of(self.home)

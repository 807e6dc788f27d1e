"""The living tasks of a journal in a line each: what is searched for words (ADR 42).

All of them are looked at, so that the answer is the same for whoever knows the position. To fold
every task for it once more would take the longer the larger the home is: who asks more often
keeps the lines, and reads those anew that have rows since."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from domain.journal.task import TASK, Task
from domain.log.state import LogState
from domain.policy.scrub import scrub
from domain.text import tokens


class SearchableTask(Struct, frozen=True):
    """A living task; `words` are its title's, as an agent is told it; `at`: of its last fact. The
    rest is as in `Task`."""

    id: str
    words: frozenset[str]
    status: str
    category: str
    at: str
    due: str = ""
    priority: str = ""
    wait_until: str = ""


def line_of(task: Task) -> SearchableTask | None:
    """None where the task is deleted, or not there."""
    if not task.exists or task.is_deleted:
        return None
    words = frozenset(tokens(scrub(task.title).text))
    ends = task.due, task.priority, task.wait_until
    return SearchableTask(task.id, words, task.status, task.category, task.updated_at, *ends)


class TaskSearchIndex:
    """The lines of one log, kept from one look to the next."""

    def __init__(self) -> None:
        self._known: dict[str, SearchableTask] = {}
        self._replicas: tuple[str, ...] = ()  # whose rows they are of
        self._n = 0

    @property
    def n(self) -> int:
        """The append that the lines were made up to; 0: there are none yet."""
        return self._n

    def of(
        self, journal: LogState, changed: Iterable[str] | None = None
    ) -> Mapping[str, SearchableTask]:
        """The lines of a journal, by task. `changed`: those that have rows above append `n`; None:
        all are looked at."""
        if changed is None or self._replicas != journal.replicas or self._n >= journal.n:
            self._known, changed = {}, journal.entities(TASK.name)
        for task in changed:
            if (line := line_of(journal.load(TASK, task))) is not None:
                self._known[task] = line
            else:
                self._known.pop(task, None)
        self._replicas, self._n = journal.replicas, journal.n - 1
        return self._known

"""Tasks and their links as the journal stood at an append, going forward append by append.

A task is folded once, however many appends are its own and however often a watcher comes back."""

from collections.abc import Sequence
from typing import Any, TypeVar

from adapters.store.log import Log
from domain.append.causes import ReplicasImported
from domain.journal.links import LINKS, Links
from domain.journal.task import TASK, Task
from domain.log.state import RecordedEvent, StreamType

S = TypeVar("S")

STATES_KEPT = 4096
_FOLDED: dict[str, StreamType[Any]] = {TASK.name: TASK, LINKS.name: LINKS}


class JournalCursor:
    """The journal right after append `n`; what was not touched since the start is read there."""

    def __init__(self, journal: Log, n: int) -> None:
        self.n = n
        self._journal = journal
        self._world = journal.world_at(n)
        self._known: dict[tuple[str, str], Any] = {}
        self._has_others = False

    @property
    def is_kept(self) -> bool:
        """Whether a watcher may come back to it: it is not too large, and no rows of another
        replica came in, which may stand before its start."""
        return len(self._known) <= STATES_KEPT and not self._has_others

    def go_on(self, rows: Sequence[RecordedEvent]) -> None:
        """Stand right after the next append; of a shared journal a marker changes what is known."""
        for row in rows:
            kind = _FOLDED.get(row.of_kind)
            if kind is not None:
                self._known[kind.name, row.entity] = kind.evolve(self._load(kind, row.entity), row)
        self.n = rows[0].n
        if isinstance(rows[0].fact, ReplicasImported):
            if self._journal.is_shared:
                self._known.clear()
                self._world = self._journal.world_at(self.n)
            else:
                self._has_others = True

    def links(self, task: str) -> Links:
        return self._load(LINKS, task)

    def task(self, task_id: str) -> Task:
        return self._load(TASK, task_id)

    def _load(self, kind: StreamType[S], entity: str) -> S:
        known: S | None = self._known.get((kind.name, entity))
        return self._world.load(kind, entity) if known is None else known

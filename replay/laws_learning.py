"""The laws of what is learnt and remembered, over the rows alone (ADR 50, ADR 51)."""

from collections.abc import Iterator

from domain.agent.events import AgentObserved
from domain.agent.memory import BYTES_MAX, HEADING_BYTES, MemoryFolded
from domain.changes.events import (
    ItemConfirmed,
    ItemDeferred,
    ItemProposed,
    ItemRejected,
    ItemReopened,
    ItemUndone,
)
from domain.lessons.lessons import TEMPLATE, LessonDecided, WakeRan, WakeRated
from domain.wake.events import WakeStarted
from domain.world import Recorded

VERDICTS = {
    ItemConfirmed: "confirmed",
    ItemDeferred: "deferred",
    ItemRejected: "rejected",
    ItemReopened: "reopened",
    ItemUndone: "undone",
}


class Learning:
    """Takes the rows of the agent log as they come."""

    def __init__(self) -> None:
        self._items: dict[tuple[str, int], str] = {}  # their tools
        self._given: set[tuple[str, int, str]] = set()  # verdicts that stand or stood
        self._templates: dict[str, str] = {}  # of wakes
        self._notes: dict[str, str] = {}  # position -> agent
        self._digests: set[tuple[str, str]] = set()
        self._covered: dict[tuple[str, str, str], str] = {}  # replica, agent, source -> digest

    def take(self, row: Recorded) -> Iterator[str]:
        """What is wrong with one more row."""
        match row.fact:
            case ItemProposed(item=item, tool=tool):
                self._items[row.entity, item] = tool
            case (
                ItemConfirmed() | ItemDeferred() | ItemRejected() | ItemReopened()
                | ItemUndone(code="")
            ) as verdict:  # fmt: skip
                self._given.add((row.entity, verdict.item, VERDICTS[type(verdict)]))
            case WakeStarted(template=template):
                self._templates[row.entity] = template
            case AgentObserved():
                self._notes[f"{row.n}-{row.row}@{row.replica}"] = row.entity
            case LessonDecided() as told:
                yield from self._lesson(told)
            case WakeRan(run_key=run_key) | WakeRated(run_key=run_key):
                if row.entity != TEMPLATE + self._templates.get(run_key, ""):
                    yield f"lessons: {run_key} is no wake of {row.entity}"
            case MemoryFolded() as digest:
                yield from self._digest(row, digest)
            case _:
                pass

    def _lesson(self, told: LessonDecided) -> Iterator[str]:
        name = (told.changes, told.item)
        if self._items.get(name) != told.tool:
            yield f"lessons: {name} is no item of {told.tool}"
        if (*name, told.verdict) not in self._given:
            yield f"lessons: nobody said that {name} is {told.verdict}"

    def _digest(self, row: Recorded, digest: MemoryFolded) -> Iterator[str]:
        for source in digest.sources:
            if digest.depth > 1:
                is_there = (row.entity, source) in self._digests
            else:
                is_there = self._notes.get(source) == row.entity
            if not is_there:
                yield f"memory: {digest.id} names {source}, which is not there"
            other = self._covered.setdefault((row.replica, row.entity, source), digest.id)
            if other != digest.id:
                yield f"memory: {source} is under {other} and under {digest.id}"
        self._digests.add((row.entity, digest.id))
        size = len((digest.words.text or "").encode())  # a long one is no row's
        if size > BYTES_MAX[digest.depth] - HEADING_BYTES:
            yield f"memory: {digest.id} has {size} bytes"

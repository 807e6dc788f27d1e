"""What a person has erased of a log: marks with the digests of the rows that stood there (ADR 107).

STORAGE FORMAT, see `domain.log.wire`. A row that is erased becomes `domain.log.wire.Erased`, its
texts in the payload table go, and the log says so once, with the list of both. Nothing is chained
anew: the digest of an append is made of the digests of its rows, which the marks keep.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from domain.agent.agent import AgentCreated
from domain.agent.commands import AgentCommand, CreateAgent
from domain.agent.wake_queue import WakeQueued
from domain.changes.change_set import SetOpened
from domain.changes.commands import ChangesCommand
from domain.lessons.commands import RateRun
from domain.log.keys import key
from domain.log.state import RecordedEvent
from domain.log.wire import Erased, PayloadId, Stored
from domain.machines.commands import SettleAgentsConflict
from domain.retention import Retained
from domain.templates.commands import AssignTemplate
from domain.wake.commands import WakeCommand
from domain.wake.wake import WakeStarted


class Erase(Stored, frozen=True, tag="command.erase.1"):
    """Say that rows and texts were erased. `unit`: ``task:<id>`` or ``agent:<id>``; `what`: the
    kind, as a person names it; `listed`: a payload, an `ErasureList`; `digest`: `digest_of` the
    rows that are listed, as nothing else holds the time and the tag beside a mark."""

    unit: str
    what: str
    listed: PayloadId
    digest: str


class ErasureMade(Stored, frozen=True, tag="erasure.made.1"):
    """Stands in ``log:main``. Of the fields see `Erase`."""

    unit: str
    what: str
    listed: PayloadId


class ErasureList(Struct, frozen=True):
    """The rows that an erasure marked, as replica, append and numbers within it, and the payloads
    that went."""

    rows: tuple[tuple[str, int, tuple[int, ...]], ...]
    payloads: tuple[PayloadId, ...]

    @classmethod
    def of(cls, rows: Iterable[RecordedEvent], payloads: Iterable[PayloadId]) -> "ErasureList":
        """That of these rows, in their order."""
        places = groupby(rows, key=lambda row: (row.replica, row.n))
        found = ((*place, tuple(row.row for row in some)) for place, some in places)
        return cls(tuple(found), tuple(payloads))


_read_list = msgspec.json.Decoder(ErasureList).decode

Place = tuple[str, int, int]
"""Replica, append and row within it."""


class Listed:
    """All that the erasures of a log list; `made`: each with its time. `retained`: up to when what
    was dropped, see `domain.retention`."""

    def __init__(self) -> None:
        self.rows: set[Place] = set()
        self.payloads: set[PayloadId] = set()
        self.made: list[tuple[str, ErasureMade]] = []
        self.retained: dict[str, str] = {"prompts": "", "replies": ""}

    def take(self, made: ErasureMade, listed: bytes | None, at: str) -> None:
        """One more erasure; of one whose list is gone or was altered, nothing is listed."""
        self.made.append((at, made))
        found = read_list(listed)
        self.rows.update(places_of(found))
        self.payloads.update(found.payloads)


def listed_of(
    rows: Iterable[RecordedEvent], payload: Callable[[PayloadId], bytes | None]
) -> Listed:
    """What the erasures and retentions among rows say."""
    found = Listed()
    for row in rows:
        if isinstance(row.fact, ErasureMade):
            found.take(row.fact, payload(row.fact.listed), row.at)
        elif isinstance(row.fact, Retained):
            what, until = row.fact.what, row.fact.until
            found.retained[what] = max(found.retained[what], until)
    return found


def places_of(listed: ErasureList) -> Iterable[Place]:
    """Where the rows of a list stand."""
    return ((replica, n, row) for replica, n, rows in listed.rows for row in rows)


def read_list(data: bytes | None) -> ErasureList:
    """What a payload lists; nothing where it is gone, or none that anybody wrote."""
    try:
        return _read_list(data or b"")
    except msgspec.MsgspecError:
        return ErasureList((), ())


def digest_of(marks: Iterable[RecordedEvent]) -> str:
    """One digest of marks, in the order of a list, with all that they say."""
    parts: list[str] = []
    for row in marks:
        fact: Any = row.fact
        place = (row.replica, str(row.n), str(row.row), row.stream, str(row.version))
        parts += [*place, row.at, fact.was, fact.sha256]
    return key("erasure", *parts)


# --------------------------------------------------------------------------- what a unit is made of


class Unit(NamedTuple):
    """What is erased together: a task (empty: none) with its agents, wakes and sets of proposals.

    Of an agent alone what it changed stays: that is the journal's truth.
    """

    task: str
    agents: frozenset[str]
    wakes: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()

    def learn(self, row: RecordedEvent) -> "Unit":
        """The unit with what one more row of the agent log says of it."""
        match row.fact:
            case AgentCreated(task=task) if self.task and task == self.task:
                return self._replace(agents=self.agents | {row.entity})
            case WakeQueued(run_key=run) if row.entity in self.agents and run not in self.wakes:
                return self._replace(wakes=self.wakes | {run})
            case WakeStarted(agent=agent) if agent in self.agents:
                return self._replace(wakes=self.wakes | {row.entity})
            case SetOpened(agent=agent) if agent in self.agents:
                return self._replace(sets=self.sets | {row.entity})
        return self

    def know(self, mark: RecordedEvent) -> "Unit":
        """The unit with whose a mark is that an erasure of it has made: others may go on writing
        where it stands."""
        one = frozenset({mark.entity})
        match mark.of_kind:
            case "agent" | "alert" | "memory":
                return self._replace(agents=self.agents | one)
            case "wake":
                return self._replace(wakes=self.wakes | one)
            case "changes":
                return self._replace(sets=self.sets | one)
        return self

    def rows_of(self, append: Sequence[RecordedEvent]) -> list[RecordedEvent]:
        """The rows of an append of either log that belong to it. A command that is about others,
        too, stays: it names texts by payloads of their units."""
        found = [row for row in append if self._holds(row)]
        command = getattr(append[0].fact, "command", None)
        if command is not None and self._is_about(command, append):
            found.insert(0, append[0])
        return [row for row in found if type(row.fact) is not Erased]

    def _holds(self, row: RecordedEvent) -> bool:
        match row.of_kind:
            case "task" | "links":
                return row.entity == self.task
            case "agent" | "alert" | "memory":
                return row.entity in self.agents
            case "wake":
                return row.entity in self.wakes
            case "changes":
                return row.entity in self.sets
        return False

    def _is_about(self, command: Any, append: Sequence[RecordedEvent]) -> bool:
        if isinstance(command, CreateAgent):
            return any(row.of_kind == "agent" and row.entity in self.agents for row in append)
        if isinstance(command, AgentCommand | WakeCommand | ChangesCommand | OF_AGENTS):
            named = {
                getattr(command, name, "") for name in ("agent", "run_key", "changes", "entity")
            }
            return not named.isdisjoint(self.agents | self.wakes | self.sets)
        made = {row.entity for row in append if row.of_kind in ("task", "links")}
        return bool(self.task) and tasks_of(command) | made == {self.task}


OF_AGENTS = AssignTemplate | SettleAgentsConflict | RateRun
"""Commands of other families that are about an agent, a set or a wake."""


def tasks_of(command: Any) -> set[str]:
    """The tasks that a command of the journal names."""
    found = {getattr(command, name, "") for name in ("task", "target")}
    for name in ("tasks", "others", "gone", "nexts", "bases", "links", "restores"):
        every = getattr(command, name, ())
        found.update(one if isinstance(one, str) else one.task for one in every)
    return found - {""}

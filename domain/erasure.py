"""What a person has erased of a log: marks with the digests of the rows that stood there (ADR 107).

STORAGE FORMAT, see `domain.log.wire`. A row that is erased becomes `domain.log.wire.Erased`, its
texts in the payload table go, and the log says so once, with the list of both. Nothing is chained
anew: the digest of an append is made of the digests of its rows, which the marks keep."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from domain.agent.agent import AgentCreated, category_in
from domain.agent.commands import AgentCommand, CreateAgent
from domain.agent.wake_queue import WakeQueued
from domain.changes.change_set import SetOpened
from domain.changes.commands import ChangesCommand
from domain.journal.catalog import CorrectionCaptured, category_id
from domain.journal.commands import AddCategory, ImportTasks
from domain.journal.imported import ID_KEPT
from domain.lessons.commands import RateRun
from domain.log.keys import key
from domain.log.state import RecordedEvent
from domain.log.wire import Erased, PayloadId, Stored, tag_of
from domain.machines.commands import SettleAgentsConflict
from domain.ports import Usage
from domain.retention import Retained
from domain.templates.commands import AssignTemplate
from domain.text import fold
from domain.wake.commands import WakeCommand
from domain.wake.wake import ToolReturned, WakeStarted


class Erase(Stored, frozen=True, tag="command.erase.1"):
    """Say that rows and texts were erased. `unit`: ``task:<id>`` for example, see `Unit.of`;
    `what`: the kind, of `KINDS`; `listed`: a payload, an `ErasureList`; `digest`: `digest_of` the
    rows that are listed, as nothing else holds the time and the tag beside a mark; `along`: the
    tasks that went with a category; `lines`: what files called the tasks, see `line_key`."""

    unit: str
    what: str
    listed: PayloadId
    digest: str
    along: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


class ErasureMade(Stored, frozen=True, tag="erasure.made.1"):
    """Stands in ``log:main``. Of the fields see `Erase`."""

    unit: str
    what: str
    listed: PayloadId
    along: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def units(self) -> tuple[str, ...]:
        """What was erased, and the tasks that went with it."""
        return (self.unit, *(f"task:{one}" for one in self.along))

    @property
    def of_tasks(self) -> list[tuple[str, str]]:
        """The tasks in whose streams it was erased, with the note; empty: all of them."""
        parts = (one.partition(":") for one in self.units)
        every = ((kind, entity.partition("/")) for kind, _, entity in parts)
        return [(task, note) for kind, (task, _, note) in every if kind in ("task", "note")]

    def takes(self, row: RecordedEvent) -> bool:
        """Whether a row may be of it, as far as its place and its tag tell: of tasks its own, of a
        note no more than the note, of an agent no other one's."""
        if self.what == "agent" and row.of_kind in ("agent", "alert", "memory"):
            return self.unit == f"agent:{row.entity}"
        if row.of_kind not in ("task", "links") or self.what == FORK:
            return may_go(row.stream)
        is_of_note = tag_then(row).startswith(NOTES)
        return any(row.entity == task and (not note or is_of_note) for task, note in self.of_tasks)

    def spares(
        self, rows: Iterable[RecordedEvent], known: Callable[[str, str], Iterable[RecordedEvent]]
    ) -> Iterator[RecordedEvent]:
        """What it leaves of that of which it takes all, as who has listed these `rows` does who
        forges one, of a verdict alone for example. `known`: the rows of an entity, by kind and id,
        that he knew."""
        every = {(row.replica, row.n, row.row): row for row in rows if self.what != FORK}
        whole = dict.fromkeys((row.of_kind, row.entity) for row in every.values() if self._all(row))
        for one in whole:
            for row in known(*one):
                if type(row.fact) is not Erased and (row.replica, row.n, row.row) not in every:
                    yield row

    def _all(self, row: RecordedEvent) -> bool:
        """Whether all rows of an entity go where this one does: an answer that tells of it goes
        alone."""
        if row.of_kind == "wake":
            return tag_then(row) != ANSWER
        return row.of_kind in ENTIRE or (row.of_kind == "task" and self.what in WHOLE)


class Spent(NamedTuple):
    """What an answer took that was erased: a budget of that day counts it all the same."""

    at: str
    agent: str
    model: str
    tokens_in: int | None
    tokens_out: int | None
    tokens_thought: int | None = None
    tokens_cached: int | None = None

    @property
    def usage(self) -> Usage:
        return Usage(*self[3:])


class ErasureList(Struct, frozen=True, omit_defaults=True):
    """The rows that an erasure marked, as replica, append and numbers within it, and the payloads
    that went; and what the newest answers among the rows took."""

    rows: tuple[tuple[str, int, tuple[int, ...]], ...]
    payloads: tuple[PayloadId, ...]
    spent: tuple[Spent, ...] = ()

    @classmethod
    def of(
        cls, rows: Iterable[RecordedEvent], payloads: Iterable[PayloadId], *spent: Spent
    ) -> "ErasureList":
        """That of these rows, in their order."""
        places = groupby(rows, key=lambda row: (row.replica, row.n))
        found = ((*place, tuple(row.row for row in some)) for place, some in places)
        return cls(tuple(found), tuple(payloads), spent)


_read_list = msgspec.json.Decoder(ErasureList).decode

Place = tuple[str, int, int]
"""Replica, append and row within it."""


class Listed:
    """All that the erasures of a log list, the rows with the one that does; `made`: each with its
    time. `retained`: up to when what was dropped, see `domain.retention`."""

    def __init__(self) -> None:
        self.rows: dict[Place, ErasureMade] = {}
        self.payloads: set[PayloadId] = set()
        self.made: list[tuple[str, ErasureMade]] = []
        self.retained: dict[str, str] = {"prompts": "", "replies": ""}

    def take(self, made: ErasureMade, listed: bytes | None, at: str) -> None:
        """One more erasure; of one whose list is gone or was altered, nothing is listed."""
        self.made.append((at, made))
        found = read_list(listed)
        self.rows = dict.fromkeys(places_of(found), made) | self.rows  # the first one counts
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


def line_key(source: str, called: str) -> str:
    """By what a line of a file is known again that is no task any more: its title, or what its file
    calls it. None of the words can be read out of it."""
    return key("line", source, fold(called))


# --------------------------------------------------------------------------- what a unit is made of


def part_of(entity: str) -> str:
    """The id of a note or a block alone, without whose it is; else the id."""
    return entity.rpartition("/")[2]


ERASABLE = frozenset(
    "receipt task links day catalog agent alert memory wake changes lessons".split()
)  # kinds of streams: never who leads, what was agreed to, templates or timers


def tag_then(row: RecordedEvent) -> str:
    """The tag of a row, of a mark that of what stood there."""
    return row.fact.was if isinstance(row.fact, Erased) else tag_of(row.fact)


def torn(append: Iterable[RecordedEvent]) -> Iterator[RecordedEvent]:
    """The rows that stand beside marks of the same wake: all that it did goes, or nothing."""
    did = [row for row in append if row.of_kind in ONE_WAKE and tag_then(row) != ANSWER]
    living = [row for row in did if type(row.fact) is not Erased]
    yield from living if len(living) < len(did) else ()


def may_go(stream: str) -> bool:
    """Whether rows of a stream may be erased at all, whoever lists them."""
    return stream.partition(":")[0] in ERASABLE


WHOLE = ("task", "category")  # kinds of which all that is a task's goes
ENTIRE = ("links", "agent", "alert", "memory", "changes")  # kinds of rows of which all go, or none
ONE_WAKE = ("wake", "changes", "memory")  # kinds of rows that are of one wake in an append of it
NOTES = "task.note_"  # the tags of what is said of notes begin so
ANSWER = "wake.tool_returned.1"
FORK = "fork"  # the kind of what a fork says was erased of its home before
ONLY = " only"  # behind the kind of a note or a block whose agents stay
KINDS = ("task", "agent", "note", "note only", "category", "block", "block only")


class Unit(NamedTuple):
    """What is erased together, with agents, their wakes and sets of proposals.

    `what`: of `KINDS`; `tasks`: those that go, or whose the note is; `part`: the id of the note,
    the block or the category; `gone`: appends of the journal that erased the note or the block;
    `taught`: appends that took words of it as an example, with their category, which a mark does
    not tell any more. Of an agent what it changed stays: that is the journal's truth."""

    what: str
    tasks: frozenset[str] = frozenset()
    part: str = ""
    agents: frozenset[str] = frozenset()
    wakes: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()
    gone: frozenset[tuple[str, int]] = frozenset()
    taught: frozenset[tuple[str, int, str]] = frozenset()

    @classmethod
    def of(cls, what: str, entity: str) -> "Unit":
        """That of a task, an agent or a category by its id, of a note as ``<task>/<note>``, of a
        block as ``<day>/<block>``; nothing is known yet of who belongs to it."""
        whose, _, part = entity.rpartition("/")
        match what.removesuffix(ONLY):
            case "task":
                return cls(what, frozenset({entity}))
            case "agent":
                return cls(what, agents=frozenset({entity}))
            case "note":
                return cls(what, frozenset({whose}), part)
        return cls(what, part=part)

    @property
    def whole(self) -> frozenset[str]:
        """The tasks that go."""
        return self.tasks if self.what in WHOLE else frozenset()

    def learn(self, row: RecordedEvent) -> "Unit":
        """The unit with what one more row of the agent log says of it."""
        match row.fact:
            case AgentCreated() as made if self._has(made, row.replica):
                return self._replace(agents=self.agents | {row.entity})
            case WakeQueued(run_key=run) if row.entity in self.agents and run not in self.wakes:
                return self._replace(wakes=self.wakes | {run})
            case WakeStarted(agent=agent) if agent in self.agents:
                return self._replace(wakes=self.wakes | {row.entity})
            case SetOpened(agent=agent) if agent in self.agents:
                return self._replace(sets=self.sets | {row.entity})
        return self

    def _has(self, made: AgentCreated, replica: str) -> bool:
        """Whether an agent goes along: it was told of it in each prompt since, but for one that was
        made when the note or the block was gone."""
        knew = {one.replica: one.n for one in made.seen} | {replica: made.position}
        if self.what.endswith(ONLY) or any(knew.get(one, 0) >= n for one, n in self.gone):
            return False
        is_of_days = self.what == "block" and made.agent_kind == "day_agent"
        is_over = self.what == "category" and category_in(made.subject) == self.part
        return is_of_days or is_over or made.task in self.tasks

    def know(self, mark: RecordedEvent) -> "Unit":
        """The unit with whose a mark is that an erasure of it has made: others may go on writing
        where it stands."""
        one = frozenset({mark.entity})
        match mark.of_kind:
            case "agent" | "alert" | "memory" if self.what != "agent":  # else it is known
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
        if found and all(row.of_kind != "task" or row.entity in self.tasks for row in append):
            taught = (row for row in append if isinstance(row.fact, CorrectionCaptured))
            found += [row for row in taught if row not in found]
        command = getattr(append[0].fact, "command", None)
        if command is not None and self._is_about(command, append, is_held=bool(found)):
            found.insert(0, append[0])
        return [row for row in found if type(row.fact) is not Erased]

    def repeated_in(
        self, row: RecordedEvent, text: Callable[[PayloadId], str]
    ) -> Iterator[PayloadId]:
        """The payloads of a row that stays in which we, and no person or model, repeat it: what a
        wake of another agent was shown of it, with the snapshot of what it saw, or looked up, and
        what files call its tasks."""
        match getattr(row.fact, "command", row.fact):
            case WakeStarted() as fact if not self.what.endswith(ONLY):
                is_taught = self._taught(fact, row.replica)
                found = [
                    ref.payload
                    for ref in (*fact.system, *fact.user)
                    if not self.tasks.isdisjoint(ref.units)
                    or (is_taught and ref.name == CORRECTIONS)
                ]
                yield from (*found, fact.snapshot) if found else ()
            case ToolReturned(message=said) if self.whole and said.payload:
                if self._tells(text(said.payload)):
                    yield said.payload
            case ImportTasks(lines=lines) if self.whole and lines:
                kept = text(lines)
                if any(f'"{task[:ID_KEPT]} ' in kept for task in self.whole):
                    yield lines

    def _taught(self, fact: WakeStarted, replica: str) -> bool:
        """Whether a wake may have been told words of it as an example."""
        knew = {one.replica: one.n for one in fact.seen} | {replica: fact.journal_position}
        return any(
            n <= knew.get(one, 0) and category in ("", *(fact.categories or (category,)))
            for one, n, category in self.taught
        )

    def _tells(self, answer: str) -> bool:
        """Whether the answer to a read tells of a task that goes."""
        return any(task in answer for task in self.whole)

    def _holds(self, row: RecordedEvent) -> bool:
        fact: Any = row.fact
        match row.of_kind:
            case "task" | "links" if self.whole:
                return row.entity in self.tasks
            case "task":
                return row.entity in self.tasks and getattr(fact, "note", "") == self.part
            case "agent" | "alert" | "memory":
                return row.entity in self.agents
            case "wake":
                is_told = isinstance(fact, ToolReturned) and self._tells(fact.message.text)
                return row.entity in self.wakes or is_told
            case "changes":
                return row.entity in self.sets
            case "day":
                of = getattr(fact, "task", "")  # of one that stays a category's id is no word
                return of in self.whole or (
                    self._names(fact) and not (of and self.what == "category")
                )
            case "catalog":
                own = {*getattr(fact, "categories", ())} == {self.part}  # a label of it alone
                return self.what == "category" and (own or self._names(fact))
            case "lessons":
                return self.what == "category" and category_in(row.entity) == self.part
        return False

    def _names(self, fact: Any) -> bool:
        """Whether a fact or a command names the block, the note or the category."""
        return bool(self.part) and getattr(fact, self.what.removesuffix(ONLY), "") == self.part

    def _is_about(self, command: Any, append: Sequence[RecordedEvent], *, is_held: bool) -> bool:
        if isinstance(command, CreateAgent):
            return any(row.of_kind == "agent" and row.entity in self.agents for row in append)
        if isinstance(command, AgentCommand | WakeCommand | ChangesCommand | OF_AGENTS):
            named = {
                getattr(command, name, "") for name in ("agent", "run_key", "changes", "entity")
            }
            return not named.isdisjoint(self.agents | self.wakes | self.sets)
        about = tasks_of(command) | {
            row.entity for row in append if row.of_kind in ("task", "links")
        }
        is_its = is_held or self._names(command)
        if self.what.startswith("block"):
            return is_its
        if about and self.whole:
            return about <= self.tasks
        if isinstance(command, AddCategory) and not about:
            is_its = is_its or category_id(command.name) == self.part
        return is_its and about <= self.tasks


CORRECTIONS = "corrections"
"""The section of a prompt with what the person corrected, as examples."""
OF_AGENTS = AssignTemplate | SettleAgentsConflict | RateRun
"""Commands of other families that are about an agent, a set or a wake."""


def tasks_of(command: Any) -> set[str]:
    """The tasks that a command of the journal names."""
    found = {getattr(command, name, "") for name in ("task", "target")}
    for name in ("tasks", "others", "gone", "nexts", "bases", "links", "restores"):
        every = getattr(command, name, ())
        found.update(one if isinstance(one, str) else one.task for one in every)
    return found - {""}

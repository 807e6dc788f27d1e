"""What the benches of claims share: services on files, the floor that it is held against, a table.

The machine may be busy, so the two sides of a ratio take turns in small pieces, and what counts
is the median piece of each.
"""

import asyncio
import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec

from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.models.tape import TapeModel
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.recorder import by_append
from domain.agent.agent import AGENT
from domain.agent.commands import ConfigureAgent, CreateAgent, RequestWake
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.append import envelope
from domain.append.envelope import Envelope, Row
from domain.journal.commands import AddNote, CreateTask
from domain.journal.task import TASK
from domain.log.wire import Payload, Words
from domain.ports import Call, Reply, Usage

NOW = "2027-01-01T00:00:00.000000Z"
TABLES = (
    """CREATE TABLE stored_events (
        originator_id TEXT, originator_version INTEGER, topic TEXT, state BLOB,
        PRIMARY KEY (originator_id, originator_version)
    )""",
    "CREATE TABLE payloads (id TEXT PRIMARY KEY, bytes BLOB NOT NULL)",
)
INSERT = "INSERT INTO stored_events VALUES (?, ?, ?, ?)"
KEEP = "INSERT INTO payloads VALUES (?, ?) ON CONFLICT DO NOTHING"

Piece = Callable[[], object]


class Decoded(NamedTuple):
    """A row before it becomes bytes."""

    stream: str
    version: int
    topic: str
    envelope: Envelope


# ------------------------------------------------------------------------------------- the figures


def machine() -> str:
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python"
        f" {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def disks() -> dict[str, str]:
    """Where files are put: on the disk, and where the machine has one, on a disk in memory. Only
    there does a busy disk not hide what the code costs."""
    found = {"on the disk": tempfile.gettempdir()}
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        found["in memory"] = str(memory)
    return found


def timed(work: Piece, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that a piece of work takes; with `time.thread_time` those of the processor alone,
    whatever else the machine is doing."""
    begun = clock()
    work()
    return clock() - begun


def in_turns(
    *sides: Iterable[Piece], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Let the sides take turns, piece by piece; the median seconds of each one's pieces."""
    seconds: list[list[float]] = [[] for _ in sides]
    for pieces in zip(*sides, strict=True):
        for side, piece in zip(seconds, pieces, strict=True):
            side.append(timed(piece, clock))
    return [median(side) for side in seconds]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table: the first column to the left, the others to the right."""
    cells = [tuple(heads), *(tuple(row) for row in rows)]
    wide = [max(len(row[nth]) for row in cells) for nth in range(len(heads))]
    lines = [
        " | ".join(
            cell.rjust(width) if nth else cell.ljust(width)
            for nth, (cell, width) in enumerate(zip(row, wide, strict=True))
        )
        for row in cells
    ]
    rule = "|".join("-" * (width + 1) + (":" if nth else "-") for nth, width in enumerate(wide))
    print(f"| {lines[0]} |\n|{rule}|")
    for line in lines[1:]:
        print(f"| {line} |")


# --------------------------------------------------------------------------------------- the floor


class Floor:
    """What SQLite and msgspec alone can do: the same tables, WAL, `synchronous=FULL`."""

    def __init__(self, path: Path) -> None:
        self.file = sqlite3.connect(path, isolation_level=None)
        self.file.execute("PRAGMA journal_mode=WAL")
        self.file.execute("PRAGMA synchronous=FULL")
        for sql in TABLES:
            self.file.execute(sql)
        self._encode = msgspec.json.Encoder().encode

    def write(self, rows: Sequence[Decoded], payloads: Sequence[Payload] = ()) -> None:
        """One transaction: encode and insert."""
        encode = self._encode
        self.file.execute("BEGIN IMMEDIATE")
        states = [(stream, version, topic, encode(fact)) for stream, version, topic, fact in rows]
        self.file.executemany(INSERT, states)
        if payloads:
            self.file.executemany(KEEP, [(kept.id, kept.data) for kept in payloads])
        self.file.execute("COMMIT")

    def rows(self) -> list[tuple[str, int, str, bytes]]:
        """What was written, to compare."""
        return self.file.execute("SELECT * FROM stored_events ORDER BY rowid").fetchall()


def decoded(rows: Iterable[Row]) -> list[list[Decoded]]:
    """Rows before they became bytes, by append."""
    return [
        [Decoded(row.stream, row.version, row.topic, envelope.read(row)) for row in one]
        for one in by_append(rows)
    ]


# ------------------------------------------------------------------------------------ the services


def services(folder: Path, replies: Sequence[Reply] = (), *, is_durable: bool = True) -> Services:
    """Services on two files, whose model answers from a tape."""
    tape = TapeModel("tape", replies)
    logs = [Log.open(name, folder / f"{name}.db", "r1") for name in ("journal", "agent")]
    if not is_durable:  # what is only read afterwards may be lost
        for log in logs:
            recorder: Any = log.recorder
            recorder._connection.execute("PRAGMA synchronous=OFF")
    return Services(logs[0], logs[1], ManualClock(NOW, step_ms=1000), Settings(), lambda _: tape)


def with_agent(at: Services, title: str, turns: int) -> tuple[str, str]:
    """A task, and its agent with so many turns a wake."""
    task = at.append_journal(CreateTask(title)).result.ids[0]
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    make = CreateAgent(task, title, category, at.journal.tail().n, "hybrid", is_enabled=True)
    agent = at.append_agent(make).result.ids[0]
    at.append_agent(ConfigureAgent(agent, AgentSettings(turn_max=turns)))
    return task, agent


def queued(at: Services, agent: str) -> str:
    """The run key of the agent's next wake, which is asked for where none waits."""
    with at.agents.reading() as world:
        assert world.load(AGENT, agent).lifecycle == "active"
        waiting = next_wake(world.load(WAKE_QUEUE, agent))
    if waiting is not None:
        return waiting.run_key
    return at.append_agent(RequestWake(agent, "manual", is_enabled=True)).result.ids[1]


def wake(at: Services, agent: str, run_key: str) -> None:
    asyncio.run(run_wake(at, agent, run_key, is_now=True))


def answer(*calls: tuple[str, str], text: str = "") -> Reply:
    """A model's answer: calls as ``(tool, arguments)``."""
    made = tuple(Call(f"c{nth}", *call) for nth, call in enumerate(calls, start=1))
    return Reply(b"", text, made, Usage(900, 60))


def ten_turns(nth: int) -> list[Reply]:
    """A wake's answers: it observes, changes the language at once, proposes, reports."""
    language = "de" if nth % 2 else "en"
    return [
        answer(observed(f"The plumber named a price, wake {nth}.")),
        answer(("set_task_language", f'{{"languageCode":"{language}","confidence":"high"}}')),
        answer(("update_task_estimate", f'{{"minutes":{30 + nth}}}')),
        answer(("update_task_due_date", f'{{"dueDate":"2027-03-{nth % 28 + 1:02}"}}')),
        answer(("update_task_priority", '{"priority":"P1"}')),
        answer(items(f"Buy a seal, {nth}", f"Call the plumber, {nth}")),
        answer(items(f"Ask for an offer, {nth}")),
        answer(observed(f"Two offers are enough, wake {nth}.")),
        answer(report(nth)),
        answer(text="I have looked at the task and proposed what to do next."),
    ]


def observed(*texts: str) -> tuple[str, str]:
    return "record_observations", msgspec.json.encode({"observations": texts}).decode()


def items(*titles: str) -> tuple[str, str]:
    wanted = {"items": [{"title": title} for title in titles]}
    return "add_multiple_checklist_items", msgspec.json.encode(wanted).decode()


def report(nth: int) -> tuple[str, str]:
    said = {
        "content": f"The sink leaks at the seal; a plumber is asked, wake {nth}.",
        "tldr": "A seal is needed, and a plumber is asked.",
        "oneLiner": "Waiting for the plumber",
    }
    return "update_report", msgspec.json.encode(said).decode()


def lived(folder: Path, wakes: int, notes: int) -> Services:
    """Services with a past: four agents, so many wakes of ten turns each, notes between them."""
    replies = [one for nth in range(wakes) for one in ten_turns(nth)]
    at = services(folder, replies, is_durable=False)
    agents = [with_agent(at, f"Task {nth}", 10) for nth in range(4)]
    for nth in range(wakes):
        task, agent = agents[nth % 4]
        for one in range(notes):
            at.append_journal(AddNote(task, "note", Words(f"Note {one} before wake {nth}.")))
        wake(at, agent, queued(at, agent))
    return at

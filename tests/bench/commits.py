"""Durable single commands: a note on a task is one transaction, on the disk when it returns.

    .venv/bin/python tests/bench/commits.py [--commits 600]

The floor writes the very same rows with sqlite3 and msgspec, one transaction each, at the same
durability, and decides nothing. The two take turns commit by commit. On a disk in memory nothing
is waited for: there the ratio is that of the code alone.
"""

import argparse
import sqlite3
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.store.log import Log
from adapters.store.recorder import by_append
from domain.append import envelope
from domain.append.envelope import Envelope, Row
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words
from tests.bench.common import NOW, Piece, disks, in_turns, machine, table

AIM = 0.5
TASKS = 20
TABLES = (
    """CREATE TABLE stored_events (
        originator_id TEXT, originator_version INTEGER, topic TEXT, state BLOB,
        PRIMARY KEY (originator_id, originator_version)
    )""",
    "CREATE TABLE payloads (id TEXT PRIMARY KEY, bytes BLOB NOT NULL)",
)
INSERT = "INSERT INTO stored_events VALUES (?, ?, ?, ?)"


class Decoded(NamedTuple):
    """A row before it becomes bytes."""

    stream: str
    version: int
    topic: str
    envelope: Envelope


class Floor:
    """What SQLite and msgspec alone can do: the same tables, WAL, `synchronous=FULL`."""

    def __init__(self, path: Path) -> None:
        self.file = sqlite3.connect(path, isolation_level=None)
        self.file.execute("PRAGMA journal_mode=WAL")
        self.file.execute("PRAGMA synchronous=FULL")
        for sql in TABLES:
            self.file.execute(sql)
        self._encode = msgspec.json.Encoder().encode

    def write(self, rows: Sequence[Decoded]) -> None:
        """One transaction: encode and insert."""
        encode = self._encode
        self.file.execute("BEGIN IMMEDIATE")
        states = [(stream, version, topic, encode(fact)) for stream, version, topic, fact in rows]
        self.file.executemany(INSERT, states)
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


def notes(log: Log, tasks: list[str], count: int) -> Iterator[Piece]:
    for nth in range(count):
        said = Words(f"Note {nth}: the plumber comes on Tuesday and brings the seal.")
        yield partial(log.append, AddNote(tasks[nth % TASKS], "note", said), NOW)


def with_tasks(path: Path) -> tuple[Log, list[str]]:
    log = Log.open("journal", path, "r1")
    made = [log.append(CreateTask(f"Task {nth}"), NOW) for nth in range(TASKS)]
    return log, [one.result.ids[0] for one in made]


def measured(count: int, where: str, disk: str) -> None:
    with tempfile.TemporaryDirectory(dir=disk) as folder:
        before, tasks = with_tasks(Path(folder, "before.db"))  # what the rows will be
        first = before.tail().n
        for piece in notes(before, tasks, count):
            piece()
        appends = decoded(before.rows(first))
        floor = Floor(Path(folder, "floor.db"))
        log, tasks = with_tasks(Path(folder, "journal.db"))
        ours, raw = in_turns(
            notes(log, tasks, count), (partial(floor.write, rows) for rows in appends)
        )
        same = [tuple(row) for row in log.rows(first)] == floor.rows()
    assert same, "the floor wrote other rows"
    table(
        (f"durable commits, {where}", "a second", "microseconds", "of the floor", "aim"),
        [
            ("AddNote, 2 rows", f"{1 / ours:,.0f}", f"{ours * 1e6:,.0f}", f"{raw / ours:.2f}",
             f"{AIM}" if where == "on the disk" else ""),
            ("sqlite3 + msgspec", f"{1 / raw:,.0f}", f"{raw * 1e6:,.0f}", "1", ""),
        ],
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--commits", type=int, default=600)
    count = parser.parse_args().commits
    print(machine())
    for where, disk in disks().items():
        measured(count, where, disk)


if __name__ == "__main__":
    main()

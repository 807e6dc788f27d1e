"""Both logs into DuckDB: all at once, a tail of 1,000, and each standard question.

    python tests/bench/analytics_load.py [EVENTS] [--fixture DIR] [--rounds N]

EVENTS is 1,000,000 unless told; a small run: 20000. The history is that of the sample tasks, on
templates, decided and woken again, written down again and again under other ids
(`tests/support/retold.py`). With --fixture it is made once and kept in DIR, for the next run of
that size.

Load and floor take turns, `rounds` times (3), and the best of each counts: seconds on the clock,
and of all processors together, which say more where others work on the machine, too.

- The load is `adapters.analytics.database.connect` on a home without an analytics file: reading
  both logs, deriving every table, writing the file.
- The floor is DuckDB's appender (`append_rows`) filling the same tables with the same rows, all
  those that the load came to. It has them as Python tuples at hand, reads and derives nothing, and
  writes as the load does: one transaction, no write-ahead log, a checkpoint at the end.
- The log's own rows: the appender on nothing but what stands in the two logs, read from SQLite,
  their JSON untouched, and the texts that the tables need: what is paid for deriving nothing.
- The tail's floor: a copy of the file, and the appender on the tail's rows in `events` alone.
"""

import argparse
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.analytics.database import connect
from adapters.analytics.rows import statements
from adapters.home import files
from tests.bench.common import machine, table
from tests.support.retold import Story, fixture

TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT temporary"
TAIL = 1_000
TRIES = 5
CHUNK = 50_000  # rows that the floor is given at once


class Spent(NamedTuple):
    """Seconds that a piece of work took: on the clock, and of all processors."""

    clock: float
    cpu: float


def spent(work: Callable[[], object]) -> Spent:
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - clock, time.process_time() - cpu)


def best(found: Iterable[Spent]) -> Spent:
    clocks, cpus = zip(*found, strict=True)
    return Spent(min(clocks), min(cpus))


def load(home: Path) -> None:
    (home / files.ANALYTICS).unlink(missing_ok=True)
    connect(home, {}).close()


# --------------------------------------------------------------------------------------- the floors


class Floor:
    """An empty file to append to, written as a load writes it."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self.connection = duckdb.connect()
        self.connection.execute(f"ATTACH '{path}' AS floor (RECOVERY_MODE no_wal_writes)")
        self.connection.execute("USE floor")
        self.connection.execute("BEGIN")

    def append(self, name: str, rows: Iterable[tuple[Any, ...]]) -> None:
        appender = self.connection.appender(name)
        appender.append_rows(rows)
        appender.flush()

    def close(self) -> None:
        self.connection.execute("COMMIT")
        self.connection.execute("CHECKPOINT floor")
        self.connection.close()


def floor(home: Path, path: Path) -> Spent:
    """All rows of all tables; only what the appender does counts."""
    to = Floor(path)
    to.connection.execute(statements("tables"))
    pieces = []
    with connect(home, {}) as found:
        names = found.execute(TABLES).fetchall()
        for (name,) in names:
            asked = found.execute(f"FROM {name}")
            while rows := asked.fetchmany(CHUNK):
                pieces.append(spent(partial(to.append, name, rows)))
    pieces.append(spent(to.close))
    return Spent(sum(one.clock for one in pieces), sum(one.cpu for one in pieces))


def logs_alone(home: Path, path: Path, wanted: set[str]) -> None:
    """The rows of both logs as they are, and the texts that are wanted, read from SQLite."""
    to = Floor(path)
    to.connection.execute(
        "CREATE TABLE rows (log VARCHAR, stream VARCHAR, version INTEGER, topic VARCHAR, "
        "state VARCHAR); CREATE TABLE texts (id VARCHAR, text VARCHAR)"
    )
    for name in ("journal", "agent"):
        with closing(sqlite3.connect(home / f"{name}.db")) as file:
            found = file.execute("SELECT * FROM stored_events ORDER BY rowid")
            told = ((name, *row[:3], bytes(row[3]).decode()) for row in found)
            to.append("rows", told)
    with closing(sqlite3.connect(home / "agent.db")) as file:
        found = file.execute("SELECT * FROM payloads")
        to.append("texts", ((key, data.decode()) for key, data in found if key in wanted))
    to.close()


def tail_alone(file: Path, copy: Path, rows: list[tuple[Any, ...]]) -> None:
    """A copy of the file, and the tail's rows as events."""
    shutil.copyfile(file, copy)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{copy}' AS floor (RECOVERY_MODE no_wal_writes)")
        connection.execute("USE floor")
        connection.execute("BEGIN")
        connection.appender("events").append_rows(rows)
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT floor")


# ------------------------------------------------------------------------------------ the questions


def questions(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Each standard question as SQL."""
    views = connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_oid"
    ).fetchall()
    agent, at = connection.execute(
        "SELECT agent_id, max(started_at)::VARCHAR FROM wakes GROUP BY 1 ORDER BY 2 DESC LIMIT 1"
    ).fetchall()[0]
    n, row_n = connection.execute(
        "SELECT n, row_n FROM task_changes WHERE operation IS NOT NULL ORDER BY n DESC LIMIT 1"
    ).fetchall()[0]
    template = connection.execute("SELECT min(template_id) FROM templates").fetchall()[0][0]
    return {
        **{name: f"FROM {name}" for (name,) in views},
        "wake_series_of": f"FROM wake_series_of('{template}', 'Europe/Berlin')",
        "resolution_series_of": "FROM resolution_series_of('America/New_York')",
        "causality": f"FROM causality('journal', {n}, of_row_n := {row_n})",
        "what_it_knew": f"FROM what_it_knew('{agent}', '{at}')",
    }


def asked(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    return len(connection.execute(sql).fetchall())


# ------------------------------------------------------------------------------------------ the run


def against(name: str, took: Spent, events: int, of: Spent) -> tuple[str, ...]:
    return (
        name,
        f"{took.clock:.2f}",
        f"{took.cpu:.2f}",
        f"{events / took.clock:,.0f}",
        f"{took.clock / of.clock:.2f}",
        f"{took.cpu / of.cpu:.2f}",
    )


def loaded(home: Path, events: int, rounds: int) -> None:
    """Load and floors in turns."""
    floors, alone, loads = [], [], []
    path = home / "floor.duckdb"
    for _ in range(rounds):
        loads.append(spent(partial(load, home)))
        floors.append(floor(home, path))
        with connect(home, {}) as connection:
            texts = {key for (key,) in connection.execute("SELECT payload FROM texts").fetchall()}
        alone.append(spent(partial(logs_alone, home, path, texts)))
    path.unlink()
    took = best(loads)
    rows = [
        against("load", took, events, took),
        against("floor: its rows, appended", best(floors), events, took),
        against("the logs' own rows, appended", best(alone), events, took),
    ]
    size = (home / files.ANALYTICS).stat().st_size / 1e6
    print(f"{events:,} events, {size:.0f} MB; {machine()}\n")
    heads = (f"best of {rounds}", "s", "cpu s", "events/s", "load reaches", "by cpu")
    table(heads, rows)


def tailed(home: Path, story: Story, nth: int) -> None:
    """A refresh with 1,000 new events, its floor, and one with nothing new."""
    file = home / files.ANALYTICS
    before = home / "before.duckdb"
    shutil.copyfile(file, before)
    ends = "SELECT max(n) FILTER (log = 'journal'), max(n) FILTER (log = 'agent') FROM events"
    with connect(home, {}) as connection:
        journal, agent = connection.execute(ends).fetchall()[0]
    story.add(home, nth, TAIL)
    with connect(home, {}) as connection:
        new = f"FROM events WHERE n > CASE log WHEN 'journal' THEN {journal} ELSE {agent} END"
        rows = connection.execute(new).fetchall()
    assert len(rows) == TAIL
    tails, floors = [], []
    for _ in range(TRIES):
        shutil.copyfile(before, file)
        tails.append(spent(lambda: connect(home, {}).close()))
        floors.append(spent(partial(tail_alone, before, home / "floor.duckdb", rows)))
    idle = best(spent(lambda: connect(home, {}).close()) for _ in range(TRIES))
    took = best(tails)
    print()
    table(
        (f"best of {TRIES}", "s", "cpu s", "events/s", "tail reaches", "by cpu"),
        [
            against(f"a tail of {TAIL:,}", took, TAIL, took),
            against("floor: a copy, its events appended", best(floors), TAIL, took),
        ],
    )
    print(f"\nnothing new: {idle.clock * 1000:.0f} ms")


def answered(home: Path) -> None:
    print()
    rows = []
    with connect(home, {}) as connection:
        for name, sql in questions(connection).items():
            took = best(spent(partial(asked, connection, sql)) for _ in range(TRIES))
            found = asked(connection, sql)
            rows.append((name, f"{took.clock * 1000:.1f}", f"{took.cpu * 1000:.1f}", f"{found:,}"))
    table((f"question, best of {TRIES}", "ms", "cpu ms", "rows"), rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("events", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--fixture", type=Path, help="folder to keep what is loaded in")
    parser.add_argument("--rounds", type=int, default=3, help="turns of load and floor")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        kept, story, nth = fixture(told.fixture or Path(name), told.events)
        home = Path(name, "home")
        shutil.copytree(kept, home)  # the tail goes into a copy
        loaded(home, told.events, told.rounds)
        tailed(home, story, nth)
        answered(home)


if __name__ == "__main__":
    main()

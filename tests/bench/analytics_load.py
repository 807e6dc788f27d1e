"""Both logs into DuckDB: all at once, a tail of 1,000, and each standard question.

    python tests/bench/analytics_load.py [EVENTS]     default 1,000,000; a small run: 20000

The floor is DuckDB's own appender, fed with the same rows and texts from the same files. The
history is
that of the sample tasks, decided and woken again, written down again and again under other ids.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import duckdb

from adapters import homefiles
from adapters.analytics import connect
from adapters.store.recorder import numbered

NOW = "2026-01-05T08:00:00Z"
LATER = "2026-01-06T10:00:00Z"
STEP = timedelta(hours=3)  # from one writing down to the next
TAIL = 1_000
TRIES = 3
INSERT = "INSERT INTO stored_events VALUES (?, ?, ?, ?)"
ID = re.compile(rb"(?<![A-Za-z0-9])([a-z2-7]{26})[a-z2-7]{6}(?![A-Za-z0-9])")
AT = re.compile(rb"2026-01-0[56]T[0-9:.]{15}Z")
N = re.compile(rb'^(\{(?:"at":"[^"]{27}",)?"n":)([0-9]+)')
PLACES = re.compile(rb'"(position|journalPosition|agentPosition|first|last)":([0-9]+)')
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


class Story:
    """A home's two logs, to be written down again under other ids, later."""

    def __init__(self, home: Path) -> None:
        self.rows: dict[str, list[tuple[str, int, str, bytes]]] = {}
        self.texts: dict[str, list[tuple[str, bytes]]] = {}
        self.last: dict[str, int] = {}
        for name in ("journal", "agent"):
            with closing(sqlite3.connect(home / f"{name}.db")) as file:
                sql = "SELECT * FROM stored_events ORDER BY rowid"
                self.rows[name] = [
                    (stream, version, topic, bytes(state))
                    for stream, version, topic, state in file.execute(sql)
                    if topic != "log.epoch.1"
                ]
                self.texts[name] = file.execute("SELECT * FROM payloads").fetchall()
                self.last[name] = numbered(self.rows[name][-1][3]).n

    def told(self, name: str, nth: int) -> Iterator[tuple[str, int, str, bytes]]:
        """The rows of a log, the nth time."""
        ending = _ending(nth).encode()
        shift = nth * STEP

        def number(found: re.Match[bytes]) -> bytes:
            return found[1] + b"%d" % (int(found[2]) + nth * self.last[name])

        def place(found: re.Match[bytes]) -> bytes:
            log = "agent" if found[1] == b"agentPosition" else "journal"
            return b'"%b":%d' % (found[1], int(found[2]) + nth * self.last[log])

        def moved(found: re.Match[bytes]) -> bytes:
            at = datetime.fromisoformat(found[0].decode()) + shift
            return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ").encode()

        for stream, version, topic, state in self.rows[name]:
            again = ID.sub(rb"\g<1>" + ending, AT.sub(moved, state))
            again = PLACES.sub(place, N.sub(number, again))
            named = ID.sub(rb"\g<1>" + ending, stream.encode()).decode()
            shared = nth * 100_000 if named == stream else 0  # one stream for all: catalog, watch
            yield named, version + shared, topic, again

    def keep(self, home: Path, numbers: range) -> None:
        """Write it down again, so many times."""
        for name in ("journal", "agent"):
            with closing(sqlite3.connect(home / f"{name}.db")) as file, file:
                for nth in numbers:
                    file.executemany(INSERT, self.told(name, nth))
                    ending = _ending(nth)
                    texts = [(key[:26] + ending, data) for key, data in self.texts[name]]
                    file.executemany("INSERT OR IGNORE INTO payloads VALUES (?, ?)", texts)


def _ending(nth: int) -> str:
    return "".join(LETTERS[nth >> shift & 31] for shift in range(0, 30, 5))


def tell(home: Path) -> None:
    """The sample tasks: woken, decided, changed, woken again."""

    def run(now: str, *words: str) -> str:
        environ = {**os.environ, "WAKELOG_REPLICA": "r1", "WAKELOG_NOW": now}
        command = [sys.executable, "-m", "adapters.cli.main", "--home", str(home), "--quiet"]
        done = subprocess.run([*command, *words], env=environ, capture_output=True, check=False)
        return done.stdout.decode()

    run(NOW, "demo")
    run(LATER, "confirm", "1.1", "2.1", "3.1", "4.1", "5.1")
    run(LATER, "reject", "1.2", "2.2", "--reason", "I know that myself")
    run(LATER, "task", "note", "Renew the passport", "Takes 90 minutes. Due by 2026-05-01.")
    run(LATER, "wake", "Renew the passport")


def timed(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def floor(home: Path, path: Path, wanted: set[str]) -> None:
    """DuckDB's appender, fed with every row, and the texts that are wanted, as they are."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE rows (log VARCHAR, stream VARCHAR, version INTEGER, topic VARCHAR, "
            "state VARCHAR)"
        )
        appender = connection.appender("rows")
        for name in ("journal", "agent"):
            with closing(sqlite3.connect(home / f"{name}.db")) as file:
                found = file.execute("SELECT * FROM stored_events ORDER BY rowid")
                appender.append_rows(
                    (name, stream, version, topic, bytes(state).decode())
                    for stream, version, topic, state in found
                )
        appender.flush()
        connection.execute("CREATE TABLE texts (id VARCHAR, text VARCHAR)")
        appender = connection.appender("texts")
        with closing(sqlite3.connect(home / "agent.db")) as file:
            found = file.execute("SELECT * FROM payloads")
            appender.append_rows((key, data.decode()) for key, data in found if key in wanted)
        appender.flush()


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
    return {
        **{name: f"FROM {name}" for (name,) in views},
        "causality": f"FROM causality('journal', {n}, of_row_n := {row_n})",
        "what_it_knew": f"FROM what_it_knew('{agent}', '{at}')",
    }


def asked(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    connection.execute(sql).fetchall()


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        tell(home)
        story = Story(home)
        size = sum(map(len, story.rows.values()))
        times = max(1, wanted // size)
        story.keep(home, range(1, times))
        events = size * times
        loaded = timed(lambda: connect(home, {}).close())
        with connect(home, {}) as connection:
            texts = {key for (key,) in connection.execute("SELECT payload FROM texts").fetchall()}
        floored = timed(lambda: floor(home, Path(folder, "floor.duckdb"), texts))
        file = home / homefiles.ANALYTICS
        print(f"{events} events, {file.stat().st_size / 1e6:.0f} MB; {os.cpu_count()} cores")
        print(f"floor, appender     {floored:8.2f} s  {events / floored:9.0f} events/s")
        print(
            f"load                {loaded:8.2f} s  {events / loaded:9.0f} events/s"
            f"  {floored / loaded:.2f} of the floor"
        )
        count = max(1, TAIL // size)
        story.keep(home, range(times, times + count))
        added = timed(lambda: connect(home, {}).close())
        copied = timed(lambda: shutil.copyfile(file, Path(folder, "copy")))
        print(f"tail of {size * count:<5}       {added:8.2f} s  (copying the file {copied:.2f} s)")
        idle = timed(lambda: connect(home, {}).close())
        print(f"nothing new         {idle:8.3f} s")
        with connect(home, {}) as connection:
            for name, sql in questions(connection).items():
                best = min(timed(partial(asked, connection, sql)) for _ in range(TRIES))
                print(f"{name:<22} {best * 1000:7.1f} ms")


if __name__ == "__main__":
    main()

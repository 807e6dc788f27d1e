"""How the rows of both logs come into DuckDB: in bulk, then by SQL (`projections/analytics`).

DuckDB reads JSON Lines in parallel and faster than rows can be handed over one by one, and the
envelope is taken apart on the way. Everything else is a statement over all that is new."""

import tempfile
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

import duckdb
import msgspec
from msgspec import Struct

from adapters.home.settings import Settings
from adapters.store.log import Log
from adapters.store.recorder import AppendPosition, numbered
from domain.append import envelope
from domain.append.envelope import Row
from domain.journal.task import ADDED, FIELDS, TASK, TaskField
from domain.replication.replica_conflicts import canonical_position

SCHEMA_VERSION = 14 + ADDED
"""Of the tables and views that `projections/analytics` defines and README.md there describes."""

PAGE_ROWS = 20_000  # that DuckDB is given at once
PAGE_TEXTS = 5_000
LINE_BYTES = 16_777_216  # DuckDB's own bound of a line; a longer one raises it
LOGS = ("journal", "agent")
"""In this order: what the agent log says of the journal has happened there before."""

_TYPES = {"minutes": "INTEGER", "day": "DATE"} | dict.fromkeys(
    ("choice", "language", "rule"), "VARCHAR"
)
_FIRST = b'{"at":"'  # what only an append's first row begins with
_READ = """
INSERT INTO events
WITH lines AS MATERIALIZED (
    SELECT *, split_part(stream, '@', -1) AS replica
    FROM read_json(?, format = 'newline_delimited', maximum_object_size = ?, columns = {
        stream: 'VARCHAR', version: 'INTEGER', tag: 'VARCHAR',
        state: 'STRUCT("at" TIMESTAMP, n BIGINT, "row" INTEGER, "rows" INTEGER, data JSON)'})
), appends AS (
    SELECT replica, state.n AS n, state."at" AS occurred_at FROM lines WHERE state."row" IS NULL
)
SELECT ?, lines.replica, n, coalesce(state.row, 0), coalesce(state.rows, 0), occurred_at, stream,
    split_part(stream, ':', 1),
    stream[length(split_part(stream, ':', 1)) + 2 : -2 - length(lines.replica)],
    version, tag, state.data
FROM lines JOIN appends ON appends.replica = lines.replica AND appends.n = lines.state.n
"""
_PAYLOADS = """
SELECT DISTINCT payload FROM (
    SELECT log, unnest(regexp_extract_all(data, '"payload":"([a-z2-7]{32})"', 1)) AS payload
    FROM fresh WHERE kind IN ('wake', 'agent', 'changes', 'template', 'task', 'memory')
        AND contains(data, '"payload":"')
    UNION ALL
    SELECT log, data->'trigger'->>'words' FROM fresh WHERE tag IN (
        'alert.wake_queued.1', 'alert.trigger_merged.1', 'alert.trigger_suppressed.1')
) ANTI JOIN texts USING (payload) WHERE log = ? AND payload IS NOT NULL ORDER BY payload
"""
_PLACE = "SELECT * FROM events WHERE log = 'journal' AND n > {} OR log = 'agent' AND n > {}"

_LEFT_OUT = """
CREATE OR REPLACE TEMP TABLE left_out (log VARCHAR, replica VARCHAR, n BIGINT, row_n INTEGER)
"""
_OF_SEVERAL = """
SELECT kind, entity FROM ({}) WHERE log = ? AND kind NOT IN ('receipt', 'log')
GROUP BY kind, entity HAVING count(DISTINCT replica) > 1
"""
_KINDS = "SELECT kind FROM fresh UNION SELECT kind FROM touched"
_AGENTS = ("agent", "alert", "changes", "wake")
_CONCERNS = {
    "templates": ("template",),
    "entities": _AGENTS,
    "proposals": _AGENTS,
    "learning": ("lessons", "memory"),
    "journal": ("catalog", "day", "task"),
    "causality": _AGENTS,
}
"""Which kinds of streams make each of the files have something to do, in this order."""


class _RowNumber(Struct):
    """What a line tells of where its row stands."""

    state: AppendPosition


_numbered = msgspec.json.Decoder(_RowNumber).decode


class TablesPosition(NamedTuple):
    """Up to which append of a log the tables have come, and that append's digest."""

    n: int = 0
    digest: str = ""


@cache
def statements(name: str) -> str:
    """The SQL of a file of `projections/analytics`, the plain fields of a task put in."""
    sql = (files("projections") / "analytics" / f"{name}.sql").read_text("utf-8")
    return Template(sql).substitute(
        task_columns=", ".join(f"{one.column} {_TYPES[one.kind]}" for one in FIELDS),
        task_types=", ".join(f'"{one.value}": "VARCHAR"' for one in FIELDS),
        task_values=", ".join(f"d.{one.value}" for one in FIELDS),
        task_folded=", ".join(f"{_latest(one)} AS {one.column}" for one in FIELDS),
    )


def _latest(field: TaskField) -> str:
    """What a task's facts say of a field in the end; NULL: there is none."""
    tag, at_first = field.fact.__struct_config__.tag, getattr(TASK.initial(""), field.name) or ""
    latest = f"arg_max(coalesce(d.{field.value}, ''), place) FILTER (tag = '{tag}')"
    return f"nullif(coalesce({latest}, '{at_first}'), '')::{_TYPES[field.kind]}"


def documentation() -> str:
    """What each table, view and column means: the contract, as Markdown."""
    return (files("projections") / "analytics" / "README.md").read_text("utf-8")


def create(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the empty tables, and the views over them."""
    for name in ("tables", "questions", "answers"):
        connection.execute(statements(name))
    connection.execute("INSERT INTO home VALUES (?, 'UTC', NULL)", [SCHEMA_VERSION])
    for name in LOGS:
        connection.execute("INSERT INTO positions VALUES (?, 0, '', 0)", [name])


def fill(
    connection: duckdb.DuckDBPyConnection,
    logs: Mapping[str, Log],
    after: Mapping[str, TablesPosition],
) -> bool:
    """Bring what the logs have beyond their positions (`after`) into all tables; inside a
    transaction, of a database that `create` was called on. False if rows of another replica came
    in, some of them perhaps before a position, or some were erased: then the caller rolls back and
    begins with an empty database."""
    is_anew = not any(position.n for position in after.values())
    reached: dict[str, TablesPosition] = {}
    with tempfile.TemporaryDirectory(prefix="wakelog-") as folder:
        for name in LOGS:
            reached[name] = _load(connection, logs[name], after[name], Path(folder))
    fresh = whole = "SELECT * FROM events"
    if not is_anew:  # few rows of many: looked for once
        sql = _PLACE.format(*(after[name].n for name in LOGS))
        fresh = _temporary_table(connection, "fresh_rows", sql)
    _view(connection, "fresh", fresh)
    sql = "SELECT count(*) FROM fresh WHERE tag IN ('log.imported.1', 'erasure.made.1')"
    if not is_anew and number(connection, sql):
        return False
    for name in LOGS:
        _texts(connection, logs[name])
    connection.execute(statements("rows"))
    connection.execute(statements("touched"))
    if not is_anew:
        sql = f"{whole} SEMI JOIN touched USING (kind, entity)"
        whole = _temporary_table(connection, "whole_streams", sql)
    connection.execute(_LEFT_OUT)
    left_out = [_leave_out(connection, logs[name], whole) for name in LOGS]
    if any(left_out):
        whole = f"{whole} ANTI JOIN left_out USING (log, replica, n, row_n)"
    _view(connection, "live", f"SELECT * FROM ({whole}) WHERE tag != 'erased.1'")
    found = connection.execute(_KINDS).fetchall()
    for file, kinds in _CONCERNS.items():
        if any(kind in kinds for (kind,) in found):
            connection.execute(statements(file))
    for name, position in reached.items():
        connection.execute(
            "UPDATE positions SET n = $2, digest = $3, events = (SELECT count(*) FROM events "
            "WHERE log = $1) WHERE log = $1",
            [name, *position],
        )
    return True


def _leave_out(connection: duckdb.DuckDBPyConnection, log: Log, whole: str) -> bool:
    """Note, of what several machines said of an entity, the rows that do not count: see
    `domain.replication.merge`. False where one machine has the log alone."""
    if not log.is_shared:
        return False
    entities = connection.execute(_OF_SEVERAL.format(whole), [log.name]).fetchall()
    found: list[tuple[str, str, int, int]] = []
    with log.reading() as world:
        for kind, entity in entities:
            rows = world.history(kind, entity)
            counted = set(map(canonical_position, log.counted(rows)))
            left = (row for row in rows if canonical_position(row) not in counted)
            found += [(log.name, row.replica, row.n, row.row) for row in left]
    if found:
        connection.executemany("INSERT INTO left_out VALUES (?, ?, ?, ?)", found)
    return bool(found)


def keep_settings(connection: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """What the questions need from the settings: the time zone, the currency and the prices."""
    connection.execute("UPDATE home SET timezone = ?, currency = ?", home_line(settings))
    connection.execute("DELETE FROM prices")
    for line in price_lines(settings):
        connection.execute("INSERT INTO prices VALUES (?, ?, ?, ?, ?)", line)


def home_line(settings: Settings) -> tuple[str, str | None]:
    """What the table `home` holds of the settings."""
    return settings.timezone, settings.currency or None


def price_lines(settings: Settings) -> list[tuple[object, ...]]:
    """The rows of the table `prices`, in its order."""
    return [
        (model, one.input, one.output, one.cached, _day(one.since))
        for model, prices in sorted(settings.prices.items())
        for one in prices
    ]


def _day(since: str) -> date | None:
    return date.fromisoformat(since) if since else None


def digest_at(log: Log, n: int) -> str:
    """The digest of a log's append n; empty where there is none."""
    if n == 0:
        return ""
    rows: list[Row] = []
    for row in log.rows(n - 1):
        if rows and row.state.startswith(_FIRST):
            break
        rows.append(row)
    found = bool(rows) and numbered(rows[0].state).n == n
    return envelope.digest(rows) if found else ""


def _load(
    connection: duckdb.DuckDBPyConnection, log: Log, after: TablesPosition, folder: Path
) -> TablesPosition:
    """The log's rows beyond a position as events; the position that they end at. While DuckDB reads
    one page, in a thread of its own, the log gives the next one."""
    reading: Future[object] | None = None
    last = b""
    with ThreadPoolExecutor(1) as worker:
        for nth, page in enumerate(log.lines(after.n, PAGE_ROWS)):  # bounded by the log
            path = folder / f"{log.name}-{nth % 2}"
            with path.open("wb") as file:
                file.writelines((page, b"\n"))  # without an end, DuckDB misreads large files
            if reading is not None:
                reading.result()
            size = max(LINE_BYTES, len(page) + 1)
            reading = worker.submit(connection.execute, _READ, [str(path), size, log.name])
            last = page[page.rfind(b"\n") + 1 :]
        if reading is not None:
            reading.result()
    if not last:
        return after
    n = _numbered(last).state.n
    return TablesPosition(n, digest_at(log, n))


def _texts(connection: duckdb.DuckDBPyConnection, log: Log) -> None:
    """The texts that fresh rows name, each once."""
    wanted = [str(row[0]) for row in connection.execute(_PAYLOADS, [log.name]).fetchall()]
    appender = connection.appender("texts")
    for first in range(0, len(wanted), PAGE_TEXTS):
        appender.append_rows(
            (name, len(data), data.decode("utf-8", "replace"))
            for name, data in log.payloads(wanted[first : first + PAGE_TEXTS])
        )
    appender.flush()


def _view(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")


def _temporary_table(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> str:
    """Make a temporary table of what is found; the SQL that reads it."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")
    return f"SELECT * FROM {name}"


def number(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    """The one number that is asked for."""
    found = connection.execute(sql).fetchone()
    return int(found[0]) if found else 0

"""Asks DuckDB, in one statement; run as a process of its own, it answers what stands in stdin."""

import os
import pickle
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb

from adapters.analytics.answers import QueryAnswer
from adapters.analytics.database import asking, lock
from adapters.analytics.query_limits import out_of_memory, refused_query
from adapters.analytics.query_process import QueryAsked, QueryError
from adapters.home.home_location import location_of
from adapters.wiring import open_home
from domain.errors import Refused, WakelogError, invalid

PAGE_ROWS = 10_000
ROWS_MAX = 1_000_000  # of one answer
GRACE_SECONDS = 1.0  # in which DuckDB may end by itself
BESIDE_MB = 512  # that Python and DuckDB's threads may need beside what DuckDB counts
SECONDS_MAX = 1e8  # that a timer takes
_ZONED = "TIMESTAMP WITH TIME ZONE"


def run_query(connection: duckdb.DuckDBPyConnection, query: str) -> QueryAnswer:
    """Ask, in one statement of SQL. Raises Refused, code ``invalid_value``, with DuckDB's own
    words, or as `analytics_bounds` says."""
    try:
        asked = connection.execute(with_utc_times(connection, query))
        columns = _distinct([one[0] for one in asked.description])
        return QueryAnswer(columns, _answer_pages(asked))
    except duckdb.Error as error:
        raise refused_query(error) from None


def with_utc_times(connection: duckdb.DuckDBPyConnection, query: str) -> Any:
    """The one statement of a query, its zoned times as UTC: Python's DuckDB gives them out with
    pytz only. Raises Refused, code ``invalid_value``: there is none, or more than one."""
    statements = connection.extract_statements(query)
    if not statements:
        raise invalid("the query is empty", "ask something, like FROM wakes")
    if len(statements) > 1:
        because = f"there are {len(statements)} statements, and one is answered"
        raise invalid(because, "ask one at a time; WITH puts steps into one")
    statement = statements[0]
    inner = statement.query.strip().rstrip(";")
    if statement.type != duckdb.StatementType.SELECT:
        return statement
    told = connection.execute(f"DESCRIBE SELECT * FROM ({inner}\n)").fetchall()
    kinds = [str(row[1]) for row in told]
    if _ZONED not in kinds:
        return statement
    names = _distinct([str(row[0]) for row in told])
    columns = [
        f"{_quoted(name)} AT TIME ZONE 'UTC' AS {_quoted(name)}"
        if kind == _ZONED
        else _quoted(name)
        for name, kind in zip(names, kinds, strict=True)
    ]
    aliases = ", ".join(map(_quoted, names))
    return f"SELECT {', '.join(columns)} FROM ({inner}\n) AS asked({aliases})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _distinct(names: Sequence[str]) -> list[str]:
    """Column names, each once: a JSON object has no two of one name."""
    found: list[str] = []
    for name in names:
        nth, unique = 0, name
        while unique in found:  # bounded by the columns
            nth += 1
            unique = f"{name}_{nth}"  # as DuckDB names them in a subquery
        found.append(unique)
    return found


def _answer_pages(asked: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[Any, ...]]]:
    count = 0
    try:
        while page := asked.fetchmany(PAGE_ROWS):
            count += len(page)
            if count > ROWS_MAX:
                instead = "add LIMIT, or take it all with `wakelog export --parquet DIR`"
                raise invalid(f"the answer has more than {ROWS_MAX:,} rows", instead)
            yield page
    except duckdb.Error as error:
        raise refused_query(error) from None


def write_answer(connection: duckdb.DuckDBPyConnection, query: str, form: str, path: Path) -> None:
    """An answer as a Parquet file, or as one of Arrow's (IPC), types and all, in a folder of its
    own. The connection is locked; `query`: one statement that has an answer; `form`: one of
    `BINARY`. Raises Refused, code ``invalid_value``, with DuckDB's own words; ``missing_extra``:
    Arrow files are written by polars, which is not there; or as `query_limits` says."""
    folder = str(path.parent).replace("'", "''")
    connection.execute(f"SET allowed_directories = ['{folder}']")
    lock(connection)
    try:
        asked = connection.sql(with_utc_times(connection, query))
        if asked is None:
            raise invalid("the statement has no answer", "ask something, like FROM wakes")
        asked.write_parquet(str(path))
    except duckdb.Error as error:
        raise refused_query(error) from None
    if form == "arrow":
        _make_arrow(path)


def _make_arrow(path: Path) -> None:
    """The same as Arrow's; by way of Parquet, as polars would keep DuckDB's classes for ever."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        instead = "run pip install polars, or use --format parquet"
        because = "Arrow files need polars, which is not installed"
        raise Refused("missing_extra", because=because, instead=instead) from None
    pl.read_parquet(path, memory_map=False).write_ipc(path)


# --------------------------------------------------------------------- as a process of its own


def main() -> None:
    """Answer what stands in stdin, part by part: an answer's columns, then its pages."""
    asked = QueryAsked(*pickle.load(sys.stdin.buffer))
    Thread(target=_end_with_parent, daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as told:
        os.dup2(2, 1)  # whatever else is printed is no part of the answer
        try:
            for part in _parts(asked):
                told.write(pickle.dumps(part))  # all of a part, or none of it
                told.flush()
        except MemoryError:
            told.write(pickle.dumps(_told(out_of_memory())))
        except WakelogError as error:
            told.write(pickle.dumps(_told(error)))


def _end_with_parent() -> None:
    os.read(0, 1)  # nothing comes: it ends where the parent has
    os._exit(1)


def _parts(asked: QueryAsked) -> Iterator[Any]:
    with open_home(location_of(asked.home, asked.environ), asked.environ) as home:
        limit = home.settings.analytics.memory_mb
        with asking(home, asked.seconds) as connection:
            _bound_memory(limit)
            _bound_time(asked.seconds)
            if asked.form:
                write_answer(connection, asked.query, asked.form, Path(asked.path))
                return
            lock(connection)
            found = run_query(connection, asked.query)
            yield found.columns
            yield from found.pages


def _bound_time(seconds: float) -> None:
    """Let the system end this process then, if DuckDB has not ended by itself."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, min(SECONDS_MAX, max(seconds, 0) + GRACE_SECONDS))


def _bound_memory(megabytes: int) -> None:
    """Let the system refuse this process more memory than that, where it can: on Linux."""
    with suppress(ImportError, OSError, ValueError, StopIteration):
        import resource

        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        used = next(int(one.split()[1]) for one in lines if one.startswith("VmData:"))
        most = used * 1024 + (megabytes + BESIDE_MB) * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _told(error: WakelogError) -> QueryError:
    return QueryError(type(error), error.code, error.whole, error.remedy or error.instead)


if __name__ == "__main__":
    main()

"""Answers of DuckDB: their values as JSON and people read them, and answers as files that other
tools read: CSV, Parquet, Arrow.
"""

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import duckdb

from adapters.analytics.database import lock
from adapters.analytics.query_limits import refused_query
from domain.errors import Refused, invalid
from domain.log.timestamps import moment

PAGE_ROWS = 10_000
ROWS_MAX = 1_000_000  # of one answer
_ZONED = "TIMESTAMP WITH TIME ZONE"


class QueryAnswer(NamedTuple):
    """The rows of a query, a page at a time."""

    columns: Sequence[str]
    rows: Iterator[tuple[Any, ...]]

    def documents(self) -> Iterator[dict[str, Any]]:
        """One object for each row."""
        return (dict(zip(self.columns, map(json_value, row), strict=True)) for row in self.rows)


def run_query(connection: duckdb.DuckDBPyConnection, query: str) -> QueryAnswer:
    """Ask, in one statement of SQL.

    Raises:
        Refused: Code ``invalid_value``, with DuckDB's own words, or as `analytics_bounds` says.
    """
    try:
        asked = connection.execute(with_utc_times(connection, query))
        columns = _distinct([one[0] for one in asked.description])
        return QueryAnswer(columns, _answer_rows(asked))
    except duckdb.Error as error:
        raise refused_query(error) from None


def json_value(value: Any) -> Any:
    """A value as JSON has it: times in RFC 3339, lengths of time in seconds.

    >>> json_value(datetime(2027, 1, 1)), json_value(timedelta(minutes=2)), json_value(float("nan"))
    ('2027-01-01T00:00:00.000000Z', 120.0, None)
    """
    match value:
        case datetime():
            return moment(value.replace(tzinfo=value.tzinfo or UTC))
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return value.hex()
        case dict():
            return {str(key): json_value(one) for key, one in value.items()}
        case list() | tuple():
            return [json_value(one) for one in value]
        case None | bool() | int() | str():
            return value
        case _:
            return str(value)


def with_utc_times(connection: duckdb.DuckDBPyConnection, query: str) -> Any:
    """The one statement of a query, its zoned times as UTC: Python's DuckDB gives them out with
    pytz only.

    Raises:
        Refused: Code ``invalid_value``: there is none, or more than one.
    """
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


def _answer_rows(asked: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    count = 0
    try:
        while page := asked.fetchmany(PAGE_ROWS):
            count += len(page)
            if count > ROWS_MAX:
                instead = "add LIMIT, or take it all with `wakelog export --parquet DIR`"
                raise invalid(f"the answer has more than {ROWS_MAX:,} rows", instead)
            yield from page
    except duckdb.Error as error:
        raise refused_query(error) from None


# --------------------------------------------------------------------------------- answers as files

BINARY = ("parquet", "arrow")
FORMATS = ("table", "json", "csv", *BINARY)


def csv_lines(found: QueryAnswer) -> Iterator[str]:
    """An answer as CSV, headings first; lines end in LF alone, times and lists are as in JSON, NULL
    is empty."""
    yield _csv_line(found.columns)
    for row in found.rows:
        yield _csv_line([_csv_field(json_value(one)) for one in row])


def binary_file(connection: "duckdb.DuckDBPyConnection", query: str, form: str) -> bytes:
    """An answer as a Parquet file, or as one of Arrow's (IPC), types and all.

    Args:
        connection: See `adapters.analytics.database.connect`; it is locked.
        query: One statement that has an answer.
        form: One of `BINARY`.

    Raises:
        Refused: Code ``invalid_value``, with DuckDB's own words; ``missing_extra``: Arrow files
            are written by polars, which is not there; or as `query_limits` says.
    """
    with TemporaryDirectory(prefix="wakelog-") as folder:
        path = Path(folder) / "answer"
        connection.execute("SET allowed_directories = ['{}']".format(folder.replace("'", "''")))
        lock(connection)
        try:
            asked = connection.sql(with_utc_times(connection, query))
            if asked is None:
                raise invalid("the statement has no answer", "ask something, like FROM wakes")
            asked.write_parquet(str(path))
        except duckdb.Error as error:
            raise refused_query(error) from None
        data = path.read_bytes()
    return _arrow_file(data) if form == "arrow" else data


def _arrow_file(parquet: bytes) -> bytes:
    """The same as Arrow's; by way of Parquet, as polars would keep DuckDB's classes for ever."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        instead = "run pip install polars, or use --format parquet"
        because = "Arrow files need polars, which is not installed"
        raise Refused("missing_extra", because=because, instead=instead) from None
    buffer = io.BytesIO()
    pl.read_parquet(io.BytesIO(parquet)).write_ipc(buffer)
    return buffer.getvalue()


def _csv_field(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _csv_line(fields: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()

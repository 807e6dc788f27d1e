"""Values as DuckDB gives them, and as JSON and people read them."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import duckdb

from adapters.analytics.bounds import refused
from domain.errors import invalid
from domain.timestamps import moment

PAGE_ROWS = 10_000
ROWS_MAX = 1_000_000  # of one answer
_ZONED = "TIMESTAMP WITH TIME ZONE"


class Answer:
    """The rows of a query, a page at a time."""

    def __init__(self, columns: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
        self.columns = columns
        self.rows = rows

    def documents(self) -> Iterator[dict[str, Any]]:
        """One object for each row."""
        return (dict(zip(self.columns, map(plain, row), strict=True)) for row in self.rows)


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> Answer:
    """Ask, in one statement of SQL.

    Raises:
        Refused: Code ``invalid_value``, with DuckDB's own words, or as `analytics_bounds` says.
    """
    try:
        asked = connection.execute(readable(connection, query))
        columns = _distinct([one[0] for one in asked.description])
        return Answer(columns, _rows(asked))
    except duckdb.Error as error:
        raise refused(error) from None


def plain(value: Any) -> Any:
    """A value as JSON has it: times in RFC 3339, lengths of time in seconds.

    >>> plain(datetime(2027, 1, 1)), plain(timedelta(minutes=2)), plain(float("nan"))
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
            return {str(key): plain(one) for key, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case None | bool() | int() | str():
            return value
        case _:
            return str(value)


def readable(connection: duckdb.DuckDBPyConnection, query: str) -> Any:
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


def _rows(asked: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    count = 0
    while page := _page(asked):
        count += len(page)
        if count > ROWS_MAX:
            instead = "add LIMIT, or take it all with `wakelog export --parquet DIR`"
            raise invalid(f"the answer has more than {ROWS_MAX:,} rows", instead)
        yield from page


def _page(asked: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    try:
        return asked.fetchmany(PAGE_ROWS)
    except duckdb.Error as error:
        raise refused(error) from None

"""Answers as files that other tools read: CSV, Parquet, Arrow."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from adapters.analytics.bounds import refused
from adapters.analytics.database import lock
from adapters.analytics.values import Answer, plain, readable
from domain.errors import Refused, invalid

BINARY = ("parquet", "arrow")
FORMATS = ("table", "json", "csv", *BINARY)


def csv_lines(found: Answer) -> Iterator[str]:
    """An answer as CSV (RFC 4180), headings first; times and lists as in JSON, NULL empty."""
    yield _csv_line(found.columns)
    for row in found.rows:
        yield _csv_line([_field(plain(one)) for one in row])


def binary(connection: "duckdb.DuckDBPyConnection", query: str, form: str) -> bytes:
    """An answer as a Parquet file, or as one of Arrow's (IPC), types and all.

    Args:
        connection: See `adapters.analytics.database.connect`; it is locked.
        query: One statement that has an answer.
        form: One of `BINARY`.

    Raises:
        Refused: Code ``invalid_value``, with DuckDB's own words; ``missing_extra``: Arrow files
            are written by polars, which is not there; or as `bounds` says.
    """
    with TemporaryDirectory(prefix="wakelog-") as folder:
        path = Path(folder) / "answer"
        connection.execute("SET allowed_directories = ['{}']".format(folder.replace("'", "''")))
        lock(connection)
        try:
            asked = connection.sql(readable(connection, query))
            if asked is None:
                raise invalid("the statement has no answer", "ask something, like FROM wakes")
            asked.write_parquet(str(path))
        except duckdb.Error as error:
            raise refused(error) from None
        data = path.read_bytes()
    return _arrow(data) if form == "arrow" else data


def _arrow(parquet: bytes) -> bytes:
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


def _field(value: Any) -> Any:
    is_nested = isinstance(value, list | dict)
    return json.dumps(value, ensure_ascii=False) if is_nested else value


def _csv_line(fields: Any) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(fields)
    return line.getvalue()

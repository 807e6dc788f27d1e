"""Answers of DuckDB: their values as JSON and people read them, and answers as files that other
tools read."""

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from domain.log.timestamps import moment


class QueryAnswer(NamedTuple):
    """The rows of a query, a page at a time."""

    columns: Sequence[str]
    pages: Iterator[list[tuple[Any, ...]]]

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        return (row for page in self.pages for row in page)

    def documents(self) -> Iterator[dict[str, Any]]:
        """One object for each row."""
        return (dict(zip(self.columns, map(json_value, row), strict=True)) for row in self.rows)


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


# --------------------------------------------------------------------------------- answers as files

BINARY = ("parquet", "arrow")


def csv_lines(found: QueryAnswer) -> Iterator[str]:
    """An answer as CSV, headings first; lines end in LF alone, times and lists are as in JSON, NULL
    is empty."""
    yield _csv_line(found.columns)
    for row in found.rows:
        yield _csv_line([_csv_field(json_value(one)) for one in row])


def _csv_field(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _csv_line(fields: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()

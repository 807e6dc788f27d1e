"""Rows of a log, changed by hand."""

from collections.abc import Callable, Sequence

from domain.append import envelope
from domain.append.envelope import Row
from replay.appends import appends


def altered(row: Row, before: str, after: str) -> Row:
    assert before.encode() in row.state
    return row._replace(state=row.state.replace(before.encode(), after.encode()))


def rechained(rows: Sequence[Row], nth: int, change: Callable[[Row], Row]) -> list[Row]:
    """The rows with one changed, and every digest after it made to fit."""
    planted = [change(row) if at == nth else row for at, row in enumerate(rows)]
    made: list[Row] = []
    head = ""
    for append in appends(planted):
        first = append.rows[0]
        was = append.first.prev
        if was and was != head:
            first = altered(first, was, head)
        fitted = [first, *append.rows[1:]]
        head = envelope.digest(fitted)
        made += fitted
    return made

"""Rows of a log, changed by hand."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from domain.append import envelope
from domain.append.envelope import Row
from domain.scaffold import SCAFFOLD
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


def made_newer(home: Path, number: int, more: str = "", *, ago: int = 0) -> str:
    """Let a wake of a home, so many before the newest, be one of another scaffold, with `more`
    behind the number, and the chain be whole; the wake's run key."""
    with closing(sqlite3.connect(home / "agent.db")) as file, file:
        kept = file.execute("SELECT rowid, * FROM stored_events ORDER BY rowid").fetchall()
        rows = [Row(*columns) for _, *columns in kept]
        named = [nth for nth, row in enumerate(rows) if b'"scaffold":' in row.state]
        cause, begun = named[-2 * ago - 2 :][:2]
        now, then = f'"scaffold":{SCAFFOLD}', f'"scaffold":{number}{more}'
        for nth in (cause, begun):
            rows = rechained(rows, nth, lambda row: altered(row, now, then))
        states = [(row.state, columns[0]) for row, columns in zip(rows, kept, strict=True)]
        file.executemany("UPDATE stored_events SET state = ? WHERE rowid = ?", states)
    return rows[begun].stream.removeprefix("wake:").partition("@")[0]

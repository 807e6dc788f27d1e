"""The tables that were counted a second time beside those that the SQL has filled."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import duckdb

from tests.support.checking.logs import Home
from tests.support.recounting import causes, entities, proposals, rows
from tests.support.recounting.facts import Past, Rows

TABLES: dict[str, Callable[[Past], Rows]] = {
    one.__name__: one
    for one in (
        rows.positions,
        rows.texts,
        rows.events,
        rows.causes,
        rows.triggers,
        rows.attention,
        rows.prompt_sections,
        rows.token_usage,
        rows.observations,
        rows.verdicts,
        rows.task_changes,
        rows.operation_effects,
        rows.journal_taken,
        rows.receipts,
        entities.agents,
        entities.templates,
        entities.template_versions,
        entities.turns,
        entities.tool_calls,
        entities.reports,
        entities.tasks,
        entities.names,
        proposals.change_items,
        proposals.operations,
        proposals.wakes,
        causes.caused_by,
    )
}
SHOWN_MAX = 3
KNOWN_WRONG = {"tasks": {"notes"}}
"""Columns whose SQL is known to count wrongly: a note that was removed and came back."""


class Counted:
    """A home counted once more. Each table is made when it is first asked for."""

    def __init__(self, home: Home) -> None:
        self.past = Past(home)
        self._made: dict[str, Rows] = {}

    def __getitem__(self, table: str) -> Rows:
        if table not in self._made:
            self._made[table] = TABLES[table](self.past)
        return self._made[table]


def differing(name: str, expected: Rows, asked: "duckdb.DuckDBPyConnection", sql: str) -> list[str]:
    """What a table or an answer has that was not counted, and what it lacks; in words.

    Only columns that were counted are compared; of what is not there `uncounted` tells.
    """
    if not expected:
        found = asked.execute(sql).fetchall()
        return [f"{name}: {len(found)} rows and none was expected: {found[0]}"] if found else []
    columns = [one for one in expected[0] if one not in KNOWN_WRONG.get(name, ())]
    quoted = ", ".join(f'"{one}"' for one in columns)
    found = asked.execute(f"SELECT {quoted} FROM ({sql})").fetchall()
    counts = Counter(tuple(map(comparable, row)) for row in found)
    wanted = Counter(tuple(comparable(row[one]) for one in columns) for row in expected)
    lines = [f"{name}: unexpected {_told(columns, one)}" for one in (counts - wanted)]
    lines += [f"{name}: missing {_told(columns, one)}" for one in (wanted - counts)]
    return lines[:SHOWN_MAX]


def uncounted(asked: "duckdb.DuckDBPyConnection", name: str, expected: Rows) -> set[str]:
    """Columns of a table that nobody counts a second time."""
    there = {str(row[0]) for row in asked.execute(f"DESCRIBE {name}").fetchall()}
    return there - set(expected[0])


def comparable(value: Any) -> Any:
    """A value that equals another one where both mean the same."""
    match value:
        case bool() | None:
            return value
        case float() | int():
            return float(f"{value:.9g}") if isinstance(value, float) else value
        case datetime() | date():
            return value.isoformat()
        case list() | tuple():
            return tuple(map(comparable, value))
        case dict():
            return json.dumps(value, sort_keys=True)
        case str() if value.startswith('{"kind":'):
            return json.dumps(json.loads(value), sort_keys=True)
        case _:
            return value


def _told(columns: list[str], row: tuple[Any, ...]) -> str:
    return str({name: value for name, value in zip(columns, row, strict=True) if value is not None})

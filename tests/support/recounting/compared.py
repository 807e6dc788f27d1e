"""The tables that were counted a second time beside those that the SQL has filled."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any

import duckdb

from tests.support.checking.logs import Home
from tests.support.recounting import answers as asked_often
from tests.support.recounting import (
    causes,
    entities,
    learning,
    proposals,
    rows,
    views,
    wake_views,
)
from tests.support.recounting.facts import Past, Prices, Rows

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
        rows.requests,
        rows.rehearsals,
        rows.verdicts,
        rows.task_changes,
        rows.operation_effects,
        rows.journal_taken,
        rows.receipts,
        entities.agents,
        entities.templates,
        entities.template_versions,
        entities.turns,
        entities.waits,
        entities.tool_calls,
        entities.reports,
        entities.tasks,
        entities.names,
        asked_often.time_entries,
        asked_often.blocks,
        asked_often.ratings,
        proposals.change_items,
        proposals.operations,
        proposals.wakes,
        learning.lessons,
        learning.wake_ratings,
        learning.digests,
        causes.caused_by,
    )
}
VIEWS: dict[str, Callable[[views.Tables], Rows]] = {
    one.__name__: one
    for one in (
        views.template_performance,
        views.version_series,
        views.resolution_time,
        views.acceptance,
        views.rejection_reasons,
        learning.lesson_counts,
        views.time_to_decision,
        views.open_proposals,
        views.repeated_proposals,
        wake_views.trigger_latency,
        wake_views.wake_times,
        wake_views.tokens_and_cost,
        wake_views.noop_wakes,
        wake_views.wake_reasons,
        wake_views.why_no_wake,
        asked_often.proposals,
    )
}
SHOWN_MAX = 3
ROWS_STEP = 7  # causes of every so manieth end are looked at


class Counted(dict[str, Rows]):
    """The tables of a home counted once more. Each is made when it is first asked for."""

    def __init__(self, home: Home, prices: Prices) -> None:
        super().__init__()
        self.past = Past(home, prices)

    def __missing__(self, table: str) -> Rows:
        self[table] = TABLES[table](self.past)
        return self[table]


def answers(counted: Counted, zone: str) -> Iterator[tuple[str, Rows]]:
    """What each view and macro is to answer, with the SQL that asks it."""
    for name, view in VIEWS.items():
        yield f"FROM {name}", view(counted)
    yield "FROM planned_against_spent", asked_often.planned_against_spent(counted, zone)
    yield "FROM resolution_series", views.resolution_series_of(counted, zone)
    yield "FROM wake_series", views.wake_series_of(counted, None, zone)
    templates = [str(one["template_id"]) for one in counted["templates"]]
    for other in ("Pacific/Auckland", "UTC"):
        asked = f"zone := '{other}'"
        told = views.resolution_series_of(counted, other)
        yield f"FROM resolution_series_of({asked})", told
        for one in templates[:2]:
            told = views.wake_series_of(counted, one, other)
            yield f"FROM wake_series_of(template := '{one}', {asked})", told
    for one in ("template", "version", "model", "agent", "task"):
        told = asked_often.cost_per_confirmed_change(counted, one)
        yield f"FROM cost_per_confirmed_change('{one}')", told
    yield from _of_versions(counted)
    yield from _of_days(counted, zone)
    yield from _about_rows(counted)


def _of_versions(counted: Counted) -> Iterator[tuple[str, Rows]]:
    for one in counted["templates"][:3]:
        for a, b in ((1, 2), (2, 3)):
            sql = f"FROM compare_versions('{one['template_id']}', {a}, {b})"
            yield sql, [asked_often.compare_versions(counted, one["template_id"], a, b)]


def _of_days(counted: Counted, zone: str) -> Iterator[tuple[str, Rows]]:
    times = sorted(one["occurred_at"] for one in counted["events"])
    for at in (times[0], times[-1]):
        day = views.local_day(at, zone).isoformat()
        yield f"FROM happened('{day}', '{zone}')", asked_often.happened(counted, day, zone)
        sql = f"FROM open_proposals_at('{at.isoformat()}')"
        yield sql, views.open_proposals(counted, at)


def _about_rows(counted: Counted) -> Iterator[tuple[str, Rows]]:
    """What led to the ends of some wakes, and what some agents knew."""
    for one in [*counted.past.of("wake.finished", "changes.item_confirmed")][::ROWS_STEP]:
        log, replica, n, row_n = one.spot
        sql = f"FROM causality('{log}', {n}, of_row_n := {row_n}, of_replica := '{replica}')"
        yield sql, causes.causality(counted["caused_by"], counted.past, one.spot)
    times = [one["occurred_at"] for one in counted["events"]]
    for agent in counted["agents"][:2]:
        for at in {times[len(times) // 2], max(times)}:
            sql = f"FROM what_it_knew('{agent['agent_id']}', '{at.isoformat()}')"
            yield sql, wake_views.what_it_knew(counted, agent["agent_id"], at)


def differences(asked: "duckdb.DuckDBPyConnection", counted: Counted, zone: str) -> Iterator[str]:
    """All that the SQL made or answered otherwise, in words, one after the other."""
    for name in TABLES:
        yield from differing(name, counted[name], asked, f"FROM {name}")
    for sql, expected in answers(counted, zone):
        yield from differing(sql, expected, asked, sql)


def mismatches(asked: "duckdb.DuckDBPyConnection", counted: Counted, zone: str) -> list[str]:
    return list(differences(asked, counted, zone))


def differing(name: str, expected: Rows, asked: "duckdb.DuckDBPyConnection", sql: str) -> list[str]:
    """What a table or an answer has that was not counted, and what it lacks; in words.

    Only columns that were counted are compared; of what is not there `uncounted` tells.
    """
    if not expected:
        found = asked.execute(sql).fetchall()
        return [f"{name}: {len(found)} rows and none was expected: {found[0]}"] if found else []
    columns = list(expected[0])
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
        case float():  # the SQL's constants of the interval have eight digits
            return (
                round(value + 1e-10, 6) if abs(value) < 1 else float(f"{value * (1 + 1e-13):.9g}")
            )
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

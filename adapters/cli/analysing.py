"""Analyse: `wakelog sql`, `metrics` and `export`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, json_option
from domain.errors import Refused

if TYPE_CHECKING:
    import duckdb

    from adapters.wiring import Home

PERFORMANCE = "SELECT * FROM template_performance"
TOOLS = """
SELECT w.template_id, i.tool, count(*) FILTER (i.status = 'confirmed') AS confirmed,
    count(*) AS decided, count(*) FILTER (i.status = 'confirmed') / count(*) AS acceptance_rate
FROM change_items i JOIN wakes w USING (run_key) WHERE i.status IN ('confirmed', 'rejected')
GROUP BY ALL ORDER BY decided DESC, tool
"""


@contextmanager
def analytics(session: Session) -> "Iterator[tuple[Home, duckdb.DuckDBPyConnection]]":
    """The home, and a read-only connection to its analytics, brought up to date."""
    from adapters.analytics import opened

    home = session.opened()
    logs = {"journal": home.desk.journal, "agent": home.desk.agents}
    connection = opened(home.path if home.exists else None, logs, home.settings)
    try:
        yield home, connection
    finally:
        connection.close()


# ------------------------------------------------------------------------------------------- sql


@click.command(
    "sql",
    epilog="Examples: wakelog sql 'SHOW TABLES'; wakelog sql 'FROM acceptance' --json",
)
@click.argument("query", type=TEXT)
@json_option
@click.pass_obj
def sql_command(session: Session, query: str) -> None:
    """Ask the analytics tables, read-only, in DuckDB's SQL.

    Both logs stand there as tables, with views that answer standing questions. `SHOW TABLES`
    lists them, `DESCRIBE wakes` the columns of one. Times are UTC.
    """
    from adapters.analytics import lock
    from adapters.analytics_values import answer

    with analytics(session) as (_, connection):
        lock(connection)
        found = answer(connection, query)
        if session.as_json:
            session.document(list(found.documents()))
        else:
            session.table(found.columns, [[_cell(one) for one in row] for row in found.rows])


def _cell(value: Any) -> str:
    from adapters.analytics_values import plain

    shown = plain(value)
    if isinstance(shown, float):
        return f"{shown:.6g}" if abs(shown) < 1e6 else f"{shown:.0f}"
    return "" if shown is None else str(shown)


# --------------------------------------------------------------------------------------- metrics


@click.command("metrics", epilog="Examples: wakelog metrics; wakelog metrics --json")
@click.argument("template", type=TEXT, required=False)
@json_option
@click.pass_obj
def metrics_command(session: Session, template: str | None) -> None:
    """How each template does: wakes, success, duration, acceptance, cost in tokens.

    TEMPLATE is an id, the beginning of one, or an exact name. Wakes and agents without a
    template stand in a line of their own.
    """
    from adapters.analytics_values import answer

    with analytics(session) as (_, connection):
        documents = list(answer(connection, PERFORMANCE).documents())
        tools = list(answer(connection, TOOLS).documents())
    for one in documents:
        one["tools"] = [
            {key: tool[key] for key in ("tool", "confirmed", "decided", "acceptance_rate")}
            for tool in tools
            if tool["template_id"] == one["template_id"]
        ]
    if template is not None:
        documents = [one for one in documents if one["template_id"] == _picked(documents, template)]
    if session.as_json:
        session.document(documents)
        return
    if not documents:
        session.say("No wakes yet. Wake all that are queued with `wakelog wake`.")
        return
    headings = "Template Wakes Done Failed Success Seconds Accepted Decide Tokens No-op Agents"
    session.table(headings.split(), [_line(one) for one in documents])


def _picked(documents: list[dict[str, Any]], wanted: str) -> str:
    from adapters.cli.shared import pick
    from domain.text import fold

    known = [
        (one["template_id"], fold(one["template_name"] or ""))
        for one in documents
        if one["template_id"] is not None
    ]
    wanted = wanted if wanted in [one for one, _ in known] else fold(wanted)
    return pick(wanted, known, "template", "unknown_template", see="see `wakelog metrics`")


def _line(one: dict[str, Any]) -> list[str]:
    return [
        one["template_name"] or (one["template_id"] or "(none)")[:8],
        str(one["total_wakes"]),
        str(one["success_count"]),
        str(one["failure_count"]),
        _percent(one["success_rate"]),
        _cell(one["average_duration_seconds"]),
        f"{_percent(one['acceptance_rate'])} of {one['decided_items']}",
        _cell(one["median_seconds_to_decision"]),
        _cell(one["tokens_per_wake"]),
        _percent(one["noop_rate"]),
        str(one["active_instance_count"]),
    ]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


# ---------------------------------------------------------------------------------------- export


@click.command("export", epilog="Example: wakelog export --parquet analytics/")
@click.option(
    "--parquet",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Parquet files, one folder for each table, and a README of the columns.",
)
@json_option
@click.pass_obj
def export_command(session: Session, folder: Path) -> None:
    """Write the analytics tables as files; an earlier export in DIR is replaced."""
    from adapters.analytics_export import export

    with analytics(session) as (home, connection):
        if not home.exists:
            because = f"there is no home at {home.path}"
            raise Refused("invalid_value", because=because, instead="name one with --home")
        counts = export(connection, folder)
    if session.as_json:
        session.document({"folder": str(folder), "tables": counts})
        return
    session.table(("Table", "Rows"), sorted(counts.items()))
    session.note(f"What each column means: {folder / 'README.md'}.")

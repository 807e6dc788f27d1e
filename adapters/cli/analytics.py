"""Analyse: `wakelog sql`, `metrics` and `export`, whose tasks import to the same state (ADR 53)."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from msgspec.structs import asdict

from adapters.analytics.template_performance import performance, performance_of
from adapters.cli.lazy_groups import command
from adapters.cli.param_types import long_text
from adapters.cli.shared import Session, flag, option
from adapters.documents.results import ExportedFile, ExportedTables, ExportedTasks, ExportedWakes
from adapters.documents.tasks import catalog_of, categories_named
from adapters.documents.templates import TemplateMetrics
from adapters.home.read_input import STDIN
from adapters.text.common import counted, lasting, safe
from adapters.usecases.task_lists import TaskFilter, export_text, save_text
from adapters.wiring import Home
from domain.errors import Refused, invalid


def export_tasks(
    session: Session, home: Home, file: str, category: str, *,
    form: str, is_open: bool, is_replacing: bool,
) -> None:  # fmt: skip
    """Write tasks to a file, or to the standard output (``-``)."""
    if session.as_json and file == STDIN:
        raise invalid("--json tells what was written", "name a file")
    wanted = TaskFilter(categories=categories_named(catalog_of(home), category))
    found = export_text(home, "open" if is_open else "kept", wanted, form)
    if file == STDIN:
        click.echo(found.text, nl=False)
        return
    save_text(Path(file), found.text, is_replacing=is_replacing)
    size = len(found.text.encode())
    told = f"Wrote {counted(found.tasks, 'task')} to {safe(file)}"
    session.tell(ExportedTasks(safe(file), found.tasks, size), told)


# ----------------------------------------------------------------------------------- ask and export

F = TypeVar("F", bound=Callable[..., object])
ASK_SECONDS = 60.0  # of `sql` and `metrics`
EXPORT_SECONDS = 600.0
TIMEOUT_MAX = 86_400.0


def timeout_option(seconds: float) -> Callable[[F], F]:
    """``--timeout SECONDS``, after which DuckDB is interrupted."""
    return option(
        "--timeout=SECONDS", "When to give up.", click.FloatRange(0.001, TIMEOUT_MAX), shown=seconds
    )


# ------------------------------------------------------------------------------------------- sql


@command(
    "sql",
    "[query]",
    example=("'SHOW TABLES'", "'FROM acceptance' --json", "--file weekly.sql --format csv"),
)
@option("--file=PATH", "Read the query from a file.", click.Path())
@option(
    "--format form", "How to print the answer; parquet and arrow are for a file or a pipe.",
    click.Choice(["table", "json", "csv", "parquet", "arrow"]), shown="table",
)  # fmt: skip
@timeout_option(ASK_SECONDS)
def sql_command(
    session: Session, query: str | None, file: str | None, form: str, timeout: float
) -> None:
    """Ask the analytics tables, read-only, in DuckDB's SQL.

    Both logs stand there as tables, with views that answer standing questions. `SHOW TABLES`
    lists them, `DESCRIBE wakes` the columns of one. Times are UTC. A query may use the memory
    that `analytics.memory_mb` in settings.toml gives it. It is one statement; `-` reads it from
    stdin. CSV has times as JSON has them and lines that end in LF, parquet and arrow the types of
    the tables.
    """
    from adapters.analytics.answers import BINARY, csv_lines
    from adapters.analytics.query_process import file_apart, query_apart

    if session.as_json and form not in ("table", "json"):
        raise invalid(f"--json and --format {form} are two formats", "leave one of them out")
    if form in BINARY and sys.stdout.isatty():
        raise invalid(f"{form} is no text for a terminal", "redirect it to a file: > answer")
    query = long_text(query, file, "query")
    if form in BINARY:
        for piece in file_apart(session.opened(), os.environ, query, timeout, form):
            click.echo(piece, nl=False)
        return
    found = query_apart(session.opened(), os.environ, query, timeout)
    if session.as_json or form == "json":
        session.document(list(found.documents()))
    elif form == "csv":
        for line in csv_lines(found):
            click.echo(line, nl=False)
    else:
        session.table(found.columns, [[_cell(one) for one in row] for row in found.rows])


def _cell(value: Any) -> str:
    from adapters.analytics.answers import json_value

    shown = json_value(value)
    if isinstance(shown, float):
        return f"{shown:.6g}" if abs(shown) < 1e6 else f"{shown:.0f}"
    return "" if shown is None else str(shown)


# --------------------------------------------------------------------------------------- metrics


NO_WAKES = "No wakes yet. Wake all that are queued with `wakelog wake`."
METRICS = (
    *("Template", "Wakes", "Done", "Failed", "Success", "A wake takes", "Accepted"),
    *("Until decided", "Tokens a wake", "Did nothing", "Agents"),
)


@command("metrics", "[template]", example=("", "--json"))
@timeout_option(ASK_SECONDS)
def metrics_command(session: Session, template: str | None, timeout: float) -> None:
    """How each template does: wakes, success, how long one takes, acceptance, tokens.

    TEMPLATE is an id, the beginning of one, or an exact name. Wakes and agents without a
    template stand in a line of their own.
    """
    from adapters.analytics.database import asking

    with asking(session.opened(), timeout) as connection:
        documents = performance(connection)
    if template is not None:
        documents = performance_of(documents, template)
    session.listing(documents, METRICS, map(_line, documents), NO_WAKES)


def _line(one: TemplateMetrics) -> list[str]:
    has_ended = one.success_count + one.failure_count
    tokens = one.tokens_per_wake
    return [
        one.template_name or (one.template_id or "(none)")[:8],
        str(one.total_wakes),
        str(one.success_count),
        str(one.failure_count),
        _percent(one.success_rate if has_ended else None),
        _lasting(one.average_duration_seconds),
        f"{_percent(one.acceptance_rate)} of {one.decided_items}" if one.decided_items else "-",
        _lasting(one.median_seconds_to_decision),
        "-" if tokens is None else f"{tokens:,.0f}",
        _percent(one.noop_rate),
        str(one.active_instance_count),
    ]


def _lasting(seconds: float | None) -> str:
    return "-" if seconds is None else lasting(seconds)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


# ---------------------------------------------------------------------------------------- export


@command("export", example=("--markdown tasks.md", "--parquet analytics/", "--inspect logs/"))
@option(
    "--markdown=FILE",
    "Tasks as Markdown that imports to the same state; `-` is the standard output.",
)
@option(
    "--json-tasks=FILE",
    "The same as JSON, a task a line, for other tools; see `wakelog schema import-task`.",
)
@option(
    "--parquet=DIR", "Parquet files, one folder for each table, and a README of the columns.",
    click.Path(path_type=Path, file_okay=False),
)  # fmt: skip
@option(
    "--inspect=DIR", "Wakes as Inspect logs (.eval), one for each template version and model.",
    click.Path(path_type=Path, file_okay=False),
)  # fmt: skip
@flag("--redact", "Rewrite every text before it is written.")
@option("--open/--all is_open", "Of tasks: open ones; else done ones, too.")
@option("--category=C", "Of tasks: only these.", default="")
@flag("--replace", "Of tasks: a FILE that is there.")
@timeout_option(EXPORT_SECONDS)
def export_command(  # noqa: PLR0913  one for each option
    session: Session, markdown: str | None, json_tasks: str | None, parquet: Path | None,
    inspect: Path | None, category: str, timeout: float, *, redact: bool, is_open: bool,
    replace: bool,
) -> None:  # fmt: skip
    """Write tasks as Markdown or JSON, or the log for other tools.

    --markdown is all tasks that are not deleted, with fields, labels, links, description, notes
    and checklist; `wakelog import FILE` in another home makes them again. Times, languages,
    ratings and agents stay behind. A FILE that is there is not written over without --replace;
    one that is a link is refused. --json-tasks is the same with the tasks' ids: what another tool
    changes in it, `wakelog import FILE` changes in those tasks, and nothing else.

    An earlier export in DIR is replaced. --parquet is the analytics tables. --inspect is every
    wake that started as a sample, with the very messages, calls and verdicts; read it with
    `inspect view --log-dir DIR` or `inspect_ai.log.read_eval_log`. It needs inspect_ai: pip
    install 'wakelog[inspect]'. --timeout is for --parquet.

    All hold the home's texts, word for word: titles, notes, reasons, reports, prompts. With
    --redact every word becomes another one of its length, ids with it; times, statuses, tokens
    and codes stay.
    """
    tasks = markdown if json_tasks is None else json_tasks
    if sum(one is not None for one in (markdown, json_tasks, parquet, inspect)) != 1:
        because = (
            "one of --markdown FILE, --json-tasks FILE, --parquet DIR and --inspect DIR is needed"
        )
        raise invalid(because, "see `wakelog export --help`")
    if not session.opened().exists:
        raise invalid(f"there is no home at {session.path}", "name one with --home")
    if tasks is None and (is_open or category or replace):
        raise invalid("--open, --category and --replace are of tasks", "leave them out")
    if tasks is not None:
        home = _exported(session.reading(), is_redacted=redact)
        form = "markdown" if json_tasks is None else "tasks"
        export_tasks(
            session, home, tasks, category, form=form, is_open=is_open, is_replacing=replace
        )
        if tasks != STDIN and not redact:
            session.keep_copy("export", tasks)
        return
    if parquet is not None:
        _export_tables(session, parquet, timeout, is_redacted=redact)
    elif inspect is not None:
        _export_wakes(session, inspect, is_redacted=redact)
    session.note(_held(is_redacted=redact))


def _exported(home: "Home", *, is_redacted: bool) -> "Home":
    """The home that is exported: as it is, or without its texts."""
    from adapters.proof.redact import redacted_home

    return redacted_home(home) if is_redacted else home


def _held(*, is_redacted: bool) -> str:
    """What is personal in an export."""
    from adapters.proof.redact import HOLDS_TEXTS, TEXTS_REWRITTEN

    return TEXTS_REWRITTEN if is_redacted else HOLDS_TEXTS


def _export_tables(session: Session, folder: Path, timeout: float, *, is_redacted: bool) -> None:
    from adapters.analytics.database import asking
    from adapters.analytics.parquet import export_parquet

    home = _exported(session.opened(), is_redacted=is_redacted)
    with asking(home, timeout) as connection:
        counts = export_parquet(connection, folder, _held(is_redacted=is_redacted))
    if not is_redacted:
        session.keep_copy("export", folder)
    session.printed(ExportedTables(str(folder), counts, is_redacted))
    session.table(("Table", "Rows"), sorted(counts.items()))
    session.note(f"What each column means: {folder / 'README.md'}.")


@contextmanager
def _progress(session: Session) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr, where somebody looks at it."""
    if not session.is_watched:
        yield None
        return
    with session.bar("Exporting", 100) as bar:
        yield lambda nth, of: bar.update(100 * nth // of - bar.pos)


def _export_wakes(session: Session, folder: Path, *, is_redacted: bool) -> None:
    try:
        from adapters.analytics.inspect_export import export_inspect
    except ModuleNotFoundError as error:
        because = f"Inspect logs need {error.name}, which is not installed"
        instead = "run pip install 'wakelog[inspect]'"
        raise Refused("missing_extra", because=because, instead=instead) from None

    home = _exported(session.reading(), is_redacted=is_redacted)
    with _progress(session) as progress:
        written = export_inspect(home, folder, progress)
    if not is_redacted:
        session.keep_copy("export", folder)
    if session.as_json:
        files = [ExportedFile(**asdict(one)) for one in written]
        session.document(ExportedWakes(safe(str(folder)), files, is_redacted))
        return
    if not written:
        session.say(NO_WAKES)
        return
    lines = [
        (one.file, one.template, one.template_version, one.model, one.wakes) for one in written
    ]
    session.table(("File", "Template", "Version", "Model", "Wakes"), lines)
    session.note(f"Look at them with: inspect view --log-dir {folder}")

"""Analyse: `wakelog sql`, `metrics` and `export`, whose tasks import to the same state (ADR 53)."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from msgspec.structs import asdict

from adapters.analytics.template_performance import performance
from adapters.cli.lazy_groups import command
from adapters.cli.param_types import long_text
from adapters.cli.shared import Session
from adapters.documents.results import ExportedFile, ExportedTables, ExportedTasks, ExportedWakes
from adapters.documents.tasks import catalog_of, categories_named
from adapters.documents.templates import TemplateMetrics
from adapters.home.read_input import STDIN
from adapters.text.agent_output import counted
from adapters.text.common import lasting, safe
from adapters.usecases.resolve import pick
from adapters.usecases.task_lists import TaskFilter, export_text, save_text
from adapters.wiring import Home
from domain.errors import Refused, invalid
from domain.text import fold


def export_tasks(
    session: Session, home: Home, file: str, category: str, *, is_open: bool, is_replacing: bool
) -> None:
    """Write tasks to a file, or to the standard output (``-``)."""
    if session.as_json and file == STDIN:
        raise invalid("--json tells what was written", "name a file")
    wanted = TaskFilter(categories=categories_named(catalog_of(home), category))
    found = export_text(home, "open" if is_open else "kept", wanted)
    if file == STDIN:
        click.echo(found.text, nl=False)
        return
    save_text(Path(file), found.text, is_replacing=is_replacing)
    size = len(found.text.encode())
    if session.as_json:
        session.document(ExportedTasks(safe(file), found.tasks, size))
    else:
        session.say(f"Wrote {counted(found.tasks, 'task')} to {safe(file)}")


# ----------------------------------------------------------------------------------- ask and export

F = TypeVar("F", bound=Callable[..., object])
ASK_SECONDS = 60.0  # of `sql` and `metrics`
EXPORT_SECONDS = 600.0
TIMEOUT_MAX = 86_400.0


def timeout_option(seconds: float) -> Callable[[F], F]:
    """``--timeout SECONDS``, after which DuckDB is interrupted."""
    return click.option(
        "--timeout",
        type=click.FloatRange(0.001, TIMEOUT_MAX),
        default=seconds,
        show_default=True,
        metavar="SECONDS",
        help="When to give up.",
    )


# ------------------------------------------------------------------------------------------- sql


@command(
    "sql",
    "[query]",
    example=("'SHOW TABLES'", "'FROM acceptance' --json", "--file weekly.sql --format csv"),
)
@click.option("--file", metavar="PATH", type=click.Path(), help="Read the query from a file.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "parquet", "arrow"]),
    default="table",
    show_default=True,
    help="How to print the answer; parquet and arrow are for a file or a pipe.",
)
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
        documents = [one for one in documents if one.template_id == _picked(documents, template)]
    if session.printed(documents):
        return
    if not documents:
        session.say("No wakes yet. Wake all that are queued with `wakelog wake`.")
        return
    session.table(METRICS, [_line(one) for one in documents])


def _picked(documents: list[TemplateMetrics], wanted: str) -> str:
    known = [
        (one.template_id, one.template_name or "")
        for one in documents
        if one.template_id is not None
    ]
    if all(wanted not in one for one in known):  # neither an id nor an exact name
        alike = [name for _, name in known if fold(name) == fold(wanted)]
        wanted = alike[0] if len(alike) == 1 else wanted
    return pick(wanted, known, "template", "unknown_template", see="see `wakelog metrics`")


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
@click.option(
    "--markdown",
    metavar="FILE",
    help="Tasks as Markdown that imports to the same state; `-` is the standard output.",
)
@click.option(
    "--parquet",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Parquet files, one folder for each table, and a README of the columns.",
)
@click.option(
    "--inspect",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Wakes as Inspect logs (.eval), one for each template version and model.",
)
@click.option("--redact", is_flag=True, help="Rewrite every text before it is written.")
@click.option("--open/--all", "is_open", help="Of --markdown: open tasks; else done ones, too.")
@click.option("--category", default="", metavar="C", help="Of --markdown: only these.")
@click.option("--replace", is_flag=True, help="Of --markdown: a FILE that is there.")
@timeout_option(EXPORT_SECONDS)
def export_command(  # noqa: PLR0913  one for each option
    session: Session,
    markdown: str | None,
    parquet: Path | None,
    inspect: Path | None,
    category: str,
    timeout: float,
    *,
    redact: bool,
    is_open: bool,
    replace: bool,
) -> None:
    """Write tasks as Markdown, or the log for other tools.

    --markdown is all tasks that are not deleted, with fields, labels, links, description, notes
    and checklist; `wakelog import FILE` in another home makes them again. Times, languages,
    ratings and agents stay behind. A FILE that is there is not written over without --replace;
    one that is a link is refused.

    An earlier export in DIR is replaced. --parquet is the analytics tables. --inspect is every
    wake that started as a sample, with the very messages, calls and verdicts; read it with
    `inspect view --log-dir DIR` or `inspect_ai.log.read_eval_log`. It needs inspect_ai: pip
    install 'wakelog[inspect]'. --timeout is for --parquet.

    All hold the home's texts, word for word: titles, notes, reasons, reports, prompts. With
    --redact every word becomes another one of its length, ids with it; times, statuses, tokens
    and codes stay.
    """
    if sum(one is not None for one in (markdown, parquet, inspect)) != 1:
        because = "one of --markdown FILE, --parquet DIR and --inspect DIR is needed"
        raise invalid(because, "see `wakelog export --help`")
    if not session.opened().exists:
        raise invalid(f"there is no home at {session.path}", "name one with --home")
    if markdown is None and (is_open or category or replace):
        raise invalid("--open, --category and --replace are of --markdown", "leave them out")
    if markdown is not None:
        home = _exported(session.reading(), is_redacted=redact)
        export_tasks(session, home, markdown, category, is_open=is_open, is_replacing=replace)
        if markdown != STDIN and not redact:
            session.keep_copy("export", markdown)
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
    if session.as_json:
        session.document(ExportedTables(str(folder), counts, is_redacted))
        return
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
        session.say("No wakes yet. Wake all that are queued with `wakelog wake`.")
        return
    lines = [
        (one.file, one.template, one.template_version, one.model, one.wakes) for one in written
    ]
    session.table(("File", "Template", "Version", "Model", "Wakes"), lines)
    session.note(f"Look at them with: inspect view --log-dir {folder}")

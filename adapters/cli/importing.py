"""`wakelog import`: tasks from files, as often as you like (SPEC 1, Importers)."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import click

from adapters.actions.importing import (
    Importing,
    format_named,
    known_tasks,
    plan_import,
    read_file,
    sources_of,
)
from adapters.cli import importing_text
from adapters.cli.entering import TEXT, warn_of_secrets
from adapters.cli.shared import Session, UserError, complain, key_option
from adapters.documents.tasks import ImportReport, import_document
from adapters.home.given import Unreadable
from adapters.importers.formats import FORMATS_TOLD
from adapters.text.common import safe

if TYPE_CHECKING:
    from adapters.actions.importing import Found

PROGRESS_FROM = 400  # tasks; fewer need no progress bar


class ProgressBar(Protocol):
    def update(self, n_steps: int) -> None: ...


@click.command(
    "import",
    epilog="Example: wakelog import TODO.md plans/*.md --dry-run",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "--format", "form", type=TEXT, default="", metavar="F", help=f"{FORMATS_TOLD}; else guessed."
)
@click.option(
    "--source", type=TEXT, default="", metavar="S", help="Name of the source; else the file's."
)
@click.option(
    "--headings",
    type=click.Choice(["tasks"]),
    help="In Markdown: a heading is a task, its boxes its checklist.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@key_option
@click.pass_obj
def import_command(
    session: Session,
    /,
    files: Sequence[str],
    form: str,
    source: str,
    headings: str | None,
    key: str,
    *,
    dry_run: bool,
) -> None:
    """Bring tasks in from files; `-` is stdin.

    In Markdown, `- [ ] Paint the door ~2h !p1 #home due:2027-02-12` is a task. todo.txt, what
    `task export` and `gh issue list --json number,title,body,labels,state,url` write, and issues
    of GitHub's REST interface are read, too. Importing a file again takes over what changed in
    it: a field that the file changes takes the file's value, the others stay as they are here.
    """
    importing, form = Importing(key), format_named(form)
    sources = sources_of(files, source, os.environ)
    reports: list[ImportReport] = []
    for file, name in zip(files, sources, strict=True):
        try:
            found = read_file(
                session.opened(), file, name, os.environ, form=form, by_heading=headings is not None
            )
        except Unreadable as error:
            reports.append(ImportReport(safe(file), failure=str(error)))
            continue
        if dry_run:
            reports.append(plan_import(session.reading(), safe(file), found))
        else:
            reports.append(_taken(session, importing, file, found))
    if session.as_json:
        session.document(import_document(reports))
    is_short = any(report.gone or report.gone_items for report in reports)
    titles = (
        {task.id: task.title for task in known_tasks(session.reading()).values()}
        if is_short
        else {}
    )
    for report in reports:
        importing_text.tell(session, report, titles, is_dry_run=dry_run)
    importing_text.tell_next(session, reports, is_dry_run=dry_run)
    failures = [report for report in reports if report.failure]
    for report in failures:
        complain(f"{report.file}: {report.failure} [unreadable_file]")
    if failures:
        raise SystemExit(UserError.exit_code)
    if any(report.unreadable for report in reports):
        raise SystemExit(1)


def import_again(session: Session, file: str) -> ImportReport:
    """Take over what changed in a file that is watched; `failure` says why it cannot be read."""
    (source,) = sources_of([file], "", os.environ)
    try:
        found = read_file(session.opened(), file, source, os.environ)
    except Unreadable as error:
        return ImportReport(safe(file), failure=str(error))
    return _taken(session, Importing(), file, found)


def check_sources(files: Sequence[str]) -> None:
    """Refuse two files of one name: the ids of tasks are made of it."""
    sources_of(files, "", os.environ)


def _taken(session: Session, importing: Importing, file: str, found: "Found") -> ImportReport:
    """Take a file over; one without tasks makes no home."""
    warn_of_secrets(found.file, safe(file))
    count = len(found.file.tasks)
    home = session.writing() if count else session.reading()
    with _progress(session, count) as bar:
        return importing.take(home, safe(file), found, bar.update)


@contextmanager
def _progress(session: Session, count: int) -> Iterator[ProgressBar]:
    """A bar on stderr, where somebody looks at it and it takes a while."""
    is_wanted = count >= PROGRESS_FROM and sys.stderr.isatty()
    is_hidden = not is_wanted or session.is_quiet or session.as_json
    with click.progressbar(
        length=count, label="Importing", file=sys.stderr, hidden=is_hidden
    ) as bar:
        yield bar

"""`wakelog import`: tasks from files, as often as you like (SPEC 1, Importers)."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

import click
import msgspec

from adapters.actions import watched
from adapters.actions.differing import Side
from adapters.actions.foreseeing import plan_import
from adapters.actions.gone import Sure, news
from adapters.actions.importing import Importing, made_of, remember, told_before
from adapters.actions.sources import (
    Given,
    format_named,
    given_file,
    nobody,
    read_file,
    sources_of,
)
from adapters.cli import importing_text
from adapters.cli.consent import can_ask
from adapters.cli.entering import TEXT, warn_of_secrets
from adapters.cli.importing_undo import undo_imports
from adapters.cli.shared import Session, UserError, complain, key_option
from adapters.documents.tasks import ImportReport, import_document, titles_among
from adapters.home.given import Unreadable
from adapters.home.settings import Gone
from adapters.importers.formats import FORMATS_TOLD
from adapters.text.common import safe
from projections.tasks import VIEW

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
@click.option(
    "--prefer",
    type=click.Choice(["file", "mine"]),
    help="What stands where the file and you changed a field; else yours, and it is told.",
)
@click.option(
    "--gone",
    type=click.Choice(["keep", "reject", "delete"]),
    help="What becomes of tasks that are not in the file any more; remembered for the source.",
)
@click.option(
    "--agents/--no-agents",
    default=None,
    help="New tasks get an agent each, as with `agent create --all`; else as the settings say.",
)
@click.option(
    "--archive",
    type=click.Path(),
    default="",
    metavar="FILE",
    help="Where your client moves what is done: read along, now and later.",
)
@click.option(
    "--restore", is_flag=True, help="What you deleted here and is in the file comes back."
)
@click.option("--undo", is_flag=True, help="Take back the newest import of each file.")
@click.option("--yes", is_flag=True, help="Close what is gone from the file, however much it is.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@key_option
@click.pass_obj
def import_command(  # noqa: PLR0913, PLR0917  one for each option
    session: Session,
    /,
    files: Sequence[str],
    form: str,
    source: str,
    headings: str | None,
    prefer: Side | None,
    gone: Gone | None,
    archive: str,
    key: str,
    *,
    agents: bool | None,
    restore: bool,
    undo: bool,
    yes: bool,
    dry_run: bool,
) -> None:
    """Bring tasks in from files; `-` is stdin.

    In Markdown, `- [ ] Paint the door ~2h !p1 #home due:2027-02-12` is a task. todo.txt, what
    `task export` and `gh issue list --json number,title,body,labels,state,url` write, and issues
    of GitHub's REST interface are read, too. Importing a file again takes over what changed in
    it; what you changed here meanwhile stays, and `wakelog conflicts` lists what both changed.
    """
    form = format_named(form)
    try:
        places = sources_of(
            session.opened(), files, source, os.environ, archive, is_it=_is_it(session)
        )
    except Unreadable as error:
        raise UserError(safe(f"{error} [unreadable_file]")) from None
    sources = [one.name for one in places]
    if undo:
        undo_imports(session, sources, key, is_dry_run=dry_run)
        return
    importing = Importing(
        key,
        prefer,
        gone,
        agents=agents,
        restores=restore,
        is_one_of_many=len(files) > 1,
        sure=_sure(session, is_sure=yes),
    )
    reports: list[ImportReport] = []
    for file, place in zip(files, places, strict=True):
        session.opened()  # first: a file is read for a home
        try:
            given = given_file(file, place, form=form, by_heading=headings is not None)
            reports.append(
                _foreseen(session, given, prefer, gone)
                if dry_run
                else _imported(session, given, importing, is_keyed=bool(key))
            )
        except Unreadable as error:
            reports.append(ImportReport(safe(file), failure=str(error)))
    if session.as_json:
        session.document(import_document(reports))
    tell_all(session, sources, reports, is_dry_run=dry_run)
    importing_text.tell_next(session, reports, is_dry_run=dry_run)
    failures = [report for report in reports if report.failure]
    for report in failures:
        complain(f"{report.file}: {report.failure} [unreadable_file]")
    if failures:
        raise SystemExit(UserError.exit_code)
    if any(report.unreadable or report.gone_held for report in reports):
        raise SystemExit(1)


def _is_it(session: Session) -> Callable[[str, str], bool]:
    """Asks whether a file is the one of a name, where somebody can be asked."""

    def ask(file: str, source: str) -> bool:
        told = (
            f"Tasks of a file {source!r} are here, and {file} says other things. Is it that file?"
        )
        return click.confirm(safe(told), default=False, err=True)

    return ask if can_ask(session) else nobody


def _sure(session: Session, *, is_sure: bool) -> Sure:
    """Asks whether so many tasks may be closed, where somebody can be asked."""

    def ask(tasks: Sequence[str]) -> bool:
        titles = titles_among(session.reading(), tasks)
        shown = ", ".join(f'"{titles[one]}"' for one in tasks[:3])
        more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
        told = f"{len(tasks)} tasks are not in the file any more: {shown}{more}. Close them here?"
        return click.confirm(safe(told), default=False, err=True)

    return (lambda _: True) if is_sure else ask if can_ask(session) else (lambda _: False)


def tell_all(
    session: Session, sources: Sequence[str], reports: Sequence[ImportReport], *, is_dry_run: bool
) -> None:
    """Tell what became of each file; what is gone, once for its source."""
    named = {
        one
        for report in reports
        for one in (*report.gone, *report.gone_settled, *report.gone_held, *report.restored)
    }
    named |= {item.task for report in reports for item in report.gone_items}
    titles = titles_among(session.reading(), named) if named else {}
    for name, report in zip(sources, reports, strict=True):
        is_told = is_dry_run or session.as_json or report.failure
        left = [*report.gone, *(item.item for item in report.gone_items)]
        told = left if is_told else news(session.reading(), name, left)
        importing_text.tell(session, report, titles, told, is_dry_run=is_dry_run)


def import_again(session: Session, file: str, *, agents: bool | None = None) -> ImportReport:
    """Take over what changed in a file that is watched; `failure` says why it cannot be read."""
    home = session.opened()
    try:
        (place,) = sources_of(home, [file], "", os.environ)
        given = given_file(file, place)
        if watched.is_known(home, given, os.environ):
            report = ImportReport(safe(file))
        else:
            report = _imported(session, given, Importing(agents=agents))
    except Unreadable as error:
        return ImportReport(safe(file), failure=str(error))
    watched.keep(session.opened(), file, given.data)
    return report


def check_sources(session: Session, files: Sequence[str]) -> None:
    """Refuse a file that is named twice, and one of which it is not known which it is."""
    with suppress(Unreadable):  # that is told when it is taken
        sources_of(session.opened(), files, "", os.environ)


def _foreseen(
    session: Session, given: Given, prefer: Side | None, how: Gone | None
) -> ImportReport:
    """Tell what would be done with a file. Raises Unreadable: its format is not known."""
    found = read_file(session.opened(), given, os.environ)
    return plan_import(session.reading(), safe(given.file), found, prefer, how)


def _imported(
    session: Session,
    given: Given,
    importing: Importing,
    *,
    is_keyed: bool = False,
) -> ImportReport:
    """Take a file over; one without tasks makes no home.

    Raises:
        Unreadable: Its format is not known.
    """
    home = session.opened()
    seen = made_of(home, given, os.environ)
    told = None if is_keyed else told_before(home, given, seen)
    if told is not None and not importing.settles(told):
        home = session.writing()  # refused where nothing may be written
        importing.remember(home, given)
        return told
    found = read_file(home, given, os.environ)
    warn_of_secrets(msgspec.structs.replace(found.file, formulas=()), safe(given.file))
    count = len(found.file.tasks)
    home = session.writing() if count or home.views.count(VIEW) else session.reading()
    with _progress(session, count) as bar:
        report = importing.take(home, safe(given.file), found, bar.update, given.place)
    remember(home, given, seen, report)
    return report


@contextmanager
def _progress(session: Session, count: int) -> Iterator[ProgressBar]:
    """A bar on stderr, where somebody looks at it and it takes a while."""
    is_wanted = count >= PROGRESS_FROM and sys.stderr.isatty()
    is_hidden = not is_wanted or session.is_quiet or session.as_json
    with click.progressbar(
        length=count, label="Importing", file=sys.stderr, hidden=is_hidden
    ) as bar:
        yield bar

"""Tasks from files, as often as you like (SPEC 1, Importers): `wakelog import`, and `init`."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click
import msgspec

from adapters.cli.lazy_groups import command, keyed
from adapters.cli.param_types import warn_of_secrets
from adapters.cli.shared import Session, UserError, complain, flag, option
from adapters.documents.homes import BegunHome
from adapters.documents.results import ImportsUndone, ImportUndone
from adapters.documents.tasks import ImportReport, import_document, titles_among
from adapters.home.home_location import keep_zone
from adapters.home.read_input import UnreadableInput
from adapters.home.sanitise_input import replacement_line
from adapters.home.settings import GoneMode
from adapters.importers.formats import FORMATS_TOLD
from adapters.text import conflicts
from adapters.text.common import ID_SHOWN, counted, safe
from adapters.usecases import import_tasks
from adapters.usecases.agents import AgentOptions, assign_all, tasks_alone
from adapters.usecases.import_sources import (
    FileInput,
    format_named,
    given_file,
    nobody,
    read_file,
    sources_of,
)
from adapters.usecases.resolve import nth_key
from adapters.usecases.resolve_conflict import Side
from domain.errors import invalid
from projections.tasks import VIEW

if TYPE_CHECKING:
    from domain.journal.imported import Unreadable

SHOWN_MAX = 20  # problems, and titles of what is gone, of one file; --json has them all


def tell(
    session: Session, report: "ImportReport", titles: Mapping[str, str], news: Sequence[str], *,
    is_dry_run: bool,
) -> None:  # fmt: skip
    """What an import did with a file; `titles` are those of all tasks, by id, `news` the tasks and
    items that are gone and were not told of before."""
    for name, count in report.keys_replaced.items():
        times = "" if count == 1 else f" ({count} times)"
        click.echo(f"Note: {report.file}: {replacement_line(name)}{times}", err=True)
    if report.failure or session.as_json:
        return
    counts = {
        "created": report.created,
        "given an agent": report.agents,
        "changed": max(report.changed - len(report.restored), 0),
        "unchanged": report.unchanged,
        "in conflict": len(report.conflicts),
        "settled": report.settled,
        "back again": len(report.restored),
        "gone": len(report.gone) + len(report.gone_held),
        f"item{'s' * (len(report.gone_items) != 1)} gone": len(report.gone_items),
        "rejected or deleted": len(report.gone_settled),
        "read as open": report.boxes_as_open,
        "unreadable": len(report.unreadable),
    }
    would = "would be " if is_dry_run else ""
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    named = report.file if report.format == "markdown" else f"{report.file} ({report.format})"
    session.say(f"{named}: {would}{told}" if told else f"{named}: no tasks found")
    if report.left_out:
        session.say(f"  Left out: {', '.join(report.left_out)}")
    _tell_lines(session, report.file, report.unreadable, style="yellow")
    _tell_lines(session, report.file, report.remarks)
    if report.moved_from:
        session.say(f"  Known by what it says: it was {safe(report.moved_from)}")
    _tell_lines(session, report.file, report.told, style="yellow")
    _tell_lines(session, report.file, report.named)
    titled = (
        f"{one.task_id[:ID_SHOWN]} {safe(one.was)} -> {safe(one.title)}" for one in report.retitled
    )
    _list(session, "Taken for tasks that were there before, retitled or moved:", [*titled])
    both = (f"{safe(one.title)}: {conflicts.as_text(one)}" for one in report.conflicts)
    _list(session, "Changed in the file and here, left as it is here:", [*both])

    _tell_gone(session, report, titles, news)
    here = {
        "deleted here, open in the file (`--restore` brings back)": report.deleted_here,
        "erased here, left out": report.erased_here,
        f"done here, not in the file yet (`wakelog write-back {report.file}`)": report.done_here,
        f"added here, in no file (`wakelog write-back {report.file} --add`)": report.added_here,
    }
    for told, tasks in here.items():
        if tasks:
            session.say(f"  {len(tasks)} {told}")


def _tell_gone(
    session: Session, report: "ImportReport", titles: Mapping[str, str], news: Sequence[str]
) -> None:
    def named(tasks: Sequence[str]) -> list[str]:
        return [f"{task[:ID_SHOWN]} {safe(titles[task])}" for task in tasks]

    alone = "No longer in the file, left alone here (told once; see `--gone`):"
    _list(session, alone, named([one for one in report.gone if one in news]))
    _list(session, "No longer in the file, rejected or deleted here:", named(report.gone_settled))
    _list(session, "Back in the file, and here:", named(report.restored))
    held = "No longer in the file, and not closed unasked, for it is much (`--gone HOW --yes`):"
    _list(session, held, named(report.gone_held))
    items = (one for one in report.gone_items if one.item in news)
    told = [f"{safe(titles[one.task])}: {safe(one.title)}" for one in items]
    _list(session, "Items no longer in the file, left alone here (told once):", told)


def _list(session: Session, heading: str, lines: Sequence[str]) -> None:
    """Some lines below a heading; nothing, if there are none."""
    if lines:
        session.say(f"  {heading}")
    for line in lines[:SHOWN_MAX]:
        session.say(f"    {line}")
    _more(session, len(lines))


def _more(session: Session, count: int) -> None:
    if count > SHOWN_MAX:
        session.say(f"    and {count - SHOWN_MAX} more; --json lists them all")


def _tell_lines(
    session: Session, file: str, lines: "Sequence[Unreadable]", *, style: str = ""
) -> None:
    """Lines of a file, and what is to be said of each."""
    for one in lines[:SHOWN_MAX]:
        place = f"{file}:{one.line}" if one.line else file
        session.say(f"  {place}: {safe(one.reason)}", style=style)
    _more(session, len(lines))


def tell_next(session: Session, reports: Sequence["ImportReport"], *, is_dry_run: bool) -> None:
    """A hint on stderr what to do now."""
    read = [report for report in reports if not report.failure]
    if read and not any(report.created + report.changed + report.unchanged for report in read):
        if all(report.format != "markdown" for report in read):
            return
        session.note("A task is a line with a box, like `- [ ] Paint the door ~2h due:2027-02-12`.")
    elif is_dry_run:
        session.note("Nothing was written; leave --dry-run out to do it.")
    elif any(report.conflicts for report in read):
        session.note("Settle each with `wakelog settle TASK FIELD --keep file|mine`.")
    elif any(report.agents for report in read):
        session.note("Their first wakes are queued; run them with `wakelog wake`.")
    elif any(report.created for report in read):
        session.note(
            "See them with `wakelog list`; `wakelog agent create --all` gives agents, "
            "`import --agents` to new ones at once."
        )


# ---------------------------------------------------------------------------- taking an import back


def undo_imports(session: Session, sources: Sequence[str], key: str, *, is_dry_run: bool) -> None:
    """Take back the newest import of each source. Raises Refused: there is none."""
    if is_dry_run:
        raise invalid("--undo is done, not tried", "leave --dry-run out")
    documents: list[ImportUndone] = []
    for nth, source in enumerate(sources, start=1):
        done = import_tasks.undo_import(session.writing(), source, nth_key(key, nth))
        documents.append(ImportUndone(source, [*done.tasks], [*done.kept]))
        titles = titles_among(session.reading(), done.kept)
        if not session.as_json:
            session.say(f"{safe(source)}: {len(done.tasks)} brought back, {len(done.kept)} kept")
            for one in done.kept:
                session.say(f"  {one[:ID_SHOWN]} {safe(titles[one])}: changed since, left alone")
    session.printed(ImportsUndone(documents))


PROGRESS_FROM = 400  # tasks; fewer need no progress bar


@keyed("import", example="TODO.md plans/*.md --dry-run")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@option("--format form=F", f"{FORMATS_TOLD}; else guessed.", default="")
@option("--source=S", "Name of the source; else the file's.", default="")
@option(
    "--headings", "In Markdown: a heading is a task, its boxes its checklist.",
    click.Choice(["tasks"]),
)  # fmt: skip
@option(
    "--prefer", "What stands where the file and you changed a field; else yours, and it is told.",
    click.Choice(["file", "mine"]),
)  # fmt: skip
@option(
    "--gone", "What becomes of tasks that are not in the file any more; remembered for the source.",
    click.Choice(["keep", "reject", "delete"]),
)  # fmt: skip
@option(
    "--agents/--no-agents",
    "New tasks get an agent each, as with `agent create --all`; else as the settings say.",
    default=None,
)
@option(
    "--archive=FILE", "Where your client moves what is done: read along, now and later.",
    click.Path(), default="",
)  # fmt: skip
@flag("--restore", "What you deleted here and is in the file comes back.")
@flag("--undo", "Take back the newest import of each file.")
@flag("--yes", "Close what is gone from the file, however much it is.")
@flag("--dry-run", "Say what would be done, and do nothing.")
def import_command(  # noqa: PLR0913, PLR0917  one for each option
    session: Session, /, files: Sequence[str], form: str, source: str, headings: str | None,
    prefer: Side | None, gone: GoneMode | None, archive: str, key: str, *, agents: bool | None,
    restore: bool, undo: bool, yes: bool, dry_run: bool,
) -> None:  # fmt: skip
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
    except UnreadableInput as error:
        raise UserError(safe(f"{error} [unreadable_file]")) from None
    sources = [one.name for one in places]
    if undo:
        undo_imports(session, sources, key, is_dry_run=dry_run)
        return
    importing = import_tasks.Importing(
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
        except UnreadableInput as error:
            reports.append(ImportReport(safe(file), failure=str(error)))
    if session.as_json:
        session.document(import_document(reports))
    tell_all(session, sources, reports, is_dry_run=dry_run)
    tell_next(session, reports, is_dry_run=dry_run)
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

    return ask if session.can_ask else nobody


def _sure(session: Session, *, is_sure: bool) -> import_tasks.ConfirmClosing:
    """Asks whether so many tasks may be closed, where somebody can be asked."""

    def ask(tasks: Sequence[str]) -> bool:
        titles = titles_among(session.reading(), tasks)
        shown = ", ".join(f'"{titles[one]}"' for one in tasks[:3])
        more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
        told = f"{len(tasks)} tasks are not in the file any more: {shown}{more}. Close them here?"
        return click.confirm(safe(told), default=False, err=True)

    return (lambda _: True) if is_sure else ask if session.can_ask else (lambda _: False)


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
        told = left if is_told else import_tasks.newly_missing(session.reading(), name, left)
        tell(session, report, titles, told, is_dry_run=is_dry_run)


def import_again(session: Session, file: str, *, agents: bool | None = None) -> ImportReport:
    """Take over what changed in a file that is watched; `failure` says why it cannot be read."""
    home = session.opened()
    try:
        (place,) = sources_of(home, [file], "", os.environ)
        given = given_file(file, place)
        if import_tasks.is_known_copy(home, given, os.environ):
            report = ImportReport(safe(file))
        else:
            report = _imported(session, given, import_tasks.Importing(agents=agents))
    except UnreadableInput as error:
        return ImportReport(safe(file), failure=str(error))
    import_tasks.keep_copy(session.opened(), file, given.data)
    return report


def check_sources(session: Session, files: Sequence[str]) -> None:
    """Refuse a file that is named twice, and one of which it is not known which it is."""
    with suppress(UnreadableInput):  # that is told when it is taken
        sources_of(session.opened(), files, "", os.environ)


def _foreseen(
    session: Session, given: FileInput, prefer: Side | None, how: GoneMode | None
) -> ImportReport:
    """Tell what would be done with a file. Raises Unreadable: its format is not known."""
    found = read_file(session.opened(), given, os.environ)
    return import_tasks.dry_run(session.reading(), safe(given.file), found, prefer, how)


def _imported(
    session: Session, given: FileInput, importing: import_tasks.Importing, *, is_keyed: bool = False
) -> ImportReport:
    """Take a file over; one without tasks makes no home. Raises Unreadable: its format is not
    known."""
    home = session.opened()
    seen = import_tasks.made_of(home, given, os.environ)
    told = None if is_keyed else import_tasks.kept_report(home, given, seen)
    if told is not None and not importing.settles(told):
        home = session.writing()  # refused where nothing may be written
        importing.remember(home, given)
        return told
    found = read_file(home, given, os.environ)
    warn_of_secrets(msgspec.structs.replace(found.file, formulas=()), safe(given.file))
    count = len(found.file.tasks)
    home = session.writing() if count or home.views.count(VIEW) else session.reading()
    with session.bar("Importing", count, is_wanted=count >= PROGRESS_FROM) as bar:
        report = importing.take(home, safe(given.file), found, bar.update, given.place)
    import_tasks.keep_report(home, given, seen, report)
    return report


# -------------------------------------------------------------------------------------- a first run


@command("init", example=("", "--zone Europe/Berlin --import TODO.md --agents"))
@option("--zone=Z", "Your time zone.", default="")
@option("--import file=FILE", "Tasks to bring in.", click.Path())
@flag("--no-import", "Bring nothing in.")
@option("--agents/--no-agents", "Make an agent for each open task, or not.", default=None)
def init_command(
    session: Session, *, zone: str, file: str | None, no_import: bool, agents: bool | None
) -> None:
    """Make a home: your time zone, tasks from a file, agents.

    On a terminal it asks for what no option says; elsewhere it leaves that out. In a home that is
    there it does the same, and nothing twice.
    """
    asks = session.can_ask
    if zone:
        keep_zone(session.place, zone, os.environ)
    elif asks:
        session.offer_zone()
    home = session.writing(is_asking=False)
    session.note(f"The home is {home.place.name}, its time zone {home.settings.timezone}.")
    if file is None and asks and not no_import:
        file = click.prompt("A file of tasks to import, or Enter", "", show_default=False, err=True)
    report = None if no_import or not file else import_one(session, file)
    home.views.catch_up()
    has_alone = tasks_alone(home) > 0
    if agents is None and asks and has_alone:
        agents = click.confirm("Make an agent for each open task?", default=True, err=True)
    made = assign_all(home, AgentOptions())[0] if agents and has_alone else []
    imported = import_document([report]) if report else None
    session.printed(BegunHome(home.place.name, home.settings.timezone, imported, len(made)))
    if made:
        session.say(f"Made {counted(len(made), 'agent')}.")
    session.note(f"Go on with `wakelog {'wake' if made else 'status'}`.")


def import_one(session: Session, file: str) -> ImportReport:
    """Bring in a file where a home is made; told as `wakelog import` does. Raises UserError."""
    report = import_again(session, file)
    if report.failure:
        raise UserError(safe(f"{report.file}: {report.failure} [unreadable_file]"))
    names = [one.name for one in sources_of(session.reading(), [file], "", os.environ)]
    tell_all(session, names, [report], is_dry_run=False)
    return report

"""`wakelog run`: the process to leave running."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from adapters.cli.consent import ask_consent
from adapters.cli.event_lines import EventLines, warned
from adapters.cli.importing import check_sources, import_again
from adapters.cli.lazy_groups import command
from adapters.cli.serve import beside
from adapters.cli.shared import Session, flag, option
from adapters.cli.sync import synced
from adapters.cli.write_back import FollowedFiles
from adapters.documents.results import RunCounts
from adapters.documents.status import lead_away
from adapters.documents.tasks import ImportReport, titles_among
from adapters.home.clock import ManualClock
from adapters.home.sanitise_input import replacement_line
from adapters.text.remedies import in_words
from adapters.upkeep.retain import retaining
from adapters.usecases import notify, policy, run_home
from adapters.usecases.run_home import FileWatcher
from domain.errors import Refused, WakelogError, invalid

if TYPE_CHECKING:
    from adapters.wiring import Home

STOP_SECONDS = 10.0


@command("run", example=("--watch TODO.md --serve", "--until-idle"))
@flag("--until-idle", "End once nothing runs and nothing is due soon.")
@option(
    "--watch files=FILE",
    "Import this file when it changes; see write_back below [import] in settings.toml.",
    click.Path(), multiple=True,
)  # fmt: skip
@option(
    "--agents/--no-agents", "With --watch: new tasks get an agent each; else as the settings say.",
    default=None,
)  # fmt: skip
@flag(
    "--allow-sending",
    "Agree to what the models are sent that are in use, for all categories there are.",
)
@flag("--serve", "Open the page of this home, too; prints where.")
@option(
    "--sync folder=[DIR]",
    "Meet the other machines in DIR, as `wakelog sync` does, for as long as it runs.",
    is_flag=False, flag_value="",
)  # fmt: skip
@option("--port=N", "Of the page; else 8765 or so.", click.IntRange(0, 65_535))
@flag("--token is_asked", "Of the page: ask for one.")
@option(
    "--grace", "Seconds that wakes may take to end when it is stopped.", click.FloatRange(0, 3600),
    shown=STOP_SECONDS,
)  # fmt: skip
def run_command(  # noqa: PLR0913  click hands over one argument for each option
    session: Session, files: Sequence[str], grace: float, port: int | None, folder: str | None, *,
    agents: bool | None, until_idle: bool, allow_sending: bool, serve: bool, is_asked: bool,
) -> None:  # fmt: skip
    """Wake agents as their tasks change and their timers fire, until it is stopped.

    Its log goes to stderr, with --json one JSON object a line. Several may run on one home: each
    wake is run by one of them. Ctrl-C ends it once what runs has ended or is handed back; Ctrl-C
    again ends it at once, and the next one takes over what it left.

    With --serve the same process serves the page of `wakelog serve`, to this machine only; a wake
    that is asked for there is run here. With --token it asks for the token of the address that is
    told (or for that of WAKELOG_SERVE_TOKEN).

    Nothing is sent to a model elsewhere before you agree to it. A service, which nobody can ask,
    agrees with --allow-sending as it begins: the receipts are those of `wakelog policy allow`.

    With `write_back = true` below [import] in settings.toml, what you confirm or do here is put
    into the watched files, as `wakelog write-back` does; a file that changed is imported first. Of
    machines that share a home the one that leads does it.

    What is older than the settings allow below [retain] is dropped once a day, as `wakelog retain`
    does it.

    With --sync it meets the other machines as it begins, five seconds after the last change here,
    as the folder changes, and as it ends: in DIR, else the folder of the settings, else the last.

    Whom the settings name below [notify] is told when something waits: see `wakelog notify`.
    """
    if (port is not None or is_asked) and not serve:
        raise invalid("there is no page to serve", "add --serve")
    if agents is not None and not files:
        raise invalid("there is no file whose tasks could get agents", "add --watch FILE")
    home = session.writing()
    if isinstance(home.services.clock, ManualClock) and not until_idle:
        raise invalid("a clock that is set by hand does not go on by itself", "add --until-idle")
    run_home.check_model(home)
    lines = EventLines(session, home.settings.timezone)
    watched = _Watched(session, lines, files, agents)
    home.doer = "watch"
    watched.start()
    home = session.writing()
    _agree(session, home, lines, is_allowed=allow_sending)
    found = run_home.found_in(home)
    page = _served(session, lines, port, is_wanted=serve, is_asked=is_asked)
    meeting = synced(session, lines, folder, grace, is_until_idle=until_idle)
    retained = retaining(home, os.environ, lines.tell, once=until_idle)
    with closing(run_home.leases_of(home)) as leases, page, meeting, retained, warned(lines):
        lines.tell("started", agents=len(list(found.agents)), pid=leases.pid)
        if folder is None and (lead := lead_away(home)):
            lines.away(lead)
        options = run_home.EngineOptions(is_until_idle=until_idle, grace_seconds=grace)
        told = notify.notifiers_of(home, os.environ, lines.tell)
        counts, is_in_doubt = asyncio.run(
            run_home.run(home, leases, watched.files, lines.tell, options, found, told)
        )
    watched.files.check()  # what was decided last
    lines.tell("stopped", wakes=counts.wakes, failed=counts.failed)
    session.printed(
        RunCounts(counts.wakes, counts.failed, counts.recovered, counts.taken, counts.troubles)
    )
    raise SystemExit(130 if is_in_doubt else int(until_idle and bool(counts.failed)))


def _agree(session: Session, home: "Home", lines: EventLines, *, is_allowed: bool) -> None:
    """See to it that what is to be sent was agreed to, or say what waits for that."""
    sending = policy.sending(home)
    for given in policy.allow_all(home, sending) if is_allowed else ():
        if given.changed:
            lines.tell("agreed", model=given.model, categories=given.categories)
    ask_consent(session, home, sending)
    _tell_closed(home, lines, sending)


def _tell_closed(home: "Home", lines: EventLines, sending: Sequence[str]) -> None:
    for one in policy.needed(home, sending):
        lines.tell("closed", level="warning", model=one.model, command=one.command)


@contextmanager
def _served(
    session: Session, lines: EventLines, port: int | None, *, is_wanted: bool, is_asked: bool
) -> Iterator[None]:
    """The page beside the engine, where it is wanted: it ends after the engine has."""
    if not is_wanted:
        yield
        return
    with beside(session, port, is_asked=is_asked) as address:
        lines.tell("serving", address=address)
        yield


class _Watched:
    """The files of `--watch`: each edit becomes facts of the journal."""

    def __init__(
        self, session: Session, lines: EventLines, files: Sequence[str], agents: bool | None
    ) -> None:
        check_sources(session, files)
        self._agents = agents
        self._session = session
        self._lines = lines
        self.files = FileWatcher(list(files), self._take, self._settle)
        self._written = FollowedFiles(session)
        self._is_starting = True
        self._troubles: set[str] = set()  # the files that could not be imported

    def start(self) -> None:
        """Take over what was edited while nobody watched. Raises Refused: one cannot be read."""
        self.files.take_all()
        self.files.check()
        self._is_starting = False

    def _take(self, file: str) -> bool:
        """Import a file; whether that is done with, one way or the other."""
        try:
            report = import_again(self._session, file, agents=self._agents)
        except WakelogError as error:
            if self._is_starting:
                raise
            self._tell_trouble(file, error)
            return False
        if report.failure and self._is_starting:
            because = f"{report.file} cannot be watched: {report.failure}"
            raise Refused("unreadable_file", because=because, instead="name a file of tasks")
        if report.failure:
            self._lines.tell(
                "unreadable", level="warning", file=report.file, message=report.failure
            )
            return True
        for problem in report.unreadable:
            where = f"{report.file}:{problem.line}"
            self._lines.tell("unreadable", level="warning", file=where, message=problem.reason)
        for name in report.keys_replaced:
            told = replacement_line(name)
            self._lines.tell("replaced", level="warning", file=report.file, message=told)
        if report.events:
            self._lines.tell(
                "imported", file=report.file, created=report.created, changed=report.changed
            )
        self._tell_gone(report)
        self._tell_agents(report)
        self._session.writing().tell_doer()
        self._troubles.discard(file)
        self._written.taken(file)
        return True

    def _settle(self, file: str) -> None:
        """Write back what was decided since."""
        try:
            done = self._written.write(file)
        except WakelogError as error:
            self._lines.tell("trouble", level="warning", code=error.code, message=error)
            return
        if done is not None and done.written:
            changes, left = len(done.written), len(done.left)
            self._lines.tell("written", file=file, changes=changes, left=left)

    def _tell_gone(self, report: ImportReport) -> None:
        """What was closed because the file has it no more, each by its title, and what was not."""
        if not (report.gone_settled or report.gone_held):
            return
        titles = titles_among(self._session.reading(), {*report.gone_settled, *report.gone_held})
        for one in report.gone_settled:
            self._lines.tell("gone", file=report.file, title=titles[one])
        if report.gone_held:
            count = len(report.gone_held)
            self._lines.tell("kept", level="warning", file=report.file, tasks=count)

    def _tell_agents(self, report: ImportReport) -> None:
        if report.agents:
            self._lines.tell("assigned", file=report.file, agents=report.agents)
            if not self._is_starting:  # at the start all agents are asked for
                home = self._session.writing()
                _tell_closed(home, self._lines, policy.sending(home))
        elif report.created:
            self._lines.tell("alone", file=report.file)

    def _tell_trouble(self, file: str, error: WakelogError) -> None:
        """Tell once of a file that is tried again and again."""
        if file in self._troubles:
            return
        self._troubles.add(file)
        message = f"{file} is not imported yet: {in_words(error)}"
        self._lines.tell("trouble", level="error", code=error.code, message=message)

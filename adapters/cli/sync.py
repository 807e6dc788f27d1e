"""One home on several machines, by a folder (ADR 72): `wakelog sync`, `replicas`, `run --sync`."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from msgspec.structs import replace

from adapters.cli.event_lines import EventLines
from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import NO_HOME, Session, flag
from adapters.documents.sync import JoinReport, NamedReplica, SyncReport
from adapters.sync.background_sync import BackgroundSync, SyncListener
from adapters.sync.import_ import RowsTaken
from adapters.sync.machines import host_name, let_lead, name_replica, retire
from adapters.sync.sync_home import replicas_of_home, sync_folder_of, sync_home
from adapters.text import sync as words
from adapters.text.common import counted, safe
from domain.errors import WakelogError, invalid


@command("sync", example=("~/Sync/wakelog", "~/Sync/wakelog --join"))
@click.argument("folder", metavar="[DIR]", default="")
@flag("--join is_join", "Bring this home's own tasks into that one.")
@flag("--yes is_agreed", "With --join: do not ask.")
@flag("--dry-run is_dry", "Only tell what would be done.")
@flag("--accept-erasures", "Erase here, too, what was written to here since.")
def sync_command(
    session: Session, folder: str, *, is_join: bool, is_agreed: bool, is_dry: bool,
    accept_erasures: bool,
) -> int:  # fmt: skip
    """Meet the other machines of this home in a folder: take what is new, then give.

    DIR is any folder that Syncthing, a cloud, git or a stick carries between the machines, and is
    made where only itself is missing; without it, the one of the settings, else the last. On the
    first machine it is empty; on the next ones, run it in an empty home, or in one with tasks of
    its own with --join. Tasks and agents travel and merge; one machine wakes by itself, see
    `wakelog replicas lead`. A machine that is new is called by its host name; `wakelog replicas
    name` calls it otherwise.

    --join asks, and makes this home one of the machines of that in DIR: its tasks come in as new
    ones with all that was done with them, categories and labels of one name are one. Agents, with
    their reports, templates and rules, stay behind: in a copy of the home as it was, which is told.
    Exit status 1: something waits that time alone does not settle, or could not be joined.
    """
    if is_join:
        return _join(session, folder, is_agreed=is_agreed, is_dry=is_dry)
    did, is_first = _synced(session, folder, is_dry=is_dry, accepts=accept_erasures)
    if not session.printed(did):
        _tell_synced(session, did, is_first=is_first and not is_dry)
    return int(_is_stuck(did))


def _synced(
    session: Session, folder: str, *, is_dry: bool, accepts: bool = False
) -> tuple[SyncReport, bool]:
    """What a sync did, and whether it was the home's first."""
    shelf = sync_folder_of(session.place, session.settings(), folder, is_made=not is_dry)
    home = session.reading() if is_dry else session.writing()
    is_first = not home.services.journal.is_shared
    with _rows_progress(session) as told:
        host = host_name(os.environ)
        did = sync_home(home, shelf, told, is_dry=is_dry, host=host, accepts=accepts)
        return did, is_first


def _tell_synced(session: Session, did: SyncReport, *, is_first: bool) -> None:
    settings = session.settings()
    session.say_each(words.sync_lines(did, settings.timezone))
    for line in words.first_lines(did, settings) if is_first else ():
        session.note(line)


def _is_stuck(did: SyncReport) -> bool:
    return any(one.is_trouble for one in did.waiting)


def _join(session: Session, folder: str, *, is_agreed: bool, is_dry: bool) -> int:
    from adapters.sync.join import join, join_plan  # it decides again: only who needs it loads that

    session.check_named()
    plan = join_plan(session.place, os.environ, folder)
    if plan is None:
        did, is_first = _synced(session, folder, is_dry=is_dry)
        document = JoinReport(did.replica, "", "", 0, 0, 0, synced=did)
        session.tell(document, words.NOTHING_TO_JOIN)
        _tell_synced(session, did, is_first=is_first and not is_dry)
        return int(_is_stuck(did))
    told = safe(words.join_question(plan.folder, plan.tasks, plan.there, plan.agents))
    if is_dry:
        session.tell(JoinReport("", "", "", plan.tasks, plan.there, plan.agents), told)
        return 0
    if not (is_agreed or plan.is_begun):
        if not session.can_ask:
            raise invalid(told.removesuffix("."), "say --yes where nobody can be asked")
        click.confirm(f"{told} Join them?", abort=True, err=True)
    with _steps(session, "Joining") as step:
        joined = join(session.place, os.environ, plan, host=host_name(os.environ), step=step)
    session.tell(joined, *words.join_lines(joined, session.settings().timezone))
    return int(bool(joined.refused or (joined.synced and _is_stuck(joined.synced))))


@group("replicas", invoke_without_command=True, epilog="Example: wakelog replicas")
@click.pass_context
def replicas_command(ctx: click.Context) -> None:
    """See the machines of this home, and what is known of each."""
    if ctx.invoked_subcommand is None:
        _show_replicas(ctx.obj)


def _show_replicas(session: Session) -> None:
    home = session.reading()
    if not home.exists:
        session.say(NO_HOME.format(home.place.name))
        return
    found = replicas_of_home(home)
    session.printed(found)
    cells = [words.replica_cells(one, home.settings.timezone) for one in found]
    session.table(("Name", "Replica", "Append", "Seen", "State"), cells)


@command("replicas name", "label", example="desk")
def replicas_name(session: Session, label: str) -> None:
    """Call this machine LABEL; the others hear of it with the next sync."""
    home = session.writing()
    name_replica(home, label)
    did = NamedReplica(home.services.journal.replica, label)
    session.tell(did, safe(f"This machine is {label} now."))


@command("replicas rescue", example=("--dry-run", ""))
@click.argument("folder", metavar="[DIR]", default="")
@flag("--dry-run is_dry", "Only tell what would be done.")
def replicas_rescue(session: Session, folder: str, is_dry: bool) -> int:
    """Go on under a new name, where another home wrote under the name of this one.

    For a restored image, a copied home, or one that took in what was given up elsewhere. The home
    is copied into its `forks`; what the others hold is taken in, and what was done here since the
    split is done again, under this wakelog's rules. What is not possible any more is listed, and
    stays in the copy; wakes are not repeated. Repeat it if it was cut off. Exit status 1: something
    was not possible.
    """
    from adapters.sync.rescue import rescue  # it decides again: only who needs it loads that

    session.check_named()
    with _steps(session) as step:
        did = rescue(session.place, os.environ, folder, is_dry=is_dry, step=step)
    session.tell(did, *words.rescue_lines(did, session.settings().timezone))
    return int(bool(did.refused))


@contextmanager
def _steps(session: Session, what: str = "Rescuing") -> Iterator[Callable[[str], None]]:
    """One line on stderr that tells what is done, where somebody looks."""
    if not session.is_watched:
        yield lambda _: None
        return
    yield lambda name: click.echo(f"\r{what}: {name:<20}", nl=False, err=True)
    click.echo(err=True)


@command("replicas lead", example="desk")
@click.argument("name", default="", metavar="[NAME]")
def replicas_lead(session: Session, name: str) -> None:
    """Let one machine wake agents by itself: NAME, or else this one.

    It watches what changes, ticks timers, and goes on with what waits on the machine that led; that
    one hears of it with its next sync. What you ask an agent yourself runs where you ask.
    """
    did = let_lead(session.writing(), name)
    if not session.printed(did):
        who = safe(did.label or did.replica)
        back = f"{who} was gone for good, and is there again. " if did.returned else ""
        session.say(f"{back}{who} leads now." if did.changed else f"{who} leads already.")


@command("replicas retire", "name", example="phone")
def replicas_retire(session: Session, name: str) -> None:
    """Say that the machine NAME never comes back.

    If it led, this one does; what it had in hand goes on here, and nobody waits for it any more. If
    it comes back after all, what it wrote is taken as ever.
    """
    did = retire(session.writing(), name)
    session.tell(did, safe(f"{did.label or did.replica} is gone for good."))
    if did.operations or did.wakes:
        taken = f"{counted(did.operations, 'change')} and {counted(did.wakes, 'wake')}"
        session.say(f"Of what it had in hand {taken} go on here.")


@contextmanager
def _rows_progress(session: Session) -> Iterator[RowsTaken]:
    """A line on stderr that grows, where somebody looks."""
    if not session.is_watched:
        yield lambda _: None
        return
    took = 0

    def told(rows: int) -> None:
        nonlocal took
        took += rows
        click.echo(f"\rTaking: {counted(took, 'row')}", nl=False, err=True)

    yield told
    if took:
        click.echo(err=True)


# --------------------------------------------------------------------------------- beside an engine
# `wakelog run --sync`: the folder of the other machines is followed beside the engine.


@contextmanager
def synced(
    session: Session, lines: EventLines, folder: str | None, seconds: float, *, is_until_idle: bool
) -> Iterator[None]:
    """Sync while something runs, where that is wanted.

    Args:
        lines: Are told what comes and goes.
        folder: Where machines meet; empty: see `shelf_of`; None: nothing is synced.
        seconds: That a sync may take to end when all ends.
        is_until_idle: What runs ends by itself: it begins once all is here that lies there.

    Raises:
        Refused: See `shelf_of`.
    """
    if folder is None:
        yield
        return
    told = _SyncLines(lines, session.settings().timezone)
    follower = BackgroundSync(session.place, os.environ, folder, told.asked)
    follower.start(is_waiting=is_until_idle)
    try:
        yield
    finally:
        follower.stop(seconds)


class _SyncLines:
    """What a sync did, as lines of the log."""

    def __init__(self, lines: EventLines, zone: str) -> None:
        self._lines = lines
        self._zone = zone
        self.asked = SyncListener(self._did, self._failed, self._well, lines.away)

    def _did(self, did: SyncReport) -> None:
        waits = [one for one in did.waiting if one.is_trouble]
        shown = replace(did, equal=[], behind=[], waiting=waits, skipped=0, lead_away=None)
        self._lines.tell(
            "synced",
            level="warning" if waits else "info",
            took=did.took,
            gave=did.gave,
            conflicts=did.conflicts,
            message=" ".join(words.sync_lines(shown, self._zone)),
        )

    def _failed(self, error: Exception) -> None:
        is_told = isinstance(error, WakelogError)
        code = error.code if isinstance(error, WakelogError) else "internal"
        message = error if is_told else f"{type(error).__name__}: {error}"
        self._lines.tell("trouble", level="error", code=code, message=message)

    def _well(self) -> None:
        self._lines.tell("well_again")

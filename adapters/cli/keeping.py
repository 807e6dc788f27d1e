"""`wakelog backup` and `wakelog health`: for the machine that looks after a home."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from adapters.cli.entering import TEXT
from adapters.cli.shared import Session
from adapters.documents.deeds import BackupDetails
from adapters.documents.status import health_document
from adapters.home import files
from adapters.text.common import safe
from adapters.text.reading import counted
from adapters.upkeep.backup import back_up
from domain.errors import Refused

NO_HOME = "there is no home at {}"


@click.command("backup", epilog="Example: wakelog backup ~/backups/2027-01-01")
@click.argument("folder", type=TEXT, metavar="DIR")
@click.pass_obj
def backup_command(session: Session, folder: str) -> None:
    """Copy the home into a new folder, while it is worked in.

    Both logs are copied whole and looked at; views and leases are left out, they are made anew.
    A backup that fails or is stopped leaves nothing behind.
    To restore, use the copy as --home; `wakelog prove` says whether it is what was written.
    """
    if not session.place.is_folder:
        because = f"{session.place.name} is in a database"
        instead = f"copy it with `wakelog copy {session.place.name} {folder}`"
        raise Refused("invalid_value", because=because, instead=instead)
    if not files.exists(session.path):
        because = NO_HOME.format(session.path)
        raise Refused("invalid_value", because=because, instead="name one with --home")
    target = Path(folder).expanduser().absolute()
    with _heeding_sigterm():
        made = back_up(session.path, target)
    size = sum(one.stat().st_size for one in made)
    if session.as_json:
        names = [one.name for one in made]
        session.document(BackupDetails(ok=True, folder=str(target), files=names, bytes=size))
    else:
        session.say(safe(f"{target}: {counted(len(made), 'file')}, {size:,} bytes"))
        session.note(safe(f"Prove it with `wakelog --home {target} prove`."))


@contextmanager
def _heeding_sigterm() -> Iterator[None]:
    """A shutdown stops it as Ctrl-C does: what is half done is taken away first."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@click.command("health", epilog="Example: wakelog health || systemctl --user restart wakelog")
@click.pass_obj
def health_command(session: Session) -> None:
    """Say whether agents are awake: a runtime lives, and nothing waits that should not.

    For a home in a database any worker that lives will do; that of one worker is `worker --health`.

    Exit status 1: something is wrong.
    """
    home = session.reading()
    if not home.exists:
        because = NO_HOME.format(session.path)
        raise Refused("invalid_value", because=because, instead="begin with `wakelog demo`")
    health = health_document(home)
    if session.as_json:
        session.document(health)
    for one in health.checks:
        mark = click.style("ok  ", fg="green") if one.ok else click.style("FIND", fg="red")
        session.say(f"{mark}  {one.check}: {safe(one.message)}")
    raise SystemExit(0 if health.ok else 1)

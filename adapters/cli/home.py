"""`wakelog home`: which folder it is, who writes there, and what it has become."""

import os
from typing import TYPE_CHECKING, Literal

import click

from adapters.cli.entering import TEXT
from adapters.cli.shared import Session
from adapters.documents.databases import CreatedHome, ThawedHome
from adapters.documents.deeds import AdoptedHome, HomeDetails
from adapters.documents.tasks import import_document
from adapters.home import installation
from adapters.text.common import safe
from adapters.upkeep import adopting
from adapters.upkeep.copying import thaw
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.upkeep.adopting import Adopted
    from domain.causes import GivenUp

How = Literal["restored", "moved", "copy"]
_STATES = {
    "unchecked": "not looked at: WAKELOG_REPLICA names who writes",
    "unknown": "not known yet: the next command that writes keeps it",
    "here": "where its writer's name was drawn",
    "elsewhere": "another one: say `wakelog home adopt moved` or `wakelog home adopt copy`",
}


@click.group("home")
def home_command() -> None:
    """Show the home, make and list those of a database, settle what became of it."""


@home_command.command("show", epilog="Example: wakelog home show")
@click.pass_obj
def show_command(session: Session) -> None:
    """Show where the home is, who writes there, and whether its logs belong together."""
    home = session.opened()
    replica = home.services.journal.replica if home.exists else ""
    kept = installation.kept(home.path)
    state = installation.state(home.path, os.environ) if home.exists else "unknown"
    if session.as_json:
        session.document(
            HomeDetails(
                home=home.place.name,
                exists=home.exists,
                replica=replica or None,
                installation=kept.id if kept else None,
                place=state,
                other_past=home.other.because if home.other else None,
            )
        )
        return
    session.say(safe(f"home          {home.place.name}" + " (not made yet)" * (not home.exists)))
    session.say(f"writes as     {replica or 'nobody yet'}")
    if home.place.is_folder:
        session.say(f"installation  {kept.id if kept else 'none yet'}")
        session.say(f"folder        {_STATES[state]}")
    session.say(f"logs          {home.other.because if home.other else 'belong together'}")


@home_command.command(
    "create", epilog="Examples: wakelog home create anna; wakelog home create anna --import TODO.md"
)
@click.argument("name", type=TEXT)
@click.option("--import", "file", type=click.Path(), metavar="FILE", help="Tasks to bring in.")
@click.pass_obj
def create_command(session: Session, name: str, file: str | None) -> None:
    """Make a home in the database that WAKELOG_DATABASE names; then work in it as `pg:NAME`."""
    from adapters.actions.database_homes import create_home
    from adapters.cli.first_run import import_one

    place = create_home(name, os.environ)
    inner = Session(place, model="", as_json=session.as_json, is_quiet=session.is_quiet)
    try:
        report = import_one(inner, file) if file else None
    finally:
        inner.close()
    if session.as_json:
        session.document(CreatedHome(place.name, import_document([report]) if report else None))
        return
    session.say(f"Made the home {place.name}.")
    session.note(f"Work in it with `wakelog --home {place.name} ...`, or set WAKELOG_HOME to it.")


@home_command.command("thaw", epilog="Example: wakelog --home pg:anna home thaw")
@click.pass_obj
def thaw_command(session: Session) -> None:
    """Let a home be written again whose copying was cut off."""
    was = thaw(session.place)
    if session.as_json:
        session.document(ThawedHome(session.place.name, was))
        return
    name = safe(session.place.name)
    session.say(f"{name} may be written again." if was else f"{name} is not frozen.")


@home_command.command("freeze", epilog="Example: wakelog home freeze anna")
@click.argument("name", type=TEXT)
@click.pass_obj
def freeze_command(session: Session, name: str) -> None:
    """Let nobody write in a home of the database, until `wakelog --home pg:NAME home thaw`."""
    from adapters.actions.people import freeze_home

    found = freeze_home(name, os.environ)
    if session.as_json:
        session.document(found)
        return
    session.say(f"Nobody writes in {found.home} until it is thawed.")


@home_command.command("rename", epilog="Example: wakelog home rename anna anna-schmidt")
@click.argument("name", type=TEXT)
@click.argument("new", type=TEXT)
@click.pass_obj
def rename_command(session: Session, name: str, new: str) -> None:
    """Give a home of the database another name; its tokens stay good."""
    from adapters.actions.people import rename_home

    found = rename_home(name, new, os.environ)
    if session.as_json:
        session.document(found)
        return
    session.say(f"{found.was} is {found.home} from now on.")


@home_command.command(
    "access",
    epilog="Examples: wakelog home access anna; wakelog home access anna --add ben=viewer",
)
@click.argument("name", type=TEXT)
@click.option("--add", multiple=True, metavar="SUBJECT=ROLE", help="Let somebody in, or change it.")
@click.option("--remove", multiple=True, metavar="SUBJECT", help="Take role and tokens away.")
@click.pass_obj
def access_command(
    session: Session, name: str, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    """See and say who may enter a home on the page: viewer, member, owner or operator."""
    from adapters.actions.people import access

    found = access(name, add, remove, os.environ)
    if session.as_json:
        session.document(found)
    elif not found:
        session.say(f"Nobody yet. `wakelog token create {name}` lets its owner in.")
    else:
        session.table(["Who", "Role"], [[one.subject, one.role] for one in found])


@home_command.command("list", epilog="Example: wakelog home list")
@click.pass_obj
def list_command(session: Session) -> None:
    """List the homes of the database that WAKELOG_DATABASE names."""
    from adapters.actions.database_homes import list_homes

    found = list_homes(os.environ)
    if session.as_json:
        session.document(found)
    elif not found:
        session.say("There are no homes yet. Make one with `wakelog home create NAME`.")
    else:
        headings = ["Name", "State", "Writes as", "Journal", "Agents"]
        rows = [[one.name, one.state, one.replica, one.journal, one.agent] for one in found]
        session.table(headings, rows)


@home_command.command(
    "adopt",
    epilog="Examples: wakelog home adopt restored; wakelog --home ~/copy home adopt copy",
)
@click.argument("how", type=click.Choice(["restored", "moved", "copy"]))
@click.pass_obj
def adopt_command(session: Session, how: How) -> None:
    """Go on in a home that is not what it was.

    restored: one of its two logs was restored without the other. A new name is drawn, as in a
    restored backup; what the agents saw of a journal that is gone is given up, and all that the
    journal holds is news to them once more. Where you can, restore both files instead.

    moved: the folder is in another place and nowhere else. It keeps its name.

    copy: the folder is a copy, and its original is worked in, too. A new name is drawn here.
    """
    if not session.place.is_folder:
        because = f"{session.place.name} is in a database, where no folder can be moved or copied"
        raise Refused("invalid_value", because=because, instead="see `wakelog copy --help`")
    if how == "restored":
        adopted = adopting.restored(session.path, os.environ)
    else:
        adopted = adopting.place(session.path, os.environ, is_copy=how == "copy")
    if session.as_json:
        session.document(
            AdoptedHome(
                ok=True,
                adopted=how,
                replica=adopted.replica,
                was=adopted.was or None,
                given_up=adopted.given_up,
            )
        )
        return
    _tell(session, how, adopted)


def _tell(session: Session, how: How, adopted: "Adopted") -> None:
    if how == "moved":
        session.say(safe(f"{session.path} goes on as {adopted.replica}."))
        return
    session.say(safe(f"{session.path} writes as {adopted.replica} from now on."))
    for one in adopted.given_up:
        session.say(f"Given up: {_range(one)} of the journal that {one.replica} saw.")
    if how == "restored":
        session.note("Agents look at the journal anew with `wakelog wake` or `wakelog run`.")


def _range(one: "GivenUp") -> str:
    first, last = one.after + 1, one.until
    return f"append {last}" if first == last else f"appends {first} to {last}"

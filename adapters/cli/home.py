"""Homes and their settings: `wakelog home`, `move` and `settings`."""

import os
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import click
from msgspec.structs import astuple

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session, flag, option
from adapters.cli.upkeep import restore_home, tell_restored
from adapters.documents.homes import CopiedHome, CreatedHome, SettingsText, ThawedHome
from adapters.documents.results import AdoptedHome, HomeDetails
from adapters.documents.tasks import import_document
from adapters.home import settings, write_guard
from adapters.home.home_location import DATABASE_PREFIX, HomeLocation, homes_of, location_of
from adapters.home.settings import parse
from adapters.home.settings_toml import DEFAULT_TOML, with_setting
from adapters.text.common import counted, safe
from adapters.upkeep import adopt
from adapters.upkeep.home_copy import copy_home, thaw
from domain.errors import Refused, invalid

if TYPE_CHECKING:
    from adapters.upkeep.adopt import Adopted

How = Literal["restored", "moved", "copy"]
_STATES = {
    "unchecked": "not looked at: WAKELOG_REPLICA names who writes",
    "unknown": "not known yet: the next command that writes keeps it",
    "here": "where its writer's name was drawn",
    "elsewhere": "another one: say `wakelog home adopt moved`, `copy` or `restored`",
}


@group("home")
def home_command() -> None:
    """Show the home, make and list those of a database, settle what became of it."""


@command("home show")
def show_command(session: Session) -> None:
    """Show where the home is, who writes there, and whether its logs belong together."""
    home = session.opened()
    replica = home.services.journal.replica if home.exists else ""
    kept = write_guard.kept_installation(home.path)
    state = write_guard.installation_state(home.path, os.environ) if home.exists else "unknown"
    details = HomeDetails(
        home=home.place.name,
        exists=home.exists,
        replica=replica or None,
        installation=kept.id if kept else None,
        place=state,
        other_past=home.other.because if home.other else None,
    )
    session.printed(details)
    session.say(safe(f"home          {home.place.name}" + " (not made yet)" * (not home.exists)))
    session.say(f"writes as     {replica or 'nobody yet'}")
    if home.place.is_folder:
        session.say(f"installation  {kept.id if kept else 'none yet'}")
        session.say(f"folder        {_STATES[state]}")
    session.say(f"logs          {home.other.because if home.other else 'belong together'}")


@command("home create", "name", example=("anna", "anna --import TODO.md"))
@option("--import file=FILE", "Tasks to bring in.", click.Path())
def create_command(session: Session, name: str, file: str | None) -> None:
    """Make a home in the database that WAKELOG_DATABASE names; then work in it as `pg:NAME`."""
    from adapters.cli.importing import import_one
    from adapters.usecases.database_homes import create_home

    place = create_home(name, os.environ)
    with closing(
        Session(place, model="", as_json=session.as_json, is_quiet=session.is_quiet)
    ) as inner:
        report = import_one(inner, file) if file else None
    made = CreatedHome(place.name, import_document([report]) if report else None)
    session.tell(made, f"Made the home {place.name}.")
    session.note(f"Work in it with `wakelog --home {place.name} ...`, or set WAKELOG_HOME to it.")


@command("home thaw", epilog="Example: wakelog --home pg:anna home thaw")
def thaw_command(session: Session) -> None:
    """Let a home be written again whose copying was cut off."""
    was = thaw(session.place)
    told = "may be written again" if was else "is not frozen"
    name = session.place.name
    session.tell(ThawedHome(name, was), f"{safe(name)} {told}.")


@command("home freeze", "name", example="anna")
def freeze_command(session: Session, name: str) -> None:
    """Let nobody write in a home of the database, until `wakelog --home pg:NAME home thaw`."""
    from adapters.usecases.database_homes import freeze_home

    found = freeze_home(name, os.environ)
    session.tell(found, f"Nobody writes in {found.home} until it is thawed.")


@command("home delete", "name", example=("anna", "anna --sure anna"))
@option("--sure=NAME", "Its name, said again: nobody is asked.")
def delete_command(session: Session, name: str, sure: str | None) -> None:
    """Delete a home of the database for good, with its members and tokens; run as the owner.

    It is frozen first with `wakelog home freeze`, unless it has moved. What there is of it is
    shown, and you are asked to type its name. `wakelog --home pg:NAME backup DIR` keeps a copy.
    Backups, dumps, write-ahead logs, and what other machines made of it are not in reach.
    """
    from adapters.usecases.database_homes import delete_home, plan_deletion

    plan = plan_deletion(name, os.environ)
    if sure is None and not session.can_ask:
        because = "what is deleted cannot be brought back"
        raise Refused("not_sure", because=because, instead=f"say --sure {plan.home}")
    people = f"{counted(plan.members, 'member')}, {counted(plan.tokens, 'token')}"
    kept = f"{counted(plan.rows, 'row')}, {counted(plan.texts, 'text')}"
    session.say(f"{plan.home}: {kept}; {people}.")
    session.say(f"The journal ends at append {plan.journal}  {plan.journal_digest}")
    session.say(f"The agents' log at append {plan.agent}  {plan.agent_digest}")
    asked = "It cannot be undone. Type its name"
    typed = click.prompt(asked, err=True) if sure is None else sure
    if f"{DATABASE_PREFIX}{typed.strip().removeprefix(DATABASE_PREFIX)}" != plan.home:
        because = f"{typed!r} is not its name"
        raise Refused("not_sure", because=because, instead="nothing was deleted")
    done = delete_home(name, os.environ)
    session.tell(done, f"Deleted {done.home}.")


@command("home rename", "name", "new", example="anna anna-schmidt")
def rename_command(session: Session, name: str, new: str) -> None:
    """Give a home of the database another name; its tokens stay good."""
    from adapters.usecases.database_homes import rename_home

    found = rename_home(name, new, os.environ)
    session.tell(found, f"{found.was} is {found.home} from now on.")


@command("home access", "name", example=("anna", "anna --add ben=viewer"))
@option("--add=SUBJECT=ROLE", "Let somebody in, or change it.", multiple=True)
@option("--remove=SUBJECT", "Take role and tokens away.", multiple=True)
def access_command(
    session: Session, name: str, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    """See and say who may enter a home on the page: viewer, member, owner or operator."""
    from adapters.usecases.database_homes import access

    found = access(name, add, remove, os.environ)
    none = f"Nobody yet. `wakelog token create {name}` lets its owner in."
    session.listing(found, ("Who", "Role"), ((one.subject, one.role) for one in found), none)


@command("home list")
def list_command(session: Session) -> None:
    """List the homes of the database that WAKELOG_DATABASE names."""
    from adapters.usecases.database_homes import list_homes

    found = list_homes(os.environ)
    none = "There are no homes yet. Make one with `wakelog home create NAME`."
    headings = ("Name", "State", "Writes as", "Journal", "Agents")
    session.listing(found, headings, map(astuple, found), none)


@command(
    "home adopt",
    epilog="Examples: wakelog home adopt restored; wakelog --home ~/copy home adopt copy",
)
@click.argument("how", type=click.Choice(["moved", "copy", "restored"]))
def adopt_command(session: Session, how: How) -> None:
    """Go on in a home that is not what it was.

    moved: the folder is in another place and nowhere else. It keeps its name.

    copy: the folder is a copy, and its original is worked in, too. A new name is drawn here.

    restored: it was put back, from an image of the disk for example, and what was written in it
    since is gone here for good. It goes on as after `wakelog restore --lost`, under a new name.
    Where one of its two logs was put back without the other, what the agents saw of a journal that
    is gone is given up, and all that the journal holds is news to them once more; where you can,
    restore both files instead.
    """
    if not session.place.is_folder:
        because = f"{session.place.name} is in a database, where no folder can be moved or copied"
        raise invalid(because, "see `wakelog move --help`, `wakelog database adopt --help`")
    if how == "restored" and adopt.is_put_back(session.path, os.environ):
        did, proved = restore_home(session, session.path, lambda _: True)
        session.printed(AdoptedHome(True, how, did.replica, did.was, (), did.aside, did.leads))
        tell_restored(session, did, proved)
    if how == "restored":
        adopted = adopt.adopt_restored(session.path, os.environ)
    else:
        adopted = adopt.adopt_folder(session.path, os.environ, is_copy=how == "copy")
    done = AdoptedHome(True, how, adopted.replica, adopted.was or None, adopted.given_up)
    if not session.printed(done):
        _tell(session, how, adopted)


def _tell(session: Session, how: How, adopted: "Adopted") -> None:
    if how == "moved":
        session.say(safe(f"{session.path} goes on as {adopted.replica}."))
        return
    session.say(safe(f"{session.path} writes as {adopted.replica} from now on."))
    for one in adopted.given_up:
        first, last = one.after + 1, one.until
        which = f"append {last}" if first == last else f"appends {first} to {last}"
        session.say(f"Given up: {which} of the journal that {one.replica} saw.")
    if how == "restored":
        session.note("Agents look at the journal anew with `wakelog wake` or `wakelog run`.")


# ------------------------------------------------------------- from a folder to a database, or back


@command(
    "move",
    "source=SRC",
    "target=DST",
    old="copy",
    example=("~/.wakelog pg:anna", "pg:anna ~/anna --sure"),
)
@flag("--sure", "Do not ask.")
@click.pass_context
def move_command(
    ctx: click.Context, session: Session, source: str, target: str, *, sure: bool
) -> None:
    """Move a home: into a database, out of one, or into another folder.

    SRC and DST are folders or pg:NAME. Row for row and byte for byte; SRC keeps all it has and says
    from then on where it went. End what works in SRC first. If it is cut off, repeat it; `wakelog
    --home SRC home thaw` takes it back.

    A home that went out of a database goes back into its name: what was written since goes in, and
    members and tokens are as they were.
    """
    here, there = location_of(source, os.environ), location_of(target, os.environ)
    is_asking = ctx.info_name == "move" and not sure  # `copy` never asked
    if is_asking and not session.can_ask:
        because = f"{here.name} is only read from then on"
        raise Refused("not_sure", because=because, instead="say --sure")
    if is_asking:
        asked = f"{here.name} is only read from then on, and goes on as {there.name}. Move it?"
        click.confirm(safe(asked), abort=True, err=True)
    with session.log_bar("Copying") as told:
        copied = copy_home(here, there, os.environ, told or (lambda *_: None))
    counts = f"{copied.journal} appends of the journal, {copied.agent} of the agents"
    did = CopiedHome(here.name, there.name, copied.journal, copied.agent)
    session.tell(did, safe(f"{here.name} is {there.name} now: {counts}."))
    session.note(safe(f"Prove it with `wakelog --home {there.name} prove`."))


Edit = Callable[[str], str]


class _SettingsText(NamedTuple):
    """Settings that are kept somewhere. `name`: how messages call what they are of."""

    name: str
    text: Callable[[], str]
    edit: Callable[[Edit], None]


def _settings_of_home(place: "HomeLocation") -> _SettingsText:
    def text() -> str:
        return place.settings_text() if place.exists() else DEFAULT_TOML

    def edit(edit: Edit) -> None:
        def checked(text: str) -> str:
            found = edit(text)
            parse(found, f"settings of {place.name}")
            return found

        place.edit_settings(checked, os.environ)

    return _SettingsText(place.name, text, edit)


def _settings_of_all_homes() -> _SettingsText:
    """What all homes of a database have."""
    homes = homes_of(os.environ)

    def edit(edit: Edit) -> None:
        where = settings.defaults_source(homes)
        homes.edit_defaults(lambda text: settings.checked_defaults(edit(text), where))

    return _SettingsText(homes.database.name, homes.defaults, edit)


@group("settings", epilog="Example: wakelog settings --defaults set agents.parallel 2")
@flag("--defaults is_of_all", "Those of all homes of a database.")
@click.pass_context
def settings_command(ctx: click.Context, *, is_of_all: bool) -> None:
    """See and change the settings of a home, in a folder or in a database.

    With --defaults those that all homes of WAKELOG_DATABASE have where their own say nothing; a key
    that stands below [locked] there, as `model = true`, no home may set, and what one has of it
    does not count. The tables of endpoints, [openai] and [models.NAME], count whole.
    """
    ctx.meta[__name__] = is_of_all


def _settings_text(session: Session) -> _SettingsText:
    is_of_all = click.get_current_context().meta[__name__]
    return _settings_of_all_homes() if is_of_all else _settings_of_home(session.place)


@command("settings show")
def show_settings(session: Session) -> None:
    """Print the settings as they are kept."""
    _tell_settings(session, _settings_text(session))


@command("settings set", "key", "value", example="agents.parallel 6")
def set_setting(session: Session, key: str, value: str) -> None:
    """Set one key, like timezone or agents.parallel; all else stays as it is."""
    kept = _settings_text(session)
    kept.edit(partial(with_setting, key=key, value=value))
    _tell_settings(session, kept, is_new=True)


@command("settings edit", epilog="Example: EDITOR=nano wakelog settings edit")
def edit_settings(session: Session) -> None:
    """Change the settings in your editor (VISUAL or EDITOR)."""
    kept = _settings_text(session)
    before = kept.text()
    after = click.edit(before, extension=".toml")
    if after is None or after == before:
        session.note("Nothing was changed.")
        return
    kept.edit(lambda _: after)
    _tell_settings(session, kept, is_new=True)


def _tell_settings(session: Session, kept: _SettingsText, *, is_new: bool = False) -> None:
    told = f"Kept in the settings of {kept.name}." if is_new else kept.text().rstrip()
    session.tell(SettingsText(kept.name, kept.text()), told)

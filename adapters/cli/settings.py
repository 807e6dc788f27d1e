"""`wakelog settings`: the settings of a home, wherever it is."""

import os
from collections.abc import Callable

import click

from adapters.cli.shared import Session
from adapters.documents.databases import SettingsText
from adapters.home.settings import parse
from adapters.home.settings_text import DEFAULT_TOML, with_setting


@click.group("settings")
def settings_command() -> None:
    """See and change the settings of a home, in a folder or in a database."""


@settings_command.command("show", epilog="Example: wakelog settings show")
@click.pass_obj
def show_command(session: Session) -> None:
    """Print the settings of the home as they are kept."""
    place = session.place
    text = place.settings_text() if place.exists() else DEFAULT_TOML
    _tell(session, text)


@settings_command.command("set", epilog="Example: wakelog settings set agents.parallel 6")
@click.argument("key")
@click.argument("value")
@click.pass_obj
def set_command(session: Session, key: str, value: str) -> None:
    """Set one key, like timezone or agents.parallel; all else stays as it is."""
    _keep(session, lambda text: with_setting(text, key, value))


@settings_command.command("edit", epilog="Example: EDITOR=nano wakelog settings edit")
@click.pass_obj
def edit_command(session: Session) -> None:
    """Change the settings in your editor (VISUAL or EDITOR)."""
    before = session.place.settings_text() if session.place.exists() else DEFAULT_TOML
    after = click.edit(before, extension=".toml")
    if after is None or after == before:
        session.note("Nothing was changed.")
        return
    _keep(session, lambda _: after)


def _keep(session: Session, edit: Callable[[str], str]) -> None:
    """Write what is made of the settings, if it may stand. Raises Refused."""

    def checked(text: str) -> str:
        found = edit(text)
        parse(found, f"settings of {session.place.name}")
        return found

    session.place.edit_settings(checked, os.environ)
    _tell(session, session.place.settings_text(), is_new=True)


def _tell(session: Session, text: str, *, is_new: bool = False) -> None:
    if session.as_json:
        session.document(SettingsText(session.place.name, text))
    elif is_new:
        session.say(f"Kept in the settings of {session.place.name}.")
    else:
        session.say(text.rstrip())

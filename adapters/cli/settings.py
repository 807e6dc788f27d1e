"""`wakelog settings`: those of a home, wherever it is, and those of all homes of a database."""

import os
from collections.abc import Callable
from functools import partial
from typing import Protocol

import click

from adapters.cli.shared import Session
from adapters.documents.databases import SettingsText
from adapters.home import defaults
from adapters.home.place import homes_of
from adapters.home.settings import parse
from adapters.home.settings_text import DEFAULT_TOML, with_setting

Edit = Callable[[str], str]


class _Kept(Protocol):
    """Settings that are kept somewhere. `name`: how messages call what they are of."""

    name: str

    def text(self) -> str: ...
    def edit(self, edit: Edit) -> None: ...


class _OfHome:
    def __init__(self, session: Session) -> None:
        self._place = session.place
        self.name = self._place.name

    def text(self) -> str:
        return self._place.settings_text() if self._place.exists() else DEFAULT_TOML

    def edit(self, edit: Edit) -> None:
        def checked(text: str) -> str:
            found = edit(text)
            parse(found, f"settings of {self.name}")
            return found

        self._place.edit_settings(checked, os.environ)


class _OfAll:
    """What all homes of a database have."""

    def __init__(self) -> None:
        self._homes = homes_of(os.environ)
        self.name = self._homes.database.name

    def text(self) -> str:
        return self._homes.defaults()

    def edit(self, edit: Edit) -> None:
        where = defaults.where(self._homes)
        self._homes.edit_defaults(lambda text: defaults.checked(edit(text), where))


@click.group("settings", epilog="Example: wakelog settings --defaults set agents.parallel 2")
@click.option("--defaults", "is_of_all", is_flag=True, help="Those of all homes of a database.")
@click.pass_context
def settings_command(ctx: click.Context, *, is_of_all: bool) -> None:
    """See and change the settings of a home, in a folder or in a database.

    With --defaults those that all homes of WAKELOG_DATABASE have where their own say nothing; a key
    that stands below [locked] there, as `model = true`, no home may set, and what one has of it
    does not count. The tables of endpoints, [openai] and [models.NAME], count whole.
    """
    ctx.meta[__name__] = is_of_all


def _kept(ctx: click.Context) -> tuple[Session, _Kept]:
    session: Session = ctx.obj
    return session, _OfAll() if ctx.meta[__name__] else _OfHome(session)


@settings_command.command("show", epilog="Example: wakelog settings show")
@click.pass_context
def show_command(ctx: click.Context) -> None:
    """Print the settings as they are kept."""
    session, kept = _kept(ctx)
    _tell(session, kept)


@settings_command.command("set", epilog="Example: wakelog settings set agents.parallel 6")
@click.argument("key")
@click.argument("value")
@click.pass_context
def set_command(ctx: click.Context, key: str, value: str) -> None:
    """Set one key, like timezone or agents.parallel; all else stays as it is."""
    session, kept = _kept(ctx)
    kept.edit(partial(with_setting, key=key, value=value))
    _tell(session, kept, is_new=True)


@settings_command.command("edit", epilog="Example: EDITOR=nano wakelog settings edit")
@click.pass_context
def edit_command(ctx: click.Context) -> None:
    """Change the settings in your editor (VISUAL or EDITOR)."""
    session, kept = _kept(ctx)
    before = kept.text()
    after = click.edit(before, extension=".toml")
    if after is None or after == before:
        session.note("Nothing was changed.")
        return
    kept.edit(lambda _: after)
    _tell(session, kept, is_new=True)


def _tell(session: Session, kept: _Kept, *, is_new: bool = False) -> None:
    if session.as_json:
        session.document(SettingsText(kept.name, kept.text()))
    elif is_new:
        session.say(f"Kept in the settings of {kept.name}.")
    else:
        session.say(kept.text().rstrip())

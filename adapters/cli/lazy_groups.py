"""Commands whose modules are loaded when they are asked for, so that each starts quickly."""

import importlib
import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import click

from adapters.cli.shared import json_option


class LazyGroup(click.Group):
    """A group of which some commands stand in other modules, among their `COMMANDS`.

    Args:
        later: The names of those commands, by their module below `adapters.cli`.
    """

    def __init__(self, *args: Any, later: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._later = {name: module for module, names in later.items() for name in names}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *self._later})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # who mistyped a name is told the nearest ones, of all
        known = cmd_name in self.commands or cmd_name in self._later
        for name in (cmd_name,) if known else tuple(self._later):
            if name in self._later:
                self._load(name)
        return super().get_command(ctx, cmd_name)

    def _load(self, name: str) -> None:
        module = loaded(f"adapters.cli.{self._later.pop(name)}")
        self.add_command(prepared(next(one for one in module.COMMANDS if one.name == name)))


def prepared(command: click.Command) -> click.Command:
    """Give a command, and all below it, what each of them has: ``--json``, and texts that can be
    stored, whatever bytes were typed."""
    from adapters.cli.param_types import TEXT

    if not any("--json" in one.opts for one in command.params):
        json_option(command)
    for one in command.params:
        if one.type is click.STRING:
            one.type = click.types.convert_type(TEXT)
    if "_WAKELOG_COMPLETE" in os.environ:
        from adapters.cli.completion import give_values

        for one in command.params:
            give_values(one)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            prepared(inner)
    return command


def loaded(name: str) -> ModuleType:
    """A command's module."""
    return importlib.import_module(name)

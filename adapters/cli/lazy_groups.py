"""Commands by their words, as `task add`: each is known once its module is loaded, which is when it
is asked for, so that each starts quickly."""

import importlib
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

import click

from adapters.cli.shared import json_option, key_option

KNOWN: defaultdict[str, dict[str, click.Command]] = defaultdict(dict)
"""Commands that are loaded: by the words of their group, and by their own name."""
Made = Callable[[Callable[..., object]], click.Command]


def command(
    words: str, *arguments: str, example: str | Sequence[str] = "", epilog: str = "",
    has_key: bool = False, old: str = "", cls: type[click.Command] = click.Command,
    text: str | None = None,
) -> Made:  # fmt: skip
    """A command of the session; its other parameters stand below.

    Args:
        words: As `label widen`.
        arguments: Texts, told first: `name`, `[name]` that may be missing, `name...`, several
            (`[name...]`), `name=TOLD`, called otherwise in the help.
        example: What to type after its words, or some such.
        epilog: Instead, whole.
        has_key: It has `--key`, told last.
        old: What it was called before; it goes on working, and no help tells it.
        cls: Of the command.
        text: Of the help; else the function's own.
    """
    group, _, name = words.rpartition(" ")
    shown = [example] if isinstance(example, str) else example
    told = "; ".join(f"wakelog {words} {one}".rstrip() for one in shown)
    epilog = epilog or f"Example{'s' * (len(shown) > 1)}: {told}"

    def made(function: Callable[..., object]) -> click.Command:
        params: list[click.Parameter] = [_argument(one) for one in arguments]
        found = click.command(name, cls, epilog=epilog, params=params, help=text)(
            click.pass_obj(function)
        )
        KNOWN[group][name] = key_option(found) if has_key else found
        if old:
            above, _, name_then = old.rpartition(" ")
            KNOWN[above][name_then] = hidden = copy(found)
            hidden.hidden, hidden.name = True, name_then
        return found

    return made


keyed = partial(command, has_key=True)
"""A command that writes: a retry of it can be made safe."""


def _argument(told: str) -> click.Argument:
    name, _, metavar = told.partition("=")
    count = -1 if "..." in name else 1
    required = not name.startswith("[")
    name = name.strip("[.]")
    return click.Argument([name], required=required, nargs=count, metavar=metavar or None)


class LazyGroup(click.Group):
    """A group of which some commands stand in other modules.

    Args:
        later: Those modules, below `adapters.cli`; where it names some, only for these commands,
            which may be ones of the top that stand here, too.
    """

    def __init__(
        self, *args: Any, later: Mapping[str, Sequence[str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._later = later or {}
        self._named = [name for names in self._later.values() for name in names]

    def list_commands(self, ctx: click.Context) -> list[str]:
        for module in self._later:
            load(module)
        return sorted({*self.commands, *self._named})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # who mistyped a name is told the nearest ones, of all
        of_it = [module for module, names in self._later.items() if cmd_name in names]
        for module in of_it or self._later:
            if cmd_name not in self.commands:
                load(module)
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in self._named:
            found = KNOWN[""][cmd_name]
        return found and prepared(found)


def group(
    words: str, *, cls: type[LazyGroup] = LazyGroup, **settings: Any
) -> Callable[[Callable[..., object]], LazyGroup]:
    """A group of commands, of those that begin with its words; settings as click has them."""
    above, _, name = words.rpartition(" ")

    def made(function: Callable[..., object]) -> LazyGroup:
        found = click.group(name, cls, commands=KNOWN[words], **settings)(function)
        KNOWN[above][name] = found
        return found

    return made


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


def load(name: str) -> None:
    """A module of commands."""
    importlib.import_module(f"adapters.cli.{name}")

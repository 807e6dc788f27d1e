"""Moves a home between a folder and a database, or between two databases (ADR 66).

The source is frozen, copied as it stands, compared, and says then where it went. Whatever fails on
the way leaves it open as before, and what was copied unusable until the same command ends it.
"""

from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import NamedTuple

from adapters.home.hold import Hold
from adapters.home.place import Place
from adapters.store.copying import Told, copy_log, differs
from adapters.store.log import Log
from domain.errors import Damaged, Refused


class Copied(NamedTuple):
    """How many appends of each log there are in the copy."""

    journal: int
    agent: int


def copy_home(source: Place, target: Place, environ: Mapping[str, str], told: Told) -> Copied:
    """Copy a home, whole, and leave the source saying where it went.

    Args:
        source: The home.
        target: Where nothing is yet, or a copy that was cut off.
        environ: Environment variables.
        told: Is told how far it has come.

    Raises:
        Refused: Code ``frozen`` or ``moved``: the source goes or went elsewhere; ``read_only``: it
            is in use; ``invalid_value``, ``other_past``: something else is in the target.
        Damaged: Code ``not_a_log``: the copy is not what was copied.
    """
    if not source.exists():
        because = f"there is no home at {source.name}"
        raise Refused("invalid_value", because=because, instead="name one to copy")
    to_be = Hold("frozen", f"to {target.name}")
    if source.hold() not in (Hold(), to_be):
        source.hold().check(source.name)
    source.keep_hold(to_be)
    try:
        copied = _copied(source, target, environ, told)
    except BaseException:
        source.keep_hold(Hold())
        raise
    target.keep_hold(Hold())
    source.keep_hold(Hold("moved", target.name))
    return copied


def thaw(place: Place) -> bool:
    """Let a home be written again whose copying was cut off; whether it was frozen.

    Raises:
        Refused: Code ``moved``: it was copied to its end and goes on elsewhere; ``frozen``: a
            rescue has to be ended; ``invalid_value``: it is the unfinished copy.
    """
    hold = place.hold()
    if hold.state in ("moved", "rescued"):
        hold.check(place.name)
    if hold.of.startswith("from "):
        because = f"{place.name} is a copy {hold.of} that was cut off"
        raise Refused("invalid_value", because=because, instead="repeat the copy, or delete it")
    place.keep_hold(Hold())
    return hold.state != "open"


def _copied(source: Place, target: Place, environ: Mapping[str, str], told: Told) -> Copied:
    with ExitStack() as opened:
        here = [
            opened.enter_context(closing(one)) for one in source.logs(environ, is_writing=False)
        ]
        hold = Hold("frozen", f"from {source.name}")
        target.begin_copy(here[0].replica, source.settings_text(), hold)
        there = [
            opened.enter_context(closing(one)) for one in target.logs(environ, is_writing=True)
        ]
        for one, other in zip(here, there, strict=True):
            _copy(one, other, told)
        return Copied(*(one.tail().n for one in there))


def _copy(one: Log, other: Log, told: Told) -> None:
    copy_log(one, other, told)
    if why := differs(one, other):
        instead = "run the same command again; the home here goes on meanwhile"
        raise Damaged("not_a_log", because=why, instead=instead)

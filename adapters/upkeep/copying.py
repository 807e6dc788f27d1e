"""Moves a home between a folder and a database, or between two databases (ADR 66).

The source is frozen, copied as it stands, compared, and says then where it went. Whatever fails on
the way leaves it open as before, and what was copied unusable until the same command ends it.
"""

from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

from adapters.home.place import Hold, Place
from adapters.store.copying import Told, copy_log, differs
from domain.errors import Damaged, Refused


class Copied(NamedTuple):
    """What there is now in the copy: appends of both logs, and the journal's and agents' digests."""

    journal: int
    agent: int
    digests: tuple[str, str]


def copy_home(source: Place, target: Place, environ: Mapping[str, str], told: Told) -> Copied:
    """Copy a home, whole, and leave the source saying where it went.

    Args:
        source: The home.
        target: Where nothing is yet, or a copy that was cut off.
        environ: Environment variables.
        told: Is told how far it has come.

    Raises:
        Refused: Code ``frozen`` or ``moved``: the source went elsewhere; ``other_past``: something
            else is in the target; ``read_only``.
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


def _copied(source: Place, target: Place, environ: Mapping[str, str], told: Told) -> Copied:
    here = source.logs(environ, is_writing=False)
    with closing(here[0]), closing(here[1]):
        hold = Hold("frozen", f"from {source.name}")
        target.begin_copy(here[0].replica, source.settings_text(), hold)
        there = target.logs(environ, is_writing=True)
        with closing(there[0]), closing(there[1]):
            for one, other in zip(here, there, strict=True):
                copy_log(one, other, told)
                if why := differs(one, other):
                    instead = "run the same command again; the home here goes on meanwhile"
                    raise Damaged("not_a_log", because=why, instead=instead)
            ends = [one.tail() for one in there]
            return Copied(ends[0].n, ends[1].n, (ends[0].digest, ends[1].digest))

"""Moves a home between a folder and a database, or between two databases (ADR 66).

The source is frozen, copied as it stands, compared, and says then where it went. Whatever fails on
the way leaves it open as before, and what was copied unusable until the same command ends it."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from typing import NamedTuple

from adapters.documents.homes import ThawedHome
from adapters.home.home_location import DatabaseLocation, HomeLocation, homes_of
from adapters.home.write_guard import WriteGuard
from adapters.store.log import Log
from adapters.store.log_copy import CopyProgress, check_beginning, copy_log, differs
from domain.errors import Damaged, Refused, invalid


class CopiedAppends(NamedTuple):
    """How many appends of each log there are in the copy."""

    journal: int
    agent: int


def copy_home(
    source: HomeLocation, target: HomeLocation, environ: Mapping[str, str], told: CopyProgress
) -> CopiedAppends:
    """Copy a home, whole, and leave the source saying where it went; `told`: how far it has come.
    `target`: where nothing is yet, or a copy that was cut off; or the home in a database that had
    moved to the source: what was written since goes in, and it goes on there as before.

    Raises Refused, code ``frozen`` or ``moved``: the source goes or went elsewhere; ``read_only``:
    it is in use; ``invalid_value``, ``other_past``: something else is in the target; Damaged, code
    ``not_a_log``: the copy is not what was copied."""
    if not source.exists():
        raise invalid(f"there is no home at {source.name}", "name one to copy")
    hold, moved = source.hold(), WriteGuard("moved", target.name)
    to_be, begun = WriteGuard("frozen", f"to {target.name}"), _begun(source)
    is_ending = hold == moved and target.hold() == begun  # cut off before its last step
    if not is_ending and hold not in (WriteGuard(), to_be):
        hold.check(source.name)
    source.keep_hold(to_be)
    try:
        copied = copy_logs(source, target, environ, told)
    except BaseException:
        source.keep_hold(WriteGuard())
        raise
    source.keep_hold(moved)
    target.keep_hold(WriteGuard())
    return copied


def thaw(place: HomeLocation) -> bool:
    """Let a home be written again whose copying was cut off; whether it was frozen. Raises Refused,
    code ``moved``: it was copied to its end and goes on elsewhere; ``frozen``: a rescue has to be
    ended; ``invalid_value``: it is the unfinished copy."""
    hold = place.hold()
    if hold.state in ("moved", "rescued"):
        hold.check(place.name)
    if hold.of.startswith("from "):
        because = f"{place.name} is a copy {hold.of} that was cut off"
        raise invalid(because, "repeat the copy, or delete it")
    place.keep_hold(WriteGuard())
    return hold.state != "open"


def thaw_home(name: str, environ: Mapping[str, str]) -> ThawedHome:
    """The same of a home of the database. Raises as `thaw` and `homes_of`."""
    place = DatabaseLocation(homes_of(environ), name, environ)
    return ThawedHome(place.name, thaw(place))


def _begun(source: HomeLocation) -> WriteGuard:
    """What a copy says of itself until it is whole."""
    return WriteGuard("frozen", f"from {source.name}")


def _check_past(
    here: Iterable[Log], source: HomeLocation, target: HomeLocation, environ: Mapping[str, str]
) -> None:
    """Where a home goes back to where it had moved from, look whether it goes on from what stands
    there. Raises Refused, code ``other_past``."""
    try:
        hold = target.hold()
    except Refused:  # there is none yet
        return
    if hold != WriteGuard("moved", source.name):
        return
    with ExitStack() as opened:
        for one, other in zip(here, target.logs(environ, is_writing=False), strict=True):
            check_beginning(one, opened.enter_context(closing(other)))


def copy_logs(
    source: HomeLocation, target: HomeLocation, environ: Mapping[str, str], told: CopyProgress,
    replica: str = "",
) -> CopiedAppends:  # fmt: skip
    """Copy both logs, which nobody writes meanwhile, into a home that is begun so, and held; it may
    have been cut off. `replica`: who writes there from then on; empty: who did. See `copy_home`."""
    with ExitStack() as opened:
        logs = source.logs(environ, is_writing=False)
        here = [opened.enter_context(closing(one)) for one in logs]
        _check_past(here, source, target, environ)
        target.begin_copy(replica or here[0].replica, source.settings_text(), _begun(source))
        logs = target.logs(environ, is_writing=True)
        there = [opened.enter_context(closing(one)) for one in logs]
        for one, other in zip(here, there, strict=True):
            copy_log(one, other, told)
            if why := differs(one, other):
                instead = "run the same command again; the home here goes on meanwhile"
                raise Damaged("not_a_log", because=why, instead=instead)
        return CopiedAppends(*(one.tail().n for one in there))

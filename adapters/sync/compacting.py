"""Many small files of a writer become one, and what it carried for another goes once that one
offers it (ADR 72).

Written first, then removed: a sync that is cut off between leaves rows that stand twice, which
harms nobody. Only files in the writer's own place, and of a chain that its log holds.
"""

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import NamedTuple

from adapters.store.log import Log
from adapters.sync.giving import Run, files_of
from adapters.sync.segments import Header, Place, hint
from adapters.sync.shelf import Shelf
from adapters.sync.survey import Survey

FILES_MAX = 32  # small ones of a chain that a writer leaves side by side


class File(NamedTuple):
    """A file of a chain, and whether it is small enough to be put together with others."""

    name: str
    header: Header
    is_small: bool


def compact(
    log: Log,
    found: Survey,
    shelf: Shelf,
    writer: str,
    but: Collection[str] = (),
    most: int = FILES_MAX,
) -> None:
    """Put small files together, and take away those whose rows stand elsewhere.

    Args:
        log: Shared; what it does not hold is left as it is.
        found: What lay in the folder.
        shelf: The folder; what cannot be written there is tried again by the next sync.
        writer: In whose place.
        but: Replicas that are left out: their chains are forked.
        most: Small files of a chain that may stand side by side.
    """
    with suppress(OSError):
        for place in found.places(log.name):
            if place.replica not in but:
                _compact(log, place, found, shelf, writer, most)


def _compact(log: Log, place: Place, found: Survey, shelf: Shelf, writer: str, most: int) -> None:
    mine = _files(log, place, found, writer)
    if not mine:
        return
    origin = _files(log, place, found, place.replica) if place.replica != writer else []
    kept = [one for one in mine if not _is_covered(one.header, origin)]
    small = [one for one in kept if one.is_small]
    known = {one.name for one in kept}
    for run in _runs(place, small) if len(small) > most else ():
        for header, data in files_of(log, run):
            name = f"{writer}/{header.name}"
            if name not in known:
                shelf.write(name, data)
                kept.append(File(name, header, False))
    names = {one.name for one in _needed(kept)}
    for one in mine:
        if one.name not in names:
            shelf.remove(one.name)


def _files(log: Log, place: Place, found: Survey, writer: str) -> list[File]:
    """The whole files in a writer's place that say what the log holds of a chain."""
    return [
        File(name, header, found.whole[name].is_small)
        for name, header in found.of(place)
        if name.startswith(f"{writer}/")
        and hint(name)
        and not header.is_newer
        and log.digest_at(header.last, place.replica) == header.head
        and (log.digest_at(header.after, place.replica) if header.after else "") == header.prev
    ]


def _needed(files: Iterable[File]) -> list[File]:
    """Those that are left where each goes whose rows stand in longer ones."""
    kept = list[File]()
    for one in sorted(files, key=lambda one: (one.header.after - one.header.last, one.name)):
        if not _is_covered(one.header, kept):
            kept.append(one)
    return kept


def _is_covered(header: Header, files: Iterable[File]) -> bool:
    """Whether all appends of a file stand in others."""
    at = header.after
    for one in sorted((one.header for one in files), key=lambda one: one.after):
        if one.after <= at:
            at = max(at, one.last)
    return at >= header.last


def _runs(place: Place, files: Iterable[File]) -> list[Run]:
    """The stretches of several neighbours among files."""
    runs, count = list[Run](), list[int]()
    for one in sorted((one.header for one in files), key=lambda one: one.after):
        if runs and one.after <= runs[-1].until:
            runs[-1] = runs[-1]._replace(until=max(runs[-1].until, one.last))
            count[-1] += 1
        else:
            runs.append(Run(place, one.after, one.last))
            count.append(1)
    return [run for run, number in zip(runs, count, strict=True) if number > 1]

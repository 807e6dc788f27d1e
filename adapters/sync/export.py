"""What a home offers: all that it holds, of whomever, and that no whole file offers yet."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice, takewhile
from typing import NamedTuple

from adapters.store.log import Log
from adapters.store.log_copy import APPENDS_A_PAGE, with_payloads
from adapters.store.recorder import numbered
from adapters.store.remote_appends import RemoteAppend
from adapters.sync.scan import FolderScan
from adapters.sync.segments import ChainId, SegmentHeader, encode_segments, parse_segment_name
from adapters.sync.sync_folder import SyncFolder


class AppendRun(NamedTuple):
    """Neighbouring appends of a chain, above `after`, up to `until`."""

    place: ChainId
    after: int
    until: int


def not_offered(log: Log, found: FolderScan, but: Collection[str]) -> list[AppendRun]:
    """The runs of appends that nobody offers; `but`: replicas that are left out."""
    return [
        run
        for replica, head in sorted(log.heads().items())
        if replica not in but
        for run in _gaps(ChainId(log.name, replica), head.n, found)
    ]


def files_of_run(log: Log, run: AppendRun) -> Iterator[tuple[SegmentHeader, bytes]]:
    return encode_segments(run.place, run.after, _appends_of_run(log, run))


def rows_in_run(log: Log, run: AppendRun) -> int:
    return sum(len(one.rows) for one in _appends_of_run(log, run))


def remove_damaged(log: Log, found: FolderScan, shelf: SyncFolder, writer: str) -> None:
    """Take away what is not as it was written, in the writer's own place: where nobody else offers
    its rows, which the log holds, they are given anew. Raises OSError."""
    for name in found.broken:
        said = parse_segment_name(name) if name.startswith(f"{writer}/") else None
        is_held = said and said.place.log == log.name
        if said and is_held and log.digest_at(said.last, said.place.replica) == said.head:
            shelf.remove(name)


def rewrite_erased(
    log: Log, found: FolderScan, shelf: SyncFolder, writer: str, gone: Collection[str] = ()
) -> None:
    """Write the files in the writer's own place anew in which rows or texts stand that were erased:
    under their names, which say nothing but where they stand. Those of machines that are `gone` for
    good are written there, too, and removed. Raises OSError."""
    runs = [
        (owner, AppendRun(place, one.header.after, one.header.last))
        for place in found.places(log.name)
        for owner in (writer, *sorted({*gone} - {writer}))
        for one in _chain_files(log, place, found, owner)
    ]
    every = ((owner, made) for owner, run in runs for made in files_of_run(log, run))
    for owner, (header, data) in every:
        if data != shelf.read(f"{owner}/{header.name}"):
            shelf.write(f"{writer}/{header.name}", data)
            if owner != writer:
                shelf.remove(f"{owner}/{header.name}")


def _appends_of_run(log: Log, run: AppendRun) -> Iterator[RemoteAppend]:
    above = log.appends_of(run.place.replica, run.after)
    chain = takewhile(lambda rows: numbered(rows[0].state).n <= run.until, above)
    while page := list(islice(chain, APPENDS_A_PAGE)):  # bounded by the log
        for rows, payloads in with_payloads(log.payloads, page):
            yield RemoteAppend(tuple(rows), tuple(payloads))


def _gaps(place: ChainId, end: int, found: FolderScan) -> Iterator[AppendRun]:
    at = 0
    for _, header in found.of(place):
        if header.after > at and at < end:
            yield AppendRun(place, at, min(header.after, end))
        at = max(at, header.last)
    if at < end:
        yield AppendRun(place, at, end)


# ---------------------------------------------------------------------- many small files become one
# Many small files of a writer become one, and what it carried for another goes once that one
# offers it (ADR 72). Written first, then removed: a sync that is cut off between leaves rows that
# stand twice, which harms nobody. Only files in the writer's own place, and of a chain that its log
# holds.

FILES_MAX = 32  # small ones of a chain that a writer leaves side by side


class ChainFile(NamedTuple):
    """A file of a chain, and whether it is small enough to be put together with others."""

    name: str
    header: SegmentHeader
    is_small: bool


def compact(
    log: Log,
    found: FolderScan,
    shelf: SyncFolder,
    writer: str,
    but: Collection[str] = (),
    most: int = FILES_MAX,
) -> None:
    """Put small files together, and take away those whose rows stand elsewhere. What the log does
    not hold is left as it is; what cannot be written is tried again by the next sync. `writer`: in
    whose place; `but`: replicas that are left out: their chains are forked; `most`: small files of
    a chain that may stand side by side."""
    with suppress(OSError):
        for place in found.places(log.name):
            if place.replica not in but:
                _compact_chain(log, place, found, shelf, writer, most)


def _compact_chain(
    log: Log, place: ChainId, found: FolderScan, shelf: SyncFolder, writer: str, most: int
) -> None:
    mine = _chain_files(log, place, found, writer)
    if not mine:
        return
    origin = _chain_files(log, place, found, place.replica) if place.replica != writer else []
    kept = [one for one in mine if not _is_covered(one.header, origin)]
    small = [one for one in kept if one.is_small]
    known = {one.name for one in kept}
    for run in _neighbouring_runs(place, small) if len(small) > most else ():
        for header, data in files_of_run(log, run):
            name = f"{writer}/{header.name}"
            if name not in known:
                shelf.write(name, data)
                kept.append(ChainFile(name, header, False))
    names = {one.name for one in _needed(kept)}
    for one in mine:
        if one.name not in names:
            shelf.remove(one.name)


def _chain_files(log: Log, place: ChainId, found: FolderScan, writer: str) -> list[ChainFile]:
    """The whole files in a writer's place that say what the log holds of a chain."""
    return [
        ChainFile(name, header, found.whole[name].is_small)
        for name, header in found.of(place)
        if name.startswith(f"{writer}/")
        and parse_segment_name(name)
        and not header.is_newer
        and log.digest_at(header.last, place.replica) == header.head
        and (log.digest_at(header.after, place.replica) if header.after else "") == header.prev
    ]


def _needed(files: Iterable[ChainFile]) -> list[ChainFile]:
    """Those that are left where each goes whose rows stand in longer ones."""
    kept = list[ChainFile]()
    for one in sorted(files, key=lambda one: (one.header.after - one.header.last, one.name)):
        if not _is_covered(one.header, kept):
            kept.append(one)
    return kept


def _is_covered(header: SegmentHeader, files: Iterable[ChainFile]) -> bool:
    """Whether all appends of a file stand in others."""
    at = header.after
    for one in sorted((one.header for one in files), key=lambda one: one.after):
        if one.after <= at:
            at = max(at, one.last)
    return at >= header.last


def _neighbouring_runs(place: ChainId, files: Iterable[ChainFile]) -> list[AppendRun]:
    """The stretches of several neighbours among files."""
    runs, count = list[AppendRun](), list[int]()
    for one in sorted((one.header for one in files), key=lambda one: one.after):
        if runs and one.after <= runs[-1].until:
            runs[-1] = runs[-1]._replace(until=max(runs[-1].until, one.last))
            count[-1] += 1
        else:
            runs.append(AppendRun(place, one.after, one.last))
            count.append(1)
    return [run for run, number in zip(runs, count, strict=True) if number > 1]

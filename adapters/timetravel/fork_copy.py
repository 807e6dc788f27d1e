"""A log of a branch: another one up to a moment, row by row as it is."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path

from adapters.store.copying import copy_appends
from adapters.store.log import Log
from adapters.store.reader import tells, writer_of
from adapters.store.recorder import by_append, numbered
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.timetravel.fork_verdicts import BranchProgress
from domain import envelope
from domain.causes import LogShared, ReplicasImported
from domain.envelope import Row
from domain.world import MAIN


def copy(source: Log, n: int, path: Path, replica: str, told: BranchProgress | None = None) -> Log:
    """A log of its own with the appends of another one up to `n`, and the payloads they name; of a
    shared one with what it held when the replica had written its append `n`."""
    recorder = SQLiteLogRecorder(path)
    is_shared = any(
        isinstance(row.fact, LogShared) and row.n <= n
        for row in source.facts(f"log:{MAIN}@{replica}")
    )
    known = source.known_to(replica, n)
    held = _held(source, replica, known) if is_shared else known
    try:
        if is_shared:
            with recorder.deciding():
                recorder.keep_order()
        hears = partial(told, source.name) if told else lambda _: None
        copy_appends(_appends(source, n, held), source, recorder, hears)
    except BaseException:
        recorder.close()
        raise
    return Log(source.name, recorder, replica)


def _appends(source: Log, n: int, held: Mapping[str, int]) -> Iterator[Sequence[Row]]:
    every = by_append(source.rows())
    if not held:
        return takewhile(lambda rows: _n(rows) <= n, every)
    return (rows for rows in every if _n(rows) <= held.get(writer_of(rows), 0))


def _held(source: Log, replica: str, known: Mapping[str, int]) -> Mapping[str, int]:
    """Up to which append of each replica a shared log was there when one of them knew so much.

    Behind that others may have said something of the log alone: no marker names it, but what they
    wrote in the other log may rest on it.
    """
    held = dict(known)
    for one in source.heads():
        for rows in source.appends_of(one, known.get(one, 0)) if one != replica else ():
            if tells(rows) or not _is_known(rows, known):
                break
            held[one] = _n(rows)
    return held


def _is_known(rows: Sequence[Row], known: Mapping[str, int]) -> bool:
    """Whether all that a marker names is known; of another fact of the log: it names nothing."""
    facts = (envelope.read(row).data for row in rows)
    markers = (fact for fact in facts if isinstance(fact, ReplicasImported))
    return all(one.n <= known.get(one.replica, 0) for marker in markers for one in marker.replicas)


def _n(rows: Sequence[Row]) -> int:
    return numbered(rows[0].state).n

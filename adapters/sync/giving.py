"""What a home offers: all that it holds, of whomever, and that no whole file offers yet."""

from collections.abc import Collection, Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from adapters.store.copying import APPENDS_A_PAGE, with_payloads
from adapters.store.foreign import ForeignAppend
from adapters.store.log import Log
from adapters.store.recorder import numbered
from adapters.sync.segments import Header, Place, encoded
from adapters.sync.survey import Survey


class Run(NamedTuple):
    """Neighbouring appends of a chain, above `after`, up to `until`."""

    place: Place
    after: int
    until: int


def not_offered(log: Log, found: Survey, but: Collection[str]) -> list[Run]:
    """The runs of appends that nobody offers; `but`: replicas that are left out."""
    return [
        run
        for replica, head in sorted(log.heads().items())
        if replica not in but
        for run in _gaps(Place(log.name, replica), head.n, found)
    ]


def files_of(log: Log, run: Run) -> Iterator[tuple[Header, bytes]]:
    """The files that offer a run."""
    return encoded(run.place, run.after, _appends(log, run))


def rows_in(log: Log, run: Run) -> int:
    """How many rows a run has."""
    return sum(len(one.rows) for one in _appends(log, run))


def _appends(log: Log, run: Run) -> Iterator[ForeignAppend]:
    chain = takewhile(
        lambda rows: numbered(rows[0].state).n <= run.until,
        log.appends_of(run.place.replica, run.after),
    )
    while page := list(islice(chain, APPENDS_A_PAGE)):  # bounded by the log
        for rows, payloads in with_payloads(log.payloads, page):
            yield ForeignAppend(tuple(rows), tuple(payloads))


def _gaps(place: Place, end: int, found: Survey) -> Iterator[Run]:
    at = 0
    for _, header in found.of(place):
        if header.after > at and at < end:
            yield Run(place, at, min(header.after, end))
        at = max(at, header.last)
    if at < end:
        yield Run(place, at, end)

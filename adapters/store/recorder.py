"""What a log needs from a recorder: one writer at a time, rows in canonical order, payloads.

Rows are inserted append by append, so insertion order is canonical order until a log is shared;
from then on `CanonicalIndex` tells it. A rowid never leaves its recorder (DESIGN 4)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct
from msgspec.json import Decoder

from domain.append import envelope
from domain.append.envelope import Row
from domain.log.wire import Payload, PayloadId

Onward = Callable[[PayloadId], Sequence[tuple[PayloadId, bytes]]]
"""``read(wanted)``: the payload, if it is there, and perhaps some that were kept right after it."""


class Tail(NamedTuple):
    """The newest append: its number, time and digest, and who wrote it."""

    n: int = 0
    at: str = ""
    digest: str = ""
    replica: str = ""


class TimedRow(NamedTuple):
    row: Row
    at: str


class AppendPosition(Struct, frozen=True):
    """The part of an envelope that tells where it stands."""

    n: int
    row: int = 0
    rows: int = 0
    at: str = ""


_LINE = b'{"stream":%b,"version":%d,"tag":"%b","state":%b}'
numbered = Decoder(AppendPosition).decode


def by_append(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in canonical order, append by append."""
    found: list[Row] = []
    for row in rows:
        if found and numbered(row.state).row == 0:
            yield found
            found = []
        found.append(row)
    if found:
        yield found


def tail_of(rows: Sequence[Row]) -> Tail:
    """What a log ends with that ends with these rows of one append."""
    return _tail(tuple(rows)) if rows else Tail()


@lru_cache(4)  # who writes an append asks before and after
def _tail(rows: tuple[Row, ...]) -> Tail:
    first = numbered(rows[0].state)
    return Tail(first.n, first.at, envelope.digest(rows), rows[0].stream.rpartition("@")[2])


def line(row: Row) -> bytes:
    """A row as a line of JSON, as `LogRecorder.lines` has it."""
    stream, tag = msgspec.json.encode(row.stream), row.topic.encode()
    return _LINE % (stream, row.version, tag, row.state)


def line_pages(rows: Iterable[Row], size: int) -> Iterator[bytes]:
    """Rows in canonical order as `LogRecorder.lines` has them."""
    page: list[bytes] = []
    for append in by_append(rows):
        page += map(line, append)
        if len(page) >= size:
            yield b"\n".join(page)
            page = []
    if page:
        yield b"\n".join(page)


class CanonicalIndex(Protocol):
    """Finds the appends of a log whose rows came in in any order."""

    def rows_of(self, replica: str, after: int) -> Iterator[Row]:
        """A replica's rows above append n `after`, in the order of its chain."""

    def last(self, replica: str = "", *, is_telling: bool = False) -> Sequence[Row]:
        """The newest append, or that of a replica; `is_telling`: that is no lone log fact."""

    def at(self, n: int, replica: str) -> Sequence[Row]:
        """The rows of an append, in order; empty where there is none."""

    def digest(self, n: int, replica: str) -> str:
        """The digest of an append; empty where there is none."""

    def writers(self) -> Sequence[str]:
        """All replicas whose rows are there."""

    def every(self) -> int:
        """How many rows there are, those that somebody put beside all appends with them."""


class LogRecorder(Protocol):
    """A recorder of one log, in a file or in memory."""

    is_file: bool  # which somebody else may write into

    def deciding(self) -> AbstractContextManager[None]:
        """Hold the write lock; commit at the end, roll back if anything is raised."""

    def check_standing(self) -> None:
        """Look whether it is still the log that was opened; `deciding` does, before and after.
        Raises Refused, code ``replaced``."""

    def part(self, *, is_other_sure: bool = False) -> bool:
        """Leave a log that was replaced, so that nothing of it gets into what is there now; whether
        it is sure that it was. `is_other_sure`: it is of the home's other log."""

    def reading(self) -> AbstractContextManager[None]:
        """See one state of the log for as long as it is open."""

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        """The rows of a stream with a version above `after`, in order; but for some tags'."""

    def present(self, streams: Sequence[str]) -> Sequence[str]:
        """Those of these streams that have rows."""

    def streams_of(self, kind: str) -> Sequence[str]:
        """The names of all streams of a kind."""

    def order(self) -> "CanonicalIndex | None":
        """Where each append stands; None where rows stand as they came, in canonical order."""

    def keep_order(self) -> None:
        """Let rows come in in any order from now on, inside `deciding`."""

    def tail(self) -> Tail:
        """The newest append; `n` 0 where there is none."""

    def append_at(self, n: int) -> Sequence[Row]:
        """The rows of append n, in order; empty where there is none."""

    def newest(self, count: int) -> Sequence[Row]:
        """The newest rows, so many at most, in order."""

    def last_version(self, stream: str) -> int:
        """How many rows a stream has."""

    def rows(self, after: int) -> Iterator[Row]:
        """All rows of appends with an `n` above `after`, in canonical order."""

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        """The same rows in bulk, for whom one by one is too slow: pages of JSON Lines,
        ``{"stream", "version", "tag", "state"}``. A page has `size` rows and then what is left
        of its last append; the last one has fewer."""

    def count(self) -> int:
        """How many rows there are."""

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        """Those of the named payloads that are there, in bulk."""

    def payload(self, payload_id: PayloadId) -> bytes | None:
        """The bytes of a payload, or None."""

    def kept_payloads(self) -> Iterator[tuple[PayloadId, bytes]]:
        """All payloads, in the order in which they were kept."""

    def onward(self) -> Onward:
        """Reads payloads for whom goes through the log from its beginning."""

    def insert(self, rows: Sequence[Row], payloads: Sequence[Payload]) -> None:
        """Write one append, inside `deciding`."""

    def erase(self, marks: Sequence[Row], payloads: Sequence[PayloadId]) -> None:
        """Put marks where rows of their streams and versions stand, and let payloads go, inside
        `deciding`; nothing of either is left once `compact` is done."""

    def compact(self, share: float = 0.0) -> None:
        """Write the log anew without what was erased, if such a share of its file is free."""

    def close(self) -> None:
        """Release files and connections."""

"""A store whose process dies at a boundary of its choice: just before an append is in the file,
or just after.

Every append passes two boundaries, counted over both logs: `before` its commit, when nothing of
it is there yet, and `after` it, when nobody has been told. `Fuse()` only counts; `Fuse(k)` kills
at the k-th boundary, counted from 1.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from adapters.store.recorder import CanonicalIndex, LogRecorder, Onward, Tail, TimedRow
from domain.append.envelope import Row
from domain.log.wire import Payload, PayloadId


class Died(BaseException):
    """The process is gone: no handler of errors may catch this."""


class Fuse:
    """Counts boundaries, and kills at one of them, once."""

    def __init__(self, at: int = 0) -> None:
        self.passed = 0
        self.has_blown = False
        self._at = at

    def passes(self) -> None:
        """A boundary is reached."""
        if self.has_blown:
            raise Died  # whatever still runs in a dead process
        self.passed += 1
        if self.passed == self._at:
            self.has_blown = True
            raise Died


class Meddler:
    """A fuse of another kind: at the k-th access to the store another process is faster, once."""

    def __init__(self, at: int, meddle: Callable[[], None]) -> None:
        self.accesses = 0
        self._at = at
        self._meddle = meddle

    def accessed(self) -> None:
        """The store is about to be read or written."""
        self.accesses += 1
        if self.accesses == self._at:
            self._meddle()


class FaultyRecorder:
    """A recorder that dies where its fuse says, or is meddled with; else the one it wraps."""

    is_file = False

    def __init__(
        self, recorder: LogRecorder, fuse: Fuse | None = None, meddler: Meddler | None = None
    ) -> None:
        self._recorder = recorder
        self._fuse = fuse or Fuse()
        self._meddler = meddler or Meddler(0, lambda: None)
        self._has_written = False

    @contextmanager
    def deciding(self) -> Iterator[None]:
        self._has_written = False
        self._meddler.accessed()
        with self._recorder.deciding():
            yield
            if self._has_written:
                self._fuse.passes()
        if self._has_written:
            self._fuse.passes()

    def check_standing(self) -> None:
        self._recorder.check_standing()

    def part(self, *, is_other_sure: bool = False) -> bool:
        return self._recorder.part(is_other_sure=is_other_sure)

    @contextmanager
    def reading(self) -> Iterator[None]:
        self._meddler.accessed()
        with self._recorder.reading():
            yield

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        return self._recorder.stream(stream, after, but)

    def present(self, streams: Sequence[str]) -> Sequence[str]:
        return self._recorder.present(streams)

    def streams_of(self, kind: str) -> Sequence[str]:
        return self._recorder.streams_of(kind)

    def order(self) -> CanonicalIndex | None:
        return self._recorder.order()

    def keep_order(self) -> None:
        self._recorder.keep_order()

    def tail(self) -> Tail:
        return self._recorder.tail()

    def append_at(self, n: int) -> Sequence[Row]:
        return self._recorder.append_at(n)

    def newest(self, count: int) -> Sequence[Row]:
        return self._recorder.newest(count)

    def last_version(self, stream: str) -> int:
        return self._recorder.last_version(stream)

    def rows(self, after: int) -> Iterator[Row]:
        return self._recorder.rows(after)

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        return self._recorder.lines(after, size)

    def count(self) -> int:
        return self._recorder.count()

    def payload(self, payload_id: PayloadId) -> bytes | None:
        return self._recorder.payload(payload_id)

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        return self._recorder.payloads(ids)

    def kept_payloads(self) -> Iterator[tuple[PayloadId, bytes]]:
        return self._recorder.kept_payloads()

    def onward(self) -> Onward:
        return self._recorder.onward()

    def erase(self, marks: Sequence[Row], payloads: Sequence[PayloadId]) -> None:
        self._recorder.erase(marks, payloads)
        self._has_written = True

    def compact(self, share: float = 0.0) -> None:
        self._fuse.passes()
        self._recorder.compact(share)

    def insert(self, rows: Sequence[Row], payloads: Sequence[Payload]) -> None:
        self._has_written = True
        self._recorder.insert(rows, payloads)

    def close(self) -> None:
        self._recorder.close()

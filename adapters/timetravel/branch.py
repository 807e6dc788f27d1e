"""A branch of a log in memory: another log up to an append, and what is written behind it.

The other one is only read, and through its `LogHistory`: what one branch has read or folded of it,
the next one has, too. A log that machines share is copied instead, see `fork.copy_log`."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from operator import attrgetter

from adapters.store.kept_states import StateCache
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import Onward, TimedRow, line_pages, numbered
from adapters.timetravel.logs_at import Folds, LogHistory
from domain.append.envelope import Row
from domain.log.state import CachedState, RecordedEvent
from domain.log.wire import PayloadId, tag_of


class BranchLog(Log):
    """A log that goes on from append `n` of another one."""

    def __init__(self, history: LogHistory, n: int, replica: str) -> None:
        super().__init__(history.log.name, recorder := BranchRecorder(history, n), replica)
        self._branch = recorder
        self._states = _States(Folds(history, n), recorder)

    def _read(self, stream: str, after: int, but: Sequence[str] = ()) -> list[RecordedEvent]:
        """Rows of the other log are decoded once for all branches."""
        known = self._branch.before(stream)
        shown = (one for one in known[after:] if not but or tag_of(one.fact) not in but)
        return [*shown, *super()._read(stream, max(after, len(known)), but)]


class _States(StateCache):
    """The branch's folded states; those of the other log's past are for all branches."""

    def __init__(self, folds: Folds, branch: "BranchRecorder") -> None:
        super().__init__()
        self._folds, self._branch = folds, branch

    def get(  # type: ignore[override]  # of a cache, None is the only default
        self, stream: str, default: CachedState | None = None
    ) -> CachedState | None:
        return super().get(stream) or self._folds.get(stream, default)

    def __setitem__(self, stream: str, folded: CachedState) -> None:
        if 0 < folded.version <= len(self._branch.before(stream)):
            self._folds[stream] = folded
        else:
            super().__setitem__(stream, folded)


class BranchRecorder(MemoryLogRecorder):
    """Reads another log up to append `n`; only what is behind it is its own."""

    def __init__(self, history: LogHistory, n: int) -> None:
        super().__init__()
        self._history, self._base, self._n = history, history.log.recorder, n

    def before(self, stream: str) -> Sequence[RecordedEvent]:
        """The rows of a stream in the other log up to there; versions have no gaps."""
        rows = self._history.rows_of(stream)
        return rows[: bisect_right(rows, self._n, key=attrgetter("n"))]

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        last = len(self.before(stream))
        found = self._base.stream(stream, after, but) if after < last else ()
        known = (one for one in found if one.row.version <= last)
        return [*known, *super().stream(stream, max(after, last), but)]

    def present(self, streams: Sequence[str]) -> Sequence[str]:
        return [one for one in streams if self.last_version(one)]

    def streams_of(self, kind: str) -> Sequence[str]:
        """Some may have no rows yet."""
        return sorted({*self._base.streams_of(kind), *super().streams_of(kind)})

    def _last_append(self) -> Sequence[Row]:
        return super()._last_append() or self._base.append_at(self._n)

    def append_at(self, n: int) -> Sequence[Row]:
        return self._base.append_at(n) if n <= self._n else super().append_at(n)

    def newest(self, count: int) -> Sequence[Row]:
        return [*self.rows(0)][-count:]

    def last_version(self, stream: str) -> int:
        return super().last_version(stream) or len(self.before(stream))

    def rows(self, after: int) -> Iterator[Row]:
        if after < self._n:
            known = self._base.rows(after)
            yield from takewhile(lambda row: numbered(row.state).n <= self._n, known)
        yield from super().rows(after)

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        return line_pages(self.rows(after), size)

    def count(self) -> int:
        """It grows with each row. Nobody asks how many the other log has up to there: all of them
        would have to be read to know."""
        return self._n + super().count()

    def payload(self, payload_id: PayloadId) -> bytes | None:
        own = super().payload(payload_id)
        return self._history.log.payload_or_refuse(payload_id) if own is None else own

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        own = dict(super().payloads(ids))
        return [*own.items(), *self._base.payloads([one for one in ids if one not in own])]

    def onward(self) -> Onward:
        return lambda wanted: self.payloads([wanted])

    def kept_payloads(self) -> Iterator[tuple[PayloadId, bytes]]:
        """Those that later appends of the other log name, too."""
        yield from self._base.kept_payloads()
        yield from super().kept_payloads()

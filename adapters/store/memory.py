"""The log in memory, over the `eventsourcing` library's own in-memory recorder: for tests."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from eventsourcing.persistence import StoredEvent
from eventsourcing.popo import POPOApplicationRecorder

from adapters.store.canonical_index import AppendPlace, place_of, places_of
from adapters.store.recorder import Onward, Tail, TimedRow, line_pages, numbered, tail_of
from domain.append.envelope import Row
from domain.log.wire import Payload, PayloadId

PAGE_ROWS = 2000


class MemoryCanonicalIndex:
    """The places of all appends, in canonical order."""

    def __init__(self, events: Sequence[StoredEvent], places: Iterable[AppendPlace]) -> None:
        self._events = events
        self.places = sorted(places)

    def rows(self, after: int) -> Iterator[Row]:
        first = bisect_right(self.places, after, key=lambda one: one.n)
        return (row for one in self.places[first:] for row in self._read(one))

    def rows_of(self, replica: str, after: int) -> Iterator[Row]:
        first = bisect_right(self.places, after, key=lambda one: one.n)
        theirs = (one for one in self.places[first:] if one.replica == replica)
        return (row for one in theirs for row in self._read(one))

    def last(self, replica: str = "", *, is_telling: bool = False) -> Sequence[Row]:
        for one in reversed(self.places):
            rows = self._read(one) if replica in ("", one.replica) else ()
            if rows and not (is_telling and rows[0].stream.startswith("log:")):
                return rows
        return ()

    def at(self, n: int, replica: str) -> Sequence[Row]:
        found = self._find(n, replica)
        return self._read(found) if found else ()

    def digest(self, n: int, replica: str) -> str:
        found = self._find(n, replica)
        return found.digest if found else ""

    def writers(self) -> Sequence[str]:
        return sorted({one.replica for one in self.places})

    def _find(self, n: int, replica: str) -> AppendPlace | None:
        nth = bisect_left(self.places, (n, replica))
        found = self.places[nth] if nth < len(self.places) else None
        return found if found and found[:2] == (n, replica) else None

    def _read(self, one: AppendPlace) -> list[Row]:
        return [_row(stored) for stored in self._events[one.first - 1 : one.first - 1 + one.rows]]


class MemoryLogRecorder(POPOApplicationRecorder):
    """Keeps rows and payloads for as long as the process lives."""

    is_file = False

    def __init__(self) -> None:
        super().__init__()
        self._payloads: dict[PayloadId, bytes] = {}
        self._order: MemoryCanonicalIndex | None = None

    @contextmanager
    def deciding(self) -> Iterator[None]:
        with self._database_lock:
            count, order = len(self._stored_events), self._order
            try:
                yield
            except BaseException:
                self._forget(count)
                self._order = order
                if order:
                    order.places = [one for one in order.places if one.first <= count]
                raise

    def _forget(self, count: int) -> None:
        """Roll back to so many rows."""
        for gone in self._stored_events[count:]:
            del self._stored_events_index[str(gone.originator_id)][gone.originator_version]
        del self._stored_events[count:]

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._database_lock:
            yield

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        found = self._stored_events_index.get(stream, {})
        timed: list[TimedRow] = []
        first_here = next(iter(found), 1)  # more than 1 in a branch; versions have no gaps
        for version in range(max(after + 1, first_here), first_here + len(found)):
            index = found[version]
            stored = self._stored_events[index]
            if stored.topic in but:
                continue
            first = self._stored_events[index - numbered(stored.state).row]
            timed.append(TimedRow(_row(stored), numbered(first.state).at))
        return timed

    def present(self, streams: Sequence[str]) -> Sequence[str]:
        return [one for one in streams if self._stored_events_index.get(one)]

    def streams_of(self, kind: str) -> Sequence[str]:
        return [one for one in self._stored_events_index if one.startswith(f"{kind}:")]

    def check_standing(self) -> None:
        """Nobody puts another one in its place."""

    def part(self, *, is_other_sure: bool = False) -> bool:  # noqa: ARG002  of files
        """Nor is there anything to part from."""
        return False

    def order(self) -> MemoryCanonicalIndex | None:
        return self._order

    def keep_order(self) -> None:
        self._order = MemoryCanonicalIndex(self._stored_events, places_of(self.rows(0)))

    def tail(self) -> Tail:
        return tail_of(self._last_append())

    def _last_append(self) -> Sequence[Row]:
        if self._order:
            return self._order.last()
        if not self._stored_events:
            return ()
        first = len(self._stored_events) - 1 - numbered(self._stored_events[-1].state).row
        return [_row(stored) for stored in self._stored_events[first:]]

    def append_at(self, n: int) -> Sequence[Row]:
        first = next(self.rows(n - 1), None)
        if first is None or (place := numbered(first.state)).n != n:
            return ()
        return list(islice(self.rows(n - 1), place.rows))

    def newest(self, count: int) -> Sequence[Row]:
        return [_row(one) for one in self._stored_events[-count:]]

    def last_version(self, stream: str) -> int:
        return len(self._stored_events_index.get(stream, {}))

    def rows(self, after: int) -> Iterator[Row]:
        if self._order:
            return self._order.rows(after)
        first = bisect_right(self._stored_events, after, key=lambda one: numbered(one.state).n)
        return (_row(one) for one in self._stored_events[first:])

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        return line_pages(self.rows(after), size)

    def count(self) -> int:
        return len(self._stored_events)

    def payload(self, payload_id: PayloadId) -> bytes | None:
        return self._payloads.get(payload_id)

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        return [(one, self._payloads[one]) for one in ids if one in self._payloads]

    def kept_payloads(self) -> Iterator[tuple[PayloadId, bytes]]:
        return iter(tuple(self._payloads.items()))

    def onward(self) -> Onward:
        return lambda wanted: self.payloads([wanted])

    def insert(self, rows: Sequence[Row], payloads: Sequence[Payload]) -> None:
        if self._order:
            insort(self._order.places, place_of(rows, len(self._stored_events) + 1))
        self.insert_events([StoredEvent(*row) for row in rows])
        for kept in payloads:
            self._payloads.setdefault(kept.id, kept.data)

    def erase(self, marks: Sequence[Row], payloads: Sequence[PayloadId]) -> None:
        for one in marks:
            index = self._stored_events_index[one.stream][one.version]
            self._stored_events[index] = StoredEvent(*one)
        for gone in payloads:
            self._payloads.pop(gone, None)

    def compact(self, share: float = 0.0) -> None:
        """Nothing is left of what was erased."""

    def close(self) -> None:
        """Nothing to release."""


def _row(stored: StoredEvent) -> Row:
    return Row(str(stored.originator_id), stored.originator_version, stored.topic, stored.state)

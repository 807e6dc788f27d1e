"""The log in memory, over the `eventsourcing` library's own in-memory recorder: for tests."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from eventsourcing.persistence import StoredEvent
from eventsourcing.popo import POPOApplicationRecorder

from adapters.store.recorder import Onward, Tail, Timed, by_append, line, numbered, tail_of
from domain.envelope import Row
from domain.wire import Payload, PayloadId

PAGE_ROWS = 2000


class MemoryLogRecorder(POPOApplicationRecorder):
    """Keeps rows and payloads for as long as the process lives."""

    def __init__(self) -> None:
        super().__init__()
        self._payloads: dict[PayloadId, bytes] = {}

    @contextmanager
    def deciding(self) -> Iterator[None]:
        with self._database_lock:
            count = len(self._stored_events)
            try:
                yield
            except BaseException:
                self._forget(count)
                raise

    def _forget(self, count: int) -> None:
        """Roll back to so many rows."""
        for stored in self._stored_events[count:]:
            del self._stored_events_index[str(stored.originator_id)][stored.originator_version]
        del self._stored_events[count:]

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._database_lock:
            yield

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[Timed]:
        found = self._stored_events_index.get(stream, {})
        timed: list[Timed] = []
        for version in range(after + 1, len(found) + 1):  # versions have no gaps
            index = found[version]
            stored = self._stored_events[index]
            if stored.topic in but:
                continue
            first = self._stored_events[index - numbered(stored.state).row]
            timed.append(Timed(_row(stored), numbered(first.state).at))
        return timed

    def present(self, streams: Sequence[str]) -> Sequence[str]:
        return [one for one in streams if self._stored_events_index.get(one)]

    def streams_of(self, kind: str) -> Sequence[str]:
        return [one for one in self._stored_events_index if one.startswith(f"{kind}:")]

    def tail(self) -> Tail:
        return tail_of(self._last_append())

    def _last_append(self) -> Sequence[Row]:
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
        first = bisect_right(self._stored_events, after, key=lambda one: numbered(one.state).n)
        return (_row(one) for one in self._stored_events[first:])

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        page: list[bytes] = []
        for rows in by_append(self.rows(after)):
            page += map(line, rows)
            if len(page) >= size:
                yield b"\n".join(page)
                page = []
        if page:
            yield b"\n".join(page)

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
        self.insert_events([StoredEvent(*row) for row in rows])
        for kept in payloads:
            self._payloads.setdefault(kept.id, kept.data)

    def close(self) -> None:
        """Nothing to release."""


def _row(stored: StoredEvent) -> Row:
    return Row(str(stored.originator_id), stored.originator_version, stored.topic, stored.state)

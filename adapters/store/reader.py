"""Reads a log: what stands in it, and the world as this replica knows it (DESIGN 4)."""

from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from adapters.store.recorder import LogRecorder, Onward, by_append, numbered
from domain import envelope
from domain.causes import EpochBegan, ReplicasImported
from domain.envelope import Row
from domain.wire import PayloadId
from domain.world import MAIN, Folded, Parts, Recorded, World


class Tail(NamedTuple):
    """The newest append: its number, time and digest, and who wrote it."""

    n: int = 0
    at: str = ""
    digest: str = ""
    replica: str = ""


class Main(NamedTuple):
    """What ``log:main`` says, up to a version: the epoch, and whose rows were brought in."""

    version: int = 0
    rules: int = 0
    replicas: tuple[str, ...] = ()


class LogPosition(NamedTuple):
    """What was last seen of a log: so many rows, and what they come to."""

    rows: int = 0
    tail: Tail = Tail()
    main: Main = Main()


class LogReader:
    """One of a home's two logs, for who only looks."""

    def __init__(
        self, name: str, recorder: LogRecorder, replica: str, states: MutableMapping[str, Folded]
    ) -> None:
        """`states`: folded ones that are kept between two looks."""
        self.name = name
        self.replica = replica
        self.recorder = recorder
        self.streams_of = recorder.streams_of
        self.kept_payloads = recorder.kept_payloads
        self._states = states
        self._seen = LogPosition()

    @contextmanager
    def reading(self) -> Iterator[World]:
        """The log as it is now, one state for as long as it is open."""
        with self.recorder.reading():
            yield self._world(self._look())

    def world_at(self, n: int) -> World:
        """The log as it stood after append n; nothing of it is cached."""

        def read(stream: str, after: int) -> list[Recorded]:
            return [one for one in self._read(stream, after) if one.n <= n]

        replicas = self._replicas(self._look())
        return World(self.name, self.replica, n + 1, read, self.payload, replicas=replicas)

    def appends(self, after: int = 0) -> Iterator[list[Recorded]]:
        """Each append above n `after`, as its rows, in canonical order."""
        for rows in by_append(self.recorder.rows(after)):
            decoded = [envelope.read(row) for row in rows]
            at = decoded[0].at
            yield [envelope.recorded(row, at, one) for row, one in zip(rows, decoded, strict=True)]

    def rows(self, after: int = 0) -> Iterator[Row]:
        """The rows as they are stored, above append n `after`, in canonical order."""
        return self.recorder.rows(after)

    def append_at(self, n: int) -> Sequence[Row]:
        """The rows of append n as they are stored; empty if there is none."""
        return self.recorder.append_at(n)

    def digest_at(self, n: int) -> str:
        """The digest of append n, which the next one carries; empty if there is none."""
        tail = self.tail()
        if n == tail.n:
            return tail.digest
        rows = self.append_at(n)
        return envelope.digest(rows) if rows else ""

    def newest(self, count: int) -> Sequence[Row]:
        """The newest rows as they are stored, so many at most, in order."""
        return self.recorder.newest(count)

    def last_fact(self, stream: str) -> Recorded | None:
        """The newest row of a stream, by its whole name."""
        before = max(self.recorder.last_version(stream) - 1, 0)
        return next(iter(self._read(stream, before)), None)

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        """The same rows in bulk, at least `size` a page: see `LogRecorder.lines`."""
        return self.recorder.lines(after, size)

    def count(self) -> int:
        """How many rows there are."""
        return self.recorder.count()

    def facts(self, stream: str) -> list[Recorded]:
        """The rows of one stream of any replica, by its whole name."""
        return self._read(stream, 0)

    def receipts(self, key: str) -> list[Recorded]:
        """What this replica keeps under an idempotency key: a receipt, or nothing."""
        return self.facts(f"receipt:{key}@{self.replica}") if key else []

    def payload(self, payload_id: PayloadId) -> bytes | None:
        """The bytes of a payload, or None."""
        return self.recorder.payload(payload_id)

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        """Those of the named payloads that are there, in bulk."""
        return self.recorder.payloads(ids)

    def onward(self) -> Onward:
        """Reads payloads for whom goes through the log from its beginning: see `LogRecorder`."""
        return self.recorder.onward()

    def tail(self) -> Tail:
        """The newest append; `n` 0 where there is none."""
        with self.recorder.reading():
            return self._look().tail

    def close(self) -> None:
        self.recorder.close()

    def _world(self, seen: LogPosition) -> World:
        return World(
            self.name,
            self.replica,
            seen.tail.n + 1,
            self._read,
            self.recorder.payload,
            replicas=self._replicas(seen),
            cache=self._states,
            present=self.recorder.present,
            parts=Parts(self.recorder.last_version, self._read),
            streams=self.recorder.streams_of,
        )

    def _read(self, stream: str, after: int, but: Sequence[str] = ()) -> list[Recorded]:
        timed = self.recorder.stream(stream, after, but)
        return [envelope.recorded(row, at, envelope.read(row)) for row, at in timed]

    def _look(self) -> LogPosition:
        """What the log comes to; read only if it has grown since."""
        count = self.recorder.count()
        if count != self._seen.rows:
            self._seen = LogPosition(count, self._newest(), self._main_now())
        return self._seen

    def _newest(self) -> Tail:
        rows = self.recorder.last_append()
        if not rows:
            return Tail()
        first = numbered(rows[0].state)
        replica = rows[0].stream.rpartition("@")[2]
        return Tail(first.n, first.at, envelope.digest(rows), replica)

    def _main_now(self) -> Main:
        """``log:main`` of this replica, read on from where it was known."""
        version, rules, replicas = self._seen.main
        for recorded in self._read(f"log:{MAIN}@{self.replica}", version):
            version = recorded.version
            match recorded.fact:
                case EpochBegan(rules=began):
                    rules = began
                case ReplicasImported(replicas=brought):
                    replicas = tuple(sorted({*replicas, *(one.replica for one in brought)}))
        return Main(version, rules, replicas)

    def _last_of_each(self) -> dict[str, Tail]:
        """The newest append of each replica in the file, by name; reads all of it."""
        last: dict[str, Tail] = {}
        for rows in by_append(self.recorder.rows(0)):
            first = numbered(rows[0].state)
            name = rows[0].stream.rpartition("@")[2]
            last[name] = Tail(first.n, first.at, envelope.digest(rows), name)
        return dict(sorted(last.items()))

    def writers(self) -> tuple[str, ...]:
        """All replicas whose rows are in the file; reads all of it."""
        return tuple(self._last_of_each())

    def _replicas(self, seen: LogPosition) -> tuple[str, ...]:
        """The other replicas whose rows belong to this one's world: those that its markers
        name, and, where another one wrote last, all that are in the file."""
        if seen.tail.n and seen.tail.replica != self.replica:
            return tuple(name for name in self._last_of_each() if name != self.replica)
        return seen.main.replicas

    def _receipt(self, key: str, seen: LogPosition) -> Recorded | None:
        for replica in (self.replica, *self._replicas(seen)):
            if found := self._read(f"receipt:{key}@{replica}", 0):
                return found[0]
        return None

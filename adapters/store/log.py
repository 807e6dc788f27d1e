"""A log: decisions inside the write transaction, one append after another (DESIGN 4)."""

import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from adapters.store.recorder import LogRecorder, Onward, Tail, by_append, tail_of
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.version import package_version
from domain import envelope
from domain.causes import (
    Cause,
    Command,
    EpochBegan,
    GivenUp,
    Imported,
    Receipt,
    ReplicasImported,
    Result,
    is_repeat,
)
from domain.envelope import Row
from domain.errors import Damaged, KeyReused, Refused
from domain.rules import RULES
from domain.wire import Payload, PayloadId
from domain.world import MAIN, Folded, Parts, Recorded, World

if TYPE_CHECKING:
    from domain.composing import Composed

STATES_MAX = 4096  # folded states that a process keeps

LogProgress = Callable[[str, int, int], None]
"""``progress(log, n, of)``: so far has a reader of a log come."""


class Appended(NamedTuple):
    """What an append came to. `rows` is empty where nothing was written; `n` is the append's
    number, or that of the receipt which answered a repeated key, or of the log's last append."""

    result: Result
    rows: tuple[Row, ...]
    n: int


class States(OrderedDict[str, Folded]):
    """The newest used folded states, at most `STATES_MAX`."""

    def __setitem__(self, stream: str, folded: Folded) -> None:
        super().__setitem__(stream, folded)
        self.move_to_end(stream)
        if len(self) > STATES_MAX:
            self.popitem(last=False)


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


class Log:
    """One of a home's two logs, ``journal`` or ``agent``."""

    def __init__(self, name: str, recorder: LogRecorder, replica: str) -> None:
        self.name = name
        self.replica = replica
        self.recorder = recorder
        self.streams_of = recorder.streams_of
        self.kept_payloads = recorder.kept_payloads
        self._states = States()
        self._seen = LogPosition()

    @classmethod
    def open(cls, name: str, path: Path, replica: str) -> "Log":
        """The log in a file, which is made if it is not there."""
        return cls(name, SQLiteLogRecorder(path), replica)

    @classmethod
    def read_only(cls, name: str, path: Path, replica: str) -> "Log":
        """The log in a file that may not be written."""
        return cls(name, SQLiteLogRecorder(path, is_read_only=True), replica)

    @classmethod
    def in_memory(cls, name: str, replica: str = "r1") -> "Log":
        """A log that lives as long as the process."""
        from adapters.store.memory import MemoryLogRecorder

        return cls(name, MemoryLogRecorder(), replica)

    def append(
        self, cause: Cause, now: str, *, key: str = "", payloads: Sequence[Payload] = ()
    ) -> Appended:
        """Decide and write in one transaction: log order is decision order.

        Args:
            cause: A command, or a reply from outside.
            now: The present; the append's time is never before the log's last.
            key: The caller's idempotency key.
            payloads: What the cause names by id; kept only if something is written.

        Raises:
            Refused: If the rules do not allow the command now. Nothing is written.
            KeyReused: If `key` already stands for another command.
        """
        try:
            with self.recorder.deciding():
                return self._decided(cause, now, key, payloads)
        except BaseException:
            self._seen = LogPosition()  # some of it may be undone
            raise

    def adopt(self, now: str, given_up: Sequence[GivenUp] = ()) -> None:
        """Begin to write under a name that is new in the file, and own what others wrote there.

        Args:
            now: The present.
            given_up: Of a journal: what is said of it elsewhere and is of another past.
        """
        with self.recorder.deciding():
            seen = self._marked(now, self._look(), tuple(given_up))
            self._in_epoch(now, seen)

    def _decided(self, cause: Cause, now: str, key: str, payloads: Sequence[Payload]) -> Appended:
        seen = self._began(now)
        tail = seen.tail
        if key and (known := self._receipt(key, seen)):
            return _repeated(known, cause, key)
        world = self._world(seen)
        world.bring(payloads)
        at = max(now, tail.at)
        composed = _compose(cause, key, at, tail.digest, world)
        rows = composed.rows
        if not rows:
            return Appended(composed.result, (), tail.n)
        self.recorder.insert(rows, [*payloads, *composed.payloads])
        written = tail_of(rows)
        if not rows[0].stream.startswith("log:"):
            self._seen = LogPosition(seen.rows + len(rows), written, seen.main)
        return Appended(composed.result, rows, tail.n + 1)

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

    def answered(self, key: str, command: Command, said: Sequence[str] = ()) -> Result | None:
        """What `append` would answer a repeat with; None where the key is free, or empty.

        For whoever looks, before it appends, at what may have changed since. Only the fields
        that the caller said need to be right, see `is_repeat`.

        Raises:
            KeyReused: If `key` stands for another command.
        """
        with self.recorder.reading():
            known = self._receipt(key, self._look()) if key else None
        return _repeated(known, command, key, said).result if known else None

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
        if self._seen.rows and self.recorder.count() == self._seen.rows:
            return self._seen.tail
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
            self._seen = LogPosition(count, self.recorder.tail(), self._main_now())
        return self._seen

    def _began(self, now: str) -> LogPosition:
        """What to append to, after what must come first: a marker of the rows that another
        replica wrote in this file, and the epoch of today's rules."""
        seen = self._look()
        tail = seen.tail
        if tail.n and tail.replica != self.replica:
            seen = self._marked(now, seen)
        return self._in_epoch(now, seen)

    def _marked(
        self, now: str, seen: LogPosition, given_up: tuple[GivenUp, ...] = ()
    ) -> LogPosition:
        """Append a marker of the rows that other replicas wrote."""
        last = self._last_of_each()
        own = last.pop(self.replica, Tail())
        brought = tuple(Imported(name, one.n) for name, one in last.items())
        marker = ReplicasImported(brought, given_up)
        seen = self._alone(marker, now, seen, prev=own.digest)
        self._states.clear()
        return seen

    def _in_epoch(self, now: str, seen: LogPosition) -> LogPosition:
        """Append the epoch of today's rules, if it has not begun."""
        epoch = seen.main.rules
        if epoch > RULES:
            raise Damaged(
                "newer_rules",
                because=f"the log is in epoch {epoch}, and this wakelog knows rules {RULES}",
                instead="use the newer wakelog that wrote it; nothing was changed",
            )
        if epoch < RULES:
            package, unicode = package_version() or "0", unicodedata.unidata_version
            began = EpochBegan(RULES, package, unicode, seen.tail.digest)
            seen = self._alone(began, now, seen, prev=seen.tail.digest)
        return seen

    def _alone(
        self, fact: EpochBegan | ReplicasImported, now: str, seen: LogPosition, prev: str
    ) -> LogPosition:
        at = max(now, seen.tail.at)
        world = self._world(seen)
        if isinstance(fact, ReplicasImported):
            world.n = max(world.n, *(one.until + 1 for one in fact.given_up), 0)
        composed = _compose(fact, "", at, prev, world)
        self.recorder.insert(composed.rows, ())
        return self._look()

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
            newest = tail_of(rows)
            last[newest.replica] = newest
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


def _compose(cause: Cause, key: str, at: str, prev: str, world: World) -> "Composed":
    from domain.composing import compose  # what decides is loaded by who writes

    return compose(cause, key, at, prev, world)


def _repeated(known: Recorded, cause: Cause, key: str, said: Sequence[str] = ()) -> Appended:
    """The stored result, if the cause is the command that the key stands for."""
    receipt = known.fact
    if not isinstance(receipt, Receipt):
        raise Refused(
            "not_a_log", because=f"{known.stream} holds no receipt", instead="run `wakelog prove`"
        )
    if not is_repeat(receipt.command, cause, said):
        raise KeyReused(key)
    return Appended(receipt.result, (), known.n)


__all__ = ["Appended", "Command", "Log", "Tail"]

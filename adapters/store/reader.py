"""Reads a log: what stands in it, and the world as this replica knows it (DESIGN 4)."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from typing import NamedTuple

import msgspec

from adapters.store.recorder import LogRecorder, Tail, by_append, numbered, tail_of
from adapters.store.remote_appends import ReplicaKnowledge, sift
from domain.append import envelope
from domain.append.causes import EpochBegan, LogShared, ReplicasImported
from domain.append.envelope import Row
from domain.erasure import ErasureMade, Listed, listed_of
from domain.errors import Damaged, Refused
from domain.log.state import (
    MAIN,
    CachedState,
    KnownAppends,
    LogState,
    PartialReads,
    ReadStream,
    RecordedEvent,
    RowFilter,
    entity_of,
)
from domain.log.wire import Imported, PayloadId
from domain.replication.replica_conflicts import canonical_position
from domain.replication.version_vectors import VersionVectors, stored_vector

ALONE = ("receipt", "log")  # kinds whose streams are of one replica each
LEFT_OUT_MAX = 4096  # entities of which it is kept what does not count


class MainFacts(NamedTuple):
    """What ``log:main`` says, up to a version: the epoch, whose rows were brought in, from which
    append on the log is shared (0: it is not), which version of it let states go last, and the
    append of its last marker."""

    version: int = 0
    rules: int = 0
    replicas: tuple[str, ...] = ()
    shared_n: int = 0
    let_go: int = 0
    marked_n: int = 0

    @property
    def is_shared(self) -> bool:
        return self.shared_n > 0


class LogPosition(NamedTuple):
    """What was last seen of a log: so many rows, and what they come to."""

    rows: int = 0
    tail: Tail = Tail()
    main: MainFacts = MainFacts()


class LogReader:
    """One of a home's two logs, for who only looks."""

    def __init__(
        self,
        name: str,
        recorder: LogRecorder,
        replica: str,
        states: MutableMapping[str, CachedState],
    ) -> None:
        """`states`: folded ones that are kept between two looks."""
        self.name, self.replica, self.recorder, self._states = name, replica, recorder, states
        self.newest = recorder.newest
        self.lines = recorder.lines
        self.count = recorder.count
        self.payload = recorder.payload
        self.payloads = recorder.payloads
        self.kept_payloads = recorder.kept_payloads
        self.onward = recorder.onward
        self.streams_of = recorder.streams_of
        self.check_standing = recorder.check_standing
        self.part = recorder.part
        self.close = recorder.close
        self.anew: Callable[[PayloadId], bytes | None] = lambda _: None
        self._seen = LogPosition()
        self._whole = 0  # rows of which the last one is counted, see `_check_last`
        self._others = ReplicaKnowledge()
        self._sifted: tuple[MainFacts, RowFilter] | None = None
        self._left_out: dict[str, frozenset[tuple[int, str, int]]] = {}  # by kind and entity

    @property
    def is_shared(self) -> bool:
        """Whether several machines share the log, which each holds whole."""
        with self.recorder.reading():
            return self._look().main.is_shared

    @contextmanager
    def reading(self) -> Iterator[LogState]:
        """The log as it is now, one state for as long as it is open."""
        with self.recorder.reading():
            seen = self._look()
            self._check_last(seen)
            yield self._world(seen)

    def world_at(self, n: int, replica: str = "", read: ReadStream | None = None) -> LogState:
        """The log as it stood after append n of this replica, of a shared log of any; nothing of
        it is cached. `read`: reads the rows of a stream, in place of the log itself."""
        seen, replica, kept = self._look(), replica or self.replica, read or self._read
        known = self._until(n + 1, seen, replica)

        def then(stream: str, after: int) -> list[RecordedEvent]:
            rows = kept(stream, after)
            return [one for one in rows if one.n <= (known.get(one.replica, 0) if known else n)]

        return LogState(
            self.name,
            replica,
            n + 1,
            then,
            self.payload_or_refuse,
            replicas=known or self._replicas(seen),
            sift=self._sift(seen, then),
            known=self._known(seen),
            streams=self.streams_of,
        )

    def appends(self, after: int = 0) -> Iterator[list[RecordedEvent]]:
        """Each append above n `after`, as its rows, in canonical order; of a shared log those that
        this replica knows."""
        seen = self._look()
        known = self._until(seen.tail.n + 1, seen)
        for rows in by_append(self.recorder.rows(after)):
            if known and numbered(rows[0].state).n > known.get(writer_of(rows), 0):
                continue
            yield read_append(rows)

    def counted(self, append: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
        """The rows of an append that count, by all that was known when it was read: see
        `domain.replication.merge`. What this replica wrote since its last marker does: it knew all
        that is here."""
        main = self._seen.main
        if not (append and main.is_shared):
            return append
        if append[0].replica == self.replica and append[0].n > main.marked_n:
            return append
        gone = ((row, self._left_out_of(row, self._seen)) for row in append)
        return [row for row, left_out in gone if canonical_position(row) not in left_out]

    def rows(self, after: int = 0) -> Iterator[Row]:
        return self.recorder.rows(after)

    def append_at(self, n: int, replica: str = "") -> Sequence[Row]:
        """The rows of append n as they are stored; empty if there is none. `replica`: whose, in a
        shared log; else this one's."""
        order = self.recorder.order()
        return order.at(n, replica or self.replica) if order else self.recorder.append_at(n)

    def digest_at(self, n: int, replica: str = "") -> str:
        """The digest of append n, which the next one carries; empty if there is none."""
        if order := self.recorder.order():
            return order.digest(n, replica or self.replica)
        tail = self.tail()
        if n == tail.n:
            return tail.digest
        rows = self.append_at(n)
        return envelope.digest(rows) if rows else ""

    def last_fact(self, stream: str) -> RecordedEvent | None:
        """The newest row of a stream, by its whole name."""
        before = max(self.recorder.last_version(stream) - 1, 0)
        return next(iter(self._read(stream, before)), None)

    def facts(self, stream: str, but: Sequence[str] = ()) -> list[RecordedEvent]:
        """The rows of a stream of any replica, by its whole name, but for those with some tags."""
        return self._read(stream, 0, but)

    def receipts(self, key: str) -> list[RecordedEvent]:
        """What this replica keeps under an idempotency key: a receipt, or nothing."""
        return self.facts(f"receipt:{key}@{self.replica}") if key else []

    def tail(self) -> Tail:
        """The newest append; `n` 0 where there is none."""
        if self._seen.rows and self.recorder.count() == self._seen.rows:
            return self._seen.tail
        with self.recorder.reading():
            return self._look().tail

    def _world(self, seen: LogPosition) -> LogState:
        return LogState(
            self.name,
            self.replica,
            seen.tail.n + 1,
            self._read,
            self.payload_or_refuse,
            replicas=self._replicas(seen),
            cache=self._states,
            present=self.recorder.present,
            parts=PartialReads(self.recorder.last_version, self._read),
            streams=self.recorder.streams_of,
            sift=self._sift(seen, self._read),
            known=self._known(seen),
        )

    def _read(self, stream: str, after: int, but: Sequence[str] = ()) -> list[RecordedEvent]:
        timed = self.recorder.stream(stream, after, but)
        return [envelope.recorded(row, at, envelope.read(row)) for row, at in timed]

    def _look(self) -> LogPosition:
        """What the log comes to; read only if it has grown since."""
        count = self.recorder.count()
        if count != self._seen.rows:
            main = self._main_now()
            order = self.recorder.order() if main.is_shared else None
            tail = tail_of(order.last(self.replica)) if order else self.recorder.tail()
            self._seen = LogPosition(count, tail, main)
        return self._seen

    def _check_last(self, seen: LogPosition) -> None:
        """Look whether the last row is one that its append counts: another one, which somebody put
        behind all others, would be read with its stream. Who proves a log is told where it is.
        Raises Damaged, code ``not_a_log``."""
        is_known = seen.rows in (0, self._whole) or seen.main.is_shared
        if is_known or not self.recorder.is_file:
            return
        last = self.recorder.newest(1)[0]
        try:
            place = numbered(last.state)
            begun = numbered(self.recorder.newest(place.row + 1)[0].state)
        except msgspec.MsgspecError:
            return  # who reads it is told
        if (begun.n, begun.row, begun.rows) != (place.n, 0, place.row + 1):
            told = f"no append counts the last row of the {self.name}'s log, of {last.stream}"
            instead = "see `wakelog prove`; restore both logs from a backup"
            raise Damaged("not_a_log", because=told, instead=instead)
        self._whole = seen.rows

    def _until(self, n: int, seen: LogPosition, replica: str = "") -> Mapping[str, int] | None:
        """Up to which append of each replica one of them, this one if none is named, knew before
        its append n; None where that is all up to there."""
        if not seen.main.is_shared:
            return None
        is_own = replica in ("", self.replica)
        return self._horizons(seen, of_other=not is_own).until(replica or self.replica, n)

    def _known(self, seen: LogPosition) -> KnownAppends | None:
        """What a replica knew right after an append of its own, see `LogState.recorded`."""
        if not seen.main.is_shared:
            return None
        return lambda name, n: self._horizons(seen).until(name, n + 1)

    def horizon(self, n: int) -> tuple[Imported, ...]:
        """What this replica knew of a shared log right after its append n, as facts keep it; empty
        where it was not shared then."""
        seen = self._look()
        return stored_vector(self._until(n + 1, seen) or {}) if 0 < seen.main.shared_n <= n else ()

    def arrivals(self, after: int) -> Iterator[list[RecordedEvent]]:
        """The appends above n `after` in the order in which they became part of this log. What
        other machines wrote comes with the marker that names it, see `brought`."""
        seen = self._look()
        first = self._until(seen.main.shared_n, seen)  # then all were numbered in one line
        for rows in self.appends(after):
            writer, n = rows[0].replica, rows[0].n
            if first is None or writer == self.replica or n <= first.get(writer, 0):
                yield rows

    def came(self, after: int) -> Iterator[list[RecordedEvent]]:
        """All appends that became part of this log above its append n `after`, those that a marker
        brought right after it. Their own numbers may be lower."""
        for rows in self.arrivals(after):
            yield rows
            if isinstance(rows[0].fact, ReplicasImported) and rows[0].replica == self.replica:
                yield from self.brought(rows[0].n)

    def brought(self, n: int) -> list[list[RecordedEvent]]:
        """The appends of other machines that this one learnt of by its own append n of a shared
        log, in canonical order; none that say something of the log alone."""
        seen = self._look()
        if not 0 < seen.main.shared_n < n:
            return []
        known = self._horizons(seen).brought(self.replica, n)
        found: list[list[RecordedEvent]] = []
        for name, (above, last) in known.items():
            theirs = takewhile(partial(_is_until, last), self.appends_of(name, above))
            found += [read_append(rows) for rows in theirs if tells(rows)]
        return sorted(found, key=lambda rows: (rows[0].n, rows[0].replica))

    def known_to(self, replica: str, n: int) -> Mapping[str, int]:
        """What a replica of a shared log knew of each right after its append n."""
        return self._until(n + 1, self._look(), replica) or {}

    def learnt(self, replica: str, of: str, n: int) -> int:
        """The append by which a replica of a shared log learnt of append n of another; 0: none."""
        return self._horizons(self._look(), of_other=True).learnt(replica, of, n)

    def _horizons(self, seen: LogPosition, *, of_other: bool = False) -> VersionVectors:
        order = self.recorder.order() if of_other else None
        replicas = order.writers() if order else (self.replica, *seen.main.replicas)
        version = seen.main.version
        return self._others.horizons(self._read, replicas, version, of_other=of_other)

    def _main_now(self) -> MainFacts:
        """``log:main`` of this replica, read on from where it was known."""
        version, rules, replicas, shared_n, let_go, marked_n = self._seen.main
        for recorded in self._read(f"log:{MAIN}@{self.replica}", version):
            version = recorded.version
            match recorded.fact:
                case EpochBegan(rules=began):
                    rules = began
                case ReplicasImported(replicas=brought):
                    replicas = tuple(sorted({*replicas, *(one.replica for one in brought)}))
                    marked_n = recorded.n
                case LogShared():
                    shared_n = recorded.n
            if isinstance(recorded.fact, ReplicasImported | ErasureMade):
                let_go = version
                self._states.clear()
                self._left_out.clear()
        return MainFacts(version, rules, replicas, shared_n, let_go, marked_n)

    def _left_out_of(
        self, row: RecordedEvent, seen: LogPosition
    ) -> frozenset[tuple[int, str, int]]:
        """The rows of an entity that do not count. What is written on changes nothing of it."""
        if row.of_kind in ALONE:
            return frozenset()
        name = row.stream.rpartition("@")[0]
        if name not in self._left_out:
            if len(self._left_out) >= LEFT_OUT_MAX:
                self._left_out.clear()
            world = self._world(seen)
            found = set(map(canonical_position, world.history(row.of_kind, row.entity)))
            counted = map(canonical_position, world.standing(row.of_kind, row.entity))
            self._left_out[name] = frozenset(found.difference(counted))
        return self._left_out[name]

    def erasures(self) -> Listed:
        """All that erasures list, whoever reads."""
        rows = (row for stream in sorted(self.streams_of("log")) for row in self.facts(stream))
        return listed_of(rows, self.payload)

    def payload_or_refuse(self, payload_id: PayloadId) -> bytes | None:
        """The bytes of a payload, or None; of one that was dropped and renders again, those of
        `anew`. Raises Refused: code ``erased`` or ``dropped``."""
        if (data := self.recorder.payload(payload_id)) is not None:
            return data
        listed = self.erasures()
        if payload_id in listed.payloads:
            because = "a text that this needs was erased"
            raise Refused("erased", because=because, instead="a backup of before still has it")
        return self.anew(payload_id) if any(listed.retained.values()) else None

    def heads(self) -> Mapping[str, Tail]:
        """The newest append of each replica in the file, by name; reads all of a log that is not
        shared."""
        with self.recorder.reading():
            return self._last_of_each()

    def telling_heads(self) -> Mapping[str, Tail]:
        """The same of appends that say more than the log of itself."""
        with self.recorder.reading():
            return self._last_of_each(is_telling=True)

    def appends_of(self, replica: str, after: int) -> Iterator[Sequence[Row]]:
        """A replica's appends above n `after` as they are stored, in the order of its chain; of a
        shared log no row of another replica is read."""
        if order := self.recorder.order():
            return by_append(order.rows_of(replica, after))
        return (one for one in by_append(self.recorder.rows(after)) if writer_of(one) == replica)

    def _last_of_each(self, *, is_telling: bool = False) -> dict[str, Tail]:
        last: dict[str, Sequence[Row]] = {}
        if order := self.recorder.order():
            last = {one: order.last(one, is_telling=is_telling) for one in order.writers()}
        else:
            for rows in by_append(self.recorder.rows(0)):
                if not is_telling or tells(rows):
                    last[writer_of(rows)] = rows
        return {name: tail_of(rows) for name, rows in sorted(last.items()) if rows}

    def writers(self) -> tuple[str, ...]:
        """All replicas whose rows are in the file; reads all of it."""
        return tuple(self._last_of_each())

    def _replicas(self, seen: LogPosition) -> tuple[str, ...]:
        """The other replicas whose rows belong to this one's world: those that its markers
        name, and, where another one wrote last, all that are in the file."""
        if seen.tail.n and seen.tail.replica != self.replica:
            return tuple(name for name in self._last_of_each() if name != self.replica)
        return seen.main.replicas

    def _receipt(self, key: str, seen: LogPosition) -> RecordedEvent | None:
        names = (self.replica, *self._replicas(seen))  # this one's first
        found = [row for one in names for row in self._read(f"receipt:{key}@{one}", 0)]
        if len(found) > 1 and seen.main.is_shared:
            from domain.replication.merge import standing_receipt

            return standing_receipt(found)
        return found[0] if found else None

    def _sift(self, seen: LogPosition, read: ReadStream) -> RowFilter | None:
        """What tells which rows of an entity count, where several machines share the log."""
        if not seen.main.is_shared:
            return None
        is_kept = read == self._read  # until something comes in
        if is_kept and self._sifted and self._sifted[0] is seen.main:
            return self._sifted[1]
        names = (self.replica, *self._replicas(seen))

        def doubled(appends: Collection[tuple[int, str]]) -> list[RecordedEvent]:
            firsts = (self.append_at(*one)[0].stream for one in sorted(appends))
            keys = sorted({entity_of(one) for one in firsts if one.startswith("receipt:")})
            there = self.recorder.present([f"receipt:{key}@{one}" for key in keys for one in names])
            count = Counter(map(entity_of, there))
            return [row for one in there if count[entity_of(one)] > 1 for row in read(one, 0)]

        made = sift(self._horizons(seen), doubled)
        if is_kept:
            self._sifted = (seen.main, made)
        return made


def read_append(rows: Sequence[Row]) -> list[RecordedEvent]:
    decoded = [envelope.read(row) for row in rows]
    at = decoded[0].at
    return [envelope.recorded(row, at, one) for row, one in zip(rows, decoded, strict=True)]


def _is_until(last: int, rows: Sequence[Row]) -> bool:
    return numbered(rows[0].state).n <= last


def tells(rows: Sequence[Row]) -> bool:
    """Whether an append says more than the log of itself: markers are not answered by markers."""
    return not rows[0].stream.startswith("log:")


def writer_of(rows: Sequence[Row]) -> str:
    return rows[0].stream.rpartition("@")[2]

"""What a handler may know: the log just before its append, one value per stream (DESIGN 4).

A `StreamType` says how the streams of one kind fold. A `LogState` folds a stream once per cause and
reads it through whoever holds the rows: a store inside its write transaction, or prove."""

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from functools import reduce
from heapq import merge
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

from msgspec import Struct

from domain.errors import Damaged, Refused
from domain.log.wire import Erased, Payload, PayloadId, Stored, Words

S = TypeVar("S")

MAIN = "main"
"""The entity of a kind of which a log has one: its catalog, timer, watch and own facts."""

ROWS_FIRST = 64  # of a stream's end, where only what is new is wanted


def entity_of(stream: str) -> str:
    """The id of a stream without kind and replica."""
    return stream.partition(":")[2].rpartition("@")[0]


class RecordedEvent(Struct, frozen=True):
    """A fact with what its row knows: `row` counts within append `n` of `replica`, from 0."""

    stream: str
    version: int
    replica: str
    n: int
    row: int
    at: str
    fact: Stored

    @property
    def entity(self) -> str:
        """The id of the stream without kind and replica."""
        return entity_of(self.stream)

    @property
    def of_kind(self) -> str:
        """The kind of the stream, ``"task"`` for example."""
        return self.stream.partition(":")[0]


class StreamType(Struct, Generic[S], frozen=True):
    """How the streams of one kind fold.

    `is_merged`: every replica's stream of the entity is folded, in canonical order; else each
    replica's stream is an entity of its own. `gone`: the state where the row with that tag was
    erased; of any other row that was, nothing is known."""

    name: str
    initial: Callable[[str], S]
    step: Callable[[S, RecordedEvent], S]
    is_merged: bool = True
    gone: tuple[str, Callable[[S], S]] | None = None

    def evolve(self, state: S, row: RecordedEvent) -> S:
        """The state after one more row; what was erased is passed over, here alone."""
        if type(row.fact) is not Erased:
            return self.step(state, row)
        return self.gone[1](state) if self.gone and self.gone[0] == row.fact.was else state


class CachedState(Struct, frozen=True):
    """A cached state, and up to which version of its one stream it was folded; `lacks`: rows of
    it were erased."""

    version: int
    state: object
    lacks: bool = False


ReadStream = Callable[[str, int], Sequence[RecordedEvent]]
"""``read(stream, after_version)``: the later rows of one stream, in order."""

StreamsPresent = Callable[[Sequence[str]], Iterable[str]]
"""``present(streams)``: those of them that have rows."""


StreamsOfType = Callable[[str], Iterable[str]]
"""``streams(kind)``: all streams of a kind, perhaps of some that have no rows yet."""


class RowFilter(Protocol):
    """What `domain.replication.merge` says of all rows of an entity, in canonical order."""

    def counted(self, rows: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
        """Those that count."""

    def standing(self, rows: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
        """Those of them that count where they stand, in the order of `rows`."""

    def disputes(self, rows: Sequence[RecordedEvent]) -> Sequence[Any]:
        """What is open among them, each a `domain.replication.merge.ReplicaConflict`."""


KnownAppends = Callable[[str, int], Mapping[str, int]]
"""``known(replica, n)``: up to which append a replica knew each one right after its append n."""


class PartialReads(NamedTuple):
    """How part of a long stream is read: `last_version(stream)` is how many rows it has,
    `read_but(stream, after_version, tags)` the later ones, but for those with these tags."""

    last_version: Callable[[str], int]
    read_but: Callable[[str, int, Sequence[str]], Sequence[RecordedEvent]]


def joined(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """What is known to whoever knows both: of each replica the greatest `n`."""
    names = sorted({*one, *other})
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in names}


class LogState:
    """The log just before append `n` of `replica`."""

    def __init__(  # noqa: PLR0913  a place in a log, and how its rows and payloads are read
        self,
        log: str,
        replica: str,
        n: int,
        read: ReadStream,
        payload: Callable[[PayloadId], bytes | None],
        *,
        replicas: Iterable[str] = (),
        cache: MutableMapping[str, CachedState] | None = None,
        present: StreamsPresent | None = None,
        parts: PartialReads | None = None,
        counts: Mapping[str, int] | None = None,
        streams: StreamsOfType | None = None,
        sift: RowFilter | None = None,
        known: KnownAppends | None = None,
    ) -> None:
        self.log = log
        self.replica = replica
        self.n = n
        self.lacks = False  # something that was read here stood where rows were erased
        self._read_rows = read
        self._payload = payload
        self.replicas = tuple(sorted({replica, *replicas}))  # whose rows are read
        self.is_merged = len(self.replicas) > 1  # rows of other replicas are read, too
        self._cache: MutableMapping[str, CachedState] = {} if cache is None else cache
        self._loaded: dict[tuple[str, str], object] = {}
        self._versions: dict[str, int] = {}  # of the streams that were folded here
        self._brought: dict[PayloadId, bytes] = {}
        self._present = present
        self._parts = parts
        self._counts = counts
        self._streams = streams
        self._sift = sift  # of a log that replicas share; so is what comes next
        self._known = known
        self._absent: set[str] = set()  # streams that are known to have no rows

    @property
    def is_shared(self) -> bool:
        """Whether several machines share the log."""
        return self._sift is not None

    def _read(self, stream: str, after: int) -> Sequence[RecordedEvent]:
        rows = self._read_rows(stream, after)
        if not self.lacks:
            self.lacks = any(type(row.fact) is Erased for row in rows)
        return rows

    def stream(self, kind: str, entity: str) -> str:
        """The stream that this replica writes for an entity."""
        return f"{kind}:{entity}@{self.replica}"

    def load(self, kind: StreamType[S], entity: str) -> S:
        """The state of an entity before this append; its initial state if there is none."""
        name = (kind.name, entity)
        if name not in self._loaded:
            self._loaded[name] = self._fold(kind, entity)
        return self._loaded[name]  # type: ignore[return-value]  # keyed by the kind's name

    def load_of(self, kind: StreamType[S], entity: str, replica: str) -> S:
        """What the rows of one replica alone make of an entity; nothing of it is kept."""
        if replica == self.replica and not (kind.is_merged and self.is_merged):
            return self.load(kind, entity)
        state = kind.initial(entity)
        for recorded in self._read(f"{kind.name}:{entity}@{replica}", 0):
            state = kind.evolve(state, recorded)
        return state

    def load_all(self, kind: StreamType[S], entity: str) -> Sequence[S]:
        """Of a kind that each replica has for itself: every replica's state of an entity, the one
        that was written last at the end; in a log that is alone, this replica's."""
        if not self.is_shared:
            return (self.load(kind, entity),)
        every = (self._read(f"{kind.name}:{entity}@{name}", 0) for name in self.replicas)
        ends = [rows[-1] for rows in every if rows]
        return [
            self.load_of(kind, entity, one.replica) for one in sorted(ends, key=_canonical_position)
        ]

    def load_each(self, kind: StreamType[S], entities: Iterable[str]) -> tuple[S, ...]:
        """What `load` gives for each of many entities, most of which are known already."""
        counts, cache = self._counts, self._cache
        if counts is None or (kind.is_merged and self.is_merged):
            return tuple([self.load(kind, entity) for entity in entities])
        begin, end = f"{kind.name}:", f"@{self.replica}"
        states: list[S] = []
        for entity in entities:
            stream = f"{begin}{entity}{end}"
            known = cache.get(stream)
            if known is not None and counts.get(stream, 0) <= known.version:
                self.lacks |= known.lacks
                states.append(known.state)  # type: ignore[arg-type]  # same stream
            else:
                states.append(self.load(kind, entity))
        return tuple(states)

    def load_but(self, kind: StreamType[S], entity: str, tags: Sequence[str]) -> S:
        """What `load` gives, but perhaps for what rows with some tags tell: of a stream that was
        not folded yet, these are not even read."""
        stream = self.stream(kind.name, entity)
        is_known = stream in self._cache or (kind.name, entity) in self._loaded
        if self._parts is None or self.is_merged or is_known:
            return self.load(kind, entity)
        name = f"{stream} but {' '.join(tags)}"
        known = self._cache.get(name) or CachedState(0, kind.initial(entity))
        last, state = self._parts.last_version(stream), cast("S", known.state)
        if known.version < last:
            for row in self._parts.read_but(stream, known.version, tags):
                state = kind.evolve(state, row)
            self._cache[name] = CachedState(last, state)
        return state

    def newest(self, kind: str, entity: str) -> RecordedEvent | None:
        """The newest row of this replica's stream of an entity, if it can be read by itself and
        the stream was not folded yet."""
        stream = self.stream(kind, entity)
        if self._parts is None or stream in self._cache or (kind, entity) in self._loaded:
            return None
        rows = self._read(stream, max(self._parts.last_version(stream) - 1, 0))
        return rows[-1] if rows else None

    def expect(self, kind: StreamType[S], entities: Iterable[str]) -> None:
        """Tell that these entities will be loaded. Where most of them are new, one look into the
        log takes the place of one for each; what they load as is the same."""
        if self._present is None or self.is_merged:
            return
        streams = [self.stream(kind.name, entity) for entity in entities]
        self._absent.update(streams)
        self._absent.difference_update(self._present(streams))

    def recorded(
        self, kind: str, entity: str, after_n: int = 0, seen: Mapping[str, int] | None = None
    ) -> Sequence[RecordedEvent]:
        """The rows of this replica's stream of an entity in appends above `after_n`, in order;
        of a long stream only its end is read, as far back as needed. Of a shared log: the rows of
        all replicas, in canonical order, that are new to who knew what this one did at its append
        `after_n`, or, if it is given, to who had `seen` each replica up to some append."""
        if self._known is not None and self.is_merged:
            given = seen if seen is not None else {self.replica: after_n}
            reached = [self._known(*one) for one in given.items() if one[1]]
            known = reduce(joined, reached, dict(given))
            rows = self.history(kind, entity)
            return [row for row in rows if row.n > known.get(row.replica, 0)]
        stream = self.stream(kind, entity)
        count = ROWS_FIRST if after_n else 0
        last = self.version(stream) if count else 0
        while count < last:  # bounded: grows to the whole stream
            rows = self._read(stream, last - count)
            if not rows or rows[0].n <= after_n:
                return [row for row in rows if row.n > after_n]
            count *= 8
        return [row for row in self._read(stream, 0) if row.n > after_n]

    def history(self, kind: str, entity: str) -> Sequence[RecordedEvent]:
        """All rows of an entity whose streams are merged, in canonical order, those that do not
        count with them."""
        streams = [self._read(f"{kind}:{entity}@{name}", 0) for name in self.replicas]
        return list(merge(*streams, key=_canonical_position))

    def standing(self, kind: str, entity: str) -> Sequence[RecordedEvent]:
        """Those of `history` that count where they stand: one after another, they make the same
        of a document as all that count."""
        rows = self.history(kind, entity)
        return self._sift.standing(rows) if self._sift else rows

    def rows(self, kind: StreamType[S], entity: str) -> Sequence[RecordedEvent]:
        """All rows that `load` folds, in its order."""
        if not (kind.is_merged and self.is_merged):
            return self._read(self.stream(kind.name, entity), 0)
        rows = self.history(kind.name, entity)
        return self._sift.counted(rows) if self._sift else rows

    def disputes(self, kind: StreamType[S], entity: str) -> Sequence[Any]:
        """What several replicas said of an entity without knowing of each other, and nobody has
        settled, each a `domain.replication.merge.ReplicaConflict`."""
        if self._sift is None or not (kind.is_merged and self.is_merged):
            return ()
        return self._sift.disputes(self.history(kind.name, entity))

    def entities(self, kind: str) -> tuple[str, ...]:
        """The ids of a kind, sorted; some may load as their initial state. Raises Damaged, code
        ``not_a_log``: whoever holds the rows cannot tell."""
        if self._streams is None:
            because = f"the streams of {self.log} cannot be listed here"
            instead = "report it: this is a fault of wakelog"
            raise Damaged("not_a_log", because=because, instead=instead)
        return tuple(sorted(set(map(entity_of, self._streams(kind)))))

    def bring(self, payloads: Iterable[Payload]) -> None:
        """Make payloads that come with the cause readable."""
        self._brought.update((kept.id, kept.data) for kept in payloads)

    def payload(self, payload_id: PayloadId) -> bytes:
        """The bytes of a payload. Raises Damaged, code ``unknown_payload``: the log does not hold
        it. Raises Refused, code ``erased``: it did."""
        data = self._brought.get(payload_id)
        try:
            data = self._payload(payload_id) if data is None else data
        except Refused:
            self.lacks = True
            raise
        if data is None:
            because = f"the log names the payload {payload_id}, which is not in its table"
            instead = "restore the file from a backup"
            raise Damaged("unknown_payload", because=because, instead=instead)
        return data

    def text(self, words: Words) -> str:
        """A text, wherever it is kept."""
        return self.payload(words.payload).decode() if words.payload else words.text

    def _fold(self, kind: StreamType[S], entity: str) -> S:
        stream = self.stream(kind.name, entity)
        known = self._cache.get(stream)
        if kind.is_merged and self.is_merged and (self._sift is None or known is None):
            return self._merged(kind, entity, stream)
        if known is None:
            version, state, lacks = 0, kind.initial(entity), False
        else:
            version, lacks = known.version, known.lacks
            state = known.state  # type: ignore[assignment]  # same stream
        rows = () if self._is_all(stream, version) else self._read(stream, version)
        for recorded in rows:
            state = kind.evolve(state, recorded)
            version = recorded.version
            lacks |= type(recorded.fact) is Erased
        self.lacks |= lacks
        self._versions[stream] = version
        if rows:  # of a stream that is not there, there is nothing to keep
            self._cache[stream] = CachedState(version, state, lacks)
        return state

    def _merged(self, kind: StreamType[S], entity: str, stream: str) -> S:
        """The state that the rows of all replicas make. Where they are sifted, whoever writes next
        knows them all, so that own rows alone go on from it, until rows of others come in."""
        rows = self.history(kind.name, entity)
        state = kind.initial(entity)
        for recorded in self._sift.counted(rows) if self._sift else rows:
            state = kind.evolve(state, recorded)
        if self._sift and rows:
            own = [row.version for row in rows if row.replica == self.replica]
            self._versions[stream] = version = max(own, default=0)
            lacks = any(type(row.fact) is Erased for row in rows)
            self._cache[stream] = CachedState(version, state, lacks)
        return state

    def _is_all(self, stream: str, version: int) -> bool:
        """Whether a stream is known to have no more rows."""
        counts = self._counts
        return stream in self._absent if counts is None else counts.get(stream, 0) <= version

    def version(self, stream: str) -> int:
        """How many rows this replica's stream has."""
        if stream in self._versions:
            return self._versions[stream]
        known = self._cache.get(stream)
        if known is None and self._parts is not None:
            return self._parts.last_version(stream)
        if self._counts is not None:  # of a stream of many rows, markers for example, none is read
            return self._counts.get(stream, 0)
        after = known.version if known else 0
        rows = () if self._is_all(stream, after) else self._read(stream, after)
        return rows[-1].version if rows else after


def _canonical_position(row: RecordedEvent) -> tuple[int, str, int]:
    return row.n, row.replica, row.row

"""What a later cause of a log can still read, and no more: so a walk's memory is bounded.

Streams are folded as their rows come. The newest used states stay, one number stays for each
stream, and of a task that an agent minds the rows since that agent last looked. What else is
asked for is read again from where the rows came from, up to where the walk stands. Without such
a source every row is kept: for histories, which are small."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from domain.append.causes import FAILURES, Receipt, ReplicasImported
from domain.append.envelope import STREAM_TYPES
from domain.errors import WakelogError
from domain.log.keys import command_key
from domain.log.state import (
    MAIN,
    ROWS_FIRST,
    CachedState,
    LogState,
    ReadStream,
    RecordedEvent,
    StreamType,
)
from domain.log.wire import Erased, PayloadId, Stored
from replay.causal_views import CausalViews, ReplicaStates

STATES_MAX = 16_384  # four thousand agents that take turns, and what each of them reads
PAYLOADS_MAX = 65_536
WAKES_MAX = 8_192


def error_text(error: Exception) -> str:
    """What one of these says; of those that are not ours its name, too."""
    return str(error) if isinstance(error, WakelogError) else f"{type(error).__name__}: {error}"


class WalkLimits(Struct, frozen=True):
    """How much a walk remembers; with less it reads more once more, and finds the same. `states`:
    folded states, where a stream can be read again; `payloads`: which were checked; `wakes`: the
    newest, of which it is known what led to them, and for which task."""

    states: int = STATES_MAX
    payloads: int = PAYLOADS_MAX
    wakes: int = WAKES_MAX


LIMITS = WalkLimits()


class NoState(Struct, frozen=True):
    """The state of streams that no handler folds."""

    id: str


_PLAIN: StreamType[NoState] = StreamType("", NoState, lambda state, _: state)

ReadPayload = Callable[[PayloadId], bytes | None]
PayloadsNamed = Callable[[str], Iterable[str]]


class Unfolded(NamedTuple):
    """A row that today's code cannot fold, and what it says of it. The stream stays as it was."""

    row: RecordedEvent
    error: Exception


class Hole(Stored, frozen=True, tag="hole"):
    """Stands in a stream for a row that is gone, so that what follows is counted as it was."""


class StreamVersions(dict[str, int]):
    """How many rows each stream has so far. Where a walk goes on from an append, those of before
    are counted when somebody asks."""

    before: Callable[[str], int] | None = None

    def get(self, stream: str, default: int = 0) -> int:  # type: ignore[override]  # int
        """How many rows a stream has; `default` where the walk has not come to it."""
        if stream not in self and self.before is not None:
            self[stream] = self.before(stream)
        return super().get(stream, default)


class Streams(ReplicaStates):
    """The streams of one log as the walk has come to them; also the cache of its worlds."""

    def __init__(
        self, log: str, payload: ReadPayload, again: ReadStream | None = None,
        limits: WalkLimits = LIMITS,
    ) -> None:  # fmt: skip
        super().__init__(None if again is None else limits.states)
        self.log, self._payload, self._again = log, payload, again
        self.n = 0  # of the last append that was taken
        self._rows: defaultdict[str, list[RecordedEvent]] = defaultdict(list)
        self._versions = StreamVersions()
        self._named: PayloadsNamed | None = None
        self._replicas: defaultdict[str, set[str]] = defaultdict(set)
        self._writers: set[str] = set()
        self._minded: dict[str, int] = {}  # stream of a task to the n since which rows are kept
        self._lacking: set[str] = set()  # streams of which rows were erased, as far as was walked
        self.viewers = CausalViews(self._limit)

    def resume(
        self, last: Mapping[str, int], again: ReadStream, named: PayloadsNamed
    ) -> list[RecordedEvent]:
        """Go on right after the `last` append of each replica of a log that was walked before; told
        is what they wrote of their own log. `again` reads a stream's rows above a version, `named`
        gives the names of all streams of a kind."""

        def before(stream: str) -> int:
            n = last.get(stream.rpartition("@")[2], 0)
            return max((row.version for row in again(stream, 0) if row.n <= n), default=0)

        self.n, self._named = max(last.values(), default=0), named
        self._versions.before = before
        self._writers.update(last)
        own = [row for name in last for row in self.read(f"log:{MAIN}@{name}", 0)]
        own.sort(key=lambda row: (row.n, row.replica, row.row))  # markers after what they name
        self._bring(own)
        return own

    def repeat(self, operations: Iterable[str]) -> None:
        """Learn of operations that several applied, as far as the walk has come."""
        for one in operations:
            self.viewers.again(one, self._writers, self._under)

    def kept(self, operation: str) -> list[RecordedEvent]:
        """What all replicas keep under an operation's id, as far as the walk has come."""
        found = (row for one in self._writers for row in self._under(operation, one))
        return sorted(found, key=lambda row: (row.n, row.replica))

    def _bring(self, rows: Iterable[RecordedEvent]) -> None:
        for row in rows:
            self.viewers.take(row, self._writers, self._under)
            if isinstance(row.fact, ReplicasImported):
                self._replicas[row.replica].update(one.replica for one in row.fact.replicas)

    def _under(self, operation: str, replica: str) -> Sequence[RecordedEvent]:
        """What a replica keeps under an operation's id."""
        return self.read(f"receipt:{operation}@{replica}", 0)

    def world(
        self, replica: str, n: int, missed: list[PayloadId], *, seen: int | None = None
    ) -> LogState:
        """The log just before a replica's append n; `missed` gets the payloads that were not there.
        `seen`: whoever reads the rows of a task looks at none up to this `n`."""

        def payload(wanted: PayloadId) -> bytes | None:
            data = self._payload(wanted)
            if data is None:
                missed.append(wanted)
            return data

        def tail(stream: str, after: int) -> Sequence[RecordedEvent]:
            is_kept = seen is not None and self._minded.get(stream, seen + 1) <= seen
            if is_kept and stream in self:
                return [row for row in self._rows.get(stream, ()) if row.version > after]
            return self.read(stream, after)

        if replica in self.viewers.since:
            return self._viewed(replica, n, payload)
        # who has written nothing here yet, in a restored backup, reads all that is there
        others = self._replicas[replica] if replica in self._writers else self._writers
        is_merged = bool(others - {replica})  # then streams are folded from their beginning
        read = self.read if seen is None or is_merged else tail
        return LogState(
            self.log, replica, n, read, payload, replicas=others, cache=self, counts=self._versions,
            streams=self.of_kind,
        )  # fmt: skip

    def _viewed(self, replica: str, n: int, payload: ReadPayload) -> LogState:
        """What a replica knew of a shared log just before its append n."""
        until = self.viewers.horizons.until(replica, n)

        def known(stream: str, after: int) -> Sequence[RecordedEvent]:
            rows, last = self.read(stream, after), until.get(stream.rpartition("@")[2], 0)
            return rows if rows and rows[-1].n <= last else [row for row in rows if row.n <= last]

        return LogState(
            self.log, replica, n, known, payload, replicas=until,
            cache=self.viewers.states(replica), counts=self._versions, streams=self.of_kind,
            sift=self.viewers.sift(until),
            known=lambda name, after: self.viewers.horizons.until(name, after + 1),
        )  # fmt: skip

    def of_kind(self, kind: str) -> Iterator[str]:
        """The names of the streams of a kind that the walk has come to."""
        came = (one for one in self._versions if one.startswith(f"{kind}:"))
        return chain(came, self._named(kind)) if self._named else came

    def lacks(self, stream: str = "") -> bool:
        """Whether rows of a stream, or of any, were erased, as far as the walk has come."""
        return stream in self._lacking if stream else bool(self._lacking)

    def read(self, stream: str, after: int) -> Sequence[RecordedEvent]:
        """The rows of a stream above a version, as far as the walk has come."""
        last = self._versions.get(stream, 0)
        if after >= last:
            return ()
        if self._again is None:
            rows = self._rows[stream]
            return rows[bisect_right(rows, after, key=lambda row: row.version) :]
        return [row for row in self._again(stream, after) if row.version <= last]

    def newest(self, stream: str, n: int) -> RecordedEvent | None:
        """The newest row of a stream in appends up to n; of a long one only the end is read."""
        last, count = self._versions.get(stream, 0), ROWS_FIRST
        while last > 0:  # bounded: it grows to the whole stream
            found = [row for row in self.read(stream, max(last - count, 0)) if row.n <= n]
            if found or count >= last:
                return found[-1] if found else None
            count *= 8
        return None

    def take(self, facts: Sequence[RecordedEvent]) -> list[Unfolded]:
        """Remember the rows of one more append; told are those that do not fold."""
        found: list[Unfolded] = []
        if facts:
            self.n = facts[0].n
            self._writers.add(facts[0].replica)
        for row in facts:
            if isinstance(row.fact, Receipt) and self._is_derived(row):
                continue
            try:
                self._fold(row)
            except FAILURES as error:
                found.append(Unfolded(row, error))
            self._count(row)
        self._bring(facts)
        return found

    def fill(self, facts: Sequence[RecordedEvent]) -> None:
        """Count rows of a stream that are known to be gone."""
        seen: set[str] = set()
        for row in facts:
            last = self._versions.get(row.stream, 0)
            is_first, seen = row.stream not in seen, seen | {row.stream}
            if not is_first or row.version <= last + 1 or row.of_kind == "receipt":
                continue
            state = self._state(row.stream, STREAM_TYPES.get(row.of_kind, _PLAIN), row.entity)
            self._versions[row.stream] = row.version - 1
            self[row.stream] = CachedState(row.version - 1, state, self.lacks(row.stream))
            if self._again is None:
                self._rows[row.stream].append(replace(row, version=row.version - 1, fact=Hole()))

    def mind(self, task: str, replica: str) -> None:
        """Keep the rows of a task from here on: an agent will ask what changed."""
        self._minded.setdefault(f"task:{task}@{replica}", self.n)

    def looked(self, task: str, replica: str, n: int) -> None:
        """The agent of a task has seen its rows up to append n."""
        stream = f"task:{task}@{replica}"
        if self._again is None or stream not in self._minded:
            return
        self._minded[stream] = max(n, self._minded[stream])
        self._rows[stream] = [row for row in self._rows[stream] if row.n > n]

    def _is_derived(self, row: RecordedEvent) -> bool:
        """Whether a receipt's key is the append's own: no other append can ask for it."""
        return row.entity == command_key(self.log, row.replica, row.n)

    def _fold(self, row: RecordedEvent) -> None:
        """One more row onto what its stream has come to, of a shared log onto what its writer
        knew."""
        stream, name = row.stream, row.stream.partition(":")[0]
        if name == "receipt":
            return
        kind: StreamType[Any] = STREAM_TYPES.get(name, _PLAIN)
        is_viewed = row.replica in self.viewers.since and kind.is_merged
        states = self.viewers.states(row.replica) if is_viewed else self
        known = states.get(stream)
        if known is not None and known.version >= self._versions.get(stream, 0):
            state = known.state
        elif not is_viewed:
            state = self._state(stream, kind, row.entity)
        else:
            try:
                state = self.world(row.replica, row.n, []).load(kind, row.entity)
            except FAILURES:  # a row before it does not fold, and was told of when it came
                return
        lacks = type(row.fact) is Erased or (known is not None and known.lacks)
        try:
            state = kind.evolve(state, row)
        finally:  # where a row does not fold, its stream stays as it was
            states[stream] = CachedState(row.version, state, lacks or self.lacks(stream))
            if lacks:
                self._lacking.add(stream)

    def _count(self, row: RecordedEvent) -> None:
        if self._again is None or row.stream in self._minded:
            self._rows[row.stream].append(row)
        self._versions[row.stream] = row.version

    def _state(self, stream: str, kind: StreamType[Any], entity: str) -> object:
        """What a stream has come to; of one at rest all rows are read again."""
        known = self.get(stream)
        state = kind.initial(entity) if known is None else known.state
        for row in self.read(stream, known.version if known else 0):
            if type(row.fact) is Erased:
                self._lacking.add(stream)
            with suppress(*FAILURES):  # it was told of when it came
                state = kind.evolve(state, row)
        return state

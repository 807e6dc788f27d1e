"""Of a log that several replicas share: what each of them saw as the walk comes by (ADR 70).

The walk goes in canonical order, so whatever a replica knew when it wrote an append has come by
then, and more: a world ends where its replica's markers say, not where the walk stands."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from domain.append.causes import LogShared, Receipt, ReplicasImported
from domain.journal.commands import ApplyOperation
from domain.log.state import CachedState, RecordedEvent, RowFilter
from domain.replication.merge import MergeFilter
from domain.replication.version_vectors import VersionVectors
from replay.divergence import ALTERED, RowDifference

CanonicalPlace = tuple[int, str]
"""The `n` and the replica of an append: canonical order."""

ReadKept = Callable[[str, str], Sequence[RecordedEvent]]
"""``kept(key, replica)``: what a replica keeps under an idempotency key, as far as it came by."""


class ReplicaStates(OrderedDict[str, CachedState]):
    """What one replica's entities had come to; the newest used ones, where there is a limit."""

    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, stream: str, folded: CachedState) -> None:
        super().__setitem__(stream, folded)
        self.move_to_end(stream)
        if self._limit is not None and len(self) > self._limit:
            self.popitem(last=False)


class CausalViews:
    """The replicas that share a log."""

    def __init__(self, limit: int | None) -> None:
        self.horizons = VersionVectors()
        self.since: dict[str, int] = {}  # replica -> the append from which on it shares the log
        self._limit = limit
        self._states: dict[str, ReplicaStates] = {}
        self._applied = dict[str, list[CanonicalPlace]]()  # operations that several applied

    def take(self, row: RecordedEvent, writers: Iterable[str], kept: ReadKept) -> None:
        """One more row."""
        match row.fact:
            case LogShared():
                self.since.setdefault(row.replica, row.n)
                self._states[row.replica] = ReplicaStates(self._limit)
            case ReplicasImported() as marker:
                self.horizons.took(row.replica, row.n, marker)
                if row.replica in self._states:
                    self._states[row.replica].clear()
            case Receipt(command=ApplyOperation(operation=operation)) if self.since:
                self.again(operation, writers, kept)

    def missed(
        self, facts: Sequence[RecordedEvent], last: Mapping[str, int]
    ) -> Iterator[RowDifference]:
        """Ends of others that a marker names and the walk, which was `last` there, has not met:
        they were cut off, or the marker was forged."""
        for row in facts if self.since else ():
            is_shared = row.n > self.since.get(row.replica, row.n)
            named = row.fact.replicas if isinstance(row.fact, ReplicasImported) else ()
            for name, n in [(one.replica, one.n) for one in named if is_shared]:
                if (ended := last.get(name, 0)) < n:
                    expected = f"append {n} of {name}"
                    yield RowDifference(row.row, ALTERED, "tail", expected, f"it ends at {ended}")

    @property
    def repeated(self) -> tuple[str, ...]:
        """The operations that several applied."""
        return tuple(self._applied)

    def again(self, operation: str, writers: Iterable[str], kept: ReadKept) -> None:
        """Learn whether an operation was applied by several."""
        found = [row for one in sorted(writers) for row in kept(operation, one)]
        receipts = [(row, row.fact.result) for row in found if isinstance(row.fact, Receipt)]
        places = sorted((row.n, row.replica) for row, did in receipts if did.status == "applied")
        if len(places) > 1:
            self._applied[operation] = places

    def states(self, replica: str) -> ReplicaStates:
        """What a replica's entities had come to."""
        return self._states[replica]

    def sift(self, until: Mapping[str, int]) -> RowFilter:
        """What tells which rows count to whoever knows each replica up to an append."""

        def repeats(_: Sequence[RecordedEvent]) -> set[tuple[str, int]]:
            again: set[tuple[str, int]] = set()
            for places in self._applied.values():
                known = [(name, n) for n, name in places if n <= until.get(name, 0)]
                again.update(known[1:])
            return again

        return MergeFilter(self.horizons.knows, repeats)

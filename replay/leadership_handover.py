"""What a machine that took the lead says of those that led before, read in their rows (ADR 76).

Where it takes the journal it leaves out what they had taken (`TakeJournal.covered`), and it goes on
with the wakes that waited there (`InheritWake.triggers`). Both are causes, so nothing that follows
from them tells whether they are so."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from domain.agent import wake_queue as a
from domain.agent.commands import InheritWake, TakeJournal
from domain.agent.subscriptions import WATCH, placed
from domain.append.causes import FAILURES
from domain.append.notification_batch import is_covered
from domain.log.state import MAIN, RecordedEvent, joined
from domain.log.wire import Imported
from domain.replication.version_vectors import VersionVectors
from replay.appends import Append
from replay.divergence import RowDifference, changed
from replay.streams import Streams

WaitingTriggers = defaultdict[int, list[tuple[a.Trigger, ...]]]
"""The triggers of wakes, by the version of the row that told the last of them."""

MARKERS_MEANWHILE = 2  # a sync brings 20,000 rows with one
COVERED, TRIGGERS = "data.command.covered", "data.command.triggers"


class LeadershipHandover:
    """What was handed over, until the walk has come to what tells of it."""

    def __init__(self, agents: Streams, journal: VersionVectors) -> None:
        self._agents, self._journal = agents, journal
        self._inherited: defaultdict[str, list[tuple[Append, InheritWake]]] = defaultdict(list)
        self.undecided: list[tuple[str, int]] = []  # where the journal has not come so far

    def inherited(self, one: Append, cause: InheritWake) -> None:
        """A wake was taken over: it is compared at the end, when the journal has come to where its
        triggers stand."""
        stream = f"{a.WAKE_QUEUE.name}:{cause.agent}@{cause.of}"
        self._inherited[stream].append((one, cause))

    def taken(self, one: Append, cause: TakeJournal) -> Iterator[RowDifference]:
        """The journal was taken: compare what others had taken, as it was known right before the
        append, or before others' rows came in meanwhile."""
        if one.replica not in self._agents.viewers.since:
            return
        every = [self._taken(one.replica, known) for known in self._moments(one)]
        is_all = any(
            not any(is_covered(told, covered) for told in cause.batches) for covered in every
        )
        if (cause.covered in every) if cause.covered else is_all:
            return
        yield changed(COVERED, every[0], cause.covered)

    def _moments(self, one: Append) -> list[Mapping[str, int]]:
        """What its machine knew of the agents' log: right before the append, and before each of the
        last markers, which another process may have written while it looked at the journal."""
        horizons = self._agents.viewers.horizons
        markers = horizons.markers(one.replica, one.n)[-MARKERS_MEANWHILE:]
        return [horizons.until(one.replica, n) for n in (one.n, *reversed(markers))]

    def _taken(self, replica: str, known: Mapping[str, int]) -> tuple[Imported, ...]:
        """Up to which append of each machine's journal others than `replica` had taken it."""
        found: Mapping[str, int] = {}
        for name in known.keys() - {replica}:
            newest = self._agents.newest(f"{WATCH.name}:{MAIN}@{name}", known[name])
            if newest is not None and isinstance(newest.fact, a.JournalTaken):
                found = joined(found, self._journal.until(name, newest.fact.last + 1))
        return tuple(Imported(*each) for each in sorted(found.items()))

    def finish(self) -> Iterator[tuple[Append, RowDifference]]:
        """What differs in the wakes that were taken over."""
        for stream, found in self._inherited.items():
            rows = self._agents.read(stream, 0)
            waiting, at = _waiting_triggers(rows), {row.version: row for row in rows}
            for one, cause in found:
                row = at.get(cause.version)
                known = self._agents.viewers.horizons.until(one.replica, one.n)
                is_known = row is not None and row.n <= known.get(row.replica, 0)
                every = waiting[cause.version] if is_known else []
                yield from ((one, each) for each in self._inherits(one, cause, every))

    def _inherits(
        self, one: Append, cause: InheritWake, every: Iterable[tuple[a.Trigger, ...]]
    ) -> Iterator[RowDifference]:
        replica = one.replica

        def learnt(of: str, n: int) -> int:
            return self._journal.learnt(replica, of, n)

        there = [tuple(placed(told, replica, learnt) for told in each) for each in every]
        if cause.triggers in there:
            return
        if not all(told.position for each in there for told in each if told.of):
            self.undecided.append((replica, one.n))
            return
        yield changed(TRIGGERS, there[0] if there else (), cause.triggers)


def _waiting_triggers(rows: Iterable[RecordedEvent]) -> WaitingTriggers:
    """What waited on a machine for an agent, as its attention there tells."""
    found: defaultdict[int, list[tuple[a.Trigger, ...]]] = defaultdict(list)
    state, last = None, 0
    for row in rows:
        state = state or a.WAKE_QUEUE.initial(row.entity)
        if isinstance(row.fact, a.WakeDropped) and state.queued:
            found[last].append(state.queued.triggers)
        with suppress(*FAILURES):  # it was told of when it came
            state = a.WAKE_QUEUE.evolve(state, row)
        if isinstance(row.fact, a.WakeQueued | a.TriggerMerged) and state.queued:
            last = row.version
            found[last].append(state.queued.triggers)
    return found

"""Both logs as they stood at any moment, read for looking back (DESIGN 4, `Log.world_at`).

A `LogHistory` reads each stream of a log once and keeps the states that it has folded on the way,
so that a second moment costs only what lies between the two. It is for one command: what is written
after a stream was read is not seen."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from adapters.store.log import Log
from adapters.store.recorder import numbered
from domain.append.causes import ReplicasImported
from domain.append.envelope import Row
from domain.changes.change_set import set_id
from domain.errors import Refused, invalid
from domain.log.state import MAIN, CachedState, LogState, RecordedEvent
from domain.wake.wake import ToolReturned, WakeStarted
from replay import fork
from replay.references import asked_operations, last_named_position
from replay.world_at import LogMoment

if TYPE_CHECKING:
    from adapters.wiring import Home
    from projections.wakes import WakeDocument

STREAMS_MAX = 4_096  # whose rows a history keeps
APPENDS_BACK = 64  # that are looked through first
GAP_MAX = 1_000  # numbers that are looked at for an append
FOLDS_MAX = 64  # states of one stream that are kept to go on from

NAMES = {"journal": "journal", "agent": "agent log"}  # what a person calls a log

_n, _version = attrgetter("n"), attrgetter("version")


class Folds(dict[str, CachedState]):
    """Folded states for worlds that end at one append, shared by all of a history's worlds."""

    def __init__(self, history: "LogHistory", n: int) -> None:
        super().__init__()
        self._history = history
        self._n = n

    def get(  # type: ignore[override]  # of a cache, None is the only default
        self, stream: str, default: CachedState | None = None
    ) -> CachedState | None:
        """The newest state that is known and does not go beyond the world's end."""
        rows = self._history.rows_of(stream)
        last = bisect_right(rows, self._n, key=_n)
        known = self._history.folds.get(stream, [])
        at = bisect_right(known, rows[last - 1].version if last else 0, key=_version)
        return known[at - 1] if at else default

    def __setitem__(self, stream: str, folded: CachedState) -> None:
        known = self._history.folds.setdefault(stream, [])
        at = bisect_right(known, folded.version, key=_version)
        if (not at or known[at - 1].version != folded.version) and len(known) < FOLDS_MAX:
            known.insert(at, folded)


class LogHistory:
    """One log, to look back at."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.folds: dict[str, list[CachedState]] = {}
        self._streams: OrderedDict[str, Sequence[RecordedEvent]] = OrderedDict()

    def world(self, n: int, replica: str = "") -> LogState:
        """The log as it stood after append n, or, where that is 0, before the first. `replica`:
        whose world; empty: the one that writes here."""
        writer = replica or self.log.replica
        if self.log.is_shared:
            return self.log.world_at(n, writer, self._after)

        def read(stream: str, after: int) -> Sequence[RecordedEvent]:
            rows = self._after(stream, after)
            return rows[: bisect_right(rows, n, key=_n)]

        main = read(f"log:{MAIN}@{writer}", 0)
        markers = (row.fact for row in main if isinstance(row.fact, ReplicasImported))
        brought = [other.replica for marker in markers for other in marker.replicas]
        if not main:  # who has written nothing here yet, in a restored backup, reads all of it
            brought = list(self.log.writers())
        return LogState(
            self.log.name, writer, n + 1, read, self.log.payload_or_refuse, replicas=brought,
            cache=Folds(self, n), streams=self.log.streams_of,
        )  # fmt: skip

    def rows_of(self, stream: str) -> Sequence[RecordedEvent]:
        """All rows of one stream, read once."""
        if stream not in self._streams:
            self._streams[stream] = self.log.facts(stream)
            if len(self._streams) > STREAMS_MAX:
                self.folds.pop(self._streams.popitem(last=False)[0], None)
        return self._streams[stream]

    def _after(self, stream: str, version: int) -> Sequence[RecordedEvent]:
        rows = self.rows_of(stream)
        return rows[bisect_right(rows, version, key=_version) :]

    def append(self, n: int, replica: str = "") -> list[Row]:
        """The rows of append n, as they are stored; empty if there is none. `replica`: whose, of a
        shared log; else this one's."""
        return list(self.log.append_at(n, replica))

    def at(self, n: int, replica: str = "") -> str:
        """When append n was written; empty if there is none. `replica`: as in `append`."""
        rows = self.append(n, replica)
        return numbered(rows[0].state).at if rows else ""

    def position(self, n: int, replica: str = "") -> str:
        """Append n as it is spelled, ``journal:r1:42``; 0 stands before the first."""
        rows = self.append(n, replica)
        writer = rows[0].stream.rpartition("@")[2] if rows else replica or self.log.replica
        return f"{self.log.name}:{writer}:{n}"

    def last(self, replica: str = "") -> int:
        """The n of the last append, of a shared log of a replica's last one that is here."""
        if not self.log.is_shared or replica in ("", self.log.replica):
            return self.log.tail().n
        head = self.log.heads().get(replica)
        return head.n if head else 0

    def before(self, n: int, replica: str = "") -> int:
        """The number of the append right before append n, of a shared log of the same replica's; 0
        if there is none."""
        if not self.log.is_shared:
            return n - 1
        back = APPENDS_BACK
        while True:  # bounded: it grows to the whole log
            after = max(0, n - 1 - back)
            found = self.log.appends_of(replica or self.log.replica, after)
            numbers = [numbered(rows[0].state).n for rows in found]
            earlier = [one for one in numbers if one < n]
            if earlier or not after:
                return max(earlier, default=0)
            back *= 8

    def until(self, at: str, *, is_with: bool = True, replica: str = "") -> int:
        """The last append's n up to a time, and with it, of a shared log of a replica's, this one's
        if none is named; its times never go back, so halving finds it."""
        low, high = 0, self.last(replica)
        mine = f"@{replica or self.log.replica}" if self.log.is_shared else ""
        while low < high:  # bounded: halves what is left
            middle = (low + high + 1) // 2
            rows = self.log.rows(middle - 1) if mine else self.append(middle)
            found = next((one for one in rows if one.stream.endswith(mine)), None)
            there = numbered(found.state) if found is not None else None
            if there is not None and (there.at < at or (is_with and there.at == at)):
                low = there.n if self.log.is_shared else middle
            else:
                high = middle - 1
        return low

    def until_first(
        self, at: str, is_later: Callable[[Sequence[RecordedEvent]], bool], replica: str = ""
    ) -> int:
        """The same, but of that very time nothing from the first append on that comes later."""
        last = self.until(at, replica=replica)
        before = self.until(at, is_with=False, replica=replica)
        for rows in within(self.after(before, replica), last):
            if is_later(rows):
                return before
            before = rows[0].n
        return last

    def after(self, n: int, replica: str = "") -> Iterator[list[RecordedEvent]]:
        """The appends above n, of a shared log a replica's, this one's if none is named."""
        writer = replica or self.log.replica
        found = self.log.appends(n)
        return (rows for rows in found if not self.log.is_shared or rows[0].replica == writer)


# ------------------------------------------------------------------------------------ both logs


class Spot(NamedTuple):
    """A moment that somebody named. `step` is an append's n of the agent log, or 0; `replica`:
    whose numbers these are; empty: those of the one that writes here."""

    where: LogMoment
    run_key: str = ""
    step: int = 0
    replica: str = ""


class Past:
    """Both logs of a home, to look back at."""

    def __init__(self, journal: Log, agents: Log) -> None:
        self.journal = LogHistory(journal)
        self.agents = LogHistory(agents)

    def of(self, log: str) -> LogHistory:
        """That of ``journal`` or ``agent``."""
        return self.journal if log == "journal" else self.agents

    def now(self) -> Spot:
        """Both logs as they end."""
        ends = self.journal.log.tail(), self.agents.log.tail()
        return Spot(LogMoment(ends[0].n, ends[1].n, max(ends[0].at, ends[1].at)))

    def time(self, at: str) -> Spot:
        """Both logs up to a time, with it."""
        return Spot(LogMoment(self.journal.until(at), self.agents.until(at), at))

    def position(self, log: str, n: int, replica: str = "") -> Spot:
        """After an append of one log; of the other what the same machine wrote up to its time.
        Raises Refused, code ``invalid_value``: there is no such append."""
        history = self.of(log)
        of = replica if history.log.is_shared else ""
        at = history.at(n, of) if n else ""
        if n and not at:
            raise _no_append(history, n, of)
        if replica and n and history.position(n, of) != f"{log}:{replica}:{n}":
            because = f"append {n} of the {NAMES[log]} is not {replica}'s"
            raise invalid(because, f"write {history.position(n)}")
        if log == "journal":
            agents = self.agents.until_first(at, lambda rows: last_named_position(rows) > n, of)
            return Spot(LogMoment(n, agents, at), replica=of)  # none that knows more of the journal
        return Spot(LogMoment(self._journal_at(n, at, of), n, at), replica=of)

    def before(self, log: str, n: int, replica: str) -> LogMoment:
        """Where both logs stood for a replica right before its append n of one of them."""
        history = self.of(log)
        of = replica if history.log.is_shared else ""
        return self.position(log, history.before(n, of), of).where

    def learnt(self, log: str, replica: str, row: RecordedEvent) -> int:
        """The append by which a replica learnt of a row: its own, or that of a marker; 0: none."""
        source = self.of(log).log
        if row.replica == replica or not source.is_shared:
            return row.n
        return source.learnt(replica, row.replica, row.n)

    def run(self, run_key: str, replica: str, queued_n: int, step: int = 0) -> Spot:
        """Where a wake's prompt was rendered, or, with a step, right after that append of it.
        `queued_n`: the append that queued it; for a wake that never began. `step`: an append's n of
        the agent log, as `show` prints it, verdicts on its proposals included; 0: before it began.
        Raises Refused, code ``unknown_wake``: the wake has no such step."""
        rows = self.agents.rows_of(f"wake:{run_key}@{replica}")
        begun = next((row.fact for row in rows if isinstance(row.fact, WakeStarted)), None)
        if begun is None and not step:
            spot = self.position("agent", queued_n, replica)
            return Spot(spot.where, run_key, replica=spot.replica)
        later = [row for one in made_by(run_key, replica) for row in self.agents.rows_of(one)]
        steps = sorted({row.n for row in (*rows, *later)})
        if begun is None or (step and step not in steps):
            told = ", ".join(map(str, steps)) or "none, as it never began"
            because = f"the wake {run_key[:8]} has no step {step}; its steps are {told}"
            raise Refused("unknown_wake", because=because, instead="see `wakelog show RUN`")
        if not step:
            where = LogMoment(begun.journal_position, begun.agent_position)
            of = replica if self.agents.log.is_shared else ""
            at = max(self.journal.at(where.journal, of), self.agents.at(where.agent, of))
            return Spot(LogMoment(where.journal, where.agent, at), run_key)
        at = next(row.at for row in (*rows, *later) if row.n == step)
        journal = max(self._journal_at(step, at, replica), _seen_journal(rows, step, begun))
        return Spot(LogMoment(journal, step, at), run_key, step)

    def _journal_at(self, n: int, at: str, replica: str = "") -> int:
        """The journal's last append up to a time at which append n of the agent log was written;
        of that very time no effects that are asked for later."""
        after = takewhile(lambda rows: rows[0].at == at, self.agents.after(n, replica))
        later = {one for rows in after for one in asked_operations(rows)}
        if not later:
            return self.journal.until(at, replica=replica)
        return self.journal.until_first(
            at, lambda rows: fork.carried_operation(rows) in later, replica
        )

    def worlds(self, where: LogMoment, replica: str = "") -> tuple[LogState, LogState]:
        """The journal and the agent log then."""
        return self.journal.world(where.journal, replica), self.agents.world(where.agent, replica)


def _no_append(history: LogHistory, n: int, replica: str) -> Refused:
    name, log = history.log.name, NAMES[history.log.name]
    last, writer = history.last(replica), replica or history.log.replica
    of = f" of {replica}" if replica else ""
    if n > last:
        because = f"the {log} has no append {n}{of}; its last is {last}"
        instead = f"name one up to {name}:{writer}:{last}"
    else:
        near = next((m for m in range(n - 1, max(0, n - GAP_MAX), -1) if history.at(m, replica)), 0)
        because = f"the {log} has no append {n}{of}: other machines wrote there"
        instead = f"name one that is, as {name}:{writer}:{near or last}"
    return invalid(because, instead)


def made_by(run_key: str, replica: str) -> tuple[str, str]:
    """The streams of the change set that a wake made, in a log alone and in a shared one."""
    alone, shared = set_id(run_key), set_id(run_key, replica)
    return f"changes:{alone}@{replica}", f"changes:{shared}@{replica}"


def within(found: Iterator[list[RecordedEvent]], end: int) -> Iterator[list[RecordedEvent]]:
    """Appends up to one."""
    return takewhile(lambda rows: rows[0].n <= end, found)


def _seen_journal(rows: Iterable[RecordedEvent], step: int, begun: WakeStarted) -> int:
    """How much of the journal a wake is known to have seen, or made, up to a step."""
    facts = (row.fact for row in rows if row.n <= step)
    made = [fact.position for fact in facts if isinstance(fact, ToolReturned)]
    return max(begun.journal_position, *made, 0)


# --------------------------------------------------------------------- a moment that somebody named


class NamedMoment(NamedTuple):
    """What somebody named: a moment of a home, a wake, or, `is_home`, all of it; `is_own`: of the
    home that the command is about."""

    home: "Home"
    past: Past
    spot: Spot
    given: str
    wake: "WakeDocument | None" = None
    is_home: bool = False
    is_own: bool = True

    @property
    def replica(self) -> str:
        """Who ran the wake; else whose position was named; else who writes in the home."""
        if self.wake:
            return self.wake.replica
        return self.spot.replica or self.home.services.agents.replica

    @property
    def heads(self) -> tuple[str, str]:
        """Where the journal and the agent log stood, ``journal:r1:42`` for example."""
        where = self.spot.where
        of = self.replica if self.past.agents.log.is_shared else ""
        journal, agents = self.past.journal, self.past.agents
        return journal.position(where.journal, of), agents.position(where.agent, of)


def past_of(home: "Home") -> Past:
    return Past(home.services.journal, home.services.agents)

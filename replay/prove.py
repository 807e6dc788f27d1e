"""Replay: today's code, yesterday's causes (DESIGN 2, law 6).

There is no second interpreter. Each cause meets the world *as it was recorded*, so a difference
is reported once and does not spoil what follows; every byte of every row is compared, each
append with the digest that the next one carries, and each payload with its id.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import MsgspecError, Struct
from msgspec.structs import replace

from domain import envelope
from domain.causes import EpochBegan, ReplicasImported
from domain.envelope import Row
from domain.errors import Damaged, WakelogError
from domain.keys import key
from domain.rules import RULES
from domain.wire import PayloadId, Stored
from domain.world import Folded, Recorded, World
from replay.appends import Append, appends
from replay.payloads import Payloads

ALTERED, CHANGED = "data altered", "rule changed"
_FAILURES = (
    WakelogError,
    MsgspecError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What today's code may raise on a cause that was altered, or that it does not allow."""
FORMAT, MISSING = "event format changed", "payload missing"


class Hole(Stored, frozen=True, tag="hole"):
    """Stands in a stream for a row that is gone, so that what follows is counted as it was."""


class Divergence(Struct, frozen=True):
    """One difference between a log and what today's code makes of its causes.

    `position` is ``log:replica:n``. `kind_of` is its class: ``data altered`` (the chain of
    digests is broken there too), ``rule changed`` (it is whole: today's code decides something
    else; of a log's last append nobody can tell the two apart), ``payload missing`` or ``event
    format changed``. `path` names what differs: ``row``, ``rows``, ``order``, ``n``, ``prev``,
    ``payload``, ``cause`` or ``digest``. `expected` is what should stand there, `actual` what
    does.
    """

    log: str
    position: str
    stream: str
    version: int
    kind_of: str
    path: str
    expected: str
    actual: str


class Proof:
    """Walks one log. After the walk: what was seen, and the log's part of the digest."""

    def __init__(
        self, log: str, payload: Callable[[PayloadId], bytes | None], rules: int = RULES
    ) -> None:
        self.rows = 0
        self.causes = 0
        self.wakes = 0
        self.heads: dict[str, str] = {}  # "log:replica" -> chain head
        self._log = log
        self._payload = payload
        self._payloads = Payloads(payload)
        self._rules = rules
        self._epoch: dict[str, int] = {}
        self._facts: defaultdict[str, list[Recorded]] = defaultdict(list)
        self._states: dict[str, Folded] = {}
        self._last: dict[str, int] = {}
        self._replicas: dict[str, set[str]] = defaultdict(set)
        self._open: dict[str, list[Divergence]] = {}  # of each replica's last append
        self._has_holes = False

    def walk(self, rows: Iterable[Row]) -> Iterator[Divergence]:
        """Name every byte that today's code would write differently."""
        for one in appends(rows):
            yield from self._append(one)
        for left in self._open.values():
            yield from left

    def _append(self, one: Append) -> Iterator[Divergence]:
        self.rows += len(one.rows)
        self.causes += 1
        self.wakes += sum(row.topic == "wake.started.1" for row in one.rows)
        yield from self._chain(one)
        found = [*self._shape(one), *self._unread(one)]
        facts = one.facts
        is_whole = not found
        found += self._kept(one, facts)
        if self._has_holes:
            self._fill(facts)
        if is_whole:
            found += self._redone(one, facts)
        self._has_holes |= not is_whole
        self._open[one.replica] = found
        self._remember(one, facts)

    # --------------------------------------------------------------------------------- the chain

    def _chain(self, one: Append) -> Iterator[Divergence]:
        """The append's number and the digest it carries of the one before.

        Where that is another one, the one before was altered: what was found there is not
        today's code.
        """
        before = self._open.pop(one.replica, [])
        due = self._due(one)
        head = self.heads.get(f"{self._log}:{one.replica}", "")
        is_gap = one.n != due
        if one.first.row == 0 and one.first.prev != head and not is_gap:
            yield from (replace(known, kind_of=_as_altered(known)) for known in before)
            if not before:
                yield self._differs(one, one.rows[0], ALTERED, "prev", head, one.first.prev)
            return
        yield from before
        if is_gap:
            self._has_holes = True
            yield self._differs(one, one.rows[0], ALTERED, "n", str(due), str(one.n))

    def _due(self, one: Append) -> int:
        """The number that comes next; a marker's is above all that it brought."""
        brought = [
            other.n
            for row in one.facts
            if isinstance(row.fact, ReplicasImported)
            for other in row.fact.replicas
        ]
        return max(self._last.get(one.replica, 0), *brought, 0) + 1

    def _shape(self, one: Append) -> Iterator[Divergence]:
        """Whether all rows of the append are there, each once and in order."""
        numbers = [place.row for place in one.places]
        for index, number in enumerate(numbers):
            if number in numbers[:index]:
                yield self._differs(
                    one, one.rows[index], ALTERED, "row", "", _text(one.rows[index])
                )
        wanted = range(max(one.first.rows if numbers[0] == 0 else 0, max(numbers) + 1))
        missing = [str(number) for number in wanted if number not in numbers]
        if missing:
            told = f"row {', '.join(missing)} of append {one.n}"
            yield self._differs(one, one.rows[0], ALTERED, "rows", told, "")
        elif numbers != sorted(numbers):
            order = " ".join(map(str, numbers))
            expected = " ".join(map(str, sorted(numbers)))
            yield self._differs(one, one.rows[0], ALTERED, "order", expected, order)
        elif not one.first.rows or max(numbers) >= one.first.rows:
            count = str(len(numbers))
            yield self._differs(one, one.rows[0], ALTERED, "rows", str(one.first.rows), count)

    def _unread(self, one: Append) -> Iterator[Divergence]:
        for index, error in one.unread:
            yield self._differs(
                one, one.rows[index], FORMAT, "row", f"a fact that is known here ({error})",
                _text(one.rows[index]),
            )  # fmt: skip

    def _kept(self, one: Append, facts: Sequence[Recorded]) -> Iterator[Divergence]:
        """The payloads that the append is the first to name."""
        rows = {(row.stream, row.version): row for row in one.rows}
        for fault in self._payloads.check(facts):
            row = rows[facts[fault.row].stream, facts[fault.row].version]
            kind_of = ALTERED if fault.found else MISSING
            yield self._differs(one, row, kind_of, "payload", fault.id, fault.found)

    # -------------------------------------------------------------------------------- re-execution

    def _redone(self, one: Append, facts: Sequence[Recorded]) -> Iterator[Divergence]:
        """Hand the cause to today's code, and compare every row that it writes."""
        cause, given = envelope.cause_of(facts[0])
        if isinstance(cause, EpochBegan):
            self._epoch[one.replica] = cause.rules
            head = self.heads.get(f"{self._log}:{one.replica}", "")
            if cause.digest != head:
                yield self._differs(one, one.rows[0], ALTERED, "digest", head, cause.digest)
        if self._epoch.get(one.replica, self._rules) != self._rules:
            return
        missed: list[PayloadId] = []
        world = self._world(one, missed)
        try:
            composed = envelope.compose(cause, given, facts[0].at, one.first.prev, world)
        except Damaged as error:
            if not missed:
                yield self._fails(one, error)
            elif missed[-1] not in self._payloads.missing:
                self._payloads.missing.add(missed[-1])
                yield self._differs(one, one.rows[0], MISSING, "payload", missed[-1], "")
            return
        except _FAILURES as error:
            yield self._fails(one, error)
            return
        yield from self._compared(one, composed.rows)

    def _fails(self, one: Append, error: Exception) -> Divergence:
        told = str(error) if isinstance(error, WakelogError) else f"{type(error).__name__}: {error}"
        rows = f"{len(one.rows)} rows"
        return self._differs(one, one.rows[0], CHANGED, "cause", told, rows)

    def _compared(self, one: Append, today: Sequence[Row]) -> Iterator[Divergence]:
        """Row by row; where the streams are others, the first difference tells it."""
        for was, now in zip(one.rows, today, strict=False):
            if was != now:
                yield self._differs(one, was, CHANGED, "row", _text(now), _text(was))
        for now in today[len(one.rows) :]:
            yield self._differs(one, now, CHANGED, "row", _text(now), "")
        for was in one.rows[len(today) :]:
            yield self._differs(one, was, CHANGED, "row", "", _text(was))

    def _remember(self, one: Append, facts: Sequence[Recorded]) -> None:
        for fact in facts:
            self._facts[fact.stream].append(fact)
            if isinstance(fact.fact, ReplicasImported):
                self._replicas[one.replica].update(other.replica for other in fact.fact.replicas)
        self._last[one.replica] = one.n
        self.heads[f"{self._log}:{one.replica}"] = envelope.digest(one.rows)

    def _fill(self, facts: Sequence[Recorded]) -> None:
        """Put a hole where rows of a stream are known to be gone."""
        for fact in facts:
            known = self._facts[fact.stream]
            last = known[-1].version if known else 0
            is_first = all(other.stream != fact.stream for other in facts[: facts.index(fact)])
            if is_first and fact.version > last + 1:
                known.append(replace(fact, version=fact.version - 1, fact=Hole()))

    def _world(self, one: Append, missed: list[PayloadId]) -> World:
        def payload(wanted: PayloadId) -> bytes | None:
            data = self._payload(wanted)
            if data is None:
                missed.append(wanted)
            return data

        return World(
            self._log,
            one.replica,
            one.n,
            self._later,
            payload,
            replicas=self._replicas[one.replica],
            cache=self._states,
        )

    def _later(self, stream: str, after: int) -> Sequence[Recorded]:
        rows = self._facts[stream]
        return rows[bisect_right(rows, after, key=_version) :]

    def _differs(
        self, one: Append, row: Row, kind_of: str, path: str, expected: str, actual: str
    ) -> Divergence:
        position = f"{self._log}:{one.replica}:{one.n}"
        return Divergence(
            self._log, position, row.stream, row.version, kind_of, path, expected, actual
        )


def log_digest(heads: dict[str, str]) -> str:
    """One digest for a whole home: `H` over each log's and replica's chain head, sorted.

    Args:
        heads: ``"journal:r1"`` to the digest of its newest append.
    """
    return key("log", *(f"{name}={head}" for name, head in sorted(heads.items())))


def _as_altered(known: Divergence) -> str:
    return ALTERED if known.kind_of == CHANGED else known.kind_of


def _version(row: Recorded) -> int:
    return row.version


def _text(row: Row) -> str:
    state = row.state.decode("utf-8", "backslashreplace")
    return f"{row.stream} {row.version} {row.topic} {state}"

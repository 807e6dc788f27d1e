"""Rows that several replicas write apart from each other, and what each of them knew: told row by
row, with no horizon and no marker, so that it can judge those who derive it."""

from collections.abc import Sequence
from typing import Any

from domain.append.envelope import STREAM_TYPES
from domain.log.state import RecordedEvent
from domain.log.timestamps import later
from domain.log.wire import Stored
from domain.replication.merge import ReplicaConflict, effective, open_conflicts
from tests.support.services import START

Append = tuple[str, int]
TASK = "task:t1"


class Sides:
    """`says` writes an append of a replica; `meet` makes all that some know known to each."""

    def __init__(self) -> None:
        self.rows: list[RecordedEvent] = []
        self.known: dict[str, set[Append]] = {}
        self.known_by: dict[Append, frozenset[Append]] = {}
        self.minutes: dict[str, int] = {}  # by which a replica's clock is wrong

    def says(self, replica: str, *facts: Stored, of: str = TASK) -> RecordedEvent:
        known = self.known.setdefault(replica, set())
        n = max((n for _, n in known), default=0) + 1
        stream = f"{of}@{replica}"
        version = sum(row.stream == stream for row in self.rows)
        at = later(START, seconds=60 * (n + self.minutes.get(replica, 0)))
        for nth, fact in enumerate(facts):
            row = RecordedEvent(stream, version + nth + 1, replica, n, nth, at, fact)
            self.rows.append(row)
        known.add((replica, n))
        self.known_by[replica, n] = frozenset(known)
        return self.rows[-1]

    def meet(self, *replicas: str) -> None:
        every = set().union(*(self.known.get(one, set()) for one in replicas))
        for one in replicas:
            self.known.setdefault(one, set()).update(every)

    def knows(self, a: RecordedEvent, b: RecordedEvent) -> bool:
        return (b.replica, b.n) in self.known_by[a.replica, a.n]

    def of(self, of: str = TASK) -> list[RecordedEvent]:
        """An entity's rows in canonical order."""
        rows = [row for row in self.rows if row.stream.rpartition("@")[0] == of]
        return sorted(rows, key=lambda row: (row.n, row.replica, row.row))

    def counted(self, of: str = TASK, repeats: Any = frozenset()) -> Sequence[RecordedEvent]:
        return effective(self.of(of), self.knows, repeats)

    def state(self, of: str = TASK, repeats: Any = frozenset()) -> Any:
        return folded(self.counted(of, repeats), of)

    def open(self, of: str = TASK) -> list[ReplicaConflict]:
        return list(open_conflicts(self.of(of), self.knows))


def folded(rows: Sequence[RecordedEvent], of: str = TASK) -> Any:
    kind, _, entity = of.partition(":")
    state = STREAM_TYPES[kind].initial(entity)
    for row in rows:
        state = STREAM_TYPES[kind].evolve(state, row)
    return state


def both(*base: Stored, of: str) -> Sides:
    """Two replicas that know the same."""
    sides = Sides()
    if base:
        sides.says("desk", *base, of=of)
        sides.meet("desk", "phone")
    return sides


def apart(desk: Stored, phone: Stored, *base: Stored, of: str) -> Sides:
    """Each says one thing; desk stands first in canonical order."""
    sides = both(*base, of=of)
    sides.says("desk", desk, of=of)
    sides.says("phone", phone, of=of)
    return sides


def shown(sides: Sides, of: str) -> list[Any]:
    """What is open, with each replica's value."""
    return [
        (one.kind, one.field, one.stands, [(side.row.replica, side.value) for side in one.sides])
        for one in sides.open(of)
    ]

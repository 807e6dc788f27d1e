"""What two replicas said without knowing of each other, and nobody has settled (ADR 71, 73)."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from domain.meanings import Weight, author
from domain.world import Recorded

Knows = Callable[[Recorded, Recorded], bool]
"""``knows(a, b)``: whoever wrote `a` knew `b` by then; transitive, and a replica knows its own."""

ConflictKind = Literal["values", "removal", "verdicts", "cycle", "timers"]


class Head(Struct, frozen=True):
    """A value of a field that no row knows to be replaced."""

    row: Recorded
    value: object
    rank: Weight


class Side(Struct, frozen=True):
    """What one replica says: `value` is the field's, or whether a thing is removed."""

    row: Recorded
    value: object

    @property
    def by(self) -> str:
        """Who said it."""
        return author(self.row.fact)


class Conflict(Struct, frozen=True):
    """What two sides did without knowing of each other, and nobody has settled.

    `entity` is the task, agent or set, or ``main`` of the catalog, the timer and the policy;
    `stands` the value that counts.
    """

    of_kind: str
    entity: str
    field: str
    kind: ConflictKind
    stands: object
    sides: tuple[Side, ...]


def conflict(
    field: str, kind: ConflictKind, stands: object, told: Sequence[tuple[Recorded, object]]
) -> Conflict:
    """A conflict of the entity that the first row is of; `told`: each row with its value."""
    first = told[0][0]
    sides = tuple(Side(row, value) for row, value in told)
    return Conflict(first.of_kind, first.entity, field, kind, stands, sides)


def place(row: Recorded) -> tuple[int, str, int]:
    """Where a row stands in canonical order: never before one that its writer knew."""
    return row.n, row.replica, row.row

"""What a world of a shared log asks of merging (ADR 71)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from domain.merging import Conflict, Knows, Repeats, effective, open_conflicts, place
from domain.world import Recorded


class Sifter(NamedTuple):
    """Tells rows that count from others; `repeats`: which of the appends they stand in did what
    another one did already."""

    knows: Knows
    repeats: Callable[[Sequence[Recorded]], Repeats] = lambda _: frozenset()

    def counted(self, rows: Sequence[Recorded]) -> Sequence[Recorded]:
        """Of all rows of an entity, in canonical order, those that count."""
        return effective(rows, self.knows, self.repeats(rows))

    def standing(self, rows: Sequence[Recorded]) -> Sequence[Recorded]:
        """Of those that count, the ones that do so where they stand: what lost and is still heard
        does not."""
        found: list[Recorded] = []
        for row in reversed(self.counted(rows)):
            if not found or place(row) < place(found[-1]):
                found.append(row)
        return found[::-1]

    def disputes(self, rows: Sequence[Recorded]) -> Sequence[Conflict]:
        """What is open among them."""
        return open_conflicts(rows, self.knows, self.repeats(rows))

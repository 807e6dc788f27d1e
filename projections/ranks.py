"""The numbers that a person calls change sets by: each replica's own, from 1 (SPEC 10).

A rank is the order of appends and nothing else, so it never moves and a rebuild gives it again.
"""

from msgspec import Struct

from domain.changes.events import SetOpened
from domain.world import Recorded
from projections.view import View


class RanksDocument(Struct, frozen=True):
    """The ids of all sets that a replica opened, in order."""

    sets: tuple[str, ...] = ()

    def rank_of(self, set_id: str) -> int:
        """The rank of a set, at least 1; 0 for a set that the replica did not open."""
        return self.sets.index(set_id) + 1 if set_id in self.sets else 0

    def set_at(self, rank: int) -> str:
        """The id of the set with a rank; empty where there is none."""
        return self.sets[rank - 1] if 1 <= rank <= len(self.sets) else ""


def keys(row: Recorded) -> tuple[str, ...]:
    return (row.replica,) if isinstance(row.fact, SetOpened) else ()


def apply(document: RanksDocument | None, row: Recorded) -> RanksDocument | None:
    """The ranks with one more set; one that is opened again keeps its own."""
    known = document or RanksDocument()
    return known if row.entity in known.sets else RanksDocument((*known.sets, row.entity))


VIEW: View[RanksDocument] = View("ranks", "agent", 1, RanksDocument, keys, apply)

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


def keys(row: Recorded) -> tuple[str, ...]:
    return (row.replica,) if isinstance(row.fact, SetOpened) else ()


def apply(document: RanksDocument | None, row: Recorded) -> RanksDocument | None:
    """The ranks with one more set; one that is opened again keeps its own."""
    known = document or RanksDocument()
    return known if row.entity in known.sets else RanksDocument((*known.sets, row.entity))


def _takes_late(document: RanksDocument | None, row: Recorded) -> bool:
    """Always: each document has the rows of one replica alone, which come in its order."""
    return True


VIEW: View[RanksDocument] = View(
    "ranks", "agent", 1, RanksDocument, keys, apply, entities=("changes",), takes_late=_takes_late
)

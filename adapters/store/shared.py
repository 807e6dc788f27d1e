"""What the replicas of a shared log knew, and which rows count among them (ADR 70)."""

from collections.abc import Callable, Collection, Sequence

from domain.causes import ReplicasImported
from domain.horizons import Horizons
from domain.world import MAIN, Read, Recorded, Sift

Doubled = Callable[[Collection[tuple[int, str]]], Sequence[Recorded]]
"""``doubled(appends)``: by their numbers and replicas."""


class Others:
    """What is known of the replicas whose rows are in a log, from their markers."""

    def __init__(self) -> None:
        self._horizons = Horizons()
        self._told: dict[str, int] = {}  # the last row of each one's own facts that was read
        self._came = -1

    def horizons(
        self, read: Read, replicas: Sequence[str], version: int, *, of_other: bool = False
    ) -> Horizons:
        """What each of them knew, read on where one's own facts have grown to `version`; what
        another one knew last may come in without one, so whoever asks for that looks again."""
        if version != self._came or of_other:
            new = [row for one in replicas for row in read(_main(one), self._told.get(one, 0))]
            for row in sorted(new, key=lambda row: (row.n, row.replica)):
                self._told[row.replica] = row.version
                if isinstance(row.fact, ReplicasImported):
                    self._horizons.took(row.replica, row.n, row.fact)
            self._came = version
        return self._horizons


def sift(horizons: Horizons, doubled: Doubled) -> Sift:
    """What tells which rows count.

    Args:
        horizons: What each replica knew.
        doubled: The receipts of operations that several replicas applied, of some appends.
    """

    from domain.journal.merged import author  # it loads all that folds
    from domain.merging import repeats_of
    from domain.sifting import Sifter

    def repeats(rows: Sequence[Recorded]) -> Collection[tuple[str, int]]:
        by_agents = {(row.n, row.replica) for row in rows if author(row.fact).startswith("agent:")}
        return repeats_of(doubled(by_agents)) if by_agents else frozenset()

    return Sifter(horizons.knows, repeats)


def _main(replica: str) -> str:
    return f"log:{MAIN}@{replica}"

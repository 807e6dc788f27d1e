"""What the replicas of a shared log knew, and which rows count among them (ADR 70)."""

from collections.abc import Callable, Sequence

from domain.causes import ReplicasImported
from domain.horizons import Horizons
from domain.world import MAIN, Read, Recorded, Sift


class Others:
    """What is known of the replicas whose rows are in a log, from their markers."""

    def __init__(self) -> None:
        self._horizons = Horizons()
        self._told: dict[str, int] = {}  # the last row of each one's own facts that was read
        self._came = -1

    def horizons(self, read: Read, replicas: Sequence[str], version: int) -> Horizons:
        """What each of them knew, read on where one's own facts have grown to `version`."""
        if version != self._came:
            new = [row for one in replicas for row in read(_main(one), self._told.get(one, 0))]
            for row in sorted(new, key=lambda row: (row.n, row.replica)):
                self._told[row.replica] = row.version
                if isinstance(row.fact, ReplicasImported):
                    self._horizons.took(row.replica, row.n, row.fact)
            self._came = version
        return self._horizons


def sift(
    horizons: Horizons,
    first_of: Callable[[int, str], Recorded | None],
    read: Read,
    replicas: Sequence[str],
) -> Sift:
    """What tells which rows count.

    Args:
        horizons: What each replica knew.
        first_of: The first row of an append.
        read: Reads the rows of a stream that are known.
        replicas: Whose rows those are.
    """

    def counted(rows: Sequence[Recorded]) -> Sequence[Recorded]:
        from domain import merging  # it loads all that folds
        from domain.journal.merged import author

        knows = horizons.knows
        if merging.is_one_line(rows, knows):
            return rows
        by_agents = {(row.n, row.replica) for row in rows if author(row.fact).startswith("agent:")}
        causes = (first_of(*one) for one in sorted(by_agents))
        asked = {one.entity for one in causes if one is not None and one.of_kind == "receipt"}
        streams = [f"receipt:{one}@{name}" for one in sorted(asked) for name in replicas]
        repeats = merging.repeats_of(row for one in streams for row in read(one, 0))
        return merging.effective(rows, knows, repeats)

    return counted


def _main(replica: str) -> str:
    return f"log:{MAIN}@{replica}"

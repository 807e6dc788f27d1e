"""What a replica knew when it wrote: derived from its markers, and stored nowhere (ADR 70)."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from domain.append.causes import ReplicasImported
from domain.log.state import RecordedEvent
from domain.log.wire import Imported

NOTHING_KNOWN: Mapping[str, int] = {}


def stored_vector(horizon: Mapping[str, int]) -> tuple[Imported, ...]:
    """A horizon as facts and commands keep it, by replica."""
    return tuple(Imported(name, n) for name, n in sorted(horizon.items()) if n)


class VersionVectors:
    """The horizon of each append: up to which `n` its writer knew each replica.

    Markers are told as they arrive: each replica's own in its order, and after what it names."""

    def __init__(self) -> None:
        self._places: dict[str, list[int]] = {}  # of each replica's markers, by n
        self._known: dict[str, list[Mapping[str, int]]] = {}  # the others, after each of them

    def took(self, replica: str, n: int, marker: ReplicasImported) -> None:
        """From its append `n` on, `replica` knows what the marker names, and what that knew."""
        places, known = self._places.setdefault(replica, []), self._known.setdefault(replica, [])
        if places and n <= places[-1]:
            return  # it was told before
        horizon = dict(known[-1]) if known else {}
        for one in marker.replicas:
            for name, last in self.until(one.replica, one.n + 1).items():
                if name != replica:
                    horizon[name] = max(last, horizon.get(name, 0))
        places.append(n)
        known.append(horizon)

    def until(self, replica: str, n: int) -> Mapping[str, int]:
        """What `replica` knew right before its append `n`: of itself all up to there."""
        return {**self._before(replica, n), replica: n - 1}

    def brought(self, replica: str, n: int) -> Mapping[str, tuple[int, int]]:
        """What a replica learnt of others by its append `n`: above which of theirs, up to which."""
        before, after = self._before(replica, n), self._before(replica, n + 1)
        return {
            name: (before.get(name, 0), last)
            for name, last in sorted(after.items())
            if last > before.get(name, 0)
        }

    def markers(self, replica: str, n: int) -> Sequence[int]:
        """The numbers of its markers before its append n."""
        places = self._places.get(replica, [])
        return places[: bisect_left(places, n)]

    def learnt(self, replica: str, of: str, n: int) -> int:
        """Its append by which a replica learnt of append n of another one; 0: by none so far."""
        places, known = self._places.get(replica, ()), self._known.get(replica, ())
        nth = bisect_left(known, n, key=lambda one: one.get(of, 0))
        return places[nth] if nth < len(places) else 0

    def knows(self, a: RecordedEvent, b: RecordedEvent) -> bool:
        """Whether who wrote `a` knew `b` by then; rows of one append know each other."""
        if a.replica == b.replica:
            return b.n <= a.n
        return b.n <= self._before(a.replica, a.n + 1).get(b.replica, 0)

    def _before(self, replica: str, n: int) -> Mapping[str, int]:
        """What its markers before `n` say of the others."""
        nth = bisect_left(self._places.get(replica, ()), n)
        return self._known[replica][nth - 1] if nth else NOTHING_KNOWN

"""Appends of other replicas, which a shared log takes in unchanged (ADR 70)."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from adapters.store.recorder import Tail
from domain.append.causes import ReplicasImported
from domain.append.envelope import Row
from domain.errors import Refused
from domain.log.state import MAIN, ReadStream, RecordedEvent, RowFilter
from domain.log.wire import Payload
from domain.replication.version_vectors import VersionVectors


class RemoteAppend(NamedTuple):
    """An append of another replica as it stands there, with the payloads that it names."""

    rows: tuple[Row, ...]
    payloads: tuple[Payload, ...]


class ChainLink(Struct, frozen=True):
    """The part of an envelope that tells what it follows."""

    n: int
    row: int = 0
    rows: int = 0
    prev: str = ""


chain_link = msgspec.json.Decoder(ChainLink).decode


def check_next(rows: Sequence[Row], one: Tail, known: Tail, mine: str) -> None:
    """Look whether an append comes right after what is held of its chain. `one`: what its rows come
    to; `known`: the newest that is held; `mine`: the replica that holds it, whose own rows come in
    from nowhere. Raises Refused, code ``forked_replica``."""
    places = [chain_link(row.state) for row in rows]
    writers = [row.stream.rpartition("@")[2] for row in rows]
    is_whole = [place.row for place in places] == list(range(places[0].rows))
    of = {(name, place.n) for name, place in zip(writers, places, strict=True)}
    is_one = of == {(one.replica, one.n)} and one.replica != mine
    if not (is_whole and is_one and one.n > known.n and places[0].prev == known.digest):
        because = f"append {one.n} of {one.replica} does not follow append {known.n}, which is held"
        raise Refused("forked_replica", because=because, instead="nothing of it was taken")


# --------------------------------------------------------------------------- what the replicas knew
# What the replicas of a shared log knew, and which rows count among them (ADR 70).

Doubled = Callable[[Collection[tuple[int, str]]], Sequence[RecordedEvent]]
"""``doubled(appends)``: by their numbers and replicas."""


class ReplicaKnowledge:
    """What is known of the replicas whose rows are in a log, from their markers."""

    def __init__(self) -> None:
        self._horizons = VersionVectors()
        self._told: dict[str, int] = {}  # the last row of each one's own facts that was read
        self._came = -1

    def horizons(
        self, read: ReadStream, replicas: Sequence[str], version: int, *, of_other: bool = False
    ) -> VersionVectors:
        """What each of them knew, read on where one's own facts have grown to `version`; what
        another one knew last may come in without one, so whoever asks for that looks again."""
        if version != self._came or of_other:
            mains = ((f"log:{MAIN}@{one}", self._told.get(one, 0)) for one in replicas)
            new = [row for main in mains for row in read(*main)]
            for row in sorted(new, key=lambda row: (row.n, row.replica)):
                self._told[row.replica] = row.version
                if isinstance(row.fact, ReplicasImported):
                    self._horizons.took(row.replica, row.n, row.fact)
            self._came = version
        return self._horizons


def sift(horizons: VersionVectors, doubled: Doubled) -> RowFilter:
    """What tells which rows count. `horizons`: what each replica knew; `doubled`: the receipts of
    operations that several replicas applied, of some appends."""
    from domain.replication.merge import MergeFilter, repeats_of
    from domain.replication.merge_rules import author  # it loads all that folds

    def repeats(rows: Sequence[RecordedEvent]) -> Collection[tuple[str, int]]:
        by_agents = {(row.n, row.replica) for row in rows if author(row.fact).startswith("agent:")}
        return repeats_of(doubled(by_agents)) if by_agents else frozenset()

    return MergeFilter(horizons.knows, repeats)

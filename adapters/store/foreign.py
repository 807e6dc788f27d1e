"""Appends of other replicas, which a shared log takes in unchanged (ADR 70)."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from adapters.store.recorder import Tail
from domain.envelope import Row
from domain.errors import Refused
from domain.wire import Payload


class ForeignAppend(NamedTuple):
    """An append of another replica as it stands there, with the payloads that it names."""

    rows: tuple[Row, ...]
    payloads: tuple[Payload, ...]


class _Linked(Struct, frozen=True):
    """The part of an envelope that tells what it follows."""

    n: int
    row: int = 0
    rows: int = 0
    prev: str = ""


_linked = msgspec.json.Decoder(_Linked).decode


def check_next(rows: Sequence[Row], one: Tail, known: Tail, mine: str) -> None:
    """Whether an append comes right after what is held of its chain.

    Args:
        rows: Its rows.
        one: What they come to.
        known: The newest that is held of the chain.
        mine: The replica that holds it, whose own rows come in from nowhere.

    Raises:
        Refused: Code ``forked_replica``.
    """
    places = [_linked(row.state) for row in rows]
    writers = [row.stream.rpartition("@")[2] for row in rows]
    is_whole = [place.row for place in places] == list(range(places[0].rows))
    of = {(name, place.n) for name, place in zip(writers, places, strict=True)}
    is_one = of == {(one.replica, one.n)} and one.replica != mine
    if not (is_whole and is_one and one.n > known.n and places[0].prev == known.digest):
        because = f"append {one.n} of {one.replica} does not follow append {known.n}, which is held"
        raise Refused("forked_replica", because=because, instead="nothing of it was taken")

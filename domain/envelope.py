"""Rows, and what stands in them (DESIGN 4); `domain.composing` makes them."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec import Struct

from domain.causes import Cause, EpochBegan, LogShared, Receipt, ReplicasImported, Replied
from domain.errors import UnknownFact
from domain.keys import chain
from domain.vocabulary import Command, Fact
from domain.wake.events import unwrapped
from domain.wire import upcast
from domain.world import Recorded


class Row(NamedTuple):
    """What stands in the recorder: `topic` is the fact's tag, `state` the envelope's bytes."""

    stream: str
    version: int
    topic: str
    state: bytes


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """``{"at", "n", "rows", "prev", "data"}`` on the first row, ``{"n", "row", "data"}`` after."""

    at: str = ""
    n: int
    row: int = 0  # 0 is the first row of its append
    rows: int = 0
    prev: str = ""  # digest of the replica's previous append
    data: Fact


_decoder = msgspec.json.Decoder(Envelope)


def read(row: Row) -> Envelope:
    """Decode a row.

    Raises:
        UnknownFact: Naming the row: its bytes are no fact that this version knows.
    """
    try:
        return _decoder.decode(row.state)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnknownFact(
            "unknown_fact",
            because=f"row {row.version} of {row.stream} ({row.topic}) cannot be read: {error}",
            instead="use the version of wakelog that wrote it, or restore the file",
        ) from None


def recorded(row: Row, at: str, envelope: Envelope) -> Recorded:
    """A row as folds and views know it; `at` is its append's."""
    stream, version, _, _ = row
    replica = stream.rpartition("@")[2]
    fact = upcast(envelope.data)
    return Recorded(stream, version, replica, envelope.n, envelope.row, at, fact)


def cause_of(first: Recorded) -> tuple[Cause, str]:
    """The cause that an append's first row is or holds, and its receipt's key (else empty)."""
    match first.fact:
        case Receipt(command=command):
            return command, first.entity
        case EpochBegan() | ReplicasImported() | LogShared() as alone:
            return alone, ""
        case fact:
            return Replied(first.of_kind, first.entity, unwrapped(fact)), ""


def digest(rows: Iterable[Row]) -> str:
    """Digest of one append, which the next one carries as `prev`."""
    return chain((stream, version, state) for stream, version, _, state in rows)


__all__ = [
    "Command",
    "Envelope",
    "Row",
    "cause_of",
    "digest",
    "read",
    "recorded",
]

"""From a cause to rows, and back (DESIGN 4). The writer and the prover call the same `compose`."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from domain import handlers
from domain.causes import Cause, EpochBegan, Receipt, ReplicasImported, Replied, Result
from domain.errors import UnknownFact
from domain.keys import chain, command_key
from domain.vocabulary import Command, Fact
from domain.wire import Payload, Stored, tag_of, upcast
from domain.world import MAIN, Recorded, World


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


class Composed(NamedTuple):
    """Everything one cause writes, and the result for its caller."""

    rows: tuple[Row, ...]
    payloads: tuple[Payload, ...]
    result: Result


_encoder = msgspec.json.Encoder()
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


def compose(cause: Cause, given: str, at: str, prev: str, world: World) -> Composed:
    """Everything one cause writes.

    Args:
        cause: What happened outside, or what a person or adapter wants.
        given: The caller's idempotency key, or empty.
        at: Time of the append.
        prev: Digest of the replica's previous append; empty for the first.
        world: The log just before.

    Raises:
        Refused: If the rules do not allow the command now.
    """
    if isinstance(cause, EpochBegan | ReplicasImported):
        alone = [(world.stream("log", MAIN), cause)]
        return Composed(_rows(alone, at, prev, world), (), Result())
    if isinstance(cause, Replied):
        events, result, payloads = handlers.handle(cause, "", at, world)
    else:
        name = given or command_key(world.log, world.replica, world.n)
        events, result, payloads = handlers.handle(cause, name, at, world)
        if events or given:
            events = [(world.stream("receipt", name), Receipt(cause, result)), *events]
    return Composed(_rows(events, at, prev, world), tuple(payloads), result)


def cause_of(first: Recorded) -> tuple[Cause, str]:
    """The cause that an append's first row is or holds, and its receipt's key (else empty)."""
    match first.fact:
        case Receipt(command=command):
            return command, first.entity
        case EpochBegan() | ReplicasImported() as alone:
            return alone, ""
        case fact:
            return Replied(first.of_kind, first.entity, handlers.unwrapped(fact)), ""


def digest(rows: Iterable[Row]) -> str:
    """Digest of one append, which the next one carries as `prev`."""
    return chain((stream, version, state) for stream, version, _, state in rows)


def _rows(
    events: Sequence[tuple[str, Stored]], at: str, prev: str, world: World
) -> tuple[Row, ...]:
    versions: dict[str, int] = {}
    rows: list[Row] = []
    for index, (stream, fact) in enumerate(events):
        if stream not in versions:
            versions[stream] = world.version(stream)
        versions[stream] += 1
        data: Any = fact  # one of the vocabulary, as every fact that a handler makes
        if index:
            envelope = Envelope(n=world.n, row=index, data=data)
        else:
            envelope = Envelope(at=at, n=world.n, rows=len(events), prev=prev, data=data)
        rows.append(Row(stream, versions[stream], tag_of(fact), _encoder.encode(envelope)))
    return tuple(rows)


__all__ = [
    "Command",
    "Composed",
    "Envelope",
    "Row",
    "cause_of",
    "compose",
    "digest",
    "read",
    "recorded",
]

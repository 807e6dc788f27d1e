"""From a cause to rows (DESIGN 4). The writer and the prover call the same `compose`.

It stands apart from `domain.envelope`, so that who only reads rows does not load what decides.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from domain import handlers
from domain.causes import Cause, LogFact, Receipt, Replied, Result
from domain.envelope import Envelope, Row
from domain.keys import command_key
from domain.wire import Payload, Stored, tag_of
from domain.world import MAIN, World


class Composed(NamedTuple):
    """Everything one cause writes, and the result for its caller."""

    rows: tuple[Row, ...]
    payloads: tuple[Payload, ...]
    result: Result


_encoder = msgspec.json.Encoder()


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
    if isinstance(cause, LogFact):
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

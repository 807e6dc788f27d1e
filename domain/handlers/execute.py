"""From a cause to rows (DESIGN 4). The writer and the prover call the same `execute`.

`handle` leads to the deciders of one or several streams; handlers are the only place that loads
from a log's state. Both are pure: no clock, no dice, nothing but their arguments (DESIGN 2, law 2).
Who only reads rows takes `domain.append.envelope`, and does not load what decides."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec

from domain.append.causes import Cause, Command, LogFact, Receipt, Replied, Result
from domain.append.envelope import Envelope, Row
from domain.handlers import journal
from domain.handlers.decided import Decision
from domain.handlers.journal import Handler
from domain.log.keys import command_key
from domain.log.state import MAIN, LogState
from domain.log.wire import Payload, Stored, tag_of


@cache
def _rarer() -> dict[type, Handler]:
    """What handles all but the journal's plain commands: who notes something down waits for no wake
    and no tool."""
    from domain.handlers import (
        agents,
        changes,
        day,
        erasure,
        imports,
        lessons,
        machines,
        policy,
        proposing,
        resolve_conflict,
        retention,
        templates,
        tool_effects,
        undo,
        wakes,
    )

    every = (
        imports, undo, day, tool_effects, agents, wakes, changes, templates, policy, lessons,
        machines, erasure, retention, resolve_conflict, proposing,
    )  # fmt: skip
    return {kind: handler for module in every for kind, handler in module.HANDLERS.items()}


def handle(cause: Command | Replied, key: str, at: str, world: LogState) -> Decision:
    """Decide what a cause changes.

    `cause`: a command, or a reply from outside. `key`: the command's idempotency key, given or
    derived; ids of what it makes are made of it. `at`: time of the append. Raises Refused if the
    rules do not allow a person's command now."""
    if isinstance(cause, Replied):
        from domain.handlers import changes, wakes

        replied = changes.replied if cause.of_kind == "changes" else wakes.replied
        return replied(cause.entity, cause.fact, at, world)
    handlers = journal.HANDLERS if type(cause) in journal.HANDLERS else _rarer()
    return handlers[type(cause)](cause, key, at, world)


# ----------------------------------------------------------------------------- from a cause to rows


class Executed(NamedTuple):
    """Everything one cause writes, and the result for its caller."""

    rows: tuple[Row, ...]
    payloads: tuple[Payload, ...]
    result: Result


_encoder = msgspec.json.Encoder()


def execute(
    cause: Cause, given: str, at: str, prev: str, world: LogState, who: str = ""
) -> Executed:
    """Everything one cause writes.

    Args:
        cause: What happened outside, or what a person or adapter wants.
        given: The caller's idempotency key, or empty.
        prev: Digest of the replica's previous append; empty for the first.
        who: Whose deed a command is, see `Receipt`.

    Raises:
        Refused: If the rules do not allow the command now.
    """
    if isinstance(cause, LogFact):
        alone = [(world.stream("log", MAIN), cause)]
        return Executed(_rows(alone, at, prev, world), (), Result())
    if isinstance(cause, Replied):
        events, result, payloads = handle(cause, "", at, world)
    else:
        name = given or command_key(world.log, world.replica, world.n)
        events, result, payloads = handle(cause, name, at, world)
        if events or given:
            events = [(world.stream("receipt", name), Receipt(cause, result, who)), *events]
    return Executed(_rows(events, at, prev, world), tuple(payloads), result)


def _rows(
    events: Sequence[tuple[str, Stored]], at: str, prev: str, world: LogState
) -> tuple[Row, ...]:
    versions: dict[str, int] = {}
    rows: list[Row] = []
    for index, (stream, fact) in enumerate(events):
        if stream not in versions:
            versions[stream] = world.version(stream)
        versions[stream] += 1
        data: Any = fact  # one of the event union, as every fact that a handler makes
        if index:
            envelope = Envelope(n=world.n, row=index, data=data)
        else:
            envelope = Envelope(at=at, n=world.n, rows=len(events), prev=prev, data=data)
        rows.append(Row(stream, versions[stream], tag_of(fact), _encoder.encode(envelope)))
    return tuple(rows)

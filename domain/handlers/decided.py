"""What a handler answers: facts with their streams, a result, and payloads made here."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from domain.causes import Result
from domain.wire import Payload, Stored
from domain.world import Kind, Recorded, World

S = TypeVar("S")
Event = tuple[str, Stored]


class Decided(NamedTuple):
    events: Sequence[Event] = ()
    result: Result = Result()
    payloads: Sequence[Payload] = ()


def on(world: World, kind: str, entity: str, facts: Sequence[Stored]) -> list[Event]:
    """Facts as events of the stream that this replica writes for an entity."""
    stream = world.stream(kind, entity)
    return [(stream, fact) for fact in facts]


def after(world: World, kind: Kind[S], state: S, facts: Sequence[Stored], at: str) -> S:
    """A state as it will be once the facts decided here stand in the log."""
    for fact in facts:
        state = kind.evolve(state, Recorded("", 0, world.replica, world.n, 0, at, fact))
    return state

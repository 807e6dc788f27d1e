"""What a handler answers: facts with their streams, a result, and payloads made here."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from domain.causes import Result
from domain.wire import Payload, Stored
from domain.world import Kind, Recorded, World

S = TypeVar("S")
Event = tuple[str, Stored]


class Decided(NamedTuple):
    events: Sequence[Event] = ()
    result: Result = Result()
    payloads: Sequence[Payload] = ()


class Loads(Protocol):
    """A world, or one that is `Ahead` of it."""

    def load(self, kind: Kind[S], entity: str) -> S: ...

    def stream(self, kind: str, entity: str) -> str: ...


class Ahead:
    """The world as it will be once the events that are added stand in the log."""

    def __init__(self, world: World, at: str, events: Iterable[Event] = ()) -> None:
        self.events: list[Event] = []
        self._world = world
        self._at = at
        self._facts: dict[str, list[Stored]] = {}
        self.add(events)

    def add(self, events: Iterable[Event]) -> None:
        for stream, fact in events:
            self.events.append((stream, fact))
            self._facts.setdefault(stream, []).append(fact)

    def stream(self, kind: str, entity: str) -> str:
        return self._world.stream(kind, entity)

    def load(self, kind: Kind[S], entity: str) -> S:
        facts = self._facts.get(self.stream(kind.name, entity), ())
        return after(self._world, kind, self._world.load(kind, entity), facts, self._at)


def on(world: Loads, kind: str, entity: str, facts: Sequence[Stored]) -> list[Event]:
    """Facts as events of the stream that this replica writes for an entity."""
    stream = world.stream(kind, entity)
    return [(stream, fact) for fact in facts]


def after(world: World, kind: Kind[S], state: S, facts: Sequence[Stored], at: str) -> S:
    """A state as it will be once the facts decided here stand in the log."""
    for fact in facts:
        state = kind.evolve(state, Recorded("", 0, world.replica, world.n, 0, at, fact))
    return state

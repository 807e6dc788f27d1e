"""What a handler answers: facts with their streams, a result, and payloads made here."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from domain.append.causes import Result
from domain.log.state import LogState, RecordedEvent, StreamType
from domain.log.wire import Payload, Stored

S = TypeVar("S")
Event = tuple[str, Stored]


class Decision(NamedTuple):
    events: Sequence[Event] = ()
    result: Result = Result()
    payloads: Sequence[Payload] = ()


class StateLoader(Protocol):
    """The state of a log, or one that is ahead of it: `StateAhead`."""

    def load(self, kind: StreamType[S], entity: str) -> S: ...

    def stream(self, kind: str, entity: str) -> str: ...


class StateAhead:
    """The world as it will be once the events that are added stand in the log."""

    def __init__(self, world: LogState, at: str, events: Iterable[Event] = ()) -> None:
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

    def load(self, kind: StreamType[S], entity: str) -> S:
        facts = self._facts.get(self.stream(kind.name, entity), ())
        return after(self._world, kind, self._world.load(kind, entity), facts, self._at)


def on(world: StateLoader, kind: str, entity: str, facts: Sequence[Stored]) -> list[Event]:
    """Facts as events of the stream that this replica writes for an entity."""
    stream = world.stream(kind, entity)
    return [(stream, fact) for fact in facts]


def after(world: LogState, kind: StreamType[S], state: S, facts: Sequence[Stored], at: str) -> S:
    """A state as it will be once the facts decided here stand in the log."""
    for fact in facts:
        state = kind.evolve(state, RecordedEvent("", 0, world.replica, world.n, 0, at, fact))
    return state

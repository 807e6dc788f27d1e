"""A second way to a world of the past: one log, folded forward from its beginning."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from domain.append.envelope import STREAM_TYPES
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import PayloadId, Words

S = TypeVar("S")


class Standing:
    """A `replay.world_at.Scene` that knows every state of every entity it has met."""

    def __init__(self, replica: str, payload: Callable[[PayloadId], bytes | None]) -> None:
        """Begin before the first append.

        Args:
            replica: Whose own streams are folded besides the merged ones.
            payload: Gives the bytes of a payload, or None.
        """
        self._replica = replica
        self._payload = payload
        self._states: dict[tuple[str, str], Any] = {}

    def take(self, rows: Iterable[RecordedEvent]) -> None:
        """Go on by one append, or by more, in canonical order."""
        for row in rows:
            kind = STREAM_TYPES.get(row.of_kind)
            if kind is None or not (kind.is_merged or row.replica == self._replica):
                continue
            name = (row.of_kind, row.entity)
            known = self._states.get(name)
            before = kind.initial(row.entity) if known is None else known
            self._states[name] = kind.evolve(before, row)

    def entities(self, kind: StreamType[Any]) -> list[str]:
        """Ids of a kind's entities, in the order in which they were met."""
        return [entity for name, entity in self._states if name == kind.name]

    def load(self, kind: StreamType[S], entity: str) -> S:
        found = self._states.get((kind.name, entity))
        return kind.initial(entity) if found is None else found

    def load_all(self, kind: StreamType[S], entity: str) -> list[S]:
        return [self.load(kind, entity)]

    def text(self, words: Words) -> str:
        data = self._payload(words.payload) if words.payload else words.text.encode()
        assert data is not None, f"the log names the payload {words.payload}, and has it not"
        return data.decode()

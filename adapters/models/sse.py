"""Server-sent events, in which providers stream their answers: bytes, lines, pieces."""

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from adapters.models import faults, json_objects
from adapters.models.faults import Trouble
from domain.ports import Listener

Json = dict[str, Any]

DATA = b"data:"
DONE = b"[DONE]"
LINES_MAX = 65_536  # two for each piece
HIDDEN_KEY = "[key]"


class StreamRelay:
    """Tells a listener the words of a stream of bytes, however they are cut."""

    def __init__(
        self, listener: Listener, hidden: str, words: Callable[[Json], Iterable[str]],
        lines_max: int = LINES_MAX,
    ) -> None:  # fmt: skip
        """`hidden`: the key, should the endpoint repeat it; empty: there is none. `words`: what a
        piece of an answer says."""
        self._listener, self._hidden, self._words = listener, hidden, words
        self._lines_max, self._lines = lines_max, 0
        self._rest = bytearray()

    def take(self, data: bytes) -> None:
        """Some more bytes. What is no piece of an answer is left to who reads the whole. Raises
        `Trouble`: they are too many lines."""
        self._rest += data
        if b"\n" not in data:
            return
        *lines, self._rest = self._rest.split(b"\n")
        self._lines += len(lines)
        if self._lines > self._lines_max:
            raise Trouble(faults.too_large(f"{self._lines_max} lines"), again=False)
        for line in lines:
            piece = object_of(line.strip()[len(DATA) :]) if line.startswith(DATA) else {}
            for text in self._words(piece):
                self._listener.said(without(text, self._hidden))


class StreamEvents(NamedTuple):
    """The data of a stream's events, the lines between them, and whether its end is said."""

    data: list[bytes]
    rest: bytes
    is_done: bool


def split(body: bytes) -> StreamEvents:
    """The events of a body; no data where it is no stream."""
    lines = [line.strip() for line in body.splitlines()]
    rest = b"\n".join(line for line in lines if not line.startswith(DATA))
    data = [line[len(DATA) :].strip() for line in lines if line.startswith(DATA)]
    return StreamEvents([one for one in data if one not in (b"", DONE)], rest, DONE in data)


def object_of(data: bytes | bytearray) -> Json:
    """A JSON object; empty where this is none."""
    return json_objects.loads(bytes(data)) or {}


def last_said(pieces: list[Json]) -> Json:
    """Fields as they were said last, in the order of the last piece, which has them all."""
    merged: Json = {}
    for piece in reversed(pieces):
        for name, value in piece.items():
            merged.setdefault(name, value)
    return merged


def written(merged: Json, hidden: str) -> bytes:
    """The answer that a stream comes to, as it is recorded; without the key, which could be cut
    by pieces, and whole again here."""
    text = without(json.dumps(merged, indent=2, ensure_ascii=False), hidden)
    return text.encode(errors="replace")  # a lone surrogate is no text


def without(text: str, hidden: str) -> str:
    """A text in which a key does not stand; empty: there is no key."""
    return text.replace(hidden, HIDDEN_KEY) if hidden else text

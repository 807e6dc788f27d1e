r"""A streamed answer of Gemini: server-sent events, each with a piece of it.

    data: {"candidates": [{"content": {"parts": [{"text": "It "}], "role": "model"}, ...

What is recorded is the answer that the pieces come to, in the form in which Google sends whole
ones: parts in their order, texts that go on joined, of everything else the last that was said
(finish reason and usage stand in the last piece). A part with a signature is kept as it came,
because a signature must not move to other words; so where Gemini signs a text in a piece of its
own, that piece stays a part of its own.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from adapters.models import bounds, gemini_reply
from adapters.models.gemini_faults import Trouble, of_status
from domain.ports import Listener

Json = dict[str, Any]

DATA = b"data:"
STATUSES = range(300, 600)
LINES_MAX = 65_536  # two for each piece
HIDDEN_KEY = "[key]"


class Aloud:
    """Tells a listener the words of a stream of bytes, however they are cut."""

    def __init__(self, listener: Listener, hidden: str) -> None:
        """`hidden` is the key, should the endpoint repeat it."""
        self._listener = listener
        self._hidden = hidden
        self._rest = bytearray()
        self._lines = 0

    def take(self, data: bytes) -> None:
        """Some more bytes. What is no piece of an answer is left to `whole`.

        Raises:
            Trouble: They are too many lines.
        """
        self._rest += data
        if b"\n" not in data:
            return
        *lines, self._rest = self._rest.split(b"\n")
        self._lines += len(lines)
        if self._lines > LINES_MAX:
            raise Trouble(bounds.too_large(f"{LINES_MAX} lines"), again=False)
        for line in lines:
            piece = _object(line.strip()[len(DATA) :]) if line.startswith(DATA) else {}
            for text in _words(piece):
                self._listener.said(text.replace(self._hidden, HIDDEN_KEY))


def _words(piece: Json) -> Iterator[str]:
    """What a piece says, thoughts left out."""
    for part in _parts(_candidate(piece)):
        if isinstance(text := part.get("text"), str) and text and not part.get("thought"):
            yield text


def whole(body: bytes, headers: Mapping[str, str], hidden: str) -> bytes:
    """The answer that a streamed body comes to.

    Args:
        body: As it was sent. One without events is given on as it is.
        headers: Of the answer; names in lower case.
        hidden: The key: it could be cut by pieces, and whole again here.

    Raises:
        Trouble: The stream holds an error, or what cannot be read.
    """
    lines = [line.strip() for line in body.splitlines()]
    pieces = [_read(line[len(DATA) :]) for line in lines if line.startswith(DATA)]
    if not pieces:
        return body
    pieces.append(_object(b"\n".join(line for line in lines if not line.startswith(DATA))))
    for piece in pieces:
        if isinstance(error := piece.get("error"), dict):
            raise _trouble(error, headers)
    merged = _merged(pieces)
    text = json.dumps(merged, indent=2, ensure_ascii=False).replace(hidden, HIDDEN_KEY)
    return text.encode(errors="replace")  # a lone surrogate is no text


def _read(data: bytes) -> Json:
    """A piece. Raises `Trouble`: it is none, or not of the form that pieces have."""
    gemini_reply.read(data)
    return _object(data)


def _object(data: bytes | bytearray) -> Json:
    """A JSON object; empty where this is none."""
    return gemini_reply.loads(bytes(data)) or {}


def _trouble(error: Json, headers: Mapping[str, str]) -> Trouble:
    """What an error in the stream stands for: what it would have been as a status."""
    code = error.get("code")
    status = code if isinstance(code, int) and code in STATUSES else 500
    return of_status(status, json.dumps({"error": error}).encode(), headers)


def _merged(pieces: list[Json]) -> Json:
    """All pieces as one answer."""
    merged = _last_said(pieces)
    spoken = [found for piece in pieces if (found := _candidate(piece))]
    if not spoken:
        return merged
    candidate = _last_said(spoken)
    contents = [content for one in spoken if isinstance(content := one.get("content"), dict)]
    if contents:
        parts = _joined(part for one in spoken for part in _parts(one))
        others = {name: value for one in contents for name, value in one.items()}
        others.pop("parts", None)
        candidate["content"] = {"parts": parts, **others} if parts else others
    merged["candidates"] = [candidate]
    return merged


def _last_said(pieces: list[Json]) -> Json:
    """Fields as they were said last, in the order of the last piece, which has them all."""
    merged: Json = {}
    for piece in reversed(pieces):
        for name, value in piece.items():
            merged.setdefault(name, value)
    return merged


def _joined(parts: Iterable[Json]) -> list[Json]:
    """Parts in their order; a text that goes on is joined to what it goes on from."""
    found: list[tuple[Json, list[str]]] = []  # a part, and the texts that go on from it
    for part in parts:
        last = found[-1][0] if found else {}
        if _is_plain(part) and part["text"] == "" and found:  # the end of a stream, often
            continue
        if _is_plain(last) and _is_plain(part) and last.get("thought") == part.get("thought"):
            found[-1][1].append(part["text"])
        else:
            found.append((part, []))
    return [
        {**part, "text": part["text"] + "".join(more)} if more else part for part, more in found
    ]


def _is_plain(part: Json) -> bool:
    """Whether a part is words and nothing else, no signature above all."""
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def _candidate(piece: Json) -> Json:
    """The one candidate that is asked for; empty where a piece has none."""
    found = piece.get("candidates")
    first = found[0] if isinstance(found, list) and found else None
    return first if isinstance(first, dict) else {}


def _parts(candidate: Json) -> list[Json]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []

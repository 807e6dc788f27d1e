r"""A streamed answer of Gemini: server-sent events, each with a piece of it.

    data: {"candidates": [{"content": {"parts": [{"text": "It "}], "role": "model"}, ...

What is recorded is the answer that the pieces come to, in the form in which Google sends whole
ones: parts in their order, texts that go on joined, of everything else the last that was said
(finish reason and usage stand in the last piece). A part with a signature is kept as it came,
because a signature must not move to other words; so where Gemini signs a text in a piece of its
own, that piece stays a part of its own.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.models import gemini_reply
from adapters.models.gemini_faults import Trouble, of_status
from domain.ports import Listener

Json = dict[str, Any]

DATA = b"data:"
STATUSES = range(300, 600)
HIDDEN_KEY = "[key]"


class Aloud:
    """Tells a listener the words of a stream of bytes, however they are cut."""

    def __init__(self, listener: Listener, hidden: str) -> None:
        """`hidden` is the key, should the endpoint repeat it."""
        self._listener = listener
        self._hidden = hidden
        self._rest = b""

    def take(self, data: bytes) -> None:
        """Some more bytes. What is no piece of an answer is left to `whole`."""
        *lines, self._rest = (self._rest + data).split(b"\n")
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
    merged: Json = {}
    for piece in pieces:
        if isinstance(error := piece.get("error"), dict):
            raise _trouble(error, headers)
        merged = _merged(merged, piece)
    text = json.dumps(merged, indent=2, ensure_ascii=False).replace(hidden, HIDDEN_KEY)
    return text.encode(errors="replace")  # a lone surrogate is no text


def _read(data: bytes) -> Json:
    """A piece. Raises `Trouble`: it is none, or not of the form that pieces have."""
    gemini_reply.read(data)
    return _object(data)


def _object(data: bytes) -> Json:
    """A JSON object; empty where this is none."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _trouble(error: Json, headers: Mapping[str, str]) -> Trouble:
    """What an error in the stream stands for: what it would have been as a status."""
    code = error.get("code")
    status = code if isinstance(code, int) and code in STATUSES else 500
    return of_status(status, json.dumps({"error": error}).encode(), headers)


def _merged(one: Json, more: Json) -> Json:
    """Two pieces as one: fields in the order of the later one, which has them all at the end."""
    merged = {**more, **{name: value for name, value in one.items() if name not in more}}
    first, second = _candidate(one), _candidate(more)
    if first or second:
        merged["candidates"] = [_candidates(first, second)]
    return merged


def _candidates(one: Json, more: Json) -> Json:
    merged = {**more, **{name: value for name, value in one.items() if name not in more}}
    contents = [found for side in (one, more) if isinstance(found := side.get("content"), dict)]
    if contents:
        parts: list[Json] = []
        for side in (one, more):
            for part in _parts(side):
                _add(parts, part)
        others = {name: value for side in contents for name, value in side.items()}
        others.pop("parts", None)
        merged["content"] = {"parts": parts, **others} if parts else others
    return merged


def _add(parts: list[Json], part: Json) -> None:
    """Put a part behind the others; a text that goes on is joined to what it goes on from."""
    last = parts[-1] if parts else {}
    if _is_plain(part) and part["text"] == "" and parts:  # the end of a stream, often
        return
    if _is_plain(last) and _is_plain(part) and last.get("thought") == part.get("thought"):
        parts[-1] = {**last, "text": last["text"] + part["text"]}
    else:
        parts.append(part)


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

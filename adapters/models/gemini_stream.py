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

from adapters.models import events, gemini_reply
from adapters.models.events import last_said, object_of
from adapters.models.faults import Trouble
from adapters.models.gemini_faults import of_status

Json = dict[str, Any]

STATUSES = range(300, 600)


def words(piece: Json) -> Iterator[str]:
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
    sent = events.split(body)
    if not sent.data:
        return body
    pieces = [*map(_read, sent.data), object_of(sent.rest)]
    for piece in pieces:
        if isinstance(error := piece.get("error"), dict):
            raise _trouble(error, headers)
    return events.written(_merged(pieces), hidden)


def _read(data: bytes) -> Json:
    """A piece. Raises `Trouble`: it is none, or not of the form that pieces have."""
    gemini_reply.read(data)
    return object_of(data)


def _trouble(error: Json, headers: Mapping[str, str]) -> Trouble:
    """What an error in the stream stands for: what it would have been as a status."""
    code = error.get("code")
    status = code if isinstance(code, int) and code in STATUSES else 500
    return of_status(status, json.dumps({"error": error}).encode(), headers)


def _merged(pieces: list[Json]) -> Json:
    """All pieces as one answer."""
    merged = last_said(pieces)
    spoken = [found for piece in pieces if (found := _candidate(piece))]
    if not spoken:
        return merged
    candidate = last_said(spoken)
    contents = [content for one in spoken if isinstance(content := one.get("content"), dict)]
    if contents:
        parts = _joined(part for one in spoken for part in _parts(one))
        others = {name: value for one in contents for name, value in one.items()}
        others.pop("parts", None)
        candidate["content"] = {"parts": parts, **others} if parts else others
    merged["candidates"] = [candidate]
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

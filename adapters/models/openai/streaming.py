r"""A streamed answer: server-sent events, each with a piece of it.

    data: {"choices": [{"delta": {"content": "It "}, "index": 0}], ...}
    data: [DONE]

What is recorded is the answer that the pieces come to, in the form of whole ones: words and
thoughts joined, calls put together by their place, of everything else the last that was said.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.models import events
from adapters.models.events import last_said, object_of
from adapters.models.openai import decoding, faults
from adapters.models.openai.messages import THOUGHTS

Json = dict[str, Any]

LINES_MAX = 262_144  # two for each piece, which is one token
DONE = b"[DONE]"
ERROR = b"error:"
"""With which older servers of llama.cpp begin a line, instead of an event."""
JOINED = ("content", "refusal", *THOUGHTS)
OPEN, CLOSE = "<think>", "</think>"


class Words:
    """What the pieces of a stream say, one after the other; thoughts are left out, also those that
    stand before the words, as `decoding.THOUGHT` finds them in a whole answer."""

    def __init__(self) -> None:
        self._held: str | None = ""  # None: all that comes is words

    def __call__(self, piece: Json) -> Iterator[str]:
        text = _delta(_choice(piece)).get("content")
        if not isinstance(text, str) or not text:
            return
        if self._held is None:
            yield text
            return
        self._held += text
        begun = self._held.lstrip()
        if OPEN.startswith(begun) or (begun.startswith(OPEN) and CLOSE not in begun):
            return
        if begun.startswith(OPEN):
            begun = begun.partition(CLOSE)[2].lstrip()
            if not begun:
                return
            self._held = begun
        said, self._held = self._held, None
        yield said


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
    for found in _beside(sent.rest):
        _check(found, headers)
    data = [one for one in sent.data if one.strip() != DONE]
    if not sent.data:
        return body
    return events.written(_merged([_read(one, headers) for one in data]), hidden)


def _read(data: bytes, headers: Mapping[str, str]) -> Json:
    """A piece. Raises `Trouble`: it is none, tells of an error, or has another form."""
    piece = object_of(data)
    _check(piece, headers)
    decoding.read(data)
    return piece


def _beside(rest: bytes) -> Iterator[Json]:
    """Documents that may tell of an error between the events of a stream."""
    yield object_of(rest)
    for line in rest.splitlines():
        if line.startswith(ERROR):
            told = object_of(line.removeprefix(ERROR))
            yield told if "error" in told else {"error": told}


def _check(piece: Json, headers: Mapping[str, str]) -> None:
    if trouble := faults.of_answer(piece, headers):
        raise trouble


def _merged(pieces: list[Json]) -> Json:
    """All pieces as one answer."""
    merged = last_said([{name: one for name, one in piece.items() if one is not None}
                        for piece in pieces])  # fmt: skip
    spoken = [found for piece in pieces if (found := _choice(piece))]
    if "object" in merged:
        merged["object"] = "chat.completion"
    if spoken:
        merged["choices"] = [_said(spoken)]
    return merged


def _said(spoken: list[Json]) -> Json:
    """The one choice. A server that streams nothing sends its message whole."""
    deltas = [_delta(one) for one in spoken]
    message: Json = {"role": "assistant", "content": None}
    for name in ("role", *JOINED):
        values = [delta[name] for delta in deltas if delta.get(name) is not None]
        if not values:
            continue
        is_joined = name != "role" and all(isinstance(one, type(values[0])) for one in values)
        message[name] = values[0]
        for value in values[1:] if is_joined else ():
            message[name] += value
    if calls := _calls(deltas):
        message["tool_calls"] = calls
    reasons = [one["finish_reason"] for one in spoken if one.get("finish_reason")]
    return {"index": 0, "message": message, "finish_reason": reasons[-1] if reasons else None}


def _calls(deltas: list[Json]) -> list[Json]:
    """The calls, in order. Some servers give all of them one place, or none."""
    found: list[Json] = []
    at_place: dict[Any, Json] = {}
    for piece in _pieces_of_calls(deltas):
        place, known = piece.get("index"), at_place.get(piece.get("index"))
        named, other = piece.get("id"), known.get("id") if known else None
        given = piece.get("function")
        function = given if isinstance(given, dict) else {}
        is_other = bool(named and other and named != other)
        if known is None or is_other or (place is None and function.get("name")):
            call = {name: value for name, value in piece.items() if name != "index"}
            at_place[place] = {**call, "function": dict(function)}
            found.append(at_place[place])
            continue
        if named:
            known["id"] = named
        _add(known["function"], function)
    return found


def _add(known: Json, more: Json) -> None:
    """What comes to a function: its arguments go on, a name is said once."""
    known["name"] = known.get("name") or more.get("name")
    before, after = known.get("arguments"), more.get("arguments")
    is_text = isinstance(before, str) and isinstance(after, str)
    known["arguments"] = f"{before}{after}" if is_text else before or after


def _pieces_of_calls(deltas: list[Json]) -> Iterator[Json]:
    for delta in deltas:
        given = delta.get("tool_calls")
        yield from (
            (one for one in given if isinstance(one, dict)) if isinstance(given, list) else ()
        )


def _choice(piece: Json) -> Json:
    """The one choice that is asked for; empty where a piece has none."""
    found = piece.get("choices")
    first = found[0] if isinstance(found, list) and found else None
    return first if isinstance(first, dict) else {}


def _delta(choice: Json) -> Json:
    delta = choice.get("delta") or choice.get("message")
    return delta if isinstance(delta, dict) else {}

"""A request as Gemini is sent it.

An earlier turn goes back as it came: the model's content is taken from the recorded bytes, with
thoughts, signatures and fields that we do not know, and one content behind it answers all of its
calls, in order, under the ids and names that the model gave them. Both are plain JSON, because
the SDK's types would write a signature in another alphabet of base64 and refuse unknown fields.

An earlier turn whose bytes are not Gemini's (a wake that is replayed with another model) is told
as text: calls without a signature would be refused.
"""

import json
from typing import Any

from adapters.models.wording import BEGIN, NUDGES, UNANSWERED, go_on, joined, retold
from domain.ports import CallResult, Exchange, Request

Json = dict[str, Any]


def system(request: Request) -> str:
    """The system instruction; empty if there is none."""
    return joined(request.system)


def contents(request: Request, nudges: int = 0) -> list[Json]:
    """All turns up to now, the last one the user's.

    Args:
        request: The request.
        nudges: How many answers to it could not be read; at most ``len(NUDGES)``.
    """
    found = [_user(joined(request.user) or BEGIN)]
    for exchange in request.exchanges:
        found += _exchange(exchange, request.forced)
    if nudges:
        found.append(_user(NUDGES[nudges - 1]))
    return found


def mode(request: Request, nudges: int = 0) -> tuple[str, list[str]]:
    """How functions are called, and the only ones that may be, if not all.

    ``VALIDATED`` lets the model choose between words and calls that fit their schemas; ``ANY``
    demands a call: of the forced tool, or after a call that could not be read.
    """
    if request.forced:
        return "ANY", [request.forced]
    return ("ANY" if nudges else "VALIDATED"), []


def _exchange(exchange: Exchange, forced: str) -> list[Json]:
    following = _user(go_on(forced))
    content = _content(exchange.reply)
    if content is None:
        return [_user(retold(exchange))]
    calls = _calls(content)
    if calls:
        return [content, {"role": "user", "parts": _answers(calls, exchange.results)}]
    return [content, following] if content.get("parts") else [following]


def _content(raw: bytes) -> Json | None:
    """The model's content, verbatim; empty where it said nothing; None if this is not Gemini's."""
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    candidates = document.get("candidates") if isinstance(document, dict) else None
    if not isinstance(candidates, list):
        return None
    content = candidates[0].get("content") if candidates else None
    if not isinstance(content, dict):
        return {}
    return content if "role" in content else {**content, "role": "model"}


def _calls(content: Json) -> list[Json]:
    return [part["functionCall"] for part in content.get("parts") or () if part.get("functionCall")]


def _answers(calls: list[Json], results: tuple[CallResult, ...]) -> list[Json]:
    """One answer for each call, whatever became of it: a turn with fewer is refused."""
    return [
        {"functionResponse": _answer(call, results[place] if place < len(results) else None)}
        for place, call in enumerate(calls)
    ]


def _answer(call: Json, result: CallResult | None) -> Json:
    output = result.output if result else UNANSWERED
    kind = "output" if result and not result.is_error else "error"
    named = {"id": call["id"]} if call.get("id") else {}
    return {**named, "name": call.get("name") or "", "response": {kind: output}}


def _user(text: str) -> Json:
    return {"role": "user", "parts": [{"text": text}]}

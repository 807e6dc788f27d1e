"""A local HTTP server that speaks Gemini's REST API, as far as agents use it.

It answers from a script, keeps what it was sent, and refuses what the real one refuses: a wrong
key, a turn whose calls are not all answered in one content, a first call without the signature
that came with it. What it says in one piece it also streams: see `pieces`.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.support.scripted_server import Answer, ScriptedServer, Sent, served
from wakelog.testing import quoted

KEY = "AIzaSyFake-Key_0123456789abcdefghijklmn"
MODEL = "gemini-3.1-pro-preview"
PATH = f"/v1beta/models/{MODEL}:generateContent"
STREAM_PATH = f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
SIGNATURE = "Q2+/w8Pz+//7/w=="
"""Base64 of the standard alphabet: whoever decodes it and writes it anew changes it."""
WORDS = 7  # characters in a piece of a text


# ------------------------------------------------------------------------------- what it may say


def text(words: str) -> dict[str, Any]:
    return {"text": words}


def thought(words: str) -> dict[str, Any]:
    return {"text": words, "thought": True}


def call(
    name: str, arguments: dict[str, Any] | None = None, *, call_id: str = "", signature: str = ""
) -> dict[str, Any]:
    """A part with a function call; of parallel ones only the first carries a signature."""
    named = {"id": call_id} if call_id else {}
    signed = {"thoughtSignature": signature} if signature else {}
    return {
        "functionCall": {**named, "name": name, "args": json.loads(quoted(name, arguments or {}))},
        **signed,
    }


def answer(
    *parts: dict[str, Any], finish: str = "STOP", tokens: Sequence[int] = (100, 20, 7), **more: Any
) -> Answer:
    """An answer as Gemini formats it. `tokens`: of the prompt, of the answer, of thoughts."""
    names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}}
    if not parts:
        candidate = {"content": {"role": "model"}}
    document = {
        "candidates": [{**candidate, "finishReason": finish, "index": 0, **more}],
        "usageMetadata": dict(zip(names, tokens, strict=False)),
        "modelVersion": MODEL,
        "responseId": "r-1",
    }
    return Answer(json.dumps(document, indent=2, ensure_ascii=False).encode())


def document(**fields: Any) -> Answer:
    """A body with status 200 and these fields."""
    return Answer(json.dumps(fields).encode())


def error(code: int, status: str, message: str, *details: dict[str, Any]) -> Answer:
    """An error as Google formats it."""
    body = {"error": {"code": code, "message": message, "status": status, "details": list(details)}}
    return Answer(json.dumps(body, indent=2).encode(), code)


def retry_info(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota(name: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaMetric": "requests", "quotaId": name}],
    }


def limited(*details: dict[str, Any]) -> Answer:
    """429, as Google says it."""
    return error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", *details)


def pieces(body: bytes) -> list[bytes]:
    """A whole answer as Gemini streams it: a few words at a time, functions whole, reason and
    full usage in the last piece; the signature of a text comes behind it, with no words."""
    try:
        whole = json.loads(body)
        (candidate,) = whole["candidates"]
        parts = [piece for part in candidate["content"]["parts"] for piece in _cut(part)]
    except (ValueError, KeyError, TypeError):
        return [json.dumps(json.loads(body), ensure_ascii=False).encode()]
    usage = {"promptTokenCount": whole["usageMetadata"]["promptTokenCount"]}
    found: list[dict[str, Any]] = []
    for part in parts:
        content = {"parts": [part], "role": "model"}
        spoken = {"content": content, "index": 0}
        found.append({**whole, "candidates": [spoken], "usageMetadata": usage})
    content = {"parts": [parts[-1]], "role": "model"}
    found[-1] = {**whole, "candidates": [{**candidate, "content": content}]}
    return [json.dumps(one, ensure_ascii=False).encode() for one in found]


def _cut(part: dict[str, Any]) -> list[dict[str, Any]]:
    words = part.get("text", "")
    cuts = [words[place : place + WORDS] for place in range(0, len(words), WORDS)]
    if "text" not in part or not cuts:
        return [part]
    plain = {name: value for name, value in part.items() if name != "thoughtSignature"}
    signed = [{**part, "text": ""}] if "thoughtSignature" in part else []
    return [*({**plain, "text": cut} for cut in cuts), *signed]


# ------------------------------------------------------------------------------------ the server


class GeminiServer(ScriptedServer):
    """Speaks as Google does."""

    def has_key(self, sent: Sent) -> bool:
        return sent.headers.get("x-goog-api-key") == KEY

    def unknown_key(self) -> Answer:
        reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        return error(400, "INVALID_ARGUMENT", "API key not valid.", reason)

    def refusal(self, message: str) -> Answer:
        return error(400, "INVALID_ARGUMENT", message)

    def wrongs(self, sent: Sent) -> Iterator[str]:
        return _wrongs(sent)

    def is_streamed(self, sent: Sent) -> bool:
        return ":stream" in sent.path

    def pieces(self, body: bytes) -> list[bytes]:
        return pieces(body)


def serving(*script: Answer) -> AbstractContextManager[GeminiServer]:
    """A server with a script, see `served`."""
    return served(GeminiServer(script))


def _wrongs(sent: Sent) -> Iterator[str]:
    """What the real server would refuse a request for."""
    contents = sent.contents
    if not sent.path.startswith("/v1beta/models/"):
        yield f"no such path: {sent.path}"
    if not contents or contents[-1]["role"] != "user":
        yield "the last content must be the user's"
    for place, content in enumerate(contents):
        parts = content.get("parts")
        if not parts:
            yield "a content must have parts"
            continue
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if not calls:
            continue
        if not next(part for part in parts if "functionCall" in part).get("thoughtSignature"):
            yield "Function call is missing a thought_signature in functionCall parts."
        following = contents[place + 1]["parts"] if place + 1 < len(contents) else []
        answers = [part.get("functionResponse", {}) for part in following]
        if [_named(one) for one in answers] != [_named(one) for one in calls]:
            yield "the number of function response parts must equal that of function call parts"


def _named(entry: dict[str, Any]) -> tuple[Any, Any]:
    return entry.get("name"), entry.get("id")

"""A local HTTP server that speaks OpenAI's protocol, as servers do that people run themselves.

It refuses what a strict one refuses: a wrong key, calls that are not all answered behind the turn
that made them, empty lists of calls, two turns of the person in a row. What it is given to say in
one piece it also streams: see `pieces`.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.support.scripted_server import Answer, ScriptedServer, Sent, served
from wakelog.testing import quoted

KEY = "sk-fake_Key-0123456789abcdefghijklmn"
MODEL = "qwen3:8b"
PATH = "/v1/chat/completions"
WORDS = 7  # characters in a piece of a text

Json = dict[str, Any]


def call(name: str, arguments: Any = None, *, call_id: str = "") -> Json:
    """A call; its arguments are text here, but where they are given as text already."""
    given = quoted(name, arguments or {})
    named = {"id": call_id} if call_id else {}
    return {**named, "type": "function", "function": {"name": name, "arguments": given}}


def answer(
    words: str | None = None,
    *calls: Json,
    finish: str | None = "",
    tokens: Sequence[int] = (100, 27, 7),
    **more: Any,
) -> Answer:
    """An answer as the protocol has it. `tokens`: of the prompt, of all that was written, of
    thoughts among that; `more`: other fields of the message."""
    message: Json = {"role": "assistant", "content": words, **more}
    if calls:
        message["tool_calls"] = list(calls)
    reason = ("tool_calls" if calls else "stop") if finish == "" else finish
    usage: Json = {"prompt_tokens": tokens[0]}
    if len(tokens) > 1:
        usage |= {"completion_tokens": tokens[1], "total_tokens": tokens[0] + tokens[1]}
    if len(tokens) > 2:
        usage["completion_tokens_details"] = {"reasoning_tokens": tokens[2]}
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }
    return Answer(json.dumps(whole, indent=2, ensure_ascii=False).encode())


def document(**fields: Any) -> Answer:
    """A body with status 200 and these fields."""
    return Answer(json.dumps(fields).encode())


def error(status: int, message: str, kind: str = "", code: Any = None) -> Answer:
    """An error as OpenAI, vLLM, llama.cpp and LM Studio send it."""
    body = {"error": {"message": message, "type": kind or "api_error", "param": None, "code": code}}
    return Answer(json.dumps(body).encode(), status)


def bare(status: int, message: str) -> Answer:
    """An error as Ollama's and LM Studio's are at times: its words alone."""
    return Answer(json.dumps({"error": message}).encode(), status)


def pieces(body: bytes) -> list[bytes]:
    """A whole answer as it is streamed: a few characters at a time, of calls too, the reason in a
    piece without words, then one without choices that counts the tokens, then the end."""
    try:
        whole = json.loads(body)
        (choice,) = whole["choices"]
        message = dict(choice["message"])
    except (ValueError, KeyError, TypeError):
        return [json.dumps(json.loads(body), ensure_ascii=False).encode()]
    calls = message.pop("tool_calls", [])
    deltas: list[Json] = [{"role": message.pop("role"), "content": ""}]
    content = message.pop("content")
    for name, value in [*message.items(), ("content", content)]:
        cuts = _cut(value) if isinstance(value, str) else [value]
        deltas += [{name: cut} for cut in cuts if cut is not None]
    if content is None:
        deltas[0].pop("content")
    for place, one in enumerate(calls):
        function = one["function"]
        first = {**one, "index": place, "function": {"name": function["name"], "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        deltas += [
            {"tool_calls": [{"index": place, "function": {"arguments": cut}}]}
            for cut in _cut(function["arguments"])
        ]
    head = {**whole, "object": "chat.completion.chunk"}
    usage = head.pop("usage", None)
    said = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    said += [{**head, "choices": [last]}, {**head, "choices": [], "usage": usage}]
    return [*(json.dumps(one, ensure_ascii=False).encode() for one in said), b"[DONE]"]


def _cut(text: str) -> list[str]:
    return [text[place : place + WORDS] for place in range(0, len(text), WORDS)]


class OpenAIServer(ScriptedServer):
    """Speaks the protocol; `key`: that it wants, empty: none."""

    key = KEY

    @property
    def base_url(self) -> str:
        """What it is named by."""
        return f"{self.url}/v1"

    @property
    def model(self) -> str:
        """The name of its model."""
        return f"openai:{MODEL}@{self.base_url}"

    def has_key(self, sent: Sent) -> bool:
        return sent.headers.get("authorization") == (f"Bearer {self.key}" if self.key else None)

    def unknown_key(self) -> Answer:
        return error(401, "Invalid API Key", "authentication_error", 401)

    def refusal(self, message: str) -> Answer:
        return error(400, message, "invalid_request_error", 400)

    def wrongs(self, sent: Sent) -> Iterator[str]:
        if sent.path != PATH:
            yield f"Unexpected endpoint or method. (POST {sent.path})"
        yield from _wrongs(sent.body["messages"])

    def is_streamed(self, sent: Sent) -> bool:
        return bool(sent.body.get("stream"))

    def pieces(self, body: bytes) -> list[bytes]:
        return pieces(body)


def serving(*script: Answer) -> AbstractContextManager[OpenAIServer]:
    """A server with a script, see `served`."""
    return served(OpenAIServer(script))


def _wrongs(messages: list[Json]) -> Iterator[str]:
    """What a strict server would refuse."""
    if messages[-1]["role"] not in ("user", "tool"):
        yield "the last message must be the person's, or a tool's"
    open_calls: list[str] = []
    before = ""
    for message in messages:
        role = message["role"]
        if role == "user" == before:
            yield "Conversation roles must alternate user/assistant/user/assistant/..."
        before = role
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                yield "a tool message answers no call"
                continue
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            yield f"these calls are not answered: {open_calls}"
        calls = message.get("tool_calls")
        if calls == []:
            yield "[] is too short - 'tool_calls'"
        open_calls = [one["id"] for one in calls or ()]
        for one in calls or ():
            if not isinstance(json.loads(one["function"]["arguments"]), dict):
                yield "arguments are no object"
        if role == "assistant" and not calls and not message.get("content"):
            yield "an assistant message must have content or calls"
    if open_calls:
        yield f"these calls are not answered: {open_calls}"

"""A request as an endpoint is sent it.

An earlier turn goes back as it came, as far as the protocol takes it back: words, calls under
their ids, and what the model thought, in the field that it came in, empty ones too: some servers
refuse a turn with calls and without it. One message behind it answers each of its calls, in order.

An earlier turn whose bytes are not of this protocol is told as text, see `wording.retold`."""

import json
from collections.abc import Iterator
from typing import Any

from adapters.models import calls, json_objects
from adapters.models.wording import BEGIN, NUDGES, SEPARATOR, UNANSWERED, go_on, joined, retold
from domain.ports import CallResult, Exchange, Request

Json = dict[str, Any]

THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
"""Where servers put what a model thinks: DeepSeek, vLLM, llama.cpp and LM Studio the first, Ollama
and OpenRouter the second, OpenRouter also the third, which is signed."""
OUTCOMES = {False: "", True: "error: "}  # the protocol has no field for it


def body(model: str, request: Request, nudges: int = 0, *, is_streamed: bool = False) -> Json:
    """The whole request; `nudges`: how many answers to it could not be read, at most
    ``len(NUDGES)``."""
    sent: Json = {"model": model, "messages": messages(request, nudges)}
    if request.tools:
        named = [
            {"name": tool.name, "description": tool.description, "parameters": tool.schema}
            for tool in request.tools
        ]
        sent["tools"] = [{"type": "function", "function": one} for one in named]
        if request.forced or nudges:
            sent["tool_choice"] = "required" if len(request.tools) == 1 else _choice(request)
    if is_streamed:
        sent |= {"stream": True, "stream_options": {"include_usage": True}}
    return sent


def messages(request: Request, nudges: int = 0) -> list[Json]:
    """All turns up to now, the last one the person's or a tool's."""
    found = [_user(joined(request.user) or BEGIN)]
    if system := joined(request.system):
        found.insert(0, {"role": "system", "content": system})
    for exchange in request.exchanges:
        found += _exchange(exchange, request.forced)
    if nudges:
        found.append(_user(NUDGES[nudges - 1]))
    return list(_alternating(found))


def calls_of(message: Json) -> list[Json]:
    """The calls of a message, each with an id and arguments as the protocol takes them back."""
    wishes = json_objects.dicts(message.get("tool_calls"))
    names = calls.ids(one.get("id") for one in wishes)
    return [_call(one, name) for one, name in zip(wishes, names, strict=True)]


def in_other_words(sent: Json, request: Request) -> Json | None:
    """The same request, the tool that it forces named as an object; None if it was, or is none.

    Of one tool it is said in a word at first: LM Studio takes nothing else. The server of
    llama-cpp-python fails at the word, and takes the object."""
    choice = _choice(request)
    is_other = bool(request.forced) and sent.get("tool_choice", choice) != choice
    return {**sent, "tool_choice": choice} if is_other else None


def _choice(request: Request) -> str | Json:
    """That a call is demanded, of the forced tool if there is one."""
    named: Json = {"type": "function", "function": {"name": request.forced}}
    return named if request.forced else "required"


def _exchange(exchange: Exchange, forced: str) -> list[Json]:
    message = _message(exchange.reply)
    if message is None:
        return [_user(retold(exchange))]
    if wishes := message.get("tool_calls"):
        return [message, *_answers(wishes, exchange.results)]
    following = _user(go_on(forced))
    return [message, following] if message.get("content") else [following]


def _message(raw: bytes) -> Json | None:
    """What the model said, as it goes back; None if the bytes are not of this protocol."""
    choices = (json_objects.loads(raw, keeps_twice=False) or {}).get("choices")
    if not isinstance(choices, list):
        return None
    said = json_objects.first_dict(choices).get("message")
    if not isinstance(said, dict):
        return {}
    message: Json = {"role": "assistant", "content": said.get("content")}
    message |= {name: said[name] for name in THOUGHTS if said.get(name) is not None}
    if wishes := calls_of(said):
        message["tool_calls"] = wishes
    return message


def _call(wish: Json, call_id: str) -> Json:
    function = wish.get("function")
    known = function if isinstance(function, dict) else {}
    return {
        **{name: value for name, value in wish.items() if name != "index"},
        "id": call_id,
        "type": "function",
        "function": {
            **known,
            "name": calls.called(str(known.get("name") or "")),
            "arguments": _arguments(known.get("arguments")),
        },
    }


def _arguments(given: Any) -> str:
    """Arguments as text that is an object: a server that fills them into the model's own form
    fails at any other, and the result says what was wrong with them."""
    if isinstance(given, dict):
        return json.dumps(given, ensure_ascii=False)
    text = calls.ended(given) if isinstance(given, str) else ""
    is_object = json_objects.loads(text.encode(errors="replace")) is not None
    return text if is_object else "{}"


def _answers(wishes: list[Json], results: tuple[CallResult, ...]) -> Iterator[Json]:
    """One answer for each call, whatever became of it: a turn with fewer is refused."""
    for place, call in enumerate(wishes):
        result = results[place] if place < len(results) else None
        output = result.output if result else UNANSWERED
        content = OUTCOMES[result is None or result.is_error] + output
        yield {"role": "tool", "tool_call_id": call["id"], "content": content}


def _alternating(turns: list[Json]) -> Iterator[Json]:
    """Turns, those of the person behind each other as one: some models' own forms refuse two."""
    held: Json | None = None
    for turn in turns:
        if held and turn["role"] == "user":
            held = _user(held["content"] + SEPARATOR + turn["content"])
            continue
        if held:
            yield held
        held = turn if turn["role"] == "user" else None
        if held is None:
            yield turn
    if held:
        yield held


def _user(text: str) -> Json:
    return {"role": "user", "content": text}

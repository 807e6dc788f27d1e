"""What the attributes of spans are made of; names as in `adapters.telemetry.otel`."""

import json
from collections.abc import Mapping
from typing import Any

from adapters.home.prices import MICRO
from domain import endpoints
from domain.ports import Reply, Request, Usage

PROVIDERS = {
    "gemini": "gcp.gemini",
    "openai": "openai",
}  # as the conventions name them; others are ours


def model(name: str) -> dict[str, str | int]:
    """Provider and model of ``gemini:MODEL``, ``rules`` or ``tape:FILE``, whose file is left out;
    of a model behind an address, the protocol that it speaks, and the server.

    >>> model("gemini:g-3")
    {'gen_ai.provider.name': 'gcp.gemini', 'gen_ai.request.model': 'g-3'}
    >>> list(model("openai:m@http://[::1]:8080/v1").values())
    ['openai', 'm', '::1', 8080]
    """
    provider, _, model = name.partition(":")
    server: dict[str, str | int] = {}
    if endpoint := endpoints.named(name):
        model = endpoint.model
        if where := endpoint.address:
            server = {"server.address": where.host.strip("[]"), "server.port": int(where.port)}
    known = PROVIDERS.get(provider)
    return {
        "gen_ai.provider.name": known or f"wakelog.{provider}",
        "gen_ai.request.model": model if known else provider,
        **server,
    }


def no_cost(_: str, __: Usage) -> None:
    """Where no prices are known."""


def counted(usage: Usage, micros: int | None) -> dict[str, int | float]:
    """What an answer took, as far as it is known, and what that costs."""
    counts = {
        "gen_ai.usage.input_tokens": usage.tokens_in,
        "gen_ai.usage.output_tokens": usage.written,
        "gen_ai.usage.reasoning.output_tokens": usage.tokens_thought,
        "gen_ai.usage.cache_read.input_tokens": usage.tokens_cached,
        "wakelog.cost": None if micros is None else micros / MICRO,
    }
    return {name: count for name, count in counts.items() if count is not None}


def asked_texts(request: Request) -> dict[str, str]:
    """The texts of a question; what the model said in earlier turns stands in their own spans."""
    said = [_text(section.text) for section in request.user]
    messages = [{"role": "user", "parts": said}]
    for exchange in request.exchanges:
        parts = [
            {"type": "tool_call_response", "id": one.call_id, "response": one.output}
            for one in exchange.results
        ]
        messages += [{"role": "tool", "parts": parts}] if parts else []
    return {
        "gen_ai.system_instructions": _json([_text(one.text) for one in request.system]),
        "gen_ai.input.messages": _json(messages),
    }


def replied_texts(reply: Reply) -> str:
    """The texts of an answer, JSON."""
    return _json([_message(reply)])


def _message(reply: Reply) -> Mapping[str, Any]:
    parts: list[Mapping[str, Any]] = [_text(reply.text)] if reply.text else []
    for call in reply.calls:
        wish = {"id": call.call_id, "name": call.tool, "arguments": call.arguments}
        parts.append({"type": "tool_call", **wish})
    finish = reply.finish or ("tool_call" if reply.calls else "stop")
    return {"role": "assistant", "parts": parts, "finish_reason": finish}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "content": text}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

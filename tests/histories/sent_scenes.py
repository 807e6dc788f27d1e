"""A scene of what providers send: names, arguments and ids as their models write them, each answer
read by the decoder of its provider. `recorded/as_providers_sent` is the same, read by older ones.
"""

import json
from typing import Any

from adapters.models.gemini import decoding as gemini
from adapters.models.openai import decoding as openai
from adapters.models.tape import TapeModel
from adapters.runtime.services import Services
from tests.histories.acting import REPORT, Scene, told, woken
from tests.support.consents import agree
from tests.support.services import services, task_with_agent

FIVE = '{"minutes":5}'
ESTIMATE = "update_task_estimate"
NAMES = (f"functions.{ESTIMATE}", f"default_api:{ESTIMATE}", f" {ESTIMATE}\n", "", "functions.")
ODD = (f"{FIVE}}}", f"{FIVE}<|im_end|>", f"{FIVE}{FIVE}", "[5]", [5], None, 5, '{"min', "\ud800")
Calls = list[tuple[str, Any]]


def _openai(words: str | None, calls: Calls, **more: Any) -> bytes:
    made = [{"id": "x", "function": {"name": name, "arguments": one}} for name, one in calls]
    message = {"role": "assistant", "content": words, "tool_calls": made}
    choice = {"message": message, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], **more}).encode()


def _google(words: str, calls: Calls, **more: Any) -> bytes:
    parts = [{"functionCall": {"id": "x", "name": name, "args": one}} for name, one in calls]
    said = {"parts": [{"text": "Hm.", "thought": True}, {"text": words}, *parts]}
    return json.dumps({"candidates": [{"content": said, "finishReason": "STOP"}], **more}).encode()


def _woken_by(at: Services, agent: str, model: TapeModel) -> None:
    at.model_for = lambda _: model
    agree(at, agent, model.name)
    told(at, at.request(agent))
    woken(at, agent)


def as_providers_send() -> Services:
    """Prefixes and blanks around names, arguments with something behind them or of another type,
    one id for all calls; half a character; tokens that were told, and that were not."""
    at = services()
    _, agent = task_with_agent(at)
    calls: Calls = [*((ESTIMATE, one) for one in ODD), *((name, FIVE) for name in NAMES)]
    spent = {"prompt_tokens": "90", "completion_tokens": 9}
    said = _openai("<think>Hm.</think>I \ud800 see.", calls, usage=spent, model="m")
    sent = [openai.parse(one) for one in (said, _openai(None, [REPORT]), _openai("Done.", []))]
    models = [TapeModel("openai:m@https://h.example/v1", sent)]
    calls, (tool, words) = [(name, json.loads(FIVE)) for name in NAMES], REPORT
    said = _google("I see.", calls, usageMetadata={"promptTokenCount": 90})
    others = [[(name, json.loads(words))] for name in (f"default_api.{tool}", tool)]
    bodies = (said, *(_google("", one) for one in others), _google("Done.", []))
    models.append(TapeModel("gemini:pro", [gemini.parse(one, gemini.FORMAT) for one in bodies]))
    for model in models:
        _woken_by(at, agent, model)
    return at


SCENES: tuple[Scene, ...] = (as_providers_send,)

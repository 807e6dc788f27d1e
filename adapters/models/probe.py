"""Tries a model with a tool, as agents work by tools; what it is sent stands here, and is nobody's.

One request, and one for the list of models where its protocol has one; nothing is recorded."""

import asyncio
import time
from typing import NamedTuple

from adapters.models.openai.model import OpenAIModel
from adapters.models.retry_loop import RetryingModel
from domain.ports import Model, ModelFault, Reply, Request, Section, ToolSpec

LIST_SECONDS = 10.0
_NUMBER = {"type": "integer", "description": "The number."}
_SCHEMA = {"type": "object", "properties": {"number": _NUMBER}, "required": ["number"]}
TOOL = ToolSpec("report_number", "Report a number.", _SCHEMA)
REQUEST = Request(
    "trial",
    (Section("role", "You work by calling tools."),),
    (Section("task", f"Call the tool {TOOL.name} with the number 7, and say nothing else."),),
    (TOOL,),
)


class ProbeResult(NamedTuple):
    """How a model did. `problem`: why it called no tool; empty: it did."""

    problem: str
    seconds: float
    offers: tuple[str, ...] = ()


async def probe_model(model: Model, seconds: float) -> ProbeResult:
    """Ask a model over the wire for a call, and its server for the models that it has."""
    offers: tuple[str, ...] = ()
    if isinstance(model, OpenAIModel):  # first: where both come at once, a small server may choke
        offers = await model.offered(min(LIST_SECONDS, seconds))
    begun = time.monotonic()
    try:
        assert isinstance(model, RetryingModel)
        problem = wrong_with(await model.reply_once(REQUEST, seconds))
    except ModelFault as fault:
        problem = f"{fault} [{fault.code}]"
    return ProbeResult(problem, time.monotonic() - begun, offers)


async def probe_models(models: list[Model], seconds: float) -> list[ProbeResult]:
    """Try models at once, so that all together take no longer than the slowest."""
    return await asyncio.gather(*(probe_model(one, seconds) for one in models))


def wrong_with(reply: Reply) -> str:
    """What keeps an answer from being the call that was asked for; empty: nothing."""
    if any(one.tool == TOOL.name for one in reply.calls):
        return ""
    if reply.calls:
        return "it called a tool that it was not given"
    said = "words" if reply.text.strip() else "nothing"
    return f"it answered with {said} instead of a call, and agents work by calls"

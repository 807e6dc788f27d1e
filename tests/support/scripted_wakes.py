"""Wakes of either scaffold whose model says what a test wants."""

import asyncio

from msgspec.structs import replace

from adapters.runtime import review
from adapters.runtime.effect_executor import perform
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from domain.changes.change_set import ChangeItem, set_id
from domain.log import canonical
from domain.ports import Model, ModelFault, Reply
from domain.wake.reading import PromptOptions
from tests.support.services import queued_key, services
from wakelog.testing import REPORT, SAID
from wakelog.testing import calls as reply

GONE = ModelFault("invalid", "no answer", of_provider=False)


def unquoted(reply: Reply) -> Reply:
    """An answer of a model that nobody asks for quotes."""
    bare = (
        replace(one, arguments=one.arguments.replace(f', "because": "{SAID}"', ""))
        for one in reply.calls
    )
    return replace(reply, calls=tuple(bare))


def call(tool: str, **given: object) -> tuple[str, str]:
    return tool, canonical.text(given)


def minutes(count: int) -> tuple[str, str]:
    return call("update_task_estimate", minutes=count)


def woken(
    at: Services,
    agent: str,
    *replies: Reply | ModelFault,
    scaffold: int = 2,
    model: Model | None = None,
) -> str:
    """A wake of this scaffold that is answered so, or by that model; the id of its set."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    if scaffold == 1:
        replies = tuple(unquoted(one) if isinstance(one, Reply) else one for one in replies)
    answering = services(replies, model=model).model_for("")
    at.model_for = lambda _: answering
    run_key = queued_key(at, agent)
    captured = capture(at, agent, run_key, is_now=True, given=PromptOptions(scaffold))
    at.append_agent(captured.command, payloads=captured.payloads)
    asyncio.run(perform(at, run_key))
    return set_id(run_key)


def ended(*calls: tuple[str, str]) -> tuple[Reply, ...]:
    return reply(*calls, REPORT), reply(text="Done.")


def items(at: Services, made: str) -> tuple[ChangeItem, ...]:
    return review.changes_of(at, made).items


def states(at: Services, *sets: str) -> list[tuple[str, str]]:
    return [(item.summary, item.status) for one in sets for item in items(at, one)]

"""What the scenes of the histories have in common."""

import asyncio
from collections.abc import Callable

from adapters.runtime import watcher
from adapters.runtime.desk import Desk
from adapters.runtime.performer import run_wake
from domain.agent import commands as agents
from domain.agent.alertness import ALERT, next_wake
from domain.moments import later
from domain.ports import ModelFault, Reply
from domain.wire import payload
from tests.support.desks import desk

LONG = "It takes about 2 hours. Due by 2027-03-04. I need to call the plumber. " + "drip " * 250
REPORT = ("update_report", '{"content":"# All\\n\\nIs well.","oneLiner":"Well","tldr":"All well."}')
ESTIMATE = ("update_task_estimate", '{"minutes":45}')
ITEMS = ("add_multiple_checklist_items", '{"items":[{"title":"Buy nails"},{"title":"Saw"}]}')

Scene = Callable[[], Desk]


def woken(at: Desk, agent: str) -> str:
    """The next wake of an agent, run to its end or wait."""
    with at.agents.reading() as world:
        wake = next_wake(world.load(ALERT, agent))
    assert wake is not None
    asyncio.run(run_wake(at, agent, wake.run_key, is_now=True))
    return wake.run_key


def asked(at: Desk, agent: str, text: str, session: str = "", turn: int = 0) -> str:
    said = payload(at.agent(agent).task, text.encode())
    command = agents.RequestWake(agent, "user", session, turn, said.id, is_enabled=True)
    at.note(command, payloads=[said])
    return woken(at, agent)


def changed(at: Desk, agent: str) -> str:
    watcher.catch_up(at)
    return woken(at, agent)


def pass_time(at: Desk, seconds: int) -> None:
    at.clock.at = later(at.clock.at, seconds=seconds)  # type: ignore[attr-defined]  # ours ticks


def answers(at: Desk, replies: list[Reply | ModelFault]) -> None:
    """Another tape."""
    model = desk(replies).model_for("")
    at.model_for = lambda _: model

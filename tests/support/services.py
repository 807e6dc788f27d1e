"""Whole services in memory: both logs, a clock that ticks, and a model on a tape."""

import asyncio
from collections.abc import Sequence

from adapters.home.settings import Settings
from adapters.models.tape import TapeModel
from adapters.runtime.effect_executor import perform
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from domain.agent import commands as agent_commands
from domain.agent.agent import Mode
from domain.agent.wake_queue import WAKE_QUEUE
from domain.journal import commands as journal_commands
from domain.journal.task import TASK
from domain.log.timestamps import later
from domain.ports import Model, ModelFault, Reply
from replay.prove import Divergence, LogProof
from wakelog.testing import calls as reply

START = "2027-01-01T00:00:00.000000Z"


class TickingClock:
    """A second later at each reading."""

    def __init__(self, start: str = START) -> None:
        self.at = start

    def now(self) -> str:
        self.at = later(self.at, seconds=1)
        return self.at


class StillClock:
    """It stands, until it is set."""

    def __init__(self, at: str = START) -> None:
        self.at = at

    def now(self) -> str:
        return self.at


def services(replies: Sequence[Reply | ModelFault] = (), *, model: Model | None = None) -> Services:
    """Services whose model answers from a tape."""
    tape = model or TapeModel("tape", list(replies))
    logs = Log.in_memory("journal"), Log.in_memory("agent")
    return Services(*logs, TickingClock(), Settings(), lambda _: tape)


def task_with_agent(
    at: Services, title: str = "Fix the sink", mode: Mode = "hybrid"
) -> tuple[str, str]:
    """A task and its agent, whose creation wake is queued."""
    task = at.append_journal(journal_commands.CreateTask(title)).result.ids[0]
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    position = at.journal.tail().n
    command = agent_commands.CreateAgent(
        task,
        title,
        category,
        position,
        mode,
        is_enabled=True,
    )
    return task, at.append_agent(command).result.ids[0]


def one_agent(
    replies: Sequence[Reply | ModelFault] = (),
    *,
    title: str = "Fix the sink",
    model: Model | None = None,
) -> tuple[Services, str, str]:
    """Services with a task and its agent."""
    at = services(replies, model=model)
    return at, *task_with_agent(at, title)


def captured_early() -> Services:
    """Two processes: one captures, another writes to both logs, the first begins the wake."""
    at, task, agent = one_agent([reply(text="Fine.")])
    run_key = queued_key(at, agent)
    captured = capture(at, agent, run_key, is_now=True)
    at.append_journal(journal_commands.EditTask(task, title="Fix the other sink"))
    task_with_agent(at, "Mend the roof")
    at.append_agent(captured.command, payloads=captured.payloads)
    asyncio.run(perform(at, run_key))
    return at


def queued_key(at: Services, agent: str) -> str:
    """Run key of the agent's queued wake; empty if none is."""
    with at.agents.reading() as world:
        queued = world.load(WAKE_QUEUE, agent).queued
    return queued.run_key if queued else ""


def divergences(at: Services) -> list[Divergence]:
    """What proving both logs finds; nothing, if all is well."""
    found: list[Divergence] = []
    for log in (at.journal, at.agents):
        found += LogProof(log.name, log.payload).walk(log.rows())
    return found

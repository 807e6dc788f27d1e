"""A task as large as a busy person makes it in ten years: many notes, items and observations."""

import asyncio
from typing import NamedTuple

from adapters.runtime import watcher
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.agent.commands import ConfigureAgent, CreateAgent, RequestWake
from domain.agent.deciders import AgentSettings
from domain.journal.commands import AddNote, ImportedRef, ImportTasks
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.wire import payload, words
from domain.ports import Reply, Request
from domain.wake.wake import WAKE
from tests.support.services import queued_key, services
from wakelog.testing import REPORT
from wakelog.testing import calls as reply

TASK_ID = "large"
OBSERVATIONS_A_CALL = 20
CALLS_A_TURN = 60


class Observant:
    """Observes as much as it is told to, then reports."""

    name = "tape:observant"

    def __init__(self) -> None:
        self.left = 0
        self.made = 0

    async def reply(self, request: Request) -> Reply:
        calls: list[tuple[str, str]] = []
        while self.left > 0 and len(calls) < CALLS_A_TURN:
            count = min(self.left, OBSERVATIONS_A_CALL)
            texts = [
                {"text": f"observation {self.made + nth}", "priority": "critical"}
                for nth in range(count)
            ]
            calls.append(("record_observations", canonical.text({"observations": texts})))
            self.left -= count
            self.made += count
        if calls:
            return reply(*calls)
        return reply(text="Done.") if request.exchanges else reply(REPORT)


class Size(NamedTuple):
    """What one wake wrote and showed: rows of the agent log, bytes of its new payloads, of its
    prompt, of its snapshot, and of its rows."""

    rows: int
    row_bytes: int
    prompt_bytes: int
    snapshot_bytes: int


def large(count: int) -> tuple[Services, str, Observant]:
    """Services with a task of so many notes, items and observations, and its agent."""
    model = Observant()
    at = services(model=model)
    document = ImportedTask(
        TASK_ID,
        "Ten years of work",
        items=tuple(ImportedItem(f"item {nth}", nth % 3 == 0) for nth in range(count)),
        notes=tuple(ImportedNote(f"note {nth}", key=str(nth)) for nth in range(count)),
    )
    kept = payload(TASK_ID, canonical.encode(document))
    at.append_journal(ImportTasks("file", (ImportedRef(TASK_ID, kept.id),)), payloads=[kept])
    with at.journal.reading() as world:
        category = world.load(TASK, TASK_ID).category
    named = TASK_ID, "Ten years", category, at.journal.tail().n
    make = CreateAgent(*named, "hybrid", is_enabled=True)
    agent = at.append_agent(make).result.ids[0]
    at.append_agent(ConfigureAgent(agent, AgentSettings(turn_max=20)))
    model.left = count
    wake(at, agent)
    while model.left > 0:  # bounded: each wake observes some
        ask(at, agent)
        wake(at, agent)
    return at, agent, model


def ask(at: Services, agent: str) -> None:
    at.append_agent(RequestWake(agent, "manual", is_enabled=True))


def wake(at: Services, agent: str) -> str:
    run_key = queued_key(at, agent)
    asyncio.run(run_wake(at, agent, run_key, is_now=True))
    return run_key


def note(at: Services, text: str) -> None:
    said, kept = words(TASK_ID, text)
    at.append_journal(AddNote(TASK_ID, "note", said), payloads=kept)


def size_of_next_wake(at: Services, agent: str) -> Size:
    """One more note, and the wake that it leads to."""
    note(at, "one more")
    before = at.agents.tail().n
    watcher.catch_up(at)
    run_key = wake(at, agent)
    rows = list(at.agents.rows(before))
    with at.agents.reading() as world:
        begun = world.load(WAKE, run_key).begun
        prompt = sum(len(world.payload(one.payload)) for one in (*begun.system, *begun.user))
        return Size(
            len(rows),
            sum(len(row.state) for row in rows),
            prompt,
            len(world.payload(begun.snapshot)),
        )


def state_bytes(at: Services, agent: str) -> int:
    """How large the agent's own state is."""
    with at.agents.reading() as world:
        return len(canonical.encode(world.load(AGENT, agent)))

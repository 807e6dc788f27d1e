"""A person's days in memory: tasks of two categories, an agent that plans, a scripted model."""

import asyncio
from typing import Any, NamedTuple

from adapters.home.schedules import local_time
from adapters.proof.prove import prove_logs
from adapters.runtime import review
from adapters.runtime.effect_executor import perform
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from domain.agent.commands import CreateAgent
from domain.changes.change_set import CHANGES, ChangeItem, ItemConfirming
from domain.journal import commands as do
from domain.journal import day as d
from domain.journal.catalog import category_id
from domain.journal.day import DAY, Day
from domain.log.wire import payload
from domain.ports import Reply
from domain.scaffold import SCAFFOLD
from domain.wake.manifests import DAY_AGENT
from domain.wake.reading import PromptOptions
from domain.wake.wake import WAKE, Wake
from replay.divergence import Divergence
from tests.support.scripted_wakes import REPORT, call
from tests.support.services import StillClock, queued_key, reply, services

TODAY = "2027-01-04"
MORNING = f"{TODAY}T07:00:00.000000Z"
ZONE = "Europe/Berlin"
NOW = "08:00"
"""What the clock shows there, that morning."""
HOME, WORK, HEALTH = map(category_id, ("Home", "Work", "Health"))


class Planner(NamedTuple):
    """Services, whose clock stands; their agent; tasks by title."""

    at: Services
    agent: str
    tasks: dict[str, str]

    def day(self, date: str = TODAY) -> Day:
        with self.at.journal.reading() as world:
            return world.load(DAY, date)

    def spans(self, date: str = TODAY) -> list[str]:
        return [f"{one.start}-{one.end} {one.by[:5]}" for one in self.day(date).blocks]

    def put(self, start: str, end: str, **given: str) -> str:
        """A block of the person's own."""
        command = d.PutBlock(TODAY, start, end, **({"title": "Mine"} | given))
        return self.at.append_journal(command).result.ids[0]

    def wakes(self, *calls: tuple[str, str], words: str = "", reports: bool = True) -> Wake:
        """A wake of the agent whose model makes these calls, in one turn."""
        texts = [payload(f"agent:{self.agent}", words.encode())] if words else []
        if words:
            asked = self.at.request(self.agent, "user", words=texts[0].id)
        else:
            asked = self.at.request(self.agent)
        self.at.append_agent(asked, payloads=texts)
        said: list[Reply] = [reply(*calls, *([REPORT] if reports else [])), reply(text="Done.")]
        tape = services(said).model_for("")
        self.at.model_for = lambda _: tape
        run_key = queued_key(self.at, self.agent)
        local = local_time(self.at.clock.now(), ZONE)
        given = PromptOptions(SCAFFOLD, local=local)
        captured = capture(self.at, self.agent, run_key, is_now=True, given=given)
        self.at.append_agent(captured.command, payloads=captured.payloads)
        asyncio.run(perform(self.at, run_key))
        with self.at.agents.reading() as world:
            return world.load(WAKE, run_key)

    def proposes(self, *blocks: str, words: str = "") -> list[str]:
        """A wake that proposes blocks, "Title 09:00-10:00"; what it is told of them."""
        wake = self.wakes(self.blocks(*blocks), words=words)
        with self.at.agents.reading() as world:
            told = world.text(next(wake.results).message)
        return told.split("\n")

    def blocks(self, *blocks: str) -> tuple[str, str]:
        """The call that proposes blocks."""
        parts = [one.rsplit(" ", 1) for one in blocks]
        asked = [
            {"taskId": self.tasks.get(title, title), "start": span[:5], "end": span[6:]}
            for title, span in parts
        ]
        return call("propose_blocks", blocks=asked)

    def prompt(self, wake: Wake) -> str:
        """All that the model was shown first."""
        with self.at.agents.reading() as world:
            refs = (*wake.begun.system, *wake.begun.user)
            return "\n\n".join(world.payload(one.payload).decode() for one in refs)

    @property
    def sets(self) -> tuple[str, ...]:
        return self.at.agent(self.agent).sets

    def items(self, nth: int = -1) -> tuple[ChangeItem, ...]:
        return review.changes_of(self.at, self.sets[nth]).items

    def confirm(self, number: int, nth: int = -1, **given: Any) -> str:
        """Confirm an item; its status, and why it failed."""
        item = review.confirm(self.at, self.sets[nth], number, **given)
        assert item
        return f"{item.status} {item.error}".rstrip()

    def proved(self) -> list[Divergence]:
        return list(prove_logs(self.at.journal, self.at.agents).divergences)


def planner(
    *titles: str, categories: tuple[str, ...] = (HOME, WORK), journal: Log | None = None
) -> Planner:
    """An agent that may read two categories; a task of each title, "Title @Category"."""
    at = services()
    at.journal = journal or at.journal
    at.clock = StillClock(MORNING)
    for name in ("Home", "Work", "Health"):
        at.append_journal(do.AddCategory(name))
    tasks: dict[str, str] = {}
    for one in titles:
        title, _, category = one.partition(" @")
        command = do.CreateTask(title, category or "Home", estimate=60)
        tasks[title] = at.append_journal(command).result.ids[0]
    command_ = CreateAgent(
        "", "Day", "", at.journal.tail().n, "hybrid", is_enabled=True,
        agent_kind=DAY_AGENT, subject="home", categories=categories,
    )  # fmt: skip
    return Planner(at, at.append_agent(command_).result.ids[0], tasks)


def key_of(of: Planner, number: int, nth: int = -1) -> str:
    """The operation that an item was confirmed by last; empty where it was not."""
    with of.at.agents.reading() as world:
        rows = [one.fact for one in world.history(CHANGES.name, of.sets[nth])]
    asked = [one for one in rows if isinstance(one, ItemConfirming) and one.item == number]
    return asked[-1].operation if asked else ""

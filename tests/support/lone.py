"""An agent without a task of its own in memory: tasks of some categories, a scripted model, a clock
that stands."""

import asyncio
from dataclasses import dataclass
from typing import Any

from adapters.home.schedules import local_time
from adapters.proof.prove import prove_logs
from adapters.runtime import review
from adapters.runtime.effect_executor import perform
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from domain.agent.agent import Mode
from domain.agent.commands import CreateAgent
from domain.agent.deciders import CATEGORY_AGENT
from domain.changes.change_set import CHANGES, ChangeItem, ItemConfirming
from domain.journal import commands as do
from domain.journal.catalog import category_id
from domain.journal.task import TASK, Task
from domain.log.wire import payload
from domain.ports import Reply
from domain.scaffold import SCAFFOLD
from domain.wake.reading import PromptOptions
from domain.wake.wake import WAKE, Wake
from replay.divergence import Divergence
from tests.support.services import StillClock, queued_key, services
from wakelog.testing import REPORT
from wakelog.testing import calls as reply

TODAY = "2027-01-04"
MORNING = f"{TODAY}T07:00:00.000000Z"
ZONE = "Europe/Berlin"
HOME, WORK, HEALTH = map(category_id, ("Home", "Work", "Health"))
OF_HOME = f"category:{HOME}"


@dataclass(frozen=True)
class Lone:
    """Services, whose clock stands; their agent; tasks by title."""

    at: Services
    agent: str
    tasks: dict[str, str]

    def wakes(self, *calls: tuple[str, str], words: str = "", reports: bool = True) -> Wake:
        """A wake of the agent whose model makes these calls, in one turn."""
        texts = [payload(f"agent:{self.agent}", words.encode())] if words else []
        if words:
            asked = self.at.request(self.agent, "user", words=texts[0].id)
        else:
            asked = self.at.request(self.agent)
        self.at.append_agent(asked, payloads=texts)
        return self.runs(self.agent, *calls, reports=reports)

    def runs(self, agent: str, *calls: tuple[str, str], reports: bool = True) -> Wake:
        """The queued wake of an agent, whose model makes these calls."""
        said: list[Reply] = [reply(*calls, *([REPORT] if reports else [])), reply(text="Done.")]
        tape = services(said).model_for("")
        self.at.model_for = lambda _: tape
        run_key = queued_key(self.at, agent)
        local = local_time(self.at.clock.now(), ZONE)
        given = PromptOptions(SCAFFOLD, local=local)
        captured = capture(self.at, agent, run_key, is_now=True, given=given)
        self.at.append_agent(captured.command, payloads=captured.payloads)
        asyncio.run(perform(self.at, run_key))
        with self.at.agents.reading() as world:
            return world.load(WAKE, run_key)

    def told(self, wake: Wake) -> list[str]:
        """What the calls of a wake were answered with, in their order."""
        with self.at.agents.reading() as world:
            return [world.text(one.message) for one in wake.results]

    def prompt(self, wake: Wake) -> str:
        """All that the model was shown first."""
        with self.at.agents.reading() as world:
            refs = (*wake.begun.system, *wake.begun.user)
            return "\n\n".join(world.payload(one.payload).decode() for one in refs)

    def task(self, task_id: str) -> Task:
        with self.at.journal.reading() as world:
            return world.load(TASK, task_id)

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

    def operation(self, number: int, nth: int = -1) -> str:
        """The one that an item was confirmed by last; empty where it was not."""
        with self.at.agents.reading() as world:
            rows = [one.fact for one in world.history(CHANGES.name, self.sets[nth])]
        asked = [one for one in rows if isinstance(one, ItemConfirming) and one.item == number]
        return asked[-1].operation if asked else ""

    def proved(self) -> list[Divergence]:
        return list(prove_logs(self.at.journal, self.at.agents).divergences)


def with_tasks(
    *titles: str, journal: Log | None = None, **made: Any
) -> tuple[Services, dict[str, str]]:
    """Services with three categories and a task of each title, "Title @Category"."""
    at = services()
    at.journal = journal or at.journal
    at.clock = StillClock(MORNING)
    for name in ("Home", "Work", "Health"):
        at.append_journal(do.AddCategory(name))
    tasks: dict[str, str] = {}
    for one in titles:
        title, _, category = one.partition(" @")
        command = do.CreateTask(title, category or "Home", **({"estimate": 60} | made))
        tasks[title] = at.append_journal(command).result.ids[0]
    return at, tasks


def lone_agent(
    at: Services, kind: str, subject: str, categories: tuple[str, ...], name: str
) -> str:
    """A new agent that is no task's."""
    command = CreateAgent(
        "", name, "", at.journal.tail().n, "hybrid", is_enabled=True,
        agent_kind=kind, subject=subject, categories=categories,
    )  # fmt: skip
    return at.append_agent(command).result.ids[0]


def reviewer(*titles: str, categories: tuple[str, ...] = (HOME,), **made: Any) -> Lone:
    """One that looks over Home; see `with_tasks`."""
    at, tasks = with_tasks(*titles, **made)
    return Lone(at, lone_agent(at, CATEGORY_AGENT, OF_HOME, categories, "Home week"), tasks)


def with_agents(of: Lone, *titles: str, mode: Mode = "hybrid") -> dict[str, str]:
    """Agents of these tasks, by title, none of them with anything to do."""
    found: dict[str, str] = {}
    for one in titles:
        task = of.task(of.tasks[one])
        command = CreateAgent(
            task.id, one, task.category, of.at.journal.tail().n, mode, is_enabled=True
        )
        found[one] = of.at.append_agent(command).result.ids[0]
        of.runs(found[one])
    return found

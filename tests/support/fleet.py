"""Machines of one home, both of whose logs travel, in memory."""

from collections.abc import Callable, Iterator

from adapters.home.settings import Settings
from adapters.models.rules.model import RulesModel
from adapters.models.tape import TapeModel
from adapters.runtime import leadership, on_demand, orphaned_effects
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.sync.sync_folder import MemorySyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from domain.agent.agent import AGENT
from domain.agent.commands import CreateAgent
from domain.agent.wake_queue import WAKE_QUEUE, WakeQueue, WakeQueueFact
from domain.journal.commands import CreateTask, EditTask
from domain.journal.task import TASK
from domain.log.state import MAIN, RecordedEvent
from domain.log.timestamps import later
from domain.machines.commands import Lead, RetireReplica
from domain.machines.machines import HOME, Machines
from domain.ports import Model, Reply
from tests.support.services import START, StillClock

Opens = Callable[[str, str], Log]
"""``opens(log, replica)``: an empty one."""


class Machine:
    """One of them, with the clock that all share."""

    def __init__(
        self, name: str, shelf: MemorySyncFolder, clock: StillClock, log: Opens = Log.in_memory
    ) -> None:
        logs = log("journal", name), log("agent", name)
        self.model: Model = RulesModel()
        self.name = name
        self.services = Services(*logs, clock, Settings(), lambda _: self.model)
        self._shelf = shelf
        self._kept = SyncState()

    def answers(self, *replies: Reply) -> None:
        """Let its model say this from here on."""
        self.model = TapeModel("tape", list(replies))

    def sync(self) -> None:
        """Take, see to what came, then give."""
        logs = self.services.journal, self.services.agents
        before = orphaned_effects.reached(self.services)
        kept = sync_logs(logs, self._shelf, START, self._kept).kept
        orphaned_effects.confirm_come(self.services, before)
        leadership.settle(self.services)
        self._kept = sync_logs(logs, self._shelf, START, kept).kept

    def task(self, title: str) -> str:
        return self.services.append_journal(CreateTask(title)).result.ids[0]

    def edit(self, task: str, title: str) -> None:
        self.services.append_journal(EditTask(task, title=title))

    def estimate(self, task: str, minutes: int) -> None:
        self.services.append_journal(EditTask(task, estimate=minutes))

    def agent(self, task: str) -> str:
        """An agent of a task, which hears of what happens to it."""
        with self.services.journal.reading() as world:
            known, position = world.load(TASK, task), world.n - 1
        command = CreateAgent(
            task,
            known.title,
            known.category,
            position,
            "hybrid",
            is_enabled=True,
            seen=self.services.journal.horizon(position),
            first=self.services.first,
        )
        return self.services.append_agent(command).result.ids[0]

    def lead(self, name: str = "") -> None:
        self.services.append_agent(Lead(name or self.name, self.services.first))

    def retire(self, name: str) -> None:
        self.services.append_agent(RetireReplica(name, self.services.first))

    def look(self) -> None:
        """What the runtime does by itself, but for running what is queued."""
        assert on_demand.prepare(self.services, lambda _: self.agents) == []

    def ask(self, agent: str) -> str:
        """A person asks for a wake; its run key."""
        return self.services.append_agent(self.services.request(agent)).result.ids[1]

    def run(self) -> list[str]:
        """Run all that is queued; the run keys."""
        ran = on_demand.run_ready(self.services, self.agents, lambda *_: None)
        assert not [one.error for one in ran if one.error]
        return [one.run_key for one in ran]

    @property
    def agents(self) -> list[str]:
        with self.services.agents.reading() as world:
            return [one for one in world.entities("agent") if world.load(AGENT, one).lifecycle]

    @property
    def machines(self) -> Machines:
        with self.services.agents.reading() as world:
            return world.load(HOME, MAIN)

    def queue(self, agent: str) -> WakeQueue:
        with self.services.agents.reading() as world:
            return world.load(WAKE_QUEUE, agent)

    def queued(self, agent: str) -> str:
        """Run key of what is queued here; empty if nothing is."""
        queued = self.queue(agent).queued
        return queued.run_key if queued else ""

    def told(self, agent: str) -> list[RecordedEvent]:
        """What this machine wrote of an agent's attention."""
        return self.services.agents.facts(f"alert:{agent}@{self.name}")

    def facts(self, agent: str, of: type[WakeQueueFact]) -> Iterator[WakeQueueFact]:
        """Those of one type."""
        return (row.fact for row in self.told(agent) if isinstance(row.fact, of))


class Fleet(dict[str, Machine]):
    """Machines by name; the first one has a task, and has met the others."""

    def __init__(self, *names: str, log: Opens = Log.in_memory) -> None:
        self.shelf, self.clock = MemorySyncFolder(), StillClock()
        super().__init__((one, Machine(one, self.shelf, self.clock, log)) for one in names)
        first = next(iter(self.values()))
        first.task("First")
        self.meet()

    def meet(self, *names: str) -> None:
        """All sync, or those that are named, until nothing is new."""
        those = [self[one] for one in names or self]
        for _ in range(8):
            before = dict(self.shelf.held)
            for one in those:
                one.sync()
            if before == self.shelf.held:
                return
        raise AssertionError("it never ends")

    def wait(self, seconds: int = 3600) -> None:
        self.clock.at = later(self.clock.at, seconds=seconds)

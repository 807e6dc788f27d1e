"""A busy person in a process of its own: imports, writes, wakes and decides until it is told
to end, or is killed. Run as ``python -m tests.support.driver HOME NAME SECONDS``.

Each line on stdout is what has been done: ``note TEXT`` once that note is in the journal. A
refusal (another process was faster) is no error; anything else ends it with a traceback.
"""

import random
import sys
import time
from pathlib import Path

from adapters.importers import markdown
from adapters.models import replies, tape
from adapters.models.replies import KeptCall, KeptReply
from adapters.models.rules.model import RulesModel
from adapters.runtime import on_demand, review
from adapters.runtime.services import Services
from adapters.simulation.fuzz_model import FuzzModel
from adapters.simulation.plan import Dice
from adapters.usecases import lessons, undoing
from adapters.wiring import Home, open_home
from domain.agent.agent import AGENT, AgentCreated
from domain.agent.commands import CreateAgent, RequestWake
from domain.changes.change_set import CHANGES, is_open
from domain.errors import Refused
from domain.journal.commands import AddNote, ImportedRef, ImportTasks
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.wire import payload, words
from domain.ports import Call, Reply, Request

TASKS = 4
DEEDS = ("note", "note", "wake", "wake", "ask", "decide", "import", "undo", "learn")
MOODS = ("follow_up", "follow_up", "move", "relate", "time", "loops", "look")
SAID = (
    "It takes about {n} minutes. Urgent!",
    "We need to buy part {n}. Due by 2027-03-{day:02}.",
    "Please call the plumber about pipe {n}.",
    "Nothing new, {n}.",
)


def agents_of(services: Services) -> list[str]:
    """The ids of all agents, in the order of their making."""
    rows = (row for rows in services.agents.appends() for row in rows)
    return [row.entity for row in rows if isinstance(row.fact, AgentCreated)]


def prepare(home: Path) -> None:
    """A home with a few tasks, each with an agent whose creation wake is queued."""
    with open_home(home, {"WAKELOG_REPLICA": "r1"}, is_writing=True) as opened:
        services = opened.services
        bring(services, 0)
        rows = (row for rows in services.journal.appends() for row in rows)
        tasks = sorted({row.entity for row in rows if row.of_kind == "task"})
        with services.journal.reading() as world:
            known = [world.load(TASK, one) for one in tasks]
        position = services.journal.tail().n
        for task in known:
            named = task.id, task.title, task.category, position
            services.append_agent(CreateAgent(*named, "hybrid", is_enabled=True))


def bring(services: Services, count: int) -> None:
    """Import a file of `TASKS` tasks that has grown by so many boxes."""
    boxes = "".join(f"  - [ ] step {nth}\n" for nth in range(count))
    text = "".join(f"- [ ] Task {nth} #home\n{boxes}" for nth in range(TASKS))
    file = markdown.read(text.encode(), source="todo.md")
    kept = [payload(task.task_id, canonical.encode(task)) for task in file.tasks]
    refs = [ImportedRef(task.task_id, one.id) for task, one in zip(file.tasks, kept, strict=True)]
    services.append_journal(ImportTasks(file.source, tuple(refs)), payloads=kept)


class Busy:
    """The offline model, with calls of the tools over two tasks, of time, and reads beside its own.
    It has that one's name: whoever takes a wake over goes on with the offline model alone."""

    name = "rules"

    def __init__(self, dice: random.Random) -> None:
        self._rules = RulesModel()
        self._dice = dice

    async def reply(self, request: Request) -> Reply:
        """What the offline model says, and more; on the first turns alone."""
        said = await self._rules.reply(request)
        if request.forced or len(request.exchanges) > 1:
            return said
        more = FuzzModel()
        more.dice = Dice(str(self._dice.random()))
        added = more.calls(request, self._dice.sample(MOODS, 2))
        those = (Call(f"more{nth}", *one) for nth, one in enumerate(added, 1))
        calls = tuple(
            KeptCall(id=one.call_id, tool=one.tool, arguments=one.arguments)
            for one in (*said.calls, *those)
        )
        kept = KeptReply(text=said.text, calls=calls)  # the bytes say what is said
        return replies.reply(canonical.encode(kept), kept, tape.FORMAT)


class Driver:
    """One process's part: `name` tells its notes from others'."""

    def __init__(self, home: Home, name: str, dice: random.Random) -> None:
        self._home = home
        self._services = home.services
        self._services.model_for = lambda _: Busy(dice)
        self._name = name
        self._dice = dice
        self._agents = agents_of(home.services)
        self._count = 0
        self.has_noted = False

    def step(self) -> None:
        """Do one thing."""
        self._count += 1
        try:
            match self._dice.choice(DEEDS):
                case "note":
                    self._note()
                case "wake":
                    self._wake()
                case "ask":
                    agent = self._dice.choice(self._agents)
                    self._services.append_agent(RequestWake(agent, "manual", is_enabled=True))
                    self._wake()
                case "decide":
                    self._decide()
                case "undo":
                    self._undo()
                case "learn":
                    self._home.views.catch_up()
                    lessons.learn_history(self._home)
                case _:
                    bring(self._services, self._count % 7)
        except Refused:
            pass  # another process was faster

    def _note(self) -> None:
        text = self._dice.choice(SAID).format(n=self._count, day=self._count % 28 + 1)
        text = f"{text} ({self._name} {self._count})"
        agent = self._dice.choice(self._agents)
        task = self._services.agent(agent).task
        said, kept = words(task, text)
        self._services.append_journal(AddNote(task, "note", said), payloads=kept)
        print(f"note {text}", flush=True)  # noqa: T201  what the test reads
        self.has_noted = True

    def _wake(self) -> None:
        on_demand.prepare(self._services, lambda _: self._agents)
        ran = on_demand.run_ready(self._services, self._agents, lambda *_: None)
        assert not any(one.code == "internal" for one in ran), ran

    def _decide(self) -> None:
        with self._services.agents.reading() as world:
            sets = [
                world.load(CHANGES, one)
                for agent in self._agents
                for one in world.load(AGENT, agent).sets
            ]
        waiting = [(one.id, item.number) for one in sets for item in one.items if is_open(item)]
        self._dice.shuffle(waiting)
        for set_id, number in waiting[:3]:
            if self._dice.random() < 0.7:
                review.confirm(self._services, set_id, number, is_anyway=True)
            else:
                review.reject(self._services, set_id, number, "no")

    def _undo(self) -> None:
        """One of the newest deeds, not of an import: what another process brought in stays."""
        found = [one.ref for one in undoing.deeds(self._home) if not one.source]
        if found:
            undoing.undo(self._home, self._dice.choice(found[:4]))


def main(folder: str, name: str, seconds: str) -> None:
    """Drive a home for so many seconds, and until it has noted something, however slow that is."""
    with open_home(Path(folder), {"WAKELOG_REPLICA": "r1"}, is_writing=True) as home:
        driver = Driver(home, name, random.Random(name))
        print("ready", flush=True)  # noqa: T201  what the test reads
        ends = time.monotonic() + float(seconds)
        while time.monotonic() < ends or not driver.has_noted:
            driver.step()


if __name__ == "__main__":
    main(*sys.argv[1:])

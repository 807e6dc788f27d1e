"""Whatever is done to two linked tasks and their agents, and however the watcher is cut short:
each change stands in exactly one wake's causes, or is suppressed once, by the rule that holds
(DESIGN 2, law 9). It is counted by rows alone; what should be there, by a list of its own.

`tests/stateful/test_home_machine.py` asks the same of a whole home, and takes its time.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.runtime import effects, watcher
from adapters.runtime.effect_executor import perform
from adapters.runtime.services import Services
from domain.agent.commands import PauseAgent, ResumeAgent
from domain.agent.wake_queue import WAKE_QUEUE
from domain.journal import commands as do
from domain.journal.imported import ImportedTask
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.state import RecordedEvent
from domain.log.wire import Words, payload
from tests.histories.acting import begun
from tests.support.services import services, task_with_agent
from wakelog.testing import calls as reply

Places = Counter[tuple[str, int, str]]  # an agent, a journal append, and a wake or a rule
WRITING = ("note", "edit", "elsewhere", "both", "own", "link", "unlink", "import")
WAKING = ("ask", "begin", "run")
MOVES = (*WRITING, *WAKING, "run", "pause")
MOVES_MAX = 12


class Pair:
    """Two tasks with an agent each; the agent of the second one is told of linked tasks, too."""

    def __init__(self) -> None:
        self.at: Services = services([reply(text="Seen.")] * 2 * MOVES_MAX)
        made = [task_with_agent(self.at, title) for title in ("Fix the sink", "Mend the roof")]
        self.tasks = [task for task, _ in made]
        self.agents = [agent for _, agent in made]
        self.is_paused = self.is_linked = False  # the second one's
        self.links: dict[int, bool] = {}  # after each append
        self.expected: Places = Counter()

    # -------------------------------------------------------------------------------- deeds

    def write(self, move: str, nth: int) -> None:
        """Append to the journal what is done, if it changes anything."""
        at, (first, second) = self.at, self.tasks
        match move:
            case "note":
                at.append_journal(do.AddNote(first, "note", Words(f"note {nth}")))
            case "edit":
                at.append_journal(do.EditTask(second, title=f"title {nth}"))
            case "elsewhere":
                at.append_journal(do.CreateTask(f"Other {nth}"))
            case "both" | "import":
                self.imports((first, second) if move == "both" else (second,), nth)
            case "own":
                self.operates(first, nth)
            case "link" if not self.is_linked:
                at.append_journal(do.LinkTask(second, "relates_to", first))
                self.is_linked = True
            case "unlink" if self.is_linked:
                at.append_journal(do.UnlinkTask(second, "relates_to", first))
                self.is_linked = False
        self.links[at.journal.tail().n] = self.is_linked

    def imports(self, tasks: tuple[str, ...], nth: int) -> None:
        kept = [
            payload(one, canonical.encode(ImportedTask(one, f"Imported {nth}"))) for one in tasks
        ]
        refs = tuple(do.ImportedRef(task, one.id) for task, one in zip(tasks, kept, strict=True))
        self.at.append_journal(do.ImportTasks("todo.md", refs), payloads=kept)

    def operates(self, task: str, nth: int) -> None:
        """The first agent changes its task."""
        with self.at.journal.reading() as world:
            category = world.load(TASK, task).category
        command = do.ApplyOperation(
            f"op-{nth}",
            self.agents[0],
            task,
            "update_task_estimate",
            Words(),
            categories=(category,),
        )
        applied = effects.apply(self.at, command, f'{{"minutes":{nth + 1}}}')
        assert applied.result.status == "applied"

    def pause(self) -> None:
        """The second agent is paused, or goes on."""
        agent = self.agents[1]
        command = ResumeAgent(agent, is_enabled=True) if self.is_paused else PauseAgent(agent)
        self.at.append_agent(command)
        self.is_paused = not self.is_paused

    def wake(self, move: str) -> None:
        """A person asks for a wake, or the next one begins, or goes on to its end."""
        at, agent = self.at, self.agents[0]
        with at.agents.reading() as world:
            queue = world.load(WAKE_QUEUE, agent)
        if move == "ask":
            at.append_agent(at.request(agent))
        elif move == "run" and queue.running:
            asyncio.run(perform(at, queue.running))
        elif queue.queued and not queue.running:
            begun(at, agent, queue.queued.run_key)

    def take(self, count: int) -> None:
        """The watcher goes on by some appends; another one that was slower says the same. A third
        dies before it says anything."""
        if count % 2:
            watcher.following(self.at, count + 1)
        command = watcher.following(self.at, count)
        if command is None:
            return
        for rows in self.at.journal.appends(command.first - 1):
            if rows[0].n <= command.last:
                self.expect(rows)
        self.at.append_agent(command)
        assert self.at.append_agent(command).rows == ()

    # ----------------------------------------------------------------------------- the count

    def expect(self, rows: Sequence[RecordedEvent]) -> None:
        """Where a change should stand."""
        n = rows[0].n
        touched = {row.entity for row in rows if row.of_kind in ("task", "links")}
        if self.links[n] and self.tasks[0] in touched:
            touched.add(self.tasks[1])
        is_own = any(getattr(row.fact, "by", "").startswith("agent:") for row in rows)
        for nth, rule in enumerate(("own_write", "agent_write")):
            place = rule if is_own else "wake"
            if nth and self.is_paused:
                place = "dormant"
            self.expected[self.agents[nth], n, place] += self.tasks[nth] in touched

    def found(self) -> Places:
        """Where changes stand, by rows. A wake that was never queued, has begun or was dropped
        takes none; of an agent one waits at most."""
        causes: Counter[tuple[str, int, str]] = Counter()
        waiting: dict[str, str] = {}
        gone: set[str] = set()
        found: Places = Counter()
        for row in self.at.agents.rows():
            data, agent = json.loads(row.state)["data"], row.stream[6:].partition("@")[0]
            position = data.get("trigger", {}).get("position", 0)
            match data["kind"]:
                case "alert.wake_queued.1" | "alert.trigger_merged.1" as kind:
                    if kind == "alert.wake_queued.1":
                        waiting[data["runKey"]] = agent
                    is_open = waiting.get(data["runKey"]) == agent
                    causes[agent, position, data["runKey"] if is_open else ""] += position > 0
                case "alert.trigger_suppressed.1":
                    found[agent, position, data["rule"]] += 1
                case "alert.wake_dropped.1" | "alert.wake_begun.1":
                    waiting.pop(data["runKey"], None)
                    gone |= {data["runKey"]} if data.get("code") == "superseded" else set()
        assert len(waiting) == len({*waiting.values()})
        for (agent, position, run_key), count in causes.items():
            place = "wake" if run_key else "no wake"
            found[agent, position, place] += count * (run_key not in gone)
        return found


LIVES = st.lists(st.tuples(st.sampled_from(MOVES), st.integers(0, 3)), max_size=MOVES_MAX)


@settings(max_examples=40)
@given(LIVES)
@example([("note", 0), ("link", 1)])
@example([("link", 9), ("own", 9), ("both", 0), ("pause", 0), ("both", 1), ("own", 9), ("ask", 9)])
@example([("begin", 0), ("note", 0), ("note", 9), ("run", 0), ("note", 0), ("ask", 9), ("run", 0)])
@example([("begin", 0), ("run", 1), ("note", 1), ("ask", 1), ("begin", 1), ("note", 0), ("run", 1)])
def test_each_change_is_in_one_wake_or_suppressed_once(moves: list[tuple[str, int]]) -> None:
    pair = Pair()
    watcher.catch_up(pair.at)
    for nth, (move, taken) in enumerate(moves):
        if move == "pause":
            pair.pause()
        elif move in WAKING:
            pair.wake(move)
        else:
            pair.write(move, nth)
        pair.take(taken)
        assert +pair.found() == +pair.expected
    pair.take(100)
    assert +pair.found() == +pair.expected
    assert watcher.lag(pair.at) == 0

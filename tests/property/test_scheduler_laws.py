"""The engine and the wakes on demand find what is to run in two ways: on the same home, with the
same notes and accidents, they come to the same wakes, reports, proposals and tasks."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.home.clock import ManualClock
from adapters.models.rules.model import RulesModel
from adapters.runtime import on_demand, watcher
from adapters.runtime.due_index import schedule_of
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from domain.agent.agent import AGENT, Mode
from domain.agent.commands import RequestWake
from domain.changes.change_set import CHANGES
from domain.journal.commands import AddNote
from domain.journal.task import TASK
from domain.log.wire import words
from domain.ports import ModelFault, Reply, Request
from domain.wake.wake import WakeFinished
from tests.support import whole
from tests.support.services import START, divergences, task_with_agent
from tests.support.virtual import VirtualHome

ROUND_SECONDS, ROUNDS = 14_400, 6  # of a day
DAYS_AFTER = 1  # in which what was held off gets its turn
BUG, DOWN = "it breaks", "it is away"
NOTES = (
    "It takes about 40 minutes. Urgent!",
    "We need to buy a part. Due by 2027-03-12.",
    "Nothing new.",
    f"Please call the plumber, {BUG}.",
    f"Please call the plumber, {DOWN}.",
)


class Fragile(RulesModel):
    """Guesses by rules; raises a bug at one note, and is down at another once for each task."""

    def __init__(self) -> None:
        self._was_down: set[str] = set()

    async def reply(self, request: Request) -> Reply:
        await asyncio.sleep(0)  # other wakes have their turn
        told = "".join(section.text for section in request.user)
        title = re.findall(r"Task \d", told)[0]
        if BUG in told:
            raise ZeroDivisionError("a bug")
        if DOWN in told and title not in self._was_down:
            self._was_down.add(title)
            raise ModelFault("unavailable", "no answer", of_provider=True, retry_seconds=60)
        return await super().reply(request)


class Event(NamedTuple):
    """What happens to a task on a day: a note is written, its agent is asked for, or a process
    begins its wake and dies."""

    task: int
    what: str  # a note, or "wake", or "die"


class Past(NamedTuple):
    """A home: the modes of its agents, and the events of each day."""

    modes: Sequence[Mode]
    days: Sequence[Sequence[Event]]


def begin(at: Services, past: Past) -> None:
    for nth, mode in enumerate(past.modes):
        task_with_agent(at, f"Task {nth}", mode)


def happen(at: Services, event: Event, made: int) -> None:
    agent = whole.agents_of(at)[event.task % made]
    task = at.agent(agent).task
    watcher.catch_up(at)
    if event.what == "wake":
        at.append_agent(RequestWake(agent, "manual", is_enabled=True))
    elif event.what in NOTES:
        said, kept = words(task, event.what)
        at.append_journal(AddNote(task, "note", said), payloads=kept)
    else:
        die(at, agent)


def die(at: Services, agent: str) -> None:
    with at.agents.reading() as world:
        one = schedule_of(world, agent)
    if one is not None and one.run_key and not one.is_begun:
        captured = capture(at, agent, one.run_key, is_now=True)
        at.append_agent(captured.command, payloads=captured.payloads)


def live(at: Services, past: Past, day: Callable[[], object]) -> None:
    """Let the days pass: things happen in the morning, then it is up to the scheduler."""
    for events in (*past.days, *[()] * DAYS_AFTER):
        for event in events:
            happen(at, event, len(past.modes))
        day()


def with_engine(past: Past) -> Services:
    """It runs all day: three wakes at once, when they are due."""
    home = VirtualHome(START, Fragile())
    begin(home.services, past)
    home.agents = whole.agents_of(home.services)
    live(home.services, past, lambda: home.run(ROUNDS * ROUND_SECONDS))
    return home.services


def on_demand_of(past: Past) -> Services:
    """Somebody asks for a round now and then: one wake after another, due or not."""
    at = VirtualHome(START, Fragile()).services
    at.clock = clock = ManualClock(START)
    begin(at, past)
    agents = whole.agents_of(at)

    def day() -> None:
        for _ in range(ROUNDS):
            on_demand.prepare(at, lambda _: agents)
            on_demand.run_ready(at, agents, lambda *_: None)
            clock.advance(seconds=ROUND_SECONDS)

    live(at, past, day)
    return at


def ends(at: Services) -> dict[str, list[tuple[str, str, str]]]:
    """How the wakes of each agent ended, in order; those that never began are nobody's."""
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for row in whole.rows_of(at.agents):
        if isinstance(row.fact, WakeFinished):
            started = at.wake(row.entity).started
            agent, reason = (started.agent, started.reason) if started else ("", "")
            found[agent].append((reason, row.fact.outcome, row.fact.code))
    return found


def came_to(at: Services) -> dict[str, object]:
    """What a person would see of each agent, without times and names of wakes."""
    ended = ends(at)
    found: dict[str, object] = {"": ended[""]}
    with at.agents.reading() as world, at.journal.reading() as journal:
        for agent_id in whole.agents_of(at):
            agent = world.load(AGENT, agent_id)
            task = journal.load(TASK, agent.task)
            report = at.wake(agent.report).report
            said = (world.text(report.tldr), report.one_liner) if report else ()
            items = [
                (item.tool, world.text(item.arguments), item.status)
                for one in agent.sets
                for item in world.load(CHANGES, one).items
            ]
            done = task.estimate, task.due, task.priority, len(task.items), len(task.notes)
            found[task.title] = (agent.lifecycle, ended[agent_id], said, items, done)
    return found


EVENTS = st.builds(Event, st.integers(0, 4), st.sampled_from([*NOTES, "wake", "die"]))
PASTS = st.builds(
    Past,
    st.lists(st.sampled_from(["autonomous", "interactive", "hybrid"]), min_size=1, max_size=5),
    st.lists(st.lists(EVENTS, min_size=1, max_size=5), min_size=1, max_size=3),
)


@given(past=PASTS)
@settings(max_examples=25)
def test_engine_and_wakes_on_demand_come_to_the_same(past: Past) -> None:
    watched, asked = with_engine(past), on_demand_of(past)
    assert came_to(watched) == came_to(asked)
    assert divergences(watched) == divergences(asked) == []

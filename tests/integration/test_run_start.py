"""An engine begins with what the views know of its agents: as if it had looked at each in the log,
at the cost of what is newer alone."""

import pytest

from adapters.models.rules.model import RulesModel
from adapters.runtime import on_demand, timers, watcher
from adapters.runtime.due_index import NO_SCHEDULES, DueIndex, turns
from adapters.runtime.engine_options import EngineStart
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.usecases.run_home import found_in
from adapters.wiring import Home
from domain.agent.commands import DestroyAgent, PauseAgent, RequestWake
from domain.journal.commands import AddNote
from domain.log.wire import Words
from tests.support.counting import CountingRecorder
from tests.support.services import queued_key, services, task_with_agent

NEVER = "9999"


def begun(home: Home, found: EngineStart, *, is_known: bool) -> DueIndex:
    due_index = DueIndex(home.services)
    known = found.known if is_known else NO_SCHEDULES
    due_index.start(found.agents, [*found.sets, *found.in_flight], known)
    return due_index


def told(due_index: DueIndex) -> list[object]:
    """All that an engine asks of it."""
    queue = turns(due_index.schedules, NEVER, lambda one: bool(one.running))
    kept = due_index.ticking(NEVER), due_index.expired(NEVER), due_index.in_doubt(NEVER)
    return [list(queue), *kept, due_index.next_at("")]


def assert_same(home: Home, found: EngineStart) -> None:
    known, looked = (told(begun(home, found, is_known=is_known)) for is_known in (True, False))
    assert known == looked


def past() -> tuple[Home, list[str]]:
    """Agents with proposals, that run, wait, tick, are paused and are gone."""
    at = services(model=RulesModel())
    made = [task_with_agent(at, f"Task {nth}") for nth in range(6)]
    agents = [agent for _, agent in made]
    at.append_journal(AddNote(made[0][0], "note", Words("Takes about 60 minutes.")))
    watcher.catch_up(at)
    on_demand.run_ready(at, agents[:3], lambda *_: None)
    at.append_agent(timers.timer_command(agents[1], "every day 07:00", "UTC", at.clock.now()))
    for agent in agents[3:5]:
        captured = capture(at, agent, queued_key(at, agent), is_now=True)
        at.append_agent(captured.command, payloads=captured.payloads)
    at.append_agent(DestroyAgent(agents[4]))
    at.append_agent(PauseAgent(agents[5]))
    home = Home.in_memory(at)
    home.views.catch_up()
    return home, agents


def test_an_engine_that_begins_from_views_knows_what_the_log_says() -> None:
    home, _ = past()
    found = found_in(home)
    assert found.known.n == home.services.agents.tail().n
    assert found.known.schedules
    assert found.sets
    assert_same(home, found)


def test_what_came_after_the_views_is_looked_at_in_the_log() -> None:
    home, agents = past()
    found = found_in(home)
    home.services.append_agent(RequestWake(agents[2], "manual", is_enabled=True))
    assert told(begun(home, found, is_known=True))[0] != []
    assert_same(home, found)


def test_views_are_not_asked_where_rows_of_another_replica_are_read() -> None:
    at = services(model=RulesModel())
    recorder = MemoryLogRecorder()
    at.agents = Log("agent", recorder, "r1")
    _, agent = task_with_agent(at)
    at.append_agent(RequestWake(agent, "manual", is_enabled=True))
    at.agents = Log("agent", recorder, "r2")  # whose queue is empty
    home = Home.in_memory(at)
    home.views.catch_up()
    found = found_in(home)
    assert [one.run_key for one in found.known.schedules] != [""]
    assert told(begun(home, found, is_known=True))[0] == []
    assert_same(home, found)


@pytest.mark.parametrize("agents", [5, 50])
def test_the_start_from_views_reads_no_stream_however_many_agents_there_are(agents: int) -> None:
    recorder = CountingRecorder()
    at = services(model=RulesModel())
    at.agents = Log("agent", recorder, "r1")
    for nth in range(agents):
        task_with_agent(at, f"Task {nth}")
    again = Services(at.journal, Log("agent", recorder, "r1"), at.clock, at.settings, at.model_for)
    home = Home.in_memory(again)
    home.views.catch_up()
    found = found_in(home)
    recorder.streams = 0
    due_index = begun(home, found, is_known=True)
    assert recorder.streams == 0
    assert len(list(turns(due_index.schedules, NEVER, lambda _: False))) == agents

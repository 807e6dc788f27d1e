"""What a wake looks up is found, told in 4 KiB, recorded, and read again by prove (ADR 42)."""

from typing import Any

from msgspec.structs import replace

from adapters.proof import histories
from adapters.proof.prove import prove_logs
from adapters.runtime.services import Services
from domain import canonical
from domain.journal import commands as j
from domain.wake.events import ToolReturned
from domain.wire import Words
from tests.support.rows import altered, rechained
from tests.support.scripted_wakes import call, ended, woken
from tests.support.services import reply, services, task_with_agent

SINK = "Fix the sink"


def returned(at: Services) -> list[ToolReturned]:
    """What every call of every wake came to, in order."""
    rows = (row for append in at.agents.appends() for row in append)
    return [row.fact for row in rows if isinstance(row.fact, ToolReturned)]


def told(at: Services, fact: ToolReturned) -> Any:
    with at.agents.reading() as world:
        return canonical.read(world.text(fact.message))


def looked_up(at: Services, agent: str, *calls: tuple[str, str]) -> list[Any]:
    """What reads of one wake are answered with."""
    before = len(returned(at))
    woken(at, agent, reply(*calls), *ended())
    found = returned(at)[before : before + len(calls)]
    return [told(at, one) for one in found]


def proved(at: Services) -> None:
    assert [str(one) for one in prove_logs(at.journal, at.agents).divergences] == []


def test_a_read_is_answered_recorded_and_proved() -> None:
    at = services()
    _, agent = task_with_agent(at, SINK)
    other = at.append_journal(j.CreateTask("Buy a new sink for the kitchen")).result.ids[0]
    at.append_journal(j.CreateTask("Mow the lawn"))
    (found,) = looked_up(at, agent, call("find_tasks", words="the SINK!"))
    assert found["tasks"][0]["id"] == other
    assert found["tasks"][0]["title"] == "Buy a new sink for the kitchen"
    assert len(found["tasks"]) == 2, "its own task is not told, the lawn has one word"
    fact = returned(at)[0]
    assert (fact.tool, fact.status, fact.attempt) == ("find_tasks", "success", 1)
    assert fact.position == at.journal.tail().n
    assert 0 < fact.agent_position < at.agents.tail().n
    proved(at)


def test_another_text_of_a_read_is_named_with_its_wake_turn_and_tool() -> None:
    """Also where every digest was made to fit."""
    at = services()
    _, agent = task_with_agent(at, SINK)
    at.append_journal(j.CreateTask("Buy a sink"))
    looked_up(at, agent, call("find_tasks", words="sink"))
    history = histories.taken(at.journal, at.agents)
    rows = history.rows["agent"]
    place = next(nth for nth, row in enumerate(rows) if b"Buy a sink" in row.state)
    assert rows[place].topic == "wake.tool_returned.1"
    forged = rechained(rows, place, lambda row: altered(row, "Buy a sink", "Buy a pink"))
    planted = {**history.rows, "agent": forged}
    whole = replace(history, rows=planted, digest=histories.digest_of(planted))
    (found,) = histories.prove(whole).divergences
    assert (found.kind_of, found.path) == ("prompt changed", "turn 1.find_tasks")
    assert found.wake == rows[place].stream.partition(":")[2].rpartition("@")[0]
    assert ("sink" in found.expected, "pink" in found.actual) == (True, True)


def test_a_wake_may_read_six_times() -> None:
    at = services()
    _, agent = task_with_agent(at, SINK)
    calls = [call("find_tasks", words="sink")] * 4 + [call("recall", words="sink")] * 4
    woken(at, agent, reply(*calls[:5]), reply(*calls[5:]), *ended())
    found = [(one.status, one.code, one.attempt) for one in returned(at)][:8]
    assert found == [("success", "", 1)] * 6 + [("denied", "limit", 0)] * 2
    proved(at)


def test_a_task_of_another_category_cannot_be_told_from_one_that_is_not_there() -> None:
    at = services()
    _, agent = task_with_agent(at, SINK)
    health = at.append_journal(j.AddCategory("Health")).result.ids[0]
    hidden = at.append_journal(j.CreateTask("Sink tablets", health)).result.ids[0]
    gone = at.append_journal(j.CreateTask("Sink of old")).result.ids[0]
    at.append_journal(j.DeleteTask(gone))
    calls = [call("read_task", taskId=one) for one in (hidden, gone, "nobody")]
    woken(at, agent, reply(*calls, call("find_tasks", words="sink")), *ended())
    *missed, found = returned(at)[:4]
    assert {(one.status, one.code, one.message) for one in missed} == {
        ("error", "not_found", Words("There is no such task that you may read."))
    }
    assert told(at, found) == {"tasks": []}
    proved(at)

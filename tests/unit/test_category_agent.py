"""An agent that looks over a category: what it is told, what it may propose and ask, and what it
may not whatever its model says (ADR 104)."""

import json
from typing import Any

import pytest

from adapters.runtime import review
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import CATEGORY_AGENT, AgentSettings, agent_id
from domain.agent.wake_queue import WAKE_QUEUE, Queued
from domain.changes.dependencies import follow_up_id
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal import day as d
from domain.wake.wake import RequestStaged, Wake
from tests.support.lone import (
    HEALTH,
    HOME,
    OF_HOME,
    TODAY,
    WORK,
    Lone,
    lone_agent,
    reviewer,
    with_agents,
)
from tests.support.scripted_wakes import call
from tests.support.services import StillClock

LEAKS = call(
    "create_task", title="Call the plumber", items=[{"title": "ask for a price"}],
    dueDate="2027-01-08", priority="P1", estimateMinutes=30, because="The tap leaks",
    description="The kitchen tap.",
)  # fmt: skip


def week_told(of: Lone, wake: Wake) -> dict[str, Any]:
    ref = next(one for one in wake.begun.user if one.name == "week")
    with of.at.agents.reading() as world:
        text = world.payload(ref.payload).decode()
    told: dict[str, Any] = json.loads(text[text.index("{") :])
    return told


def queued(of: Lone, agent: str) -> Queued | None:
    with of.at.agents.reading() as world:
        return world.load(WAKE_QUEUE, agent).queued


def asking(of: Lone, title: str, about: str = "stale") -> tuple[str, str]:
    return call("ask_agent", taskId=of.tasks[title], about=about)


# --------------------------------------------------------------------------------------- its life


def test_it_is_of_a_category_that_it_may_read() -> None:
    of = reviewer("Tap")
    agent = of.at.agent(of.agent)
    assert (agent.task, agent.subject, agent.agent_kind) == ("", OF_HOME, CATEGORY_AGENT)
    with pytest.raises(Refused) as refused:
        lone_agent(of.at, CATEGORY_AGENT, f"category:{WORK}", (HOME,), "Work week")
    assert refused.value.code == "out_of_scope"
    with pytest.raises(Refused) as refused:
        lone_agent(of.at, CATEGORY_AGENT, OF_HOME, (HOME,), "Home week")
    assert refused.value.code == "agent_exists"


# --------------------------------------------------------------------------------- what it is told


def test_it_is_told_two_weeks_of_its_category_and_nothing_of_another() -> None:
    of = reviewer("Tap", "Fence", "Roof", "Later", "Secret @Health", estimate=0)
    do_, tasks = of.at.append_journal, of.tasks
    do_(do.EditTask(tasks["Fence"], due="2027-01-10", estimate=120))
    do_(do.LogTime(tasks["Fence"], "2027-01-02T08:00:00.000000Z", "2027-01-02T09:30:00.000000Z"))
    do_(do.LogTime(tasks["Tap"], "2026-12-23T08:00:00.000000Z", "2026-12-23T08:20:00.000000Z"))
    do_(do.LogTime(tasks["Secret"], "2027-01-02T08:00:00.000000Z", "2027-01-02T09:30:00.000000Z"))
    do_(do.EditTask(tasks["Later"], wait_until="2027-02-01"))
    do_(d.PutBlock("2027-01-03", "09:00", "10:00", task=tasks["Fence"]))
    do_(d.PutBlock("2027-01-03", "11:00", "12:00", task=tasks["Secret"]))
    do_(d.PutBlock("2027-01-01", "11:00", "11:30", title="Tidy", category="Home"))
    wake = of.wakes()
    told = week_told(of, wake)
    assert (told["date"], told["weekday"], told["category"]) == (TODAY, "Mon", "Home")
    assert [one["title"] for one in told["tasks"]] == ["Fence", "Tap", "Roof"]
    fence = told["tasks"][0]
    assert (fence["estimate"], fence["spent"], fence["planned"]) == (120, 90, 60)
    assert told["waiting"] == 1
    newer, older = told["weeks"]
    assert (newer["since"], newer["until"]) == ("2026-12-28", "2027-01-03")
    assert (older["since"], older["until"]) == ("2026-12-21", "2026-12-27")
    assert (newer["spent"], newer["planned"]) == (90, 90)
    assert older["spent"] == 20
    assert "Secret" not in of.prompt(wake)
    assert tasks["Secret"][:8] not in of.prompt(wake)
    assert of.proved() == []


def test_what_was_done_and_rated_counts_in_the_week_it_was() -> None:
    of = reviewer("Tap", "Roof")
    do_, tasks = of.at.append_journal, of.tasks
    do_(do.RateTask(tasks["Tap"], 4))
    do_(do.RateTask(tasks["Roof"], 5))
    do_(do.EditTask(tasks["Tap"], status="DONE"))
    told = week_told(of, of.wakes())
    assert "done" not in told, "today is none of the whole days"
    of.at.clock = StillClock(f"{TODAY}T18:00:00.000000Z")
    told = week_told(of, of.wakes())
    assert [(one["title"], one["date"], one["rating"]) for one in told["done"]] == [
        ("Tap", TODAY, 4)
    ]
    assert told["weeks"][0]["rating"] == 4.5
    assert (told["weeks"][0]["done"], told["weeks"][0]["made"]) == (1, 2)


def test_without_its_category_it_reads_nothing() -> None:
    of = reviewer("Tap")
    settings = AgentSettings(categories=(WORK,))
    of.at.append_agent(ConfigureAgent(of.agent, settings))
    with pytest.raises(Refused) as refused:
        of.wakes()
    assert refused.value.code == "out_of_scope"


# ----------------------------------------------------------------------------- a task that it makes


def test_a_task_is_proposed_confirmed_and_gets_its_agent() -> None:
    of = reviewer("Tap")
    of.wakes(LEAKS)
    (item,) = of.items()
    assert item.summary == (
        'Create task "Call the plumber", due 2027-01-08, P1, with "ask for a price": '
        "The kitchen tap."
    )
    assert of.confirm(1) == "confirmed"
    made = follow_up_id(of.sets[-1], 1)
    task = of.task(made)
    assert (task.title, task.category, task.due) == ("Call the plumber", HOME, "2027-01-08")
    assert (task.priority, task.estimate) == ("P1", 30)
    assert [one.title for one in task.items] == ["ask for a price"]
    heir = of.at.agent(agent_id("task_agent", made, 1))
    assert (heir.lifecycle, heir.categories) == ("active", (HOME,))
    assert of.confirm(1) == "confirmed"
    assert of.proved() == []


def test_it_is_taken_back_and_made_again() -> None:
    of = reviewer("Tap")
    of.wakes(LEAKS)
    of.confirm(1)
    made = follow_up_id(of.sets[-1], 1)
    review.undo(of.at, of.sets[-1], 1, of.operation(1))
    assert of.task(made).is_deleted
    assert of.items()[0].status == "pending"
    assert of.confirm(1, edit=json.dumps({"title": "Call Ann", "category": HOME})) == "confirmed"
    assert of.task(made).is_there
    assert of.task(made).title == "Call Ann"
    assert of.proved() == []


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"title": "tap"}, "There is such a task already."),
        ({"title": "Call Bob", "because": ""}, "because: is missing"),
        ({"title": ""}, "title"),
        ({"title": "X", "estimateMinutes": -1}, "estimateMinutes"),
        ({"title": "X", "items": [{"title": "a"}] * 21}, "items"),
        ({"title": "X", "category": WORK}, "category"),
    ],
)
def test_what_it_may_not_propose(asked: dict[str, Any], told: str) -> None:
    of = reviewer("Tap")
    wake = of.wakes(call("create_task", **({"because": "Tap"} | asked)))
    assert told in of.told(wake)[0]
    assert of.sets == ()
    assert of.proved() == []


def test_three_wait_at_most_and_what_was_decided_stays_so() -> None:
    of = reviewer("Tap")
    calls = [call("create_task", title=f"Task {nth}", because="Tap") for nth in range(4)]
    wake = of.wakes(*calls)
    assert len(of.items()) == 3
    assert "not decided yet" in of.told(wake)[3]
    review.reject(of.at, of.sets[-1], 1, "no")
    again = of.wakes(call("create_task", title="task 0", description="anew", because="Tap"))
    assert "turned it down" in of.told(again)[0]
    spoken = of.wakes(
        call("create_task", title="task 0", description="anew", because="Tap"), words="Make it."
    )
    assert "Queued" in of.told(spoken)[0]
    assert of.proved() == []


def test_a_category_that_is_gone_takes_no_task() -> None:
    of = reviewer("Tap")
    of.wakes(LEAKS)
    of.at.append_agent(ConfigureAgent(of.agent, AgentSettings(categories=(HEALTH,))))
    assert of.confirm(1) == "pending the task's category is not one the agent may touch"
    assert of.proved() == []


# --------------------------------------------------------------------------- what it asks of others


def test_the_agent_of_a_task_is_asked_once_and_wakes() -> None:
    of = reviewer("Tap", "Roof")
    agents = with_agents(of, "Tap")
    wake = of.wakes(
        asking(of, "Tap"), asking(of, "Tap", "blocked"), asking(of, "Roof"),
        call("ask_agent", taskId="q" * 32, about="stale"),
    )  # fmt: skip
    assert of.told(wake)[:4] == [
        "It is asked when this wake ends, and answers in its own report.",
        "The agent of that task is asked in this wake already.",
        "That task has no agent to ask.",
        f'No task with the id "{"q" * 32}" was shown to you.',
    ]
    assert wake.requests == (RequestStaged(agents["Tap"], of.tasks["Tap"], "stale"),)
    waits = queued(of, agents["Tap"])
    assert waits
    assert (waits.reason, waits.hop, waits.triggers[0].about) == ("request", 1, "stale")
    asked = of.runs(agents["Tap"])
    assert "- stale: Is this task still wanted" in of.prompt(asked)
    assert "(asked by the agent that looks over the category)" in of.prompt(asked)
    assert queued(of, agents["Tap"]) is None
    assert of.proved() == []


def test_five_are_asked_at_most() -> None:
    titles = [f"T{nth}" for nth in range(6)]
    of = reviewer(*titles)
    with_agents(of, *titles)
    wake = of.wakes(*(asking(of, one) for one in titles))
    assert len(wake.requests) == 5
    assert of.told(wake)[5] == "at most 5 agents are asked in one wake"

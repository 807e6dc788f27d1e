"""What an agent's facts make of its journal, its report and its counts."""

from domain.agent.agent import (
    CRITICAL_KEPT,
    JOURNAL_SHOWN,
    AgentObserved,
    AgentProposed,
    AgentReported,
    AgentSettled,
    Priority,
    SubscriberAdded,
)
from domain.log.wire import Words
from tests.support.agents import agent_of, born


def test_the_journal_keeps_the_newest_and_every_critical_one() -> None:
    def observed(nth: int, priority: Priority) -> AgentObserved:
        return AgentObserved("run", Words(str(nth)), priority, "operational")

    facts = [observed(nth, "critical") for nth in range(CRITICAL_KEPT + 5)]
    agent = born("hybrid", *facts, *[observed(nth, "routine") for nth in range(30)])
    assert [one.words.text for one in agent.observations] == list(map(str, range(10, 30)))
    assert len(agent.observations) == JOURNAL_SHOWN
    assert len(agent.critical) == CRITICAL_KEPT
    assert (agent.critical[0].words.text, agent.critical[-1].words.text) == ("5", "204")


def test_the_head_of_the_report_and_the_sets_move_on() -> None:
    sets = [
        AgentProposed("set-1", "run"),
        AgentProposed("set-2", "run"),
        AgentProposed("set-1", ""),
    ]
    agent = born("hybrid", AgentReported("run-1"), AgentReported("run-2"), *sets)
    assert (agent.report, agent.sets) == ("run-2", ("set-2", "set-1"))


def test_failures_count_in_a_row_and_only_wakes_that_ran_count() -> None:
    agent = born(
        "hybrid",
        AgentSettled("r1", "failed", "internal", 3),
        AgentSettled("r2", "failed", "internal", 5),
        AgentSettled("r3", "skipped", "dormant"),
        AgentSettled("r4", "superseded"),
    )
    assert (agent.wakes, agent.failures, agent.position) == (2, 2, 5)
    assert (agent.last_run, agent.last_outcome, agent.last_code) == ("r3", "skipped", "dormant")
    agent = agent_of([AgentSettled("r5", "completed", "", 9, is_fresh=True)], agent)
    assert (agent.wakes, agent.failures, agent.position, agent.fresh_position) == (3, 0, 9, 9)


def test_an_unknown_fact_changes_nothing() -> None:
    assert agent_of([SubscriberAdded("a", "s")], born()) == born()

"""A wake whose agent may not go on ends at its next row; one that waits begins no second time."""

import pytest

from adapters.runtime.services import Services
from adapters.runtime.wake_capture import Captured, capture
from domain.agent.commands import PauseAgent
from domain.append.causes import Replied
from domain.errors import Refused
from domain.wake.commands import RetakeWake
from domain.wake.wake import WAKE, ModelAsked, ModelFailed, Wake, WakeFinished
from tests.support.services import divergences, queued_key, services, task_with_agent

FAULT = ModelFailed(1, 1, "overloaded", "503", of_provider=True, retry_seconds=90)


def begun() -> tuple[Services, str, Captured]:
    """A wake that has asked the model."""
    at = services()
    _, agent = task_with_agent(at)
    captured = capture(at, agent, queued_key(at, agent), is_now=True)
    at.append_agent(captured.command, payloads=captured.payloads)
    return at, agent, captured


def wake_of(at: Services, run_key: str) -> Wake:
    with at.agents.reading() as world:
        return world.load(WAKE, run_key)


def test_the_wake_of_a_paused_agent_is_not_taken_over() -> None:
    at, agent, captured = begun()
    at.append_agent(PauseAgent(agent))
    at.append_agent(RetakeWake(captured.command.run_key))
    facts = [row.fact for row in at.agents.facts(f"wake:{captured.command.run_key}@r1")]
    assert facts[-1] == WakeFinished("skipped", code="dormant")
    assert sum(isinstance(fact, ModelAsked) for fact in facts) == 1
    assert divergences(at) == []


def test_the_wake_of_a_paused_agent_does_not_wait_for_its_provider() -> None:
    at, agent, captured = begun()
    at.append_agent(PauseAgent(agent))
    at.append_reply(Replied("wake", captured.command.run_key, FAULT), [])
    facts = [row.fact for row in at.agents.facts(f"wake:{captured.command.run_key}@r1")]
    assert facts[-2:] == [FAULT, WakeFinished("skipped", code="dormant")]
    assert wake_of(at, captured.command.run_key).phase == "done"
    assert divergences(at) == []


def test_a_wake_that_waits_is_not_begun_anew() -> None:
    at, _, captured = begun()
    at.append_reply(Replied("wake", captured.command.run_key, FAULT), [])
    with pytest.raises(Refused) as refused:
        at.append_agent(captured.command, payloads=captured.payloads)
    assert refused.value.code == "agent_running"
    assert refused.value.remedy == ("recover_wake", "")

"""A scene of memory: digests, what is resolved and what is not, and a category that is gone."""

from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.agent.agent import AGENT
from domain.agent.deciders import AgentSettings
from domain.journal import commands as do
from domain.journal.task import TASK
from tests.histories.acting import Scene, told
from tests.histories.tool_scenes import call, wake
from tests.support.services import services, task_with_agent

PAIN = {"text": "The tap hurts my ears", "priority": "critical", "category": "grievance"}
WISH = {"text": "Prefers brass, läßt grüßen\n## no heading", "priority": "notable"}


def _notes(word: str) -> list[object]:
    return [PAIN, WISH, *[f"{word} {nth}" for nth in range(16)], "The same", "the  SAME"]


def digested() -> Services:
    """Notes become digests over wakes; one is settled, a wrong number is refused, and what was
    noted under a category that is gone is shown no more."""
    at = services()
    task, agent = task_with_agent(at, "Fix the sink")
    (health,) = told(at, do.AddCategory("Health"))
    with at.journal.reading() as world:
        own = world.load(TASK, task).category
    wake(at, agent, [call("record_observations", observations=_notes("Washer"))])
    with at.agents.reading() as world:
        number = world.load(AGENT, agent).critical[0].position.partition("@")[0]
    for resolves in (["0-0"], [number]):
        settled = call("record_observations", observations=["Quiet now"], resolves=resolves)
        wake(at, agent, [settled])
    told(at, agents.ConfigureAgent(agent, AgentSettings(categories=(own, health))))
    wake(at, agent, [call("record_observations", observations=_notes("Knee"))])
    wake(at, agent, [call("record_observations", observations=_notes("Pipe"))])
    told(at, agents.ConfigureAgent(agent, AgentSettings(categories=(own,))))
    wake(at, agent, [call("record_observations", observations=_notes("Drain"))])
    wake(at, agent, [call("recall", words="knee"), call("recall", words="washer 3")])
    return at


SCENES: tuple[Scene, ...] = (digested,)

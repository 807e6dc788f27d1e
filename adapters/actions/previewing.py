"""What an agent's model would be sent now, before anything is: nothing is written or asked."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from adapters.documents.policy import Preview
from adapters.runtime import gate
from adapters.runtime.capture import given_now
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE, Queued
from domain.agent.wake_queue_events import Trigger
from domain.handlers.bench import tools_of
from domain.policy.gate import is_leaving
from domain.ports import Request
from domain.tools import registry
from domain.wake.scaffolds import SCAFFOLD
from domain.wake.shown import shown, snapshot_of

if TYPE_CHECKING:
    from adapters.wiring import Home


def preview(home: "Home", agent_id: str, template_id: str = "") -> tuple[Preview, Request]:
    """What the first question of an agent's next wake would be: of the one that is queued, else
    of one that a person asks for. With a template: as if it lived on that.

    Raises:
        Refused: No prompt may be rendered, see `shown`, or the model cannot be had.
    """
    services, now = home.services, home.services.clock.now()
    with services.journal.reading() as journal, services.agents.reading() as agents:
        agent = agents.load(AGENT, agent_id)
        agent = replace(agent, template=template_id) if template_id else agent
        trigger = Trigger("manual", "")
        asked_for = Queued("", "manual", "", now, now, (trigger,), is_urgent=True)
        queued = agents.load(WAKE_QUEUE, agent_id).queued or asked_for
        prompt = shown(journal, agents, agent, queued, given_now(services))
        seen = snapshot_of(journal, agent, journal.n - 1, SCAFFOLD)
        names = tools_of(agents, agent, queued.reason, SCAFFOLD, seen)
    model = gate.full_name(services, services.model_name(agent))
    tools = registry.specs(names, SCAFFOLD)
    request = Request(model, tuple(prompt.system), tuple(prompt.user), tools)
    refused = gate.held_as(services, agent)
    return (
        Preview(
            agent_id=agent_id,
            agent=agent.name,
            model=model,
            leaves=is_leaving(model),
            refused=refused.code if refused else None,
            because=refused.because if refused else None,
            secrets_replaced=prompt.secrets,
            system=list(request.system),
            user=list(request.user),
            tools=list(request.tools),
        ),
        request,
    )

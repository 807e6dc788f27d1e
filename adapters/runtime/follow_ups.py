"""The agent that a follow-up task is given: one like that of the task it follows (ADR 40)."""

from contextlib import suppress

from adapters.runtime.services import Services
from domain.agent import deciders
from domain.agent.agent import Agent
from domain.agent.commands import AgentCommand, ConfigureAgent, CreateAgent
from domain.agent.deciders import AgentSettings
from domain.errors import KeyReused, Refused
from domain.journal.task import TASK
from domain.log.keys import key


def accompany(services: Services, source: Agent, made: str) -> None:
    """Make an agent for a new task, like the `source` that it follows, unless the setting says
    none. Of a confirmation it stands between the effect and its outcome: whoever takes over an
    effect in doubt comes by here again, and what was done under its key is not done twice. An agent
    that sleeps, or is gone, gives no heir; and who made an agent for the task meanwhile keeps
    it."""
    if services.settings.agents.follow_up == "none" or source.lifecycle != "active":
        return
    name = key("follow-up-agent", made)
    _once(services, name, _like(services, source, made))
    if services.agents.receipts(name):
        heir = services.agent(deciders.agent_id(deciders.AGENT_KIND, made, 1))
        if heir.categories != source.categories:
            wanted = ConfigureAgent(heir.id, AgentSettings(categories=source.categories))
            _once(services, f"{name}:2", wanted)


def _like(services: Services, source: Agent, made: str) -> CreateAgent:
    with services.journal.reading() as world:
        task, position = world.load(TASK, made), world.n - 1
    return CreateAgent(
        made, task.title, task.category, position, source.mode, "", source.model, source.turn_max,
        services.is_enabled,
        source.template if source.task else "",  # another kind's directives are not a task's
        services.journal.horizon(position), first=services.first,
    )  # fmt: skip


def _once(services: Services, name: str, command: AgentCommand) -> None:
    """Under this key, whatever the source's agent is like by now."""
    if not services.agents.receipts(name):
        with suppress(Refused, KeyReused):  # somebody was faster
            services.append_agent(command, key=name)

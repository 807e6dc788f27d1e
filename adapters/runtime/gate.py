"""Asks the gate of `domain.policy.gate` for an agent as it stands, and lets go on what it held."""

from collections.abc import Iterable
from typing import NamedTuple

from adapters.runtime.services import Services
from domain.agent.agent import AGENT, Agent
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.errors import Refused
from domain.policy.gate import HELD, Refusal, is_leaving, refusal
from domain.policy.policy import POLICY
from domain.wake.commands import DeferWake
from domain.world import MAIN

GIVEN = "requested"  # why a wake that a person let go on is due, as for one that is asked for


class Destination(NamedTuple):
    """Where an agent's texts would go. `has_secret`: the key that it needs is there; False also
    where none is needed."""

    model: str
    has_secret: bool


def destination(services: Services, agent: Agent) -> Destination:
    """The model that an agent would ask now, by its full name where that can be said.

    Raises:
        Refused: What `model_for` refuses, but for a missing key.
    """
    return has_key_of(services, services.model_name(agent))


def has_key_of(services: Services, model: str) -> Destination:
    """The full name of a model, and whether its key is there."""
    try:
        name = services.model_for(model).name
    except Refused as refused:
        if refused.code != "missing_key":
            raise
        return Destination(model, has_secret=False)
    return Destination(name, has_secret=is_leaving(name))


def full_name(services: Services, model: str) -> str:
    """The full name of a model; the one it was given where it cannot be had."""
    try:
        return services.model_for(model).name
    except Refused:
        return model


def held(services: Services, agent_id: str, model: str = "") -> Refusal | None:
    """Why an agent's wake may not ask its model now; `model`: the one that it began with."""
    with services.agents.reading() as world:
        agent, policy = world.load(AGENT, agent_id), world.load(POLICY, MAIN)
    to = has_key_of(services, model) if model else destination(services, agent)
    return refusal(policy, agent, to.model, to.has_secret)


def let_go(services: Services, agent_ids: Iterable[str]) -> list[str]:
    """Make due again what waited for a consent or a key that is there now: its run keys."""
    gone: list[str] = []
    for agent_id in agent_ids:
        with services.agents.reading() as world:
            wake = next_wake(world.load(WAKE_QUEUE, agent_id))
        if wake is None or wake.waits_for not in HELD:
            continue
        model = services.wake(wake.run_key).begun.model if wake.begun_at else ""
        if held(services, agent_id, model) is None:
            now = services.clock.now()
            services.append_agent(DeferWake(agent_id, wake.run_key, now, GIVEN))
            gone.append(wake.run_key)
    return gone

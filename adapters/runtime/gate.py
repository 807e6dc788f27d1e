"""Asks the gate of `domain.policy.gate` for an agent as it stands, and lets go on what it held."""

from collections.abc import Iterable
from typing import NamedTuple

from adapters.runtime.services import Services
from domain.agent import wake_queue
from domain.agent.agent import AGENT, Agent
from domain.agent.wake_queue import GIVEN, HELD, WAKE_QUEUE, Queued, next_wake
from domain.errors import Refused
from domain.handlers.wakes import refused_of
from domain.log.state import MAIN
from domain.policy.gate import GateRefusal, is_leaving, refusal
from domain.policy.policy import POLICY, Policy
from domain.wake.commands import DeferWake
from domain.wake.wake import Wake


class Destination(NamedTuple):
    """Where an agent's texts would go. `has_secret`: the key that it needs is there; False also
    where none is needed."""

    model: str
    has_secret: bool


def _has_key(services: Services, model: str) -> Destination:
    """The full name of a model where that can be said, and whether its key is there. Raises Refused
    as `model_for` does, but for a missing key."""
    try:
        name = checked_model(services, model)
    except Refused as refused:
        if refused.code != "missing_key":
            raise
        return Destination(model, has_secret=False)
    return Destination(name, has_secret=is_leaving(name))


def checked_model(services: Services, model: str) -> str:
    """The full name of a model that can be had, and paid where money is limited. Raises Refused as
    `model_for` does, or with code ``unpriced_model``."""
    name = services.model_for(model).name
    services.budgets.check_priced(name, services.clock.now())
    return name


def full_name(services: Services, model: str) -> str:
    """The full name of a model; the one it was given where it cannot be had."""
    try:
        return services.model_for(model).name
    except Refused:
        return model


def held(services: Services, agent_id: str, wake: Wake | None = None) -> GateRefusal | None:
    """Why an agent's wake may not ask its model now; `wake`: one that has begun."""
    with services.agents.reading() as world:
        agent, policy = world.load(AGENT, agent_id), world.load(POLICY, MAIN)
    if wake is not None and wake.phase != "absent":
        has_secret = _has_key(services, wake.begun.model).has_secret
        return refused_of(policy, agent, wake.begun, has_secret=has_secret)
    return _refused_now(services, agent, policy)


def held_as(services: Services, agent: Agent) -> GateRefusal | None:
    """The same of an agent as it would be, before a wake of it begins."""
    with services.agents.reading() as world:
        return _refused_now(services, agent, world.load(POLICY, MAIN))


def _refused_now(services: Services, agent: Agent, policy: Policy) -> GateRefusal | None:
    to = _has_key(services, services.model_name(agent))
    return refusal(policy, agent, to.model, to.has_secret)


def is_asked_by_agents(services: Services, agent_id: str, run_key: str) -> bool:
    """Whether a queued or begun wake of an agent is one that only other agents asked for."""
    with services.agents.reading() as world:
        known = world.load(WAKE_QUEUE, agent_id)
    wakes = (one for one in (known.begun, known.queued) if one and one.run_key == run_key)
    return any(map(wake_queue.is_asked_by_agents, wakes))


def held_wake(services: Services, agent_id: str) -> Queued | None:
    """The next wake of an agent, if it waits for a consent or a key."""
    with services.agents.reading() as world:
        wake = next_wake(world.load(WAKE_QUEUE, agent_id))
    return wake if wake and wake.waits_for in HELD else None


def let_go(services: Services, agent_ids: Iterable[str]) -> list[str]:
    """Make due again what waited for a consent or a key that is there now: its run keys."""
    gone: list[str] = []
    for agent_id in agent_ids:
        wake = held_wake(services, agent_id)
        if wake and _is_open(services, agent_id, wake.run_key):
            now = services.clock.now()
            services.append_agent(DeferWake(agent_id, wake.run_key, now, GIVEN))
            gone.append(wake.run_key)
    return gone


def _is_open(services: Services, agent_id: str, run_key: str) -> bool:
    """Whether nothing holds a wake any more; one whose model cannot be had goes on waiting."""
    try:
        return held(services, agent_id, services.wake(run_key)) is None
    except Refused:
        return False

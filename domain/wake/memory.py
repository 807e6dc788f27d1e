"""What an agent may be shown of what it wrote itself, once it is allowed less than before."""

from collections.abc import Callable
from functools import cache

from msgspec.structs import replace

from domain.agent.agent import Agent, Observation
from domain.changes.change_set import CHANGES
from domain.policy.flow import may_enter
from domain.wake.state import WAKE
from domain.world import World


def may_read(agents: World, agent: Agent) -> Callable[[str], bool]:
    """Tells of a wake, by its run key, whether the agent as it is now may read what it wrote."""

    @cache
    def may(run_key: str) -> bool:
        started = agents.load(WAKE, run_key).started
        return started is not None and may_enter(started.categories, agent)

    return may


def with_readable_memory(agents: World, agent: Agent) -> Agent:
    """An agent without the report, observations and change sets of wakes that were allowed a
    category that it is not allowed now, and without the loops it opened. What a wake writes can
    hold no more than it was shown, so later ones are free of it.

    Args:
        agents: Its log; wakes are looked up only where it was ever allowed more.
        agent: The agent as it is now.
    """
    if may_enter(agent.categories_ever or (), agent):
        return agent
    may = may_read(agents, agent)

    def readable(observed: tuple[Observation, ...]) -> tuple[Observation, ...]:
        return tuple(one for one in observed if may(one.run_key))

    return replace(
        agent,
        loops=tuple(one for one in agent.loops if one not in agent.own_loops),
        report=agent.report if may(agent.report) else "",
        observations=readable(agent.observations),
        critical=readable(agent.critical),
        sets=tuple(one for one in agent.sets if may(agents.load(CHANGES, one).run_key)),
    )

"""What a wake works with: the captured task, its change sets, the tools it is offered."""

from functools import cache, lru_cache

import msgspec
from msgspec.structs import replace

from domain import canonical
from domain.agent import identity
from domain.agent.agent import AGENT, Agent
from domain.changes.change_set import CHANGES, ChangeSet, own_set_id
from domain.tools import registry
from domain.tools.snapshot import Snapshot
from domain.wake.calls import Bench
from domain.wire import SHARED, Payload, payload
from domain.world import World

SNAPSHOTS_KEPT = 16  # of running wakes

_snapshot = lru_cache(SNAPSHOTS_KEPT)(msgspec.json.Decoder(Snapshot).decode)


def bench_of(
    world: World, agent: Agent, run_key: str, snapshot: str, scaffold: int, at: str
) -> Bench:
    """What the calls of a wake are answered with, looked at at `at`."""

    def own() -> ChangeSet:
        return world.load(CHANGES, own_set_id(world, run_key))

    def others() -> tuple[ChangeSet, ...]:
        mine = own_set_id(world, run_key)
        sets = [one for one in agent.sets if one != mine]
        earlier = _earlier_sets(world, agent) if scaffold >= 2 else []
        return world.load_each(CHANGES, [*earlier, *sets])

    seen = replace(_snapshot(world.payload(snapshot)), at=at)
    return Bench(seen, own, others, world.text, agent)


def _earlier_sets(world: World, agent: Agent) -> list[str]:
    """The change sets of the task's earlier agents: what the person told one, all have heard."""
    kind, task = agent.agent_kind, agent.task
    earlier = (identity.agent_id(kind, task, nth) for nth in range(1, agent.generation))
    return [one for known in earlier for one in world.load(AGENT, known).sets]


@cache
def specs_of(tools: tuple[str, ...], scaffold: int) -> Payload:
    """The tools as the model is offered them: no task's, so no task's unit."""
    return payload(SHARED, canonical.encode(registry.specs(tools, scaffold)))


def tools_of(
    world: World, agent: Agent, reason: str, scaffold: int, snapshot: Snapshot
) -> tuple[str, ...]:
    """The tools that a wake is offered for the task as it was captured."""
    sets = world.load_each(CHANGES, agent.sets) if scaffold >= 2 else ()
    has_open = any(item.status == "pending" for one in sets for item in one.items)
    return registry.offered(agent.agent_kind, reason, scaffold, snapshot, has_open=has_open)

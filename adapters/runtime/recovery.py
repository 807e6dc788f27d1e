"""Finishes what a crash left undone (DESIGN 2, law 5). Doing it twice changes nothing more.

A begun wake goes on under its run key, an effect in doubt is driven again under its operation
id, and proposals whose time has come expire. Who still works at one of them loses nothing: its
reply comes under an older attempt, and is kept without a consequence. Of machines that share a
home each finishes its own, see `orphaned_effects`."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from adapters.runtime import orphaned_effects, review
from adapters.runtime.on_demand import RanWake, run_one
from adapters.runtime.run_leases import RunLeases
from adapters.runtime.services import Services
from domain.agent.wake_queue import WAKE_QUEUE
from domain.changes.change_set import find
from domain.changes.decisions import pending_effects
from domain.errors import WakelogError


class RecoveryStep(Struct, frozen=True):
    """One thing that was recovered. `about` is a run key, or a change set's id; `item` counts
    from 1 and is 0 for a wake; `status` is what it is now; `error` is empty where it went well."""

    what: Literal["wake", "operation", "expiry"]
    about: str
    item: int = 0
    status: str = ""
    error: WakelogError | str = ""


TellStep = Callable[[RecoveryStep], None]


def recover(
    services: Services, agent_ids: Iterable[str], in_flight: Iterable[str], expiring: Iterable[str],
    tell: TellStep,
) -> list[RecoveryStep]:  # fmt: skip
    """Recover a home; `tell` is told each step as it is done. `agent_ids`: all; `in_flight`: change
    sets with an effect that was asked for and not answered, or in doubt, and others do no harm;
    `expiring`: those whose time has come."""
    steps: list[RecoveryStep] = []

    def keep(step: RecoveryStep) -> None:
        steps.append(step)
        tell(step)

    for agent_id, run_key in begun_wakes(services, agent_ids):
        if (ran := asyncio.run(_ran(services, agent_id, run_key))) is not None:
            wake = services.wake(run_key)
            keep(RecoveryStep("wake", run_key, status=wake.outcome or wake.phase, error=ran.error))
    for set_id in in_flight:
        for step in (*_operations(services, set_id), *_done(services, set_id)):
            keep(step)
    for set_id in expiring:
        if review.expire(services, set_id):
            keep(RecoveryStep("expiry", set_id, status="expired"))
    return steps


def begun_wakes(services: Services, agent_ids: Iterable[str]) -> list[tuple[str, str]]:
    """The wakes that began and have no end, as ``(agent, run key)``; one that waits for its
    provider or a budget until later is not in doubt."""
    now = services.clock.now()
    found: list[tuple[str, str]] = []
    with services.agents.reading() as world:
        for agent_id in agent_ids:
            begun = world.load(WAKE_QUEUE, agent_id).begun
            if begun is not None and begun.until <= now:
                found.append((agent_id, begun.run_key))
    return found


async def _ran(services: Services, agent_id: str, run_key: str) -> RanWake | None:
    """What came of a wake; None where another process has it. One that cannot go on is left in
    doubt, and may be taken over at once."""
    async with RunLeases(services) as run_leases:
        if run_leases.take(agent_id, run_key) == "agent":
            return None
        ran = await run_one(services, agent_id, run_key, is_left=True, hands_back=False)
        if ran.code in ("", "internal"):
            run_leases.give_back(agent_id)
        return ran


def _operations(services: Services, set_id: str) -> list[RecoveryStep]:
    changes = review.changes_of(services, set_id)
    if not pending_effects(changes):
        return []
    try:
        taken = review.recover(services, set_id)
    except WakelogError as error:
        return [RecoveryStep("operation", set_id, error=error)]
    after = review.changes_of(services, set_id)
    items = filter(None, (find(after, number) for number in taken))
    return [RecoveryStep("operation", set_id, one.number, one.status, one.error) for one in items]


def _done(services: Services, set_id: str) -> list[RecoveryStep]:
    """What was done though the set does not say so."""
    try:
        items = orphaned_effects.confirm_done(services, [set_id])
    except WakelogError as error:
        return [RecoveryStep("operation", set_id, error=error)]
    return [RecoveryStep("operation", set_id, number, "confirmed") for _, number in items]

"""One wake is run by this process, and what goes wrong in it reaches no other.

The engine, the wakes on demand and recovery find what is to run each in its own way; they run it
here.
"""

import asyncio
from collections.abc import Coroutine
from typing import NamedTuple

from adapters.runtime import performer
from adapters.runtime.due_index import schedule_of
from adapters.runtime.performer import Work
from adapters.runtime.run_leases import is_lost
from adapters.runtime.services import Services
from domain.errors import WakelogError
from domain.wake.state import WAKE


class Ran(NamedTuple):
    """A wake that was run. `error`: why it could not run at all, with its code; else empty."""

    agent_id: str
    run_key: str
    error: WakelogError | str = ""
    code: str = ""


async def run_one(
    services: Services,
    agent_id: str,
    run_key: str,
    *,
    is_left: bool = False,
    hands_back: bool = True,
) -> Ran:
    """Run one wake, due or not, unless another process does. What goes wrong is recorded, never
    raised.

    Args:
        services: Where.
        agent_id: Whose wake.
        run_key: Which.
        is_left: If it runs, the process that ran it is known to be gone.
        hands_back: Where it cannot go on, it waits for its next turn; else it is left in doubt.
    """
    work = Work(agent_id, run_key)
    try:
        fault = await fault_of(_run_found(services, work, is_left=is_left))
    except asyncio.CancelledError:
        if hands_back:
            _release(services, work, "interrupted")
        raise
    match fault:
        case None | WakelogError(code="unknown_wake"):  # another process has begun it meanwhile
            return Ran(agent_id, run_key)
        case WakelogError():
            if hands_back:
                _release(services, work, fault.code)
            return Ran(agent_id, run_key, fault, fault.code)
        case _:
            return Ran(agent_id, run_key, performer.fail(services, work, fault), "internal")


async def fault_of(running: Coroutine[None, None, None]) -> Exception | None:
    """What ended a wake from outside, or the bug that was met in it, once it no longer runs."""
    fault = (await asyncio.gather(running, return_exceptions=True))[0]
    if fault is None or isinstance(fault, Exception):
        return fault
    raise fault


def _release(services: Services, work: Work, reason: str) -> None:
    """Let a begun wake wait for its next turn at once, so that nobody takes it for running."""
    if services.wake(work.run_key).phase == "waiting":
        services.append_agent(work.defer(services.clock.now(), reason))


async def _run_found(services: Services, work: Work, *, is_left: bool) -> None:
    with services.agents.reading() as world:
        one, seen = schedule_of(world, work.agent_id), world.load(WAKE, work.run_key)
    if one is not None and one.running == work.run_key and not (is_left or is_lost(services, one)):
        return
    agent_id, run_key = work.agent_id, work.run_key
    await performer.run_wake(services, agent_id, run_key, is_now=True, seen=seen, work=work)

"""A place among all processes that wake agents of one home, for commands that wake a few.

Whoever wakes an agent holds its lease, and at most so many are held at once. As everywhere, the
lease only says when to try: what two processes do to one wake is decided by the log. A clock set
by hand means that nobody else is at work; then there is nothing to hold.
"""

import asyncio
from contextlib import closing, suppress
from functools import partial
from typing import Literal

from adapters.home.clock import ManualClock, SystemClock
from adapters.runtime.leases import BEATS_A_LEASE, Lease, Leases
from adapters.runtime.retry_backoff import say
from adapters.runtime.services import Services
from domain.agent.wake_queue import WakeQueue
from domain.errors import WakelogError

Taken = Literal["taken", "agent", "limit"]
"""What came of asking for a lease: it is ours; another process has it; as many as may are held."""


class RunLeases:
    """The leases of one command, renewed for as long as it is open (``async with``)."""

    def __init__(self, services: Services) -> None:
        self._services = services
        is_alone = services.leases_at is None or isinstance(services.clock, ManualClock)
        self._leases = None if is_alone else Leases(services.leases_at)
        self._beats: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "RunLeases":
        if self._leases is not None:
            same_time(self._services, self._leases)
            self._beats = asyncio.create_task(self._beat(self._leases))
        return self

    async def __aexit__(self, *_: object) -> None:
        """What was not given back is left in doubt, for others to take over at once."""
        if self._leases is None or self._beats is None:
            return
        self._beats.cancel()
        await asyncio.gather(self._beats, return_exceptions=True)
        say(partial(self._leases.leave, is_in_doubt=True))
        self._leases.close()

    def take(self, agent_id: str, run_key: str) -> Taken:
        """Take an agent's lease."""
        if self._leases is None:
            return "taken"
        now, limit = self._services.clock.now(), self._services.settings.agents.parallel
        if self._leases.take(agent_id, run_key, now, limit):
            return "taken"
        return "agent" if self._holder(agent_id) else "limit"

    def give_back(self, agent_id: str) -> None:
        if self._leases is not None:
            self._leases.give_back(agent_id)

    def is_lapsed(self, agent_id: str, wake_queue: WakeQueue) -> bool:
        """Whether a running wake's process is known to be gone."""
        if self._leases is None or not wake_queue.running:
            return False
        now = self._services.clock.now()
        return self._leases.state(agent_id, wake_queue.running, now) == "lapsed"

    def told(self, agent_id: str) -> str:
        """Who keeps an agent's wake from beginning here, for a person."""
        holder = self._holder(agent_id)
        if holder is not None:
            return f"process {holder.pid} is at this agent"
        pids = sorted({lease.pid for lease in self._alive()})
        limit = self._services.settings.agents.parallel
        named = ", ".join(str(pid) for pid in pids) or "another"
        return f"{limit} wakes run already, in process {named}"

    def _holder(self, agent_id: str) -> Lease | None:
        return next((lease for lease in self._alive() if lease.agent == agent_id), None)

    def _alive(self) -> list[Lease]:
        if self._leases is None:
            return []
        return [lease for lease in self._leases.all(self._services.clock.now()) if lease.is_alive]

    async def _beat(self, leases: Leases) -> None:
        while True:
            await asyncio.sleep(leases.seconds / BEATS_A_LEASE)
            say(partial(leases.beat, self._services.clock.now()))


def living(services: Services) -> list[Lease]:
    """The leases of processes that live, as far as can be told."""
    found: list[Lease] = []
    if services.leases_at is not None and services.leases_at.exists():
        with suppress(WakelogError), closing(Leases(services.leases_at)) as leases:
            found += [lease for lease in leases.all(services.clock.now()) if lease.is_alive]
    return found


def same_time(services: Services, leases: Leases) -> None:
    """Bring a machine's clock that was set back up to what others at this home read."""
    clock = services.clock
    if not isinstance(clock, SystemClock):
        return
    beats = [one.beat for one in leases.runtimes(clock.now()) if one.is_alive]
    for at in (services.journal.tail().at, services.agents.tail().at, *beats):
        clock.not_before(at)

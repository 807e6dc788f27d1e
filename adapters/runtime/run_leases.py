"""A place among all processes that wake agents of one home, and who has lost theirs.

Whoever wakes an agent holds its lease, and at most so many are held at once. As everywhere, the
lease only says when to try: what two processes do to one wake is decided by the log. A clock set by
hand means that nobody else is at work, for commands at least; then they hold theirs in memory."""

import asyncio
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from typing import Literal

from adapters.home.clock import ManualClock, SystemClock
from adapters.runtime.due_index import AgentSchedule
from adapters.runtime.retry_backoff import say
from adapters.runtime.services import Services, alone
from adapters.store.leases import BEATS_A_LEASE, Lease, Leases
from domain.errors import WakelogError
from domain.log.timestamps import later, seconds_between

SAID_SECONDS = 3  # after a heartbeat's time who lives has said again what it holds

Taken = Literal["taken", "agent", "limit"]
"""What came of asking for a lease: it is ours; another process has it; as many as may are held."""


class RunLeases:
    """The leases of one process, renewed for as long as it is open (``async with``)."""

    def __init__(
        self,
        services: Services,
        leases: Leases | None = None,
        slept: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Open the home's leases for a command, or take those of a process that joins, which are
        its to close. `slept` is told for how many seconds this process was stopped itself, where
        its leases lapsed."""
        opened = alone if isinstance(services.clock, ManualClock) else services.leases
        self._services = services
        self._leases = leases or opened()
        self._is_own = leases is None
        self._slept = slept
        self._beats: asyncio.Task[None] | None = None
        self.patient_until = ""  # others are given until then to say that they are still there

    async def __aenter__(self) -> "RunLeases":
        if not self._is_own:
            self._leases.join(self._services.clock.now())
        self.keep_time()
        self._beats = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        """What was not given back is left in doubt, for others to take over at once."""
        if self._beats is not None:
            self._beats.cancel()
            await asyncio.gather(self._beats, return_exceptions=True)
        say(partial(self._leases.leave, is_in_doubt=True))
        if self._is_own:
            self._leases.close()

    @property
    def limit(self) -> int:
        """How many wakes may run at once."""
        is_manual = isinstance(self._services.clock, ManualClock)
        return 1 if is_manual else self._services.settings.agents.parallel

    def take(self, agent_id: str, run_key: str) -> Taken:
        """Take an agent's lease."""
        if self._leases.take(agent_id, run_key, self._services.clock.now(), self.limit):
            return "taken"
        return "agent" if self._holder(agent_id) else "limit"

    def give_back(self, agent_id: str) -> None:
        self._leases.give_back(agent_id)

    def is_abandoned(self, one: AgentSchedule) -> bool:
        """Whether a wake runs whose process is gone: a lapsed lease says so at once; without any
        lease it takes a while to know."""
        now = self._services.clock.now()
        if not one.running or now < self.patient_until:
            return False
        state = self._leases.state(one.agent, one.running, now)
        if state != "none":
            return state == "lapsed"
        return is_lost(self._services, one) or now >= self.given_up_at(one)

    def given_up_at(self, one: AgentSchedule) -> str:
        """When nobody can be at a wake without a lease: after its deadline, or once all who live
        would have said so in a file that is new."""
        lost_at = _lost_at(self._services, one)
        if not self._leases.since:
            return lost_at
        since = max(one.running_since, self._leases.since)
        said_in = self._leases.seconds // BEATS_A_LEASE + SAID_SECONDS
        return min(lost_at, later(since, seconds=said_in))

    @property
    def seconds(self) -> int:
        """How long a lease holds without a heartbeat."""
        return self._leases.seconds

    def keep_time(self) -> None:
        """Bring a machine's clock that was set back up to what others at this home read."""
        clock = self._services.clock
        if not isinstance(clock, SystemClock):
            return
        beats = [one.beat for one in self._leases.runtimes(clock.now()) if one.is_alive]
        logs = self._services.journal, self._services.agents
        for at in (*(log.tail().at for log in logs), *beats):
            clock.not_before(at)

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
        return [lease for lease in self._leases.all(self._services.clock.now()) if lease.is_alive]

    async def _beat(self) -> None:
        """Renew the leases. Who was stopped itself for so long that they lapsed (a machine that
        slept) gives others as long to say that they are still there."""
        last = self._services.clock.now()
        while True:
            await asyncio.sleep(self.seconds / BEATS_A_LEASE)
            now = self._services.clock.now()
            if (gone := seconds_between(last, now)) >= self.seconds:
                self.patient_until = later(now, seconds=self.seconds)
                self._slept(gone)
            say(partial(self._leases.beat, now))
            last = now


def living(services: Services) -> list[Lease]:
    """The leases of processes that live, as far as can be told."""
    found: list[Lease] = []
    with suppress(WakelogError), closing(services.leases(is_looking=True)) as leases:
        found += [lease for lease in leases.all(services.clock.now()) if lease.is_alive]
    return found


def is_lost(services: Services, one: AgentSchedule) -> bool:
    """Whether a wake runs whose process must be gone, by the time alone: a wake has a deadline,
    and with a clock set by hand nobody else is at work."""
    if not one.running or isinstance(services.clock, ManualClock):
        return bool(one.running)
    return services.clock.now() >= _lost_at(services, one)


def _lost_at(services: Services, one: AgentSchedule) -> str:
    return later(one.running_since, seconds=services.settings.agents.lost_seconds)

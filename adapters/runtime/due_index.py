"""What is due when: an index over all agents, brought up to date by what is new in their log.

It holds nothing that the log does not say, so it is made anew at each start. Only agents that a
new append concerns are looked at again.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec import Struct

from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE, due_of, next_wake
from domain.changes.change_set import CHANGES, is_open
from domain.changes.decisions import pending_effects
from domain.timestamps import later
from domain.world import World

EFFECT_SECONDS = 60  # an effect without an outcome for so long has lost its process


class AgentSchedule(Struct, frozen=True):
    """One agent: the wake that begins next, the one that runs, and its next tick.

    `is_begun`: the next wake has begun before and waits, `until` when. `asked_at`: its place in
    the queue where no throttle is minded. `stop`: why what runs may not go on.
    """

    agent: str
    name: str
    due: str = ""
    run_key: str = ""
    reason: str = ""
    waits_for: str = ""
    is_begun: bool = False
    running: str = ""
    running_since: str = ""
    tick: str = ""
    stop: str = ""
    until: str = ""
    asked_at: str = ""


class Turn(NamedTuple):
    """The wake of an agent that runs next. `is_left`: it runs, and its process is gone."""

    schedule: AgentSchedule
    run_key: str
    is_left: bool = False


def turns(
    schedules: Iterable[AgentSchedule],
    now: str,
    is_abandoned: Callable[[AgentSchedule], bool],
    *,
    is_now: bool = False,
) -> list[Turn]:
    """Which wake of each agent runs next, in queue order: abandoned ones first, then what is due.

    Args:
        schedules: Of the agents to choose from.
        now: The present.
        is_abandoned: Whether the process of the wake that runs is gone.
        is_now: A person has them run, due or not; one that waits for its provider or a budget
            only if it is due.
    """
    found = list(schedules)
    queued = [one for one in found if one.run_key and (one.until if is_now else one.due) <= now]
    queued.sort(key=lambda one: (one.asked_at if is_now else one.due, one.agent))
    left = [Turn(one, one.running, is_left=True) for one in found if is_abandoned(one)]
    return left + [Turn(one, one.run_key) for one in queued]


class DueIndex:
    """The schedules of all agents that are not destroyed, and when change sets expire."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._seen = 0
        self.agent_schedules: dict[str, AgentSchedule] = {}
        self._expiring: dict[str, str] = {}
        self._in_flight: dict[str, str] = {}  # change sets with an effect, and when it is in doubt

    def start(self, agents: Iterable[str], sets: Iterable[str]) -> None:
        """Look at these agents and change sets, and from now on at what is new. An effect that
        has no outcome by now is in doubt at once."""
        with self._services.agents.reading() as world:
            self._seen = world.n - 1
            self._look(world, agents, sets)
        self._in_flight = dict.fromkeys(self._in_flight, "")

    def follow(self) -> None:
        """Look at what was appended since."""
        if self._services.agents.tail().n == self._seen:
            return
        agents: set[str] = set()
        sets: set[str] = set()
        for rows in self._services.agents.appends(self._seen):
            self._seen = rows[0].n
            agents |= {row.entity for row in rows if row.of_kind in ("agent", "alert")}
            sets |= {row.entity for row in rows if row.of_kind == "changes"}
        with self._services.agents.reading() as world:
            self._look(world, sorted(agents), sorted(sets))

    def running(self) -> list[AgentSchedule]:
        """The agents with a wake that runs, here or elsewhere."""
        return [one for one in self.agent_schedules.values() if one.running]

    def ticking(self, now: str) -> list[str]:
        """The agents with a timer that is due, in order."""
        return sorted(one.agent for one in self.agent_schedules.values() if "" < one.tick <= now)

    def expired(self, now: str) -> list[str]:
        """The change sets whose time has come."""
        return sorted(one for one, at in self._expiring.items() if at <= now)

    def in_doubt(self, now: str) -> list[str]:
        """The change sets with an effect that has had no outcome for too long."""
        return sorted(one for one, at in self._in_flight.items() if at <= now)

    def next_at(self, now: str) -> str:
        """When the next thing is due after now; empty if nothing is."""
        times = [at for one in self.agent_schedules.values() for at in (one.due, one.tick)]
        times += [*self._expiring.values(), *self._in_flight.values()]
        return min((at for at in times if at > now), default="")

    def _look(self, world: World, agents: Iterable[str], sets: Iterable[str]) -> None:
        for agent_id in agents:
            found = schedule_of(world, agent_id)
            if found is None:
                self.agent_schedules.pop(agent_id, None)
            else:
                self.agent_schedules[agent_id] = found
        for set_id in sets:
            changes = world.load(CHANGES, set_id)
            if changes.expires_at and any(
                item.status != "confirming" and is_open(item) for item in changes.items
            ):
                self._expiring[set_id] = changes.expires_at
            else:
                self._expiring.pop(set_id, None)
            if pending_effects(changes):
                doubt_at = later(self._services.clock.now(), seconds=EFFECT_SECONDS)
                self._in_flight[set_id] = doubt_at
            else:
                self._in_flight.pop(set_id, None)


def schedule_of(world: World, agent_id: str) -> AgentSchedule | None:
    """An agent as it stands; None where it is gone and nothing runs."""
    agent, wake_queue = world.load(AGENT, agent_id), world.load(WAKE_QUEUE, agent_id)
    is_gone = agent.lifecycle in ("", "destroyed")
    if is_gone and not wake_queue.running:
        return None
    wake = next_wake(wake_queue)
    ticks = [] if is_gone else [timer.next_at for timer in agent.timers if timer.next_at]
    return AgentSchedule(
        agent.id,
        agent.name,
        due_of(wake, wake_queue) if wake else "",
        wake.run_key if wake else "",
        wake.reason if wake else "",
        wake.waits_for if wake else "",
        bool(wake and wake.begun_at),
        wake_queue.running,
        wake_queue.running_since,
        min(ticks, default=""),
        "" if agent.lifecycle == "active" else agent.lifecycle,
        wake.until if wake else "",
        wake.until or wake.due_at if wake else "",
    )

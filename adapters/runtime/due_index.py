"""What is due when: an index over all agents, brought up to date by what is new in their log.

It holds nothing that the log does not say, so it is made anew at each start. Only agents that a
new append concerns are looked at again."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, takewhile
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct

from adapters.runtime.services import Services
from domain.agent.agent import AGENT, Agent
from domain.agent.wake_queue import (
    HELD,
    WAKE_QUEUE,
    WakeQueue,
    asleep_until,
    due_of,
    heeding,
    next_wake,
)
from domain.changes.change_set import CHANGES, is_open
from domain.changes.decisions import pending_effects
from domain.log.state import LogState
from domain.log.timestamps import later

EFFECT_SECONDS = 60  # an effect without an outcome for so long has lost its process


class AgentSchedule(Struct, frozen=True):
    """One agent: the wake that begins next, the one that runs, and its next tick. `is_begun`: the
    next wake has begun before and waits, `until` when. `asked_at`: its place in the queue where no
    throttle is minded. `stop`: why what runs may not go on."""

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


class WakeTurn(NamedTuple):
    """The wake of an agent that runs next. `is_left`: it runs, and its process is gone."""

    schedule: AgentSchedule
    run_key: str
    is_left: bool = False


class KnownSchedules(NamedTuple):
    """The schedules of all agents, as they stood at append `n` of their log; 0: not known."""

    n: int = 0
    schedules: Sequence[AgentSchedule] = ()


NO_SCHEDULES = KnownSchedules()


class TimeIndex:
    """Names by their time, kept in order: to ask costs what is found, however many there are."""

    def __init__(self) -> None:
        self._at: dict[str, str] = {}
        self._order: list[tuple[str, str]] = []  # (time, name)

    def __iter__(self) -> Iterator[str]:
        return (name for _, name in self._order)

    def put(self, name: str, at: str | None) -> None:
        """Keep a name under its time; None: it has none any more."""
        if self._at.get(name) != at:
            self.drop(name)
            if at is not None:
                self._at[name] = at
                insort(self._order, (at, name))

    def drop(self, name: str) -> None:
        if name in self._at:
            del self._order[bisect_left(self._order, (self._at.pop(name), name))]

    def due(self, now: str) -> Iterator[str]:
        """The names whose time has come, the earliest first; of one time in their own order."""
        return (name for _, name in takewhile(lambda one: one[0] <= now, self._order))

    def next_at(self, now: str) -> str:
        """The first time after now; empty if there is none."""
        nth = bisect_right(self._order, now, key=itemgetter(0))
        return self._order[nth][0] if nth < len(self._order) else ""


class Schedules:
    """The schedules of agents in queue order, kept in it as they change. `is_now`: a person has
    them run, due or not; one that waits for its provider or a budget only if it is due."""

    def __init__(self, found: Iterable[AgentSchedule] = (), *, is_now: bool = False) -> None:
        self._is_now = is_now
        self._known: dict[str, AgentSchedule] = {}
        self._places: dict[str, int] = {}  # in the order they came
        self._running: set[str] = set()
        self._queue = TimeIndex()
        self._came = count()
        for one in found:
            self.put(one)

    def get(self, agent_id: str) -> AgentSchedule | None:
        return self._known.get(agent_id)

    def put(self, one: AgentSchedule) -> None:
        """Take an agent's schedule in place of the one before."""
        self._known[one.agent] = one
        self._places.setdefault(one.agent, next(self._came))
        self._running.discard(one.agent)
        if one.running:
            self._running.add(one.agent)
        at = one.asked_at if self._is_now else one.due
        self._queue.put(one.agent, at if one.run_key else None)

    def drop(self, agent_id: str) -> None:
        if self._known.pop(agent_id, None) is not None:
            del self._places[agent_id]
            self._running.discard(agent_id)
            self._queue.drop(agent_id)

    def running(self) -> list[AgentSchedule]:
        """The agents with a wake that runs, here or elsewhere."""
        return [self._known[one] for one in sorted(self._running, key=self._places.__getitem__)]

    def held(self) -> list[str]:
        """The agents whose next wake waits for what a person has to give."""
        return [one.agent for one in self._known.values() if one.waits_for in HELD]

    def queued(self, now: str) -> Iterator[AgentSchedule]:
        """The agents whose next wake may begin, in queue order; nothing may change meanwhile."""
        if not self._is_now:
            return (self._known[one] for one in self._queue.due(now))
        asked = (self._known[one] for one in self._queue)
        return (one for one in asked if one.until <= now)

    def next_at(self, now: str) -> str:
        """When the next wake may begin after now; empty if none waits."""
        return self._queue.next_at(now)


def turns(
    schedules: Schedules, now: str, is_abandoned: Callable[[AgentSchedule], bool]
) -> Iterator[WakeTurn]:
    """Which wake of each agent runs next, in queue order: abandoned ones first, whose process is
    gone, then what is due."""
    left = [one for one in schedules.running() if is_abandoned(one)]
    yield from (WakeTurn(one, one.running, is_left=True) for one in left)
    yield from (WakeTurn(one, one.run_key) for one in schedules.queued(now))


class DueIndex:
    """The schedules of all agents that are not destroyed, and when change sets expire."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.seen = 0
        self.schedules = Schedules()
        self._ticks = TimeIndex()
        self._expiring = TimeIndex()
        self._in_flight = TimeIndex()  # change sets with an effect, and when it is in doubt
        self.is_policy_new = True  # since it was looked at last

    def start(
        self, agents: Iterable[str], sets: Iterable[str], known: KnownSchedules = NO_SCHEDULES
    ) -> None:
        """Look at these agents and change sets, and from now on at what is new. An effect that has
        no outcome by now is in doubt at once. `agents`: all; `sets`: those that are open, or have
        an effect under way; `known` is taken instead of looking at the agents, unless other
        replicas' rows are read here; then at what is newer."""
        with self._services.agents.reading() as world:
            is_known = known.n > 0 and not world.is_merged
            self.seen = known.n if is_known else world.n - 1
            self._look(world, () if is_known else agents, sets)
        for one in known.schedules if is_known else ():
            self._keep(one.agent, one)
        for set_id in list(self._in_flight):
            self._in_flight.put(set_id, "")
        self.follow()

    def follow(self) -> None:
        """Look at what was appended since."""
        if self._services.agents.tail().n == self.seen:
            return
        agents: set[str] = set()
        sets: set[str] = set()
        for rows in self._services.agents.came(self.seen):
            self.seen = max(rows[0].n, self.seen)
            agents |= {row.entity for row in rows if row.of_kind in ("agent", "alert")}
            sets |= {row.entity for row in rows if row.of_kind == "changes"}
            self.is_policy_new |= any(row.of_kind == "policy" for row in rows)
        with self._services.agents.reading() as world:
            self._look(world, sorted(agents), sorted(sets))

    def ticking(self, now: str) -> list[str]:
        """The agents with a timer that is due, in order."""
        return sorted(self._ticks.due(now))

    def expired(self, now: str) -> list[str]:
        """The change sets whose time has come."""
        return sorted(self._expiring.due(now))

    def in_doubt(self, now: str) -> list[str]:
        """The change sets with an effect that has had no outcome for too long."""
        return sorted(self._in_flight.due(now))

    def next_at(self, now: str) -> str:
        """When the next thing is due after now; empty if nothing is."""
        known = self.schedules, self._ticks, self._expiring, self._in_flight
        return min((at for one in known if (at := one.next_at(now))), default="")

    def _look(self, world: LogState, agents: Iterable[str], sets: Iterable[str]) -> None:
        for agent_id in agents:
            self._keep(agent_id, schedule_of(world, agent_id))
        for set_id in sets:
            changes = world.load(CHANGES, set_id)
            waits = any(one.status != "confirming" and is_open(one) for one in changes.items)
            is_expiring = waits and changes.expires_at != ""
            self._expiring.put(set_id, changes.expires_at if is_expiring else None)
            doubt_at = None
            if pending_effects(changes):
                doubt_at = later(self._services.clock.now(), seconds=EFFECT_SECONDS)
            self._in_flight.put(set_id, doubt_at)

    def _keep(self, agent_id: str, found: AgentSchedule | None) -> None:
        if found is None:
            self.schedules.drop(agent_id)
        else:
            self.schedules.put(found)
        self._ticks.put(agent_id, found.tick if found and found.tick else None)


def schedule_of(world: LogState, agent_id: str) -> AgentSchedule | None:
    """An agent as it stands; None where it is gone and nothing runs."""
    return schedule_from(world.load(AGENT, agent_id), world.load(WAKE_QUEUE, agent_id))


def schedule_from(agent: Agent, wake_queue: WakeQueue) -> AgentSchedule | None:
    """The same, of states that were folded already."""
    wake_queue = heeding(wake_queue, agent)
    is_gone = agent.lifecycle in ("", "destroyed")
    if is_gone and not wake_queue.running:
        return None
    wake = next_wake(wake_queue)
    ticks = [] if is_gone else [timer.next_at for timer in agent.timers if timer.next_at]
    return AgentSchedule(
        agent.id, agent.name, due_of(wake, wake_queue) if wake else "",
        wake.run_key if wake else "", wake.reason if wake else "", wake.waits_for if wake else "",
        bool(wake and wake.begun_at), wake_queue.running, wake_queue.running_since,
        min(ticks, default=""), "" if agent.lifecycle == "active" else agent.lifecycle,
        max(wake.until, asleep_until(wake, wake_queue)) if wake else "",
        wake.until or wake.due_at if wake else "",
    )  # fmt: skip

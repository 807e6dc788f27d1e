"""What a machine does as it leads a shared home, or no longer does (ADR 76).

One machine watches the journal, ticks timers and wakes by itself. Which one is derived from the
log, so two may think it for a while: then both wake under the same run keys, and nothing is lost.
What is done here is done under keys, so twice is once."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from msgspec import to_builtins
from msgspec.structs import replace

from adapters.runtime.services import Settled
from adapters.store.log import Appended
from adapters.store.reader import read_append
from domain.agent import wake_queue as q
from domain.agent.agent import AGENT, AgentCreated
from domain.agent.commands import AgentCommand, InheritWake, SleepAgent
from domain.agent.subscriptions import WATCH, placed
from domain.errors import KeyReused, Refused
from domain.journal.task import TASK
from domain.log.keys import key
from domain.log.state import MAIN, LogState, RecordedEvent, entity_of
from domain.log.wire import Imported
from domain.machines.machines import HOME, Machines
from domain.wake.commands import SkipWake

if TYPE_CHECKING:
    from adapters.runtime.services import Services


def _but(*those: type[q.WakeQueueFact]) -> list[str]:
    """The tags of all other facts."""
    return [str(one.__struct_config__.tag) for one in get_args(q.WakeQueueFact) if one not in those]


BUT_LEAVING, BUT_SLEEP = _but(q.TriggerSuppressed, q.WakeDropped), _but(q.AgentSlept)


class LeftWake(NamedTuple):
    """A wake that did not begin where it was queued; `version`: of the row of that stream that
    told its last trigger."""

    wake: q.Queued
    version: int


class AgentAttention(NamedTuple):
    """What the rows of an agent's attention on one machine come to: the wakes that it left to who
    leads, what is queued, the creations that it woke nobody for, and the run key of a wake that
    has begun."""

    left: Sequence[LeftWake]
    queued: LeftWake | None
    unborn: Sequence[q.Trigger]
    begun: str


def covered(services: "Services", world: LogState) -> tuple[Imported, ...]:
    """Up to which append of each machine's journal another one that led had taken it, as far as is
    known here."""
    found: dict[str, int] = {}
    for replica in world.replicas if world.is_shared else ():
        newest = services.agents.last_fact(f"{WATCH.name}:{MAIN}@{replica}")
        if replica == world.replica or newest is None:
            continue
        if isinstance(newest.fact, q.JournalTaken):
            for name, n in services.journal.known_to(replica, newest.fact.last).items():
                found[name] = max(n, found.get(name, 0))
    return tuple(Imported(*one) for one in sorted(found.items()))


def settle(services: "Services") -> int:
    """Bring what is queued in line with who leads; how many wakes were asked for, taken over or
    given away. Looked at again only where another machine's rows came, or another one leads; that
    it was is kept beside the views, and may be lost."""
    with services.agents.reading() as world:
        if not world.is_shared or services.settings.sync.agents == "local":
            return 0
        lead, machines = services.lead_in(world), world.load(HOME, MAIN)
        end = services.agents.last_fact(world.stream("log", MAIN))
        at = Settled(lead, end.n if end else 0, end.at if end else "")
        if services.settled == at:
            return 0
        if lead == world.replica:
            commands = dict(_taken_on(services, world, machines))
            commands.update(_ordered(services, world))
        else:
            commands = dict(_given_away(world))
    count = sum(_done(services, command, name) for name, command in commands.items())
    services.settled = at
    return count


def elsewhere(services: "Services") -> str:
    """What the machine is called that leads; empty where it is this one."""
    with services.agents.reading() as world:
        lead = services.lead_in(world)
        if lead == world.replica:
            return ""
        return world.load(HOME, MAIN).labels.get(lead, lead)


def recovered(services: "Services", replica: str) -> int:
    """Ask one wake for each agent whose wake a machine had begun that is gone; how many."""
    with services.agents.reading() as world:
        found = {
            agent: attention(agent, services.agents.facts(stream)).begun
            for agent, stream in _streams(world, services, [replica])
        }
    asked = 0
    for agent, run_key in found.items():
        if run_key:
            name = key("recovery-wake", agent, replica, run_key)
            asked += _done(services, services.request(agent, "recovery"), name)
    return asked


def attention(agent: str, rows: Iterable[RecordedEvent]) -> AgentAttention:
    """What an agent's attention on one machine came to; `rows`: of its stream there, all of
    them."""
    state, last = q.WAKE_QUEUE.initial(agent), 0
    given, unborn = list[LeftWake](), list[q.Trigger]()
    for row in rows:
        match row.fact:
            case q.WakeQueued() | q.TriggerMerged():
                last = row.version
            case q.WakeDropped(code=code) if code == q.LED_ELSEWHERE and state.queued:
                given.append(LeftWake(state.queued, last))
            case q.TriggerSuppressed(rule="led_elsewhere", trigger=trigger):
                unborn.append(trigger)
            case _:
                pass
        state = q.WAKE_QUEUE.evolve(state, row)
    queued = LeftWake(state.queued, last) if state.queued else None
    return AgentAttention(given, queued, unborn, state.begun.run_key if state.begun else "")


def is_asked(wake: q.Queued) -> bool:
    """Whether a person asked for a wake: it runs where it was asked for."""
    return any(one.reason in q.ASKED for one in wake.triggers)


def _given_away(world: LogState) -> Iterator[tuple[str, AgentCommand | SkipWake]]:
    """What no person asked for waits where it is led."""
    for agent in world.entities(q.WAKE_QUEUE.name):
        queued = world.load(q.WAKE_QUEUE, agent).queued
        if queued is not None and not is_asked(queued):
            yield f"{agent} {queued.run_key}", SkipWake(agent, queued.run_key, q.LED_ELSEWHERE)


def _taken_on(
    services: "Services", world: LogState, machines: Machines
) -> Iterator[tuple[str, AgentCommand | SkipWake]]:
    """What waits on machines that do not lead, and what each left to who does."""
    unborn: dict[str, list[q.Trigger]] = {}
    for agent, stream in _streams(world, services, world.replicas):
        of = stream.rpartition("@")[2]
        is_own = of == world.replica
        if is_own and not _has_left(services.agents.facts(stream, BUT_LEAVING)):
            continue  # most of its own
        found = attention(agent, services.agents.facts(stream))
        unborn.setdefault(agent, []).extend(found.unborn)
        waits = found.queued if not is_own else None
        if waits and is_asked(waits.wake) and of not in machines.retired:
            waits = None
        for wake, version in [*found.left, *([waits] if waits else ())]:
            name = key("inherited-wake", agent, of, str(version))
            yield name, inherited(services, agent, of, LeftWake(wake, version))
    for agent, triggers in unborn.items():
        yield from _born(services, world, agent, triggers)


def _born(
    services: "Services", world: LogState, agent: str, triggers: Sequence[q.Trigger]
) -> Iterator[tuple[str, AgentCommand | SkipWake]]:
    """The creation wake of an agent that others made, and woke nobody for: one, however many made
    it at once, and none if this machine did, too, and woke it."""
    born = next(iter(services.agents.facts(world.stream(AGENT.name, agent))), None)
    is_woken_here = born is not None and isinstance(born.fact, AgentCreated)
    if is_woken_here and all(one.replica != world.replica for one in triggers):
        return
    names = [key("creation-wake", agent, one.replica, one.reason_id) for one in triggers]
    if triggers and not any(map(services.agents.receipts, names)):
        places = [(int(one.reason_id), one.replica) for one in triggers]  # of what made the agent
        (of_n, of), name = min(zip(places, names, strict=True))
        yield name, replace(services.request(agent, "creation"), of=of, of_n=of_n)


def _ordered(services: "Services", world: LogState) -> Iterator[tuple[str, AgentCommand]]:
    """What was said of an agent's sleep on one machine alone, as of 0.2.0, holds on every one."""
    now = services.clock.now()
    told: set[str] = set()
    for one, stream in _streams(world, services, world.replicas):
        told.update([one] if services.agents.facts(stream, BUT_SLEEP) else [])
    for one in sorted(told):
        agent = world.load(AGENT, one)
        every = world.load_all(q.WAKE_QUEUE, one)
        queues = [known for known in every if not q.is_over(known, agent)]
        until = max([q.heeding(known, agent).sleeps_until or "" for known in queues], default="")
        if until > now:
            said = [f"{known.slept.replica}:{known.slept.n}" for known in queues if known.slept]
            name = key("sleep-ordered", one, until, *sorted(said))
            yield name, SleepAgent(one, until, is_ordered=True)


def _has_left(rows: Iterable[RecordedEvent]) -> bool:
    """Whether something was left to another machine that leads."""
    return any(
        q.LED_ELSEWHERE in (getattr(row.fact, "code", ""), getattr(row.fact, "rule", ""))
        for row in rows
    )


def inherited(services: "Services", agent: str, of: str, left: LeftWake) -> InheritWake:
    """The command by which this machine goes on with what an agent left on another one."""
    settings = services.settings.agents
    journal, own = services.journal, services.journal.replica
    every = range(journal.tail().n)

    def learnt(name: str, n: int) -> int:
        return bisect_left(every, n, key=lambda one: journal.known_to(own, one).get(name, 0))

    triggers = tuple(placed(one, own, learnt) for one in left.wake.triggers)
    is_enabled, throttle = services.is_enabled, settings.throttle
    return InheritWake(agent, of, left.version, triggers, is_enabled, throttle)


def _streams(
    world: LogState, services: "Services", replicas: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """The attention of agents on some machines."""
    wanted = set(replicas)
    for stream in sorted(services.agents.streams_of(q.WAKE_QUEUE.name)):
        if stream.rpartition("@")[2] in wanted:
            yield entity_of(stream), stream


def _done(services: "Services", command: AgentCommand | SkipWake, name: str) -> bool:
    """Append a command under its key; whether anything was written. An agent may be gone."""
    given = "" if isinstance(command, SkipWake) else name
    with suppress(Refused, KeyReused):
        if not given or services.agents.answered(given, command) is None:
            return len(services.append_agent(command, key=given).rows) > 1
    return False


# ---------------------------------------------------------------------------- what was already seen
# What other machines did that this one knew already: nobody is woken for it (ADR 76).
#
# Two machines that watch one file both import a line that is new in it. The rows of the other one
# come as news, and change nothing: without them the task would say the same.

NOTHING_NEW = "nothing_new"


def skip_already_seen(services: "Services", taken: Appended) -> None:
    """Skip the wakes that were queued for what other machines said again, on the machine that
    leads. `taken`: the append that took notices."""
    if taken.rows and services.journal.is_shared:
        for command in [*_already_seen(services, taken)]:
            services.append_agent(command)


def _already_seen(services: "Services", taken: Appended) -> Iterator[SkipWake]:
    with services.agents.reading() as world:
        for row in read_append(taken.rows):
            if not (isinstance(row.fact, q.WakeQueued) and row.fact.trigger.of):
                continue
            queued = world.load(q.WAKE_QUEUE, row.entity).queued
            task = world.load(AGENT, row.entity).task
            if queued is None or not all(_is_of(one, task) for one in queued.triggers):
                continue
            if _is_same(services, task, {(one.of, one.of_n) for one in queued.triggers}):
                message = "another machine said what was known here"
                yield SkipWake(row.entity, queued.run_key, NOTHING_NEW, message)


def _is_of(trigger: q.Trigger, task: str) -> bool:
    """Whether it tells of what another machine did with that task, and of nothing else."""
    is_other = trigger.reason == "subscription" and bool(trigger.of) and not trigger.is_propagated
    return is_other and f"id:{task}" in trigger.tokens


def _is_same(services: "Services", task: str, appends: Set[tuple[str, int]]) -> bool:
    """Whether a task would say the same without some appends of other machines."""
    journal = services.journal

    def others(stream: str, after: int) -> list[RecordedEvent]:
        rows = (row for row in journal.facts(stream) if row.version > after)
        return [row for row in rows if (row.replica, row.n) not in appends]

    without = journal.world_at(journal.tail().n, read=others).load(TASK, task)
    with journal.reading() as world:
        now = world.load(TASK, task)
    said, says = (_timeless(to_builtins(replace(one, touched={}))) for one in (without, now))
    return bool(said == says)


def _timeless(value: Any) -> Any:
    """A state without the times at which it was written."""
    match value:
        case dict():
            kept = ((name, one) for name, one in value.items() if name.split("_")[-1] != "at")
            return {name: _timeless(one) for name, one in kept}
        case list() | tuple():
            return [_timeless(one) for one in value]
        case _:
            return value

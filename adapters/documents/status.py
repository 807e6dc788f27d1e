"""What `wakelog status` says: where both logs stand, and what waits, runs or is in doubt.

What is not there is null; times are RFC 3339 in UTC.
"""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from msgspec import Struct

from adapters.documents.agents import count_agents
from adapters.documents.notify import ReceiverDetails, receivers_of
from adapters.documents.policy import HeldWake, waiting
from adapters.documents.replica_conflicts import replica_conflicts
from adapters.documents.sync import LeadAway
from adapters.home.clock import clock_lag
from adapters.home.files import MetMachines, machine_names, met_machines
from adapters.runtime import watcher
from adapters.store.log import Log
from adapters.wiring import Home
from domain.journal.timer import TIMER
from domain.log.state import MAIN
from domain.log.timestamps import seconds_between
from projections import agents, inbox, tasks
from projections.agents import AgentDocument
from projections.operations import VIEW, Operation, OwnerOperations

OVERDUE_SECONDS = 120  # a wake that is due for longer has been forgotten
LAG_SECONDS = 60
DAY_SECONDS = 86_400
NAMED = 5  # of agents that something is the matter with


class LogStatus(Struct, frozen=True):
    """Where a log ends: `position` is ``journal:r1:42``, `at` the time of its newest append."""

    position: str | None
    appends: int
    rows: int
    at: str | None


class TaskCount(Struct, frozen=True):
    """How many tasks there are; deleted ones do not count."""

    all: int
    open: int


class FailingAgent(Struct, frozen=True):
    """An agent whose last wakes failed, so many in a row; it rests until `until`."""

    agent_id: str
    name: str
    task_id: str
    failures: int
    last_code: str | None
    lifecycle: str
    until: str | None


class AgentCount(Struct, frozen=True):
    """How many agents live, paused ones (`dormant`) too, and which of them fail."""

    living: int
    dormant: int
    failing: list[FailingAgent]


class QueuedWake(Struct, frozen=True):
    """A wake that waits for its time, or for what `waits_for` names; `asleep`: its agent sleeps
    until it is due."""

    agent_id: str
    name: str
    task_id: str
    run_key: str
    reason: str
    due_at: str
    is_due: bool
    waits_for: str | None
    asleep: bool = False


class RunningTimer(Struct, frozen=True):
    """A task whose timer runs."""

    task_id: str
    title: str
    since: str


class RunningWake(Struct, frozen=True):
    """A wake that runs."""

    agent_id: str
    name: str
    task_id: str
    run_key: str
    since: str


class DoubtfulWake(RunningWake, frozen=True, tag_field="what", tag="wake"):
    """A wake that began long ago and has no end: its process is gone."""

    what: ClassVar = "wake"


class DoubtfulOperation(Struct, frozen=True, tag_field="what", tag="operation"):
    """A confirmed item of a change set whose effect was asked for and has no answer."""

    what: ClassVar = "operation"
    agent_id: str
    task_id: str
    run_key: str
    set_id: str
    item: int
    since: str


class LeaseDetails(Struct, frozen=True):
    """A wake that a runtime has to itself."""

    agent_id: str
    run_key: str
    since: str


class RuntimeDetails(Struct, frozen=True):
    """A process of `wakelog run`; `beat` is when it was last heard of."""

    pid: int
    since: str
    beat: str
    alive: bool
    leases: list[LeaseDetails]


class StatusDetails(Struct, frozen=True):
    """What `status` prints. `enabled`: agents are switched on; `lag` counts journal appends that no
    agent has looked at, `open_proposals` those that nobody decided of; `at` is now. `held` are the
    wakes that wait for a person's consent or a key, `receivers` whom `run` tells that something
    waits; `lead`: what the machine is called that wakes agents by itself, if it is another one."""

    home: str
    exists: bool
    model: str
    enabled: bool
    journal: LogStatus
    agent_log: LogStatus
    lag: int
    tasks: TaskCount
    agents: AgentCount
    queued: list[QueuedWake]
    running: list[RunningWake]
    in_doubt: list[DoubtfulWake | DoubtfulOperation]
    runtimes: list[RuntimeDetails]
    open_proposals: int
    next_due: str | None
    at: str
    held: list[HeldWake]
    receivers: list[ReceiverDetails]
    lead: str = ""
    conflicts: int = 0  # open ones between machines
    timers: list[RunningTimer] = []
    clock_behind: int = 0  # seconds, of the machine's behind the log's end, where one is wrong
    lead_away: LeadAway | None = None  # where it was not heard of for a day


class HealthCheck(Struct, frozen=True):
    """One thing that was looked at, and what was found."""

    check: str
    ok: bool
    message: str


class HealthDetails(Struct, frozen=True):
    """What `health` prints; `ok`: every check is."""

    ok: bool
    checks: list[HealthCheck]


class StatusCounts(NamedTuple):
    """How many there are of what `status_document` may list some of only."""

    queued: int
    failing: int


def status_document(home: Home, most: int = -1) -> StatusDetails:
    """The document of `status`. `most`: how many queued wakes and failing agents are listed at
    most, and read for it; negative: all."""
    now, views = home.services.clock.now(), home.views
    limit = home.settings.agents.lost_seconds
    begun = views.marked(agents.VIEW, agents.marks("running"))
    lost = [one for one in begun if seconds_between(one.wake_queue.running_since, now) >= limit]
    running = [one for one in begun if one not in lost]
    first = [one.next_due for one in views.queued(agents.VIEW, limit=1)]
    dormant = count_agents(home, "dormant")
    open_tasks, closed_tasks = (views.count(tasks.VIEW, mark) for mark in ("open", "closed"))
    return StatusDetails(
        home=home.place.name,
        exists=home.exists,
        model=home.settings.model,
        enabled=home.services.is_enabled,
        journal=_log(home.services.journal),
        agent_log=_log(home.services.agents),
        lag=watcher.lag(home.services),
        tasks=TaskCount(open_tasks + closed_tasks, open_tasks),
        agents=AgentCount(
            living=dormant + count_agents(home, "active"),
            dormant=dormant,
            failing=[
                _failing(one)
                for one in views.marked(agents.VIEW, agents.marks("failing"), limit=most)
            ],
        ),
        queued=[_queued(one, now) for one in views.queued(agents.VIEW, limit=most)],
        running=[RunningWake(**_running(one)) for one in running],
        in_doubt=[*(DoubtfulWake(**_running(one)) for one in lost), *_effects(home)],
        runtimes=_runtimes(home, now),
        open_proposals=views.tallied(inbox.VIEW, inbox.marks("waiting", "deferred")),
        next_due=min(
            filter(None, [views.next_due(agents.VIEW, agents.marks("timed")), *first]), default=None
        ),
        at=now,
        held=waiting(home),
        receivers=receivers_of(home),
        lead=lead_elsewhere(home),
        conflicts=len(replica_conflicts(home)),
        timers=_timers(home),
        clock_behind=clock_lag(home.services.clock),
        lead_away=lead_away(home),
    )


def _timers(home: Home) -> list[RunningTimer]:
    with home.services.journal.reading() as world:
        tasks_timed = dict.fromkeys(one.task for one in world.load(TIMER, MAIN).running)
    found = filter(None, (home.views.get(tasks.VIEW, one) for one in tasks_timed))
    return [
        RunningTimer(one.id, one.title, each.start) for one in found for each in one.task.running
    ]


def lead_elsewhere(home: Home) -> str:
    """What the machine is called that leads; empty for this one."""
    lead, own = home.services.lead, home.services.agents.replica
    return "" if lead == own else machine_names(home.path, own).get(lead, lead)


def lead_away(home: Home) -> LeadAway | None:
    """The machine that leads, where it is another one that nobody here has heard of for a day."""
    lead, own = home.services.lead, home.services.agents.replica
    met = met_machines(home.path) if lead != own else MetMachines()
    if not (heard := met.heard.get(lead, "")):
        return None
    now = home.services.clock.now()
    days, met_days = (seconds_between(at, now) // DAY_SECONDS for at in (heard, met.met_at))
    return LeadAway(lead, met.labels.get(lead, lead), heard, days, met_days) if days > 0 else None


def count_status(home: Home) -> StatusCounts:
    """How many wakes are queued, and how many agents fail; none of them is read."""
    failing = sum(home.views.count(agents.VIEW, mark) for mark in agents.marks("failing"))
    return StatusCounts(home.views.count_queued(agents.VIEW), failing)


def _log(log: Log) -> LogStatus:
    tail = log.tail()
    position = f"{log.name}:{tail.replica}:{tail.n}" if tail.n else None
    return LogStatus(position, tail.n, log.count(), tail.at or None)


def _who(one: AgentDocument) -> dict[str, str]:
    return {"agent_id": one.id, "name": one.name, "task_id": one.task_id}


def _failing(one: AgentDocument) -> FailingAgent:
    return FailingAgent(
        **_who(one),
        failures=one.failures,
        last_code=one.last_code or None,
        lifecycle=one.lifecycle,
        until=one.sleep_until or None,
    )


def _queued(one: AgentDocument, now: str) -> QueuedWake:
    waiting = one.wake_queue.waiting
    wake = waiting or one.wake_queue.queued
    return QueuedWake(
        **_who(one),
        run_key=one.next_run_key,
        reason=wake.reason if wake else "",
        due_at=one.next_due,
        is_due=one.next_due <= now,
        waits_for=(wake.waits_for or None) if wake else None,
        asleep=now < one.next_due == one.asleep_until,
    )


def _running(one: AgentDocument) -> dict[str, str]:
    return {**_who(one), "run_key": one.running_run_key, "since": one.wake_queue.running_since}


def _effects(home: Home) -> list[DoubtfulOperation]:
    """The effects of change sets that were asked for and not answered."""
    return [
        DoubtfulOperation(
            owner.agent_id, owner.task_id, owner.run_key, owner.owner, one.item, one.asked_at
        )
        for owner, one in effects_in_flight(home)
    ]


def _runtimes(home: Home, now: str) -> list[RuntimeDetails]:
    """The processes of `wakelog run` that are known, and the wakes they have leases for; of a home
    in a database all its workers, also those that do not tend it now: it may be asleep."""
    from contextlib import closing, suppress

    from domain.errors import WakelogError

    found: list[RuntimeDetails] = []
    with suppress(WakelogError), closing(home.services.leases(is_looking=True)) as leases:
        held = leases.all(now)
        found += [
            RuntimeDetails(
                pid=one.pid,
                since=one.since,
                beat=one.beat,
                alive=one.is_alive,
                leases=[
                    LeaseDetails(lease.agent, lease.run_key, lease.since)
                    for lease in held
                    if lease.owner == one.owner
                ],
            )
            for one in leases.runtimes(now)
        ]
    return found


def wakes_by_itself(home: Home, now: str) -> bool:
    """Whether a process is at work that wakes agents by itself, see `_runtimes`."""
    return any(one.alive for one in _runtimes(home, now))


def health_document(home: Home) -> HealthDetails:
    """The document of `health`."""
    status = status_document(home, most=0)
    now, journal = status.at, status.journal
    alive = [one for one in status.runtimes if one.alive]
    is_young = journal.at is not None and seconds_between(journal.at, now) < LAG_SECONDS
    late = _late(home, now)
    gave_up = [one for one in agents.marks("failing") if one in agents.marks("dormant")]
    failing = [one.name for one in home.views.marked(agents.VIEW, gave_up, limit=NAMED)]
    lag, doubt = status.lag, len(status.in_doubt)
    starts = "wakelog run" if home.place.is_folder else "wakelog worker"
    checks = [
        _check("runtime", bool(alive), f"{len(alive)} alive", f"none is alive; use `{starts}`"),
        _check("lag", not lag or is_young, f"{lag} appends", f"{lag} appends nobody looked at"),
        _check("queue", not late, "nothing is overdue", f"overdue: {', '.join(late)}"),
        _check("doubt", not doubt, "nothing is in doubt", f"{doubt} in doubt: `wakelog recover`"),
        _check("agents", not failing, "none gave up", f"paused: {', '.join(failing)}"),
    ]
    return HealthDetails(all(one.ok for one in checks), checks)


def _late(home: Home, now: str) -> list[str]:
    """Whose wakes are due for long and wait for nothing else, the first of them by name."""
    limit = NAMED
    while True:  # bounded: grows to the whole queue
        queued = [_queued(one, now) for one in home.views.queued(agents.VIEW, limit)]
        overdue = [one for one in queued if seconds_between(one.due_at, now) > OVERDUE_SECONDS]
        late = [one.name for one in overdue if not one.waits_for][:NAMED]
        if len(late) == NAMED or len(overdue) < limit:
            return late
        limit *= 8


def _check(name: str, is_ok: bool, good: str, bad: str) -> HealthCheck:
    return HealthCheck(name, is_ok, good if is_ok else bad)


# -------------------------------------------------------------------------------- effects in flight


def effects_in_flight(home: Home) -> Iterator[tuple[OwnerOperations, Operation]]:
    """Each with its set. Of a home that machines share those alone that this one asked for, or,
    where it leads, one that is gone; what met another's verdict waits for nobody."""
    is_shared = home.services.agents.is_shared
    for owner in home.views.page(VIEW, shelf="in_flight"):
        if owner.owner != owner.run_key:
            own = _own_items(home, owner.owner) if is_shared else None
            left = (one for one in owner.in_flight if own is None or one.operation in own)
            yield from ((owner, one) for one in left)


def _own_items(home: Home, set_id: str) -> set[str]:
    from adapters.runtime.orphaned_effects import own_effects
    from adapters.runtime.review import changes_of

    changes = changes_of(home.services, set_id)
    return {one.operation for one in own_effects(home.services, changes)}

"""What `wakelog status` says: where both logs stand, and what waits, runs or is in doubt.

What is not there is null; times are RFC 3339 in UTC.
"""

from typing import ClassVar

from msgspec import Struct

from adapters.documents.inbox import sets_under
from adapters.documents.policy import HeldWake, waiting
from adapters.runtime import watcher
from adapters.store.log import Log
from adapters.wiring import Home
from domain.changes.change_set import is_open
from domain.timestamps import seconds_between
from projections import agents, operations, tasks
from projections.agents import AgentDocument

OVERDUE_SECONDS = 120  # a wake that is due for longer has been forgotten
LAG_SECONDS = 60


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
    """A wake that waits for its time, or for what `waits_for` names."""

    agent_id: str
    name: str
    task_id: str
    run_key: str
    reason: str
    due_at: str
    is_due: bool
    waits_for: str | None


class RunningWake(Struct, frozen=True):
    """A wake that runs."""

    agent_id: str
    name: str
    task_id: str
    run_key: str
    since: str


class DoubtfulWake(Struct, frozen=True, tag_field="what", tag="wake"):
    """A wake that began long ago and has no end: its process is gone."""

    what: ClassVar = "wake"
    agent_id: str
    name: str
    task_id: str
    run_key: str
    since: str


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
    wakes that wait for a person's consent or a key."""

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


class HealthCheck(Struct, frozen=True):
    """One thing that was looked at, and what was found."""

    check: str
    ok: bool
    message: str


class HealthDetails(Struct, frozen=True):
    """What `health` prints; `ok`: every check is."""

    ok: bool
    checks: list[HealthCheck]


def status_document(home: Home) -> StatusDetails:
    """The document of `status`."""
    now = home.services.clock.now()
    stirring = home.views.page(agents.VIEW, mark="stirring")  # the others have nothing to tell
    calm, dormant = (home.views.count(agents.VIEW, mark) for mark in ("calm", "dormant"))
    limit = home.settings.agents.lost_seconds
    begun = [one for one in stirring if one.wake_queue.running_since]
    lost = [one for one in begun if seconds_between(one.wake_queue.running_since, now) >= limit]
    running = [one for one in begun if one not in lost]
    queued = sorted(
        (one for one in stirring if one.next_due), key=lambda one: (one.next_due, one.id)
    )
    dues = [one.next_wake_at for one in stirring if one.next_wake_at]
    return StatusDetails(
        home=str(home.path),
        exists=home.exists,
        model=home.settings.model,
        enabled=home.services.is_enabled,
        journal=_log(home.services.journal),
        agent_log=_log(home.services.agents),
        lag=watcher.lag(home.services),
        tasks=_tasks(home),
        agents=AgentCount(
            living=len(stirring) + calm + dormant,
            dormant=sum(one.lifecycle == "dormant" for one in stirring) + dormant,
            failing=[_failing(one) for one in stirring if _is_failing(one)],
        ),
        queued=[_queued(one, now) for one in queued],
        running=[
            RunningWake(
                **_who(one), run_key=one.running_run_key, since=one.wake_queue.running_since
            )
            for one in running
        ],
        in_doubt=[*(_lost(one) for one in lost), *_effects(home)],
        runtimes=_runtimes(home, now),
        open_proposals=_open(home),
        next_due=min(dues, default=None),
        at=now,
        held=waiting(home),
    )


def _log(log: Log) -> LogStatus:
    tail = log.tail()
    position = f"{log.name}:{tail.replica}:{tail.n}" if tail.n else None
    return LogStatus(position, tail.n, log.count(), tail.at or None)


def _tasks(home: Home) -> TaskCount:
    is_open, closed = (home.views.count(tasks.VIEW, mark) for mark in ("open", "closed"))
    return TaskCount(is_open + closed, is_open)


def _who(one: AgentDocument) -> dict[str, str]:
    return {"agent_id": one.id, "name": one.name, "task_id": one.task_id}


def _is_failing(one: AgentDocument) -> bool:
    return one.failures > 0 or one.agent.pause_reason == "failures"


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
    )


def _lost(one: AgentDocument) -> DoubtfulWake:
    return DoubtfulWake(
        **_who(one),
        run_key=one.running_run_key,
        since=one.wake_queue.running_since,
    )


def _effects(home: Home) -> list[DoubtfulOperation]:
    """The effects of change sets that were asked for and not answered."""
    return [
        DoubtfulOperation(
            agent_id=owner.agent_id,
            task_id=owner.task_id,
            run_key=owner.run_key,
            set_id=owner.owner,
            item=one.item,
            since=one.asked_at,
        )
        for owner in home.views.page(operations.VIEW, shelf="in_flight")
        for one in owner.in_flight
        if owner.owner != owner.run_key
    ]


def _runtimes(home: Home, now: str) -> list[RuntimeDetails]:
    """The processes of `wakelog run` that are known, and the wakes they have leases for."""
    from contextlib import closing, suppress

    from adapters.home import files
    from adapters.runtime.leases import Leases
    from domain.errors import WakelogError

    path = home.path / files.RUNTIME
    found: list[RuntimeDetails] = []
    if not home.exists or not path.exists():
        return found
    with suppress(WakelogError), closing(Leases(path)) as leases:
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


def _open(home: Home) -> int:
    sets = sets_under(home, "waiting", "deferred")
    return sum(is_open(item) for one in sets for item in one.items)


def health_document(status: StatusDetails) -> HealthDetails:
    """The document of `health`."""
    now, journal = status.at, status.journal
    alive = [one for one in status.runtimes if one.alive]
    is_young = journal.at is not None and seconds_between(journal.at, now) < LAG_SECONDS
    late = [
        one.name
        for one in status.queued
        if not one.waits_for and seconds_between(one.due_at, now) > OVERDUE_SECONDS
    ]
    failing = [one.name for one in status.agents.failing if one.lifecycle == "dormant"]
    lag, doubt = status.lag, len(status.in_doubt)
    checks = [
        _check("runtime", bool(alive), f"{len(alive)} alive", "none is alive; use `wakelog run`"),
        _check("lag", not lag or is_young, f"{lag} appends", f"{lag} appends nobody looked at"),
        _check("queue", not late, "nothing is overdue", f"overdue: {', '.join(late[:5])}"),
        _check("doubt", not doubt, "nothing is in doubt", f"{doubt} in doubt: `wakelog recover`"),
        _check("agents", not failing, "none gave up", f"paused: {', '.join(failing[:5])}"),
    ]
    return HealthDetails(all(one.ok for one in checks), checks)


def _check(name: str, is_ok: bool, good: str, bad: str) -> HealthCheck:
    return HealthCheck(name, is_ok, good if is_ok else bad)

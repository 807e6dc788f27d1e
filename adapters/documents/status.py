"""What `wakelog status` says: where both logs stand, and what waits, runs or is in doubt."""

from typing import Any

from adapters.documents.inbox import sets_under
from adapters.runtime import watcher
from adapters.store.log import Log
from adapters.wiring import Home
from domain.changes.change_set import is_open
from domain.moments import seconds_between
from projections import agents, operations, tasks
from projections.agents import AgentDocument

Document = dict[str, Any]
GRACE_SECONDS = 30  # behind its deadline a wake that runs has lost its process


def status_document(home: Home) -> Document:
    """The document of `status`."""
    now = home.desk.clock.now()
    stirring = home.views.page(agents.VIEW, mark="stirring")  # the others have nothing to tell
    calm, dormant = (home.views.count(agents.VIEW, mark) for mark in ("calm", "dormant"))
    limit = home.settings.agents.deadline_seconds + GRACE_SECONDS
    begun = [one for one in stirring if one.alert.running_since]
    lost = [one for one in begun if seconds_between(one.alert.running_since, now) > limit]
    running = [one for one in begun if one not in lost]
    queued = sorted(
        (one for one in stirring if one.next_due), key=lambda one: (one.next_due, one.id)
    )
    dues = [one.next_wake_at for one in stirring if one.next_wake_at]
    return {
        "home": str(home.path),
        "exists": home.exists,
        "model": home.settings.model,
        "enabled": home.desk.is_enabled,
        "journal": _log(home.desk.journal),
        "agent_log": _log(home.desk.agents),
        "lag": watcher.lag(home.desk),
        "tasks": _tasks(home),
        "agents": {
            "living": len(stirring) + calm + dormant,
            "dormant": sum(one.lifecycle == "dormant" for one in stirring) + dormant,
            "failing": [_failing(one) for one in stirring if _is_failing(one)],
        },
        "queued": [_queued(one, now) for one in queued],
        "running": [
            {**_who(one), "run_key": one.running_run_key, "since": one.alert.running_since}
            for one in running
        ],
        "in_doubt": [*(_lost(one) for one in lost), *_effects(home)],
        "runtimes": _runtimes(home, now),
        "open_proposals": _open(home),
        "next_due": min(dues, default=None),
        "at": now,
    }


def _log(log: Log) -> Document:
    tail = log.tail()
    position = f"{log.name}:{tail.replica}:{tail.n}" if tail.n else None
    return {"position": position, "appends": tail.n, "rows": log.count(), "at": tail.at or None}


def _tasks(home: Home) -> Document:
    is_open, closed = (home.views.count(tasks.VIEW, mark) for mark in ("open", "closed"))
    return {"all": is_open + closed, "open": is_open}


def _who(one: AgentDocument) -> Document:
    return {"agent_id": one.id, "name": one.name, "task_id": one.task_id}


def _is_failing(one: AgentDocument) -> bool:
    return one.failures > 0 or one.agent.pause_reason == "failures"


def _failing(one: AgentDocument) -> Document:
    return {
        **_who(one),
        "failures": one.failures,
        "last_code": one.last_code or None,
        "lifecycle": one.lifecycle,
        "until": one.sleep_until or None,
    }


def _queued(one: AgentDocument, now: str) -> Document:
    waiting = one.alert.waiting
    wake = waiting or one.alert.queued
    return {
        **_who(one),
        "run_key": one.next_run_key,
        "reason": wake.reason if wake else "",
        "due_at": one.next_due,
        "is_due": one.next_due <= now,
        "waits_for": (wake.waits_for or None) if wake else None,
    }


def _lost(one: AgentDocument) -> Document:
    return {
        "what": "wake",
        **_who(one),
        "run_key": one.running_run_key,
        "since": one.alert.running_since,
    }


def _effects(home: Home) -> list[Document]:
    """The effects of change sets that were asked for and not answered."""
    return [
        {
            "what": "operation",
            "agent_id": owner.agent_id,
            "task_id": owner.task_id,
            "run_key": owner.run_key,
            "set_id": owner.owner,
            "item": one.item,
            "since": one.asked_at,
        }
        for owner in home.views.page(operations.VIEW, shelf="in_flight")
        for one in owner.in_flight
        if owner.owner != owner.run_key
    ]


def _runtimes(home: Home, now: str) -> list[Document]:
    """The processes of `wakelog run` that are known, and the wakes they have leases for."""
    from contextlib import closing, suppress

    from adapters import homefiles
    from adapters.runtime.leases import Leases
    from domain.errors import WakelogError

    path = home.path / homefiles.RUNTIME
    found: list[Document] = []
    if not home.exists or not path.exists():
        return found
    with suppress(WakelogError), closing(Leases(path)) as leases:
        held = leases.all(now)
        found += [
            {
                "pid": one.pid,
                "since": one.since,
                "beat": one.beat,
                "alive": one.is_alive,
                "leases": [
                    {"agent_id": lease.agent, "run_key": lease.run_key, "since": lease.since}
                    for lease in held
                    if lease.owner == one.owner
                ],
            }
            for one in leases.runtimes(now)
        ]
    return found


def _open(home: Home) -> int:
    sets = sets_under(home, "waiting", "deferred")
    return sum(is_open(item) for one in sets for item in one.items)


# ----------------------------------------------------------------------------------- for a person

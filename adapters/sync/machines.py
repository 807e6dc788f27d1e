"""What a person says of the machines of a home: their names, who leads, who is gone (ADR 76)."""

import socket
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING

from msgspec.structs import replace

from adapters.documents.sync import LeadReplica, RetiredReplica
from adapters.home.files import REPLICA_VARIABLE
from adapters.runtime import leadership, review
from adapters.store.leader import leadership_of
from adapters.sync import sync_state
from adapters.usecases.proposals import in_flight_sets
from adapters.usecases.resolve import pick
from domain.changes.change_set import CHANGES
from domain.changes.decisions import pending_effects
from domain.errors import Refused, invalid
from domain.machines.commands import LabelReplica, Lead, RetireReplica
from domain.machines.machines import LABEL_MAX

if TYPE_CHECKING:
    from adapters.wiring import Home

MachineListener = Callable[[str], None]

SIDES = ("file", "mine")
"""What `settle --keep` calls the sides of a conflict with a file."""


def name_replica(home: "Home", label: str) -> None:
    """Call this machine something; the others hear of it with the next sync. Raises Refused, code
    ``invalid_value``: it is no name, or another machine's."""
    if not label.isprintable() or not label.strip() or len(label) > LABEL_MAX:
        raise invalid(f"{label[:LABEL_MAX]!r} is no name", f"use 1 to {LABEL_MAX} characters")
    if label.strip().casefold() in SIDES:
        raise invalid(f"{label!r} names a side of a conflict with a file", "use another name")
    with sync_state.sync_lock(home.path):
        _keep_label(home, label)


def name_new_replica(home: "Home", host: str) -> bool:
    """Call this machine, which is new and has no name, what its system is called, with a number
    where another one is called so; whether it was done. The home is open to write, its sync lock is
    held, and what others say of themselves is here. `host`: see `host_name`; empty: it stays
    without a name."""
    own, labels = home.services.journal.replica, labels_of(home)
    if not host or own in labels:
        return False
    taken = {one.casefold() for one in (*labels, *labels.values(), *SIDES)}
    names = chain([host], (f"{host}-{number}" for number in count(2)))
    _keep_label(home, next(one for one in names if one.casefold() not in taken))
    return True


def host_name(environ: Mapping[str, str]) -> str:
    """What the system is called, as a machine's name; empty where it says nothing, or where the
    environment names the machine already."""
    name = socket.gethostname().partition(".")[0].strip()[: LABEL_MAX - 4]
    is_one = name.isprintable() and name != "localhost"
    return name if is_one and not environ.get(REPLICA_VARIABLE) else ""


def _keep_label(home: "Home", label: str) -> None:
    services = home.services
    if services.agents.is_shared:
        services.append_agent(LabelReplica(services.agents.replica, label))
    known = sync_state.read_sync_state(home.path)
    sync_state.write_sync_state(home.path, replace(known, label=label))


def let_lead(home: "Home", named: str = "") -> LeadReplica:
    """Let a machine lead, this one if none is named. If it is this one, it goes on at once with
    what waits on the one that led; where that is cut off, with the next wake, run or sync. Raises
    Refused, code ``not_shared``, ``unknown_replica`` or ``ambiguous``."""
    _check_shared(home)
    services = home.services
    replica = replica_named(home, named) if named else services.agents.replica
    was_gone = replica in leadership_of(services.journal, services.agents).machines.retired
    rows = services.append_agent(Lead(replica, services.first)).rows
    leadership.settle(services)
    home.views.catch_up()
    label, is_new = labels_of(home).get(replica, ""), bool(rows)
    return LeadReplica(replica, label, is_new, was_gone and is_new)


def retire(home: "Home", named: str) -> RetiredReplica:
    """Say that a machine never comes back, and go on with what it had in hand. It may be said once
    more: what was done is not done twice. Raises Refused, code ``not_shared``, ``unknown_replica``,
    ``ambiguous``; ``invalid_value``: it is this machine."""
    _check_shared(home)
    services = home.services
    replica = replica_named(home, named)
    services.append_agent(RetireReplica(replica, services.first))
    leadership.settle(services)
    operations = _take_over(home, replica)
    wakes = leadership.recovered(services, replica)
    home.views.catch_up()
    label = labels_of(home).get(replica, "")
    return RetiredReplica(replica, label, services.lead, operations, wakes)


def labels_of(home: "Home") -> dict[str, str]:
    """What machines are called, by replica; of those without a name nothing."""
    kept, services = sync_state.read_sync_state(home.path), home.services
    own = {services.journal.replica: kept.label} if kept.label else {}
    given = leadership_of(services.journal, services.agents).machines.labels
    return {**kept.labels, **own, **given}


def replica_named(home: "Home", named: str) -> str:
    """The machine that a person means: by its name, by the replica's, or the beginning of that.
    Raises Refused, code ``unknown_replica`` or ``ambiguous``."""
    labels, logs = labels_of(home), (home.services.journal, home.services.agents)
    known = sorted({*labels, *(name for log in logs for name in log.heads())})
    found: Sequence[tuple[str, str]] = [(one, labels.get(one, "")) for one in known]
    see = "see them with `wakelog replicas`"
    return pick(named, found, "machine", "unknown_replica", see, is_whole=True)


def _check_shared(home: "Home") -> None:
    if home.settings.sync.agents == "local":
        because = "the agents of this home stay on each machine, which leads itself"
        raise Refused("not_shared", because=because, instead='set sync.agents to "shared"')
    if not home.services.agents.is_shared:
        because = "this home has never met another machine"
        raise Refused("not_shared", because=because, instead="run `wakelog sync DIR` first")


def _take_over(home: "Home", replica: str) -> int:
    """Drive what a machine had asked of the journal to its end; how many operations."""
    services, count = home.services, 0
    home.views.catch_up()
    for set_id in in_flight_sets(home):
        told = [row.fact for row in services.agents.facts(f"{CHANGES.name}:{set_id}@{replica}")]
        pending = pending_effects(review.changes_of(services, set_id))
        if any(asked in told for asked in pending):
            count += len(review.recover(services, set_id))
    return count

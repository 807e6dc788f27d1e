"""Which machine of a shared home leads, as its logs tell (ADR 76)."""

from typing import NamedTuple

from adapters.store.log import Log
from adapters.store.reader import LogReader, tells
from adapters.store.recorder import by_append, numbered
from domain.append.causes import LogShared, ReplicasImported
from domain.log.state import MAIN
from domain.machines.commands import RetireReplica
from domain.machines.machines import HOME, Machines, leads


def first_of(journal: LogReader) -> str:
    """The replica that leads where nobody was named: the one that wrote the home's first append.

    A restored home goes on under a new name, and its old one writes no more: of what was written
    before the home was shared, whoever shared it is the writer. Empty: nothing was written yet."""
    first = next((one for one in by_append(journal.rows()) if tells(one)), None)
    if first is None:
        return ""
    n, writer = numbered(first[0].state).n, first[0].stream.rpartition("@")[2]
    sharers: list[tuple[int, str]] = []
    for replica in journal.heads():
        known = {replica: 0}
        for row in journal.facts(f"log:{MAIN}@{replica}"):
            match row.fact:
                case ReplicasImported(replicas=named):
                    known |= {one.replica: one.n for one in named}
                case LogShared() if replica == writer:
                    return writer
                case LogShared() if known.get(writer, 0) >= n:
                    sharers.append((row.n, replica))
                case _:
                    pass
    return min(sharers)[1] if sharers else writer


class Leadership(NamedTuple):
    """Which machine leads, and what is said of all."""

    lead: str
    machines: Machines


def leadership_of(journal: LogReader, agents: LogReader | None) -> Leadership:
    """How a home's machines stand. Where the agents' log does not travel, or is not shared, each
    leads itself."""
    if agents is None or not agents.is_shared:
        return Leadership(journal.replica, HOME.initial(MAIN))
    with agents.reading() as world:
        machines = world.load(HOME, MAIN)
    return Leadership(leads(machines, first_of(journal)) or journal.replica, machines)


def succeed(journal: LogReader, agents: Log, was: str, now: str) -> None:
    """Say that the name under which a home was written until now never comes back: what it led, the
    new name leads from here on. Only for who knows that no other home writes under the old one.
    Nothing happens where no machines share the agents' log, which is opened under the new name.
    `was`: the old one; empty: it had none."""
    if was not in ("", agents.replica) and agents.recorder.order() is not None:
        agents.append(RetireReplica(was, first_of(journal)), now)

"""The machines of a home that several share: the stream ``home:main`` of the agent log (ADR 76).

STORAGE FORMAT, see `domain.log.wire`. All replicas' streams of it are folded in canonical order, so
that all who hold the same rows say the same of who leads."""

import re

from msgspec import Struct
from msgspec.structs import replace

from domain.errors import invalid
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Stored
from domain.text import squeeze

LABEL_MAX = 40  # characters
_LABEL = re.compile(rf"[^\x00-\x1f\x7f]{{1,{LABEL_MAX}}}")


class ReplicaLabelled(Stored, frozen=True, tag="home.labelled.1"):
    """A machine is called something."""

    replica: str
    label: str


class ReplicaLed(Stored, frozen=True, tag="home.led.1"):
    """A machine leads from here on, until a later term."""

    replica: str
    term: int


class ReplicaRetired(Stored, frozen=True, tag="home.retired.1"):
    """A machine never comes back."""

    replica: str


MachinesFact = ReplicaLabelled | ReplicaLed | ReplicaRetired


class Machines(Struct, frozen=True):
    """What is said of a home's machines. `leader`: who was named last, in `term`; empty: nobody.
    `labels`: by replica; `retired`: by name, sorted."""

    id: str
    labels: dict[str, str] = {}
    leader: str = ""
    term: int = 0
    retired: tuple[str, ...] = ()


def evolve(machines: Machines, recorded: RecordedEvent) -> Machines:
    """The machines after one more fact. Of one term the canonical first counts; who is to lead is
    there again. Nobody leads who is gone: where those who retired it did not know that it led, the
    last of them does."""
    match recorded.fact:
        case ReplicaLabelled(replica=replica, label=label):
            return replace(machines, labels={**machines.labels, replica: label})
        case ReplicaLed(replica=replica, term=term) if term > machines.term:
            retired = tuple(one for one in machines.retired if one != replica)
            return replace(machines, leader=replica, term=term, retired=retired)
        case ReplicaRetired(replica=replica):
            return _retired(machines, replica, recorded.replica)
        case _:
            return machines


def _retired(machines: Machines, replica: str, by: str) -> Machines:
    gone = {*machines.retired, replica}
    if replica != machines.leader:
        return replace(machines, retired=tuple(sorted(gone)))
    return replace(machines, leader=by, retired=tuple(sorted(gone - {by})))


HOME: StreamType[Machines] = StreamType("home", Machines, evolve)


def leads(machines: Machines, first: str) -> str:
    """Which replica leads. `first`: the replica of the home's first append, which leads where
    nobody was named."""
    return machines.leader or first


def label(machines: Machines, replica: str, wanted: str) -> list[MachinesFact]:
    """Call a machine something; nothing where it is called that. Raises Refused, code
    ``invalid_value``: it is no label, or another machine's."""
    if not squeeze(wanted) or _LABEL.fullmatch(wanted) is None:
        raise invalid(f"{wanted[:LABEL_MAX]!r} is no name", f"use 1 to {LABEL_MAX} characters")
    having = [name for name, known in machines.labels.items() if known == wanted]
    if any(name not in (replica, *machines.retired) for name in having):
        raise invalid(f"another machine is called {wanted!r}", "use another name")
    return [] if replica in having else [ReplicaLabelled(replica, wanted)]


def lead(machines: Machines, replica: str, first: str) -> list[MachinesFact]:
    """Let a machine lead; nothing where it does."""
    is_so = leads(machines, first) == replica
    return [] if is_so else [ReplicaLed(replica, machines.term + 1)]


def retire(machines: Machines, replica: str, own: str, first: str) -> list[MachinesFact]:
    """Say that a machine never comes back; if it led, this one does. Nothing where it was said.
    `own`: the machine that this is said on. Raises Refused, code ``invalid_value``: it is this
    machine."""
    if replica == own:
        raise invalid(f"{replica} is this machine", "say it on a machine that stays")
    if replica in machines.retired:
        return []
    taken = lead(machines, own, first) if leads(machines, first) == replica else []
    return [ReplicaRetired(replica), *taken]

"""Machines of a shared home: labels, who leads, who is gone for good (ADR 76)."""

from collections.abc import Sequence

from domain.append.causes import Result
from domain.errors import Refused
from domain.handlers.decided import Decision, on
from domain.handlers.journal import Handler
from domain.log.state import MAIN, LogState
from domain.machines import commands as do
from domain.machines import machines as m
from domain.machines.machines import HOME, Machines, MachinesFact


def _machines(world: LogState) -> Machines:
    """The machines; Refused where there is only one."""
    if not world.is_shared:
        because = "the agents of this home have never met another machine"
        raise Refused("not_shared", because=because, instead="sync it with a folder first")
    return world.load(HOME, MAIN)


def _written(world: LogState, replica: str, facts: Sequence[MachinesFact]) -> Decision:
    return Decision(on(world, "home", MAIN, facts), Result((replica,)))


def label(cause: do.LabelReplica, key: str, at: str, world: LogState) -> Decision:
    facts = m.label(_machines(world), cause.replica, cause.label)
    return _written(world, cause.replica, facts)


def lead(cause: do.Lead, key: str, at: str, world: LogState) -> Decision:
    return _written(world, cause.replica, m.lead(_machines(world), cause.replica, cause.first))


def retire(cause: do.RetireReplica, key: str, at: str, world: LogState) -> Decision:
    facts = m.retire(_machines(world), cause.replica, world.replica, cause.first)
    return _written(world, cause.replica, facts)


HANDLERS: dict[type, Handler] = {do.LabelReplica: label, do.Lead: lead, do.RetireReplica: retire}

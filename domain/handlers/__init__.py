"""Cause -> deciders of one or several streams; the only place that loads from the world.

`handle` is pure: no clock, no dice, nothing but its arguments. The writer and the prover call
the same one (DESIGN 2, law 2).
"""

from domain.causes import Command, Replied
from domain.handlers import (
    agents,
    changes,
    disputes,
    imports,
    journal,
    lessons,
    machines,
    operations,
    policy,
    rollover,
    settling,
    templates,
    undoing,
    wakes,
)
from domain.handlers.decided import Decided
from domain.world import World

_HANDLERS = {
    **journal.HANDLERS,
    **imports.HANDLERS,
    **disputes.HANDLERS,
    **rollover.HANDLERS,
    **undoing.HANDLERS,
    **operations.HANDLERS,
    **agents.HANDLERS,
    **wakes.HANDLERS,
    **changes.HANDLERS,
    **templates.HANDLERS,
    **policy.HANDLERS,
    **lessons.HANDLERS,
    **machines.HANDLERS,
    **settling.HANDLERS,
}


def handle(cause: Command | Replied, key: str, at: str, world: World) -> Decided:
    """Decide what a cause changes.

    Args:
        cause: A command, or a reply from outside.
        key: The command's idempotency key, given or derived; ids of what it makes are made of it.
        at: Time of the append.
        world: The log just before.

    Raises:
        Refused: If the rules do not allow a person's command now.
    """
    if isinstance(cause, Replied):
        replied = changes.replied if cause.of_kind == "changes" else wakes.replied
        return replied(cause.entity, cause.fact, at, world)
    return _HANDLERS[type(cause)](cause, key, at, world)

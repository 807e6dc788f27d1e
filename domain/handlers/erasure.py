"""What a log says of what was erased in it (ADR 107)."""

from domain.append.causes import Result
from domain.erasure import Erase, ErasureMade
from domain.handlers.decided import Decision
from domain.handlers.journal import Handler
from domain.log.state import MAIN, LogState


def erase(cause: Erase, key: str, at: str, world: LogState) -> Decision:
    """The marks are not looked at: they are made in the same transaction, and proved later."""
    made = ErasureMade(cause.unit, cause.what, cause.listed, cause.along, cause.lines)
    return Decision([(world.stream("log", MAIN), made)], Result((cause.unit,)))


HANDLERS: dict[type, Handler] = {Erase: erase}

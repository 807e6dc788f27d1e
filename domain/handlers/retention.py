"""What a log says of what was dropped in it (ADR 109)."""

from domain.append.causes import Result
from domain.handlers.decided import Decision
from domain.handlers.journal import Handler
from domain.log.state import MAIN, LogState
from domain.retention import Retain, Retained


def retain(cause: Retain, key: str, at: str, world: LogState) -> Decision:
    """The payloads are not looked at: they go in the same transaction, and are proved later."""
    made = Retained(cause.what, cause.until)
    return Decision([(world.stream("log", MAIN), made)], Result())


HANDLERS: dict[type, Handler] = {Retain: retain}

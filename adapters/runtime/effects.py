"""Effects on the journal: an operation applied once, and its outcome (DESIGN 2, law 7)."""

from typing import NamedTuple

from msgspec.structs import replace

from adapters.runtime.desk import Desk
from domain.causes import Result
from domain.journal.commands import ApplyOperation
from domain.wire import words


class Effect(NamedTuple):
    """What came of an operation, and the journal's `n` that holds its receipt."""

    result: Result
    position: int


def apply(desk: Desk, command: ApplyOperation, text: str) -> Effect:
    """Apply an operation; a repeat is answered with the first outcome.

    Args:
        desk: Where.
        command: Its `arguments` are set here, in the journal's own unit.
        text: The arguments, canonical JSON.
    """
    said, kept = words(command.task, text)
    command = replace(command, arguments=said)
    appended = desk.keep(command, key=command.operation, payloads=kept)
    return Effect(appended.result, appended.n)

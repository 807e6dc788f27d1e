"""Causes, receipts and log facts: what stands first in an append (DESIGN 2, law 2; ADR 0002)."""

from collections.abc import Sequence
from typing import Any

from msgspec import MsgspecError, Struct

from domain.agent.commands import AgentCommand
from domain.changes.commands import ChangesCommand
from domain.erasure import Erase
from domain.errors import WakelogError
from domain.journal.commands import ApplyOperation, JournalCommand, UndoDeed, VoidOperation
from domain.lessons.commands import LessonsCommand
from domain.log.wire import Imported, Part, Stored
from domain.machines.commands import MachinesCommand
from domain.policy.commands import PolicyCommand
from domain.retention import Retain
from domain.templates.commands import TemplateCommand
from domain.wake.commands import WakeCommand

Command = (
    JournalCommand | AgentCommand | WakeCommand | ChangesCommand | TemplateCommand | PolicyCommand
    | LessonsCommand | MachinesCommand | Erase | Retain
)  # fmt: skip


class Result(Part, frozen=True):
    """What a command's caller is told, the first time and every time after.

    `ids`: what was made, or what the command was about; `status` and `code`: of an operation
    (``applied``, ``refused``, ``voided``); `tokens`: what changed, as notifications name it."""

    ids: tuple[str, ...] = ()
    status: str = ""
    code: str = ""
    message: str = ""
    tokens: tuple[str, ...] = ()


class Receipt(Stored, frozen=True, tag="receipt.1"):
    """A command and its result, under its idempotency key. `who`: the member of a home of several
    people whose deed it is, by an id that says nothing of them; empty: it is not known. Nothing is
    decided by it."""

    command: Command
    result: Result
    who: str = ""


class EpochBegan(Stored, frozen=True, tag="log.epoch.1"):
    """The first append under a new value of RULES. `digest`: of the log so far."""

    rules: int
    package: str
    unicode: str
    digest: str = ""


class GivenUp(Part, frozen=True):
    """What `replica` said of the journal's appends above `after`, up to `until`, is of another
    past: those appends are gone, or are others now."""

    replica: str
    after: int
    until: int


class ReplicasImported(Stored, frozen=True, tag="log.imported.1"):
    """`given_up`: in a journal that was restored alone; no number up to theirs is given again."""

    replicas: tuple[Imported, ...]
    given_up: tuple[GivenUp, ...] = ()


class LogShared(Stored, frozen=True, tag="log.shared.1"):
    """From here on the log is one of several that meet: it is numbered and merged as such."""


LogFact = EpochBegan | ReplicasImported | LogShared


class Replied(Struct, frozen=True):
    """A reply from outside, recorded as it is: to a wake (`of_kind` ``wake``) or a change set."""

    of_kind: str
    entity: str
    fact: Any  # WakeReply | ChangesReply


Cause = Command | Replied | LogFact

FAILURES = (
    WakelogError, MsgspecError, ArithmeticError, AssertionError, AttributeError, LookupError,
    TypeError, ValueError,
)  # fmt: skip
"""What today's code may raise on a cause that was altered, or that it does not allow."""

_OPERATIONS = (ApplyOperation, VoidOperation)


def is_repeat(kept: Command, given: Cause, said: Sequence[str] = ()) -> bool:
    """Whether a command is the one that its key stands for, or both settle one operation.

    `kept`: what was decided under the key. `given`: what comes under it now. `said`: the fields to
    compare; else those that `given` says its caller said, else all."""
    if isinstance(given, _OPERATIONS):
        return isinstance(kept, _OPERATIONS)
    if isinstance(given, UndoDeed) and given.operation:
        return isinstance(kept, UndoDeed) and kept.operation == given.operation
    names = said or kept.said or kept.__struct_fields__
    return type(kept) is type(given) and all(
        getattr(kept, one) == getattr(given, one) for one in names
    )

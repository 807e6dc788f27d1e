"""What a branch did that was given up, handed to another one, cause by cause (ADR 74).

Today's code decides again. A caller's own key stays, so what both branches did under it is one
deed; a key that was derived of the append's number is derived anew, and what is named by it gets
another name, which is learnt by comparing the rows, as in a fork (ADR 16). Wakes are not repeated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from adapters.documents.sync import RefusedCause
from adapters.store.log import Log
from adapters.store.recorder import numbered
from domain.agent import commands as agent
from domain.append import envelope
from domain.append.causes import Cause, Command, LogFact, Replied
from domain.append.envelope import Row
from domain.append.texts import payloads_named
from domain.changes import commands as changes
from domain.changes.change_set import CHANGES
from domain.errors import Refused, WakelogError
from domain.journal import commands as do
from domain.journal.task import TASK
from domain.lessons.commands import RateRun, RuleTool
from domain.log.keys import command_key, payload_id
from domain.log.state import RecordedEvent, entity_of
from domain.log.wire import Payload, PayloadId, tag_of
from domain.machines.commands import SettleAgentsConflict
from domain.policy.commands import PolicyCommand
from domain.replication.replica_conflicts import AGENT_LOG_TYPES
from domain.templates.commands import TemplateCommand
from replay import fork

PERSONAL_COMMANDS = (
    agent.CreateAgent,
    agent.ConfigureAgent,
    agent.PauseAgent,
    agent.ResumeAgent,
    agent.DestroyAgent,
    agent.DeleteAgent,
    changes.ConfirmItem,
    changes.RejectItem,
    changes.DeferItem,
    RateRun,
    RuleTool,
    SettleAgentsConflict,
    PolicyCommand,
    TemplateCommand,
)
"""What a person asks of the agent log; all else there follows from it, or from wakes."""


class CommandReplay:
    """Hands causes to the logs of the branch that goes on. `redone`: how many were decided again;
    `answered`: were there already, under their callers' keys; `left_out`: are not repeated;
    `refused`: are not possible there."""

    def __init__(self, logs: Mapping[str, Log], was: Mapping[str, Log]) -> None:
        """`logs`: to write in, by name; `was`: where the causes stand, and what they name."""
        self.redone = self.answered = self.left_out = 0
        self.refused: list[RefusedCause] = []
        self._logs, self._was = logs, was
        self._names: dict[str, str] = {}
        self._stands: dict[int, int] = {}  # append of the journal by the one that was; 0: refused

    def hand(self, log: str, rows: Sequence[RecordedEvent], *, is_own: bool = True) -> None:
        """Decide one append, as it was, whole, again. `is_own`: else another machine did it, which
        tells of it itself; it is not counted."""
        if is_own:
            self._hand(log, rows)
            return
        counts = self.redone, self.answered, self.left_out, [*self.refused], {**self._stands}
        self._hand(log, rows)
        self.redone, self.answered, self.left_out, self.refused, self._stands = counts

    def _hand(self, log: str, rows: Sequence[RecordedEvent]) -> None:
        cause, key = envelope.cause_of(rows[0])
        if isinstance(cause, LogFact):
            return
        if isinstance(cause, Replied) or (
            log == "agent" and not isinstance(cause, PERSONAL_COMMANDS)
        ):
            self.left_out += 1
            return
        made: list[RecordedEvent] = []
        try:
            made = self._decided(log, rows[0], cause, key)
        except WakelogError as error:
            self.refused.append(_refused_cause(log, rows[0], cause, error))
        fork.learn_names(self._names, rows, made)
        if log == "journal":
            self._stands[rows[0].n] = made[0].n if made else 0

    def _decided(
        self, log: str, was: RecordedEvent, cause: Command, key: str
    ) -> list[RecordedEvent]:
        """The rows that it comes to now; none where its key was known. Raises WakelogError."""
        payloads = self._brought(log, cause)
        there = fork.with_branch_names(self._moved(cause), self._names)
        given = "" if key == command_key(log, was.replica, was.n) else key
        to = self._logs[log]
        appended = to.append(there, was.at, key=self._names.get(given, given), payloads=payloads)
        if not appended.rows:
            self.answered += 1
            return []
        self.redone += 1
        at = envelope.read(appended.rows[0]).at
        return [envelope.recorded(one, at, envelope.read(one)) for one in appended.rows]

    def _brought(self, log: str, cause: Command) -> list[Payload]:
        """The payloads that a cause names. What belongs to something with another name now has
        another name itself: a payload is called by its unit."""
        kept = self._was[log]
        read = ((one, kept.payload(one)) for one in dict.fromkeys(payloads_named(cause)))
        found = {one: data for one, data in read if data is not None}
        units = self._names.keys() & fork.keys_in(cause) if found else ()
        for one, data in found.items():
            for unit in units:
                if payload_id(unit, data) == one:
                    self._names[one] = payload_id(self._names[unit], data)
        return [Payload(PayloadId(self._names.get(one, one)), data) for one, data in found.items()]

    def _moved(self, cause: Command) -> Cause:
        """A cause that names appends, with those that they are now. Raises Refused, code ``stays``:
        some were written before the branch began, or were refused."""
        match cause:
            case do.UndoDeed(operation=operation) if operation:
                because = "whether a confirmation stands there is not known yet"
                raise Refused("stays", because=because, instead="undo it again")
            case do.UndoDeed(appends=appends):
                return replace(cause, appends=tuple(self._now(one) for one in appends))
            case do.UndoImport(first=first, last=last, appends=appends):
                now = tuple(self._now(one) for one in appends)
                return replace(cause, first=self._now(first), last=self._now(last), appends=now)
            case do.SettleConflict(seen=seen):
                mine, here = self._was["journal"].replica, self._logs["journal"].replica
                sides = [
                    do.SideSeen(here, self._stands[one.n])
                    if one.replica == mine and self._stands.get(one.n)
                    else one
                    for one in seen
                ]
                keep = here if cause.keep == mine and (*sides,) != seen else cause.keep
                return replace(cause, seen=tuple(sides), keep=keep)
            case SettleAgentsConflict():
                return replace(cause, seen=(), keep=self._kept(cause))
            case changes.ConfirmItem() | changes.RejectItem() | changes.DeferItem():
                position = self._position(cause.position)
                category = self._category(cause.changes, position) if cause.category else ""
                there = replace(cause, position=position, category=category)
                if isinstance(there, changes.ConfirmItem):
                    return there
                return replace(there, seen=self._logs["journal"].horizon(position))
            case agent.CreateAgent():
                position = self._position(cause.position)
                known = self._logs["journal"].horizon(position)
                return replace(cause, position=position, seen=known)
            case _:
                return fork.with_moved_position(cause, self._position)

    def _kept(self, cause: SettleAgentsConflict) -> str:
        """Whose side of a conflict of the agent log is meant: what this machine said under its old
        name stands there, or, if it was said since, under the new one."""
        mine, here = self._was["agent"].replica, self._logs["agent"].replica
        kind = AGENT_LOG_TYPES.get(cause.of)
        with self._logs["agent"].reading() as world:
            found = world.disputes(kind, cause.entity) if kind else ()
            sides = [side for one in found if one.field == cause.field for side in one.sides]
        is_here = any(side.row.replica == here for side in sides)
        return here if cause.keep == mine and is_here else cause.keep

    def _category(self, changes_id: str, position: int) -> str:
        """What the task of a change set is of, at a position of the journal."""
        with self._logs["agent"].reading() as agents:
            task = agents.load(CHANGES, changes_id).task
        return self._logs["journal"].world_at(position).load(TASK, task).category

    def _now(self, n: int) -> int:
        if found := self._stands.get(n):
            return found
        because = f"it takes back append {n}, which this machine no longer has under its name"
        raise Refused("stays", because=because, instead="change by hand what it should change")

    def _position(self, n: int) -> int:
        return self._stands.get(n) or self._logs["journal"].tail().n


def has_caller_key(log: str, rows: Sequence[Row]) -> bool:
    """Whether the caller of an append named it."""
    name, _, replica = rows[0].stream.rpartition("@")
    derived = command_key(log, replica, numbered(rows[0].state).n)
    return name.startswith("receipt:") and entity_of(rows[0].stream) != derived


def _refused_cause(
    log: str, was: RecordedEvent, cause: Command, error: WakelogError
) -> RefusedCause:
    told: Any = msgspec.to_builtins(cause)
    words = tag_of(cause).split(".")[1].replace("_", " ")
    subject = str(told.get("task") or told.get("agent") or told.get("title") or "")
    return RefusedCause(log, was.n, was.at, words, subject, error.code, error.because)

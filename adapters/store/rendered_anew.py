"""What wakes were shown and `wakelog retain` dropped, rendered again for who looks (ADR 109).

Of each log of agents that is opened, `LogReader.anew`; a proof renders in its own walk."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from adapters.store.log import Log
from domain.append import envelope
from domain.append.causes import FAILURES
from domain.errors import Refused
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import PayloadId
from domain.retention import prompt_ids
from domain.wake.commands import Begins, BeginWake, ProposeChanges
from domain.wake.wake import ModelAnswered, unwrapped
from domain.wake.wake_inputs import rendered


class Began(NamedTuple):
    """A wake that began: its cause, whose, and when."""

    cause: Begins
    replica: str
    at: str

    @property
    def begun(self) -> BeginWake:
        """What it was given."""
        return self.cause.begin if isinstance(self.cause, ProposeChanges) else self.cause


def begun_by(append: Sequence[RecordedEvent]) -> Began | None:
    """The wake that an append begins."""
    cause, _ = envelope.cause_of(append[0])
    return Began(cause, append[0].replica, append[0].at) if isinstance(cause, Begins) else None


WorldAt = Callable[[int, str], LogState]


def rendered_anew(journal: WorldAt, agents: WorldAt, one: Began) -> dict[PayloadId, bytes]:
    """What of a wake's prompt and snapshot today's code renders to the recorded ids."""
    begun, named = one.begun, {*prompt_ids(one.begun)}
    with suppress(*FAILURES):
        there = journal(begun.journal_position, one.replica)
        found = rendered(there, agents(begun.agent_position, one.replica), one.cause)
        return {name: data for name, data in found.items() if name in named}
    return {}


class RenderedAnew:
    """Gives what was dropped of an agents' log, by its id."""

    def __init__(self, journal: Log, agents: Log) -> None:
        self._journal, self._agents = journal, agents
        self._read = 0  # n up to which the log was looked through
        self._begun: dict[PayloadId, Began] = {}
        self._replies: dict[PayloadId, str] = {}  # with their times
        self._made: dict[PayloadId, bytes] = {}  # of the wake that was asked for last

    def __call__(self, name: PayloadId) -> bytes | None:
        """The bytes; None of what no retention covers. Raises Refused, code ``dropped``: a reply,
        or what does not render to its id any more."""
        if name in self._made:
            return self._made[name]
        self._look()
        retained, one = self._agents.erasures().retained, self._begun.get(name)
        if one is not None and one.at < retained["prompts"]:
            self._made = rendered_anew(self._journal.world_at, self._agents.world_at, one)
            if name in self._made:
                return self._made[name]
            because = "what the model was shown was dropped, and does not render again"
            raise Refused("dropped", because=because, instead="`wakelog prove` tells where")
        if name in self._replies and self._replies[name] < retained["replies"]:
            because = "the bytes of a reply that this needs were dropped by `wakelog retain`"
            raise Refused("dropped", because=because, instead="a backup of before still has them")
        return None

    def _look(self) -> None:
        for append in self._agents.appends(self._read):
            self._read = append[0].n
            if one := begun_by(append):
                for name in prompt_ids(one.begun):
                    self._begun.setdefault(name, one)
            for row in append:
                said = unwrapped(row.fact)
                if isinstance(said, ModelAnswered):
                    self._replies.setdefault(said.reply, row.at)

"""One wake again: its recorded replies, given to today's code step by step.

A step is an append that the wake took part in, or the effect of one of its calls on the journal.
Each is decided anew in the world as it was recorded, and every byte is compared."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import msgspec
from msgspec import Struct

from domain.agent.agent import AGENT
from domain.append import envelope
from domain.append.causes import FAILURES, Cause, Replied
from domain.append.envelope import Row
from domain.handlers.execute import execute
from domain.journal.commands import ApplyOperation
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Stored, tag_of
from domain.ports import Request, Section
from domain.wake import wake as e
from domain.wake.commands import Begins
from domain.wake.machine import pending
from domain.wake.prompt import request
from domain.wake.task_search import TaskSearchIndex
from domain.wake.wake_inputs import given_by, queued_of, shown
from replay.reads import read_again, read_differences
from replay.streams import error_text


class AwaitedInput(Struct, frozen=True):
    """What the wake waited for before a step: a reply of the model, or a tool's result."""

    what: str  # "model", "tool", or empty where it waited for nothing
    turn: int = 0
    attempt: int = 0
    tool: str = ""
    arguments: str = ""
    request: Request | None = None


class RerunDecision(Struct, frozen=True):
    """A fact that followed from the step's cause, and why."""

    kind_of: str  # the fact's tag
    stream: str
    data: Any
    why: str = ""


class Changed(Struct, frozen=True):
    """A row that today's code writes differently. Empty: there is no such row on that side."""

    stream: str
    version: int
    today: str
    recorded: str


class SectionAgain(Struct, frozen=True):
    """A prompt section rendered anew. `today` and `recorded` are None where there is none, and
    both are empty where they are the same."""

    name: str
    is_same: bool
    today: str | None = ""
    recorded: str | None = ""


class RerunStep(Struct, frozen=True):
    """One step. `cause` is the tag of what it began with, `error` what today's code says instead
    of deciding; `position` is ``log:replica:n``."""

    position: str
    n: int
    at: str
    cause: str
    answer: Any
    asked: AwaitedInput
    decided: tuple[RerunDecision, ...]
    changed: tuple[Changed, ...] = ()
    error: str = ""

    @property
    def is_same(self) -> bool:
        return not (self.changed or self.error)


def prompt(
    journal: LogState, agents: LogState, begun: e.WakeStarted, cause: Stored
) -> list[SectionAgain]:
    """The prompt of a wake, rendered by today's code from both logs as they were then. `cause`: the
    command that began it, which names the limit that the prompt had to fit in."""
    sections: tuple[Section, ...] = ()
    if isinstance(cause, Begins) and (queued := queued_of(cause, agents)) is not None:
        agent = agents.load(AGENT, begun.agent)
        rendered = shown(journal, agents, agent, queued, given_by(cause))
        sections = (*rendered.system, *rendered.user)
    today = {one.name: one.text for one in sections}
    refs = (*begun.system, *begun.user)
    recorded = {ref.name: agents.payload(ref.payload).decode() for ref in refs}
    return [
        SectionAgain(name, is_same=True)
        if today.get(name) == recorded.get(name)
        else SectionAgain(name, False, today.get(name), recorded.get(name))
        for name in dict.fromkeys((*recorded, *today))
    ]


def step(log: str, rows: Sequence[Row], world: LogState, run_key: str) -> RerunStep:
    """Decide one append of a log anew: `rows`, whole and in order, in the `world` just before."""
    first = envelope.read(rows[0])
    facts = [envelope.recorded(row, first.at, envelope.read(row)) for row in rows]
    cause, given = envelope.cause_of(facts[0])
    changed, error = tuple[Changed, ...](), ""
    try:
        who = envelope.who_of(facts[0])
        anew = execute(cause, given, first.at, first.prev, world, who).rows
        pairs = zip_longest(rows, anew)
        changed = tuple(_changed(was, now) for was, now in pairs if was != now)
    except FAILURES as failure:
        error = error_text(failure)
    wake = world.load(e.WAKE, run_key)
    told = cause.fact if isinstance(cause, Replied) else cause
    return RerunStep(
        f"{log}:{facts[0].replica}:{first.n}", first.n, first.at, tag_of(told),
        msgspec.to_builtins(told), _asked(world, wake, cause), tuple(_decisions(facts, wake)),
        changed, error,
    )  # fmt: skip


def reading(
    journal: LogState, agents: LogState, run_key: str, row: RecordedEvent
) -> tuple[Changed, ...]:
    """What a read of a wake, of which `row` is the answer, is answered with otherwise by today's
    code, from both logs as they were then."""
    if not isinstance(row.fact, e.ToolReturned):
        return ()
    again = read_again(run_key, row.fact, journal, agents, TaskSearchIndex().of)
    found = read_differences(again, agents.payload) if again else ()
    return tuple(Changed(row.stream, row.version, one.expected, one.actual) for one in found)


def _changed(was: Row | None, now: Row | None) -> Changed:
    named = was or now
    assert named is not None
    return Changed(named.stream, named.version, _text(now), _text(was))


def _text(row: Row | None) -> str:
    return "" if row is None else f"{row.topic} {row.state.decode('utf-8', 'backslashreplace')}"


def _asked(world: LogState, wake: e.Wake, cause: Cause) -> AwaitedInput:
    """What the cause is a reply to; of an effect on the journal it is the command itself."""
    if isinstance(cause, ApplyOperation):
        return AwaitedInput("tool", tool=cause.tool, arguments=world.text(cause.arguments))
    match pending(wake):
        case e.ModelAsked() as asked:
            asking = request(world, wake, asked)
            return AwaitedInput("model", asked.turn, asked.attempt, request=asking)
        case e.ToolAsked() as asked:
            text = world.text(asked.arguments)
            return AwaitedInput("tool", asked.turn, asked.attempt, asked.tool, text)
        case _:
            return AwaitedInput("")


def _decisions(facts: Sequence[RecordedEvent], wake: e.Wake) -> Iterator[RerunDecision]:
    """All facts of the append but the cause itself."""
    turn_max = wake.started.turn_max if wake.started else 0
    for one in facts if isinstance(facts[0].fact, e.LateReply) else facts[1:]:
        data = msgspec.to_builtins(one.fact)
        yield RerunDecision(tag_of(one.fact), one.stream, data, why(one.fact, turn_max))


def why(fact: Stored, turn_max: int = 0) -> str:
    """Why the machine decided a fact, in words; empty where the fact says it itself."""
    match fact:
        case e.WakeStarted(reason="client"):
            return "a client proposed without being asked; it has one turn"
        case e.WakeStarted(reason=reason, turn_max=limit):
            return f"it was queued as a {reason} wake; it may take {limit} turns"
        case e.ModelAsked(forced=forced) if forced:
            return f"a report is due and there is none: one more turn, with {forced} alone"
        case e.ModelAsked(attempt=attempt) if attempt > 1:
            return "the attempt before it has no reply"
        case e.ModelAsked(turn=1):
            return "a wake begins by asking the model"
        case e.ModelAsked():
            return "every call of the turn has its result; they go back together"
        case e.ToolAsked(action_type="read"):
            return "it looks into both logs where they end, so it is recorded what it is told"
        case e.ToolAsked():
            return "it changes the task at once, so its intent is recorded before its effect"
        case e.ToolReturned(status="queued"):
            return "the person decides about it"
        case e.ToolReturned(status="denied", code=code):
            return f"refused before it had an effect: {code}"
        case e.ToolReturned(status="success", attempt=0):
            return "it stays in the agent's own log"
        case e.WakeDeferred(reason=reason):
            return f"it waits because of {reason}"
        case e.LateReply():
            return "nobody waited for it any more, so it changes nothing"
        case e.WakeFinished(is_report_missing=True):
            return "a report was due, and the extra turn brought none"
        case e.WakeFinished(stop="turn_limit"):
            return f"turn {turn_max} was the last it may take"
        case e.WakeFinished(stop="answered"):
            return "the model called nothing more"
        case e.WakeFinished(message=message, code=code):
            return message or code
        case _:
            return ""

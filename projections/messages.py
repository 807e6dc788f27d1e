"""What was said in a wake and around it, each message from exactly one fact (SPEC 5).

One document for each wake: it knows the agent and the thread, which the facts of the wake's
stream do not name. The words of a person belong to the wake that they queued; another one that
inherits its triggers does not repeat them."""

from operator import attrgetter
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import AgentObserved
from domain.agent.wake_queue import WakeQueued
from domain.log.state import RecordedEvent
from domain.log.wire import Words
from domain.wake.wake import ModelAnswered, ReportDrafted, ToolAsked, ToolReturned, WakeStarted
from projections.view import View, position
from projections.wakes import wake_sources

MessageKind = Literal[
    "observation", "user", "thought", "action", "tool_result", "summary", "system"
]


class WakeMessage(Struct, frozen=True):
    """One message. `text` is, by kind: what was observed, asked, thought; an action's arguments;
    what the model was told of a call's result; a report's content; the wake's reason.

    `turn` and `attempt` are 0 where there is none; `operation` pairs an action with its result."""

    place: str
    at: str
    kind: MessageKind
    text: Words
    tool: str = ""
    operation: str = ""
    status: str = ""
    code: str = ""
    turn: int = 0
    attempt: int = 0


class WakeMessages(Struct, frozen=True):
    """The messages of one wake, in order. `place` is that of the first."""

    run_key: str
    place: str
    agent_id: str = ""
    thread: str = ""
    messages: tuple[WakeMessage, ...] = ()


def keys(row: RecordedEvent) -> tuple[str, ...]:
    match row.fact:
        case WakeQueued(run_key=run_key, trigger=trigger) if trigger.words:
            return (run_key,)
        case AgentObserved(run_key=run_key):
            return (run_key,)
        case WakeStarted() | ModelAnswered() | ToolAsked() | ToolReturned() | ReportDrafted():
            return (row.entity,)
        case _:
            return ()


def apply(document: WakeMessages | None, row: RecordedEvent) -> WakeMessages | None:
    """The wake's messages with the one that this row is, if it is one."""
    named = keys(row)
    if not named:
        return document
    known, fact = document or WakeMessages(named[0], position(row)), row.fact
    if isinstance(fact, WakeQueued | WakeStarted):
        agent = fact.agent if isinstance(fact, WakeStarted) else row.entity
        known = replace(known, agent_id=agent, thread=fact.thread)
    message = _message(row)
    return replace(known, messages=(*known.messages, message)) if message else known


def _message(row: RecordedEvent) -> WakeMessage | None:
    place, at = position(row), row.at
    match row.fact:
        case WakeQueued(trigger=trigger):
            return WakeMessage(place, at, "user", Words(payload=trigger.words))
        case WakeStarted(reason=reason):
            return WakeMessage(place, at, "system", Words(reason))
        case ModelAnswered(text=Words() as text, turn=turn, attempt=attempt) if text != Words():
            return WakeMessage(place, at, "thought", text, turn=turn, attempt=attempt)
        case ToolAsked() as one:
            named = one.tool, one.operation, "", "", one.turn, one.attempt
            return WakeMessage(place, at, "action", one.arguments, *named)
        case ToolReturned() as one:
            named = one.tool, one.operation, one.status, one.code, one.turn, one.attempt
            return WakeMessage(place, at, "tool_result", one.message, *named)
        case AgentObserved(words=words, priority=priority, category=category):
            return WakeMessage(place, at, "observation", words, status=priority, code=category)
        case ReportDrafted(content=content):
            return WakeMessage(place, at, "summary", content)
        case _:
            return None


VIEW: View[WakeMessages] = View(
    "messages", "agent", 1, WakeMessages, keys, apply, shelf=attrgetter("agent_id"),
    entities=("wake", "alert", "agent"), sources=wake_sources,
)  # fmt: skip

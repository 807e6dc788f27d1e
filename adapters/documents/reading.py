"""The JSON documents of what agents said and did, as SPEC 10 fixes them.

What is not there (yet) is null; texts of the log are resolved.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.documents.since import ChangeSince, changes_since
from adapters.documents.wakes import own_wake_of, state_of
from adapters.wiring import Home
from domain.agent.agent import JOURNAL_SHOWN
from domain.ports import Section
from domain.wake.events import SectionRef
from domain.wake.state import anyones
from domain.world import World
from projections import agents, journal, messages, reports
from projections.messages import Message
from projections.reports import ReportDocument
from projections.wakes import WakeDocument

if TYPE_CHECKING:
    from adapters.timetravel.why import Why

OBSERVATIONS_SHOWN = JOURNAL_SHOWN


class ReportHistory(Struct, frozen=True):
    """An agent's report, by the wake that wrote it."""

    run_key: str
    at: str
    tldr: str


class ReportDetails(Struct, frozen=True):
    """What `report` prints: an agent's current report. Where there is none yet, all but the ids,
    `history` and `sections` (what the model was shown) is null. `content` is Markdown; `history`
    begins with the current report; `stale`: something concerned the agent since; `changes`: what
    changed in the task since, confirmed changes, too, which wake nobody."""

    task_id: str
    agent_id: str
    run_key: str | None
    at: str | None
    tldr: str | None
    one_liner: str | None
    content: str | None
    history: list[ReportHistory]
    model: str | None
    template_version: int | None
    sections: list[str]
    stale: bool
    changes: list[ChangeSince]


class JournalLine(Struct, frozen=True):
    """An observation that an agent noted for itself."""

    at: str
    run_key: str
    text: str
    priority: str
    category: str
    target: str | None


class MessageLine(Struct, frozen=True):
    """A message of a thread; `tool`, `status` and `code` are those of a call."""

    at: str
    run_key: str
    kind: str
    text: str
    tool: str | None
    status: str | None
    code: str | None
    turn: int | None


class MessageThread(Struct, frozen=True):
    """A wake's, or a conversation's, messages in order."""

    thread: str
    agent_id: str
    messages: list[MessageLine]


class PromptDetails(Struct, frozen=True):
    """What `show --prompt` prints: what the model was shown, byte for byte."""

    run_key: str
    system: list[Section]
    user: list[Section]


class WhyLine(Struct, frozen=True):
    """A trigger and what became of it: `outcome` is ``woke``, ``merged``, ``suppressed`` (by
    `rule`), ``queued`` (where `rule` may say what it waits for) or ``unmatched``; `run_key` is the
    wake that it went to."""

    position: str
    at: str
    tokens: list[str]
    outcome: str
    run_key: str | None
    rule: str | None
    reason: str
    what: str


class WhyAgent(Struct, frozen=True):
    """What became of a change at one of the agents that it concerns; as `WhyLine`, with whose."""

    agent_id: str
    agent: str
    position: str
    at: str
    tokens: list[str]
    outcome: str
    run_key: str | None
    rule: str | None
    reason: str
    what: str


# --------------------------------------------------------------------------------------- reports


def reports_of(home: Home, agent_id: str) -> list[ReportDocument]:
    """An agent's reports, the current one first."""
    return home.views.page(reports.VIEW, shelf=agent_id, newest_first=True)


def report_document(home: Home, agent_id: str) -> ReportDetails:
    """The document of `report`; where there is none yet, all but the ids is null."""
    agent = home.views.get(agents.VIEW, agent_id)
    found = reports_of(home, agent_id)
    with home.services.agents.reading() as world:
        history = [ReportHistory(one.run_key, one.at, world.text(one.tldr)) for one in found]
        current = found[0] if found else None
        content = world.text(current.content) if current else None
        begun = anyones(world, current.run_key).started if current else None
    return ReportDetails(
        task_id=agent.task_id if agent else "",
        agent_id=agent_id,
        run_key=current.run_key if current else None,
        at=current.at if current else None,
        tldr=history[0].tldr if history else None,
        one_liner=current.one_liner if current else None,
        content=content,
        history=history,
        model=begun.model if begun else None,
        template_version=(begun.template_version or None) if begun else None,
        sections=[one.name for one in begun.user] if begun else [],
        stale=agent.is_stale if agent else False,
        changes=changes_since(home, agent, current) if agent and current else [],
    )


# ------------------------------------------------------------------------- journal and messages


def journal_documents(home: Home, agent_id: str, limit: int) -> list[JournalLine]:
    """The documents of `journal`, the newest first."""
    found = home.views.page(journal.VIEW, shelf=agent_id, newest_first=True, limit=limit)
    with home.services.agents.reading() as world:
        return [
            JournalLine(
                at=one.at,
                run_key=one.run_key,
                text=world.text(one.words),
                priority=one.priority,
                category=one.category,
                target=one.target or None,
            )
            for one in found
        ]


def thread_documents(home: Home, agent_id: str, thread: str, limit: int) -> list[MessageThread]:
    """The documents of `messages`: threads with their newest messages, in order.

    Args:
        home: Open, its views caught up.
        agent_id: Whose.
        thread: The only one that is wanted, its name or what stands behind its last colon, or a
            beginning of that; empty: all.
        limit: How many messages at most.
    """
    found = home.views.page(messages.VIEW, shelf=agent_id, newest_first=True)
    left = limit
    threads: dict[str, list[MessageLine]] = {}
    with home.services.agents.reading() as world:
        for one in found:
            if thread and not _is_named(one.thread, thread):
                continue
            recent = one.messages[-left:] if left else ()
            newest = [message_document(world, one.run_key, message) for message in recent]
            left -= len(newest)
            if newest:
                threads[one.thread] = newest + threads.get(one.thread, [])
    return [MessageThread(name, agent_id, told) for name, told in reversed(threads.items())]


def _is_named(thread: str, wanted: str) -> bool:
    return thread == wanted or thread.rpartition(":")[2].startswith(wanted)


def message_document(world: World, run_key: str, message: Message) -> MessageLine:
    """One of the `messages` of a thread."""
    return MessageLine(
        at=message.at,
        run_key=run_key,
        kind=message.kind,
        text=world.text(message.text),
        tool=message.tool or None,
        status=message.status or None,
        code=message.code or None,
        turn=message.turn or None,
    )


# ---------------------------------------------------------------------------------- what was shown


def shown(home: Home, wake: WakeDocument) -> tuple[list[Section], list[Section]] | None:
    """The sections that the model was shown, system and user, byte for byte; None where the
    wake never began."""
    with home.services.agents.reading() as world:
        begun = state_of(world, wake).started
        if begun is None:
            return None
        return _sections(world, begun.system), _sections(world, begun.user)


def _sections(world: World, refs: Sequence[SectionRef]) -> list[Section]:
    return [Section(ref.name, world.payload(ref.payload).decode()) for ref in refs]


def prompt_document(run_key: str, prompt: tuple[list[Section], list[Section]]) -> PromptDetails:
    """The document of `show --prompt`."""
    return PromptDetails(run_key, *prompt)


def why_document(home: Home, one: "Why") -> WhyLine:
    """One of the documents of `why`; the wake is this machine's, where it has one."""
    ran = own_wake_of(home, one.run_key) if one.run_key and home.services.agents.is_shared else None
    return WhyLine(
        position=one.position,
        at=one.at,
        tokens=list(one.tokens),
        outcome=one.outcome,
        run_key=(ran.run_key if ran else one.run_key) or None,
        rule=one.rule or None,
        reason=one.reason,
        what=one.what,
    )

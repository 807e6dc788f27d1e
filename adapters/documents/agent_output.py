"""The JSON documents of what agents said and did, as SPEC 10 fixes them.

What is not there (yet) is null; texts of the log are resolved. Beside a report stands what changed
in its task since: a confirmed change wakes nobody, so a report says nothing of it until its agent
wakes for another reason. What a wake itself set at once, before it reported, is in its report.
"""

from collections import Counter
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.documents.wakes import own_wake_of, state_of, wake_before, without_report
from adapters.wiring import Home
from domain.agent.agent import JOURNAL_SHOWN
from domain.errors import Refused
from domain.journal import repeat
from domain.journal import task as t
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.document import category_name, label_name
from domain.journal.task import TASK
from domain.log.state import MAIN, LogState
from domain.ports import Section
from domain.text import cut
from domain.wake.wake import SectionRef, anyones
from projections import agents, messages, observations, reports, wakes
from projections.agents import AgentDocument
from projections.messages import WakeMessage
from projections.reports import ReportDocument
from projections.wakes import WakeDocument

if TYPE_CHECKING:
    from adapters.timetravel.why import TriggerFate

TITLE_MAX = 80
GONE = {"[erased]", "[dropped]"}  # instead of a section that nobody can tell any more


class ChangeSince(Struct, frozen=True):
    """`what` in words; `by` is ``you``, ``confirmed`` (it was this agent's proposal), ``import`` or
    ``another agent``; `at` is when it happened last, of `times`."""

    what: str
    by: str
    at: str
    times: int


def changes_since(home: Home, agent: AgentDocument, report: ReportDocument) -> list[ChangeSince]:
    """What its task's facts say since the agent's current report, each once, the oldest first."""
    own = f"agent:{agent.id}"
    wake = home.views.get(wakes.VIEW, report.run_key)
    of = wake.replica if wake else home.services.agents.replica
    seen = agent.agent.fresh_seen or {of: agent.agent.fresh_position}
    with home.services.journal.reading() as world:
        rows = [
            row
            for row in world.recorded("task", agent.task_id, agent.agent.fresh_position, seen)
            if getattr(row.fact, "by", "") != own or row.at > report.at
        ]
        if not rows:
            return []
        task, catalog = world.load(TASK, agent.task_id), world.load(CATALOG, MAIN)
    told = [
        (fact_told(row.fact, task, catalog), _changed_by(row.fact, own), row.at) for row in rows
    ]
    times = Counter((what, by) for what, by, _ in told)
    newest = {(what, by): at for what, by, at in told}
    return [ChangeSince(*key, at, times[key]) for key, at in newest.items()]


def _changed_by(fact: object, own: str) -> str:
    by = str(getattr(fact, "by", ""))
    if by == own:
        return "confirmed"
    return {"agent": "another agent", "import": "import"}.get(by.partition(":")[0], "you")


def fact_told(fact: object, task: t.Task, catalog: Catalog) -> str:
    """What a fact of a task says, in a few words."""
    item = t.item_of(task, getattr(fact, "item", ""))
    title = f'"{cut(item.title, length_max=TITLE_MAX)}"' if item else "an item"
    label = label_name(catalog, getattr(fact, "label", ""))
    match fact:
        case t.TaskRetitled(title=new):
            return f'title: "{cut(new, length_max=TITLE_MAX)}"'
        case t.StatusSet(status=value) | t.PrioritySet(priority=value):
            return f"{'status' if isinstance(fact, t.StatusSet) else 'priority'}: {value}"
        case t.DueSet(due=value):
            return f"due: {value or 'no date any more'}"
        case t.RepeatSet(rule=rule):
            return f"repeats: {repeat.told(rule) if rule else 'no more'}"
        case t.WaitSet(until=value):
            return f"waits until: {value or 'no longer'}"
        case t.EstimateSet(minutes=minutes):
            return f"estimate: {minutes} min" if minutes else "estimate: none any more"
        case t.LanguageSet(language=value):
            return f"language: {value or 'none any more'}"
        case t.CategorySet(category=category):
            return f"category: {category_name(catalog, category)}"
        case t.LabelAssigned():
            return f"label added: {label}"
        case t.LabelRemoved():
            return f"label removed: {label}"
        case _:
            what = _PLAIN_WORDS[type(fact)]
            return f"{what}: {title}" if what.startswith("item ") else what


_PLAIN_WORDS: dict[type[object], str] = {
    t.TaskCreated: "task made",
    t.TaskDescribed: "description changed",
    t.LabelSuppressed: "label not to be proposed",
    t.LabelAllowed: "label may be proposed again",
    t.ChecklistAdded: "checklist added",
    t.ItemAdded: "item added",
    t.ItemChecked: "item ticked",
    t.ItemUnchecked: "item unticked",
    t.ItemRetitled: "item renamed",
    t.ItemArchived: "item archived",
    t.ItemRestored: "item brought back",
    t.NoteAdded: "note added",
    t.NoteEdited: "note edited",
    t.NoteRemoved: "note removed",
    t.TimeStarted: "timer started",
    t.TimeStopped: "timer stopped",
    t.TimeLogged: "time logged",
    t.TimeEdited: "time edited",
    t.TimeReopened: "timer runs on",
    t.TimeRemoved: "time removed",
    t.TaskRated: "rated",
    t.TaskLinked: "link added",
    t.TaskUnlinked: "link removed",
    t.TaskDeleted: "task deleted",
    t.TaskRestored: "task brought back",
    t.TaskImported: "imported again",
    t.DifferenceSettled: "conflict with the file settled",
    t.DeedUndone: "no longer said by the file",
}


# ---------------------------------------------------------------------------------------- documents

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
    changed in the task since, confirmed changes, too, which wake nobody; `without_report`: the
    agent's last wake, where it completed without the report that was due."""

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
    without_report: str | None


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
    """What `show --prompt` prints: what the model was shown, byte for byte. `rendered_anew`: some
    was dropped by `retain`, and is rendered to the recorded ids."""

    run_key: str
    system: list[Section]
    user: list[Section]
    rendered_anew: bool


class WhyLine(Struct, frozen=True):
    """A trigger and what became of it: `outcome` is ``woke``, ``merged``, ``suppressed`` (by
    `rule`), ``queued`` (where `rule` may say what it waits for) or ``unmatched``; `run_key` is the
    wake that it went to, `report_missing` whether that one's report was due and did not come."""

    position: str
    at: str
    tokens: list[str]
    outcome: str
    run_key: str | None
    rule: str | None
    reason: str
    what: str
    report_missing: bool


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
    report_missing: bool


# --------------------------------------------------------------------------------------- reports


def report_document(home: Home, agent_id: str) -> ReportDetails:
    """The document of `report`; where there is none yet, all but the ids is null."""
    agent = home.views.get(agents.VIEW, agent_id)
    found = home.views.page(reports.VIEW, shelf=agent_id, newest_first=True)
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
        without_report=without_report(home, agent),
    )


# ------------------------------------------------------------------------- journal and messages


def journal_documents(home: Home, agent_id: str, limit: int) -> list[JournalLine]:
    """The documents of `journal`, the newest first."""
    found = home.views.page(observations.VIEW, shelf=agent_id, newest_first=True, limit=limit)
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
    """The documents of `messages`: threads with so many of the newest messages, in order. `thread`:
    the only one that is wanted, its name or what stands behind its last colon, or a beginning of
    that; empty: all."""
    found = home.views.page(messages.VIEW, shelf=agent_id, newest_first=True)
    left = limit
    threads: dict[str, list[MessageLine]] = {}
    with home.services.agents.reading() as world:
        for one in found:
            behind = one.thread.rpartition(":")[2]
            if thread and one.thread != thread and not behind.startswith(thread):
                continue
            recent = one.messages[-left:] if left else ()
            newest = [message_document(world, one.run_key, message) for message in recent]
            left -= len(newest)
            if newest:
                threads[one.thread] = newest + threads.get(one.thread, [])
    return [MessageThread(name, agent_id, told) for name, told in reversed(threads.items())]


def message_document(world: LogState, run_key: str, message: WakeMessage) -> MessageLine:
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


def shown(home: Home, wake: WakeDocument) -> PromptDetails | None:
    """What the model was shown; None where the wake never began."""
    agents = home.services.agents
    with agents.reading() as world:
        begun = state_of(world, wake).started
        if begun is None:
            return None
        system, user = ([*map(partial(_section, world), one)] for one in (begun.system, begun.user))
        is_text = [one.text not in GONE for one in (*system, *user)]
        named = {ref.payload for ref in compress((*begun.system, *begun.user), is_text)}
        is_anew = len(agents.payloads([*named])) < len(named)
    return PromptDetails(wake.key, system, user, is_anew)


def _section(world: LogState, ref: SectionRef) -> Section:
    try:
        return Section(ref.name, world.payload(ref.payload).decode())
    except Refused as refused:
        return Section(ref.name, f"[{refused.code}]")


def why_document(home: Home, one: "TriggerFate") -> WhyLine:
    """One of the documents of `why`; the wake is this machine's, where it has one."""
    ran = own_wake_of(home, one.run_key) if one.run_key else None
    is_asked = ran is not None and one.reason == "timer" and ran.started_at
    before = wake_before(home, ran) if ran and is_asked else None
    return WhyLine(
        position=one.position,
        at=one.at,
        tokens=list(one.tokens),
        outcome=one.outcome,
        run_key=(ran.run_key if ran else one.run_key) or None,
        rule=one.rule or None,
        reason=one.reason,
        what=", ".join([one.what, *(before.moved if before else ())]),
        report_missing=ran is not None and ran.is_report_missing,
    )

"""Wakes as `wakes` and `show` tell of them: one document for each run key (SPEC 3, 10).

It begins in its agent's queue (`WakeQueued`), whether or not the wake ever starts. How many
items it proposed stands in its change set only: take ``len(items)`` of the document `set_id` in
`projections.inbox`. A reply that came too late has no part in the counts, as it had none in the
wake; its tokens are paid all the same, as those of answers that failed are.

Of machines that woke under one run key apart from each other, the first that began, in canonical
order, has the document; the others' wakes stand in it, each named ``KEY@REPLICA``."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import astuple, replace

from domain.agent import wake_queue as a
from domain.agent.agent import AgentObserved
from domain.agent.wake_queue import Reason, Trigger
from domain.changes.change_set import set_id
from domain.log.state import RecordedEvent
from domain.log.wire import Stored
from domain.ports import Usage
from domain.wake import wake as e
from domain.wake.wake import Outcome, Stop, WakeStarted, used
from projections.view import Entity, View, position


def wake_sources(row: RecordedEvent) -> tuple[Entity, ...]:
    """The wakes that a row names, and their one agent with its attention, where the row knows it:
    of a wake that is the one that begins it."""
    match row.fact:
        case WakeStarted(agent=agent):
            return (("wake", row.entity), ("alert", agent), ("agent", agent))
        case _ if row.of_kind == "wake":
            return (("wake", row.entity),)
        case fact:
            named = (getattr(fact, "run_key", ""), getattr(fact, "by", ""))
            wakes = tuple(("wake", one) for one in named if one)
            return (*wakes, ("alert", row.entity), ("agent", row.entity))


# -------------------------------------------------------------------------------------------- wakes

CAUSES_KEPT = 100  # of one wake, the first; `cause_count` counts them all

WakeState = Literal["queued", "running", "waiting", "ended"]
WakeChange = dict[str, Any]
GOES_ON: WakeChange = {"until": "", "waits_for": ""}  # it is not backed off any more
QUEUED = "agent_id thread reason reason_id queued_at due_at causes cause_count".split()
ENDED = "outcome stop code message is_report_missing".split()  # as the fact has them


class CauseLine(Struct, frozen=True):
    """A trigger of a wake: its ``first``, ``merged`` into it while it was queued, or
    ``inherited`` from a wake that a person's request superseded."""

    how: Literal["first", "merged", "inherited"]
    at: str
    trigger: Trigger


class WakeDocument(Struct, frozen=True):
    """A wake. Empty texts are what has not happened (yet), or what nobody said.

    `place`: of the row that queued it, so text order is the order of appends; `queued_n` and
    `replica` say which append that was, and whose. `task_id` is known from the start on; before,
    the agent's document has it. `due_at` is its own due time; the agent's throttle may hold it
    longer. `until`, `waits_for`: while it is backed off.
    `superseded_by`: the wake that inherited its triggers. `code`, `message`: why it failed or
    was skipped. `turns`: those that the model answered. `tool_calls`: those that have a result.
    `is_report_missing`: one was due, and an extra turn brought none. `usage`: tokens of all
    answers that are paid, None as soon as one's are not known (SPEC 7); `paid` counts these.
    `runner`: who began it, in a home that machines share; `others`: what other machines have under
    this key since then, their wakes among it."""

    run_key: str
    place: str
    agent_id: str = ""
    task_id: str = ""
    thread: str = ""
    reason: Reason | Literal[""] = ""
    reason_id: str = ""
    queued_at: str = ""
    due_at: str = ""
    causes: tuple[CauseLine, ...] = ()
    cause_count: int = 0
    started_at: str = ""
    ended_at: str = ""
    until: str = ""
    waits_for: str = ""
    superseded_by: str = ""
    outcome: Outcome | Literal[""] = ""
    stop: Stop = ""
    code: str = ""
    message: str = ""
    model: str = ""
    template_id: str = ""
    template_version: int = 0
    turn_max: int = 0
    journal_position: int = 0
    turns: int = 0
    tool_calls: int = 0
    observations: int = 0
    has_report: bool = False
    is_report_missing: bool = False
    usage: Usage = Usage()
    paid: int = 0
    runner: str = ""
    others: "tuple[WakeDocument, ...]" = ()

    @property
    def key(self) -> str:
        """The run key itself: of a wake of another machine, without that one's name."""
        return self.run_key.partition("@")[0]

    @property
    def every(self) -> "tuple[WakeDocument, ...]":
        """This wake, and those of other machines that began under its key."""
        return (self, *(one for one in self.others if one.started_at))

    @property
    def queued_n(self) -> int:
        """The append that queued it."""
        return int(self.place.split(" ")[0])

    @property
    def replica(self) -> str:
        """Whose append that is, and who runs it."""
        return self.place.split(" ")[1]

    @property
    def state(self) -> WakeState:
        """Where it stands."""
        if self.ended_at:
            return "ended"
        if self.until:
            return "waiting"
        return "running" if self.started_at else "queued"

    @property
    def set_ids(self) -> tuple[str, str]:
        """Ids that its change set may have, if it made one: in a log alone, and in a shared one."""
        return set_id(self.key), set_id(self.key, self.replica)


ChangeOfWake = Callable[[WakeDocument, Any, RecordedEvent], WakeChange]


def keys(row: RecordedEvent) -> tuple[str, ...]:
    if row.of_kind == "wake":
        return (row.entity,)
    match row.fact:
        case (
            a.WakeQueued(run_key=run_key) | a.TriggerMerged(run_key=run_key)
            | a.WakeBegun(run_key=run_key) | a.WakeDropped(run_key=run_key, left_out=0)
            | a.WakeBackedOff(run_key=run_key) | AgentObserved(run_key=run_key)
        ):  # fmt: skip
            return (run_key,)
        case a.WakeDropped(run_key=run_key, by=by):
            return (run_key, by)
        case _:
            return ()


def apply(document: WakeDocument | None, row: RecordedEvent) -> WakeDocument | None:
    """The wake after this row."""
    change = _APPLY.get(type(row.fact))
    if change is None:
        return document
    known = document or WakeDocument(keys(row)[0], position(row))
    if known.runner and row.replica != known.runner:
        return replace(known, others=_elsewhere(known, row, change))
    return replace(known, **change(known, row.fact, row))


def _elsewhere(
    wake: WakeDocument, row: RecordedEvent, change: ChangeOfWake
) -> tuple[WakeDocument, ...]:
    """What other machines have under a wake's key, with one more row of theirs. What one of them
    began before anybody ran was queued as the wake was."""
    name = f"{wake.key}@{row.replica}"
    before = WakeDocument(name, position(row), **{one: getattr(wake, one) for one in QUEUED})
    known = next((one for one in wake.others if one.run_key == name), before)
    after = replace(known, **change(known, row.fact, row))
    return (*(one for one in wake.others if one.run_key != name), after)


def _queued(wake: WakeDocument, fact: a.WakeQueued, row: RecordedEvent) -> WakeChange:
    return {  # the fields `QUEUED`
        "agent_id": row.entity, "thread": fact.thread, "reason": fact.trigger.reason,
        "reason_id": fact.trigger.reason_id, "queued_at": row.at, "due_at": fact.due_at,
        "causes": (CauseLine("first", row.at, fact.trigger),), "cause_count": 1,
    }  # fmt: skip


def _merged(wake: WakeDocument, fact: a.TriggerMerged, row: RecordedEvent) -> WakeChange:
    """One more trigger. What a person's wake inherits is merged as it is queued, in one append;
    nothing else is merged into it there."""
    is_queued_now = wake.place.startswith(f"{row.n:012d} {row.replica} ")
    is_inherited = is_queued_now and wake.reason in ("manual", "user")
    line = CauseLine("inherited" if is_inherited else "merged", row.at, fact.trigger)
    return {
        "causes": (*wake.causes, line)[:CAUSES_KEPT],
        "cause_count": wake.cause_count + 1,
        "due_at": fact.due_at or wake.due_at,
    }


def _dropped(wake: WakeDocument, fact: a.WakeDropped, row: RecordedEvent) -> WakeChange:
    """The end of a wake, or, for the one that inherits from it, more triggers than have rows."""
    if wake.key != fact.run_key:
        return {"cause_count": wake.cause_count + fact.left_out}
    return {"superseded_by": fact.by}


def _started(wake: WakeDocument, fact: e.WakeStarted, row: RecordedEvent) -> WakeChange:
    """A wake that runs; in a home that machines share it may have waited on another one before,
    and is this one's from here on."""
    is_elsewhere = fact.seen and row.replica != wake.replica
    return {
        "place": position(row) if is_elsewhere else wake.place,
        "runner": row.replica if fact.seen else "", "agent_id": fact.agent, "task_id": fact.task,
        "thread": fact.thread, "reason": fact.reason, "started_at": row.at, "model": fact.model,
        "template_id": fact.template, "template_version": fact.template_version,
        "turn_max": fact.turn_max, "journal_position": fact.journal_position,
        **(_unasked(fact, row) if fact.reason == "client" else {}),
    }  # fmt: skip


def _unasked(fact: e.WakeStarted, row: RecordedEvent) -> WakeChange:
    """What no queue says of a wake that a client made."""
    return {"reason_id": fact.thread, "queued_at": row.at, "due_at": row.at}


def _paid(wake: WakeDocument, fact: Stored, row: RecordedEvent) -> WakeChange:
    """One more answer that is paid, whatever came of it."""
    more = used(fact)
    if more is None:
        return {}
    usage = Usage(*map(_plus, astuple(wake.usage), astuple(more))) if wake.paid else more
    return {"usage": usage, "paid": wake.paid + 1}


def _plus(known: int | None, spent: int | None) -> int | None:
    return None if known is None or spent is None else known + spent


def _finished(wake: WakeDocument, fact: e.WakeFinished, row: RecordedEvent) -> WakeChange:
    return {"ended_at": row.at, **GOES_ON, **{name: getattr(fact, name) for name in ENDED}}


_APPLY: dict[type, ChangeOfWake] = {
    a.WakeQueued: _queued,
    a.TriggerMerged: _merged,
    a.WakeBegun: lambda *_: GOES_ON,
    a.WakeDropped: _dropped,
    a.WakeBackedOff: lambda _, fact, __: {"until": fact.until, "waits_for": fact.reason},
    AgentObserved: lambda wake, *_: {"observations": wake.observations + 1},
    e.WakeStarted: _started,
    e.ModelAnswered: lambda wake, fact, row: {"turns": wake.turns + 1, **_paid(wake, fact, row)},
    e.ModelFailed: _paid,
    e.LateReply: _paid,
    e.ToolReturned: lambda wake, *_: {"tool_calls": wake.tool_calls + 1},
    e.ReportDrafted: lambda *_: {"has_report": True},
    e.WakeFinished: _finished,
}


_SEVERAL = "several"  # machines ran it, and not all came to the same


def marks(outcome: str) -> tuple[str, ...]:
    """The marks of the wakes that ended so or stand so; of none named: that any may have.

    >>> marks("failed"), marks("")
    (('failed', 'several'), ('',))
    """
    return (outcome, _SEVERAL) if outcome else ("",)


def _mark(wake: WakeDocument) -> str:
    found = {one.outcome or one.state for one in wake.every}
    return found.pop() if len(found) == 1 else _SEVERAL


VIEW: View[WakeDocument] = View(
    "wakes", "agent", 5, WakeDocument, keys, apply, shelf=attrgetter("agent_id"), mark=_mark,
    entities=("wake", "alert", "agent"), sources=wake_sources,
)  # fmt: skip

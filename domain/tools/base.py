"""What a tool is: the record that holds all that anybody knows of it by its name, what it answers
with, and what a singular tool is made of (SPEC 5, 6).

A tool is pure: (snapshot, arguments) -> facts or a refusal. Texts here are recorded and told to
the model, so they hold nothing whose spelling differs between versions of Python or a library.
The records stand in `task_tools`, `times`, `followups` and `local`; `registry` joins them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, TypeVar, get_args

from msgspec import Struct

from domain.agent.wake_queue import Reason
from domain.errors import Refused
from domain.journal.day import DayFact
from domain.journal.task import TaskFact
from domain.log import canonical
from domain.log.keys import key
from domain.scaffold import Features, is_since
from domain.text import cut, fold, squeeze
from domain.tools.arguments import Arguments
from domain.tools.snapshot import Snapshot, SnapshotEntry, SnapshotItem

SHOWN_LENGTH_MAX = 80
"""So much of a text that is not ours is repeated in a message."""

OF_NO_CATEGORY = ("own_day", "own_template")
"""Scopes whose calls are about no category, and rest on no quote."""

SKIPPING = ("redundant", "limit")
"""An element with one of these codes is skipped; with any other, it is refused."""

P = TypeVar("P", SnapshotItem, SnapshotEntry)
Facts = tuple[TaskFact | DayFact, ...]
DayFacts = tuple[DayFact, ...]


class ToolRefusal(Struct, frozen=True):
    """A tool's no: `code` is one of `errors.TOOL_CODES`, `message` is for the model."""

    code: str
    message: str


class Proposal(Struct, frozen=True):
    """One change for the person to decide; the fields are those of `changes.ItemProposed`."""

    tool: str
    arguments: str
    summary: str
    fingerprint: str
    display: str
    base: str
    touches: tuple[str, ...] = ()
    because: str = ""
    because_at: str = ""


class Plan(Struct, frozen=True):
    """What a deferred call comes to. `skipped` and `refused` are texts for the model: what is
    not needed (redundant, over a limit), and what cannot be (unknown ids, sovereignty). `codes`
    are those of both, in the order of the call."""

    proposals: tuple[Proposal, ...] = ()
    skipped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


Remedy = Literal["make_room", "allow_label", "give_reason", "other_times"]
"""What a person can do about a refusal; how, each screen says in its own words."""


class ToolEffect(Struct, frozen=True, kw_only=True):
    """What a change does to a task, and how a person is shown it.

    `facts` checks every rule; `values` are what it would change, for `base`; `touches` names
    them as `Snapshot.touched` does. `now` tells the value that it would replace, from decoded
    JSON; None for an addition, as what it gives. `parts`: the values that it replaces, where
    those are finer than `touches`. `form`: the arguments that a person may edit, with the label
    of each. `remedies`: what helps where it is refused with this code. `others`: the further
    tasks that it writes to, where a new one would have the given id; then `facts` checks the
    rules of the first task alone, and `domain.handlers.journal` makes what is written.
    `is_told_whole`: two with one summary are one proposal."""

    facts: Callable[[Snapshot, Any, str], Facts | ToolRefusal]
    values: Callable[[Snapshot, Any], object]
    touches: Callable[[Any], tuple[str, ...]]
    summary: Callable[[Snapshot, Any], str]
    now: Callable[[Snapshot, Mapping[str, Any]], str | None] | None = None
    parts: Callable[[Any], tuple[str, ...]] | None = None
    form: Mapping[str, str] = {}
    remedies: Mapping[str, Remedy] = {}
    others: Callable[[Any, str], tuple[str, ...]] | None = None
    is_told_whole: bool = True


class Exploded(Struct, frozen=True):
    """The elements of a batch that become items, and why the others do not."""

    accepted: tuple[Struct, ...]
    refusals: tuple[ToolRefusal, ...]


def redundant(what: str) -> ToolRefusal:
    """The task is so already."""
    return ToolRefusal("redundant", what)


def found(parts: Iterable[P], wanted: str, what: str) -> P | ToolRefusal:
    """The part of a task with that id, or that it has none."""
    missing = ToolRefusal("not_found", f"This task has no {what} with the id {quoted(wanted)}.")
    return next((one for one in parts if one.id == wanted), missing)


def planned(proposals: Iterable[Proposal], refusals: Collection[ToolRefusal]) -> Plan | ToolRefusal:
    """A batch sorted into what is proposed, skipped and refused; redundant, if all of it is."""
    plan = Plan(
        tuple(proposals),
        tuple(no.message for no in refusals if no.code in SKIPPING),
        tuple(no.message for no in refusals if no.code not in SKIPPING),
        tuple(no.code for no in refusals),
    )
    if not plan.proposals and {no.code for no in refusals} == {"redundant"}:
        return redundant(" ".join(plan.skipped))
    return plan


def proposal(tool: str, effect: ToolEffect, snapshot: Snapshot, arguments: Struct) -> Proposal:
    """An accepted change as a person will decide on it."""
    text, summary = canonical.text(arguments), effect.summary(snapshot, arguments)
    rests_on = base(tool, effect.values(snapshot, arguments))
    name = fingerprint(tool, text)
    names = (name, fold(summary) if effect.is_told_whole else name, rests_on)
    return Proposal(tool, text, summary, *names, effect.touches(arguments))


def base(tool: str, values: object) -> str:
    """Digest of the values that a change rests on: equal if and only if they are."""
    return key("base", tool, canonical.text(values))


def fingerprint(tool: str, arguments: str) -> str:
    """Name a proposal by what it does; how sure and why the agent is does not count (SPEC 6).

    >>> sure = fingerprint("assign_task_label", '{"confidence":"high","id":"l1"}')
    >>> sure == fingerprint("assign_task_label", '{"confidence":"medium","id":"l1"}')
    True
    """
    try:
        given = canonical.read(arguments)
    except Refused:
        return key("fingerprint", tool, arguments)
    if isinstance(given, dict):
        given = {name: given[name] for name in given if name not in ("confidence", "reason")}
    return key("fingerprint", tool, canonical.text(given))


def quoted(text: str) -> str:
    """A text that is not ours, in a message: in one line, in quotes, and not too long.

    >>> quoted("buy\\nmilk")
    '"buy milk"'
    """
    return f'"{cut(squeeze(text), length_max=SHOWN_LENGTH_MAX)}"'


# ----------------------------------------------------------------------------- the record of a tool

Mode = Literal["immediate", "deferred", "local", "read"]

CLIENT = "client"
REASONS: tuple[str, ...] = tuple(one for one in get_args(Reason) if one != CLIENT)
CAPABILITIES: Mapping[str, tuple[str, ...]] = {
    "task_agent": (
        "task.propose", "task.write_language", "labels.propose", "checklist.propose",
        "report.write", "journal.write", "proposals.retract", "category.read", "journal.read",
        "time.propose", "link.propose", "task.create", "loop.write",
    ),
    "day_agent": (
        "day.propose", "report.write", "journal.write", "proposals.retract", "loop.write",
        "agent.ask",
    ),
    "template_improver": (
        "template.propose", "report.write", "journal.write", "proposals.retract",
    ),
    "category_agent": (
        "task.propose_new", "report.write", "journal.write", "proposals.retract", "category.read",
        "journal.read", "loop.write", "agent.ask",
    ),
}  # fmt: skip
"""What each kind of agent may do; a kind that is not here may do nothing."""


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as it is offered, and what a call of it comes to.

    `brief`: what it is and when to call it, as scaffold 3 and later say it; before, `description`
    and `hint`, the latter in the role text and empty where that speaks of it elsewhere. `since`:
    the scaffold that first had it. `shape`: its arguments, where older wakes had others. `aliases`:
    other names that models use. `applies`: whether it could change a task as it was captured; None:
    always. `immediate_if`: what makes a deferred call an immediate one. `effect`: of a call, or of
    each element of a batch; local tools and reads have none. `array`, `singular`, `element`,
    `explode`: of a batch, the argument that explodes, the name and arguments of each element's
    change, what chooses among them; `element` alone: the arguments of the change, where they hold
    more than those of the call, as an adapter resolves it or as `fills` takes it from the snapshot.
    `output`: the Struct or fact that a call comes to. `entities`,
    `tokens`: what it changes. `scope`: how far it reaches. `idempotency`: what makes a repeat
    harmless."""

    name: str
    description: str
    arguments: type[Arguments]
    capabilities: tuple[str, ...]
    brief: str
    hint: str = ""
    effect: ToolEffect | None = None
    mode: Mode = "deferred"
    since: int = 1
    shape: Callable[[Features], type[Arguments]] | None = None
    aliases: tuple[str, ...] = ()
    applies: Callable[[Snapshot], bool] | None = None
    output: str = "domain.tools.base:Plan"
    reasons: tuple[str, ...] = REASONS
    version: int = 1
    immediate_if: Literal["", "title_is_empty"] = ""
    array: str = ""
    singular: str = ""
    element: type[Arguments] | None = None
    explode: Callable[[Snapshot, Any], Exploded | ToolRefusal] | None = None
    fills: Callable[[Snapshot, Any], Struct] | None = None
    idempotency: Literal[
        "operation_id", "fingerprint", "last_call_wins", "wake", "changes_nothing"
    ] = "fingerprint"
    scope: Literal[
        "own_task", "own_wake", "own_proposals", "two_tasks", "own_past", "allowed_categories",
        "own_day", "own_category", "tasks_shown", "own_template",
    ] = "own_task"  # fmt: skip
    entities: tuple[str, ...] = ("task",)
    tokens: tuple[str, ...] = ("TASK",)
    risk: Literal["low", "medium", "high"] = "low"

    @property
    def wake_reasons(self) -> tuple[str, ...]:
        """Why a wake may be in which it is offered: who was not asked may only propose."""
        return (*self.reasons, CLIENT) if self.mode == "deferred" else self.reasons

    def is_in(self, scaffold: int) -> bool:
        """Whether wakes of a scaffold know it."""
        return is_since(self.since, scaffold)

    def asked(self, features: Features) -> type[Arguments]:
        """The arguments of a call in a wake."""
        return self.shape(features) if self.shape else self.arguments

"""What can be done with a tool's name: offer it, read its arguments, plan it, apply it (SPEC 5).

A *tool* is what the model calls, a *change* its singular form, which a person decides on and an
operation applies. Both sides ask the same record, so a rule holds when something is proposed
and again when it is applied to the task as it is then."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from domain.errors import Refused
from domain.journal.catalog import CATALOG
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.state import MAIN, LogState
from domain.log.wire import Imported
from domain.ports import ToolSpec
from domain.scaffold import FEATURES, SCAFFOLD, Features, features_of
from domain.text import squeeze
from domain.tools import (
    arguments,
    category,
    days,
    decoding,
    followups,
    improving,
    local,
    task_tools,
    times,
)
from domain.tools import base as b
from domain.tools.arguments import Arguments, Schema, SuppressLabel
from domain.tools.base import CAPABILITIES, Facts, Mode, Plan, Tool, ToolEffect, ToolRefusal
from domain.tools.decoding import decoded
from domain.tools.snapshot import Snapshot, snapshot

T = TypeVar("T")

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (  # as in SPEC 5
        *task_tools.FIELD_TOOLS,
        *task_tools.LABEL_TOOLS,
        *task_tools.CHECKLIST_TOOLS,
        *followups.TOOLS,
        *times.TOOLS,
        *days.TOOLS,
        *category.TOOLS,
        *improving.TOOLS,
        *local.TOOLS,
        *local.LOOKUP_TOOLS,
    )
}
ALIASES: Mapping[str, str] = {alias: tool.name for tool in TOOLS.values() for alias in tool.aliases}


class ToolChange(NamedTuple):
    """A change's arguments and its effect."""

    arguments: type[Arguments]
    effect: ToolEffect


CHANGES: Mapping[str, ToolChange] = {
    **{
        tool.singular or tool.name: ToolChange(tool.element or tool.arguments, tool.effect)
        for tool in TOOLS.values()
        if tool.effect is not None
    },
    "suppress_label": ToolChange(SuppressLabel, task_tools.SUPPRESS),
    "lift_suppression": ToolChange(SuppressLabel, task_tools.ALLOW),
}
"""By the name that an item bears; the last two are no tool's."""
PROPOSED = {one.singular or one.name for one in TOOLS.values() if one.mode == "deferred"}
"""The names of items that calls become, as a rule."""


# ---------------------------------------------------------------------------------- offering


def canonical_name(name: str, scaffold: int) -> str | None:
    """The name of a tool that the model may call, aliases resolved; None if there is none, or
    none yet in a wake of this scaffold.

    >>> canonical_name("set_task_estimate", 1)
    'update_task_estimate'
    """
    name = ALIASES.get(name, name)
    return name if name in TOOLS and TOOLS[name].is_in(scaffold) else None


def offered(
    agent_kind: str,
    reason: str,
    scaffold: int,
    snapshot: Snapshot | None = None,
    *,
    has_open: bool = True,
) -> tuple[str, ...]:
    """The tools of a wake: what its scaffold has, the kind may do and the reason allows, in the
    order of SPEC 5; as a rule without those that have nothing to work on.

    `snapshot`: the task as it was captured; None: whatever it is like. `has_open`: whether the
    agent has open proposals to take back."""
    may = set(CAPABILITIES.get(agent_kind, ()))
    found = [
        tool.name
        for tool in TOOLS.values()
        if tool.is_in(scaffold)
        and reason in tool.wake_reasons
        and may.issuperset(tool.capabilities)
    ]
    if snapshot is not None and features_of(scaffold).offers_by_task:
        found = [name for name in found if _applies(TOOLS[name], snapshot, has_open)]
        if reason == b.CLIENT:  # what would act at once is none
            found = [name for name in found if mode_of(name, snapshot) == "deferred"]
    return tuple(found)


def _applies(tool: Tool, snapshot: Snapshot, has_open: bool) -> bool:
    if tool.scope == "own_proposals":
        return has_open
    return tool.applies is None or tool.applies(snapshot)


def specs(names: Sequence[str], features: Features = FEATURES[1]) -> tuple[ToolSpec, ...]:
    """Tools as a model is offered them in a wake. Raises KeyError for a name that is none."""
    tools = [TOOLS[name] for name in names]
    return tuple(
        ToolSpec(
            one.name, one.brief if features.is_brief else one.description, _schema(one, features)
        )
        for one in tools
    )


def _schema(tool: Tool, features: Features) -> Schema:
    shape = tool.asked(features)
    plain = arguments.brief(shape) if features.is_brief else arguments.public(shape)
    return decoding.with_quote(tool, plain, features) if decoding.asks(tool, features) else plain


def hints(scaffold: int) -> str:
    """When to call which tool, as the role text of a scaffold says it."""
    names: dict[str, list[str]] = {}
    for tool in TOOLS.values():
        if tool.hint and tool.is_in(scaffold):
            names.setdefault(tool.hint, []).append(f"`{tool.name}`")
    return "\n".join(f"- {', '.join(names[hint])}: {hint}" for hint in names)


def mode_of(tool: str, snapshot: Snapshot) -> Mode:
    """How a call is carried out. Raises KeyError for a name that is no tool's."""
    found = TOOLS[tool]
    if found.immediate_if == "title_is_empty" and not squeeze(snapshot.title):
        return "immediate"
    return found.mode


def proposes(tool: str) -> bool:
    """Whether calls of a tool, by its own name, become items for the person, as a rule."""
    return tool in TOOLS and TOOLS[tool].mode == "deferred"


def is_read(tool: str) -> bool:
    """Whether calls of a tool, by its own name, look something up and change nothing."""
    return tool in TOOLS and TOOLS[tool].mode == "read"


# ---------------------------------------------------------------------------------- reading


def decode(
    tool: str, arguments: object, features: Features = FEATURES[SCAFFOLD]
) -> Struct | ToolRefusal:
    """The arguments of a call of a tool, by its own name, from JSON that was read. Never raises."""
    if tool not in TOOLS:
        return _unknown(tool)
    return _checked(TOOLS[tool].asked(features), taken(tool, arguments, features)[0])


def taken(tool: str, arguments: object, features: Features) -> tuple[object, str]:
    """The arguments as `decode` takes them; and what the model is told of that, empty where they
    are as they were asked for."""
    return _taken(TOOLS[tool].asked(features), arguments, features)


def _taken(shape: type[Struct], arguments: object, features: Features) -> tuple[object, str]:
    return decoding.loosened(shape, arguments) if features.takes_loosely else (arguments, "")


def check_edit(tool: str, arguments: object) -> str | ToolRefusal:
    """A person's edited arguments of a change, as canonical JSON."""
    if tool not in CHANGES or not CHANGES[tool].effect.form:
        return _unknown(tool)
    found = _checked(CHANGES[tool].arguments, arguments)
    return found if isinstance(found, ToolRefusal) else canonical.text(found)


def local_times(tool: str, arguments: object, features: Features = FEATURES[1]) -> dict[str, str]:
    """The local times in the JSON of a change, or of a call of it with its quote, by the name of
    each, in their one spelling; none, if it cannot be read. An adapter resolves them and puts them
    in place, see `with_instants`. `features`: of the wake that calls; a change is what it is."""
    shape = CHANGES[tool].arguments if tool in CHANGES else None
    if not shape or not (named := set(_instants(shape).values())):
        return {}
    bare = decoding.parted(TOOLS[tool], arguments)[0]
    if isinstance(found := decoded(shape, _taken(shape, bare, features)[0]), ToolRefusal):
        return {}
    given = msgspec.to_builtins(found)
    return {name: given[name] for name in sorted(named & given.keys())}


def instants_in(tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The instants in the JSON of a change, by the name of the local time that each is of."""
    fields = _instants(CHANGES[tool].arguments) if tool in CHANGES else {}
    return {of: arguments[field] for field, of in fields.items() if field in arguments}


def with_instants(
    tool: str, arguments: Mapping[str, Any], instants: Mapping[str, str]
) -> dict[str, Any]:
    """Arguments of a change with these instants and no others beside its local times."""
    fields = _instants(CHANGES[tool].arguments) if tool in CHANGES else {}
    kept = {name: value for name, value in arguments.items() if name not in fields}
    return kept | {field: instants[of] for field, of in fields.items() if of in instants}


def _resolved(tool: str, arguments: Struct, instants: Mapping[str, str]) -> Struct | ToolRefusal:
    """The change that a call asks for, with the instants that are recorded beside the call."""
    if not _instants(shape := CHANGES[tool].arguments):
        return arguments
    return _checked(shape, with_instants(tool, msgspec.to_builtins(arguments), instants))


@cache
def _instants(shape: type[Arguments]) -> Mapping[str, str]:
    """The fields that hold an instant, and the local time that each is of."""
    known = arguments.rules(shape)["properties"].items()
    return {name: rule["x-instant-of"] for name, rule in known if "x-instant-of" in rule}


def _checked(shape: type[Arguments], arguments: object) -> Struct | ToolRefusal:
    found = decoded(shape, arguments)
    if isinstance(found, ToolRefusal) or not (problem := found.problem()):
        return found
    return ToolRefusal("invalid_arguments", problem)


def _change(tool: str, arguments: str) -> tuple[ToolEffect, Struct] | ToolRefusal:
    if (change := CHANGES.get(tool)) is None:
        return _unknown(tool)
    try:
        given = canonical.read(arguments)
    except Refused as error:
        return ToolRefusal("invalid_json", error.whole)
    found = _checked(change.arguments, given)
    return found if isinstance(found, ToolRefusal) else (change.effect, found)


def _asked(tool: str, arguments: str, ask: Callable[[ToolEffect, Any], T], unread: T) -> T:
    """What the effect of a change says of it, or `unread`."""
    change = _change(tool, arguments)
    return unread if isinstance(change, ToolRefusal) else ask(*change)


def _unknown(tool: str) -> ToolRefusal:
    return ToolRefusal("unknown_tool", f"There is no tool {b.quoted(tool)}.")


# ------------------------------------------------------------------------ planning and applying

DELETED = ToolRefusal("not_found", "The task was deleted.")


def plan(
    tool: str, snapshot: Snapshot, arguments: Struct, instants: Iterable[tuple[str, str]] = ()
) -> Plan | ToolRefusal:
    """What a deferred call would change, as items for the person to decide. `arguments`: as
    `decode` made them; `instants`: of the local times in them, as recorded beside the call."""
    if snapshot.is_deleted:
        return DELETED
    record = TOOLS.get(tool)
    if record is None or record.effect is None:
        return _unknown(tool)
    if record.explode is not None:
        if isinstance(exploded := record.explode(snapshot, arguments), ToolRefusal):
            return exploded
        name, effect = record.singular, record.effect
        items = (b.proposal(name, effect, snapshot, one) for one in exploded.accepted)
        return b.planned(items, exploded.refusals)
    if isinstance(wanted := _resolved(tool, arguments, dict(instants)), ToolRefusal):
        return wanted
    wanted = record.fills(snapshot, wanted) if record.fills else wanted
    if isinstance(answer := record.effect.facts(snapshot, wanted, ""), ToolRefusal):
        return answer
    return Plan((b.proposal(tool, record.effect, snapshot, wanted),))


def apply(tool: str, snapshot: Snapshot, arguments: str, by: str) -> Facts | ToolRefusal:
    """The facts of one change to the live task, every rule checked again. `arguments`: JSON, as a
    proposal or `check_edit` wrote it, as in all that follows."""
    if snapshot.is_deleted:
        return DELETED
    if isinstance(change := _change(tool, arguments), ToolRefusal):
        return change
    effect, given = change
    return effect.facts(snapshot, given, by)


def read(tool: str, arguments: str) -> Struct | ToolRefusal:
    """The arguments of a change."""
    change = _change(tool, arguments)
    return change if isinstance(change, ToolRefusal) else change[1]


def seen_now(
    world: LogState, task: str, tool: str, arguments: str, position: int, at: str = ""
) -> Snapshot:
    """What a change would be applied to, as the journal stands in a world: its task; of a change of
    a day, which is no task's, that day and the open task that it names; of a task that is to be
    made, its category, and its id where it is there."""
    if isinstance(given := read(tool, arguments), category.NewTask):
        is_there = world.load(TASK, task).is_there if task else False
        return Snapshot(task if is_there else "", position, "", "", category=given.category)
    if task:
        return snapshot(world.load(TASK, task), world.load(CATALOG, MAIN), position, at)
    return days.seen_now(world, given, position)


def task_of(task: str, tool: str, arguments: str) -> str:
    """The task that a change is about: its set's, or, of a change of a day, the one that it names.
    Empty where there is none."""
    return task or next(iter(days.tasks_named(read(tool, arguments))), "")


def days_of(task: str, tool: str, arguments: str) -> tuple[str, ...]:
    """The day that a change which is no task's is about."""
    return () if task else (getattr(read(tool, arguments), "day", ""),)


def makes_task(tool: str) -> bool:
    """Whether a change makes the task that it is applied to."""
    return tool == category.CREATE


def is_over_two(tool: str) -> bool:
    """Whether a change writes to a second task."""
    return tool in CHANGES and CHANGES[tool].effect.others is not None


def others(tool: str, arguments: str, fresh: str) -> tuple[str, ...]:
    """The further tasks that a change writes to; none, if it has but one or cannot be read.
    `fresh`: the id of the task that it would make."""

    def ask(effect: ToolEffect, given: Any) -> tuple[str, ...]:
        return effect.others(given, fresh) if effect.others else ()

    return _asked(tool, arguments, ask, ())


# ------------------------------------------------------------------------ what a change is about


def base(tool: str, snapshot: Snapshot, arguments: str) -> str:
    """Digest of the values that a change would change; of nothing, if it cannot be read."""
    values = _asked(tool, arguments, lambda effect, given: effect.values(snapshot, given), None)
    return b.base(tool, values)


def touches(tool: str, arguments: str) -> tuple[str, ...]:
    """The fields or entities that a change is about, spelled as in `Snapshot.touched`; of a
    checklist item ``item:<id>``. None, if it cannot be read."""
    return _asked(tool, arguments, lambda effect, given: effect.touches(given), ())


TEXTS = ("title", "description", "notes")
"""The fields, as in `Snapshot.touched`, in which somebody says something."""


def replaced_by(tool: str, arguments: str) -> tuple[str, ...]:
    """The values that a change gives another one, each one thing that a task has once; none of
    an addition, or if it cannot be read."""

    def ask(effect: ToolEffect, given: Any) -> tuple[str, ...]:
        return (effect.parts or effect.touches)(given) if effect.now else ()

    return _asked(tool, arguments, ask, ())


def last_touched(snapshot: Snapshot, touches: Sequence[str]) -> int:
    """The journal's `n` at which a person or import last touched any of these; 0 if never."""
    return max(_touched(snapshot, touches), default=0)


def is_news(snapshot: Snapshot, seen: Sequence[Imported], touches: Sequence[str]) -> bool:
    """Whether a person or import touched any of these in an append that is not among what was
    `seen` of the machines that share the journal."""
    known, fields = {one.replica: one.n for one in seen}, set(_touched(snapshot, touches))
    return any(one.n in fields and one.n > known.get(one.replica, 0) for one in snapshot.wrote)


def _touched(snapshot: Snapshot, touches: Sequence[str]) -> Iterator[int]:
    """When each of these was touched last; 0: never."""
    known = {touched.field: touched.n for touched in snapshot.touched}
    known |= {f"item:{item.id}": item.touched for item in snapshot.items}
    known |= {f"entry:{one.id}": one.touched for one in snapshot.time}
    known["time"] = max((one.touched for one in snapshot.time), default=0)
    return (known.get(field, 0) for field in touches)


def summary(tool: str, snapshot: Snapshot, arguments: str) -> str:
    """A change in words for a person; the tool's name, if its arguments cannot be read."""
    return _asked(tool, arguments, lambda effect, given: effect.summary(snapshot, given), tool)


def present(tool: str, snapshot: Snapshot, arguments: Mapping[str, Any]) -> str | None:
    """The value that a change of these decoded arguments would replace, in words; None for an
    addition."""
    change = CHANGES.get(tool)
    return change.effect.now(snapshot, arguments) if change and change.effect.now else None

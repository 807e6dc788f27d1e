"""What can be done with a tool's name: offer it, read its arguments, plan it, apply it (SPEC 5).

A *tool* is what the model calls, a *change* its singular form, which a person decides on and an
operation applies. Both sides ask the same record, so a rule holds when something is proposed
and again when it is applied to the task as it is then.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from domain import canonical
from domain.errors import Refused
from domain.ports import ToolSpec
from domain.text import squeeze
from domain.tools import base as b
from domain.tools import checklist, fields, labels, local, reads, schema
from domain.tools.arguments import Arguments, SuppressLabel
from domain.tools.base import Effect, Facts, Plan, Refusal
from domain.tools.decoding import decoded
from domain.tools.definitions import CAPABILITIES, Mode, Tool
from domain.tools.snapshot import Snapshot

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (*fields.TOOLS, *labels.TOOLS, *checklist.TOOLS, *local.TOOLS, *reads.TOOLS)
}
ALIASES: Mapping[str, str] = {alias: tool.name for tool in TOOLS.values() for alias in tool.aliases}


class Change(NamedTuple):
    """A change's arguments and its effect."""

    arguments: type[Arguments]
    effect: Effect


CHANGES: Mapping[str, Change] = {
    **{
        tool.singular or tool.name: Change(tool.element or tool.arguments, tool.effect)
        for tool in TOOLS.values()
        if tool.effect is not None
    },
    "suppress_label": Change(SuppressLabel, labels.SUPPRESS),
}
"""By the name that an item bears; the last one is no tool's."""


# ---------------------------------------------------------------------------------- offering


def canonical_name(name: str, scaffold: int) -> str | None:
    """The name of a tool that the model may call, aliases resolved; None if there is none, or
    none yet in a wake of this scaffold.

    >>> canonical_name("set_task_estimate", 1)
    'update_task_estimate'
    """
    name = ALIASES.get(name, name)
    return name if name in TOOLS and TOOLS[name].since <= scaffold else None


def offered(agent_kind: str, reason: str, scaffold: int) -> tuple[str, ...]:
    """The tools of a wake: what its scaffold has, the kind may do and the reason allows, in the
    order of SPEC 5."""
    may = set(CAPABILITIES.get(agent_kind, ()))
    return tuple(
        tool.name
        for tool in TOOLS.values()
        if tool.since <= scaffold and reason in tool.reasons and may.issuperset(tool.capabilities)
    )


def specs(names: Sequence[str]) -> tuple[ToolSpec, ...]:
    """Tools as a model is offered them. Raises KeyError for a name that is none."""
    tools = [TOOLS[name] for name in names]
    return tuple(
        ToolSpec(tool.name, tool.description, schema.public(tool.arguments)) for tool in tools
    )


def hints(scaffold: int) -> str:
    """When to call which tool, as the role text of a scaffold says it."""
    names: dict[str, list[str]] = {}
    for tool in TOOLS.values():
        if tool.hint and tool.since <= scaffold:
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


def decode(tool: str, arguments: object) -> Struct | Refusal:
    """The arguments of a call of a tool, by its own name, from JSON that was read; never raises."""
    return _checked(TOOLS[tool].arguments, arguments) if tool in TOOLS else _unknown(tool)


def check_edit(tool: str, arguments: object) -> str | Refusal:
    """A person's edited arguments of a change, as canonical JSON."""
    if tool not in CHANGES or not CHANGES[tool].effect.form:
        return _unknown(tool)
    found = _checked(CHANGES[tool].arguments, arguments)
    return found if isinstance(found, Refusal) else canonical.text(found)


def _checked(shape: type[Arguments], arguments: object) -> Struct | Refusal:
    found = decoded(shape, arguments)
    if isinstance(found, Refusal) or not (problem := found.problem()):
        return found
    return Refusal("invalid_arguments", problem)


def _change(tool: str, arguments: str) -> tuple[Effect, Struct] | Refusal:
    change = CHANGES.get(tool)
    if change is None:
        return _unknown(tool)
    try:
        given = canonical.read(arguments)
    except Refused as error:
        return Refusal("invalid_json", error.whole)
    found = _checked(change.arguments, given)
    return found if isinstance(found, Refusal) else (change.effect, found)


def _unknown(tool: str) -> Refusal:
    return Refusal("unknown_tool", f"There is no tool {b.quoted(tool)}.")


# ------------------------------------------------------------------------ planning and applying


def plan(tool: str, snapshot: Snapshot, arguments: Struct) -> Plan | Refusal:
    """What a deferred call would change, as items for the person to decide."""
    if snapshot.is_deleted:
        return _deleted()
    record = TOOLS.get(tool)
    if record is None or record.effect is None:
        return _unknown(tool)
    if record.explode is not None:
        exploded = record.explode(snapshot, arguments)
        if isinstance(exploded, Refusal):
            return exploded
        name, effect = record.singular, record.effect
        items = (b.proposal(name, effect, snapshot, one) for one in exploded.accepted)
        return b.planned(items, exploded.refusals)
    answer = record.effect.facts(snapshot, arguments, "")
    if isinstance(answer, Refusal):
        return answer
    return Plan((b.proposal(tool, record.effect, snapshot, arguments),))


def apply(tool: str, snapshot: Snapshot, arguments: str, by: str) -> Facts | Refusal:
    """The facts of one change to the task as it is now, every rule checked again.

    Args:
        tool: A change's name, or ``suppress_label``, which only operations use.
        snapshot: The live task.
        arguments: JSON, as a proposal or `check_edit` wrote it.
        by: Who the facts say did it.
    """
    if snapshot.is_deleted:
        return _deleted()
    if isinstance(change := _change(tool, arguments), Refusal):
        return change
    effect, given = change
    return effect.facts(snapshot, given, by)


def _deleted() -> Refusal:
    return Refusal("not_found", "The task was deleted.")


# ------------------------------------------------------------------------ what a change is about


def base(tool: str, snapshot: Snapshot, arguments: str) -> str:
    """Digest of the values that a change would change; of nothing, if it cannot be read."""
    if isinstance(change := _change(tool, arguments), Refusal):
        return b.base(tool, None)
    effect, given = change
    return b.base(tool, effect.values(snapshot, given))


def touches(tool: str, arguments: str) -> tuple[str, ...]:
    """The fields or entities that a change is about, spelled as in `Snapshot.touched`; of a
    checklist item ``item:<id>``. None, if it cannot be read."""
    if isinstance(change := _change(tool, arguments), Refusal):
        return ()
    effect, given = change
    return effect.touches(given)


TEXTS = ("title", "description", "notes")
"""The fields, as in `Snapshot.touched`, in which somebody says something."""


def replaced_by(tool: str, arguments: str) -> tuple[str, ...]:
    """The values that a change gives another one, each one thing that a task has once; none of
    an addition, or if it cannot be read."""
    if isinstance(change := _change(tool, arguments), Refusal) or change[0].now is None:
        return ()
    effect, given = change
    return (effect.parts or effect.touches)(given)


def last_touched(snapshot: Snapshot, touches: Sequence[str]) -> int:
    """The journal's `n` at which a person or import last touched any of these; 0 if never."""
    known = {touched.field: touched.n for touched in snapshot.touched}
    known |= {f"item:{item.id}": item.touched for item in snapshot.items}
    return max((known.get(field, 0) for field in touches), default=0)


def summary(tool: str, snapshot: Snapshot, arguments: str) -> str:
    """A change in words for a person; the tool's name, if its arguments cannot be read."""
    if isinstance(change := _change(tool, arguments), Refusal):
        return tool
    effect, given = change
    return effect.summary(snapshot, given)


def present(tool: str, snapshot: Snapshot, arguments: Mapping[str, Any]) -> str | None:
    """The value that a change would replace, in words; None for an addition.

    Args:
        tool: A change's name.
        snapshot: The task as it is.
        arguments: Decoded JSON.
    """
    change = CHANGES.get(tool)
    return change.effect.now(snapshot, arguments) if change and change.effect.now else None

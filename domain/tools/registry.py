"""What can be done with a tool's name: offer it, read its arguments, plan it, apply it (SPEC 5).

A *tool* is what the model calls, a *change* its singular form, which a person decides on and an
operation applies. Both sides ask the same handlers, so a rule holds when something is proposed
and again when it is applied to the task as it is then.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from domain import canonical
from domain.errors import Refused
from domain.ports import ToolSpec
from domain.text import squeeze
from domain.tools import arguments as a
from domain.tools import base as b
from domain.tools import checklist, fields, labels, schema
from domain.tools.base import Exploded, Facts, Handler, Plan, Refusal, fingerprint
from domain.tools.decoding import decoded
from domain.tools.definitions import ALIASES, CAPABILITIES, TOOLS, Mode, Tool
from domain.tools.snapshot import Snapshot

__all__ = [
    "TOOLS",
    "Tool",
    "apply",
    "base",
    "canonical_name",
    "check_edit",
    "decode",
    "denied",
    "fingerprint",
    "last_touched",
    "mode_of",
    "offered",
    "plan",
    "specs",
    "summary",
    "touches",
]

_HANDLERS: Mapping[str, Handler] = {**fields.FIELDS, **labels.LABELS, **checklist.CHECKLIST}
_EXPLODE: Mapping[str, Callable[[Snapshot, Any], Exploded | Refusal]] = {
    "assign_task_labels": labels.explode,
    "add_multiple_checklist_items": checklist.explode_added,
    "update_checklist_items": checklist.explode_updates,
}
_CHECKS: Mapping[type[Struct], Callable[[Any], Refusal | None]] = {
    a.SetTaskStatus: fields.check_status,
    a.SetTaskLanguage: fields.check_language,
    a.UpdateChecklistItem: checklist.check_update,
    a.UpdateChecklistItems: checklist.check_updates,
}
_EDITABLE = frozenset(
    tool.singular or tool.name for tool in TOOLS.values() if tool.mode == "deferred"
)


# ---------------------------------------------------------------------------------- offering


def canonical_name(name: str) -> str | None:
    """The name of a tool that the model may call, aliases resolved; None if there is none.

    >>> canonical_name("set_task_estimate")
    'update_task_estimate'
    """
    name = ALIASES.get(name, name)
    return name if name in TOOLS else None


def denied(agent_kind: str, reason: str, name: str) -> Refusal | None:
    """Why an agent of this kind may not call a tool in a wake of this reason; None if it may."""
    tool = TOOLS.get(canonical_name(name) or "")
    if tool is None:
        known = ", ".join(offered(agent_kind, reason))
        return Refusal("unknown_tool", f"There is no tool {b.quoted(name)}; known are {known}.")
    if not CAPABILITIES.get(agent_kind, frozenset()).issuperset(tool.capabilities):
        return Refusal("out_of_scope", f"An agent of this kind may not call {tool.name}.")
    if reason not in tool.reasons:
        because = f"{tool.name} may not be called in a wake of reason {b.quoted(reason)}."
        return Refusal("wake_reason_not_allowed", because)
    return None


def offered(agent_kind: str, reason: str) -> tuple[str, ...]:
    """The tools of a wake: what the kind may do and the reason allows, in the order of SPEC 5."""
    return tuple(name for name in TOOLS if denied(agent_kind, reason, name) is None)


def specs(names: Sequence[str]) -> tuple[ToolSpec, ...]:
    """Tools as a model is offered them. Raises KeyError for a name that is none."""
    tools = [TOOLS[name] for name in names]
    return tuple(
        ToolSpec(tool.name, tool.description, schema.public(tool.arguments)) for tool in tools
    )


def mode_of(tool: str, snapshot: Snapshot) -> Mode:
    """How a call is carried out. Raises KeyError for a name that is no tool's."""
    found = TOOLS[tool]
    if found.immediate_if == "title_is_empty" and not squeeze(snapshot.title):
        return "immediate"
    return found.mode


# ---------------------------------------------------------------------------------- reading


def decode(tool: str, arguments: object) -> Struct | Refusal:
    """A call's arguments, from JSON that was read; never raises."""
    name = canonical_name(tool)
    if name is None:
        return _unknown(tool)
    return _checked(TOOLS[name].arguments, arguments)


def check_edit(tool: str, arguments: object) -> str | Refusal:
    """A person's edited arguments of a change, as canonical JSON."""
    if tool not in _EDITABLE:
        return _unknown(tool)
    found = _checked(_HANDLERS[tool].arguments, arguments)
    return found if isinstance(found, Refusal) else canonical.text(found)


def _checked(shape: type[Struct], arguments: object) -> Struct | Refusal:
    found = decoded(shape, arguments)
    if isinstance(found, Refusal) or shape not in _CHECKS:
        return found
    return _CHECKS[shape](found) or found


def _change(tool: str, arguments: str) -> tuple[Handler, Struct] | Refusal:
    handler = _HANDLERS.get(tool)
    if handler is None:
        return _unknown(tool)
    try:
        given = canonical.read(arguments)
    except Refused as error:
        return Refusal("invalid_json", error.whole)
    found = _checked(handler.arguments, given)
    return found if isinstance(found, Refusal) else (handler, found)


def _unknown(tool: str) -> Refusal:
    return Refusal("unknown_tool", f"There is no tool {b.quoted(tool)}.")


# ------------------------------------------------------------------------ planning and applying


def plan(tool: str, snapshot: Snapshot, arguments: Struct) -> Plan | Refusal:
    """What a deferred call would change, as items for the person to decide."""
    if snapshot.is_deleted:
        return _deleted()
    if tool in _EXPLODE:
        exploded = _EXPLODE[tool](snapshot, arguments)
        if isinstance(exploded, Refusal):
            return exploded
        name = TOOLS[tool].singular
        items = (b.proposal(name, _HANDLERS[name], snapshot, one) for one in exploded.accepted)
        return b.planned(items, exploded.refusals)
    if tool not in TOOLS or tool not in _HANDLERS:
        return _unknown(tool)
    answer = _HANDLERS[tool].facts(snapshot, arguments, "")
    if isinstance(answer, Refusal):
        return answer
    return Plan((b.proposal(tool, _HANDLERS[tool], snapshot, arguments),))


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
    change = _change(tool, arguments)
    if isinstance(change, Refusal):
        return change
    handler, given = change
    return handler.facts(snapshot, given, by)


def _deleted() -> Refusal:
    return Refusal("not_found", "The task was deleted.")


# ------------------------------------------------------------------------ what a change is about


def base(tool: str, snapshot: Snapshot, arguments: str) -> str:
    """Digest of the values that a change would change; of nothing, if it cannot be read."""
    change = _change(tool, arguments)
    if isinstance(change, Refusal):
        return b.base(tool, None)
    handler, given = change
    return b.base(tool, handler.values(snapshot, given))


def touches(tool: str, arguments: str) -> tuple[str, ...]:
    """The fields or entities that a change is about, spelled as in `Snapshot.touched`; of a
    checklist item ``item:<id>``. None, if it cannot be read."""
    change = _change(tool, arguments)
    if isinstance(change, Refusal):
        return ()
    handler, given = change
    return handler.touches(given)


def last_touched(snapshot: Snapshot, touches: Sequence[str]) -> int:
    """The journal's `n` at which a person or import last touched any of these; 0 if never."""
    known = {touched.field: touched.n for touched in snapshot.touched}
    known |= {f"item:{item.id}": item.touched for item in snapshot.items}
    return max((known.get(field, 0) for field in touches), default=0)


def summary(tool: str, snapshot: Snapshot, arguments: str) -> str:
    """A change in words for a person; the tool's name, if its arguments cannot be read."""
    change = _change(tool, arguments)
    if isinstance(change, Refusal):
        return tool
    handler, given = change
    return handler.summary(snapshot, given)

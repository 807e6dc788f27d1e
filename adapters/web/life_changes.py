"""What differs between two moments, by what a person had there: a checklist, notes, a report."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from adapters.documents.diffs import NAMES, Difference
from adapters.text.timetravel import NAMES as CALLED
from adapters.text.timetravel import called
from adapters.web.comparing import Later, Part, near_later
from adapters.web.plain_text import bare, compared
from adapters.web.words import clip, plainly

TEXT_MAX = 8_000  # characters of one side
SHOWN_MAX = 200  # changes; the JSON of the page has them all
GROUPS = {"tasks": "Its task", "agents": "The agent", "proposals": "In your inbox"}
AGENT_GROUPS = {"report": "Its report", "journal": "What it noted", "digests": "What it noted"}
FIELDS = {
    "items": "Checklist",
    "notes": "Note",
    "links": "Link",
    "labels": "Label",
    "due_date": "Due",
    "estimate_minutes": "Estimate, minutes",
    "minutes_spent": "Minutes spent",
    "status_reason": "Status, because",
    "tldr": "In short",
    "one_liner": "In one line",
    "content": "The whole report",
    "journal": "Noted",
    "digests": "Summary of notes",
    "lifecycle": "It is",
    "mode": "It wakes",
    "pause_reason": "Paused because",
    "failures": "Failed in a row",
}
OURS = ("lifecycle", "mode")  # fields with words of the log, not of a person
_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")
_TICK = {(False, True): "ticked", (True, False): "no longer ticked"}


class Told(Struct, frozen=True):
    """One change: what it is of, the words that came and went, and what is said after them."""

    what: str
    parts: Sequence[Part] | Later
    after: str = ""


def groups(
    changes: Iterable[Difference], before: Any, after: Any, task: str
) -> list[tuple[str, list[Told]]]:
    """The changes between two worlds, together by what they are of.

    Args:
        changes: As `diff` names them, by their places in the documents of both worlds.
        before: The older world.
        after: The newer one.
        task: The agent's own; another one is called by its title.
    """
    found = dict[str, list[Told]]()
    for one in list(changes)[:SHOWN_MAX]:
        steps = [name or field for name, field in _STEP.findall(one.path)]
        things = list(_along(after, steps)) or list(_along(before, steps))
        group = _group(steps, things, task)
        found.setdefault(group, []).append(_told(one, steps, things))
    return list(found.items())


def _along(world: Any, steps: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The things with a name on the way to a place of a world, the outermost first."""
    for step in steps:
        if isinstance(world, list):
            named = [one for one in world if isinstance(one, dict) and _is(one, step)]
            world = named[0] if named else None
            if named:
                yield named[0]
        else:
            world = world.get(step) if isinstance(world, dict) else None


def _is(thing: dict[str, Any], name: str) -> bool:
    return next((thing[one] for one in NAMES if thing.get(one)), None) == name


def _group(steps: Sequence[str], things: Sequence[dict[str, Any]], task: str) -> str:
    member = steps[2] if len(steps) > 2 else ""
    if steps[0] == "agents" and member in AGENT_GROUPS:
        return AGENT_GROUPS[member]
    if steps[0] == "tasks" and steps[1:2] != [task]:
        return f"The task “{things[0]['title']}”" if things else "Another task"
    return GROUPS.get(steps[0], plainly(steps[0]).capitalize())


def _told(one: Difference, steps: Sequence[str], things: Sequence[dict[str, Any]]) -> Told:
    fields = [step for step in steps[2:] if step in FIELDS]
    name = fields[0] if fields else next(iter(steps[2:3]), "")
    what = FIELDS.get(name, plainly(name).capitalize())
    if len(things) > 1 and one.change == "changed":  # a part of an item, a note, a link
        tick = _TICK.get((one.a, one.b), "") if steps[-1] == "checked" else ""
        if tick:
            return Told(what, [Part("both", called(things[-1]))], tick)
        what = f"{what} “{clip(called(things[-1]), 80)}”"
    match one.change:
        case "added":
            return Told(what, [Part("added", bare(_text(one.b)))])
        case "removed":
            return Told(what, [Part("removed", bare(_text(one.a)))])
        case _:
            sides = (_text(one.a), _text(one.b))
            if steps[-1] in OURS:
                sides = (plainly(sides[0]), plainly(sides[1]))
            return Told(what, near_later(*compared(*sides)))


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict) and not any(value.get(name) for name in CALLED):
        parts = (f"{plainly(name)}: {_text(part)}" for name, part in value.items())
        return clip("; ".join(parts), TEXT_MAX)
    return clip(called(value), TEXT_MAX)

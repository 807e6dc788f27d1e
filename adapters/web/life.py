"""A life as a line: stand at any moment of an agent and see all as it was; compare any two.

What differs is told by what a person had there: a checklist, notes, a report.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from adapters.documents.timetravel import (
    NAMES,
    Difference,
    around,
    at_document,
    worlds_document,
)
from adapters.text.timetravel import NAMES as CALLED
from adapters.text.timetravel import called
from adapters.timetravel.logs_at import NamedMoment, Spot, past_of
from adapters.usecases.time_travel import last_instant, scope_of
from adapters.web import timeline
from adapters.web.agents import agent_by_id
from adapters.web.filters import clip, plainly
from adapters.web.http_types import FormRequest, Page
from adapters.web.plain_text import bare, compared
from adapters.web.site import Site
from adapters.web.text_diff import DiffPart, LazyDiff, near_later
from adapters.web.timeline import LANES, MARKS_MAX, Timeline
from domain.errors import invalid
from projections import inbox
from projections.agents import AgentDocument

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


class ChangeLine(Struct, frozen=True):
    """One change: what it is of, the words that came and went, and what is said after them."""

    what: str
    parts: Sequence[DiffPart] | LazyDiff
    after: str = ""


def groups(
    changes: Iterable[Difference], before: Any, after: Any, task: str
) -> list[tuple[str, list[ChangeLine]]]:
    """The changes between two worlds, as `diff` names them, together by what they are of. `task`:
    the agent's own; another one is called by its title.
    """
    found = dict[str, list[ChangeLine]]()
    for one in list(changes)[:SHOWN_MAX]:
        steps = [name or field for name, field in _STEP.findall(one.path)]
        things = list(_along(after, steps)) or list(_along(before, steps))
        group = _group(steps, things, task)
        found.setdefault(group, []).append(_change_line(one, steps, things))
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


def _change_line(
    one: Difference, steps: Sequence[str], things: Sequence[dict[str, Any]]
) -> ChangeLine:
    fields = [step for step in steps[2:] if step in FIELDS]
    name = fields[0] if fields else next(iter(steps[2:3]), "")
    what = FIELDS.get(name, plainly(name).capitalize())
    if len(things) > 1 and one.change == "changed":  # a part of an item, a note, a link
        tick = _TICK.get((one.a, one.b), "") if steps[-1] == "checked" else ""
        if tick:
            return ChangeLine(what, [DiffPart("both", called(things[-1]))], tick)
        what = f"{what} “{clip(called(things[-1]), 80)}”"
    match one.change:
        case "added":
            return ChangeLine(what, [DiffPart("added", bare(_text(one.b)))])
        case "removed":
            return ChangeLine(what, [DiffPart("removed", bare(_text(one.a)))])
        case _:
            sides = (_text(one.a), _text(one.b))
            if steps[-1] in OURS:
                sides = (plainly(sides[0]), plainly(sides[1]))
            return ChangeLine(what, near_later(*compared(*sides)))


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict) and not any(value.get(name) for name in CALLED):
        parts = (f"{plainly(name)}: {_text(part)}" for name, part in value.items())
        return clip("; ".join(parts), TEXT_MAX)
    return clip(called(value), TEXT_MAX)


# ----------------------------------------------------------------------------------------- the page

NEAR = 4  # events on either side that are told in words
INNER = (
    "run_status", "stale", "next_wake_at", "last_wake_at", "wakes", "last_run", "last_outcome",
    "uncovered", "lessons", "total", "run_key", "updated_at",
)  # fmt: skip
"""Parts of a world that say how wakelog works, not what a person had: only the JSON has them."""
_INNER = re.compile(rf"(^|\.)({'|'.join(INNER)})($|\[)")


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/agents/ID/life`: at `?at=N`, or `?nth=K`, or `?on=DAY`; else as it is now."""
    agent = agent_by_id(site, asked.names["id"])
    life = _life(site, agent)
    if asked.query.get("to"):
        return _compared(site, asked, agent, life)
    nth = _nth(site, asked, life)
    moments = life.moments
    stands = moments[nth] if 0 <= nth < len(moments) else None
    place = _place(site, life, asked.number("at") or (stands.n if stands else 0))
    document = at_document(place, _scope(place, agent))
    counts = Counter(one.kind for one in life.events)
    told = ", ".join(f"{counts[kind]} {name.lower()}" for kind, name in LANES)
    is_each = len(life.events) <= MARKS_MAX
    most = 0 if is_each else max(one.events for one in timeline.marks(life.events))
    near = list(enumerate(moments))[max(0, nth - NEAR) : nth + NEAR + 1]
    task = next((one for one in document.tasks if one.id == agent.task_id), None)
    then = next((one for one in document.agents if one.id == agent.id), None)
    return Page(
        "life.html",
        f"The life of {agent.name}",
        {
            "agent_id": agent.id,
            "agent_name": agent.name,
            "moments": len(moments),
            "nth": nth + 1,
            "moment": document,
        },
        {
            "line": timeline.drawn(life, f"The life of {agent.name} as a line: {told}"),
            "lanes": LANES,
            "bar": "Each mark is one event, each step one moment."
            if is_each
            else f"The highest bar stands for {most:,} events.",
            "events": near,
            "stands": stands,
            "nth": nth,
            "first": moments[0] if moments else None,
            "last": moments[-1] if moments else None,
            "task": task,
            "then": then,
            "proposals": [one for one in document.proposals if one.agent_id == agent.id],
            "marked": asked.number("from"),
        },
    )


def _scope(place: NamedMoment, agent: AgentDocument) -> Sequence[str] | None:
    """What is shown of a moment: the agent's task, if it has one, and itself."""
    if not agent.task_id:
        return around(place, "", agent.id)
    return scope_of(place, agent.task_id, is_all=False)


def _life(site: Site, agent: AgentDocument) -> Timeline:
    """All that happened to an agent; it is read again only when more did."""
    log = site.home.services.agents
    streams = [f"{kind}:{agent.id}@{log.replica}" for kind in ("alert", "agent")]
    last = [log.last_fact(one) for one in streams]
    key = (
        *(one.version if one else 0 for one in last),
        *_counts(site, agent),
    )
    kept = site.life
    if kept is not None and (kept.agent_id, kept.key) == (agent.id, key):
        return kept
    past = past_of(site.home)
    streams += [
        f"changes:{one.id}@{log.replica}"
        for one in _sets(site, agent)
        if any(item.decided_at or item.status != "pending" for item in one.items)
    ]
    rows = (row for stream in streams for row in past.agents.rows_of(stream))
    events = timeline.events_of(rows)
    moments = timeline.moments_of(events)
    site.life = Timeline(agent.id, key, events, moments, past, _ends(site))
    return site.life


def _counts(site: Site, agent: AgentDocument) -> tuple[object, ...]:
    """What tells whether anything was decided since."""
    if not agent.task_id:
        return tuple([one.changes for one in _sets(site, agent)])
    views, tabs = site.home.views, inbox.marks(*inbox.TABS)
    return (
        views.count(inbox.VIEW, shelf=agent.task_id),
        views.tallied(inbox.VIEW, tabs, shelf=agent.task_id),
        tuple(views.count(inbox.VIEW, one, shelf=agent.task_id) for one in tabs),
    )


def _sets(site: Site, agent: AgentDocument) -> list[inbox.SetDocument]:
    """The agent's change sets; those of an agent without a task stand on the shelves of days."""
    views = site.home.views
    if not agent.task_id:
        found = (views.get(inbox.VIEW, one) for one in agent.agent.sets)
        return [one for one in found if one is not None]
    sets = views.page(inbox.VIEW, shelf=agent.task_id)
    return [one for one in sets if one.agent_id == agent.id]


def _ends(site: Site) -> tuple[int, int]:
    services = site.home.services
    return services.journal.tail().n, services.agents.tail().n


def _nth(site: Site, asked: FormRequest, life: Timeline) -> int:
    """Which event is stood at; -1: before the first."""
    last = len(life.moments) - 1
    if at := asked.number("at"):
        return timeline.nth_at(life.moments, at)
    if nth := asked.number("nth"):
        return min(last, nth - 1)
    if day := asked.query.get("on", ""):
        until = life.past.agents.until(last_instant(day, site.zone))
        return timeline.nth_at(life.moments, until)
    return last


def _place(site: Site, life: Timeline, n: int) -> NamedMoment:
    """A moment after an append of the agent log."""
    past = life.past
    spot: Spot = past.position("agent", n)
    if (spot.where.journal, spot.where.agent) > life.ends or spot.where.agent > life.ends[1]:
        past = past_of(site.home)  # it was read when there was less
        spot = past.position("agent", n)
        site.life = life._replace(past=past, ends=_ends(site))
    return NamedMoment(site.home, past, spot, past.agents.position(n))


def _compared(site: Site, asked: FormRequest, agent: AgentDocument, life: Timeline) -> Page:
    """What differs between two moments: `?from=N&to=M`."""
    first, last = asked.number("from"), asked.number("to")
    if not first:
        raise invalid("a comparison needs two moments", "name them as ?from=N&to=M")
    places = [_place(site, life, n) for n in sorted((first, last))]
    scope = _scope(places[1], agent)
    document = worlds_document(places[0], places[1], scope)
    told = [one for one in document.changes if not _INNER.search(one.path)]
    before, after = (msgspec.to_builtins(at_document(one, scope)) for one in places)
    values: dict[str, Any] = {
        "agent": agent,
        "groups": groups(told, before, after, agent.task_id),
        "inner": len(document.changes) - len(told),
        "ends": [(place.spot.where.agent, place.spot.where.at) for place in places],
        "command": " ".join(f"agent:{place.spot.where.agent}" for place in places),
    }
    return Page("life_diff.html", f"What changed for {agent.name}", document, values)

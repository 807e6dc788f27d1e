"""A life as a line: stand at any moment of an agent and see all as it was; compare any two."""

import re
from typing import Any

import msgspec

from adapters.actions.looking_back import scope_of
from adapters.actions.places import last_instant
from adapters.documents.diffs import worlds_document
from adapters.documents.timetravel import at_document
from adapters.timetravel.logs_at import Spot
from adapters.timetravel.place import Place, past_of
from adapters.web import life_changes, life_line
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.life_line import LANES, MARKS_MAX, Event, Life
from adapters.web.site import Site
from adapters.web.words import lasting
from domain.errors import Refused
from domain.timestamps import seconds_between
from projections import agents, inbox
from projections.agents import AgentDocument

NEAR = 4  # events on either side that are told in words
INNER = (
    "run_status", "stale", "next_wake_at", "last_wake_at", "wakes", "last_run", "last_outcome",
    "uncovered", "lessons", "total", "run_key", "updated_at",
)  # fmt: skip
"""Parts of a world that say how wakelog works, not what a person had: only the JSON has them."""
_INNER = re.compile(rf"(^|\.)({'|'.join(INNER)})($|\[)")


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/agents/ID/life`: at `?at=N`, or `?nth=K`, or `?on=DAY`; else as it is now."""
    agent = site.home.views.get(agents.VIEW, asked.names["id"])
    if agent is None or not agent.exists:
        raise missing("unknown_agent", "agent", asked.names["id"])
    life = _life(site, agent)
    if asked.query.get("to"):
        return _compared(site, asked, agent, life)
    nth = _nth(site, asked, life)
    moments = life.moments
    stands = moments[nth] if 0 <= nth < len(moments) else None
    place = _place(site, life, _number(asked, "at") or (stands.n if stands else 0))
    document = at_document(place, scope_of(place, agent.task_id, is_all=False))
    told = _told(agent, life.events)
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
            "line": life_line.drawn(life.events, stands.at if stands else "", told, site.zone),
            "lanes": LANES,
            "bar": _bar(life.events),
            "events": near,
            "stands": stands,
            "nth": nth,
            "first": moments[0] if moments else None,
            "last": moments[-1] if moments else None,
            "task": task,
            "then": then,
            "proposals": [one for one in document.proposals if one.agent_id == agent.id],
            "marked": _number(asked, "from"),
        },
    )


def _life(site: Site, agent: AgentDocument) -> Life:
    """All that happened to an agent; it is read again only when more did."""
    log = site.home.services.agents
    streams = [f"{kind}:{agent.id}@{log.replica}" for kind in ("alert", "agent")]
    last = [log.last_fact(one) for one in streams]
    tabs = inbox.marks(*inbox.TABS)
    key = (
        *(one.version if one else 0 for one in last),
        site.home.views.count(inbox.VIEW, shelf=agent.task_id),
        site.home.views.tallied(inbox.VIEW, tabs, shelf=agent.task_id),
        tuple(site.home.views.count(inbox.VIEW, one, shelf=agent.task_id) for one in tabs),
    )
    kept = site.life
    if kept is not None and (kept.agent_id, kept.key) == (agent.id, key):
        return kept
    past = past_of(site.home)
    sets = site.home.views.page(inbox.VIEW, shelf=agent.task_id)
    of_it = [one for one in sets if one.agent_id == agent.id]
    streams += [f"changes:{one.id}@{log.replica}" for one in of_it if _is_decided(one)]
    rows = (row for stream in streams for row in past.agents.rows_of(stream))
    events = life_line.events_of(rows)
    moments = life_line.moments_of(events)
    site.life = Life(agent.id, key, events, moments, past, _ends(site))
    return site.life


def _is_decided(one: inbox.SetDocument) -> bool:
    return any(item.decided_at or item.status != "pending" for item in one.items)


def _ends(site: Site) -> tuple[int, int]:
    services = site.home.services
    return services.journal.tail().n, services.agents.tail().n


def _number(asked: FormRequest, name: str) -> int:
    given = asked.query.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else 0


def _nth(site: Site, asked: FormRequest, life: Life) -> int:
    """Which event is stood at; -1: before the first."""
    last = len(life.moments) - 1
    if at := _number(asked, "at"):
        return life_line.nth_at(life.moments, at)
    if nth := _number(asked, "nth"):
        return min(last, nth - 1)
    if day := asked.query.get("on", ""):
        until = life.past.agents.until(last_instant(day, site.zone))
        return life_line.nth_at(life.moments, until)
    return last


def _place(site: Site, life: Life, n: int) -> Place:
    """A moment after an append of the agent log."""
    past = life.past
    spot: Spot = past.position("agent", n)
    if (spot.where.journal, spot.where.agent) > life.ends or spot.where.agent > life.ends[1]:
        past = past_of(site.home)  # it was read when there was less
        spot = past.position("agent", n)
        site.life = life._replace(past=past, ends=_ends(site))
    return Place(site.home, past, spot, past.agents.position(n))


def _told(agent: AgentDocument, events: list[Event]) -> str:
    counts = (f"{sum(one.kind == kind for one in events)} {name.lower()}" for kind, name in LANES)
    return f"The life of {agent.name} as a line: {', '.join(counts)}"


def _bar(events: list[Event]) -> str:
    """What a mark stands for."""
    if len(events) <= MARKS_MAX:
        return "Each mark is one event."
    seconds = seconds_between(events[0].at, events[-1].at) / life_line.BINS
    most = max(one.events for one in life_line.marks(events))
    return f"Each bar is {lasting(seconds)}; the highest stands for {most:,} events."


def _compared(site: Site, asked: FormRequest, agent: AgentDocument, life: Life) -> Page:
    """What differs between two moments: `?from=N&to=M`."""
    first, last = _number(asked, "from"), _number(asked, "to")
    if not first:
        because = "a comparison needs two moments"
        raise Refused("invalid_value", because=because, instead="name them as ?from=N&to=M")
    places = [_place(site, life, n) for n in sorted((first, last))]
    scope = scope_of(places[1], agent.task_id, is_all=False)
    document = worlds_document(places[0], places[1], scope)
    told = [one for one in document.changes if not _INNER.search(one.path)]
    before, after = (msgspec.to_builtins(at_document(one, scope)) for one in places)
    values: dict[str, Any] = {
        "agent": agent,
        "groups": life_changes.groups(told, before, after, agent.task_id),
        "inner": len(document.changes) - len(told),
        "ends": [(place.spot.where.agent, place.spot.where.at) for place in places],
        "command": " ".join(f"agent:{place.spot.where.agent}" for place in places),
    }
    return Page("life_diff.html", f"What changed for {agent.name}", document, values)

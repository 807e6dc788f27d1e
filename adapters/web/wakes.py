"""The wakes over time: filtered by what they were, sorted, and drawn by day."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from itertools import groupby
from typing import Any, get_args
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.members import Members
from adapters.documents.wakes import WakeLine, wake_document
from adapters.web import charts
from adapters.web.agents import called
from adapters.web.filters import local
from adapters.web.http_types import FormRequest, Page
from adapters.web.site import SCAN_MAX, Site, page_size
from domain.agent.wake_queue import QUIET, Reason
from domain.log.timestamps import instant, moment
from projections import agents, templates, wakes
from projections.wakes import WakeDocument

CHARTED = 1_000  # wakes, the newest
OUTCOMES = ("completed", "failed", "skipped", "superseded")
STATES = ("queued", "waiting", "running")
TEMPLATES_SHOWN = 100  # to choose from
REASONS = get_args(Reason)
FILTERS = ("q", "from", "to", "reason", "outcome", "model", "agent", "template", "sort")
SORTS = {"": "newest first", "longest": "longest first", "turns": "most turns first"}


class WakeRow(WakeLine, frozen=True):
    """A wake of the page `/wakes`; `seconds` is how long it ran, null before its end."""

    agent_name: str
    seconds: float | None


class WakesFound(Struct):
    """The wakes of a page, and the place after which the next page goes on; empty: there is none.
    `looked`: how many were looked through, `is_cut`: no more than that many are."""

    wakes: list[WakeDocument]
    older: str
    looked: int
    is_cut: bool


def show_list(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes`: filtered, and sorted within what was looked through."""
    query, size = asked.query, page_size(asked)
    filters = {name: query.get(name, "") for name in FILTERS}
    is_filtered = any(value for name, value in filters.items() if name not in ("agent", "sort"))
    found = _found(site, filters, query.get("before", ""), size)
    is_first = not query.get("before")
    has_chart = is_first and not is_filtered
    members = Members(site.home)
    rows = [_row(site, one, members) for one in found.wakes]
    known = site.home.views.page(templates.VIEW, newest_first=True, limit=TEMPLATES_SHOWN)
    there = [one.template for one in known if one.template.exists and not one.template.is_deleted]
    return Page(
        "wakes.html",
        "Wakes",
        {
            "wakes": rows,
            "next": asked.after(found.older),
            "looked_through": found.looked,
            "is_cut": found.is_cut,
        },
        {
            **(_chart(site, filters["agent"]) if has_chart else {"drawn": []}),
            "folded": _folded(rows, site.zone, is_all=bool(query.get("all") or filters["sort"])),
            "reasons": REASONS,
            "outcomes": (*OUTCOMES, *STATES),
            "sorts": SORTS,
            "templates": [(one.id, one.name) for one in there],
            "filters": filters,
            "is_filtered": is_filtered,
            "agent": site.home.views.get(agents.VIEW, filters["agent"]),
        },
    )


def lasted(one: WakeDocument) -> float:
    """How many seconds a wake ran; less than none where it has not ended."""
    if not (one.started_at and one.ended_at):
        return -1.0
    return (instant(one.ended_at) - instant(one.started_at)).total_seconds()


_SORTED: dict[str, Callable[[WakeDocument], float]] = {
    "longest": lasted,
    "turns": lambda one: one.turns,
}


def _found(site: Site, filters: Mapping[str, str], before: str, size: int) -> WakesFound:
    """The wakes that a page shows. By another order than that of the log, those of all that were
    looked through, on one page."""
    sort = _SORTED.get(filters["sort"])
    since = day_begins(filters["from"], site.zone)
    until = day_begins(filters["to"], site.zone, 1)
    is_wanted = _wanted(site, filters)
    rows: list[WakeDocument] = []
    older, looked = "", 0
    found = site.newest_first(
        wakes.VIEW,
        wakes.marks(filters["outcome"]),
        filters["agent"],
        before or _place_at(site, until),
    )
    for one in (each for wake in found for each in wake.every):
        is_full = looked == SCAN_MAX or (sort is None and len(rows) >= size)
        if is_full and "@" not in one.run_key:  # else it stands with the one before
            break
        if since and one.queued_at and one.queued_at < since:
            older = ""
            break
        older, looked = older if "@" in one.run_key else one.place, looked + 1
        if (not until or one.queued_at < until) and is_wanted(one):
            rows.append(one)
    else:
        older = ""
    is_cut = looked == SCAN_MAX and bool(older)
    if sort:
        rows, older = sorted(rows, key=sort, reverse=True)[:size], ""
    return WakesFound(rows, older, looked, is_cut)


def day_begins(day: str, zone: str, days: int = 0) -> str:
    """When a day begins at home, or one so many days later, as the log tells times; empty where
    it is no day.

    >>> day_begins("2026-11-17", "Europe/Berlin"), day_begins("soon", "UTC")
    ('2026-11-16T23:00:00.000000Z', '')
    """
    try:
        begin = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)) + timedelta(days=days)
    except (ValueError, OverflowError):
        return ""
    return moment(begin)


def _place_at(site: Site, until: str) -> str:
    """A place before which all wakes stand that were queued before a time, or hardly any more:
    found by halving the log, not by a walk."""
    if not until:
        return ""

    def is_beyond(n: int) -> bool:
        found = site.home.views.page(wakes.VIEW, before=f"{n:012d}", newest_first=True, limit=1)
        return bool(found) and found[0].queued_at >= until

    last = site.home.services.agents.tail().n + 2
    n = bisect_left(range(last), True, key=is_beyond)  # the first one that has one too late
    return f"{max(1, n - 1):012d}"


def _wanted(site: Site, asked: Mapping[str, str]) -> Callable[[WakeDocument], bool]:
    """Whether a wake is what the filters ask for; each agent's words are looked up once."""
    words = asked["q"].casefold().split()

    @cache
    def names(agent_id: str) -> str:
        agent = site.home.views.get(agents.VIEW, agent_id)
        return called(site, agent) if agent else ""

    return lambda one: (
        asked["template"] in ("", one.template_id)
        and asked["reason"] in ("", one.reason)
        and asked["outcome"] in ("", one.outcome, one.state)
        and asked["model"].casefold() in one.model.casefold()
        and all(word in names(one.agent_id) for word in words)
    )


def _row(site: Site, one: WakeDocument, members: Members) -> WakeRow:
    seconds = lasted(one)
    line = asdict(wake_document(site.home, one, members))
    return WakeRow(
        **line, agent_name=site.agent_name(one.agent_id), seconds=None if seconds < 0 else seconds
    )


def _folded(rows: Sequence[WakeRow], zone: str, *, is_all: bool) -> list[tuple[WakeRow, int]]:
    """The rows with a number each: those of a day one after another that met nothing new are one,
    unless all are to be seen."""

    def alike(one: WakeRow) -> tuple[bool, date | str]:
        is_idle = one.error_code in QUIET and not is_all
        return is_idle, local(one.queued_at, zone).date() if is_idle else one.run_key

    return [(ones[0], len(ones)) for ones in ([*group] for _, group in groupby(rows, alike))]


def _chart(site: Site, agent_id: str) -> dict[str, Any]:
    found = site.home.views.page(
        wakes.VIEW, shelf=agent_id or None, newest_first=True, limit=CHARTED
    )
    outcomes: dict[date, Counter[str]] = {}
    reasons: dict[date, Counter[str]] = {}
    for one in (each for wake in found for each in wake.every):
        if not one.queued_at:
            continue
        day = local(one.queued_at, site.zone).date()
        outcomes.setdefault(day, Counter())[one.outcome or one.state] += 1
        reasons.setdefault(day, Counter())[one.reason] += 1
    drawn = [
        _drawn("Outcome", outcomes, (*OUTCOMES, *STATES)),
        _drawn("Reason", reasons, REASONS),
    ]
    return {
        "drawn": drawn if found else [],
        "charted": CHARTED if len(found) == CHARTED else 0,
    }


def _drawn(name: str, counts: dict[date, Counter[str]], kinds: Sequence[str]) -> dict[str, Any]:
    total = sum(counts.values(), Counter[str]())
    seen = [(kind, total[kind]) for kind in kinds if total[kind]]
    chart = charts.days(
        counts, [kind for kind, _ in seen], f"Wakes by day and {name.lower()}", "/wakes"
    )
    return {"name": name, "chart": chart, "seen": seen}

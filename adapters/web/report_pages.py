"""What an agent reported over time: each report, what of two differs, and what one rests on."""

from functools import partial

from msgspec import Struct

from adapters.documents.inbox import place_told
from adapters.documents.wakes import set_of
from adapters.web.agents import known
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.comparing import Later, differences
from adapters.web.plain_text import compared
from adapters.web.reports import ReportBefore
from adapters.web.site import Site, page_size
from projections import reports, wakes
from projections.reports import ReportDocument

SOURCES_SHOWN = 50


class Source(Struct, frozen=True):
    """A quote that a proposal of the report's wake rests on, and where it stands."""

    what: str
    quote: str
    place: str
    at: str
    note: str


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/agents/ID/reports`; `?of=RUN` shows one, `&with=RUN` what differs from another."""
    agent = known(site, asked.names["id"])
    size = page_size(asked, 30)
    before = asked.query.get("before", "")
    found = site.home.views.page(
        reports.VIEW, shelf=agent.id, before=before, newest_first=True, limit=size + 1
    )
    older = found[size - 1].place if len(found) > size else ""
    found = found[:size]
    of = _report(site, agent.id, asked.query.get("of", "")) or (found[0] if found else None)
    earlier = _report(site, agent.id, asked.query.get("with", "")) or _before(site, of)
    pairs = _pairs(site, earlier, of) if of and earlier else []
    return Page(
        "reports.html",
        f"Reports of {agent.name}",
        {
            "agent_id": agent.id,
            "name": agent.name,
            "reports": [_told(site, one) for one in found],
            "of": of.run_key if of else None,
            "with": earlier.run_key if earlier else None,
            "differences": Later(lambda: [part for pair in pairs for part in differences(*pair)]),
            "sources": _sources(site, of) if of else [],
            "next": asked.with_query(before=older) if older else None,
        },
        {
            "of": _told(site, of) if of else None,
            "earlier": _told(site, earlier) if earlier else None,
            "marked": [Later(partial(differences, *compared(*pair))) for pair in pairs],
            "content": _text(site, of) if of else "",
            "older": asked.with_query(before=older) if older else "",
            "newest": asked.with_query(before="") if before else "",
            "task_id": agent.task_id,
        },
    )


def _report(site: Site, agent_id: str, run_key: str) -> ReportDocument | None:
    """A report of the agent by its wake; none where none is named."""
    if not run_key:
        return None
    found = site.home.views.get(reports.VIEW, run_key)
    if found is None or found.agent_id != agent_id:
        raise missing("unknown_wake", "report of this agent from the wake", run_key)
    return found


def _before(site: Site, one: ReportDocument | None) -> ReportDocument | None:
    """The report that one took the place of."""
    if one is None:
        return None
    found = site.home.views.page(
        reports.VIEW, shelf=one.agent_id, before=one.place, newest_first=True, limit=1
    )
    return found[0] if found else None


def _told(site: Site, one: ReportDocument) -> ReportBefore:
    with site.home.services.agents.reading() as world:
        return ReportBefore(one.run_key, one.at, world.text(one.tldr), one.one_liner)


def _text(site: Site, one: ReportDocument) -> str:
    with site.home.services.agents.reading() as world:
        return world.text(one.content)


def _pairs(site: Site, earlier: ReportDocument, of: ReportDocument) -> list[tuple[str, str]]:
    """What is compared, each by itself: what the short form says is often a line of the long."""
    with site.home.services.agents.reading() as world:
        (was, before), (now, after) = (
            (world.text(one.tldr), world.text(one.content)) for one in (earlier, of)
        )
    return [(was, now), ("\n\n", "\n\n"), (before, after)]


def _sources(site: Site, of: ReportDocument) -> list[Source]:
    """The quotes of what the report's wake proposed: a report itself records none."""
    wake = site.home.views.get(wakes.VIEW, of.run_key)
    found = set_of(site.home, wake) if wake else None
    items = found.changes.items if found else ()
    told = [one for one in items if one.because]
    return [
        Source(
            one.summary,
            one.because,
            *place_told(one.because_at or None),
            one.because_at if one.because_at.startswith("note:") else "",
        )
        for one in told[:SOURCES_SHOWN]
    ]

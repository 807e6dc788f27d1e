"""The templates of agents: a list, and one with its versions, who lives on it and their wakes."""

from collections import Counter
from datetime import date
from typing import Any

from adapters.cli.templating import document, templates_of
from adapters.documents.agents import Document
from adapters.web import charts
from adapters.web.asking import Asked, Page, missing
from adapters.web.site import Site
from adapters.web.words import local
from projections import agents, templates, wakes

LISTED = 200
AGENTS_SHOWN = 50
WAKES_EACH = 50  # the newest of each agent that is charted


def show_list(site: Site, asked: Asked) -> Page:
    """The page `/templates`."""
    found = [document(site.home, one) for one in templates_of(site.home)[:LISTED]]
    return Page("templates.html", "Templates", {"templates": found, "next": None})


def show_one(site: Site, asked: Asked) -> Page:
    """The page of a template."""
    known = site.home.views.get(templates.VIEW, asked.names["id"])
    if known is None or known.template.is_deleted:
        raise missing("unknown_template", "template", asked.names["id"])
    told = document(site.home, known.template)
    living = [site.home.views.get(agents.VIEW, one) for one in told["agents"][:AGENTS_SHOWN]]
    told["instances"] = [
        {"id": one.id, "name": one.name, "lifecycle": one.lifecycle, "wakes": one.wakes}
        for one in living
        if one is not None
    ]
    return Page("template.html", known.template.name, told, _charted(site, told))


def _charted(site: Site, told: Document) -> dict[str, Any]:
    """The newest wakes that ran under the template, by day and outcome."""
    counts: dict[date, Counter[str]] = {}
    for one in told["instances"]:
        shelf = site.home.views.page(
            wakes.VIEW, shelf=one["id"], newest_first=True, limit=WAKES_EACH
        )
        for wake in shelf:
            if wake.template_id == told["id"] and wake.outcome:
                day = local(wake.queued_at, site.zone).date()
                counts.setdefault(day, Counter())[wake.outcome] += 1
    seen = sorted({kind for count in counts.values() for kind in count})
    total = Counter[str]()
    for count in counts.values():
        total.update(count)
    return {"chart": charts.days(counts, seen, "Its wakes by day"), "total": total, "seen": seen}

"""The templates of agents: a list, and one with its figures, versions and who lives on it."""

from collections import Counter
from datetime import date
from typing import Any

from msgspec.structs import asdict

from adapters.documents.lessons import ran_of, scope_lines
from adapters.documents.models import model_names
from adapters.documents.tasks import catalog_of
from adapters.documents.templates import document, templates_of
from adapters.text.lessons import ran_words
from adapters.web import charts, disputes
from adapters.web.asking import FormRequest, Page
from adapters.web.figures import FEW, Counted
from adapters.web.lessons import links
from adapters.web.site import Site
from adapters.web.template_edits import known, settings_of
from domain.lessons.lessons import TEMPLATE
from domain.templates.seeds import SEEDS, seed_id
from projections import agents

LISTED = 200
AGENTS_SHOWN = 50
VERSIONS_SHOWN = 50  # the newest, besides the active one
WAIT_SECONDS = 0.6  # a small home is counted when its page is shown


def show_list(site: Site, asked: FormRequest) -> Page:
    """The page `/templates`."""
    counted = _counted(site)
    used = templates_of(site.home)[:LISTED]
    found = [
        {**asdict(document(site.home, one)), "metrics": counted.of(one.id) if counted else None}
        for one in used
    ]
    ids = {one.id for one in used}
    seeds = [
        {"seed": one.seed, "name": one.name, "summary": one.summary}
        for one in SEEDS
        if seed_id(one.seed) not in ids
    ]
    told = {
        "templates": found,
        "next": None,
        "built_in": {"metrics": counted.of(None) if counted else None, "not_in_use": seeds},
        "figures": _told(site, counted),
    }
    more = {
        "models": model_names(site.home),
        "conflicts": disputes.of_none(site, "/templates"),
    }
    return Page("templates.html", "Templates", told, more)


def show_one(site: Site, asked: FormRequest) -> Page:
    """The page of a template."""
    template = known(site, asked.names["id"])
    counted = _counted(site)
    told = document(site.home, template)
    living = [site.home.views.get(agents.VIEW, one) for one in told.agents[:AGENTS_SHOWN]]
    instances = [
        {"id": one.id, "name": one.name, "lifecycle": one.lifecycle, "wakes": one.wakes}
        for one in living
        if one is not None
    ]
    counts = counted.versions if counted else []
    by_version = {one["version"]: one for one in counts if one["template_id"] == template.id}
    versions = [
        {**asdict(one), "named": one.named, "metrics": by_version.get(one.version)}
        for one in told.versions
    ]
    shown = {one.named for one in told.versions[-VERSIONS_SHOWN:]}
    ran = ran_of(site.home, TEMPLATE + template.id)
    page = {
        **asdict(told),
        "lessons": scope_lines(site.home, TEMPLATE + template.id, template.name),
        "ran": ran,
        "versions": versions,
        "instances": instances,
        "metrics": counted.of(template.id) if counted else None,
        "figures": _told(site, counted),
    }
    active = next((one for one in versions if one["active"]), None)
    return Page(
        "template.html",
        template.name,
        page,
        {
            "active": active or {"named": "", "general": "", "report": "", "model": None},
            "models": model_names(site.home),
            "versions": [one for one in versions if one["active"] or one["named"] in shown],
            "ran_words": ran_words(ran),
            "settings": settings_of(site, template),
            "categories": [(one.id, one.name) for one in catalog_of(site.home).categories.values()],
            "few": FEW,
            **links(),
            **_charted(counted, template.id),
        },
    )


def _counted(site: Site) -> Counted | None:
    """The newest figures; a small home's are those of now."""
    site.figures.ask(site.ends())
    if site.figures.is_counting:
        site.give_way(lambda: site.figures.wait(WAIT_SECONDS))
    return site.figures.counted


def _told(site: Site, counted: Counted | None) -> dict[str, Any]:
    """Up to when the figures go."""
    return {
        "at": counted.at if counted else None,
        "is_current": counted is not None and counted.ends == site.ends(),
        "is_counting": site.figures.is_counting,
        "error": (counted.error or None) if counted else None,
    }


def _charted(counted: Counted | None, template_id: str) -> dict[str, Any]:
    """The wakes of the last days that ran on the template, by outcome."""
    counts: dict[date, Counter[str]] = {}
    for one in counted.days if counted else []:
        if one["template_id"] == template_id:
            day = counts.setdefault(date.fromisoformat(one["day"]), Counter())
            day[one["outcome"]] += one["wakes"]
    seen = sorted({kind for count in counts.values() for kind in count})
    total = Counter[str]()
    for count in counts.values():
        total.update(count)
    return {
        "chart": charts.days(counts, seen, "Its wakes by day", f"/wakes?template={template_id}"),
        "rows": charts.rows(counts, seen),
        "total": total,
        "seen": seen,
    }

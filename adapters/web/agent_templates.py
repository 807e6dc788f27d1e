"""The templates of agents: a list, one with its figures and versions, and what a person changes."""

from collections import Counter
from datetime import date
from functools import partial
from typing import Any

from msgspec.structs import asdict

from adapters.documents.inbox import page_of_sets
from adapters.documents.lessons import ran_of, scope_lines
from adapters.documents.models import model_names
from adapters.documents.tasks import catalog_of, category_named
from adapters.documents.templates import (
    VersionDetails,
    named_version,
    template_document,
    templates_of,
    version_name,
    version_owner,
)
from adapters.text.agent_output import ratings_text
from adapters.usecases import improving
from adapters.usecases import templates as use_cases
from adapters.usecases.policy import preview
from adapters.usecases.resolve import nth_key, pick_agent
from adapters.usecases.templates import BUILT_IN, pick_template, unused_seeds
from adapters.web import charts, replica_conflicts
from adapters.web.agents import agent_by_id
from adapters.web.http_types import (
    Clash,
    Form,
    FormRequest,
    Notice,
    Page,
    at_field,
    clash_of,
    in_lines,
    missing,
    stale,
)
from adapters.web.inbox import cards_where
from adapters.web.lessons import links
from adapters.web.metrics import FEW, MetricsSnapshot
from adapters.web.plain_text import compared
from adapters.web.site import Site, check_sure
from adapters.web.text_diff import LazyDiff, differences
from domain.agent.agent import OF_TEMPLATE
from domain.changes.change_set import is_open
from domain.errors import Refused, invalid
from domain.lessons.lessons import TEMPLATE
from domain.templates.template import Template
from projections import agents, templates
from projections.inbox import SetDocument

DIRECTIVES: tuple[tuple[str, str, Form], ...] = (
    ("How to work", "general", "text"),
    ("How to report", "report", "text"),
    ("The model", "model", "line"),
)


def template_by_id(site: Site, template_id: str) -> Template:
    """A template in use by its whole id, or Refused."""
    found = site.home.views.get(templates.VIEW, template_id)
    if found is None or found.template.is_deleted:
        raise missing("unknown_template", "template", template_id)
    return found.template


def create(site: Site, asked: FormRequest) -> Notice:
    """Make a template with its first version."""
    name, given = asked.needed("name").strip(), _directives(asked)
    with at_field("name"):
        use_cases.create_template(site.home, name, given, key=asked.key)
    return Notice(f"Made “{name}”.")


def use(site: Site, asked: FormRequest) -> Notice:
    """Put a template that comes with wakelog in use."""
    pick_template(site.home, asked.needed("seed"), nth_key(asked.key, 1))
    return Notice("It is in use now: assign it to agents, or change it by a version of your own.")


def settings_of(site: Site, template: Template) -> dict[str, str]:
    """A template's name, model and categories as a form holds them: a category's name a line."""
    known = catalog_of(site.home).categories
    names = sorted(known[one].name for one in template.categories if one in known)
    return {"name": template.name, "model": template.model, "categories": "\n".join(names)}


def change(site: Site, asked: FormRequest) -> Notice:
    """Give a template another name, model or categories: what of it the form changes."""
    template = template_by_id(site, asked.names["id"])
    catalog = catalog_of(site.home)
    ticked = [category_named(catalog, one).name for one in asked.lists.get("category", [])]
    given = {name: asked.needed(name).strip() for name in ("name", "model")}
    given["categories"] = in_lines(asked.form.get("categories", "\n".join(sorted(ticked)))).strip()
    now = settings_of(site, template)
    found = site.changes(asked, given, now, forms={"categories": "text"})
    named = [category_named(catalog, one).id for one in given["categories"].split("\n") if one]
    with at_field("model"):
        use_cases.check_directives(use_cases.Directives(model=given["model"]))
    with at_field("name"):
        use_cases.change_template(
            site.home,
            template.id,
            given["name"] if "name" in found.changed else "",
            given["model"] if "model" in found.changed else None,
            tuple(named) if "categories" in found.changed else None,
            asked.key,
        )
    return Notice("Changed.")


def add_version(site: Site, asked: FormRequest) -> Notice:
    """Add a version, active at once, unless another one is than the form was made from."""
    template = template_by_id(site, asked.names["id"])
    given = _directives(asked)
    if _has_moved(site, asked, template):
        return _both(site, asked, template)
    use_cases.add_version(site.home, template.id, given, asked.key)
    return Notice("A new version is active: the next wakes run on it.")


def roll_back(site: Site, asked: FormRequest) -> Notice:
    """Make an old version the active one again."""
    template = template_by_id(site, asked.names["id"])
    given = asked.needed("version")
    try:
        version = version_name(*named_version(given))
    except Refused as refused:
        raise missing("invalid_value", "version", given) from refused
    check_sure(asked, f"making version {version} the active one")
    if _has_moved(site, asked, template):
        because = f"version {_active(template)} was made active meanwhile"
        raise Refused("stale", because=because, instead="look at it, and choose again")
    use_cases.roll_back(site.home, template.id, version, asked.key)
    return Notice(f"Version {version} is active: the next wakes run on it.")


def _active(template: Template) -> str:
    """How the active version is named; empty where there is none."""
    return (
        version_name(template.active, version_owner(template, template.version))
        if template.active
        else ""
    )


def assign(site: Site, asked: FormRequest) -> Notice:
    """Let an agent live on the template, or on the built-in directives again."""
    template = template_by_id(site, asked.names["id"])
    with at_field("agent"):
        agent_id = pick_agent(site.home, asked.needed("agent").strip())
    is_taken_off = asked.form.get("verb") == "remove"
    if is_taken_off and not _lives_on(site, asked, agent_id, template.id):
        because = f"that agent does not live on “{template.name}” any more"
        raise Refused("stale", because=because, instead="look where it lives")
    chosen = "" if is_taken_off else template.id
    use_cases.assign_template(site.home, agent_id, chosen, asked.key)
    name = site.home.services.agent(agent_id).name
    told = "the directives that come with wakelog" if is_taken_off else f"“{template.name}”"
    return Notice(f"“{name}” lives on {told} now.")


def assign_to(site: Site, asked: FormRequest) -> Notice:
    """The same from the agent's page, which names the template."""
    agent = agent_by_id(site, asked.names["id"])
    wanted = asked.needed("template")
    is_built_in = wanted == BUILT_IN
    if not _lives_on(site, asked, agent.id, asked.needed("was").removeprefix(BUILT_IN)):
        raise stale("it was given another template meanwhile", "look at it, and choose again")
    chosen = "" if is_built_in else pick_template(site.home, wanted, nth_key(asked.key, 1))
    use_cases.assign_template(site.home, agent.id, chosen, asked.key)
    return Notice("Set: its next wakes run on it.")


def _lives_on(site: Site, asked: FormRequest, agent_id: str, template_id: str) -> bool:
    """Whether an agent still lives on a template, or the form was sent before."""
    lives_on = site.home.services.agent(agent_id).template
    return lives_on == template_id or site.knows(asked)


def delete(site: Site, asked: FormRequest) -> Notice:
    """Take a template out of use; refused while an agent lives on it."""
    template = template_by_id(site, asked.names["id"])
    check_sure(asked, "deleting the template")
    use_cases.delete_template(site.home, template.id, asked.key)
    return Notice(f"Deleted “{template.name}”.")


def _has_moved(site: Site, asked: FormRequest, template: Template) -> bool:
    """Whether another version is active than the form was made from."""
    return asked.needed("was") != _active(template) and not site.knows(asked)


def _both(site: Site, asked: FormRequest, template: Template) -> Notice:
    """What the version that was made active meanwhile says, and what the form says."""
    version = template.version
    with site.home.services.agents.reading() as world:
        now = {
            "general": world.text(version.general) if version else "",
            "report": world.text(version.report) if version else "",
            "model": version.model if version else "",
        }
    clashes = [
        Clash(label, now[name], asked.needed(name), name, form) for label, name, form in DIRECTIVES
    ]
    differing = [one for one in clashes if in_lines(one.yours).rstrip() != one.now]
    told = clash_of(asked, differing or clashes, {"was": _active(template)})
    told.text = f"Version {_active(template)} was made active meanwhile. {told.text}"
    return told


def _directives(asked: FormRequest) -> use_cases.Directives:
    general, report = (in_lines(asked.needed(name)).rstrip() for name in ("general", "report"))
    given = use_cases.Directives(general, report, asked.form.get("model", "").strip())
    for name, text in given._asdict().items():
        with at_field(name):
            use_cases.check_directives(use_cases.Directives(**{name: text}))
    return given


# ---------------------------------------------------------------------------------------- the pages
# The templates of agents: a list, and one with its figures, versions and who lives on it.

LISTED = 200
AGENTS_SHOWN = 50
VERSIONS_SHOWN = 50  # the newest, besides the active one
WAIT_SECONDS = 0.6  # a small home is counted when its page is shown


def show_list(site: Site, asked: FormRequest) -> Page:
    """The page `/templates`."""
    counted = _counted(site)
    used = templates_of(site.home)
    found = [
        {
            **asdict(template_document(site.home, one)),
            "metrics": counted.of(one.id) if counted else None,
        }
        for one in used[:LISTED]
    ]
    seeds = [
        {"seed": one.seed, "name": one.name, "summary": one.summary} for one in unused_seeds(used)
    ]
    told = {
        "templates": found,
        "next": None,
        "built_in": {"metrics": counted.of(None) if counted else None, "not_in_use": seeds},
        "figures": _told(site, counted),
    }
    more = {
        "models": model_names(site.home),
        "conflicts": replica_conflicts.of_none(site, "/templates"),
    }
    return Page("templates.html", "Templates", told, more)


def show_one(site: Site, asked: FormRequest) -> Page:
    """The page of a template."""
    template = template_by_id(site, asked.names["id"])
    counted = _counted(site)
    told = template_document(site.home, template)
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
        "wording": asdict(improving.wording(site.home, template.id)),
        "proposals": cards_where(
            site, _open_sets(site, template.id), lambda _, item: is_open(item)
        ),
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
            "ran_words": ratings_text(ran),
            "settings": settings_of(site, template),
            "labels": [],
            "categories": [(one.id, one.name) for one in catalog_of(site.home).categories.values()],
            "few": FEW,
            **links(),
            **_charted(counted, template.id),
        },
    )


def _open_sets(site: Site, template_id: str) -> list[SetDocument]:
    """What is proposed for a template, the newest first."""
    found = page_of_sets(site.home, is_all=True, task=OF_TEMPLATE + template_id)[0]
    return [one for one in reversed(found) if one.is_open]


def _counted(site: Site) -> MetricsSnapshot | None:
    """The newest figures; a small home's are those of now."""
    site.figures.ask(site.ends())
    if site.figures.is_counting:
        site.give_way(lambda: site.figures.wait(WAIT_SECONDS))
    return site.figures.counted


def _told(site: Site, counted: MetricsSnapshot | None) -> dict[str, Any]:
    """Up to when the figures go."""
    return {
        "at": counted.at if counted else None,
        "is_current": counted is not None and counted.ends == site.ends(),
        "is_counting": site.figures.is_counting,
        "error": (counted.error or None) if counted else None,
    }


def _charted(counted: MetricsSnapshot | None, template_id: str) -> dict[str, Any]:
    """The wakes of the last days that ran on the template, by outcome."""
    counts: dict[date, Counter[str]] = {}
    for one in counted.days if counted else []:
        if one["template_id"] == template_id:
            day = counts.setdefault(date.fromisoformat(one["day"]), Counter())
            day[one["outcome"]] += one["wakes"]
    total = sum(counts.values(), Counter[str]())
    seen = sorted(total)
    return {
        "chart": charts.days(counts, seen, "Its wakes by day", f"/wakes?template={template_id}"),
        "rows": charts.rows(counts, seen),
        "total": total,
        "seen": seen,
    }


# ---------------------------------------------------------------------------------------- two looks
# Two looks at a template: what versions say otherwise, and what a model would read on it.


def show_diff(site: Site, asked: FormRequest) -> Page:
    """The page `/templates/ID/diff`: the active version, or `?of=N`, and the one before, or
    `&with=N`."""
    template = template_by_id(site, asked.names["id"])
    found = template_document(site.home, template).versions
    active = next((one.named for one in found if one.active), "")
    known = {one.named: one for one in reversed(found)}

    def named(given: str) -> VersionDetails:
        if given not in known:
            raise missing("unknown_template", "version", given)
        return known[given]

    of = named(asked.query.get("of", "") or active)
    before = named(asked.query.get("with", "") or found[max(0, found.index(of) - 1)].named)
    told = {
        "id": template.id,
        "name": template.name,
        "of": of.version,
        "with": before.version,
        "models": [before.model_in_force, of.model_in_force],
        "general": LazyDiff(partial(differences, before.general, of.general)),
        "report": LazyDiff(partial(differences, before.report, of.report)),
    }
    numbers = [one.named for one in found]
    sides = [(before.general, of.general), (before.report, of.report)]
    marked = [LazyDiff(partial(differences, *compared(*pair))) for pair in sides]
    chosen = {"with": before.named, "of": of.named}
    values = {"numbers": numbers, "marked": marked, "chosen": chosen}
    return Page("template_diff.html", f"Versions of {template.name}", told, values)


def show_preview(site: Site, asked: FormRequest) -> Page:
    """The page `/templates/ID/preview`: what the model of a task's agent would read on it."""
    template: Template = template_by_id(site, asked.names["id"])
    given = asked.query.get("agent", "").strip()
    if not given:
        raise invalid("no task is named", "name one on the template's page")
    found, _ = preview(site.home, pick_agent(site.home, given), template.id)
    told = {"id": template.id, "name": template.name, "version": template.active, **asdict(found)}
    return Page("template_preview.html", f"What a model would read on {template.name}", told)

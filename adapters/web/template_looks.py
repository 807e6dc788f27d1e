"""Two looks at a template: what versions say otherwise, and what a model would read on it."""

from functools import partial

from msgspec.structs import asdict

from adapters.actions.naming import pick_agent
from adapters.actions.previewing import preview
from adapters.documents.templates import VersionDetails, document
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.comparing import Later, differences
from adapters.web.plain_text import compared
from adapters.web.site import Site
from adapters.web.template_edits import known
from domain.errors import Refused
from domain.templates.template import Template


def show_diff(site: Site, asked: FormRequest) -> Page:
    """The page `/templates/ID/diff`: the active version, or `?of=N`, and the one before, or
    `&with=N`."""
    template = known(site, asked.names["id"])
    found = document(site.home, template).versions
    active = next((one.named for one in found if one.active), "")
    of = _version(found, asked.query.get("of", "") or active)
    earlier = asked.query.get("with", "") or found[max(0, found.index(of) - 1)].named
    before = _version(found, earlier)
    told = {
        "id": template.id,
        "name": template.name,
        "of": of.version,
        "with": before.version,
        "models": [before.model_in_force, of.model_in_force],
        "general": Later(partial(differences, before.general, of.general)),
        "report": Later(partial(differences, before.report, of.report)),
    }
    numbers = [one.named for one in found]
    sides = [(before.general, of.general), (before.report, of.report)]
    marked = [Later(partial(differences, *compared(*pair))) for pair in sides]
    chosen = {"with": before.named, "of": of.named}
    values = {"numbers": numbers, "marked": marked, "chosen": chosen}
    return Page("template_diff.html", f"Versions of {template.name}", told, values)


def _version(found: list[VersionDetails], given: str) -> VersionDetails:
    known_as = next((one for one in found if one.named == given), None)
    if known_as is None:
        raise missing("unknown_template", "version", given)
    return known_as


def show_preview(site: Site, asked: FormRequest) -> Page:
    """The page `/templates/ID/preview`: what the model of a task's agent would read on it."""
    template: Template = known(site, asked.names["id"])
    given = asked.query.get("agent", "").strip()
    if not given:
        because = "no task is named"
        raise Refused("invalid_value", because=because, instead="name one on the template's page")
    found, _ = preview(site.home, pick_agent(site.home, given), template.id)
    told = {"id": template.id, "name": template.name, "version": template.active, **asdict(found)}
    return Page("template_preview.html", f"What a model would read on {template.name}", told)

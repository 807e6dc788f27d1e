"""What a person changes on the pages of templates: as `wakelog template` does."""

from adapters.actions import templates as actions
from adapters.actions.naming import nth_key, pick_agent
from adapters.actions.templates import BUILT_IN, pick_template
from adapters.documents.tasks import catalog_of, category_named
from adapters.documents.templates import named, named_version, whose
from adapters.web.agents import known as known_agent
from adapters.web.asking import (
    Clash,
    Form,
    FormRequest,
    Notice,
    at_field,
    clash_of,
    clashing,
    compared,
    in_lines,
    missing,
)
from adapters.web.site import Site, check_sure
from domain.errors import Refused
from domain.templates.template import Template
from projections import templates

DIRECTIVES: tuple[tuple[str, str, Form], ...] = (
    ("How to work", "general", "text"),
    ("How to report", "report", "text"),
    ("The model", "model", "line"),
)


def known(site: Site, template_id: str) -> Template:
    """A template in use by its whole id, or Refused."""
    found = site.home.views.get(templates.VIEW, template_id)
    if found is None or found.template.is_deleted:
        raise missing("unknown_template", "template", template_id)
    return found.template


def create(site: Site, asked: FormRequest) -> Notice:
    """Make a template with its first version."""
    name, given = asked.needed("name").strip(), _directives(asked)
    with at_field("name"):
        actions.create_template(site.home, name, given, key=asked.key)
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
    template = known(site, asked.names["id"])
    catalog = catalog_of(site.home)
    ticked = [category_named(catalog, one).name for one in asked.lists.get("category", [])]
    given = {name: asked.needed(name).strip() for name in ("name", "model")}
    given["categories"] = in_lines(asked.form.get("categories", "\n".join(sorted(ticked)))).strip()
    found = compared(asked, given, settings_of(site, template))
    if not found.changed:
        return Notice("Nothing was changed.")
    if found.moved and not actions.is_known(site.home, asked.key):
        return clashing(asked, found, {}, {"categories": "text"})
    named = [category_named(catalog, one).id for one in given["categories"].split("\n") if one]
    with at_field("model"):
        actions.check_directives(actions.Directives(model=given["model"]))
    with at_field("name"):
        actions.change_template(
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
    template = known(site, asked.names["id"])
    given = _directives(asked)
    if _has_moved(site, asked, template):
        return _both(site, asked, template)
    actions.add_version(site.home, template.id, given, asked.key)
    return Notice("A new version is active: the next wakes run on it.")


def roll_back(site: Site, asked: FormRequest) -> Notice:
    """Make an old version the active one again."""
    template = known(site, asked.names["id"])
    given = asked.needed("version")
    try:
        version = named(*named_version(given))
    except Refused as refused:
        raise missing("invalid_value", "version", given) from refused
    check_sure(asked, f"making version {version} the active one")
    if _has_moved(site, asked, template):
        because = f"version {_active(template)} was made active meanwhile"
        raise Refused("stale", because=because, instead="look at it, and choose again")
    actions.roll_back(site.home, template.id, version, asked.key)
    return Notice(f"Version {version} is active: the next wakes run on it.")


def _active(template: Template) -> str:
    """How the active version is named; empty where there is none."""
    return named(template.active, whose(template, template.version)) if template.active else ""


def assign(site: Site, asked: FormRequest) -> Notice:
    """Let an agent live on the template, or on the built-in directives again."""
    template = known(site, asked.names["id"])
    with at_field("agent"):
        agent_id = pick_agent(site.home, asked.needed("agent").strip())
    is_taken_off = asked.form.get("verb") == "remove"
    if is_taken_off and not _lives_on(site, asked, agent_id, template.id):
        because = f"that agent does not live on “{template.name}” any more"
        raise Refused("stale", because=because, instead="look where it lives")
    chosen = "" if is_taken_off else template.id
    actions.assign_template(site.home, agent_id, chosen, asked.key)
    name = site.home.services.agent(agent_id).name
    told = "the directives that come with wakelog" if is_taken_off else f"“{template.name}”"
    return Notice(f"“{name}” lives on {told} now.")


def assign_to(site: Site, asked: FormRequest) -> Notice:
    """The same from the agent's page, which names the template."""
    agent = known_agent(site, asked.names["id"])
    wanted = asked.needed("template")
    is_built_in = wanted == BUILT_IN
    if not _lives_on(site, asked, agent.id, asked.needed("was").removeprefix(BUILT_IN)):
        because = "it was given another template meanwhile"
        raise Refused("stale", because=because, instead="look at it, and choose again")
    chosen = "" if is_built_in else pick_template(site.home, wanted, nth_key(asked.key, 1))
    actions.assign_template(site.home, agent.id, chosen, asked.key)
    return Notice("Set: its next wakes run on it.")


def _lives_on(site: Site, asked: FormRequest, agent_id: str, template_id: str) -> bool:
    """Whether an agent still lives on a template, or the form was sent before."""
    lives_on = site.home.services.agent(agent_id).template
    return lives_on == template_id or actions.is_known(site.home, asked.key)


def delete(site: Site, asked: FormRequest) -> Notice:
    """Take a template out of use; refused while an agent lives on it."""
    template = known(site, asked.names["id"])
    check_sure(asked, "deleting the template")
    actions.delete_template(site.home, template.id, asked.key)
    return Notice(f"Deleted “{template.name}”.")


def _has_moved(site: Site, asked: FormRequest, template: Template) -> bool:
    """Whether another version is active than the form was made from."""
    is_known = actions.is_known(site.home, asked.key)
    return asked.needed("was") != _active(template) and not is_known


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


def _directives(asked: FormRequest) -> actions.Directives:
    general, report = (in_lines(asked.needed(name)).rstrip() for name in ("general", "report"))
    given = actions.Directives(general, report, asked.form.get("model", "").strip())
    for name, text in given._asdict().items():
        with at_field(name):
            actions.check_directives(actions.Directives(**{name: text}))
    return given

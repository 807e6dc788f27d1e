"""What a person changes on the pages of templates: as `wakelog template` does."""

from collections.abc import Sequence

from adapters.actions.naming import nth_key, pick_agent
from adapters.actions.templates import BUILT_IN, pick_template
from adapters.runtime import retries
from adapters.web.agents import known as known_agent
from adapters.web.asking import Asked, Clash, Form, Told, clash_of, in_lines, missing
from adapters.web.site import Site, check_sure
from domain.agent.limits import model as checked_model
from domain.errors import Refused
from domain.templates.commands import (
    AddVersion,
    AssignTemplate,
    CreateTemplate,
    DeleteTemplate,
    RollBackTemplate,
    TemplateCommand,
)
from domain.templates.template import DIRECTIVE_MAX_BYTES, Template
from domain.wire import SHARED, Payload, Words, words
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


def create(site: Site, asked: Asked) -> Told:
    """Make a template with its first version."""
    work, report = _directive(asked, "general"), _directive(asked, "report")
    command = CreateTemplate(asked.needed("name").strip(), work[0], report[0], _model(asked))
    _note(site, asked, command, [*work[1], *report[1]])
    return Told(f"Made “{command.name}”.")


def use(site: Site, asked: Asked) -> Told:
    """Put a template that comes with wakelog in use."""
    pick_template(site.home, asked.needed("seed"), nth_key(asked.key, 1))
    return Told("It is in use now: assign it to agents, or change it by a version of your own.")


def add_version(site: Site, asked: Asked) -> Told:
    """Add a version, active at once, unless another one is than the form was made from."""
    template = known(site, asked.names["id"])
    work, report = _directive(asked, "general"), _directive(asked, "report")
    command = AddVersion(template.id, work[0], report[0], "user", _model(asked))
    if _has_moved(site, asked, template, AddVersion):
        return _both(site, asked, template)
    _note(site, asked, command, [*work[1], *report[1]])
    return Told("A new version is active: the next wakes run on it.")


def roll_back(site: Site, asked: Asked) -> Told:
    """Make an old version the active one again."""
    template = known(site, asked.names["id"])
    given = asked.needed("version")
    if not (given.isascii() and given.isdigit() and len(given) < 6):
        raise missing("invalid_value", "version", given)
    if _has_moved(site, asked, template, RollBackTemplate):
        because = f"version {template.active} was made active meanwhile"
        raise Refused("stale", because=because, instead="look at it, and choose again")
    _note(site, asked, RollBackTemplate(template.id, int(given)))
    return Told(f"Version {int(given)} is active: the next wakes run on it.")


def assign(site: Site, asked: Asked) -> Told:
    """Let an agent live on the template, or on the built-in directives again."""
    template = known(site, asked.names["id"])
    agent_id = pick_agent(site.home, asked.needed("agent").strip())
    is_taken_off = asked.form.get("verb") == "remove"
    if is_taken_off and not _lives_on(site, asked, agent_id, template.id):
        because = f"that agent does not live on “{template.name}” any more"
        raise Refused("stale", because=because, instead="look where it lives")
    _note(site, asked, AssignTemplate(agent_id, "" if is_taken_off else template.id))
    name = site.home.desk.agent(agent_id).name
    told = "the directives that come with wakelog" if is_taken_off else f"“{template.name}”"
    return Told(f"“{name}” lives on {told} now.")


def assign_to(site: Site, asked: Asked) -> Told:
    """The same from the agent's page, which names the template."""
    agent = known_agent(site, asked.names["id"])
    wanted = asked.needed("template")
    is_built_in = wanted == BUILT_IN
    if not _lives_on(site, asked, agent.id, asked.needed("was").removeprefix(BUILT_IN)):
        because = "it was given another template meanwhile"
        raise Refused("stale", because=because, instead="look at it, and choose again")
    chosen = "" if is_built_in else pick_template(site.home, wanted, nth_key(asked.key, 2))
    _note(site, asked, AssignTemplate(agent.id, chosen))
    return Told("Set: its next wakes run on it.")


def _lives_on(site: Site, asked: Asked, agent_id: str, template_id: str) -> bool:
    """Whether an agent still lives on a template, or the form was sent before."""
    agents, key = site.home.desk.agents, nth_key(asked.key, 1)
    is_sent_before = retries.before(agents, key, AssignTemplate, agent=agent_id) is not None
    return is_sent_before or site.home.desk.agent(agent_id).template == template_id


def delete(site: Site, asked: Asked) -> Told:
    """Take a template out of use; refused while an agent lives on it."""
    template = known(site, asked.names["id"])
    check_sure(asked, "deleting the template")
    _note(site, asked, DeleteTemplate(template.id))
    return Told(f"Deleted “{template.name}”.")


def _note(
    site: Site, asked: Asked, command: TemplateCommand, payloads: Sequence[Payload] = ()
) -> None:
    site.home.desk.note(command, key=nth_key(asked.key, 1), payloads=payloads)


def _has_moved(
    site: Site, asked: Asked, template: Template, command: type[TemplateCommand]
) -> bool:
    """Whether another version is active than the form was made from."""
    log, key = site.home.desk.agents, nth_key(asked.key, 1)
    is_sent_before = retries.before(log, key, command, template=template.id) is not None
    return asked.needed("was") != str(template.active) and not is_sent_before


def _both(site: Site, asked: Asked, template: Template) -> Told:
    """What the version that was made active meanwhile says, and what the form says."""
    version = template.version
    with site.home.desk.agents.reading() as world:
        now = {
            "general": world.text(version.general) if version else "",
            "report": world.text(version.report) if version else "",
            "model": version.model if version else "",
        }
    clashes = [
        Clash(label, now[name], asked.needed(name), name, form) for label, name, form in DIRECTIVES
    ]
    differing = [one for one in clashes if in_lines(one.yours).rstrip() != one.now]
    told = clash_of(asked, differing or clashes, {"was": str(template.active)})
    told.text = f"Version {template.active} was made active meanwhile. {told.text}"
    return told


def _directive(asked: Asked, name: str) -> tuple[Words, tuple[Payload, ...]]:
    text = in_lines(asked.needed(name)).rstrip()
    if len(text.encode()) > DIRECTIVE_MAX_BYTES:
        because = f"a directive has {len(text.encode()):,} bytes"
        instead = f"use at most {DIRECTIVE_MAX_BYTES:,}"
        raise Refused("invalid_value", because=because, instead=instead)
    return words(SHARED, text)


def _model(asked: Asked) -> str:
    given = asked.form.get("model", "").strip()
    return checked_model(given) if given else ""

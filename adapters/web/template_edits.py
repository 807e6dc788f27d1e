"""What a person changes on the pages of templates: as `wakelog template` does."""

from collections.abc import Sequence

from adapters.cli.shared import nth_key, pick_agent
from adapters.cli.templating import BUILT_IN, pick_template
from adapters.runtime import retries
from adapters.web.agents import known as known_agent
from adapters.web.asking import Asked, Told, missing
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
    """Add a version, active at once.

    Raises:
        Refused: Code ``stale`` where another version is active than the form was made from.
    """
    template = known(site, asked.names["id"])
    work, report = _directive(asked, "general"), _directive(asked, "report")
    command = AddVersion(template.id, work[0], report[0], "user", _model(asked))
    _check_active(site, asked, template, AddVersion)
    _note(site, asked, command, [*work[1], *report[1]])
    return Told("A new version is active: the next wakes run on it.")


def roll_back(site: Site, asked: Asked) -> Told:
    """Make an old version the active one again."""
    template = known(site, asked.names["id"])
    given = asked.needed("version")
    if not (given.isascii() and given.isdigit() and len(given) < 6):
        raise missing("invalid_value", "version", given)
    _check_active(site, asked, template, RollBackTemplate)
    _note(site, asked, RollBackTemplate(template.id, int(given)))
    return Told(f"Version {int(given)} is active: the next wakes run on it.")


def assign(site: Site, asked: Asked) -> Told:
    """Let an agent live on the template, or on the built-in directives again."""
    template = known(site, asked.names["id"])
    agent_id = pick_agent(site.home, asked.needed("agent").strip())
    is_taken_off = asked.form.get("verb") == "remove"
    _note(site, asked, AssignTemplate(agent_id, "" if is_taken_off else template.id))
    name = site.home.desk.agent(agent_id).name
    told = "the directives that come with wakelog" if is_taken_off else f"“{template.name}”"
    return Told(f"“{name}” lives on {told} now.")


def assign_to(site: Site, asked: Asked) -> Told:
    """The same from the agent's page, which names the template."""
    agent = known_agent(site, asked.names["id"])
    wanted = asked.needed("template")
    is_built_in = wanted == BUILT_IN
    chosen = "" if is_built_in else pick_template(site.home, wanted, nth_key(asked.key, 2))
    _note(site, asked, AssignTemplate(agent.id, chosen))
    return Told("Set: its next wakes run on it.")


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


def _check_active(
    site: Site, asked: Asked, template: Template, command: type[TemplateCommand]
) -> None:
    log, key = site.home.desk.agents, nth_key(asked.key, 1)
    is_sent_before = retries.before(log, key, command, template=template.id) is not None
    if asked.needed("was") != str(template.active) and not is_sent_before:
        because = f"version {template.active} was made active meanwhile"
        raise Refused("stale", because=because, instead="look at it, and send yours again")


def _directive(asked: Asked, name: str) -> tuple[Words, tuple[Payload, ...]]:
    text = asked.needed(name).replace("\r\n", "\n").rstrip()
    if len(text.encode()) > DIRECTIVE_MAX_BYTES:
        because = f"a directive has {len(text.encode()):,} bytes"
        instead = f"use at most {DIRECTIVE_MAX_BYTES:,}"
        raise Refused("invalid_value", because=because, instead=instead)
    return words(SHARED, text)


def _model(asked: Asked) -> str:
    given = asked.form.get("model", "").strip()
    return checked_model(given) if given else ""

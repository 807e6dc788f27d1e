"""A template of agents: directives in versions, one of them active (SPEC 8).

STORAGE FORMAT, see `domain.wire`. Versions are numbered from 1; adding one makes it the active
one, and a rollback makes an old one active again without a new number. Who lives on a template
stands in its own stream, so that it cannot be deleted under a living agent.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from domain.errors import Refused, Remedy
from domain.text import squeeze
from domain.wire import Stored, Words
from domain.world import Kind, Recorded, World

NAME_MAX = 100
VERSIONS_MAX = 1000
DIRECTIVE_MAX_BYTES = 20_000

Author = Literal["user", "evolution", "system"]  # `evolution` is reserved (ADR 38)


class TemplateCreated(Stored, frozen=True, tag="template.created.1"):
    agent_kind: str
    name: str
    model: str = ""  # empty: the agent's, else the home's
    categories: tuple[str, ...] = ()  # new agents of these take it by default


class TemplateNamed(Stored, frozen=True, tag="template.named.1"):
    name: str


class TemplateModelSet(Stored, frozen=True, tag="template.model_set.1"):
    model: str = ""


class TemplateCategoriesSet(Stored, frozen=True, tag="template.categories_set.1"):
    categories: tuple[str, ...]


class VersionAdded(Stored, frozen=True, tag="template.version_added.1"):
    """A new version, active from here on. `general`: how to work; `report`: how to report."""

    version: int
    author: Author
    general: Words
    report: Words
    model: str = ""  # goes before the template's


class VersionActivated(Stored, frozen=True, tag="template.version_activated.1"):
    version: int


class InstanceAdded(Stored, frozen=True, tag="template.instance_added.1"):
    agent: str


class InstanceRemoved(Stored, frozen=True, tag="template.instance_removed.1"):
    agent: str


class TemplateDeleted(Stored, frozen=True, tag="template.deleted.1"):
    pass


TemplateFact = (
    TemplateCreated
    | TemplateNamed
    | TemplateModelSet
    | TemplateCategoriesSet
    | VersionAdded
    | VersionActivated
    | InstanceAdded
    | InstanceRemoved
    | TemplateDeleted
)


class Version(Struct, frozen=True):
    version: int
    author: Author
    general: Words
    report: Words
    model: str
    created_at: str


class Template(Struct, frozen=True):
    """A template as its facts make it; `active` is 0 where it has no version yet."""

    id: str
    exists: bool = False
    is_deleted: bool = False
    agent_kind: str = ""
    name: str = ""
    model: str = ""
    categories: tuple[str, ...] = ()
    versions: tuple[Version, ...] = ()
    active: int = 0
    instances: tuple[str, ...] = ()
    created_at: str = ""

    @property
    def version(self) -> Version | None:
        """The active version."""
        return next((one for one in self.versions if one.version == self.active), None)

    @property
    def model_in_force(self) -> str:
        """The active version's model, else the template's; may be empty."""
        return (self.version.model if self.version else "") or self.model


def living(template: Template) -> Template:
    """The template, or Refused if there is none."""
    if not template.exists or template.is_deleted:
        because = f"there is no template {template.id!r}"
        raise Refused("unknown_template", because=because, instead=Remedy("see_templates"))
    return template


def create(
    template: Template, agent_kind: str, name: str, model: str, categories: tuple[str, ...]
) -> list[TemplateFact]:
    """A new template, without versions; nothing if it is there."""
    if template.exists:
        return []
    return [TemplateCreated(agent_kind, named(name), model, tuple(sorted(set(categories))))]


def change(
    template: Template, name: str, model: str | None, categories: tuple[str, ...] | None
) -> list[TemplateFact]:
    """Another name, model or default categories; no new version comes of it."""
    living(template)
    facts: list[TemplateFact] = []
    if name and named(name) != template.name:
        facts.append(TemplateNamed(named(name)))
    if model is not None and model != template.model:
        facts.append(TemplateModelSet(model))
    if categories is not None and (kept := tuple(sorted(set(categories)))) != template.categories:
        facts.append(TemplateCategoriesSet(kept))
    return facts


def add_version(
    template: Template, general: Words, report: Words, author: Author, model: str
) -> list[TemplateFact]:
    """One more version, active at once; nothing if the active one says the same."""
    known = template.version
    if known and (known.general, known.report, known.model) == (general, report, model):
        return []
    if len(template.versions) >= VERSIONS_MAX:
        because = f"the template {template.name!r} has {VERSIONS_MAX} versions"
        raise Refused("invalid_value", because=because, instead="make a new template")
    number = max((one.version for one in template.versions), default=0) + 1
    return [VersionAdded(number, author, general, report, model)]


def roll_back(template: Template, version: int) -> list[TemplateFact]:
    """Make an old version the active one again; nothing if it is."""
    living(template)
    if not any(one.version == version for one in template.versions):
        because = f"the template {template.name!r} has no version {version}"
        instead = Remedy("see_template", template.id[:8])
        raise Refused("unknown_template", because=because, instead=instead)
    return [] if version == template.active else [VersionActivated(version)]


def delete(template: Template) -> list[TemplateFact]:
    """Take a template out of use; Refused while an agent lives on it."""
    if template.exists and template.is_deleted:
        return []
    living(template)
    if count := len(template.instances):
        because = f"{count} agent(s) live on the template {template.name!r}"
        instead = Remedy("assign_other_template")
        raise Refused("template_in_use", because=because, instead=instead)
    return [TemplateDeleted()]


def named(name: str) -> str:
    """A template's name, or Refused if it is empty or too long."""
    name = squeeze(name)
    if not 0 < len(name) <= NAME_MAX:
        because = f"a template's name of {len(name)} characters cannot be"
        raise Refused("invalid_value", because=because, instead=f"use 1 to {NAME_MAX}")
    return name


def evolve(template: Template, recorded: Recorded) -> Template:
    """The template after one more fact. Total; a second creation is ignored."""
    match recorded.fact:
        case TemplateCreated(agent_kind=kind, name=name, model=model, categories=categories):
            if template.exists:
                return template
            return replace(
                template,
                exists=True,
                agent_kind=kind,
                name=name,
                model=model,
                categories=categories,
                created_at=recorded.at,
            )
        case TemplateNamed(name=name):
            return replace(template, name=name)
        case TemplateModelSet(model=model):
            return replace(template, model=model)
        case TemplateCategoriesSet(categories=categories):
            return replace(template, categories=categories)
        case VersionAdded() as added:
            return _with_version(template, added, recorded.at)
        case VersionActivated(version=version):
            return replace(template, active=version)
        case InstanceAdded(agent=agent):
            return replace(template, instances=(*_without(template.instances, agent), agent))
        case InstanceRemoved(agent=agent):
            return replace(template, instances=_without(template.instances, agent))
        case TemplateDeleted():
            return replace(template, is_deleted=True)
        case _:
            return template


def _without(instances: tuple[str, ...], agent: str) -> tuple[str, ...]:
    if agent not in instances:  # as at each beginning, of thousands perhaps: looked at in C
        return instances
    return tuple([one for one in instances if one != agent])


def _with_version(template: Template, added: VersionAdded, at: str) -> Template:
    if any(one.version == added.version for one in template.versions):
        return template  # another replica added the same number
    made = Version(added.version, added.author, added.general, added.report, added.model, at)
    return replace(template, versions=(*template.versions, made), active=added.version)


TEMPLATE: Kind[Template] = Kind("template", Template, evolve)
_OF_INSTANCES = ("template.instance_added.1", "template.instance_removed.1")


def load(world: World, template: str) -> Template:
    """A template for who does not ask which agents live on it: there may be thousands."""
    return world.load_but(TEMPLATE, template, _OF_INSTANCES)

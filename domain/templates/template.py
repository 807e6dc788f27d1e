"""A template of agents: directives in versions, one of them active (SPEC 8).

STORAGE FORMAT, see `domain.log.wire`. Versions are numbered from 1; adding one makes it the active
one, and a rollback makes an old one active again without a new number. Two machines that did not
know of each other may give one number; then whose it is belongs to the version's name. Who lives on
a template stands in its own stream, so that it cannot be deleted under a living agent."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict, replace

from domain.errors import Refused, Remedy, invalid
from domain.log.state import LogState, RecordedEvent, StreamType
from domain.log.wire import Part, Stored, Words
from domain.text import squeeze

NAME_MAX = 100
VERSIONS_MAX = 1000
DIRECTIVE_MAX_BYTES = 20_000

Author = Literal["user", "evolution", "system"]
EVOLUTION: Author = "evolution"
"""Who wrote what an agent proposed and a person confirmed."""


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
    """A new version, active from here on. `general`: how to work; `report`: how to report. `item`:
    ``SET.N`` of the confirmed proposal that it is; each item is one version, whoever confirms."""

    version: int
    author: Author
    general: Words
    report: Words
    model: str = ""  # goes before the template's
    item: str = ""


class VersionActivated(Stored, frozen=True, tag="template.version_activated.1"):
    """`of`: the replica whose version of that number it is; empty: the own one, or the only."""

    version: int
    of: str = ""


class InstanceAdded(Stored, frozen=True, tag="template.instance_added.1"):
    agent: str


class InstanceRemoved(Stored, frozen=True, tag="template.instance_removed.1"):
    agent: str


class ArmFared(Part, frozen=True):
    """What became of decided proposals in one arm of a rehearsal, and how many were new there."""

    kept: int = 0
    lost: int = 0
    avoided: int = 0
    repeated: int = 0
    new: int = 0


class Rehearsed(Stored, frozen=True, tag="template.rehearsed.1"):
    """A wording was tried on past wakes: that of a proposal (`item`, ``SET.N``) or of a `version`,
    whose it is in `of`. `control`: what was in force, on the same wakes. `better`, `worse`: for so
    many agents."""

    item: str
    version: int
    of: str
    model: str  # empty: that of each agent
    scaffold: int
    wakes: int
    agents: int
    tried: ArmFared
    control: ArmFared
    tokens: int
    better: int = 0
    worse: int = 0


class TemplateDeleted(Stored, frozen=True, tag="template.deleted.1"):
    pass


TemplateFact = (
    TemplateCreated | TemplateNamed | TemplateModelSet | TemplateCategoriesSet | VersionAdded
    | VersionActivated | InstanceAdded | InstanceRemoved | TemplateDeleted | Rehearsed
)  # fmt: skip


class Version(Struct, frozen=True):
    version: int
    author: Author
    general: Words
    report: Words
    model: str
    created_at: str
    replica: str = ""  # who added it
    also: tuple[str, ...] = ()  # who else added the same under the same number
    item: str | UnsetType = UNSET  # see `VersionAdded`
    called: tuple[tuple[str, int], ...] | UnsetType = UNSET  # its other number, by who gave it

    def is_of(self, replica: str) -> bool:
        """Whether a replica added it."""
        return replica == self.replica or replica in self.also

    @property
    def numbers(self) -> tuple[int, ...]:
        """All that it was ever called."""
        return (self.version, *(number for _, number in self.called or ()))


class Template(Struct, frozen=True):
    """A template as its facts make it; `active` is 0 where it has no version yet, and `active_of`
    whose version of that number it is."""

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
    active_of: str = ""

    @property
    def version(self) -> Version | None:
        """The active version."""
        active = self.active, self.active_of
        return next((one for one in self.versions if (one.version, one.replica) == active), None)

    def numbered(self, version: int) -> tuple[Version, ...]:
        """The versions of a number: more than one where machines gave it apart from each other."""
        return tuple(one for one in self.versions if one.version == version)

    def meant(self, version: int, by: str) -> Version | None:
        """The version that a replica calls by a number."""
        called = (one for one in self.versions if (by, version) in (one.called or ()))
        mine = (one for one in self.numbered(version) if one.is_of(by))
        return next(called, None) or next(mine, None)

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
    template: Template,
    general: Words,
    report: Words,
    author: Author,
    model: str,
    item: str = "",
    *,
    replica: str = "",
) -> list[TemplateFact]:
    """One more version, active at once; nothing if the active one says the same. `item`: of which
    proposal it is; where there is such a version already, that one is made active again.
    `replica`: see `roll_back`."""
    said = item, general, report
    of_item = (one for one in template.versions if item)
    for one in of_item:
        if (one.item, one.general, one.report) == said:
            is_so = one == template.version
            return [] if is_so else [VersionActivated(one.version, whose(one, replica))]
    known = template.version
    if known and (known.general, known.report, known.model) == (general, report, model):
        return []
    if len(template.versions) >= VERSIONS_MAX:
        because = f"the template {template.name!r} has {VERSIONS_MAX} versions"
        raise invalid(because, "make a new template")
    number = max((n for one in template.versions for n in one.numbers), default=0) + 1
    return [VersionAdded(number, author, general, report, model, item)]


def roll_back(
    template: Template, version: int, of: str = "", *, replica: str = ""
) -> list[TemplateFact]:
    """Make an old version the active one again; nothing if it is.

    `of`: whose version of that number; empty: the only one. `replica`: who asks, in a log that
    machines share; empty in one that is alone. Raises Refused, code ``unknown_template`` or
    ``ambiguous``."""
    living(template)
    found = [one for one in template.numbered(version) if not of or one.is_of(of)]
    instead = Remedy("see_template", template.id[:8])
    if not found:
        name = f"{version}@{of}" if of else str(version)
        because = f"the template {template.name!r} has no version {name}"
        raise Refused("unknown_template", because=because, instead=instead)
    if len(found) > 1:
        names = ", ".join(f"{version}@{one.replica}" for one in found)
        because = f"the template {template.name!r} has the versions {names}"
        raise Refused("ambiguous", because=because, instead="name one of them")
    (one,) = found
    return [] if one == template.version else [VersionActivated(version, whose(one, replica))]


def whose(version: Version | None, replica: str) -> str:
    """How a row of a replica says whose version it means: empty where it is its own, and in a log
    that no machines share (`replica` is empty there)."""
    return "" if version is None or not replica or version.is_of(replica) else version.replica


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
        raise invalid(because, f"use 1 to {NAME_MAX}")
    return name


def evolve(template: Template, recorded: RecordedEvent) -> Template:
    """The template after one more fact. Total; a second creation is ignored."""
    match recorded.fact:
        case TemplateCreated() as said if not template.exists:
            return replace(template, exists=True, **asdict(said), created_at=recorded.at)
        case TemplateNamed() | TemplateModelSet() | TemplateCategoriesSet() as said:
            return replace(template, **asdict(said))
        case VersionAdded() as added:
            return _with_version(template, added, recorded)
        case VersionActivated(version=version, of=of):
            known = template.numbered(version)
            one = template.meant(version, of or recorded.replica) or (known[0] if known else None)
            active = one.version if one else version
            return replace(template, active=active, active_of=one.replica if one else "")
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


def _with_version(template: Template, added: VersionAdded, row: RecordedEvent) -> Template:
    said = added.general, added.report, added.model
    versions = template.versions
    for nth, one in enumerate(versions):
        is_its = bool(added.item) and one.item == added.item
        if one.version != added.version and not is_its:
            continue
        if one.version == added.version and one.is_of(row.replica):
            return template
        if (one.general, one.report, one.model) == said:
            same = replace(one, also=(*one.also, row.replica))
            if one.version != added.version:
                same = replace(one, called=(*(one.called or ()), (row.replica, added.version)))
            others = (*versions[:nth], same, *versions[nth + 1 :])
            return replace(template, versions=others, active=one.version, active_of=one.replica)
    made = Version(
        added.version, added.author, *said, row.at, row.replica, item=added.item or UNSET
    )
    return replace(
        template, versions=(*versions, made), active=made.version, active_of=made.replica
    )


TEMPLATE: StreamType[Template] = StreamType("template", Template, evolve)
_OF_INSTANCES = ("template.instance_added.1", "template.instance_removed.1")


def load(world: LogState, template: str) -> Template:
    """A template for who does not ask which agents live on it: there may be thousands."""
    return world.load_but(TEMPLATE, template, _OF_INSTANCES)

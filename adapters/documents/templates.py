"""Templates as JSON."""

from typing import TYPE_CHECKING

from msgspec import Struct

from domain.errors import invalid

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.templates.seeds import Seed
    from domain.templates.template import Template, Version

NUMBER_LENGTH = 6  # digits that no version has


class VersionDetails(Struct, frozen=True):
    """A version of a template: how its agents work (`general`) and how they report. `model` is its
    own; the one in force is the template's where it names none. `of`: the replica of whoever added
    it, where two machines gave one number apart from each other; else null."""

    version: int
    author: str
    active: bool
    model: str | None
    model_in_force: str | None
    created_at: str
    general: str
    report: str
    of: str | None = None

    @property
    def named(self) -> str:
        """How it is named: ``3``, or ``3@REPLICA``."""
        return version_name(self.version, self.of or "")


def version_name(version: int, of: str) -> str:
    """How a version is named; `of`: whose it is, where two have the number."""
    return f"{version}@{of}" if of else str(version)


def version_owner(template: "Template", version: "Version | None") -> str:
    """Whose a version is, where two machines have its number; else empty."""
    if version is None or len(template.numbered(version.version)) == 1:
        return ""
    return version.replica


def named_version(given: str) -> tuple[int, str]:
    """The number, and whose it is; Refused where it is none."""
    number, _, of = given.partition("@")
    if not (number.isascii() and number.isdigit() and len(number) < NUMBER_LENGTH):
        raise invalid(f"{given!r} is no version", "write its number, 3 for example")
    return int(number), of


class TemplateDetails(Struct, frozen=True):
    """A template: what `template list` and `template show` print. New agents of tasks in
    `category_ids` take it; `agents` are the ids of those that live on it."""

    id: str
    name: str
    kind: str
    model: str | None
    model_in_force: str | None
    category_ids: list[str]
    active_version: int | None
    versions: list[VersionDetails]
    agents: list[str]
    created_at: str


class SeedDetails(Struct, frozen=True):
    """A template that comes with wakelog and is not in use yet; its `id` is null."""

    id: None
    seed: str
    name: str
    general: str
    report: str


class TemplateGiven(Struct, frozen=True):
    """What `template assign` prints; null: the agent is back on the built-in directives."""

    agent_id: str
    template_id: str | None


def templates_of(home: "Home") -> "list[Template]":
    """All templates that are in use, the oldest first."""
    from projections.templates import VIEW

    found = sorted(home.views.all(VIEW), key=lambda one: one.place)
    return [one.template for one in found if not one.template.is_deleted]


def seed_document(seed: "Seed") -> SeedDetails:
    return SeedDetails(None, seed.seed, seed.name, seed.general, seed.report)


def template_document(home: "Home", template: "Template") -> TemplateDetails:
    """A template as JSON; `directives` are those of the active version."""
    with home.services.agents.reading() as world:
        versions = [
            VersionDetails(
                version=one.version,
                author=one.author,
                active=one == template.version,
                model=one.model or None,
                model_in_force=one.model or template.model or None,
                created_at=one.created_at,
                general=world.text(one.general),
                report=world.text(one.report),
                of=version_owner(template, one) or None,
            )
            for one in template.versions
        ]
    return TemplateDetails(
        id=template.id,
        name=template.name,
        kind=template.agent_kind,
        model=template.model or None,
        model_in_force=template.model_in_force or None,
        category_ids=list(template.categories),
        active_version=template.active or None,
        versions=versions,
        agents=list(template.instances),
        created_at=template.created_at,
    )


# ------------------------------------------------------------------------------------------ metrics


class ToolMetrics(Struct, frozen=True):
    """How proposals of one kind do; `acceptance_rate` is between 0 and 1."""

    tool: str
    confirmed: int
    decided: int
    acceptance_rate: float


class TemplateMetrics(Struct, frozen=True):
    """How a template does; the one without an id and a name is the built-in directives. Rates are
    between 0 and 1, and null where there is nothing to divide by. Of `active` seconds, what a wake
    waited is left out; `cost_per_wake` is in the person's currency."""

    template_id: str | None
    template_name: str | None
    total_wakes: int
    success_count: int
    failure_count: int
    success_rate: float | None
    average_duration_seconds: float | None
    first_wake_at: str | None
    last_wake_at: str | None
    active_instance_count: int
    skipped_count: int
    running_count: int
    confirmed_items: int
    decided_items: int
    acceptance_rate: float | None
    median_seconds_to_decision: float | None
    tokens_per_wake: float | None
    noop_rate: float | None
    tools: list[ToolMetrics]
    median_duration_seconds: float | None
    p95_duration_seconds: float | None
    median_active_seconds: float | None
    p95_active_seconds: float | None
    waited_seconds: float
    cost_per_wake: float | None

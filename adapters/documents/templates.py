"""Templates as JSON."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.templates.template import Template


class VersionDetails(Struct, frozen=True):
    """A version of a template: how its agents work (`general`) and how they report. `model` is its
    own; the one in force is the template's where it names none."""

    version: int
    author: str
    active: bool
    model: str | None
    model_in_force: str | None
    created_at: str
    general: str
    report: str


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


def document(home: "Home", template: "Template") -> TemplateDetails:
    """A template as JSON; `directives` are those of the active version."""
    with home.services.agents.reading() as world:
        versions = [
            VersionDetails(
                version=one.version,
                author=one.author,
                active=one.version == template.active,
                model=one.model or None,
                model_in_force=one.model or template.model or None,
                created_at=one.created_at,
                general=world.text(one.general),
                report=world.text(one.report),
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

"""Templates as JSON."""

from typing import TYPE_CHECKING

from adapters.documents.agents import Document

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.templates.template import Template


def templates_of(home: "Home") -> "list[Template]":
    """All templates that are in use, the oldest first."""
    from projections.templates import VIEW

    found = sorted(home.views.all(VIEW), key=lambda one: one.place)
    return [one.template for one in found if not one.template.is_deleted]


def document(home: "Home", template: "Template") -> "Document":
    """A template as JSON; `directives` are those of the active version."""
    with home.desk.agents.reading() as world:
        versions = [
            {
                "version": one.version,
                "author": one.author,
                "active": one.version == template.active,
                "model": one.model or None,
                "model_in_force": one.model or template.model or None,
                "created_at": one.created_at,
                "general": world.text(one.general),
                "report": world.text(one.report),
            }
            for one in template.versions
        ]
    return {
        "id": template.id,
        "name": template.name,
        "kind": template.agent_kind,
        "model": template.model or None,
        "model_in_force": template.model_in_force or None,
        "category_ids": list(template.categories),
        "active_version": template.active or None,
        "versions": versions,
        "agents": list(template.instances),
        "created_at": template.created_at,
    }

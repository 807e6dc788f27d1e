"""Templates with their versions and instances, as `template list` shows them (SPEC 8)."""

from msgspec import Struct
from msgspec.structs import replace

from domain.log.state import RecordedEvent
from domain.templates.template import TEMPLATE, Template
from projections.view import View, position


class TemplateDocument(Struct, frozen=True):
    """A template as the domain folds it; `place` is that of its first row."""

    template: Template
    place: str


def keys(row: RecordedEvent) -> tuple[str, ...]:
    return (row.entity,) if row.of_kind == "template" else ()


def apply(document: TemplateDocument | None, row: RecordedEvent) -> TemplateDocument | None:
    """The template after this row."""
    known = document or TemplateDocument(TEMPLATE.initial(row.entity), position(row))
    return replace(known, template=TEMPLATE.evolve(known.template, row))


def _place(document: TemplateDocument) -> str:
    return document.place


VIEW: View[TemplateDocument] = View(
    "templates", "agent", 2, TemplateDocument, keys, apply, place=_place, entities=("template",)
)

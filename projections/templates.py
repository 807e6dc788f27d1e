"""Templates with their versions and instances, as `template list` shows them (SPEC 8)."""

from msgspec import Struct
from msgspec.structs import replace

from domain.log.state import RecordedEvent
from domain.templates.template import TEMPLATE, Template
from projections.view import View, of_kinds, position


class TemplateDocument(Struct, frozen=True):
    """A template as the domain folds it; `place` is that of its first row."""

    template: Template
    place: str


def apply(document: TemplateDocument | None, row: RecordedEvent) -> TemplateDocument | None:
    """The template after this row."""
    known = document or TemplateDocument(TEMPLATE.initial(row.entity), position(row))
    return replace(known, template=TEMPLATE.evolve(known.template, row))


VIEW: View[TemplateDocument] = View(
    "templates", "agent", 2, TemplateDocument, of_kinds("template"), apply, entities=("template",)
)

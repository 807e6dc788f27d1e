"""Wordings that were tried on past wakes, by template."""

from msgspec import Struct
from msgspec.structs import replace

from domain.log.state import RecordedEvent
from domain.templates.template import Rehearsed
from projections.view import View, of_kinds

KEPT = 100  # of a template, the newest


class RehearsalTold(Struct, frozen=True):
    """A rehearsal, and when it was recorded."""

    at: str
    told: Rehearsed


class RehearsalsDocument(Struct, frozen=True):
    """Those of a template, oldest first."""

    template: str
    found: tuple[RehearsalTold, ...] = ()


def apply(document: RehearsalsDocument | None, row: RecordedEvent) -> RehearsalsDocument | None:
    """The rehearsals after this row."""
    if not isinstance(row.fact, Rehearsed):
        return document
    known = document or RehearsalsDocument(row.entity)
    return replace(known, found=(*known.found, RehearsalTold(row.at, row.fact))[-KEPT:])


VIEW: View[RehearsalsDocument] = View(
    "rehearsals", "agent", 1, RehearsalsDocument, of_kinds("template"), apply,
    entities=("template",),
)  # fmt: skip

"""Digests of what agents noted, one document each, with the one that took it in (ADR 51)."""

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.memory import MemoryFolded, place
from domain.world import Recorded
from projections.view import View, placed

TOP = "top"
FOLDED = "folded"


class DigestDocument(Struct, frozen=True):
    """A digest as it was made; `parent` is empty where no other one took it in."""

    agent_id: str
    at: str
    digest: MemoryFolded
    parent: str = ""


def keys(row: Recorded) -> tuple[str, ...]:
    """The digest, and those that it takes in."""
    match row.fact:
        case MemoryFolded(id=digest, depth=depth, sources=sources):
            return (digest, *(sources if depth > 1 else ()))
        case _:
            return ()


def apply(document: DigestDocument | None, row: Recorded) -> DigestDocument | None:
    """A digest after this row: the first one that took it in counts."""
    match document, row.fact:
        case None, MemoryFolded() as fact:
            return DigestDocument(row.entity, row.at, fact)
        case DigestDocument(digest=known, parent=""), MemoryFolded() as fact if known.id != fact.id:
            return replace(document, parent=fact.id)
        case _:
            return document


def _shelf(document: DigestDocument) -> str:
    return document.agent_id


def _place(document: DigestDocument) -> str:
    return f"{placed(*place(document.digest.first))} {document.digest.depth}"


def _mark(document: DigestDocument) -> str:
    return FOLDED if document.parent else TOP


VIEW: View[DigestDocument] = View(
    "memory",
    "agent",
    1,
    DigestDocument,
    keys,
    apply,
    shelf=_shelf,
    place=_place,
    mark=_mark,
    entities=("memory",),
)

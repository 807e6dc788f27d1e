"""What agents noted for themselves, one document for each observation (SPEC 7, 10), and digests of
these, one document each, with the one that took it in (ADR 51)."""

from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import AgentObserved, Category, Priority
from domain.agent.memory import MemoryFolded, place
from domain.log.state import RecordedEvent
from domain.log.wire import Words
from projections.view import View, placed, position


class ObservationDocument(Struct, frozen=True):
    agent_id: str
    run_key: str
    at: str
    words: Words
    priority: Priority
    category: Category
    target: str
    place: str


def keys(row: RecordedEvent) -> tuple[str, ...]:
    is_one = isinstance(row.fact, AgentObserved)
    return (observation_key(row.entity, position(row)),) if is_one else ()


def observation_key(agent_id: str, place: str) -> str:
    """The key of an agent's observation at a place."""
    return f"{agent_id} {place}"


def apply(document: ObservationDocument | None, row: RecordedEvent) -> ObservationDocument | None:
    """The observation that this row is."""
    fact = row.fact
    if not isinstance(fact, AgentObserved):
        return document
    said = fact.words, fact.priority, fact.category, fact.target
    return ObservationDocument(row.entity, fact.run_key, row.at, *said, position(row))


VIEW: View[ObservationDocument] = View(
    "journal", "agent", 1, ObservationDocument, keys, apply, shelf=attrgetter("agent_id"),
    entities=("agent",),
)  # fmt: skip


# --------------------------------------------------------------------- digests of what agents noted

TOP = "top"
FOLDED = "folded"


class DigestDocument(Struct, frozen=True):
    """A digest as it was made; `parent` is empty where no other one took it in."""

    agent_id: str
    at: str
    digest: MemoryFolded
    parent: str = ""


def digest_keys(row: RecordedEvent) -> tuple[str, ...]:
    """The digest, and those that it takes in."""
    match row.fact:
        case MemoryFolded(id=digest, depth=depth, sources=sources):
            return (digest, *(sources if depth > 1 else ()))
        case _:
            return ()


def apply_digest(document: DigestDocument | None, row: RecordedEvent) -> DigestDocument | None:
    """A digest after this row: the first one that took it in counts."""
    match document, row.fact:
        case None, MemoryFolded() as fact:
            return DigestDocument(row.entity, row.at, fact)
        case DigestDocument(digest=known, parent=""), MemoryFolded() as fact if known.id != fact.id:
            return replace(document, parent=fact.id)
        case _:
            return document


def _digest_place(document: DigestDocument) -> str:
    return f"{placed(*place(document.digest.first))} {document.digest.depth}"


DIGESTS: View[DigestDocument] = View(
    "memory", "agent", 1, DigestDocument, digest_keys, apply_digest, shelf=attrgetter("agent_id"),
    place=_digest_place, mark=lambda document: FOLDED if document.parent else TOP,
    entities=("memory",),
)  # fmt: skip

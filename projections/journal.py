"""What agents noted for themselves, one document for each observation (SPEC 7, 10)."""

from msgspec import Struct

from domain.agent.events import AgentObserved, Category, Priority
from domain.wire import Words
from domain.world import Recorded
from projections.view import View, position


class ObservationDocument(Struct, frozen=True):
    agent_id: str
    run_key: str
    at: str
    words: Words
    priority: Priority
    category: Category
    target: str
    place: str


def keys(row: Recorded) -> tuple[str, ...]:
    return (key_of(row.entity, position(row)),) if isinstance(row.fact, AgentObserved) else ()


def key_of(agent_id: str, place: str) -> str:
    """The key of an agent's observation at a place."""
    return f"{agent_id} {place}"


def apply(document: ObservationDocument | None, row: Recorded) -> ObservationDocument | None:
    """The observation that this row is."""
    match row.fact:
        case AgentObserved() as fact:
            return ObservationDocument(
                row.entity,
                fact.run_key,
                row.at,
                fact.words,
                fact.priority,
                fact.category,
                fact.target,
                position(row),
            )
        case _:
            return document


def _shelf(document: ObservationDocument) -> str:
    return document.agent_id


def _place(document: ObservationDocument) -> str:
    return document.place


VIEW: View[ObservationDocument] = View(
    "journal",
    "agent",
    1,
    ObservationDocument,
    keys,
    apply,
    shelf=_shelf,
    place=_place,
    entities=("agent",),
)

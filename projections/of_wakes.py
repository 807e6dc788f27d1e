"""Which rows make the documents of a view that has one for each wake (ADR 77)."""

from domain.wake.events import WakeStarted
from domain.world import Recorded
from projections.view import Entity


def sources(row: Recorded) -> tuple[Entity, ...]:
    """The wakes that a row names, and their one agent with its attention, where the row knows it:
    of a wake that is the one that begins it."""
    match row.fact:
        case WakeStarted(agent=agent):
            return (("wake", row.entity), ("alert", agent), ("agent", agent))
        case _ if row.of_kind == "wake":
            return (("wake", row.entity),)
        case fact:
            named = (getattr(fact, "run_key", ""), getattr(fact, "by", ""))
            wakes = tuple(("wake", one) for one in named if one)
            return (*wakes, ("alert", row.entity), ("agent", row.entity))

"""What an agent remembers, as JSON: its digests, what no digest covers, what is still open."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from domain.agent.agent import AGENT, Observation
from domain.agent.memory import MEMORY, place
from domain.errors import Refused
from domain.wake.memory import uncovered
from domain.world import World
from projections import journal
from projections.journal import ObservationDocument
from projections.memory import TOP, VIEW, DigestDocument
from projections.view import fold, placed

if TYPE_CHECKING:
    from adapters.timetravel.place import Place
    from adapters.wiring import Home


class DigestDetails(Struct, frozen=True):
    """A digest: the beginnings of `notes` observations. `parent`: the digest that took it in, null
    at the top; `sources`: the digests that it took in, or the positions of its observations."""

    id: str
    parent: str | None
    depth: int
    since: str
    until: str
    notes: int
    sources: list[str]
    text: str


class NoteDetails(Struct, frozen=True):
    """An observation, by its position in the agents' log."""

    position: str
    at: str
    run_key: str
    priority: str
    category: str
    text: str


class MemoryDetails(Struct, frozen=True):
    """What `memory` prints: all digests, the oldest first; the observations that none covers, and
    the critical ones that nothing settled. `noted` counts all observations. `where`: the moment
    that was asked for; null: now."""

    agent_id: str
    agent: str
    where: str | None
    noted: int
    digests: list[DigestDetails]
    uncovered: list[NoteDetails]
    critical: list[NoteDetails]


class MemoryShort(Struct, frozen=True):
    """Of an agent's memory what is bounded whatever its age: the digests at the top, how many
    observations none covers, and the critical ones that nothing settled, the newest first."""

    noted: int
    uncovered: int
    digests: list[DigestDetails]
    critical: list[NoteDetails]


class DigestSources(Struct, frozen=True):
    """What `memory --sources` prints: a digest, and the digests or observations it was made of."""

    digest: DigestDetails
    digests: list[DigestDetails]
    observations: list[NoteDetails]


def memory_document(home: "Home", agent_id: str, place: "Place | None" = None) -> MemoryDetails:
    """The document of `memory`.

    Args:
        home: Open, its views caught up.
        agent_id: Whose.
        place: The moment; None: now.
    """
    if place is not None:
        _, world = place.past.worlds(place.spot.where, place.replica)
        documents = fold(VIEW, world.history("memory", agent_id)).values()
        ordered = sorted(documents, key=VIEW.place)
        return _document(world, agent_id, ordered, place.given)
    with home.services.agents.reading() as world:
        return _document(world, agent_id, home.views.page(VIEW, shelf=agent_id), None)


def memory_short(home: "Home", agent_id: str) -> MemoryShort:
    """What an agent's page tells of its memory."""
    with home.services.agents.reading() as world:
        agent = world.load(AGENT, agent_id)
        return MemoryShort(
            noted=agent.noted,
            uncovered=agent.noted - world.load(MEMORY, agent_id).count,
            digests=[
                _digest(world, one) for one in home.views.page(VIEW, shelf=agent_id, mark=TOP)
            ],
            critical=_notes(world, reversed(agent.critical)),
        )


def sources_document(home: "Home", agent_id: str, wanted: str) -> DigestSources:
    """The document of `memory --sources`.

    Raises:
        Refused: Code ``unknown_digest`` or ``ambiguous``.
    """
    found = home.views.page(VIEW, prefix=wanted.lower() or "-", shelf=agent_id)
    if len(found) != 1:
        raise Refused(
            "ambiguous" if found else "unknown_digest",
            because=f"{wanted!r} begins the ids of {len(found)} digests of this agent",
            instead="take an id that `wakelog memory` prints",
        )
    (document,) = found
    sources, is_lowest = document.digest.sources, document.digest.depth == 1
    digests = [home.views.get(VIEW, one) for one in (() if is_lowest else sources)]
    notes = [
        (one, home.views.get(journal.VIEW, journal.key_of(agent_id, placed(*place(one)))))
        for one in (sources if is_lowest else ())
    ]
    with home.services.agents.reading() as world:
        return DigestSources(
            digest=_digest(world, document),
            digests=[_digest(world, one) for one in digests if one is not None],
            observations=[_note(world, at, one) for at, one in notes if one is not None],
        )


def _document(
    world: World, agent_id: str, digests: Iterable[DigestDocument], where: str | None
) -> MemoryDetails:
    agent = world.load(AGENT, agent_id)
    return MemoryDetails(
        agent_id=agent_id,
        agent=agent.name,
        where=where,
        noted=agent.noted,
        digests=[_digest(world, one) for one in digests],
        uncovered=_notes(world, uncovered(world, agent)),
        critical=_notes(world, agent.critical),
    )


def _digest(world: World, document: DigestDocument) -> DigestDetails:
    one = document.digest
    return DigestDetails(
        id=one.id,
        parent=document.parent or None,
        depth=one.depth,
        since=one.since,
        until=one.until,
        notes=one.count,
        sources=list(one.sources),
        text=world.text(one.words),
    )


def _notes(world: World, notes: Iterable[Observation]) -> list[NoteDetails]:
    return [_note(world, one.position, one) for one in notes]


def _note(world: World, at: str, one: Observation | ObservationDocument) -> NoteDetails:
    return NoteDetails(at, one.at, one.run_key, one.priority, one.category, world.text(one.words))

"""What points at a task: the stream ``links:<task>`` (SPEC 1, DESIGN 5).

An edge is stored in its canonical direction, in the source's `task` stream and the target's
`links` stream, in one append; an inverse phrase names the same edge from its other end."""

from msgspec import Struct

from domain.journal.task import TASK, Relation
from domain.log.state import LogState, RecordedEvent, StreamType
from domain.log.wire import Stored

CYCLE_SEARCH_MAX = 1000  # tasks; a longer search refuses

INVERSE: dict[str, Relation] = {
    "is_blocked_by": "blocks",
    "has_follow_up": "follows_up_on",
    "is_duplicated_by": "duplicates",
    "is_fixed_by": "fixes",
    "is_superseded_by": "supersedes",
}
PHRASE_OF: dict[Relation, str] = {relation: phrase for phrase, relation in INVERSE.items()}


class LinkedFrom(Stored, frozen=True, tag="links.linked.1"):
    relation: Relation
    source: str


class UnlinkedFrom(Stored, frozen=True, tag="links.unlinked.1"):
    relation: Relation
    source: str


LinksFact = LinkedFrom | UnlinkedFrom


class Incoming(Struct, frozen=True):
    relation: Relation
    source: str


class Links(Struct, frozen=True):
    """The edges that end at a task, in order of their making."""

    id: str
    incoming: tuple[Incoming, ...] = ()


def evolve(links: Links, recorded: RecordedEvent) -> Links:
    """The edges after one more fact."""
    match recorded.fact:
        case LinkedFrom(relation=relation, source=source):
            edge, known = Incoming(relation, source), links.incoming
            return links if edge in known else Links(links.id, (*known, edge))
        case UnlinkedFrom(relation=relation, source=source):
            gone = Incoming(relation, source)
            return Links(links.id, tuple(edge for edge in links.incoming if edge != gone))
        case _:
            return links


LINKS: StreamType[Links] = StreamType("links", Links, evolve)


def is_blocked(journal: LogState, task: str) -> bool:
    """Whether an open task blocks this one."""
    coming = journal.load(LINKS, task).incoming
    sources = (journal.load(TASK, one.source) for one in coming if one.relation == "blocks")
    return any(one.is_open for one in sources)

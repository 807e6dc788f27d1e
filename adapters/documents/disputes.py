"""What machines of one home said without knowing of each other, and nobody has settled: of tasks,
of timers and links, of the catalog, and of agents. Lines of `conflicts`, of `task show` and of the
page (ADR 71, 73)."""

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from adapters.documents.agent_disputes import agent_disputes, agent_disputes_of
from adapters.documents.conflicts import ConflictDetails, ConflictValue
from adapters.home.machines import machine_names
from domain.canonical import encode
from domain.disputed import blocked_by, disputes_in, ends, is_of_namesakes
from domain.journal.catalog import CATALOG
from domain.journal.document import category_name
from domain.journal.fold import TASK
from domain.journal.links import LINKS
from domain.journal.timer import TIMER
from domain.merging import Conflict, Side, open_cycles
from domain.wire import Words
from domain.world import MAIN, World, entity_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adapters.store.log import Log
    from adapters.wiring import Home

CYCLE = "blocks"
"""The field of a circle of links."""


def disputes(home: "Home") -> list[ConflictDetails]:
    """All that is open: of the tasks in the order of their ids, then timers that run at once,
    circles of links, the catalog, and what the agent log holds; nothing in a home that is alone."""
    journal = home.services.journal
    if not journal.is_shared:
        return []
    names = names_of(home)
    with journal.reading() as world:
        tell = partial(_details, world, labels=names)
        of_tasks = [
            tell(found)
            for one in _of_many(journal, TASK.name)
            for found in world.disputes(TASK, one)
            if found.of_kind == TASK.name
        ]
        others = [
            *world.disputes(TIMER, MAIN),
            *_circles(journal, world),
            *world.disputes(CATALOG, MAIN),
        ]
        found = [*of_tasks, *map(tell, others)]
    return [*found, *(one.details for one in agent_disputes(home, names))]


def disputes_of(
    home: "Home", task_id: str, labels: "Mapping[str, str] | None" = None
) -> list[ConflictDetails]:
    """What is open in one task, with the timers and the circle of links that it is a part of, its
    agents and what they proposed; with no task what is open of none.

    Args:
        home: Open.
        task_id: Which; empty: what differs of the catalog, templates and models.
        labels: What machines are called, by replica; their names if it is left out.
    """
    if not home.services.journal.is_shared:
        return []
    names = names_of(home) if labels is None else labels
    with home.services.journal.reading() as world:
        every = disputes_in(world, task_id) if task_id else world.disputes(CATALOG, MAIN)
        found = [_details(world, one, labels=names, task_id=task_id) for one in every]
    return [*found, *(one.details for one in agent_disputes_of(home, task_id, names))]


def names_of(home: "Home") -> "Mapping[str, str]":
    """What the machines of a home are called."""
    return machine_names(home.path, home.services.journal.replica)


def _of_many(journal: "Log", kind: str) -> list[str]:
    """The entities of a kind that several machines wrote."""
    writers = Counter(entity_of(one) for one in journal.streams_of(kind))
    return sorted(one for one, count in writers.items() if count > 1)


def _circles(journal: "Log", world: World) -> "Sequence[Conflict]":
    """The circles of links: only of tasks that block and are blocked is every row read, and of none
    where one machine made all links."""
    ends_of = journal.streams_of(LINKS.name)
    if len({one.rpartition("@")[2] for one in ends_of}) < 2:
        return []
    blocked = {
        one: {to.source for to in world.load(LINKS, one).incoming if to.relation == CYCLE}
        for one in sorted({entity_of(one) for one in ends_of})
    }
    blocking = {source for sources in blocked.values() for source in sources}
    both = [one for one, sources in blocked.items() if sources and one in blocking]
    return open_cycles({one: world.rows(TASK, one) for one in both if blocked_by(world, one)})


def _details(
    world: World, one: Conflict, *, labels: "Mapping[str, str]", task_id: str = ""
) -> ConflictDetails:
    values = tuple(
        ConflictValue(
            side.row.replica,
            labels.get(side.row.replica, side.row.replica),
            side.row.at,
            side.by,
            _said(world, one, side),
        )
        for side in one.sides
    )
    stands = (side for side in one.sides[::-1] if side.value == one.stands)
    standing = next(stands, None)
    replica = standing.row.replica if standing else ""
    if one.of_kind == CATALOG.name:
        return ConflictDetails("", _named(world, one), one.field, one.kind, replica, values)
    if not task_id:
        task_id = ends(standing)[0] if standing and one.kind == "timers" else one.entity
    title = world.load(TASK, task_id).title
    return ConflictDetails(task_id, title, one.field, one.kind, replica, values)


def _named(world: World, one: Conflict) -> str:
    """The name of the category or label that differs."""
    kind, thing = one.field.split(":")[:2]
    catalog = world.load(CATALOG, MAIN)
    return category_name(catalog, thing) if kind == "category" else catalog.labels[thing].name


def _said(world: World, one: Conflict, side: Side) -> str:
    """A side's value as a person reads it."""
    if one.kind == "removal":
        return "removed" if side.value else "changed"
    if one.kind == "timers":
        return str(world.load(TASK, ends(side)[0]).title)
    if one.kind == "cycle":
        blocks, blocked = (world.load(TASK, task).title for task in ends(side))
        return f"{blocks} blocks {blocked}"
    value: Any = side.value
    if one.of_kind == CATALOG.name:
        return _of_catalog(world, one, value)
    if one.field == "category":
        return category_name(world.load(CATALOG, MAIN), str(value))
    return _plain(world, value)


def _of_catalog(world: World, one: Conflict, value: Any) -> str:
    """A name; of things of one name their ids; of a label also where it may be used."""
    if value is None:
        return "removed"
    if is_of_namesakes(world, one) or not isinstance(value, tuple):
        return str(value)
    name, categories = value
    catalog = world.load(CATALOG, MAIN)
    scope = ", ".join(category_name(catalog, each) for each in categories)
    return f"{name} ({scope or 'all categories'})"


def _plain(world: World, value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Words():
            return world.text(value)
        case tuple():
            told = [_plain(world, each) for each in value]
            return " ".join(each for each in told if each)
        case Struct():
            return encode(value).decode()
        case _:
            return str(value)

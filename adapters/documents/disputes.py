"""What machines of one home said of tasks without knowing of each other, and nobody has settled:
lines of `conflicts`, of `task show` and of the page (ADR 71)."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from adapters.documents.conflicts import ConflictDetails, ConflictValue
from adapters.home.machines import machine_names
from domain import disputed
from domain.canonical import encode
from domain.disputed import circles, named_alike, tasks_of, timer_disputes
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.document import category_name
from domain.journal.fold import TASK
from domain.journal.timer import TIMER
from domain.merging import Conflict, Side
from domain.wire import Words
from domain.world import MAIN, World, entity_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.wiring import Home


def disputes(home: "Home") -> list[ConflictDetails]:
    """What is open in all tasks, in the order of their ids; nothing in a home that is alone."""
    journal = home.services.journal
    if not journal.is_shared:
        return []
    writers = Counter(entity_of(one) for one in journal.streams_of(TASK.name))
    of_many = sorted(one for one, count in writers.items() if count > 1)
    names = names_of(home)
    with journal.reading() as world:
        own = [found for one in of_many for found in _own(world, one)]
        others = [*timer_disputes(world), *circles(world), *named_alike(world)]
        return [_details(world, one, names) for one in (*own, *others)]


def disputes_of(world: World, task_id: str, labels: "Mapping[str, str]") -> list[ConflictDetails]:
    """What is open of one task. `labels`: what machines are called, by replica."""
    return [_details(world, one, labels) for one in disputed.disputes_of(world, task_id)]


def _own(world: World, task_id: str) -> list[Conflict]:
    return [one for one in world.disputes(TASK, task_id) if one.of_kind == TASK.name]


def names_of(home: "Home") -> "Mapping[str, str]":
    """What the machines of a home are called."""
    return machine_names(home.path, home.services.journal.replica)


def _details(world: World, one: Conflict, labels: "Mapping[str, str]") -> ConflictDetails:
    """A conflict as it is told; `task` is empty of what is no task's."""
    task = tasks_of(one)[0] if one.of_kind in (TASK.name, TIMER.name) else ""
    title = world.load(TASK, task).title if task else ""
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
    stands = (side.row.replica for side in one.sides[::-1] if side.value == one.stands)
    return ConflictDetails(task, title, one.field, one.kind, next(stands, ""), values)


def _said(world: World, one: Conflict, side: Side) -> str:
    """A side's value as a person reads it."""
    if one.kind == "removal":
        return "removed" if side.value else "changed"
    value: Any = side.value
    if one.kind == "timers":
        return world.load(TASK, value[0]).title
    if one.kind == "cycle":
        blocks, blocked = (world.load(TASK, each).title for each in value)
        return f"{blocks} blocks {blocked}"
    if one.of_kind == CATALOG.name and one.field.endswith(":name"):
        return _name(world.load(CATALOG, MAIN), str(value))
    if one.field == "category":
        return category_name(world.load(CATALOG, MAIN), str(value))
    return _plain(world, value)


def _name(catalog: Catalog, known: str) -> str:
    """The name of a category or label; what is no id is one itself."""
    thing = catalog.categories.get(known) or catalog.labels.get(known)
    return thing.name if thing else known


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

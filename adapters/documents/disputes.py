"""What machines of one home said of tasks without knowing of each other, and nobody has settled:
lines of `conflicts`, of `task show` and of the page (ADR 71)."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from adapters.documents.conflicts import ConflictDetails, ConflictValue
from adapters.home.machines import machine_names
from domain.canonical import encode
from domain.journal.catalog import CATALOG
from domain.journal.document import category_name
from domain.journal.fold import TASK
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
        return [found for one in of_many for found in disputes_of(world, one, names)]


def disputes_of(world: World, task_id: str, labels: "Mapping[str, str]") -> list[ConflictDetails]:
    """What is open in one task. `labels`: what machines are called, by replica."""
    title = world.load(TASK, task_id).title
    return [
        _details(world, title, one, labels)
        for one in world.disputes(TASK, task_id)
        if one.of_kind == TASK.name
    ]


def names_of(home: "Home") -> "Mapping[str, str]":
    """What the machines of a home are called."""
    return machine_names(home.path, home.services.journal.replica)


def _details(
    world: World, title: str, one: Conflict, labels: "Mapping[str, str]"
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
    stands = (side.row.replica for side in one.sides[::-1] if side.value == one.stands)
    return ConflictDetails(one.entity, title, one.field, one.kind, next(stands, ""), values)


def _said(world: World, one: Conflict, side: Side) -> str:
    """A side's value as a person reads it."""
    if one.kind == "removal":
        return "removed" if side.value else "changed"
    value: Any = side.value
    if one.field == "category":
        return category_name(world.load(CATALOG, MAIN), str(value))
    return _plain(world, value)


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

"""What is open of a task between the machines of a home: its own fields, its timers, and the
circles of `blocks` links that it stands in (ADR 71)."""

from collections.abc import Iterable, Iterator
from typing import cast

from domain.conflicts import Conflict, Side
from domain.differing import open_cycles
from domain.journal.catalog import CATALOG
from domain.journal.fold import TASK
from domain.journal.links import LINKS
from domain.journal.timer import TIMER
from domain.world import MAIN, World

TIMERS, CIRCLE = "timer", "blocks"
"""What the fields of those conflicts are called that are no field of a task."""


def disputes_of(world: World, task_id: str) -> list[Conflict]:
    """What is open of one task."""
    own = [one for one in world.disputes(TASK, task_id) if one.of_kind == TASK.name]
    timers = [one for one in timer_disputes(world) if task_id in _timed(one)]
    found = [task_id, *_ahead(world, task_id)] if world.is_shared else ()
    circles = [one for one in _circles(world, found) if task_id in tasks_of(one)]
    return [*own, *timers, *circles]


def timer_disputes(world: World) -> list[Conflict]:
    """Timers that run at once, which machines started without knowing of each other."""
    return [one for one in world.disputes(TIMER, MAIN) if one.field == TIMERS]


def named_alike(world: World) -> list[Conflict]:
    """Categories and labels of one name, and what else is open of the catalog."""
    return [*world.disputes(CATALOG, MAIN)]


def circles(world: World) -> list[Conflict]:
    """Circles of `blocks` links; looks at all tasks that block one."""
    if not world.is_shared:
        return []
    edges = (edge for one in world.entities(LINKS.name) for edge in world.load(LINKS, one).incoming)
    return _circles(world, {edge.source for edge in edges if edge.relation == "blocks"})


def tasks_of(one: Conflict) -> list[str]:
    """The tasks that a conflict of timers or of a circle is about, in the order of its sides."""
    match one.kind:
        case "timers":
            return [*_timed(one)]
        case "cycle":
            return [pair_of(side)[0] for side in one.sides]
        case _:
            return [one.entity]


def _timed(one: Conflict) -> Iterator[str]:
    return (pair_of(side)[0] for side in one.sides)


def pair_of(side: Side) -> tuple[str, str]:
    """What a side of such a conflict names: a task and its entry, or a task and what it blocks."""
    first, second = cast("tuple[str, str]", side.value)
    return first, second


def _ahead(world: World, task_id: str) -> list[str]:
    """All that a task blocks, at once or through others; bounded: each is looked at once."""
    found: dict[str, None] = {}
    left = [task_id]
    while left:
        task = world.load(TASK, left.pop())
        ahead = [one.target for one in task.links if one.relation == "blocks"]
        left += [one for one in ahead if one not in found]
        found.update(dict.fromkeys(ahead))
    return [one for one in found if one != task_id]


def _circles(world: World, tasks: Iterable[str]) -> list[Conflict]:
    rows = {one: world.rows(TASK, one) for one in sorted(tasks)}
    return [*open_cycles(rows)] if len(rows) > 1 else []

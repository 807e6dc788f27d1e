"""Edges between tasks, as persons and operations make them (SPEC 1)."""

from domain.errors import Refused
from domain.handlers.decided import Event, Loads, on
from domain.journal import edits
from domain.journal import task as t
from domain.journal.fold import TASK
from domain.journal.links import CYCLE_SEARCH_MAX, INVERSE, LinkedFrom
from domain.journal.task import Task

RELATIONS: tuple[t.Relation, ...] = ("relates_to", *INVERSE.values())


def task_of(world: Loads, wanted: str) -> Task:
    """A living task, or Refused."""
    return edits.living(world.load(TASK, wanted), wanted)


def edge(world: Loads, task: str, phrase: str, target: str) -> tuple[Task, Task, t.Relation]:
    """The edge's source, target and relation in its canonical direction."""
    here, there = task_of(world, task), task_of(world, target)
    if here.id == there.id:
        because = "a task cannot be linked to itself"
        raise Refused("invalid_value", because=because, instead="name another task")
    if phrase in INVERSE:
        return there, here, INVERSE[phrase]
    relation = next((one for one in RELATIONS if one == phrase), None)
    if relation is None:
        known = ", ".join((*RELATIONS, *INVERSE))
        because = f"{phrase!r} is no relation"
        raise Refused("invalid_value", because=because, instead=f"use one of {known}")
    if relation == "relates_to" and t.Link(relation, here.id) in there.links:
        return there, here, relation  # symmetric: the edge exists from the other end
    return here, there, relation


def linked(
    world: Loads,
    source: Task,
    relation: t.Relation,
    target: Task,
    by: str,
    *,
    again: bool = False,
) -> list[Event]:
    """A new edge; none where it is there already, unless it shall be said `again`.

    Raises:
        Refused: Code ``cycle``.
    """
    is_there = t.Link(relation, target.id) in source.links
    if is_there and not again:
        return []
    if relation == "blocks" and not is_there:
        _no_cycle(world, source, target)
    return [
        *on(world, "task", source.id, [t.TaskLinked(by, relation, target.id)]),
        *on(world, "links", target.id, [LinkedFrom(relation, source.id)]),
    ]


def _no_cycle(world: Loads, source: Task, target: Task) -> None:
    """Refuse an edge `source blocks target` if target already blocks source, however far."""
    seen, ahead = {target.id}, [target.id]
    while ahead:  # bounded by CYCLE_SEARCH_MAX
        if len(seen) > CYCLE_SEARCH_MAX:
            because = f"more than {CYCLE_SEARCH_MAX} tasks hang on {target.title!r}"
            instead = "remove some `blocks` links first"
            raise Refused("cycle", because=because, instead=instead)
        links = world.load(TASK, ahead.pop()).links
        blocked = [link.target for link in links if link.relation == "blocks"]
        if source.id in blocked:
            because = (
                f"{target.title!r} already blocks {source.title!r}, directly or through others"
            )
            raise Refused("cycle", because=because, instead="remove that link first")
        ahead += [one for one in blocked if one not in seen]
        seen.update(blocked)

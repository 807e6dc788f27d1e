"""Settling what machines said of a task without knowing of each other (ADR 71)."""

from domain.causes import Result
from domain.errors import Refused, invalid
from domain.handlers.decided import Decided, on
from domain.handlers.journal import Handler, delete_task
from domain.handlers.links import task_of
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.fold import TASK
from domain.journal.settling import settled
from domain.meanings import TASK_ITSELF
from domain.merging import Conflict, Side
from domain.world import World


def settle_conflict(cause: do.SettleConflict, key: str, at: str, world: World) -> Decided:
    """Write what one side said once more, so that it knows all sides and stands."""
    task = task_of(world, cause.task)
    conflict = _open(world, task, cause.field)
    there = {(one.row.replica, one.row.n) for one in conflict.sides}
    if cause.seen and {(one.replica, one.n) for one in cause.seen} != there:
        because = f"what was said of {cause.field!r} has changed since"
        raise Refused("stale", because=because, instead="look at it again")
    side = next((one for one in conflict.sides[::-1] if one.row.replica == cause.keep), None)
    if side is None:
        said = ", ".join(sorted({one.row.replica for one in conflict.sides}))
        because = f"{cause.keep!r} said nothing else of {cause.field!r}"
        raise invalid(because, f"name one of {said}")
    if conflict.kind == "removal" and cause.field == TASK_ITSELF and side.value:
        return delete_task(do.DeleteTask(task.id), key, at, world)
    fact = _fact(task, conflict, side)
    if fact is None:
        because = f"a conflict in {cause.field!r} has no value to choose"
        raise invalid(because, "change it as you want it: that settles it")
    return Decided(on(world, "task", task.id, [fact]), Result((task.id,)))


def _open(world: World, task: t.Task, field: str) -> Conflict:
    found = world.disputes(TASK, task.id)
    conflict = next((one for one in found if one.field == field), None)
    if conflict is None:
        because = f"no two machines say different things of {field!r} in {task.title!r}"
        raise invalid(because, "name a field in which they do")
    return conflict  # type: ignore[no-any-return]  # the world cannot name its type


def _fact(task: t.Task, conflict: Conflict, side: Side) -> t.TaskFact | None:
    kind, _, one = conflict.field.partition(":")
    if conflict.kind == "values" or conflict.field == TASK_ITSELF:
        return settled(conflict.field, side.value)
    if kind == "note" and side.value:
        return t.NoteRemoved(t.PERSON, one)
    note = next((note for note in task.notes if note.id == one), None)
    return t.NoteEdited(t.PERSON, one, note.words) if note else None


HANDLERS: dict[type, Handler] = {do.SettleConflict: settle_conflict}

"""Settling what machines said of a task, or of the catalog, without knowing of each other: one more
row of the chosen side, which knows all sides (ADR 71)."""

from collections.abc import Iterable

from domain.causes import Result
from domain.disputed import disputes_in, ends, is_of_namesakes
from domain.errors import Refused, Remedy, invalid
from domain.handlers.decided import Decided, Event, on
from domain.handlers.journal import Handler, delete_task, timer_events, unlink_task
from domain.handlers.links import linked, task_of
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import edits
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.fold import TASK
from domain.journal.links import UnlinkedFrom
from domain.journal.settling import settled
from domain.journal.timer import TIMER, TimerStopped
from domain.machines.commands import SettleAgentsConflict
from domain.meanings import TASK_ITSELF
from domain.merging import Conflict, Side
from domain.world import MAIN, World


def settle_conflict(cause: do.SettleConflict, key: str, at: str, world: World) -> Decided:
    """Let what one side said stand; `cause.task` is empty of what the catalog holds."""
    task = task_of(world, cause.task) if cause.task else None
    found = disputes_in(world, task.id) if task else world.disputes(CATALOG, MAIN)
    conflict, side = chosen(found, cause, f" in {task.title!r}" if task else "")
    if task is None:
        fact = _of_catalog(world, conflict, side)
        return Decided(on(world, "catalog", MAIN, [fact]), Result((cause.field,)))
    match conflict.kind:
        case "timers":
            return Decided(_others_stopped(world, side, at), Result((task.id,)))
        case "cycle":
            blocks, blocked = ends(side)
            return unlink_task(do.UnlinkTask(blocks, "blocks", blocked), key, at, world)
        case "removal" if cause.field == TASK_ITSELF and side.value:
            return delete_task(do.DeleteTask(task.id), key, at, world)
    return Decided(_events(world, task, conflict, side), Result((task.id,)))


def chosen(
    found: Iterable[Conflict], cause: do.SettleConflict | SettleAgentsConflict, where: str = ""
) -> tuple[Conflict, Side]:
    """The conflict that is to be settled, and the side that shall stand; `where` it is, in words.

    Raises:
        Refused: Code ``invalid_value`` or ``stale``.
    """
    conflict = next((one for one in found if one.field == cause.field), None)
    if conflict is None:
        because = f"no two machines say different things of {cause.field!r}{where}"
        raise invalid(because, "name a field in which they do")
    there = {(one.row.replica, one.row.n) for one in conflict.sides}
    if cause.seen and {(one.replica, one.n) for one in cause.seen} != there:
        because = f"what was said of {cause.field!r} has changed since"
        raise Refused("stale", because=because, instead="look at it again")
    side = next((one for one in conflict.sides[::-1] if one.row.replica == cause.keep), None)
    if side is None:
        said = ", ".join(sorted({one.row.replica for one in conflict.sides}))
        because = f"{cause.keep!r} said nothing else of {cause.field!r}"
        raise invalid(because, f"name one of {said}")
    return conflict, side


def _others_stopped(world: World, side: Side, at: str) -> list[Event]:
    """Every timer but the chosen one ends now."""
    events: list[Event] = []
    for one in world.load(TIMER, MAIN).running:
        if one.entry != ends(side)[1]:
            events += on(world, "task", one.task, [t.TimeStopped(t.PERSON, one.entry, at)])
            events += on(world, "timer", MAIN, [TimerStopped(one.task, one.entry)])
    return events


def _events(world: World, task: t.Task, conflict: Conflict, side: Side) -> list[Event]:
    kind, _, one = conflict.field.partition(":")
    if conflict.kind == "values" and kind == "link":
        return _link(world, task, one, side)
    if conflict.kind == "values" or conflict.field == TASK_ITSELF:
        fact = settled(conflict.field, side.value)
        if kind == "entry":  # an end that one machine took back is none: there it runs on
            entry = edits.known_entry(task, one.partition(":")[0])
            runs_on = one.endswith(":end") and not side.value
            fact = t.TimeReopened(t.PERSON, entry.id, entry.start) if runs_on else fact
    elif side.value:
        fact = t.NoteRemoved(t.PERSON, one)
    else:
        note = next((note for note in task.notes if note.id == one), None)
        fact = t.NoteEdited(t.PERSON, one, note.words) if note else None
    if fact is None:  # pragma: no cover  # each field that can differ has its fact
        because = f"a conflict in {conflict.field!r} has no value to choose"
        raise invalid(because, "change it as you want it: that settles it")
    return [*on(world, "task", task.id, [fact]), *timer_events(world, task.id, fact)]


def _link(world: World, task: t.Task, link: str, side: Side) -> list[Event]:
    """Both ends say once more that the link is there, or gone. Raises Refused, code ``cycle``."""
    name, _, target = link.partition(":")
    relation: t.Relation = name  # type: ignore[assignment]  # it stands so in the link's fact
    if not side.value:
        return [
            *on(world, "task", task.id, [t.TaskUnlinked(t.PERSON, relation, target)]),
            *on(world, "links", target, [UnlinkedFrom(relation, task.id)]),
        ]
    other = world.load(TASK, target)
    return linked(world, task, relation, other, t.PERSON, again=True)


def _of_catalog(world: World, conflict: Conflict, side: Side) -> c.CatalogFact:
    """The name of a category, or a label with where it may be used, once more."""
    kind, _, rest = conflict.field.partition(":")
    one = rest.partition(":")[0]
    if is_of_namesakes(world, conflict):
        because = f"{len(conflict.sides)} categories have one name, and each keeps its tasks"
        raise Refused("invalid_value", because=because, instead=Remedy("rename_category", one))
    if kind == "category":
        return c.CategoryRenamed(one, str(side.value))
    if side.value is None:
        return c.LabelDeleted(one)
    named: tuple[str, tuple[str, ...]] = side.value  # type: ignore[assignment]  # of `LabelAdded`
    return c.LabelAdded(one, *named)


HANDLERS: dict[type, Handler] = {do.SettleConflict: settle_conflict}

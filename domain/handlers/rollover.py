"""What is written to two tasks in one append: a follow-up, items that move, a link (ADR 40)."""

from collections.abc import Sequence
from typing import NamedTuple

from domain.causes import Result
from domain.errors import Refused
from domain.handlers.decided import Decided, Event, on
from domain.handlers.journal import Handler, stopped
from domain.handlers.links import edge, linked, task_of
from domain.journal import commands as do
from domain.journal import edits, rollover
from domain.journal.fold import TASK
from domain.journal.links import LinkedFrom
from domain.journal.rollover import FollowUp, Moved
from domain.journal.task import PERSON, Item, Task
from domain.keys import key as make_key
from domain.tools import registry
from domain.tools.arguments_tasks import CreateFollowUpTask, MigrateChecklistItem, ProposeLink
from domain.tools.base import Refusal
from domain.wire import Payload, words
from domain.world import World


class Both(NamedTuple):
    """What is written to both tasks, and the texts that are the new one's own."""

    events: Sequence[Event]
    payloads: Sequence[Payload] = ()


def over_both(world: World, cause: do.ApplyOperation, source: Task, text: str) -> Both | Refusal:
    """What an operation with a second task comes to; `registry.apply` has allowed the first.

    Args:
        world: The journal.
        cause: The operation.
        source: The agent's own task.
        text: Its arguments.
    """
    by = f"agent:{cause.agent}"
    if len(cause.others) != 1 or registry.others(cause.tool, text, *cause.others) != cause.others:
        return Refusal("not_found", "It does not name the other task.")
    other = world.load(TASK, cause.others[0])
    match registry.read(cause.tool, text):
        case CreateFollowUpTask() as given:
            if other.exists and not (cause.revives and other.is_deleted):
                return Refusal("redundant", "The follow-up task is there already.")
            items = _items(source, [one.id for one in given.carry_over])
            description, kept = words(other.id, given.description)
            wanted = FollowUp(
                given.title,
                description if given.description else None,
                given.due_date,
                given.priority,
                given.relation or "follows_up_on",
            )
            if other.exists:
                found = rollover.again(source, other, wanted, items, by)
                return Both(_events(world, source, other, found), kept)
            return Both(followed(world, source, other.id, wanted, items, by), kept)
        case MigrateChecklistItem() as given:
            if refusal := _forbidden(other, source, cause):
                return refusal
            found = rollover.moved(source, _items(source, [given.id]), other, by)
            return Both(_events(world, source, other, found))
        case ProposeLink() as given:
            return _forbidden(other, source, cause) or _linked(world, given, source, other, by)
        case _:  # pragma: no cover  # the registry has no other change over two tasks
            return Refusal("unknown_tool", "It changes one task alone.")


def conclude(cause: do.ConcludeTask, key: str, at: str, world: World) -> Decided:
    """A person's task is done, and what remains of it follows."""
    source = task_of(world, cause.task)
    if not source.is_open:
        because = f"the task {source.title!r} is {source.status} already"
        instead = "set it open first, or add a task for what remains"
        raise Refused("invalid_value", because=because, instead=instead)
    title = edits.titled(world.text(cause.title), edits.TITLE_MAX)
    left = [one for one in source.items if not (one.is_checked or one.is_archived)]
    made = make_key("task", key, "0")
    events = followed(
        world, source, made, FollowUp(title), [] if cause.keeps_items else left, PERSON
    )
    ended = stopped(world, at, of=source.id) if cause.stops_timer else []
    done = on(world, "task", source.id, edits.set_status(source, "DONE", "", PERSON))
    return Decided([*events, *ended, *done], Result((made, source.id)))


def followed(
    world: World, source: Task, made: str, wanted: FollowUp, items: Sequence[Item], by: str
) -> list[Event]:
    """A follow-up with what it takes over, linked to the task that it follows."""
    found = rollover.follow_up(source, made, wanted, items, by)
    link = LinkedFrom(wanted.relation, made)
    return [*_events(world, source, Task(made), found), *on(world, "links", source.id, [link])]


def _events(world: World, source: Task, target: Task, found: Moved) -> list[Event]:
    return [
        *on(world, "task", source.id, found.source),
        *on(world, "task", target.id, found.target),
    ]


def _items(task: Task, wanted: Sequence[str]) -> list[Item]:
    """Items of a task in the order that they have there."""
    return [item for item in task.items if item.id in wanted]


def _linked(world: World, given: ProposeLink, source: Task, other: Task, by: str) -> Both | Refusal:
    here, there, relation = edge(world, source.id, given.relation, other.id)
    try:
        events = linked(world, here, relation, there, by)
    except Refused:  # in words that hold neither's title: what is told belongs to one task
        return Refusal("cycle", "The other task blocks this one already, or through others.")
    return Both(events) if events else Refusal("redundant", "The two are linked so already.")


def _forbidden(other: Task, source: Task, cause: do.ApplyOperation) -> Refusal | None:
    """The second task's side of the scope check, fail closed (SPEC 5)."""
    if not other.exists or other.is_deleted or other.id == source.id:
        return Refusal("not_found", "The other task does not exist, or not any more.")
    if not other.category:
        return Refusal("missing_category", "The other task has no category.")
    if other.category not in cause.categories:
        message = "The other task's category is not one that the agent may touch."
        return Refusal("out_of_scope", message)
    return None


HANDLERS: dict[type, Handler] = {do.ConcludeTask: conclude}

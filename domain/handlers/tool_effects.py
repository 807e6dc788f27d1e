"""What an operation, a tool's effect, does to one task or two, and what concludes one by another
(ADR 40). Apart from `journal`, as it loads the tools."""

from collections.abc import Sequence
from typing import NamedTuple

from domain.append.causes import Result
from domain.append.notification_batch import tokens_of
from domain.errors import Refused, invalid
from domain.handlers.decided import Decision, Event, on
from domain.handlers.journal import Handler, edge, linked, stopped, task_of
from domain.journal import commands as do
from domain.journal import edits
from domain.journal.catalog import CATALOG
from domain.journal.day import DAY
from domain.journal.edits import FollowUp, Moved
from domain.journal.links import LinkedFrom
from domain.journal.task import PERSON, TASK, ChecklistItem, Task
from domain.log.keys import key as make_key
from domain.log.state import MAIN, LogState
from domain.log.wire import Payload, words
from domain.tools import registry
from domain.tools.arguments import CreateFollowUpTask, MigrateChecklistItem, ProposeLink
from domain.tools.base import ToolRefusal
from domain.tools.category import NewTask
from domain.tools.snapshot import Snapshot

# What is written to two tasks in one append: a follow-up, items that move, a link (ADR 40).


class TwoTasks(NamedTuple):
    """What is written to both tasks, and the texts that are the new one's own."""

    events: Sequence[Event]
    payloads: Sequence[Payload] = ()


def over_both(
    world: LogState, cause: do.ApplyOperation, source: Task, text: str
) -> TwoTasks | ToolRefusal:
    """What an operation with a second task comes to; `registry.apply` has allowed the first.
    `source`: the agent's own task."""
    by = f"agent:{cause.agent}"
    if len(cause.others) != 1 or registry.others(cause.tool, text, *cause.others) != cause.others:
        return ToolRefusal("not_found", "It does not name the other task.")
    other = world.load(TASK, cause.others[0])
    match registry.read(cause.tool, text):
        case CreateFollowUpTask() as given:
            if other.exists and not (cause.revives and other.is_deleted):
                return ToolRefusal("redundant", "The follow-up task is there already.")
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
                found = edits.again(source, other, wanted, items, by)
                return TwoTasks(_events(world, source, other, found), kept)
            return TwoTasks(followed(world, source, other.id, wanted, items, by), kept)
        case MigrateChecklistItem() as given:
            if refusal := _other_out_of_scope(other, source, cause):
                return refusal
            found = edits.moved(source, _items(source, [given.id]), other, by)
            return TwoTasks(_events(world, source, other, found))
        case ProposeLink() as given:
            return _other_out_of_scope(other, source, cause) or _linked(
                world, given, source, other, by
            )
        case _:  # pragma: no cover  # the registry has no other change over two tasks
            return ToolRefusal("unknown_tool", "It changes one task alone.")


def _made(
    world: LogState, cause: do.ApplyOperation, given: NewTask, by: str
) -> TwoTasks | ToolRefusal:
    """A task that was not there, or that was taken back."""
    made = world.load(TASK, cause.task)
    if made.is_there or (made.exists and not cause.revives):
        return ToolRefusal("redundant", "The task is there already.")
    wanted = do.CreateTask(
        given.title,
        given.category,
        estimate=given.estimate_minutes or 0,
        due=given.due_date,
        priority=given.priority or "",
    )
    description, kept = words(made.id, given.description)
    titles = [one.title for one in given.items]
    facts = edits.made_or_again(made, wanted, description, titles, by)
    return TwoTasks(on(world, "task", made.id, facts), kept)


def conclude(cause: do.ConcludeTask, key: str, at: str, world: LogState) -> Decision:
    """A person's task is done, and what remains of it follows."""
    source = task_of(world, cause.task)
    if not source.is_open:
        because = f"the task {source.title!r} is {source.status} already"
        raise invalid(because, "set it open first, or add a task for what remains")
    title = edits.titled(world.text(cause.title), edits.TITLE_MAX)
    left = [one for one in source.items if not (one.is_checked or one.is_archived)]
    made = make_key("task", key, "0")
    events = followed(
        world, source, made, FollowUp(title), [] if cause.keeps_items else left, PERSON
    )
    ended = stopped(world, at, of=source.id) if cause.stops_timer else []
    done = on(world, "task", source.id, edits.set_status(source, "DONE", "", PERSON))
    return Decision([*events, *ended, *done], Result((made, source.id)))


def followed(
    world: LogState,
    source: Task,
    made: str,
    wanted: FollowUp,
    items: Sequence[ChecklistItem],
    by: str,
) -> list[Event]:
    """A follow-up with what it takes over, linked to the task that it follows."""
    found = edits.follow_up(source, made, wanted, items, by)
    link = LinkedFrom(wanted.relation, made)
    return [*_events(world, source, Task(made), found), *on(world, "links", source.id, [link])]


def _events(world: LogState, source: Task, target: Task, found: Moved) -> list[Event]:
    gone, come = found
    return [*on(world, "task", source.id, gone), *on(world, "task", target.id, come)]


def _items(task: Task, wanted: Sequence[str]) -> list[ChecklistItem]:
    """Items of a task in the order that they have there."""
    return [item for item in task.items if item.id in wanted]


def _linked(
    world: LogState, given: ProposeLink, source: Task, other: Task, by: str
) -> TwoTasks | ToolRefusal:
    here, there, relation = edge(world, source.id, given.relation, other.id)
    try:
        events = linked(world, here, relation, there, by)
    except Refused:  # in words that hold neither's title: what is told belongs to one task
        return ToolRefusal("cycle", "The other task blocks this one already, or through others.")
    so_already = ToolRefusal("redundant", "The two are linked so already.")
    return TwoTasks(events) if events else so_already


def _other_out_of_scope(other: Task, source: Task, cause: do.ApplyOperation) -> ToolRefusal | None:
    """The second task's side of the scope check, fail closed (SPEC 5)."""
    if not other.exists or other.is_deleted or other.id == source.id:
        return ToolRefusal("not_found", "The other task does not exist, or not any more.")
    if not other.category:
        return ToolRefusal("missing_category", "The other task has no category.")
    if other.category not in cause.categories:
        message = "The other task's category is not one that the agent may touch."
        return ToolRefusal("out_of_scope", message)
    return None


# --------------------------------------------------------------------------------------- operations
# Operations: a tool's effect on the journal, exactly once (DESIGN 5).
#
# `ApplyOperation` and `VoidOperation` share the operation's key: whichever is recorded first
# decides, and the other is answered with its stored outcome (the one exception to law 2).


def apply_operation(cause: do.ApplyOperation, key: str, at: str, world: LogState) -> Decision:
    """Run the tool's pure handler on the task or the day as it is now; a refusal is an outcome
    too."""
    arguments = world.text(cause.arguments)
    now = registry.seen_now(world, cause.task, cause.tool, arguments, world.n, at)
    refusal = _out_of_scope(world, now, cause)
    if refusal is None and cause.base and registry.base(cause.tool, now, arguments) != cause.base:
        refusal = ToolRefusal("stale", "what it would change is no longer what it was proposed on")
    if refusal is None:
        answer = _applied(cause, now, arguments, world)
        if not isinstance(answer, ToolRefusal):
            ids = (cause.task, *cause.others) if cause.task else ()
            result = Result(ids, "applied", tokens=_tokens(answer.events))
            return Decision(answer.events, result, answer.payloads)
        refusal = answer
    ids = (cause.task,) if cause.task else ()
    return Decision(result=Result(ids, "refused", refusal.code, refusal.message))


def _applied(
    cause: do.ApplyOperation, now: Snapshot, arguments: str, world: LogState
) -> TwoTasks | ToolRefusal:
    """What is written to the task, to both that it is about, or to the day."""
    by = f"agent:{cause.agent}"
    if isinstance(facts := registry.apply(cause.tool, now, arguments, by), ToolRefusal):
        return facts
    if isinstance(given := registry.read(cause.tool, arguments), NewTask):
        return _made(world, cause, given, by)
    if registry.is_over_two(cause.tool):
        return over_both(world, cause, world.load(TASK, cause.task), arguments)
    if now.day is not None:
        return TwoTasks(on(world, DAY.name, now.day.date, facts))
    return TwoTasks(on(world, "task", cause.task, facts))


def _tokens(events: Sequence[Event]) -> tuple[str, ...]:
    """What changed, of each task."""
    touched: set[str] = set()
    for stream, fact in events:
        of_kind, _, entity = stream.partition("@")[0].partition(":")
        touched.update(tokens_of(entity, fact) if of_kind == "task" else ())
    return tuple(sorted(touched))


def _out_of_scope(world: LogState, now: Snapshot, cause: do.ApplyOperation) -> ToolRefusal | None:
    """The journal's side of the scope check, fail closed (SPEC 5)."""
    categories = [one.category for one in now.others]
    if registry.makes_task(cause.tool):
        known = world.load(CATALOG, MAIN).categories
        categories = [now.category if now.category in known else ""]
    elif cause.task:
        if now.is_deleted or not world.load(TASK, cause.task).exists:
            return ToolRefusal("not_found", "the task does not exist any more")
        categories = [now.category]
    if not all(categories):
        return ToolRefusal("missing_category", "the task has no category, or one that is gone")
    if not set(categories).issubset(cause.categories):
        return ToolRefusal("out_of_scope", "the task's category is not one the agent may touch")
    return None


def void_operation(cause: do.VoidOperation, key: str, at: str, world: LogState) -> Decision:
    return Decision(result=Result((cause.task,), "voided", message=cause.reason))


HANDLERS: dict[type, Handler] = {
    do.ConcludeTask: conclude,
    do.ApplyOperation: apply_operation,
    do.VoidOperation: void_operation,
}

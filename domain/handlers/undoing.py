"""A person's deed is taken back: in one append, the inverse of each fact, the newest first."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from domain.causes import Result
from domain.errors import Refused
from domain.handlers.decided import Decided, Event, after, on
from domain.handlers.journal import Handler, timer_events
from domain.handlers.links import linked
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.fold import TASK
from domain.journal.links import UnlinkedFrom
from domain.journal.taking_back import Inverse, inverse, shape
from domain.journal.task import PERSON, Task, TaskFact
from domain.journal.timer import TIMER, TimerStarted
from domain.world import MAIN, Recorded, World


class TakenBack(NamedTuple):
    """What takes a deed back in one task; the facts of it that nothing takes back; and whether
    something of it was changed since."""

    facts: Sequence[TaskFact] = ()
    staying: Sequence[TaskFact] = ()
    is_moved: bool = False


def taken_back(
    world: World,
    task_id: str,
    appends: Collection[int],
    at: str,
    of: str = "",
    *,
    reopens: bool,
) -> TakenBack:
    """What takes a deed of a replica back in a task.

    Args:
        world: The journal.
        task_id: One of the tasks that it changed.
        appends: The appends that it is.
        at: When it is taken back.
        of: Whose appends they are; empty: this replica's own.
        reopens: See `UndoDeed`; a stopped timer stays so where another one runs since.
    """
    now, state = world.load(TASK, task_id), TASK.initial(task_id)
    steps: list[tuple[Recorded, Task, Task]] = []
    for row in world.rows(TASK, task_id):
        before, state = state, TASK.evolve(state, row)
        if row.n in appends and row.replica == (of or world.replica):
            steps.append((row, before, state))
    if steps and not steps[0][1].exists:
        return _created(steps[-1][2], now)
    facts: list[TaskFact] = []
    staying: list[TaskFact] = []
    for row, before, made in reversed(steps):
        fact: Any = row.fact  # of a task
        found = inverse(fact, before, made, now, at, reopens=reopens)
        if any(map(_runs, found.facts)) and _another_runs(world, appends):
            found = Inverse("stays")
        if found.outcome == "moved" or (found.facts and not _can(now, found.facts)):
            return TakenBack(is_moved=True)
        facts += found.facts
        staying += [fact] if found.outcome == "stays" else []
        now = after(world, TASK, now, found.facts, at)
    return TakenBack(facts, staying)


def _created(made: Task, now: Task) -> TakenBack:
    """A new task is deleted, if it is as it was made."""
    if now.is_deleted or shape(made) != shape(now):
        return TakenBack(is_moved=True)
    return TakenBack([t.TaskDeleted(PERSON)])


def _can(now: Task, facts: Sequence[TaskFact]) -> bool:
    """A deleted task is changed by nothing but its return."""
    return not now.is_deleted or isinstance(facts[0], t.TaskRestored)


def _runs(fact: TaskFact) -> bool:
    return isinstance(fact, t.TimeReopened | t.TimeStarted)


def _another_runs(world: World, appends: Collection[int]) -> bool:
    """Whether a timer runs that none of these appends started: there is one for all tasks."""
    own = {
        row.fact.entry
        for row in world.rows(TIMER, MAIN)
        if isinstance(row.fact, TimerStarted) and row.n in appends and row.replica == world.replica
    }
    return any(one.entry not in own for one in world.load(TIMER, MAIN).running)


def _events(world: World, task: Task, facts: Sequence[TaskFact]) -> list[Event]:
    """The facts, and what they say to the other ends of links, and to the timer."""
    events: list[Event] = []
    for fact in facts:
        if isinstance(fact, t.TaskLinked):
            target = world.load(TASK, fact.target)
            events += linked(world, task, fact.relation, target, PERSON)
            continue
        events += on(world, "task", task.id, [fact])
        events += timer_events(world, task.id, fact)
        if isinstance(fact, t.TaskUnlinked):
            events += on(world, "links", fact.target, [UnlinkedFrom(fact.relation, task.id)])
    return events


def undo_deed(cause: do.UndoDeed, key: str, at: str, world: World) -> Decided:
    """Of an operation a refusal is an outcome, too: who asks again is told the same."""
    try:
        events = _all_taken_back(cause, at, world)
    except Refused as refused:
        if not cause.operation:
            raise
        return Decided(result=Result(cause.tasks, "refused", refused.code))
    return Decided(events, Result(cause.tasks, "applied" if cause.operation else ""))


def _all_taken_back(cause: do.UndoDeed, at: str, world: World) -> list[Event]:
    events: list[Event] = []
    for task_id in cause.tasks:
        found = taken_back(world, task_id, cause.appends, at, cause.of, reopens=cause.reopens)
        task = world.load(TASK, task_id)
        if found.is_moved:
            because = f"{task.title!r} was changed since"
            raise Refused("stale", because=because, instead="look at it, and change it by hand")
        events += _events(world, task, found.facts)
    if not events:
        because = "nothing of it can be taken back"
        raise Refused("invalid_value", because=because, instead="change the task by hand")
    return events


HANDLERS: dict[type, Handler] = {do.UndoDeed: undo_deed}

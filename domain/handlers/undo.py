"""A person's deed is taken back: in one append, the inverse of each fact, the newest first.

Of an import what was changed since stays, of all others it refuses the whole."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from domain.append.causes import Result
from domain.errors import Refused, invalid
from domain.handlers.decided import Decision, Event, StateAhead, StateLoader, after, on
from domain.handlers.journal import Handler, linked, timer_events
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.day import DAY, taken_back
from domain.journal.import_conflicts import undone_in
from domain.journal.imports import SAYING, unsaid
from domain.journal.links import UnlinkedFrom
from domain.journal.task import PERSON, TASK, Task, TaskFact
from domain.journal.timer import TIMER, TimerStarted
from domain.journal.undo import Inverse, in_order, inverse, is_as_before, shape
from domain.log.state import MAIN, LogState, RecordedEvent

Step = tuple[RecordedEvent, Task, Task]
"""A row of a deed, and the task before and after it."""


class UndoneTask(NamedTuple):
    """What takes a deed back in one task; the facts of it that nothing takes back; and whether
    something of it was changed since."""

    facts: Sequence[TaskFact] = ()
    staying: Sequence[TaskFact] = ()
    is_moved: bool = False


def _steps(
    rows: Sequence[RecordedEvent], task_id: str, replica: str, appends: Collection[int]
) -> list[Step]:
    """The rows of a deed of a replica in a task."""
    state = TASK.initial(task_id)
    steps: list[Step] = []
    for row in rows:
        before, state = state, TASK.evolve(state, row)
        if row.n in appends and row.replica == replica:
            steps.append((row, before, state))
    return steps


def undone_in_task(
    world: LogState, task_id: str, appends: Collection[int], at: str, of: str = "", *, reopens: bool
) -> UndoneTask:
    """What takes a deed of a replica back in a task.

    Args:
        task_id: One of the tasks that it changed.
        appends: The appends that it is.
        at: When it is taken back.
        of: Whose appends they are; empty: this replica's own.
        reopens: See `UndoDeed`; a stopped timer stays so where another one runs since.
    """
    now, rows = world.load(TASK, task_id), world.rows(TASK, task_id)
    steps = _steps(rows, task_id, of or world.replica, appends)
    if steps and not steps[0][1].exists:
        is_moved = now.is_deleted or shape(steps[-1][2]) != shape(now)
        return UndoneTask([] if is_moved else [t.TaskDeleted(PERSON)], is_moved=is_moved)
    facts: list[TaskFact] = []
    if reopens and any(isinstance(row.fact, SAYING) for row, _, _ in steps):
        facts += unsaid(rows, now, world.replica, appends)
    staying: list[TaskFact] = []
    for row, before, made in reversed(steps):
        fact: Any = row.fact  # of a task
        if reopens and isinstance(fact, SAYING):
            continue
        found = _inverse(world, appends, inverse(fact, before, made, now, at, reopens=reopens))
        if found.outcome == "moved" or (found.facts and not _can(now, found.facts)):
            return UndoneTask(is_moved=True)
        facts += found.facts
        staying += [fact] if found.outcome == "stays" else []
        now = after(world, TASK, now, found.facts, at)
    return UndoneTask(facts, staying)


def _can(now: Task, facts: Sequence[TaskFact]) -> bool:
    """A deleted task is changed by nothing but its return."""
    return not now.is_deleted or isinstance(facts[0], t.TaskRestored)


def _inverse(world: LogState, appends: Collection[int], found: Inverse) -> Inverse:
    """An inverse, if no other timer would run beside the one that it lets run on."""
    runs = any(isinstance(one, t.TimeReopened | t.TimeStarted) for one in found.facts)
    return Inverse("stays") if runs and _another_runs(world, appends) else found


def _another_runs(world: LogState, appends: Collection[int]) -> bool:
    """Whether a timer runs that none of these appends started: there is one for all tasks."""
    own = {
        row.fact.entry
        for row in world.rows(TIMER, MAIN)
        if isinstance(row.fact, TimerStarted) and row.n in appends and row.replica == world.replica
    }
    return any(one.entry not in own for one in world.load(TIMER, MAIN).running)


def import_undone_in_task(
    world: LogState, task_id: str, appends: Collection[int], at: str
) -> tuple[list[TaskFact], bool]:
    """What takes an import back in a task, and whether something was changed since and stays.

    A task that it made, or brought back, goes if it is as it left it; but what an agent set by
    itself, its language, is no reason to stay."""
    now, rows = world.load(TASK, task_id), world.rows(TASK, task_id)
    undone, _ = undone_in(rows)
    left = {n for n in appends if (world.replica, n) not in undone}
    if not (steps := _steps(rows, task_id, world.replica, left)):
        return [], False
    before = made = steps[0][1]
    for row, _, _ in steps:
        made = TASK.evolve(made, row)
    if now.is_deleted and not made.is_deleted:
        return [], False
    if not before.exists or before.is_deleted:
        by_agent = now.language_by.startswith("agent:")
        held = replace(now, language=made.language) if by_agent else now
        if shape(held) != shape(made):
            return [], True
    said = unsaid(rows, now, world.replica, left)
    facts: list[TaskFact] = [*said]
    if not before.exists and now.is_deleted:
        return facts, False
    if not before.exists:
        unsaid_by = {one.source for one in said if not one.document}
        if any(source not in unsaid_by for source, _ in now.imported):
            return [], True
        links = (row.fact for row, _, _ in steps if isinstance(row.fact, t.TaskLinked))
        facts += [t.TaskUnlinked(PERSON, one.relation, one.target) for one in links]
        return [*facts, t.TaskDeleted(PERSON)], False
    is_stale = False
    for row, was, after_it in reversed(steps):
        fact: Any = row.fact  # of a task
        found = _inverse(world, appends, inverse(fact, was, after_it, now, at, reopens=True))
        if found.outcome == "moved" or (found.facts and not _can(now, found.facts)):
            is_stale |= not is_as_before(fact, was, now)
            continue
        facts += found.facts
        now = after(world, TASK, now, found.facts, at)
    if any(isinstance(row.fact, t.LabelRemoved) for row, _, _ in steps):
        facts += in_order(now, before.labels)
    return facts, is_stale


def _of_catalog(world: LogState, appends: Collection[int]) -> list[object]:
    """What a deed of this replica did to labels and categories."""
    rows = world.rows(CATALOG, MAIN)
    return [row.fact for row in rows if row.n in appends and row.replica == world.replica]


def catalog_again(world: LogState, appends: Collection[int]) -> list[c.CatalogFact]:
    """What brings labels and categories back that a deed took away."""
    now = world.load(CATALOG, MAIN)
    facts: list[c.CatalogFact] = []
    for fact in _of_catalog(world, appends):
        match fact:
            case c.LabelDeleted(label=one) if now.labels[one].is_deleted:
                facts.append(c.LabelAdded(one, now.labels[one].name, now.labels[one].categories))
            case c.CategoryRemoved(category=one):
                facts += c.category_back(now, one)
    return facts


def catalog_unmade(
    world: LogState, ahead: StateLoader, appends: Collection[int]
) -> list[c.CatalogFact]:
    """What takes labels and categories away that a deed made, and labels out of categories that it
    let them be used in: those that are as they were made, and that nothing uses as the world is
    `ahead`. The Inbox stays."""
    now, made, categories = ahead.load(CATALOG, MAIN), dict[str, c.Label](), list[str]()
    scoped: dict[str, dict[str, None]] = {}
    for fact in _of_catalog(world, appends):
        match fact:
            case c.LabelScoped(label=one, categories=scope, name=name):
                scoped.setdefault(one, {}).update(dict.fromkeys(scope))
                if name or one in made:
                    whole = tuple(sorted(scoped[one]))
                    made[one] = c.Label(one, name or made[one].name, whole)
            case c.LabelAdded(label=one, name=name, categories=scope):
                made[one] = c.Label(one, name, scope)
            case c.CategoryAdded(category=one, name=name, language=language):
                is_same = now.categories.get(one) == c.Category(one, name, language)
                categories += [one] if is_same else []
    if not (made or scoped or categories):
        return []
    used, carried = {c.category_id(c.INBOX)}, set[tuple[str, str]]()
    for task in map(partial(ahead.load, TASK), world.entities(TASK.name)):
        if not task.is_deleted:
            used.update((task.category, *task.labels, *task.suppressed))
            carried.update((one, task.category) for one in task.labels)
    gone = [one for one, label in made.items() if now.labels[one] == label and one not in used]
    facts: list[c.CatalogFact] = []
    for label in now.labels.values():
        if label.is_deleted or label.id in gone:
            continue
        left = [one for one in scoped.get(label.id, ()) if (label.id, one) not in carried]
        scope = tuple(one for one in label.categories if one not in left)
        if scope and scope != label.categories:  # none would be all
            facts.append(c.LabelAdded(label.id, label.name, scope))
        used.update(scope or label.categories)
    return [
        *facts,
        *(c.LabelDeleted(one) for one in gone),
        *(c.CategoryRemoved(one) for one in categories if one not in used),
    ]


def events_of(
    world: StateLoader, task: Task, facts: Sequence[TaskFact], *, revives: bool = False
) -> list[Event]:
    """The facts, and what they say to the other ends of links, and of the category of a task that
    comes back, and of its labels if it `revives` them, and to the timer."""
    events: list[Event] = []
    if any(isinstance(fact, t.TaskRestored) for fact in facts):
        catalog = world.load(CATALOG, MAIN)
        back = c.category_back(catalog, task.category)
        back += c.labels_back(catalog, task.labels) if revives else []
        events += on(world, "catalog", MAIN, back)
    for fact in facts:
        if isinstance(fact, t.TaskLinked):
            target = world.load(TASK, fact.target)
            if not target.exists:
                because = "the task at the other end of a link was erased"
                raise Refused("erased", because=because, instead="a backup of before still has it")
            events += linked(world, task, fact.relation, target, PERSON)
            continue
        events += on(world, "task", task.id, [fact])
        events += timer_events(world, task.id, fact)
        if isinstance(fact, t.TaskUnlinked):
            events += on(world, "links", fact.target, [UnlinkedFrom(fact.relation, task.id)])
    return events


def undo_deed(cause: do.UndoDeed, key: str, at: str, world: LogState) -> Decision:
    """Of an operation a refusal is an outcome, too: who asks again is told the same."""
    try:
        events = _all_taken_back(cause, at, world)
    except Refused as refused:
        if not cause.operation:
            raise
        return Decision(result=Result(cause.tasks, "refused", refused.code))
    return Decision(events, Result(cause.tasks, "applied" if cause.operation else ""))


def _all_taken_back(cause: do.UndoDeed, at: str, world: LogState) -> list[Event]:
    ahead = StateAhead(world, at)
    own = cause.appends if cause.reopens and cause.of in ("", world.replica) else ()
    ahead.add(on(world, "catalog", MAIN, catalog_again(world, own)))
    for task_id in cause.tasks:
        found = undone_in_task(world, task_id, cause.appends, at, cause.of, reopens=cause.reopens)
        task = world.load(TASK, task_id)
        if found.is_moved:
            raise _changed_since(repr(task.title))
        state = ahead if cause.reopens else world
        ahead.add(events_of(state, task, found.facts, revives=cause.revives))
    for date in cause.days:
        rows, day = world.rows(DAY, date), world.load(DAY, date)
        back = taken_back(rows, day, cause.of or world.replica, cause.appends)
        if back is None:
            raise _changed_since(date)
        ahead.add(on(world, DAY.name, date, back))
    if not ahead.events:
        raise invalid("nothing of it can be taken back", "change the task by hand")
    ahead.add(on(world, "catalog", MAIN, catalog_unmade(world, ahead, own)))
    return ahead.events


def _changed_since(what: str) -> Refused:
    because = f"{what} was changed since"
    return Refused("stale", because=because, instead="look at it, and change it by hand")


HANDLERS: dict[type, Handler] = {do.UndoDeed: undo_deed}

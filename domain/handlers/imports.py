"""An importer's command: up to 200 tasks of one file in one append, with all that the import of
them does besides: what comes back, links, and what is gone from the file (SPEC 1)."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial

from domain.append.causes import Result
from domain.errors import Refused, invalid
from domain.handlers.decided import Decision, Event, StateAhead, StateLoader, after, on
from domain.handlers.journal import Handler, edge, linked, repeated, stopped, task_of
from domain.handlers.undo import catalog_unmade, events_of, import_undone_in_task
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import edits, imports
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.import_conflicts import import_conflicts_of
from domain.journal.imported import ImportedTask, decoded
from domain.journal.repeat import next_id
from domain.journal.task import TASK, Task
from domain.journal.timer import TIMER
from domain.log.state import MAIN, LogState
from domain.log.wire import Payload


class _Import:
    """One import's names: each is looked up once, and what it needs is made once.

    `is_scoping`: labels may be used where tasks carry them, and nowhere else."""

    def __init__(self, world: LogState, *, is_scoping: bool = False) -> None:
        self.catalog = world.load(CATALOG, MAIN)
        self.is_scoping = is_scoping
        self.made: dict[str, c.CatalogFact] = {}
        self._used: dict[str, dict[str, None]] = {}  # categories by label
        self.category = cache(self._category)
        self.label = cache(self._label)
        self.meant = cache(partial(c.category_meant, self.catalog))

    @property
    def names(self) -> imports.ImportNames:
        return imports.ImportNames(self.category, self.label, self.meant)

    def need(self, document: ImportedTask) -> None:
        """Make what a document names, if it is not there."""
        self.category(document.category)
        for name in document.labels:
            self.label(name)

    def use(self, task: Task) -> None:
        """Note what a task is after all: in its category its labels may be used."""
        for one in task.labels:
            self._used.setdefault(one, {})[task.category] = None

    def facts(self) -> list[c.CatalogFact]:
        """What has to be made, and where labels may be used."""
        if not self.is_scoping:
            return [*self.made.values()]
        made = [
            c.LabelScoped(one.label, tuple(sorted(self._used[one.label])), one.name)
            if isinstance(one, c.LabelAdded)
            else one
            for name, one in self.made.items()
            if not isinstance(one, c.LabelAdded) or name in self._used
        ]
        return [*made, *c.scope_labels(self.catalog, self._used)]

    def keep(self, category: str) -> None:
        """Bring a category back that was removed: a task came back into it."""
        for fact in c.category_back(self.catalog, category):
            self.made.setdefault(category, fact)

    def _category(self, name: str) -> str:
        """A category of that name, made if it is not there."""
        category = self.meant(name)
        if category not in self.catalog.categories:
            self.made.setdefault(category, c.CategoryAdded(category, name or c.INBOX))
        return category

    def _label(self, name: str) -> str:
        if (known := c.find_label(self.catalog, name)) is not None:
            return known.id
        added = c.LabelAdded(c.label_id(name), name)
        self.made.setdefault(added.label, added)
        return added.label


def import_tasks(cause: do.ImportTasks, key: str, at: str, world: LogState) -> Decision:
    names = _Import(world, is_scoping=cause.scopes_labels)
    by = f"import:{cause.source}"
    events: list[Event] = []
    payloads: list[Payload] = []
    changed: list[str] = []
    world.expect(TASK, (ref.task for ref in cause.tasks))
    returning = dict.fromkeys(cause.restores)
    bases = {one.task: one.document for one in cause.bases}
    for ref in cause.tasks:
        task = world.load(TASK, ref.task)
        if ref.task in returning:
            del returning[ref.task]
            returned = _returned(task, decoded(world.payload(ref.document)), by)
            events += on(world, "task", ref.task, returned)
            task = after(world, TASK, task, returned, at)
            changed += [ref.task] if returned else []
        known = dict(task.imported).get(cause.source)
        newest = task.imported[-1][1] if cause.across_sources and task.imported else known
        if cause.is_on_bases and not known:
            newest = bases.get(ref.task, newest)
        if ref.document in (known, newest) or task.is_deleted:
            continue
        document = decoded(world.payload(ref.document))
        if not newest and ref.task in cause.restores:  # it is as the import left it that was undone
            newest = bases.get(ref.task) or imports.said_last(world.rows(TASK, ref.task))
            names.need(document)
        before = decoded(world.payload(newest)) if newest else None
        facts, kept = imports.decide(
            task,
            before,
            document,
            names.names,
            by,
            is_three_way=cause.is_three_way,
            renames_items=cause.renames_items,
            rows=partial(world.rows, TASK, task.id),
        )
        facts.append(t.TaskImported(by, ref.document))
        if cause.scopes_labels:
            names.use(after(world, TASK, task, facts, at))
        events += on(world, "task", ref.task, facts)
        payloads += kept
        changed.append(ref.task)
    for task_id in returning:
        task = world.load(TASK, task_id)
        said = dict(task.imported).get(cause.source)
        returned = _returned(task, decoded(world.payload(said)) if said else None, by)
        events += on(world, "task", task_id, returned)
        changed += [task_id] if returned else []
    ahead = StateAhead(world, at, events)
    for next_ in cause.nexts:
        task = ahead.load(TASK, next_.task)
        if world.load(TASK, next_.task).is_open and not (task.is_open or task.is_deleted):
            there = ahead.load(TASK, next_id(task.id))
            is_brought = there.is_there and not world.load(TASK, there.id).is_there
            days = next_.due, next_.wait_until
            brought = there if is_brought else None
            following, more, texts = repeated(world, task, *days, by, brought)
            ahead.add(more)
            payloads += texts
            changed += [following] if more else []
    for task_id in cause.restores:
        names.keep(ahead.load(TASK, task_id).category)
    for one in cause.links:
        with suppress(Refused):  # what cannot be is left out: `not_linked` tells it
            ahead.add(_linked(ahead, one, by))
    for gone in cause.gone:
        ahead.add(_gone(world, ahead, gone, cause.source, at))
    if cause.stops_timers:
        ahead.add(_stopped(world, ahead, at, by))
    made = on(world, "catalog", MAIN, names.facts())
    return Decision([*made, *ahead.events], Result(tuple(dict.fromkeys(changed))), payloads)


def _returned(task: Task, said: ImportedTask | None, by: str) -> list[t.TaskFact]:
    """What lets a task come back that was deleted or closed; `said`: by its file."""
    facts: list[t.TaskFact] = [t.TaskRestored(by)] if task.is_deleted else []
    if task.status in t.CLOSED:
        status, reason = (said.status, said.status_reason) if said else ("", "")
        facts += edits.set_status(task, status or "OPEN", reason, by)
    return facts


def _linked(world: StateLoader, wanted: do.ImportedLink, by: str) -> list[Event]:
    source, target, relation = edge(world, wanted.task, wanted.phrase, wanted.target)
    return linked(world, source, relation, target, by)


def not_linked(
    world: StateLoader, wanted: Sequence[do.ImportedLink]
) -> list[tuple[do.ImportedLink, Refused]]:
    """The links of an import that were left out, as the world is after it, and why."""
    found: list[tuple[do.ImportedLink, Refused]] = []
    for one in wanted:
        try:
            _linked(world, one, t.PERSON)
        except Refused as refused:
            found.append((one, refused))
    return found


def _gone(
    world: LogState, ahead: StateLoader, gone: do.GoneTask, source: str, at: str
) -> list[Event]:
    """What becomes of a task that its file has no more; nothing where it is so already."""
    task, by = ahead.load(TASK, gone.task), f"import:{source}"
    if not task.exists or task.is_deleted:
        return []
    if gone.how == "delete":
        facts: list[t.TaskFact] = [t.TaskDeleted(by)]
        return [*stopped(world, at, "", of=task.id, by=by), *on(world, "task", task.id, facts)]
    reason = imports.gone_reason(source)
    rejected = edits.set_status(task, "REJECTED", reason, by) if task.is_open else []
    return on(world, "task", task.id, rejected)


def _stopped(world: LogState, ahead: StateLoader, at: str, by: str) -> list[Event]:
    """The timers that end with their tasks."""
    timed = dict.fromkeys(one.task for one in ahead.load(TIMER, MAIN).running)
    closed = (one for one in timed if world.load(TASK, one).is_open)
    closed = (one for one in closed if not ahead.load(TASK, one).is_open)
    return [event for one in closed for event in stopped(ahead, at, of=one, by=by)]


def settle_difference(cause: do.SettleDifference, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    found = next(
        (one for one in import_conflicts_of(world, task.id) if one.field == cause.field), None
    )
    if found is None:
        because = f"file and task {task.title!r} do not differ in {cause.field!r}"
        raise invalid(because, "name a field in which they do")
    names = _Import(world)
    facts: list[t.TaskFact] = []
    payloads: Sequence[Payload] = ()
    if cause.keep == "file":
        facts, payloads = imports.take(task, found.field, found.said, names.names, t.PERSON)
    said = task.imported[-1][1]
    facts.append(t.DifferenceSettled(t.PERSON, found.field, cause.keep, said))
    events = on(world, "catalog", MAIN, names.facts()) + on(world, "task", task.id, facts)
    return Decision(events, Result((task.id,)), [*payloads])


def _undone(world: LogState, task_id: str, first: int, last: int) -> list[t.TaskFact]:
    """What took an import of a task back in 0.1.0."""
    before = after = TASK.initial(task_id)
    for row in world.rows(TASK, task_id):
        before = TASK.evolve(before, row) if row.n < first else before
        after = TASK.evolve(after, row) if row.n <= last else after
    return imports.import_inverse(before, after, world.load(TASK, task_id))


def undo_import(cause: do.UndoImport, key: str, at: str, world: LogState) -> Decision:
    if cause.reopens:
        return _undo_all(cause, at, world)
    events: list[Event] = []
    changed: list[str] = []
    for task_id in cause.tasks:
        facts = _undone(world, task_id, cause.first, cause.last)
        events += on(world, "task", task_id, facts)
        changed += [task_id] if facts else []
    return Decision(events, Result(tuple(changed)))


def _undo_all(cause: do.UndoImport, at: str, world: LogState) -> Decision:
    ahead = StateAhead(world, at)
    changed: list[str] = []
    for task_id in cause.tasks:
        facts, _ = import_undone_in_task(world, task_id, cause.appends, at)
        ahead.add(events_of(ahead, world.load(TASK, task_id), facts))
        changed += [task_id] if facts else []
    if changed:
        ahead.add(on(world, "catalog", MAIN, catalog_unmade(world, ahead, cause.appends)))
    return Decision(ahead.events, Result(tuple(changed)))


HANDLERS: dict[type, Handler] = {
    do.ImportTasks: import_tasks,
    do.SettleDifference: settle_difference,
    do.UndoImport: undo_import,
}

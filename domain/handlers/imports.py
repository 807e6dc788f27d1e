"""An importer's command: up to 200 tasks of one file in one append (SPEC 1)."""

from collections.abc import Sequence
from functools import cache, partial

from domain.causes import Result
from domain.errors import Refused
from domain.handlers.decided import Decided, Event, on
from domain.handlers.journal import Handler
from domain.handlers.links import task_of
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import importing, undoing
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.differences import differences_of
from domain.journal.fold import TASK
from domain.journal.imported import decoded
from domain.wire import Payload
from domain.world import MAIN, World


class _Import:
    """One import's names: each is looked up once, and what it needs is made once."""

    def __init__(self, world: World) -> None:
        self.catalog = world.load(CATALOG, MAIN)
        self.made: dict[str, c.CatalogFact] = {}
        self.category = cache(self._category)
        self.label = cache(self._label)
        self.meant = cache(partial(c.category_meant, self.catalog))

    @property
    def names(self) -> importing.Names:
        return importing.Names(self.category, self.label, self.meant)

    def _category(self, name: str) -> str:
        """A category of that name, made if it is not there."""
        category = self.meant(name)
        if category not in self.catalog.categories:
            self.made.setdefault(category, c.CategoryAdded(category, name or c.INBOX))
        return category

    def _label(self, name: str) -> str:
        known = c.find_label(self.catalog, name)
        if known is not None:
            return known.id
        added = c.LabelAdded(c.label_id(name), name)
        self.made.setdefault(added.label, added)
        return added.label


def import_tasks(cause: do.ImportTasks, key: str, at: str, world: World) -> Decided:
    names = _Import(world)
    by = f"import:{cause.source}"
    events: list[Event] = []
    payloads: list[Payload] = []
    changed: list[str] = []
    world.expect(TASK, (ref.task for ref in cause.tasks))
    for ref in cause.tasks:
        task = world.load(TASK, ref.task)
        known = dict(task.imported).get(cause.source)
        newest = task.imported[-1][1] if cause.across_sources and task.imported else known
        if ref.document in (known, newest) or task.is_deleted:
            continue
        document = decoded(world.payload(ref.document))
        before = decoded(world.payload(newest)) if newest else None
        facts, kept = importing.decide(
            task, before, document, names.names, by, is_three_way=cause.is_three_way
        )
        facts.append(t.TaskImported(by, ref.document))
        events += on(world, "task", ref.task, facts)
        payloads += kept
        changed.append(ref.task)
    made = on(world, "catalog", MAIN, list(names.made.values()))
    return Decided([*made, *events], Result(tuple(changed)), payloads)


def settle_difference(cause: do.SettleDifference, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    found = next((one for one in differences_of(world, task.id) if one.field == cause.field), None)
    if found is None:
        because = f"file and task {task.title!r} do not differ in {cause.field!r}"
        raise Refused("invalid_value", because=because, instead="name a field in which they do")
    names = _Import(world)
    facts: list[t.TaskFact] = []
    payloads: Sequence[Payload] = ()
    if cause.keep == "file":
        facts, payloads = importing.take(task, found.field, found.said, names.names, t.PERSON)
    document = task.imported[-1][1]
    facts.append(t.DifferenceSettled(t.PERSON, found.field, cause.keep, document))
    made = on(world, "catalog", MAIN, list(names.made.values()))
    events = on(world, "task", task.id, facts)
    return Decided([*made, *events], Result((task.id,)), [*payloads])


def undone(world: World, task_id: str, first: int, last: int) -> tuple[list[t.TaskFact], bool]:
    """What takes an import of a task back, and whether something of it was changed since."""
    before = after = TASK.initial(task_id)
    for row in world.rows(TASK, task_id):
        before = TASK.evolve(before, row) if row.n < first else before
        after = TASK.evolve(after, row) if row.n <= last else after
    return undoing.inverse(before, after, world.load(TASK, task_id))


def undo_import(cause: do.UndoImport, key: str, at: str, world: World) -> Decided:
    events: list[Event] = []
    changed: list[str] = []
    for task_id in cause.tasks:
        facts, _ = undone(world, task_id, cause.first, cause.last)
        events += on(world, "task", task_id, facts)
        changed += [task_id] if facts else []
    return Decided(events, Result(tuple(changed)))


HANDLERS: dict[type, Handler] = {
    do.ImportTasks: import_tasks,
    do.SettleDifference: settle_difference,
    do.UndoImport: undo_import,
}

"""An importer's command: up to 200 tasks of one file in one append (SPEC 1)."""

from functools import cache

import msgspec

from domain.causes import Result
from domain.handlers.decided import Decided, Event, on
from domain.handlers.journal import Handler
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import importing
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.fold import TASK
from domain.journal.imported import ImportedTask
from domain.wire import Payload
from domain.world import MAIN, World

_document = msgspec.json.Decoder(ImportedTask)


class _Import:
    """One import's names: each is looked up once, and what it needs is made once."""

    def __init__(self, world: World) -> None:
        self.catalog = world.load(CATALOG, MAIN)
        self.made: dict[str, c.CatalogFact] = {}
        self.category = cache(self._category)
        self.label = cache(self._label)

    def _category(self, name: str) -> str:
        """A category of that name; one that was renamed is still what the file means."""
        name = name or c.INBOX
        known = c.find_category(self.catalog, name)
        known = known or self.catalog.categories.get(c.category_id(name))
        if known is not None:
            return known.id
        added = c.CategoryAdded(c.category_id(name), name)
        self.made.setdefault(added.category, added)
        return added.category

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
        document = _document.decode(world.payload(ref.document))
        before = _document.decode(world.payload(newest)) if newest else None
        naming = importing.Names(names.category, names.label)
        facts, kept = importing.decide(task, before, document, naming, by)
        facts.append(t.TaskImported(by, ref.document))
        events += on(world, "task", ref.task, facts)
        payloads += kept
        changed.append(ref.task)
    made = on(world, "catalog", MAIN, list(names.made.values()))
    return Decided([*made, *events], Result(tuple(changed)), payloads)


HANDLERS: dict[type, Handler] = {do.ImportTasks: import_tasks}

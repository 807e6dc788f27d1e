"""What a file and the person said differently of a field, and what is open between them: the JSON
document of `conflicts`, and what import, `task show` and the page show (ADR 48)."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from domain.journal.catalog import CATALOG, Catalog, category_meant
from domain.journal.document import category_name
from domain.journal.import_conflicts import (
    ImportConflict,
    import_conflicts,
    import_conflicts_of,
    may_differ,
)
from domain.journal.imported import ImportedTask, decoded
from domain.journal.task import TASK, Task, TaskFact
from domain.log.state import MAIN, LogState, RecordedEvent
from domain.replication.merge import ConflictKind
from projections.tasks import UNSETTLED, VIEW, TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home


class ConflictValue(Struct, frozen=True):
    """One side: `replica` is ``mine`` or ``file``, or a machine's; `label` the file's name, or what
    the machine is called; `by` is ``person``, ``agent:ID`` or ``import:SOURCE``."""

    replica: str
    label: str
    at: str
    by: str
    value: str


class ConflictDetails(Struct, frozen=True, omit_defaults=True):
    """A field that a file and the person changed, or two machines; what `stands` until it is
    settled: ``mine``, or the machine whose value does; empty of what was only left out. `agent`:
    whose setting or proposal differs; `about`: what that is, in words; both only where there is
    such a thing. `number`: where all are listed, see `resolve_conflict.numbered`."""

    task: str
    title: str
    field: str
    kind: ConflictKind
    stands: str
    values: tuple[ConflictValue, ...]  # mine, and the file's; or each machine's
    agent: str = ""
    about: str = ""
    number: str = ""

    @property
    def is_of_file(self) -> bool:
        """Whether a file and the person differ, and not machines."""
        return self.stands == "mine"


def conflicts_of(world: LogState, task_id: str) -> list[ConflictDetails]:
    """What is open between the person and the file of one task."""
    task, found = world.load(TASK, task_id), import_conflicts_of(world, task_id)
    return [_conflict(world, task, one) for one in found if _asks(task, one)]


def conflicts_after(
    world: LogState, task_id: str, facts: Sequence[TaskFact], at: str
) -> list[ConflictDetails]:
    """What would be open of one task, once these facts were written."""
    task, rows = world.load(TASK, task_id), [*world.rows(TASK, task_id)]
    stream, version = world.stream(TASK.name, task_id), len(rows)
    for nth, fact in enumerate(facts):
        row = RecordedEvent(stream, version + nth + 1, world.replica, world.n, nth, at, fact)
        rows.append(row)
        task = TASK.evolve(task, row)
    meant = partial(category_meant, world.load(CATALOG, MAIN))
    found = import_conflicts(rows, task, lambda document: decoded(world.payload(document)), meant)
    return [_conflict(world, task, one) for one in found if _asks(task, one)]


def _asks(task: Task, one: ImportConflict) -> bool:
    """Whether a person has to settle it: not where both say the same status, and the file a day on
    which it was set here."""
    if one.field != "status" or one.said.status != task.status:
        return True
    from adapters.importers.alignment import closings  # few ask, and it loads the readers

    return one.said.status_reason not in closings(task)


def conflicts(home: "Home", among: Iterable[TaskDocument] | None = None) -> list[ConflictDetails]:
    """What is open in these tasks; in all that are not deleted if none are given."""
    if among is None:
        among = home.views.page(VIEW, shelf=UNSETTLED)
    imported = [
        one for one in among if one.task.imported and one.is_unsettled and not one.is_deleted
    ]
    last = {one.id: one.task.imported[-1][1] for one in imported}
    said = dict(home.services.journal.payloads([*last.values()])) if last else {}
    decoder = msgspec.json.Decoder(ImportedTask)
    with home.services.journal.reading() as world:
        catalog = world.load(CATALOG, MAIN)

        def meant(name: str) -> str:
            return category_meant(catalog, name)

        return [
            conflict
            for one in imported
            if (data := said.get(last[one.id])) is not None
            and may_differ(one.task, decoder.decode(data), meant)
            for conflict in conflicts_of(world, one.id)
        ]


def _conflict(world: LogState, task: Task, one: ImportConflict) -> ConflictDetails:
    held = world.text(task.description) if one.field == "description" else _held(world, task, one)
    told = getattr(one.said, one.field)
    reason = one.said.status_reason if one.field == "status" else ""
    told = told or {"status": "OPEN", "category": "Inbox"}.get(one.field, "")
    file = f"{told} ({reason})" if reason else str(told or "")
    mine = ConflictValue("mine", "here", one.held_at, one.held_by, held)
    by = f"import:{one.source}"
    theirs = ConflictValue("file", one.source, one.said_at, by, file)
    return ConflictDetails(task.id, task.title, one.field, "values", "mine", (mine, theirs))


def _held(world: LogState, task: Task, one: ImportConflict) -> str:
    catalog: Catalog = world.load(CATALOG, MAIN)
    if one.field == "category":
        return category_name(catalog, task.category)
    reason = f" ({task.status_reason})" if one.field == "status" and task.status_reason else ""
    return f"{getattr(task, one.field) or ''}{reason}"

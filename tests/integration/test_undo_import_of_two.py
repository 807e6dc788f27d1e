"""An import that one of two machines takes back, whatever the other one wrote in the meantime."""

from collections.abc import Sequence
from typing import Any

from adapters.store.remote_appends import RemoteAppend
from domain.journal import commands as do
from domain.journal.catalog import CATALOG, category_id
from domain.journal.document import category_name
from domain.journal.import_conflicts import import_conflicts_of
from domain.journal.imported import ImportedTask
from domain.journal.imports import is_unmade
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import MAIN
from domain.log.wire import Payload, Words, payload
from tests.support.services import START
from tests.support.sharing import Machine, TwoLogs

ROOF, WALL = key("task", "roof"), key("task", "wall")
HOUSE = category_id("House")


class TwoOfAFile(TwoLogs):
    def __init__(self) -> None:
        self.kept: list[Payload] = []
        super().__init__()

    def file(self, machine: Machine, *tasks: ImportedTask, **more: Any) -> int:
        """Import tasks of a file; the number of its append."""
        kept = [payload(one.task_id, canonical.encode(one)) for one in tasks]
        self.kept += kept
        refs = [do.ImportedRef(one.task_id, said.id) for one, said in zip(tasks, kept, strict=True)]
        command = do.ImportTasks("todo.md", tuple(refs), is_three_way=True, **more)
        machine.append(command, START, payloads=kept)
        return machine.tail().n

    def undo(self, machine: Machine, n: int, *tasks: str) -> None:
        self.says(machine, do.UndoImport(tasks, n, n, reopens=True, appends=(n,)))

    def meet(self) -> None:
        for _ in range(2):
            for one, other in (self.desk, self.laptop), (self.laptop, self.desk):
                head = other.heads().get(one.replica)
                rows = one.appends_of(one.replica, head.n if head else 0)
                other.bring([RemoteAppend(tuple(each), (*self.kept,)) for each in rows], START)

    def both(self, task: str) -> Sequence[Any]:
        """On both: the task, what is open of it, whether its file brings it again, the catalog."""
        self.task = task
        found: list[Any] = []
        for one in self.desk, self.laptop:
            with one.reading() as world:
                back = is_unmade(world.rows(TASK, task))
                catalog = world.load(CATALOG, MAIN)
                found.append([import_conflicts_of(world, task), back, catalog])
        assert found[0] == found[1]
        return [self.state(), *found[0]]


def test_what_nobody_else_touched_goes_on_both_and_what_the_other_changed_stays() -> None:
    two = TwoOfAFile()
    tasks = ImportedTask(ROOF, "Roof", category="House"), ImportedTask(WALL, "Wall")
    n = two.file(two.laptop, *tasks, links=(do.ImportedLink(WALL, "blocks", ROOF),))
    two.meet()
    two.says(two.desk, do.AddNote(WALL, "note", Words("Damp")))
    two.meet()
    two.undo(two.laptop, n, ROOF, WALL)
    two.meet()
    roof, _, is_back, catalog = two.both(ROOF)
    assert (roof.is_deleted, is_back) == (True, True)
    assert HOUSE not in catalog.categories
    wall, _, is_back, _ = two.both(WALL)
    assert (wall.is_deleted, is_back) == (False, False)
    two.file(two.desk, tasks[0], restores=(ROOF,))
    two.meet()
    roof, _, is_back, catalog = two.both(ROOF)
    assert (roof.is_deleted, is_back) == (False, False)
    assert HOUSE in catalog.categories


def test_a_task_that_the_other_edits_without_knowing_of_the_undo_lives_in_its_category() -> None:
    two = TwoOfAFile()
    n = two.file(two.laptop, ImportedTask(ROOF, "Roof", category="House"))
    two.meet()
    two.says(two.desk, do.AddNote(ROOF, "note", Words("Damp")))
    two.undo(two.laptop, n, ROOF)
    two.meet()
    roof, _, _, catalog = two.both(ROOF)
    assert not roof.is_deleted
    assert category_name(catalog, roof.category) == "House"


def test_a_conflict_is_open_again_on_both() -> None:
    two = TwoOfAFile()
    two.file(two.laptop, ImportedTask(ROOF, "Roof", due="2027-02-01"))
    two.meet()
    two.says(two.desk, do.EditTask(ROOF, due="2027-03-01"))
    two.meet()
    two.file(two.laptop, ImportedTask(ROOF, "Roof", due="2027-02-02"))
    two.meet()
    _, before, _, _ = two.both(ROOF)
    assert [one.field for one in before] == ["due"]
    two.says(two.desk, do.SettleDifference(ROOF, "due", "file"))
    settled = two.desk.tail().n
    two.meet()
    assert two.both(ROOF)[1] == ()
    two.says(two.desk, do.UndoDeed((ROOF,), (settled,), reopens=True))
    two.meet()
    assert two.both(ROOF)[1] == before

"""An import is taken back whole: exactly its own appends, and what others changed since stays."""

from typing import Any

import pytest

from domain.errors import Refused
from domain.handlers.undo import import_undone_in_task
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.catalog import CATALOG, category_id, label_id
from domain.journal.document import category_name
from domain.journal.import_conflicts import import_conflicts_of
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.imports import is_unmade
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log.keys import key
from domain.log.state import MAIN
from domain.log.wire import Words
from tests.support.services import divergences
from tests.unit.test_import_deed import A_ROOF, A_WALL, DOOR, ROOF, WALL, Filed

HOUSE = category_id("House")
BLUE = label_id("blue")
IN_HOUSE = ImportedTask(ROOF, "Roof", category="House", labels=("blue",))


class Undoing(Filed):
    @property
    def n(self) -> int:
        return self.at.journal.tail().n

    def undo(self, *appends: int) -> list[Any]:
        """Take an import back, by its appends or the newest one; what that wrote."""
        ns = appends or (self.n,)
        rows = [row for n in ns for row in next(iter(self.at.journal.appends(n - 1)))]
        tasks = dict.fromkeys(row.entity for row in rows if row.of_kind == "task")
        return self.do(do.UndoImport((*tasks,), ns[0], ns[-1], reopens=True, appends=ns))

    def do(self, command: Any) -> list[Any]:
        last = self.n
        self.at.append_journal(command)
        return [row.fact for rows in self.at.journal.appends(last) for row in rows[1:]]

    def stale(self, task: str, *appends: int) -> bool:
        with self.at.journal.reading() as world:
            return import_undone_in_task(world, task, appends, "")[1]

    def unmade(self, task: str) -> bool:
        with self.at.journal.reading() as world:
            return is_unmade(world.rows(TASK, task))

    def open(self, task: str) -> list[tuple[str, str]]:
        with self.at.journal.reading() as world:
            return [(one.field, one.said_at) for one in import_conflicts_of(world, task)]

    @property
    def catalog(self) -> c.Catalog:
        with self.at.journal.reading() as world:
            return world.load(CATALOG, MAIN)


@pytest.fixture
def home() -> Undoing:
    return Undoing()


def test_what_an_import_made_goes_with_its_labels_and_categories_but_the_inbox(
    home: Undoing,
) -> None:
    home.file(IN_HOUSE, A_WALL)
    assert set(home.catalog.categories) == {HOUSE, category_id("Inbox")}
    home.undo()
    assert home.task(ROOF).is_deleted
    assert home.task(ROOF).imported == ()
    assert set(home.catalog.categories) == {category_id("Inbox")}
    assert home.catalog.labels[BLUE].is_deleted
    assert category_name(home.catalog, HOUSE) == "House"
    assert divergences(home.at) == []


def test_labels_and_categories_that_somebody_uses_or_changed_stay(home: Undoing) -> None:
    home.file(IN_HOUSE)
    made = home.n
    home.do(do.CreateTask("Other", category="House", labels=("blue",)))
    home.undo(made)
    assert HOUSE in home.catalog.categories
    assert not home.catalog.labels[BLUE].is_deleted


@pytest.mark.parametrize(
    "command",
    [do.RenameCategory(HOUSE, "Home"), do.AddLabel("green", (HOUSE,))],
    ids=["renamed", "a label is of it"],
)
def test_a_category_that_means_something_else_by_now_stays(home: Undoing, command: Any) -> None:
    home.file(IN_HOUSE)
    made = home.n
    home.do(command)
    home.undo(made)
    assert HOUSE in home.catalog.categories


def test_a_label_whose_scope_was_changed_since_stays(home: Undoing) -> None:
    home.file(IN_HOUSE)
    made = home.n
    home.do(do.AddLabel("blue", (HOUSE,)))
    home.undo(made)
    assert not home.catalog.labels[BLUE].is_deleted
    assert HOUSE in home.catalog.categories


def test_the_file_brings_again_what_it_made_under_the_same_ids(home: Undoing) -> None:
    home.file(IN_HOUSE)
    home.undo()
    assert home.unmade(ROOF)
    home.file(IN_HOUSE, restores=(ROOF,))
    assert not home.unmade(ROOF)
    assert not home.task(ROOF).is_deleted
    assert HOUSE in home.catalog.categories
    assert not home.catalog.labels[BLUE].is_deleted


def test_what_the_file_says_no_more_is_not_there_when_it_brings_a_task_again(home: Undoing) -> None:
    home.file(ImportedTask(ROOF, "Roof", due="2027-02-01", labels=("blue",)))
    home.undo()
    home.file(A_ROOF, restores=(ROOF,))
    assert (home.task(ROOF).due, home.task(ROOF).labels) == ("", ())


def test_a_task_that_comes_back_by_hand_brings_its_category(home: Undoing) -> None:
    home.file(IN_HOUSE)
    home.undo()
    assert home.do(do.RestoreTask(ROOF)) == [
        c.CategoryAdded(HOUSE, "House"),
        t.TaskRestored("person"),
    ]
    assert HOUSE in home.catalog.categories
    assert not home.unmade(ROOF)


def test_a_deleted_task_that_its_file_brings_back_brings_its_category(home: Undoing) -> None:
    home.file(IN_HOUSE, A_WALL)
    made = home.n
    home.do(do.DeleteTask(ROOF))
    home.undo(made)
    assert HOUSE not in home.catalog.categories
    assert not home.unmade(ROOF)
    home.file(restores=(ROOF,))
    assert HOUSE in home.catalog.categories


def test_what_a_person_changed_since_stays_and_is_told(home: Undoing) -> None:
    home.file(A_ROOF, A_WALL)
    first = home.n
    newer = ImportedTask(ROOF, "Old roof", due="2027-02-01", items=(ImportedItem("Nails"),))
    home.file(newer, ImportedTask(WALL, "Wall", due="2027-02-01"), ImportedTask(DOOR, "Door"))
    made = home.n
    home.do(do.EditTask(ROOF, due="2027-03-01"))
    home.do(do.EditTask(WALL, due=""))
    home.do(do.AddNote(DOOR, "note", Words("Oak")))
    assert [home.stale(one, made) for one in (ROOF, WALL, DOOR)] == [True, False, True]
    home.undo(made)
    roof = home.task(ROOF)
    assert (roof.title, roof.due, roof.items[0].is_archived) == ("Roof", "2027-03-01", True)
    assert not home.task(DOOR).is_deleted
    assert home.stale(DOOR, first) is False


def test_what_an_agent_set_by_itself_is_no_obstacle(home: Undoing) -> None:
    home.file(A_ROOF)
    made = home.n
    world = home.at.journal
    operation = do.ApplyOperation(
        "op1",
        "agent1",
        ROOF,
        "set_task_language",
        Words('{"languageCode":"en","confidence":"high"}'),
        categories=(category_id("Inbox"),),
    )
    home.at.append_journal(operation, key="op1")
    assert home.task(ROOF).language == "en"
    home.undo(made)
    assert home.task(ROOF).is_deleted
    assert world.tail().n == made + 2


def test_a_persons_language_is_one(home: Undoing) -> None:
    home.file(A_ROOF)
    made = home.n
    home.do(do.EditTask(ROOF, language="en"))
    assert home.stale(ROOF, made)
    assert home.undo(made) == []


def test_only_its_own_appends_are_taken_back_not_what_came_between(home: Undoing) -> None:
    home.file(A_ROOF)
    first = home.n
    other = home.do(do.CreateTask("Mine"))[-1]
    home.file(A_WALL)
    home.undo(first, home.n)
    assert isinstance(other, t.TaskCreated)
    assert home.task(ROOF).is_deleted
    assert home.task(WALL).is_deleted
    with home.at.journal.reading() as world:
        living = [world.load(TASK, one) for one in world.entities("task")]
    assert [one.title for one in living if not one.is_deleted] == ["Mine"]


def test_links_and_what_was_gone_come_back(home: Undoing) -> None:
    home.file(A_ROOF, A_WALL)
    home.do(do.StartTimer(WALL))
    gone = (do.GoneTask(ROOF, "reject"), do.GoneTask(WALL, "delete"))
    home.file(links=(do.ImportedLink(ROOF, "blocks", WALL),), gone=gone)
    home.undo()
    assert home.task(ROOF).status == "OPEN"
    assert not home.task(WALL).is_deleted
    assert home.task(ROOF).links == ()
    with home.at.journal.reading() as world:
        assert world.load(LINKS, WALL).incoming == ()
    assert home.undo(home.n - 1) == []


def test_a_task_that_a_person_deleted_since_stays_deleted(home: Undoing) -> None:
    home.file(A_ROOF)
    home.file(ImportedTask(ROOF, "Old roof"))
    made = home.n
    home.do(do.DeleteTask(ROOF))
    assert not home.stale(ROOF, made)
    assert home.undo(made) == []


def test_what_was_gone_and_was_brought_back_by_hand_is_left(home: Undoing) -> None:
    home.file(A_ROOF)
    home.file(gone=(do.GoneTask(ROOF, "delete"),))
    made = home.n
    home.do(do.RestoreTask(ROOF))
    assert not home.stale(ROOF, made)
    home.undo(made)
    assert not home.task(ROOF).is_deleted


def test_what_an_import_brought_back_goes_again_unless_it_was_changed(home: Undoing) -> None:
    home.file(A_ROOF)
    home.do(do.DeleteTask(ROOF))
    home.file(restores=(ROOF,))
    made = home.n
    home.do(do.EditTask(ROOF, due="2027-02-01"))
    assert home.stale(ROOF, made)
    home.do(do.EditTask(ROOF, due=""))
    home.undo(made)
    assert home.task(ROOF).is_deleted
    assert home.unmade(ROOF)


def test_what_was_made_and_was_gone_in_one_import_stays_gone(home: Undoing) -> None:
    home.file(A_ROOF, gone=(do.GoneTask(ROOF, "delete"),))
    home.undo()
    assert home.task(ROOF).is_deleted
    assert home.task(ROOF).imported == ()


def test_labels_are_in_their_order_again(home: Undoing) -> None:
    labelled = ImportedTask(ROOF, "Roof", labels=("blue", "green", "red"))
    home.file(labelled)
    before = home.task(ROOF).labels
    home.file(ImportedTask(ROOF, "Roof", labels=("blue", "red")))
    home.undo()
    assert home.task(ROOF).labels == before


def test_a_conflict_that_an_import_opened_is_none_and_one_from_before_is_as_it_was(
    home: Undoing,
) -> None:
    home.file(ImportedTask(ROOF, "Roof", due="2027-02-01"))
    home.do(do.EditTask(ROOF, due="2027-03-01"))
    home.file(ImportedTask(ROOF, "Roof", due="2027-02-02"))
    before = home.open(ROOF)
    assert before
    home.file(ImportedTask(ROOF, "Roof", due="2027-02-03"))
    assert home.open(ROOF) != before
    home.undo()
    assert home.open(ROOF) == before
    home.undo(home.n - 2)
    assert home.open(ROOF) == []
    home.file(ImportedTask(ROOF, "Roof", due="2027-02-02"))
    assert [field for field, _ in home.open(ROOF)] == ["due"]


def test_the_other_source_that_spoke_after_it_is_still_the_newest(home: Undoing) -> None:
    kept = home.file(A_ROOF)[-1].document
    first = home.n
    (other,) = (
        fact.document
        for fact in home.file(A_ROOF, source="b.md")
        if isinstance(fact, t.TaskImported)
    )
    before = home.task(ROOF).imported
    assert before == (("todo.md", kept), ("b.md", other))
    home.file(ImportedTask(ROOF, "Old roof"))
    home.undo()
    assert home.task(ROOF).imported == before
    assert home.stale(ROOF, first)
    home.undo(first)
    assert not home.task(ROOF).is_deleted


@pytest.mark.parametrize("keep", ["file", "mine"])
def test_a_conflict_is_open_again_when_its_settling_is_taken_back(home: Undoing, keep: Any) -> None:
    home.file(ImportedTask(ROOF, "Roof", category="House"))
    home.do(do.AddCategory("Work"))
    home.do(do.EditTask(ROOF, category="Work"))
    home.file(ImportedTask(ROOF, "Roof", category="Shed"))
    before, catalog = home.open(ROOF), home.catalog.categories
    home.do(do.SettleDifference(ROOF, "category", keep))
    settled = home.n
    assert home.open(ROOF) == []
    home.do(do.UndoDeed((ROOF,), (settled,), reopens=True))
    assert home.open(ROOF) == before
    assert home.catalog.categories == catalog
    home.do(do.UndoDeed((ROOF,), (settled + 1,), reopens=True))
    assert home.open(ROOF) == []


def test_an_undo_from_before_leaves_a_conflict_settled(home: Undoing) -> None:
    home.file(A_ROOF)
    home.do(do.EditTask(ROOF, title="Mine"))
    home.file(ImportedTask(ROOF, "Theirs"))
    home.do(do.SettleDifference(ROOF, "title", "mine"))
    with pytest.raises(Refused, match="nothing of it"):
        home.do(do.UndoDeed((ROOF,), (home.n,)))


def test_an_undo_that_is_undone_brings_all_back(home: Undoing) -> None:
    home.file(IN_HOUSE, A_WALL, links=(do.ImportedLink(ROOF, "blocks", WALL),))
    before = home.task(ROOF), home.catalog.categories
    home.undo()
    undone = home.n
    home.do(do.AddLabel("blue"))
    home.do(do.UndoDeed((ROOF, WALL), (undone,), reopens=True))
    roof = home.task(ROOF)
    assert (roof.imported, roof.links, roof.is_deleted) == (
        before[0].imported,
        before[0].links,
        False,
    )
    assert home.catalog.categories == before[1]
    assert divergences(home.at) == []


def test_a_category_that_was_removed_is_found_no_more_and_can_be_made_again(home: Undoing) -> None:
    home.file(IN_HOUSE)
    made = home.n
    home.undo()
    with pytest.raises(Refused, match="no category"):
        home.do(do.CreateTask("Other", category="House"))
    assert home.do(do.AddCategory("House")) == [c.CategoryAdded(HOUSE, "House")]
    assert home.catalog.removed == {}
    assert home.undo(made) == []


def test_an_undo_of_an_import_from_before_takes_back_fields_items_and_notes_alone(
    home: Undoing,
) -> None:
    was = ImportedTask(
        ROOF,
        "Roof",
        labels=("blue",),
        items=(ImportedItem("Nails"), ImportedItem("Saw", is_checked=True), ImportedItem("Rope")),
        notes=(ImportedNote("Dry"),),
    )
    home.file(was, A_WALL)
    before = home.task(ROOF)
    home.file(
        ImportedTask(
            ROOF,
            "Old roof",
            category="House",
            status="DONE",
            due="2027-02-01",
            labels=("red",),
            description="Tiles",
            items=(
                ImportedItem("Nails", is_checked=True),
                ImportedItem("Saw"),
                ImportedItem("Rope"),
                ImportedItem("Paint"),
            ),
            notes=(ImportedNote("Dry"), ImportedNote("Wet")),
        ),
        ImportedTask(WALL, "Old wall"),
        ImportedTask(DOOR, "Door"),
    )
    made = home.n
    home.do(do.DeleteTask(WALL))
    home.do(do.EditTask(DOOR, due="2027-02-01"))
    home.do(do.UndoImport((ROOF, WALL, DOOR), made, made))
    roof = home.task(ROOF)
    for field in ("title", "category", "status", "due", "labels", "description", "notes"):
        assert getattr(roof, field) == getattr(before, field)
    assert [one.is_checked for one in roof.items if not one.is_archived] == [False, True, False]
    assert home.task(DOOR).due == "2027-02-01"
    assert home.task(WALL).title == "Old wall"
    assert roof.imported != before.imported
    assert HOUSE in home.catalog.categories
    home.do(do.EditTask(DOOR, due=""))
    home.file(ImportedTask(key("task", "shed"), "Shed"))
    home.do(do.UndoImport((key("task", "shed"),), home.n, home.n))
    assert home.task(key("task", "shed")).is_deleted


def test_a_note_that_a_file_changed_is_as_it_was_after_an_undo_from_before(home: Undoing) -> None:
    def noted(text: str) -> ImportedTask:
        return ImportedTask(ROOF, "Roof", notes=(ImportedNote(text, key="n1"),))

    home.file(noted("Dry"))
    home.file(noted("Wet"))
    home.do(do.UndoImport((ROOF,), home.n, home.n))
    assert [one.words.text for one in home.task(ROOF).notes] == ["Dry"]


def test_items_that_an_undo_put_away_come_again_and_no_others(home: Undoing) -> None:
    home.file(A_ROOF)
    items = ImportedTask(ROOF, "Roof", items=tuple(map(ImportedItem, ("Nails", "Saw", "Tiles"))))
    home.file(items)
    nails, saw, _ = home.task(ROOF).items
    home.undo()
    for one in (nails, saw):
        home.do(do.EditItem(ROOF, one.id, is_archived=False))
    home.do(do.EditItem(ROOF, saw.id, is_archived=True))
    home.file(items)
    assert [one.is_archived for one in home.task(ROOF).items] == [False, True, False]


def test_what_the_person_held_against_the_file_is_held_after_an_undo_too(home: Undoing) -> None:
    home.file(ImportedTask(ROOF, "Roof", due="2027-02-01"))
    home.do(do.EditTask(ROOF, due="2027-03-01"))
    newer = ImportedTask(ROOF, "Old roof", category="House", due="2027-02-02")
    home.file(newer)
    home.undo()
    home.file(newer)
    roof = home.task(ROOF)
    assert (roof.title, roof.category, roof.due) == ("Old roof", HOUSE, "2027-03-01")
    assert [field for field, _ in home.open(ROOF)] == ["due"]

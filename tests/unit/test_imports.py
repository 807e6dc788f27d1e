"""What a file says anew, what it and the person both changed, and what takes an import back."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.append.notification_batch import batch
from domain.errors import Refused
from domain.handlers.imports import not_linked
from domain.handlers.undo import import_undone_in_task
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import imports, undo
from domain.journal import task as t
from domain.journal.catalog import CATALOG, available, category_id, label_id
from domain.journal.edits import item_id
from domain.journal.import_conflicts import COMPARED, import_conflicts_of
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.imports import ImportNames, is_unmade
from domain.journal.links import LINKS
from domain.journal.task import TASK, ChecklistItem, Link, Task
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import MAIN
from domain.log.wire import SHARED, Words, payload, words
from projections.tasks import VIEW
from projections.view import fold
from tests.support.services import divergences, services
from tests.support.sides import Sides

# ---------------------------------------------------------------------------- an import is one deed


BY = "import:todo.md"
ROOF, WALL, DOOR = (key("task", one) for one in ("roof", "wall", "door"))
A_ROOF, A_WALL, A_DOOR = (
    ImportedTask(ROOF, "Roof"),
    ImportedTask(WALL, "Wall"),
    ImportedTask(DOOR, "Door", status="DONE"),
)


class Filed:
    """A home into which a file is imported."""

    def __init__(self) -> None:
        self.at = services()

    def file(self, *tasks: ImportedTask, source: str = "todo.md", **more: Any) -> Sequence[Any]:
        """Import tasks of a file; what that wrote of tasks."""
        kept = [payload(one.task_id, canonical.encode(one)) for one in tasks]
        refs = [do.ImportedRef(one.task_id, made.id) for one, made in zip(tasks, kept, strict=True)]
        kept += [payload(SHARED, b"lines")] if "lines" in more else []
        last = self.at.journal.tail().n
        self.at.append_journal(
            do.ImportTasks(source, tuple(refs), is_three_way=True, **more), payloads=kept
        )
        appended = self.at.journal.appends(last)
        return [row.fact for rows in appended for row in rows if row.of_kind == "task"]

    def task(self, task: str) -> Task:
        with self.at.journal.reading() as world:
            return world.load(TASK, task)

    def left_out(self, *links: do.ImportedLink) -> list[tuple[do.ImportedLink, str]]:
        with self.at.journal.reading() as world:
            return [(one, why.because) for one, why in not_linked(world, links)]


def test_a_link_that_cannot_be_is_left_out_and_all_else_comes_in() -> None:
    home = Filed()
    circle = (
        do.ImportedLink(ROOF, "blocks", WALL),
        do.ImportedLink(WALL, "blocks", DOOR),
        do.ImportedLink(DOOR, "blocks", ROOF),
        do.ImportedLink(DOOR, "blocks", "nobody"),
        do.ImportedLink(DOOR, "relates_to", ROOF),
    )
    home.file(A_ROOF, A_WALL, A_DOOR, links=circle)
    assert home.task(ROOF).links == (Link("blocks", WALL),)
    assert home.task(DOOR).links == (Link("relates_to", ROOF),)
    (first, because), (second, missing) = home.left_out(*circle)
    assert (first, second) == circle[2:4]
    assert because == "'Roof' already blocks 'Door', directly or through others"
    assert missing == "there is no task 'nobody'"


def test_a_link_to_what_the_same_import_deletes_is_there_before_it_goes() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL)
    gone = (do.GoneTask(WALL, "delete"),)
    home.file(links=(do.ImportedLink(ROOF, "blocks", WALL),), gone=gone)
    assert home.task(ROOF).links
    assert (
        home.left_out(do.ImportedLink(WALL, "blocks", DOOR))[0][1] == "the task 'Wall' is deleted"
    )


def test_what_is_gone_is_rejected_or_deleted_once_by_the_file() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL, A_DOOR)
    gone = (
        do.GoneTask(ROOF, "reject"),
        do.GoneTask(WALL, "delete"),
        do.GoneTask(DOOR, "reject"),
        do.GoneTask("nobody", "delete"),
    )
    reason = "no longer in todo.md"
    assert home.file(gone=gone) == [t.StatusSet(BY, "REJECTED", reason), t.TaskDeleted(BY)]
    assert home.file(gone=gone) == []


def test_what_comes_back_is_as_the_file_says_or_open() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL, A_DOOR)
    for task in (ROOF, DOOR):
        home.at.append_journal(do.DeleteTask(task))
    home.at.append_journal(do.EditTask(WALL, status="REJECTED"))
    facts = home.file(A_WALL, restores=(ROOF, WALL, DOOR, "nobody"))
    opened = t.StatusSet(BY, "OPEN")
    assert facts == [opened, t.TaskRestored(BY), t.TaskRestored(BY)]
    assert (home.task(WALL).status, home.task(DOOR).status) == ("OPEN", "DONE")
    assert home.file(A_ROOF, restores=(ROOF,)) == []
    home.at.append_journal(do.CreateTask("By hand", status="DONE"))
    with home.at.journal.reading() as world:
        (by_hand,) = {*world.entities("task")} - {ROOF, WALL, DOOR}
    assert home.file(restores=(by_hand,)) == [opened]


def test_the_lines_of_a_source_are_kept_though_nothing_is_decided_by_them() -> None:
    home = Filed()
    kept = payload(SHARED, b"lines")
    home.file(A_ROOF, lines=kept.id)
    assert dict(home.at.journal.payloads([kept.id])) == {kept.id: b"lines"}
    assert divergences(home.at) == []


def test_an_agent_hears_of_what_a_file_changed_as_of_the_file() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL)
    home.at.append_journal(do.StartTimer(WALL))
    home.file(
        links=(do.ImportedLink(ROOF, "blocks", WALL),),
        gone=(do.GoneTask(ROOF, "reject"), do.GoneTask(WALL, "delete")),
    )
    rows = [*home.at.journal.appends(home.at.journal.tail().n - 1)][-1]
    with home.at.journal.reading() as world:
        told = batch(rows, lambda one: world.load(LINKS, one), lambda one: world.load(TASK, one))
    assert told is not None
    assert told.origin == BY
    assert {"key:LINK", "key:TASK", "key:TIME_ENTRY"} <= {*told.tokens}


def test_a_repeat_under_a_key_is_known_by_what_its_caller_said() -> None:
    home = Filed()
    kept = payload(ROOF, canonical.encode(A_ROOF))
    refs = (do.ImportedRef(ROOF, kept.id),)
    home.at.append_journal(do.ImportTasks("todo.md", refs), key="K", payloads=[kept])
    again = do.ImportTasks("todo.md", refs, gone=(do.GoneTask(ROOF, "delete"),))
    assert not home.at.append_journal(again, key="K", payloads=[kept]).rows
    assert not home.task(ROOF).is_deleted


def test_a_link_to_itself_is_left_out_as_is_one_of_no_known_relation() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL)
    odd = do.ImportedLink(ROOF, "blocks", ROOF), do.ImportedLink(ROOF, "likes", WALL)
    home.file(links=odd)
    assert [because for _, because in home.left_out(*odd)] == [
        "a task cannot be linked to itself",
        "'likes' is no relation",
    ]
    assert home.task(ROOF).links == ()


# --------------------------------------------------------------------- an import that is taken back


HOUSE = category_id("House")
BLUE = label_id("blue")


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
        """What is open; only of tasks that are marked it is asked where all are."""
        with self.at.journal.reading() as world:
            found = [(one.field, one.said_at) for one in import_conflicts_of(world, task)]
            assert not found or fold(VIEW, world.rows(TASK, task))[task].is_unsettled
            return found

    @property
    def catalog(self) -> c.Catalog:
        with self.at.journal.reading() as world:
            return world.load(CATALOG, MAIN)


@pytest.fixture
def home() -> Undoing:
    return Undoing()


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


# ------------------------------------------------------------------------ labels of a file (ADR 83)


WORK, GARDEN = (category_id(name) for name in ("Work", "Garden"))
BLUE_HOUSE = ImportedTask(ROOF, "Roof", category="House", labels=("Blue",))
AT_WORK = ImportedTask(WALL, "Wall", category="Work", labels=("blue",))
IN_GARDEN = ImportedTask(DOOR, "Door", category="Garden")


class Scoped(Undoing):
    def files(self, *tasks: ImportedTask, **more: Any) -> None:
        self.file(*tasks, scopes_labels=True, **more)

    @property
    def scope(self) -> tuple[str, ...]:
        return self.catalog.labels[BLUE].categories

    def offered(self, category: str) -> list[str]:
        return [one.name for one in available(self.catalog, category)]


@pytest.fixture
def labelled() -> Scoped:
    return Scoped()


def test_a_label_of_a_file_is_offered_where_its_tasks_are(labelled: Scoped) -> None:
    labelled.files(BLUE_HOUSE, IN_GARDEN)
    assert [labelled.offered(one) for one in (HOUSE, WORK, GARDEN)] == [["Blue"], [], []]
    labelled.files(AT_WORK, source="work.md")
    assert [labelled.offered(one) for one in (HOUSE, WORK, GARDEN)] == [["Blue"], ["Blue"], []]
    assert divergences(labelled.at) == []


def test_an_import_of_before_makes_it_everyones_as_it_did(labelled: Scoped) -> None:
    labelled.file(BLUE_HOUSE, IN_GARDEN)
    assert labelled.catalog.labels[BLUE] == c.Label(BLUE, "Blue")


def test_a_task_that_a_person_labels_brings_the_label_into_its_category(labelled: Scoped) -> None:
    labelled.files(BLUE_HOUSE, IN_GARDEN)
    labelled.do(do.ChangeLabels(DOOR, assign=("blue",)))
    assert labelled.scope == (HOUSE,)
    labelled.do(do.ChangeLabels(DOOR, remove=("blue",)))
    labelled.do(do.ChangeLabels(DOOR, assign=("blue",), scopes_labels=True))
    assert set(labelled.scope) == {HOUSE, GARDEN}
    labelled.do(do.AddCategory("Work"))
    labelled.do(do.CreateTask("Wall", "Work", labels=("blue",), scopes_labels=True))
    assert set(labelled.scope) == {HOUSE, GARDEN, WORK}
    assert divergences(labelled.at) == []


def test_undo_leaves_a_label_where_another_task_carries_it_now(labelled: Scoped) -> None:
    labelled.files(BLUE_HOUSE, IN_GARDEN)
    imported = labelled.n
    labelled.files(AT_WORK, source="work.md")
    labelled.do(do.ChangeLabels(DOOR, assign=("blue",), scopes_labels=True))
    labelled.undo(imported + 1)
    assert set(labelled.scope) == {HOUSE, GARDEN}


def test_labels_of_before_are_narrowed_once_and_what_is_scoped_is_left(labelled: Scoped) -> None:
    labelled.file(BLUE_HOUSE)
    scope = do.LabelScope(BLUE, (HOUSE,))
    assert labelled.do(do.ScopeLabels((scope, do.LabelScope("nobody", (HOUSE,))))) == [
        c.LabelScoped(BLUE, (HOUSE,), narrows=True)
    ]
    assert labelled.do(do.ScopeLabels((do.LabelScope(BLUE, (WORK,)),))) == []


def said(first: c.CatalogFact, second: c.CatalogFact, *before: c.CatalogFact) -> c.Label:
    """The label after two machines each said one thing, which opens no conflict."""
    sides = Sides()
    if before:
        sides.says("desk", *before, of="catalog:main")
        sides.meet("desk", "phone")
    sides.says("desk", first, of="catalog:main")
    sides.says("phone", second, of="catalog:main")
    assert not list(sides.open("catalog:main"))
    found: c.Catalog = sides.state("catalog:main")
    return found.labels[BLUE]


def test_two_machines_that_use_a_label_add_their_categories() -> None:
    made = [c.LabelScoped(BLUE, (one,), "Blue") for one in (HOUSE, WORK)]
    both = tuple(sorted((HOUSE, WORK)))
    assert said(made[0], made[1]) == said(made[1], made[0]) == c.Label(BLUE, "Blue", both)


def test_what_a_person_widened_stays_so_whatever_another_machine_adds() -> None:
    wide, scoped = c.LabelAdded(BLUE, "Blue"), c.LabelScoped(BLUE, (WORK,))
    before = c.LabelScoped(BLUE, (HOUSE,), "Blue")
    assert said(wide, scoped, before) == said(scoped, wide, before) == c.Label(BLUE, "Blue")


def test_what_a_person_says_beats_what_narrows_labels_of_before() -> None:
    narrowed = c.LabelScoped(BLUE, (HOUSE,), narrows=True)
    mine = c.LabelAdded(BLUE, "Blue", (WORK,))
    before = c.LabelAdded(BLUE, "Blue")
    assert said(mine, narrowed, before).categories == (WORK,)
    assert said(narrowed, mine, before).categories == (WORK,)


def test_a_deleted_label_comes_back_by_who_makes_it_and_not_by_who_uses_it() -> None:
    catalog = c.Catalog("main", labels={BLUE: c.Label(BLUE, "Blue", (HOUSE,), is_deleted=True)})
    assert CATALOG.evolve(catalog, row(c.LabelScoped(BLUE, (WORK,)))) == catalog
    again = CATALOG.evolve(catalog, row(c.LabelScoped(BLUE, (WORK,), "blue")))
    assert again.labels[BLUE] == c.Label(BLUE, "blue", (WORK,))


def row(fact: c.CatalogFact) -> Any:
    sides = Sides()
    sides.says("desk", fact, of="catalog:main")
    return sides.rows[-1]


# ------------------------------------------------------- what file and person both changed (ADR 48)


FIRST = ImportedTask(ROOF, "Roof", due="2027-02-01", priority="P1", category="Home")
VALUES: dict[str, list[Any]] = {
    "title": ["Roof", "New roof", "Old roof"],
    "status": ["OPEN", "GROOMED", "DONE"],
    "priority": ["P1", "P2", "P3"],
    "estimate": [0, 30, 60],
    "due": ["", "2027-02-01", "2027-03-01"],
    "repeat": ["", "FREQ=DAILY", "FREQ=WEEKLY"],
    "wait_until": ["", "2027-02-01", "2027-03-01"],
    "category": ["Home", "Work", "Inbox"],
    "description": ["", "Tiles", "so long " * 200],
}


class Both:
    """A home in which a file and the person take turns."""

    def __init__(self) -> None:
        self.at = services()
        for name in ("Home", "Work", "Inbox"):
            self.at.append_journal(do.AddCategory(name))
        self.said = FIRST

    def file(self, *, is_three_way: bool = True, **fields: Any) -> None:
        self.said = replace(self.said, **fields)
        kept = payload(ROOF, canonical.encode(self.said))
        refs = (do.ImportedRef(ROOF, kept.id),)
        command = do.ImportTasks("todo.md", refs, is_three_way=is_three_way)
        self.at.append_journal(command, payloads=[kept])

    def person(self, **fields: Any) -> None:
        kept: Any = ()
        if "description" in fields:
            fields["description"], kept = words(ROOF, fields["description"])
        self.at.append_journal(do.EditTask(ROOF, **fields), payloads=kept)

    def settle(self, field: str, keep: Any) -> None:
        self.at.append_journal(do.SettleDifference(ROOF, field, keep))

    @property
    def task(self) -> Task:
        with self.at.journal.reading() as world:
            return world.load(TASK, ROOF)

    @property
    def open(self) -> list[str]:
        with self.at.journal.reading() as world:
            return [one.field for one in import_conflicts_of(world, ROOF)]


@pytest.fixture
def both() -> Both:
    both = Both()
    both.file()
    return both


def test_an_import_from_before_takes_what_the_file_says(both: Both) -> None:
    both.person(due="2027-03-01")
    both.file(due="2027-02-20", is_three_way=False)
    assert (both.task.due, both.open) == ("2027-02-20", [])


def test_both_saying_the_same_is_no_difference(both: Both) -> None:
    both.person(due="2027-03-01", status="DONE", reason="at last")
    both.file(due="2027-03-01", status="DONE")
    assert (both.task.status_reason, both.open) == ("at last", [])


def test_a_deleted_task_differs_from_no_file(both: Both) -> None:
    both.person(due="2027-03-01")
    both.file(due="2027-02-20")
    both.at.append_journal(do.DeleteTask(ROOF))
    assert both.open == []


@pytest.mark.parametrize(("keep", "due"), [("file", "2027-02-20"), ("mine", "2027-03-01")])
def test_a_difference_is_settled_until_the_file_says_something_new(
    both: Both, keep: str, due: str
) -> None:
    both.person(due="2027-03-01")
    both.file(due="2027-02-20")
    both.settle("due", keep)
    assert (both.task.due, both.open) == (due, [])
    both.file(estimate=30)
    assert both.open == []
    both.file(due="2027-02-25")
    assert both.open == ([] if keep == "file" else ["due"])


def test_the_files_category_is_made_only_where_it_is_taken(both: Both) -> None:
    both.person(category="Work")
    both.file(category="Shed")
    rows = both.at.journal.tail().n
    with both.at.journal.reading() as world:
        assert import_conflicts_of(world, ROOF)[0].said.category == "Shed"
    both.settle("category", "file")
    assert (both.open, both.at.journal.tail().n) == ([], rows + 1)


def test_a_field_without_a_difference_cannot_be_settled(both: Both) -> None:
    with pytest.raises(Refused, match="do not differ in 'due'"):
        both.settle("due", "mine")


DEEDS = st.lists(
    st.tuples(st.sampled_from(["file", "person"]), st.sampled_from(COMPARED), st.integers(0, 2)),
    max_size=8,
)


@given(DEEDS)
def test_nothing_of_the_person_is_lost_and_nothing_of_the_file_is_silent(deeds: Any) -> None:
    """A model of its own: for each field the base, the file's and what stands."""
    both = Both()
    both.file()
    first = {name: getattr(FIRST, name) for name in COMPARED} | {"status": "OPEN"}
    said, base, stands = dict(first), dict(first), dict(first)
    own: set[str] = set()
    for who, field, nth in deeds:
        value = VALUES[field][nth]
        if who == "person":
            both.person(**{field: value})
            if value != stands[field]:
                stands[field], base[field] = value, said[field]
                own.add(field)
            continue
        told: dict[str, Any] = {field: "" if value == "OPEN" else value}
        both.file(**told)
        is_mine = field in own and stands[field] != said[field]
        if value != said[field] and (not is_mine or stands[field] == value):
            own -= set() if stands[field] == value else {field}
            stands[field] = value
        said[field] = value
    with both.at.journal.reading() as world:
        task = world.load(TASK, ROOF)
        held = {name: getattr(task, name) for name in COMPARED}
        held["description"] = world.text(task.description)
    assert held == {**stands, "category": category_id(stands["category"])}
    assert set(both.open) == {name for name in own if said[name] not in (base[name], stands[name])}


# ---------------------------------------------------------------------------- what a file says anew


CATEGORY, LABEL = "category {}".format, "label {}".format
NAMES = ImportNames(CATEGORY, LABEL, CATEGORY)


def decided(task: Task, was: ImportedTask, now: ImportedTask) -> list[t.TaskFact]:
    found, _ = imports.decide(task, was, now, NAMES, BY)
    return found


SAND, WAX = (item_id(ROOF, one, 0) for one in ("sand it", "wax it"))


def roof_with(*titles: str) -> Task:
    """A roof with two items as a file made them, under these titles."""
    pairs = zip((SAND, WAX), titles, strict=True)
    items = tuple(t.ChecklistItem(one, "list", title, BY) for one, title in pairs)
    checklists = (t.Checklist("list", "Checklist"),)
    return Task(ROOF, exists=True, title="Roof", checklists=checklists, items=items)


def listed(*items: ImportedItem) -> ImportedTask:
    return ImportedTask(ROOF, "Roof", items=items)


WAS = listed(ImportedItem("Sand it"), ImportedItem("Wax it"))
NOW = listed(ImportedItem("Sand it well", id=SAND), ImportedItem("Wax it", is_checked=True))


def renamed(task: Task, was: ImportedTask, now: ImportedTask) -> list[t.TaskFact]:
    found, _ = imports.decide(task, was, now, NAMES, BY, renames_items=True)
    return found


def test_an_item_that_is_renamed_in_the_file_is_renamed_here() -> None:
    task, ticked = roof_with("Sand it", "Wax it"), t.ItemChecked(BY, WAX)
    assert renamed(task, WAS, NOW) == [t.ItemRetitled(BY, SAND, "Sand it well"), ticked]
    assert decided(task, WAS, NOW) == [ticked]  # as it was decided before
    assert renamed(roof_with("Sand it well", "Wax it"), NOW, NOW) == []
    back = renamed(roof_with("Sand it well", "Wax it"), NOW, WAS)
    assert back[0] == t.ItemRetitled(BY, SAND, "Sand it")


def test_an_item_that_was_renamed_here_since_stays_so() -> None:
    assert renamed(roof_with("Grind it", "Wax it"), WAS, NOW) == [t.ItemChecked(BY, WAX)]
    both = listed(*WAS.items, ImportedItem("sand it"))
    assert renamed(roof_with("Sand it", "Wax it"), listed(WAS.items[1]), both)[1:] == []


def test_the_id_of_a_renamed_item_is_no_other_ones() -> None:
    again = item_id(ROOF, "sand it", 1)
    sand, well = ImportedItem("Sand it"), NOW.items[0]
    assert [*imports.numbered(listed(sand, well, sand))] == [
        again,
        SAND,
        item_id(ROOF, "sand it", 2),
    ]
    added = renamed(roof_with("Sand it well", "Wax it"), NOW, listed(sand, *NOW.items))
    assert [one.item for one in added if isinstance(one, t.ItemAdded)] == [again]


def test_a_note_that_has_a_key_is_edited_where_its_text_changed() -> None:
    made = decided(Task(ROOF), ImportedTask(ROOF, ""), noted("It leaks."))
    (added,) = (fact for fact in made if isinstance(fact, t.NoteAdded))
    note = t.Note(added.note, "note", added.words, BY, "")
    task = Task(ROOF, exists=True, title="Roof", notes=(note,))
    changed = decided(task, noted("It leaks."), noted("It leaks a lot."))
    assert changed == [t.NoteEdited(BY, added.note, Words("It leaks a lot."))]


def noted(text: str) -> ImportedTask:
    return ImportedTask(ROOF, "Roof", notes=(ImportedNote(text, key="comment-7"),))


# ---------------------------------------------------------------------------------- what takes back


PLAIN = Task("t1", exists=True, title="Dig", description=Words("The bed"))


def test_what_changed_nothing_needs_no_inverse() -> None:
    fact = t.TaskRetitled("person", "Dig")
    assert undo.inverse(fact, PLAIN, PLAIN, PLAIN, "").outcome == "same"


def test_an_item_that_an_import_renamed_keeps_its_tick() -> None:
    was, named = (ChecklistItem("i1", "c1", title, "person") for title in ("Rake", "Rake all"))
    ticked = replace(named, is_checked=True)
    before = replace(PLAIN, items=(was,))

    def back(item: ChecklistItem) -> list[t.TaskFact]:
        after = replace(PLAIN, items=(item,))
        return imports.import_inverse(before, after, after)

    assert back(named) == []
    assert back(ticked) == [t.ItemUnchecked("person", "i1")]

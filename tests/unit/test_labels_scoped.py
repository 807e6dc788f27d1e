"""A label from a file is offered where tasks carry it, and nowhere else (ADR 83)."""

from typing import Any

import pytest

from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal.catalog import CATALOG, available, category_id, label_id
from domain.journal.imported import ImportedTask
from tests.support.services import divergences
from tests.support.sides import Sides
from tests.unit.test_import_deed import DOOR, ROOF, WALL
from tests.unit.test_import_undone import Undoing

BLUE = label_id("blue")
HOUSE, WORK, GARDEN = (category_id(name) for name in ("House", "Work", "Garden"))
IN_HOUSE = ImportedTask(ROOF, "Roof", category="House", labels=("Blue",))
AT_WORK = ImportedTask(WALL, "Wall", category="Work", labels=("blue",))
PLAIN = ImportedTask(DOOR, "Door", category="Garden")


class Scoped(Undoing):
    def files(self, *tasks: ImportedTask, **more: Any) -> None:
        self.file(*tasks, scopes_labels=True, **more)

    @property
    def scope(self) -> tuple[str, ...]:
        return self.catalog.labels[BLUE].categories

    def offered(self, category: str) -> list[str]:
        return [one.name for one in available(self.catalog, category)]


@pytest.fixture
def home() -> Scoped:
    return Scoped()


def test_a_label_of_a_file_is_offered_where_its_tasks_are(home: Scoped) -> None:
    home.files(IN_HOUSE, PLAIN)
    assert [home.offered(one) for one in (HOUSE, WORK, GARDEN)] == [["Blue"], [], []]
    home.files(AT_WORK, source="work.md")
    assert [home.offered(one) for one in (HOUSE, WORK, GARDEN)] == [["Blue"], ["Blue"], []]
    assert divergences(home.at) == []


def test_an_import_of_before_makes_it_everyones_as_it_did(home: Scoped) -> None:
    home.file(IN_HOUSE, PLAIN)
    assert home.catalog.labels[BLUE] == c.Label(BLUE, "Blue")


def test_a_label_for_all_categories_stays_so(home: Scoped) -> None:
    home.do(do.AddLabel("blue"))
    home.files(IN_HOUSE, AT_WORK)
    assert home.scope == ()


def test_a_task_that_a_person_labels_brings_the_label_into_its_category(home: Scoped) -> None:
    home.files(IN_HOUSE, PLAIN)
    home.do(do.ChangeLabels(DOOR, assign=("blue",)))
    assert home.scope == (HOUSE,)
    home.do(do.ChangeLabels(DOOR, remove=("blue",)))
    home.do(do.ChangeLabels(DOOR, assign=("blue",), scopes_labels=True))
    assert set(home.scope) == {HOUSE, GARDEN}
    home.do(do.AddCategory("Work"))
    home.do(do.CreateTask("Wall", "Work", labels=("blue",), scopes_labels=True))
    assert set(home.scope) == {HOUSE, GARDEN, WORK}
    assert divergences(home.at) == []


def test_undo_of_an_import_takes_a_label_out_of_the_category_again(home: Scoped) -> None:
    home.files(IN_HOUSE)
    before = home.catalog.labels
    home.files(AT_WORK, source="work.md")
    home.undo()
    assert home.catalog.labels == before
    home.undo(home.n - 2)
    assert home.catalog.labels[BLUE].is_deleted
    home.files(AT_WORK, source="work.md", restores=(WALL,))
    assert home.scope == (WORK,)
    assert divergences(home.at) == []


def test_undo_of_two_imports_takes_a_label_away_that_both_used(home: Scoped) -> None:
    home.files(IN_HOUSE)
    home.files(AT_WORK)
    home.undo(home.n - 1, home.n)
    assert home.catalog.labels[BLUE].is_deleted


def test_undo_leaves_a_label_where_another_task_carries_it_now(home: Scoped) -> None:
    home.files(IN_HOUSE, PLAIN)
    imported = home.n
    home.files(AT_WORK, source="work.md")
    home.do(do.ChangeLabels(DOOR, assign=("blue",), scopes_labels=True))
    home.undo(imported + 1)
    assert set(home.scope) == {HOUSE, GARDEN}


def test_what_a_person_labelled_is_taken_back_with_where_it_is_offered(home: Scoped) -> None:
    home.files(IN_HOUSE, PLAIN)
    home.do(do.ChangeLabels(DOOR, assign=("blue",), scopes_labels=True))
    home.do(do.UndoDeed((DOOR,), (home.n,), reopens=True))
    assert home.scope == (HOUSE,)


def test_labels_of_before_are_narrowed_once_and_what_is_scoped_is_left(home: Scoped) -> None:
    home.file(IN_HOUSE)
    scope = do.LabelScope(BLUE, (HOUSE,))
    assert home.do(do.ScopeLabels((scope, do.LabelScope("nobody", (HOUSE,))))) == [
        c.LabelScoped(BLUE, (HOUSE,), narrows=True)
    ]
    assert home.do(do.ScopeLabels((do.LabelScope(BLUE, (WORK,)),))) == []


# --------------------------------------------------------------------------------- two machines


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

"""What the file changed and the person, too: the person's stands, and both are told."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.catalog import category_id
from domain.journal.import_conflicts import COMPARED, import_conflicts_of
from domain.journal.imported import ImportedTask
from domain.journal.task import TASK, DifferenceSettled, Task
from domain.log import canonical
from domain.log.wire import payload, words
from tests.support.services import services

ROOF = "roof"
FIRST = ImportedTask(ROOF, "Roof", due="2027-02-01", priority="P1", category="Home")
VALUES: dict[str, list[Any]] = {
    "title": ["Roof", "New roof", "Old roof"],
    "status": ["OPEN", "GROOMED", "DONE"],
    "priority": ["P1", "P2", "P3"],
    "estimate": [0, 30, 60],
    "due": ["", "2027-02-01", "2027-03-01"],
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


def test_what_both_changed_stays_as_the_person_has_it_and_is_open(both: Both) -> None:
    both.person(due="2027-03-01")
    both.file(due="2027-02-20", estimate=30)
    assert (both.task.due, both.task.estimate, both.open) == ("2027-03-01", 30, ["due"])


def test_an_import_from_before_takes_what_the_file_says(both: Both) -> None:
    both.person(due="2027-03-01")
    both.file(due="2027-02-20", is_three_way=False)
    assert (both.task.due, both.open) == ("2027-02-20", [])


def test_what_only_one_of_them_changed_is_no_difference(both: Both) -> None:
    both.person(due="2027-03-01")
    both.file(title="New roof")
    assert (both.task.due, both.task.title, both.open) == ("2027-03-01", "New roof", [])


def test_both_saying_the_same_is_no_difference(both: Both) -> None:
    both.person(due="2027-03-01", status="DONE", reason="at last")
    both.file(due="2027-03-01", status="DONE")
    assert (both.task.status_reason, both.open) == ("at last", [])


def test_a_file_that_takes_its_word_back_ends_the_difference(both: Both) -> None:
    both.person(due="2027-03-01")
    both.file(due="2027-02-20")
    both.file(due="2027-02-01")
    assert (both.task.due, both.open) == ("2027-03-01", [])


def test_a_later_word_of_the_person_ends_the_difference(both: Both) -> None:
    both.person(due="2027-03-01")
    both.file(due="2027-02-20")
    both.person(due="2027-04-01")
    assert both.open == []


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


def test_a_task_of_no_file_differs_from_none() -> None:
    both = Both()
    task = both.at.append_journal(do.CreateTask("Own")).result.ids[0]
    with both.at.journal.reading() as world:
        assert import_conflicts_of(world, task) == ()


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


def test_settling_keeps_what_the_file_said(both: Both) -> None:
    both.person(due="2027-03-01")
    both.file(due="2027-02-20")
    both.settle("due", "mine")
    facts = [row.fact for row in both.at.journal.facts(f"task:{ROOF}@{both.at.journal.replica}")]
    assert facts[-1] == DifferenceSettled("person", "due", "mine", both.task.imported[-1][1])

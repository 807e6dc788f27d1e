"""The numbers that open conflicts are settled by."""

from adapters.documents.import_conflicts import ConflictDetails
from adapters.usecases.resolve_conflict import DIGITS, numbered


def conflict(task: str, field: str, title: str = "Paint") -> ConflictDetails:
    return ConflictDetails(task, title, field, "values", "r1", ())


def test_each_has_a_number_that_no_other_begins_with() -> None:
    found = numbered(conflict(f"t{n}", "title") for n in range(2_000))
    numbers = {one.number for one in found}
    assert len(numbers) == 2_000
    assert all(len(one) >= DIGITS for one in numbers)
    parts = {one[:count] for one in numbers for count in range(DIGITS, len(one))}
    assert not parts & numbers


def test_two_of_one_task_and_field_are_both_told() -> None:
    found = numbered([conflict("", "circle", "One"), conflict("", "circle", "Two")])
    assert [one.title for one in found] == ["One", "Two"]


def test_a_number_stays_when_others_are_settled() -> None:
    (alone,) = numbered([conflict("t1", "due")])
    both = numbered([conflict("t1", "due"), conflict("t2", "due")])
    assert both[0].number == alone.number

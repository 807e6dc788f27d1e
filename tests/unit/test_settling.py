"""Whatever two sides said of a field, either value can be chosen, and then nothing is open."""

import pytest

from domain.handlers.resolve_conflict import fact_of_task
from domain.journal import task as t
from tests.unit.test_merging import FIELDS, ME, apart

LINK = "link:fixes:t2"


@pytest.mark.parametrize("field", [one for one in FIELDS if one != LINK])
@pytest.mark.parametrize("nth", [0, 1])
def test_either_value_of_a_field_can_be_chosen(field: str, nth: int) -> None:
    sides = apart(*FIELDS[field][:2])
    (conflict,) = sides.open()
    sides.meet("desk", "phone")
    fact = fact_of_task(conflict.field, conflict.sides[nth].value)
    assert fact is not None
    sides.says("phone", fact)
    assert sides.open() == []
    only = apart(*FIELDS[field][:2])
    only.meet("desk", "phone")
    only.says("phone", FIELDS[field][nth])
    assert sides.state() == only.state()


@pytest.mark.parametrize("goes", [True, False])
def test_a_deletion_that_was_left_out_is_done_or_dropped(goes: bool) -> None:
    sides = apart(t.TaskDeleted(ME), t.TaskRetitled(ME, "B"))
    sides.meet("desk", "phone")
    fact = fact_of_task(sides.open()[0].field, goes)
    assert fact is not None
    sides.says("desk", fact)
    assert (sides.state().is_deleted, sides.open()) == (goes, [])


@pytest.mark.parametrize("field", [LINK, "blocks", "item:i1:colour"])
def test_what_is_no_field_of_one_task_has_no_fact(field: str) -> None:
    assert fact_of_task(field, True) is None


def test_a_rating_of_an_entry_is_chosen_like_one_of_the_task() -> None:
    assert fact_of_task("rating:e1", (4, "")) == t.TaskRated(ME, "e1", 4)

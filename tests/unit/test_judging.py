"""What was proposed beside what was wanted, and what the figures are worth."""

from itertools import product
from math import isclose
from typing import Any

import pytest

from domain import judging
from domain.judging import Proposed, Tally, Wish, judge, proposed, sign_test, title_key, wilson

DUE = Wish("due", ("2027-01-08", "2027-01-09"))
NAMES = {"i1": "Paint the hall", "l1": "errands", "t1": "Buy paint"}


def test_each_wish_is_met_once_and_what_comes_twice_is_wrong() -> None:
    found = [Proposed("due", "2027-01-09"), Proposed("due", "2027-01-08")]
    marks = judge([DUE, Wish("add", ("Milk",))], [], found)
    assert (marks.right, marks.wrong) == ((found[0],), (found[1],))
    assert marks.missed == (Wish("add", ("Milk",)),)
    assert Tally.of([marks]) == (1, 1, 1)
    assert Tally.of([marks], "add") == (0, 0, 1)


def test_what_is_allowed_is_neither_right_nor_wrong_and_what_is_wanted_comes_first() -> None:
    found = [Proposed("add", "Milk"), Proposed("priority", "P0"), Proposed("priority", "P1")]
    marks = judge([Wish("add", ("Milk",))], [Wish("add", ("Milk",)), Wish("priority", ())], found)
    assert (marks.right, marks.neutral, marks.wrong) == ((found[0],), (*found[1:],), ())
    assert (Tally.of([marks]).precision, Tally.of([marks]).recall) == (1.0, 1.0)


def test_titles_compare_by_their_words_and_other_values_by_themselves() -> None:
    assert title_key("Still buy the Äpfel!") == title_key("aepfel BUY")
    assert title_key("to the") == title_key("the to") != frozenset()
    wish = Wish("add", ("Buy the apples", "Apples"))
    assert judge([wish], [], [Proposed("add", "apples")]).wrong == ()
    assert judge([wish], [], [Proposed("add", "sell apples")]).right == ()
    assert judge([Wish("label", ("the",))], [], [Proposed("label", "a")]).right == ()
    assert judge([wish], [], [Proposed("tick", "apples")]).right == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "kinds"),
    [
        ("update_task_due_date", {"dueDate": "2027-01-08"}, "due 2027-01-08"),
        ("update_task_estimate", {"minutes": 90}, "estimate 90"),
        ("update_task_priority", {"priority": "P1"}, "priority P1"),
        ("set_task_status", {"status": "ON HOLD", "reason": "x"}, "status ON HOLD"),
        ("set_task_title", {"title": "Paint"}, "title Paint"),
        ("add_checklist_item", {"title": "Milk"}, "add Milk"),
        ("update_checklist_item", {"id": "i1", "isChecked": True}, "tick Paint the hall"),
        ("update_checklist_item", {"id": "i1", "isChecked": False}, "untick Paint the hall"),
        (
            "update_checklist_item",
            {"id": "i1", "isArchived": True, "title": "Hall"},
            "archive Paint the hall, rename Hall",
        ),
        ("assign_task_label", {"id": "l1"}, "label errands"),
        ("create_follow_up_task", {"title": "Stairs"}, "follow_up Stairs"),
        ("migrate_checklist_item", {"id": "i1", "targetTaskId": "t1"}, "move Paint the hall"),
        ("link_task", {"relation": "blocks", "targetTaskId": "t1"}, "link blocks Buy paint"),
        ("log_time", {"startedAt": "a", "endedAt": "b", "summary": "c"}, "time a b"),
    ],
)
def test_each_change_is_read_as_cases_write_it(
    tool: str, arguments: dict[str, Any], kinds: str
) -> None:
    found = proposed(tool, arguments, NAMES)
    assert ", ".join(map(" ".join, found)) == kinds
    assert {one.kind for one in found} <= {*judging.KINDS}


@pytest.mark.parametrize("kind", sorted(judging.KINDS))
def test_what_bears_a_title_meets_a_wish_for_the_same_thing(kind: str) -> None:
    titled = ("title", "tick", "untick", "archive", "add", "follow_up", "rename")
    found = judge([Wish(kind, ("Buy the paint",))], [], [Proposed(kind, "buy paint")])
    assert bool(found.right) == (kind in titled)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_the_interval_is_wilsons(k: int, n: int, low: float, high: float) -> None:
    assert [round(one, 4) for one in wilson(k, n)] == [low, high]


def test_the_sign_test_counts_every_way_that_coins_can_fall() -> None:
    for better, worse in product(range(7), range(7)):
        of, gap = better + worse, abs(better - worse)
        falls = [abs(of - 2 * sum(one)) >= gap for one in product((0, 1), repeat=of)]
        assert isclose(sign_test(better, worse), sum(falls) / len(falls)), (better, worse)
    assert sign_test(61, 12) < 0.001
    assert sign_test(5_000, 5_000) == 1.0


def test_worse_is_any_loss_of_what_repeats_itself_and_else_what_chance_does_not_explain() -> None:
    losses = [judging.is_worse(0, 5, is_repeatable=one) for one in (True, False)]
    assert losses == [True, False]
    assert judging.is_worse(0, 6, is_repeatable=False)
    assert not judging.is_worse(6, 0, is_repeatable=False)
    assert not judging.is_worse(3, 3, is_repeatable=True)

"""The list of the inbox: what is shown together, in which order, and how much of it at once."""

import pytest

from adapters.web.inbox import InboxEntry, fitting, has_words, in_groups
from domain.changes.change_set import ChangeItem, ChangeSet
from domain.log.wire import Words
from projections.inbox import SetDocument


def made(name: str, *tools: str) -> SetDocument:
    items = tuple(
        ChangeItem(nth, tool, Words("{}"), f"Change {nth}", "", "", "")
        for nth, tool in enumerate(tools, start=1)
    )
    return SetDocument(ChangeSet(name, task=f"task of {name}", items=items), place=name)


def told(entries: list[InboxEntry]) -> list[tuple[str, str, list[int]]]:
    return [(one.group, one.set.id, [item.number for item in one.items]) for one in entries]


def test_groups_stand_in_the_order_of_their_first_item() -> None:
    sets = [made("c", "due", "label"), made("b", "label"), made("a", "due", "due")]
    found = in_groups(sets, lambda _, item: True, lambda _, item: item.tool)
    assert told(found) == [
        ("due", "c", [1]),
        ("due", "a", [1, 2]),
        ("label", "c", [2]),
        ("label", "b", [1]),
    ]
    only = in_groups(sets, lambda _, item: item.number == 2, lambda one, _: one.task_id)
    assert told(only) == [("task of c", "c", [2]), ("task of a", "a", [2])]


@pytest.mark.parametrize(
    ("items", "most", "items_most", "shown"),
    [
        ((1, 1, 1), 2, 40, 2),
        ((1, 1, 1), 5, 40, 3),
        ((90, 1), 5, 40, 1),  # one is shown whole
        ((10, 30, 1), 5, 40, 2),
        ((), 5, 40, 0),
    ],
)
def test_a_page_is_bounded_by_sets_and_by_items(
    items: tuple[int, ...], most: int, items_most: int, shown: int
) -> None:
    sets = [made(f"set {nth}", *["due"] * number) for nth, number in enumerate(items)]
    entries = in_groups(sets, lambda _, item: True, lambda one, _: one.id)
    assert len(fitting(entries, most, items_most)) == shown


@pytest.mark.parametrize(
    ("words", "is_found"),
    [("", True), ("  ", True), ("SINK due", True), ("due_date", False), ("due date", True)],
)
def test_all_words_must_be_there_in_whatever_case(words: str, is_found: bool) -> None:
    assert has_words(words, "Fix the sink", "update_task_due_date") is is_found

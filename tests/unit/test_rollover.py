"""What an operation writes to two tasks, and why it writes to neither: given, when, then."""

from collections.abc import Sequence
from typing import Any, get_args

import pytest

from domain.handlers.decided import Decision
from domain.handlers.execute import handle
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.links import INVERSE
from domain.log import canonical
from domain.log.wire import Stored, Words
from domain.tools.arguments import LinkPhrase, ProposeLink
from domain.tools.decoding import decoded
from tests.support.readings import Book, add_link, add_task
from tests.support.services import START

BY, FRESH = "agent:a", "fresh"
STEPS = t.ChecklistAdded("person", "k1", "Steps")


def book(*facts: t.TaskFact) -> Book:
    """A task with two open items and a ticked one, and tasks here and elsewhere."""
    made = Book()
    add_task(made, "sink", "Fix the sink", "c1")
    made.tell(
        "task",
        "sink",
        t.LabelAssigned("person", "l1"),
        STEPS,
        t.ItemAdded("person", "k1", "i1", "Buy a seal"),
        t.ItemAdded(BY, "k1", "i2", "Paint"),
        t.ItemAdded("person", "k1", "i3", "Turn off the water", is_checked=True),
        *facts,
    )
    for name, category in (("roof", "c1"), ("bare", ""), ("work", "c2")):
        add_task(made, name, f"The {name}", category)
    add_task(made, "gone", "Gone", "c1")
    made.tell("task", "gone", t.TaskDeleted("person"))
    return made


def decided(given: Book, tool: str, *others: str, **arguments: Any) -> Decision:
    said = Words(canonical.text(arguments))
    command = do.ApplyOperation("o", "a", "sink", tool, said, "", ("c1",), 0, others)
    return handle(command, "o", START, given.world())


def events(found: Decision) -> list[tuple[str, Stored]]:
    return [(stream.removesuffix("@r1"), fact) for stream, fact in found.events]


def follow_up(given: Book, *others: str, **arguments: Any) -> Decision:
    return decided(given, "create_follow_up_task", *(others or (FRESH,)), title="Rest", **arguments)


def move(given: Book, item: str, target: str) -> Decision:
    arguments = {"id": item, "targetTaskId": target}
    return decided(given, "migrate_checklist_item", target, **arguments)


def link(given: Book, relation: str, target: str) -> Decision:
    return decided(given, "link_task", target, relation=relation, targetTaskId=target)


def code(found: Decision) -> str:
    assert bool(found.events) != bool(found.result.code)
    return found.result.code


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("nowhere", "not_found"),
        ("gone", "not_found"),
        ("sink", "not_found"),
        ("bare", "missing_category"),
        ("work", "out_of_scope"),
    ],
)
def test_the_other_task_s_category_is_checked_too(target: str, expected: str) -> None:
    assert code(move(book(), "i1", target)) == expected
    is_itself = target == "sink"
    assert code(link(book(), "blocks", target)) == ("invalid_arguments" if is_itself else expected)


def test_what_is_refused_names_neither_task() -> None:
    given = book()
    add_link(given, "roof", "blocks", "sink")
    found = link(given, "blocks", "roof")
    assert code(found) == "cycle"
    assert "sink" not in found.result.message
    assert "roof" not in found.result.message
    assert code(link(given, "is_blocked_by", "roof")) == "redundant"


@pytest.mark.parametrize("others", [(), ("roof", "work"), ("work",)])
def test_an_operation_over_two_tasks_names_the_one_of_its_arguments(others: Sequence[str]) -> None:
    arguments = {"relation": "blocks", "targetTaskId": "roof"}
    assert code(decided(book(), "link_task", *others, **arguments)) == "not_found"


@pytest.mark.parametrize(
    ("carried", "expected"),
    [(["i9"], "not_found"), (["i1", "i1"], "invalid_arguments"), (["i4"], "stale")],
)
def test_only_what_is_there_is_carried_over(carried: list[str], expected: str) -> None:
    away = t.ItemAdded("person", "k1", "i4", "Old"), t.ItemArchived("person", "i4")
    given = book(*away)
    assert code(follow_up(given, carryOver=[{"id": one} for one in carried])) == expected
    assert (code(move(given, carried[0], "roof")) == expected) == (carried != ["i1", "i1"])


def test_another_operation_touches_one_task_whatever_it_names() -> None:
    found = decided(book(), "update_task_priority", "roof", priority="P0")
    assert events(found) == [("task:sink", t.PrioritySet(BY, "P0"))]


def test_a_model_may_name_every_relation_of_the_journal() -> None:
    known = {"relates_to", *INVERSE, *INVERSE.values()}
    assert set(get_args(LinkPhrase)) == known
    given = {"relation": "Is_Blocked_By", "targetTaskId": "roof"}
    assert decoded(ProposeLink, given) == ProposeLink("is_blocked_by", "roof")

"""What an agent may read: its own task, direct links in its categories, and nothing else."""

import pytest
from msgspec.structs import replace

from domain.changes.change_set import ChangeItem, ChangeSet
from domain.errors import Refused
from domain.journal import catalog as c
from domain.journal import task as t
from domain.log.wire import Words
from tests.support.readings import (
    AGENT,
    HOME,
    ROOF,
    WORK,
    Book,
    add_link,
    add_task,
    household,
    read,
)

# ------------------------------------------------------------------------------------ scope


@pytest.mark.parametrize(
    ("fact", "code"),
    [(t.CategorySet("person", WORK), "out_of_scope"), (t.TaskDeleted("person"), "task_deleted")],
)
def test_a_task_elsewhere_or_deleted_is_not_read_and_not_named(fact: t.TaskFact, code: str) -> None:
    book = household()
    book.tell("task", ROOF, fact)
    with pytest.raises(Refused) as refused:
        read(book)
    assert refused.value.code == code
    assert "Mend" not in str(refused.value)


@pytest.mark.parametrize("categories", [(), ("",)])
def test_without_a_category_nothing_is_read(categories: tuple[str, ...]) -> None:
    book = Book()
    for code in ("unknown_task", "out_of_scope"):
        with pytest.raises(Refused) as refused:
            read(book, replace(AGENT, categories=categories))
        assert refused.value.code == code
        add_task(book, ROOF, "Mend the roof", "")


# ------------------------------------------------------------------------------------ links


def test_a_link_that_stands_in_both_directions_is_read_once() -> None:
    book = household()
    add_task(book, "task-paint", "Paint", HOME)
    add_link(book, ROOF, "relates_to", "task-paint")
    add_link(book, "task-paint", "relates_to", ROOF)
    (one,) = read(book).linked
    assert (one.relation, one.id) == ("relates_to", "task-paint")


def test_links_of_links_are_not_read() -> None:
    book = household()
    add_task(book, "task-near", "Near", HOME)
    add_task(book, "task-far", "Far away", HOME)
    add_link(book, ROOF, "blocks", "task-near")
    add_link(book, "task-near", "blocks", "task-far")
    assert [link.id for link in read(book).linked] == ["task-near"]


# ------------------------------------------------------------------------------------- task


# --------------------------------------------------------------------- labels and corrections


@pytest.mark.parametrize(
    ("task", "category", "expected"), [("de", "fr", "de"), ("", "fr", "fr"), ("", "", "")]
)
def test_the_report_is_in_the_tasks_language_or_the_categorys(
    task: str, category: str, expected: str
) -> None:
    book = Book()
    book.tell("catalog", "main", c.CategoryAdded(HOME, "Home", category))
    add_task(book, ROOF, "Mend the roof", HOME)
    book.tell("task", ROOF, t.LanguageSet("person", task))
    assert read(book).language == expected


# ------------------------------------------------------------------- journal and proposals


def item(number: int) -> ChangeItem:
    return ChangeItem(number, "update_task_estimate", Words("{}"), "", f"fp{number}", "", "")


def test_a_set_of_another_task_or_not_yet_opened_is_not_read() -> None:
    hidden = [
        ChangeSet("s1", task="task-other", is_opened=True, items=(item(1),)),
        ChangeSet("s2", task=ROOF, is_opened=False, items=(item(2),)),
    ]
    assert read(household(), sets=hidden).proposals == ()


# ------------------------------------------------------------------------------- what changed

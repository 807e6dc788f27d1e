"""What takes back a fact, and what takes back an import, of the values before and after it."""

from msgspec.structs import replace

from domain.journal import imports, undo
from domain.journal import task as t
from domain.journal.task import ChecklistItem, Task
from domain.log.wire import Words

PLAIN = Task("t1", exists=True, title="Dig", description=Words("The bed"))


def test_what_changed_nothing_needs_no_inverse() -> None:
    fact = t.TaskRetitled("person", "Dig")
    assert undo.inverse(fact, PLAIN, PLAIN, PLAIN, "").outcome == "same"


def test_an_import_gives_the_description_back() -> None:
    after = replace(PLAIN, description=Words("The garden"))
    facts = imports.import_inverse(PLAIN, after, after)
    assert facts == [t.TaskDescribed("person", Words("The bed"))]


def test_an_item_that_an_import_renamed_keeps_its_tick() -> None:
    was, named = (ChecklistItem("i1", "c1", title, "person") for title in ("Rake", "Rake all"))
    ticked = replace(named, is_checked=True)
    before = replace(PLAIN, items=(was,))

    def back(item: ChecklistItem) -> list[t.TaskFact]:
        after = replace(PLAIN, items=(item,))
        return imports.import_inverse(before, after, after)

    assert back(named) == []
    assert back(ticked) == [t.ItemUnchecked("person", "i1")]

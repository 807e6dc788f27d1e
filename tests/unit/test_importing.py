"""What a file says anew is written, and nothing else: given two documents, then these facts."""

from domain.journal import imports
from domain.journal import task as t
from domain.journal.edits import item_id
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.imports import ImportNames
from domain.journal.task import Task
from domain.log.wire import Words
from tests.support.readings import ROOF

BY = "import:todo.md"
CATEGORY, LABEL = "category {}".format, "label {}".format
NAMES = ImportNames(CATEGORY, LABEL, CATEGORY)
NAIL = item_id(ROOF, "buy nails", 0)


def facts(task: Task, was: ImportedTask, now: ImportedTask) -> list[t.TaskFact]:
    found, _ = imports.decide(task, was, now, NAMES, BY)
    return found


def test_a_box_ticked_in_the_file_is_ticked_and_its_item_not_added_again() -> None:
    item = t.ChecklistItem(NAIL, "list", "Buy nails", BY)
    checklists = (t.Checklist("list", "Checklist"),)
    task = Task(ROOF, exists=True, title="Roof", checklists=checklists, items=(item,))
    was = ImportedTask(ROOF, "Roof", items=(ImportedItem("Buy nails"),))
    now = ImportedTask(ROOF, "Roof", items=(ImportedItem("Buy nails", is_checked=True),))
    assert facts(task, was, now) == [t.ItemChecked(BY, NAIL)]
    assert facts(task, now, now) == []


SAND, WAX = (item_id(ROOF, one, 0) for one in ("sand it", "wax it"))


def _with(*titles: str) -> Task:
    """A roof with two items as a file made them, under these titles."""
    pairs = zip((SAND, WAX), titles, strict=True)
    items = tuple(t.ChecklistItem(one, "list", title, BY) for one, title in pairs)
    checklists = (t.Checklist("list", "Checklist"),)
    return Task(ROOF, exists=True, title="Roof", checklists=checklists, items=items)


def _listed(*items: ImportedItem) -> ImportedTask:
    return ImportedTask(ROOF, "Roof", items=items)


WAS = _listed(ImportedItem("Sand it"), ImportedItem("Wax it"))
NOW = _listed(ImportedItem("Sand it well", id=SAND), ImportedItem("Wax it", is_checked=True))


def _renamed(task: Task, was: ImportedTask, now: ImportedTask) -> list[t.TaskFact]:
    found, _ = imports.decide(task, was, now, NAMES, BY, renames_items=True)
    return found


def test_an_item_that_is_renamed_in_the_file_is_renamed_here() -> None:
    task, ticked = _with("Sand it", "Wax it"), t.ItemChecked(BY, WAX)
    assert _renamed(task, WAS, NOW) == [t.ItemRetitled(BY, SAND, "Sand it well"), ticked]
    assert facts(task, WAS, NOW) == [ticked]  # as it was decided before
    assert _renamed(_with("Sand it well", "Wax it"), NOW, NOW) == []
    back = _renamed(_with("Sand it well", "Wax it"), NOW, WAS)
    assert back[0] == t.ItemRetitled(BY, SAND, "Sand it")


def test_an_item_that_was_renamed_here_since_stays_so() -> None:
    assert _renamed(_with("Grind it", "Wax it"), WAS, NOW) == [t.ItemChecked(BY, WAX)]
    both = _listed(*WAS.items, ImportedItem("sand it"))
    assert _renamed(_with("Sand it", "Wax it"), _listed(WAS.items[1]), both)[1:] == []


def test_the_id_of_a_renamed_item_is_no_other_ones() -> None:
    again = item_id(ROOF, "sand it", 1)
    sand, well = ImportedItem("Sand it"), NOW.items[0]
    assert [*imports.numbered(_listed(sand, well, sand))] == [
        again,
        SAND,
        item_id(ROOF, "sand it", 2),
    ]
    added = _renamed(_with("Sand it well", "Wax it"), NOW, _listed(sand, *NOW.items))
    assert [one.item for one in added if isinstance(one, t.ItemAdded)] == [again]


def test_a_note_that_has_a_key_is_edited_where_its_text_changed() -> None:
    made = facts(Task(ROOF), ImportedTask(ROOF, ""), _noted("It leaks."))
    (added,) = (fact for fact in made if isinstance(fact, t.NoteAdded))
    note = t.Note(added.note, "note", added.words, BY, "")
    task = Task(ROOF, exists=True, title="Roof", notes=(note,))
    changed = facts(task, _noted("It leaks."), _noted("It leaks a lot."))
    assert changed == [t.NoteEdited(BY, added.note, Words("It leaks a lot."))]


def _noted(text: str) -> ImportedTask:
    return ImportedTask(ROOF, "Roof", notes=(ImportedNote(text, key="comment-7"),))

"""What a file says anew is written, and nothing else: given two documents, then these facts."""

from domain.journal import importing
from domain.journal import task as t
from domain.journal.edits import item_id
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.importing import Names
from domain.journal.task import Task
from domain.wire import Words
from tests.support.readings import ROOF

BY = "import:todo.md"
CATEGORY, LABEL = "category {}".format, "label {}".format
NAMES = Names(CATEGORY, LABEL, CATEGORY)
NAIL = item_id(ROOF, "buy nails", 0)


def facts(task: Task, was: ImportedTask, now: ImportedTask) -> list[t.TaskFact]:
    found, _ = importing.decide(task, was, now, NAMES, BY)
    return found


def test_a_box_ticked_in_the_file_is_ticked_and_its_item_not_added_again() -> None:
    item = t.Item(NAIL, "list", "Buy nails", BY)
    checklists = (t.Checklist("list", "Checklist"),)
    task = Task(ROOF, exists=True, title="Roof", checklists=checklists, items=(item,))
    was = ImportedTask(ROOF, "Roof", items=(ImportedItem("Buy nails"),))
    now = ImportedTask(ROOF, "Roof", items=(ImportedItem("Buy nails", is_checked=True),))
    assert facts(task, was, now) == [t.ItemChecked(BY, NAIL)]
    assert facts(task, now, now) == []


def test_a_note_that_has_a_key_is_edited_where_its_text_changed() -> None:
    made = facts(Task(ROOF), ImportedTask(ROOF, ""), _noted("It leaks."))
    (added,) = (fact for fact in made if isinstance(fact, t.NoteAdded))
    note = t.Note(added.note, "note", added.words, BY, "")
    task = Task(ROOF, exists=True, title="Roof", notes=(note,))
    changed = facts(task, _noted("It leaks."), _noted("It leaks a lot."))
    assert changed == [t.NoteEdited(BY, added.note, Words("It leaks a lot."))]


def _noted(text: str) -> ImportedTask:
    return ImportedTask(ROOF, "Roof", notes=(ImportedNote(text, key="comment-7"),))

"""What Obsidian Tasks, Dataview and others write into a line is taken, or named; no id moves."""

import json
from pathlib import Path

import pytest

from adapters.importers.markdown import read
from adapters.importers.marks import read_marks
from domain.journal.imported import ImportedNote, ImportedTask

DATA = Path(__file__).parents[1] / "data/markdown"
FILE = read((DATA / "dialects.md").read_bytes(), source="dialects.md")
TASKS = {task.title: task for task in FILE.tasks}


def test_every_field_of_other_programs_is_taken_and_leaves_the_title() -> None:
    shown = [
        (one.title, one.due, one.priority, one.status, one.status_reason) for one in FILE.tasks
    ]
    assert shown == [
        ("Paint the shed", "2027-02-12", "P1", "", ""),
        ("Water the beds 🔁 every week when done", "2027-02-14", "", "", ""),
        ("Buy paint", "", "P0", "DONE", "completed on 2027-02-05"),
        ("Rent a ladder", "", "P3", "REJECTED", "cancelled on 2027-02-06"),
        ("Measure the wall", "", "", "", ""),
        ("Order the boards", "", "P2", "BLOCKED", "waiting for: Measure the wall"),
        ("Hang the door", "", "", "BLOCKED", "waiting for: Measure the wall"),
        ("Sow the peas [mood:: good]", "2027-03-01", "P1", "", ""),
        ("Call the smith, he knows @errand(town)", "2027-02-15", "", "", ""),
        ("Pay the rent", "", "", "DONE", "completed on 2027-02-01"),
        ("Look up `📅 2027-01-01` in the manual", "", "", "", ""),
        ("then plan the week", "2027-02-20", "", "", ""),
        ("Trip to Rome 2027-05-01", "2027-04-01", "", "", ""),
        ("⏫", "", "", "", ""),
    ]
    assert TASKS["Paint the shed"].labels == ("task",)
    assert FILE.unreadable == ()


def test_dates_that_have_no_field_are_a_note() -> None:
    assert {one.title: one.notes for one in FILE.tasks if one.notes} == {
        "Paint the shed": (
            _dates("scheduled for 2027-02-10, starts 2027-02-08, created 2027-01-30"),
        ),
        "Sow the peas [mood:: good]": (_dates("starts 2027-02-20"),),
        "Call the smith, he knows @errand(town)": (_dates("due 2027-02-15 09:30"),),
    }  # fmt: skip


def test_what_has_no_place_is_named_once_with_its_line() -> None:
    assert [(one.line, one.reason.split(" has ")[0]) for one in FILE.named] == [
        (8, "🔁"),
        (13, "⛔ nowhere is no task of this file; it was left out"),
        (14, "mood::"),
        (16, "@errand()"),
    ]
    twice = read(b"- [ ] a [x:: 1]\n- [ ] b [X:: 2]\n- [ ] c `[y:: 3]` (std::vector)", source="s")
    assert [one.line for one in twice.named] == [1]


def test_an_older_readers_ids_and_documents_are_the_same() -> None:
    kept = json.loads((DATA / "dialects_read_by_6bf4415.json").read_bytes())
    earlier = {one.task_id: one for one in FILE.earlier}
    found = [earlier.get(one.task_id, one) for one in FILE.tasks]
    assert [_shown(one) for one in found] == kept


@pytest.mark.parametrize(
    ("line", "title", "problem"),
    [
        ("a 📅 2027-02-30", "a", "📅 2027-02-30 is no date; it was left out"),
        ("a ✅ 2027-02-30", "a ✅ 2027-02-30", ""),
        (
            "a [priority:: low] ⏫",
            "a",
            "⏫ is the second of its sort in this line; it was left out",
        ),
        ("a 📅 2027-02-01 due:2027-02-02", "a", "due:2027-02-02 is the second"),
        ("a [start:: soon]", "a [start:: soon]", ""),
        ("write to ann@due(2027-02-01)", "write to ann@due(2027-02-01)", ""),
        ("x ^2 grows ^a1b2", "x ^2 grows", ""),
    ],
)
def test_what_cannot_be_taken_is_reported_or_stays(line: str, title: str, problem: str) -> None:
    marked = read_marks(line)
    assert marked.title == title
    assert [told[: len(problem)] for told in marked.problems] == ([problem] if problem else [])


def _dates(text: str) -> ImportedNote:
    return ImportedNote(text, key="dates")


def _shown(task: ImportedTask) -> list[object]:
    notes = [note.text for note in task.notes]
    items = [item.title for item in task.items]
    fields = [task.title, task.category, task.status, task.priority, task.due]
    return [task.task_id, *fields, list(task.labels), items, notes]

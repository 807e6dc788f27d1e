"""Of files as people and programs write them every box is read, kept in a note, or named."""

from pathlib import Path

import pytest

from adapters.importers.markdown import read
from tests.support.counting_boxes import DATA, counted, found


@pytest.mark.parametrize("path", found(), ids=lambda path: path.name)
def test_every_box_of_a_file_is_accounted_for(path: Path) -> None:
    one = counted(path)
    where = one.tasks, one.items, one.in_notes, one.left_out
    assert one.boxes == sum(where), where


def test_a_daily_note_is_read_as_its_author_means_it() -> None:
    file = read((DATA / "markdown/daily_note.md").read_bytes(), source="daily_note.md")
    assert [(task.title, task.category, task.status, task.due) for task in file.tasks] == [
        ("Ring the plumber", "Monday", "", "2027-02-09"),
        ("Post the parcel", "Monday", "DONE", ""),
        ("Tax papers", "Carried over", "ON HOLD", ""),
        ("Sort photos (not before)", "Carried over", "", "2027-03-01"),
        ("typed in a hurry", "Carried over", "", ""),
        ("Buy bulbs, soon", "Carried over", "", "2027-02-10"),
        ("Read the report", "Carried over", "IN PROGRESS", ""),
    ]
    assert [told.line for told in file.unreadable] == [18, 27]
    assert file.tasks[-1].estimate == 90

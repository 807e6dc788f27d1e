"""Tasks as JSON records: what any tool may write, and what is left out by its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.importers.task_records import read, written
from domain.journal.imported import ImportedNote
from tests.support.cli import done, told

ID = "m7ywd32asd4ifehncpiyzslwvvipesyw"


def lines(*found: Any) -> bytes:
    return "\n".join(map(json.dumps, found)).encode()


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({}, "missing required field `title`"),
        ({"title": " \t"}, "matching regex"),
        ({"title": "x" * 201}, "length <= 200 - at `$.title`"),
        ({"title": 1}, "Expected `str`, got `int` - at `$.title`"),
        ({"title": "a", "due": "2027-01-01"}, "unknown field `due`"),
        ({"title": "a", "due_date": "2027-02-30"}, "at `$.due_date`"),
        ({"title": "a", "due_date": "tomorrow"}, "at `$.due_date`"),
        ({"title": "a", "status": "DELETED"}, "at `$.status`"),
        ({"title": "a", "status": "BLOCKED"}, "BLOCKED needs a `status_reason`"),
        ({"title": "a", "priority": "P9"}, "at `$.priority`"),
        ({"title": "a", "estimate_minutes": 60_001}, "at `$.estimate_minutes`"),
        ({"title": "a", "estimate_minutes": True}, "at `$.estimate_minutes`"),
        ({"title": "a", "items": [{"title": "b", "done": True}]}, "`done` - at `$.items[0]`"),
        ({"title": "a", "notes": [{"text": "b", "at": "2027-01-01T09:00"}]}, "`$.notes[0].at`"),
        ({"title": "a", "links": [{"relation": "likes", "id": "x"}]}, "`$.links[0].relation`"),
        ({"title": "a", "repeat": "now and then"}, "is no rule"),
        ([1], "this is no object"),
        ({"title": "a", "id": ID}, "own `id` needs the `as_of` of its export"),
        ({"title": "a", "id": "J-1", "as_of": "desk 4"}, "at `$.as_of`"),
        ({"title": "a", "items": None}, "at `$.items`"),
    ],
)
def test_a_record_that_is_not_as_it_is_to_be_is_named_by_line_and_field(
    record: Any, reason: str
) -> None:
    file = read(lines({"title": "first"}, record, {"title": "last"}), source="s")
    assert [task.title for task in file.tasks] == ["first", "last"] or record == [1]
    assert [one.line for one in file.unreadable] == [2]
    assert reason in file.unreadable[0].reason


def test_a_task_is_known_by_its_own_id_that_of_its_tool_or_its_title() -> None:
    own = {"title": "a", "id": ID, "as_of": "desk:4"}
    found = [own, {"title": "b", "id": "J-1"}, {"title": "c"}, {"title": "C"}]
    first = read(lines(*found), source="s").tasks
    again = read(lines(*found[::-1], {"title": "other", "id": "J-1"}), source="s")
    assert first[0].task_id == ID
    assert len({one.task_id for one in first}) == 4
    assert {one.task_id for one in again.tasks} == {one.task_id for one in first}
    assert [one.reason[:26] for one in again.unreadable] == ["the task is in the file tw"]
    renamed = read(lines({"title": "another", "id": "J-1"}), source="s").tasks
    assert renamed[0].task_id == first[1].task_id


def test_links_lead_to_tasks_of_the_file_and_notes_keep_their_times() -> None:
    note = {"text": "So", "at": "2027-01-01T10:00:00+01:00", "id": "n"}
    link = {"relation": "blocks", "id": "J-2"}
    record = {"title": "a", "id": "J-1", "notes": [note], "links": [link, {**link, "id": "J-9"}]}
    file = read(lines(record, {"title": "b", "id": "J-2"}), source="s")
    one, two = file.tasks
    assert one.notes == (ImportedNote("So", "2027-01-01T09:00:00.000000Z", "n"),)
    assert file.links == ((one.task_id, "blocks", two.task_id),)
    assert [told.reason for told in file.unreadable] == [
        "the link leads to 'J-9', which is not in the file"
    ]
    again = read(written(file.tasks, file.links, "desk:1").encode(), source="t")
    assert (again.tasks, again.links) == (file.tasks, file.links)


def test_what_another_tool_changes_is_changed_here_and_nothing_else(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "tasks.jsonl"
    done(["add", "Fix the tap", "--item", "Buy a washer", "--due", "2027-03-01"], home)
    done(["note", "tap", "It drips a lot since Monday."], home)
    done(["add", "Ring Ann"], home)
    done(["export", "--json-tasks", str(file)], home)
    before = told(["prove"], home)["digest"]
    assert told(["import", str(file)], home)["files"][0]["unchanged"] == 2
    assert told(["prove"], home)["digest"] == before
    tap, ann = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    tap["due_date"], tap["items"][0]["checked"] = "2027-04-02", True
    tap["notes"][0]["text"] = "It drips a lot since Tuesday."
    file.write_bytes(lines(tap, ann))
    done(["edit", "Ring Ann", "--due", "2027-01-05"], home)  # after the export
    said = told(["import", str(file)], home)["files"][0]
    assert (said["created"], said["changed"], said["conflicts"]) == (0, 1, 0)
    assert told(["show", "Ring Ann"], home)["due_date"] == "2027-01-05", "the file says none yet"
    page = told(["show", "Fix the tap"], home)
    assert (page["due_date"], page["items"][0]["checked"]) == ("2027-04-02", True)
    assert [one["text"] for one in page["notes"]] == ["It drips a lot since Tuesday."]
    assert told(["prove"], home)["ok"]
    done(["undo"], home)
    assert told(["show", "Fix the tap"], home)["due_date"] == "2027-03-01"
    ann["due_date"] = "2027-01-06"
    file.write_bytes(lines(tap, ann))
    assert told(["import", str(file)], home)["files"][0]["conflicts"] == 1, "both have changed it"
    assert told(["show", "Ring Ann"], home)["due_date"] == "2027-01-05"

"""What `task export` writes arrives as the tasks that it means (SPEC 1, Importers)."""

import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from adapters.importers.taskwarrior import read
from domain.journal.imported import ImportedFile, ImportedNote, ImportedTask
from domain.log.keys import key

DATA = Path(__file__).parents[1] / "data/taskwarrior"
BERLIN = ZoneInfo("Europe/Berlin")


def exported(*tasks: dict[str, Any]) -> ImportedFile:
    whole = [
        {"uuid": f"u{n}", "description": f"Task {n}", "status": "pending", **task}
        for n, task in enumerate(tasks)
    ]
    return read(json.dumps(whole).encode(), source="tw")


def only_task(**values: Any) -> ImportedTask:
    file = exported(values)
    (task,) = file.tasks
    assert file.unreadable == ()
    return task


@pytest.mark.parametrize("name", ["export.json", "lines.json"])
def test_what_the_real_client_wrote(name: str) -> None:
    file = read((DATA / name).read_bytes(), source="tw", zone=BERLIN)
    assert (file.format, file.unreadable) == ("taskwarrior", ())
    assert file.left_out == ("1 template of a recurring task", "1 deleted task")
    assert [(task.title, task.status, task.due, task.priority) for task in file.tasks] == [
        ("Paint the door", "IN PROGRESS", "2027-02-12", "P1"),
        ("Sand it", "BLOCKED", "", "P3"),
        ("Order tiles", "ON HOLD", "", "P2"),
        ("Water the plants", "", "2037-01-05", ""),
        ("Fix the tap – Küche 🚰", "DONE", "", ""),
    ]
    door, sand, tiles = file.tasks[:3]
    assert (door.category, door.labels) == ("home.garden", ("green", "paint"))
    assert [note.text for note in door.notes] == ['Ann: "green", see /tmp\\x']
    assert sand.status_reason == "waiting for: Paint the door"
    assert tiles.status_reason == "waiting until 2037-03-01"


def test_the_two_shapes_of_one_export_say_the_same() -> None:
    one, other = (
        read((DATA / f"{name}.json").read_bytes(), source="tw") for name in ("export", "lines")
    )
    assert [told.reason for told in one.named] == [told.reason for told in other.named]
    assert replace(one, named=()) == replace(other, named=())


def test_ids_are_made_of_source_and_uuid() -> None:
    task = only_task(uuid="A360FC44-315C-4366-B70C-EA7E7520B749")
    uuid = "a360fc44-315c-4366-b70c-ea7e7520b749"
    assert task.task_id == key("task", "tw", "taskwarrior", uuid)


@pytest.mark.parametrize(
    ("values", "status", "reason"),
    [
        ({}, "", ""),
        ({"status": None}, "", ""),
        ({"status": "completed"}, "DONE", ""),
        ({"status": "completed", "end": "20270102T100000Z"}, "DONE", "completed on 2027-01-02"),
        ({"status": "waiting"}, "ON HOLD", "waiting"),
        (
            {"status": "waiting", "wait": "20270301T000000Z"},
            "ON HOLD",
            "waiting until 2027-03-01",
        ),
        (
            {"wait": "20270301T000000Z", "modified": "20270201T000000Z"},
            "ON HOLD",
            "waiting until 2027-03-01",
        ),
        ({"wait": "20270301T000000Z", "modified": "20270302T000000Z"}, "", ""),
        ({"start": "20270101T000000Z"}, "IN PROGRESS", ""),
        ({"start": "20270101T000000Z", "status": "completed"}, "DONE", ""),
    ],
)
def test_status(values: dict[str, Any], status: str, reason: str) -> None:
    task = only_task(**values)
    assert (task.status, task.status_reason) == (status, reason)


@pytest.mark.parametrize("depends", [["u0", "u1", "u3"], "u0,u1,u3", "U0, u1,nobody"])
def test_a_task_is_blocked_by_the_open_ones_of_the_file(depends: object) -> None:
    done = {"status": "completed"}
    blocked = exported({}, done, {"depends": depends}, done).tasks[2]
    assert (blocked.status, blocked.status_reason) == ("BLOCKED", "waiting for: Task 0")
    assert exported(done, done, {"depends": depends}, done).tasks[2].status == ""


def test_annotations_are_notes_with_their_time_and_key() -> None:
    one = {"entry": "20270104T101112Z", "description": "First\nline"}
    task = only_task(annotations=[one])
    at = "2027-01-04T10:11:12.000000Z"
    assert task.notes == (ImportedNote("First\nline", at, "20270104T101112Z"),)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"priority": "X"}, "the priority 'X' is none of H, M and L"),
        ({"priority": 1}, "`priority` is no text: 1"),
        ({"due": "soon"}, "`due` is no time: 'soon'"),
        ({"due": 20270212}, "`due` is no text: 20270212"),
        ({"due": "2027-02-12"}, "`due` is no time"),
        ({"tags": "green"}, "`tags` is no list: 'green'"),
        ({"tags": [1, {}]}, "`tags` has 2 of no text"),
        ({"tags": ["a" * 101]}, "the label"),
        ({"status": "lost"}, "the status 'lost' is not known"),
        ({"status": ["pending"]}, "`status` is no text: a list"),
        ({"annotations": {"entry": 1}}, "`annotations` is no list: an object"),
        ({"annotations": ["text"]}, "`annotations` has 1 of no object"),
        ({"annotations": [{"entry": "20270104T101112Z"}]}, "an annotation without a text"),
        ({"depends": 7}, "`depends` is no list: 7"),
        ({"project": False}, "`project` is no text: false"),
    ],
)
def test_values_outside_their_limits_are_left_out_and_named(
    values: dict[str, Any], reason: str
) -> None:
    file = exported({}, values)
    assert [task.title for task in file.tasks] == ["Task 0", "Task 1"]
    (problem,) = file.unreadable
    assert problem.reason.startswith(reason)
    task = file.tasks[1]
    assert (task.status, task.priority, task.due, task.labels, task.notes) == ("", "", "", (), ())


@pytest.mark.parametrize(
    "values",
    [{"uuid": ""}, {"uuid": None}, {"uuid": "a" * 101}, {"description": " "}, {"uuid": "u0"}],
)
def test_a_task_without_name_or_words_is_left_out_and_named(values: dict[str, Any]) -> None:
    file = exported({}, values)
    assert ([task.title for task in file.tasks], len(file.unreadable)) == (["Task 0"], 1)


def test_long_names_are_cut_at_a_word() -> None:
    words = " ".join(["word"] * 60)
    task = only_task(description=words, project=words)
    assert (len(task.title) <= 200, len(task.category) <= 100) == (True, True)
    assert task.notes == (ImportedNote(words, key="title"),)


def test_times_at_the_ends_of_the_calendar_do_not_raise() -> None:
    for due in ("00010101T000000Z", "99991231T235959Z"):
        for zone in (ZoneInfo("America/New_York"), ZoneInfo("Asia/Tokyo")):
            data = json.dumps({"uuid": "u", "description": "d", "due": due}).encode()
            assert len(read(data, source="tw", zone=zone).tasks) == 1


def test_very_many_problems_are_counted() -> None:
    file = exported(*[{"priority": "X", "due": "soon"}] * 2000)
    assert (len(file.tasks), len(file.unreadable)) == (2000, 1001)
    assert file.unreadable[-1].reason == "3000 more from here on could not be read"


def test_dates_without_a_field_are_a_note_and_an_older_reader_had_none() -> None:
    day = {"scheduled": "20270209T230000Z", "until": "20270301T000000Z"}
    task = only_task(due="20270212T163000Z", **day)
    told = "due 2027-02-12 16:30, scheduled for 2027-02-09, expires 2027-03-01"
    assert task.notes == (ImportedNote(told, key="dates"),)
    assert only_task(due="20270212T000000Z").notes == ()
    (earlier,) = exported({"due": "20270212T163000Z"}).earlier
    assert (earlier.due, earlier.notes) == ("2027-02-12", ())


def test_what_repeats_and_keys_of_the_persons_own_are_named_once() -> None:
    file = exported({"mood": "good"}, {"mood": "bad", "recur": "weekly"}, {"depends": ["x9"]})
    assert [one.reason.partition("`")[2].partition("`")[0] for one in file.named] == [
        "mood",
        "recur",
        "depends",
    ]
    assert file.unreadable == ()

"""A file's format is seen from what stands in it; what three programs write arrives as meant."""

import gc
import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from adapters.importers.formats import ALIASES, FORMATS, guess
from adapters.importers.formats import read as read_any
from adapters.importers.github import read as read_issues
from adapters.importers.json_records import FAILURES_MAX, Record, records
from adapters.importers.taskwarrior import read as read_export
from adapters.importers.todotxt import read as read_lines
from domain.journal.imported import (
    ImportedFile,
    ImportedItem,
    ImportedNote,
    ImportedTask,
    Unreadable,
)
from domain.log.keys import key

DATA = Path(__file__).parents[1] / "data"


# ------------------------------------------------------------------------------------------ formats


@pytest.mark.parametrize(
    ("name", "data", "form"),
    [
        ("TODO.md", b"", "markdown"),
        ("issues.md", b'[{"number": 1, "title": "x"}]', "markdown"),
        ("TODO", b"- [ ] One", "markdown"),
        ("list.txt", b"\xef\xbb\xbf* [ ] One", "markdown"),
        ("-", b"[ ] no list", ""),
        ("-", b"  1. [x] One", "markdown"),
        ("plan", b"> -[i] a", "markdown"),
        ("todo.txt", b"-[ ] a", "todotxt"),
        ("-", b"", "markdown"),
        ("todo.txt", b"Call Mom", "todotxt"),
        ("done.txt", b"x Call Mom", "todotxt"),
        ("/home/ann/TODO.TXT", b"Call Mom", "todotxt"),
        ("work.todo.txt", b"Call Mom", "todotxt"),
        ("todo.txt", b"# Home\n- [ ] One", "markdown"),
        ("todo.txt", b"(A) One\n- [ ] Two", "todotxt"),
        ("list.txt", b"One\n(A) Two", "todotxt"),
        ("-", b"x 2027-01-01 Two", "todotxt"),
        ("notes.txt", b"Hello", ""),
        ("a.py", b"(A) Two", ""),
        ("x.json", b'[{"uuid": "u", "description": "d"}]', "taskwarrior"),
        ("x", b'{"uuid": "u", "description": "d"}\n{"uuid": "v"}', "taskwarrior"),
        ("x.json", b'[{"number": 1, "title": "t"}]', "github"),
        ("x.json", b'{"number": 1, "title": "t"}', "github"),
        ("x.json", b'\xef\xbb\xbf\r\n[nope,\n{"number": 1, "title": "t"}]', "github"),
        ("x.jsonl", b'{"title": "t", "due_date": "2027-01-01"}', "tasks"),
        ("x.json", b'[{"title": "t", "items": [{"title": "i"}]}]', "tasks"),
        ("x.json", b'[{"title": "t", "due": 1}]', ""),
        ("x.json", b"[\n]\n", "taskwarrior"),
        ("x.json", b"[]\n", "github"),
        ("x.json", b'{"a": 1}', ""),
        ("x.json", b"[[[[", ""),
    ],
)
def test_a_guess(name: str, data: bytes, form: str) -> None:
    assert guess(data, name) == form


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_that_is_named_is_used_whatever_the_file_looks_like(form: str) -> None:
    file = read_any(b"{}", "x.md", form, "s")
    assert file is not None
    assert (file.format, file.source) == (form, "s")


def test_other_names_of_formats_lead_to_known_ones() -> None:
    assert set(ALIASES.values()) <= set(FORMATS)
    assert ALIASES["todo.txt"] == "todotxt"


def test_an_unknown_format_is_nothing() -> None:
    assert read_any(b"Hello", "notes.txt", "", "s") is None


# ------------------------------ objects of a JSON file: a broken one does not take the others along


def found(text: str) -> tuple[list[object], list[tuple[int, str]]]:
    """The objects' `n`, and the reports."""
    problems: list[Unreadable] = []
    numbers = [record.values.get("n") for record in records(text, problems)]
    return numbers, [(one.line, one.reason) for one in problems]


def one_record(text: str) -> Record:
    (record,) = records(text, [])
    return record


@pytest.mark.parametrize(
    "text",
    [
        '[{"n": 1}, {"n": 2}]',
        '[\n{"n": 1},\n{"n": 2}\n]\n',
        '{"n": 1}\n{"n": 2}',
        '{"n": 1},\n{"n": 2}',
        '[{"n": 1}][{"n": 2}]',
        '[[{"n": 1}], [{"n": 2}]]',
        '[\n  {\n    "n": 1\n  },\n  {\n    "n": 2\n  }\n]',
    ],
)
def test_the_shapes_that_clients_write(text: str) -> None:
    assert found(text) == ([1, 2], [])


@pytest.mark.parametrize("text", ["", "\n", "[]", "[\n]\n", "[[], []]"])
def test_nothing_is_nothing(text: str) -> None:
    assert found(text) == ([], [])


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"n": }', "this is not JSON (Expecting value)"),
        ('{"n": 7', "this is not JSON (Expecting property name"),
        ('{"a": "open', "this is not JSON"),
        ('{"n": 7, "n": 8}', "the object has the key 'n' twice"),
        ('{"a": {"b": 1, "b": 1}}', "the object has the key 'b' twice"),
        ("17", "this is no object: 17"),
        ('"text"', "this is no object: 'text'"),
        ("null", "this is no object: null"),
        ('{"a": ' + "[" * 5000, "this is nested too deeply to read"),
        ('{"a": ' + '{"a":' * 5000, "this is nested too deeply to read"),
    ],
)
@pytest.mark.parametrize("indent", ["", "  ", "\t"])
def test_a_broken_object_is_named_and_the_others_are_read(
    broken: str, reason: str, indent: str
) -> None:
    text = f'[\n{indent}{{"n": 1}},\n{indent}{broken},\n{indent}{{"n": 2}},\n{indent}{{"n": 3}}\n]'
    gc.disable()  # what other tests left is not to end where the stack is full
    try:
        numbers, reports = found(text)
    finally:
        gc.enable()
    assert numbers == [1, 2, 3]
    assert [line for line, _ in reports[:1]] == [3]
    assert reports[0][1].startswith(reason)


def test_a_pretty_printed_object_that_is_broken_ends_at_the_next_one() -> None:
    text = '[\n  {\n    "a": {\n      "n" 5\n    }\n  },\n  {\n    "n": 2\n  }\n]'
    assert found(text) == (
        [2],
        [(2, "this is not JSON (Expecting ':' delimiter); it was left out")],
    )


def test_an_object_within_a_broken_one_is_not_taken_for_the_next_one() -> None:
    text = '[\n  {\n    "a" [\n      {\n        "n": 9\n      }\n    ]\n  },\n  {"n": 2}\n]'
    assert found(text)[0] == [2]


@pytest.mark.parametrize("end", ['{"n": 2, "a": "op', '{"n": 2', "{", '{"n": 2,', '{"n": tru'])
def test_a_truncated_file_keeps_what_was_whole(end: str) -> None:
    numbers, reports = found(f'[\n{{"n": 1}},\n{end}')
    assert numbers == [1]
    assert [line for line, _ in reports] == [3]
    assert "the file was not read from here on" in reports[0][1]


def test_a_file_cut_off_between_two_objects_is_noticed() -> None:
    assert found('[{"n": 1},\n') == ([1], [(1, "the file ends too soon; export it again")])


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 30, "-" + "9" * 5000]
)
def test_a_number_out_of_range_is_left_out_and_named(number: str) -> None:
    numbers, reports = found(f'[{{"n": {number}, "a": [{number}]}}, {{"n": 2}}]')
    assert numbers == [None, 2]
    assert [line for line, _ in reports] == [1]
    assert "is out of range; it was left out" in reports[0][1]


@pytest.mark.parametrize("part", ["1,", '{"a": 1, "a": 1}\n', "{]\n", '{"a":\n', "nope\n{"])
def test_a_hopeless_file_is_given_up_in_time(part: str) -> None:
    _, reports = found("[" + part * 100_000)
    assert 1 <= len(reports) <= FAILURES_MAX + 2
    assert "rest was not read" in reports[-1][1] or "from here on" in reports[-1][1]


def test_values_of_the_wrong_type_are_named_and_read_as_absent() -> None:
    problems: list[Unreadable] = []
    text = '{"a": 1, "b": "x", "c": {"d": []}, "e": [1, "y", {"name": "z"}, null], "f": true}'
    (record,) = records(text, problems)
    assert (record.text("a"), record.number("b"), record.number("f")) == ("", 0, 0)
    assert (record.inner("b").values, record.inners("b"), record.titles("c")) == ({}, [], [])
    assert record.titles("e", within="name") == ["y", "z"]
    assert record.time("b") is None
    assert [one.line for one in problems] == [1] * 8
    assert problems[0].reason == "`a` is no text: 1; it was left out"


def test_text_is_cleaned() -> None:
    record = one_record('{"a": "x\\ud800\\u0000\\r\\ny", "id": 12, "name": "n"}')
    assert record.text("a") == "x\ufffd\ufffd\ny"
    assert (record.identity("id"), record.identity("name")) == ("12", "n")


# --------------------------------------------------------------------------------- issues of GitHub


HOUSE_12 = key("task", "github", "ann/house", "12")


def issues(*found: dict[str, Any]) -> ImportedFile:
    whole = [{"number": n, "title": f"Issue {n}", **one} for n, one in enumerate(found, start=1)]
    return read_issues(json.dumps(whole).encode(), source="s")


def only_issue(**values: Any) -> ImportedTask:
    file = issues(values)
    (task,) = file.tasks
    assert file.unreadable == ()
    return task


def test_the_shape_of_the_command_line() -> None:
    file = read_issues((DATA / "github/gh.json").read_bytes(), source="issues.json")
    leak, pink = file.tasks
    assert (file.format, file.unreadable, file.left_out) == ("github", (), ())
    assert leak == ImportedTask(
        HOUSE_12,
        "Stop the leak",
        category="house",
        due="2027-03-20",
        labels=("bug", "good first issue", "Spring"),
        description=("The roof leaks in **two** places.\n\n## Steps\n\n```\n- [ ] no box\n```"),
        items=(
            ImportedItem("Find the first one", is_checked=True),
            ImportedItem("Find the second one"),
            ImportedItem("look under the tiles"),
        ),
        notes=(
            ImportedNote("first: https://example.org/1"),
            ImportedNote(
                "bob: I have a ladder.", "2027-01-04T10:11:12.000000Z", "IC_kwDOAAAAAA6aaaa1"
            ),
        ),
    )
    assert (pink.status, pink.status_reason) == ("REJECTED", "not planned")


def test_the_shape_of_the_rest_interface() -> None:
    file = read_issues((DATA / "github/rest.json").read_bytes(), source="other.json")
    assert (file.unreadable, file.left_out) == ((), ("1 pull request",))
    leak, ladder = file.tasks
    assert (leak.task_id, leak.category, leak.labels) == (HOUSE_12, "house", ("bug", "Spring"))
    assert (leak.description, leak.items) == ("The roof leaks.", (ImportedItem("Find it"),))
    assert (ladder.status, ladder.status_reason) == ("DONE", "closed on 2027-01-04")


@pytest.mark.parametrize(
    ("values", "repository", "category"),
    [
        ({}, "s", ""),
        ({"url": "https://github.com/Ann/House/issues/1"}, "ann/house", "House"),
        ({"html_url": "https://git.example.org/ann/house/issues/1"}, "ann/house", "house"),
        ({"url": "https://git.example.org/api/v3/repos/ann/house/issues/1"}, "ann/house", "house"),
        ({"repository_url": "https://api.github.com/repos/ann/house"}, "ann/house", "house"),
        ({"repository": {"name": "house", "nameWithOwner": "ann/house"}}, "ann/house", "house"),
        ({"repository": {"full_name": "ann/house"}}, "ann/house", "house"),
        ({"url": "ftp://ann/house"}, "s", ""),
    ],
)
def test_ids_are_made_of_repository_and_number(
    values: dict[str, Any], repository: str, category: str
) -> None:
    task = only_issue(**values)
    assert (task.task_id, task.category) == (key("task", "github", repository, "1"), category)


@pytest.mark.parametrize(
    ("values", "status", "reason"),
    [
        ({}, "", ""),
        ({"state": "OPEN", "stateReason": "REOPENED"}, "", ""),
        ({"state": "CLOSED"}, "DONE", ""),
        ({"state": "CLOSED", "stateReason": "COMPLETED"}, "DONE", ""),
        ({"state": "closed", "state_reason": "not_planned"}, "REJECTED", "not planned"),
        ({"state": "closed", "state_reason": "duplicate"}, "REJECTED", "duplicate"),
        (
            {"state": "closed", "closed_at": "2027-01-04T08:00:00Z"},
            "DONE",
            "closed on 2027-01-04",
        ),
    ],
)
def test_what_an_issue_says_of_its_status(values: dict[str, Any], status: str, reason: str) -> None:
    task = only_issue(**values)
    assert (task.status, task.status_reason) == (status, reason)


def test_pull_requests_are_left_out_and_counted() -> None:
    file = issues(
        {"pull_request": {"url": "x"}},
        {"url": "https://github.com/ann/house/pull/2"},
        {"pull_request": None},
    )
    assert ([task.title for task in file.tasks], file.left_out) == (
        ["Issue 3"],
        ("2 pull requests",),
    )


@pytest.mark.parametrize(
    ("body", "description", "items"),
    [
        (None, "", []),
        ("Only words", "Only words", []),
        ("- [ ] One\n- [x] Two", "", [("One", False), ("Two", True)]),
        ("Do\n\n- [ ] One\n\nthen\n\n* [X] Two\n", "Do\n\nthen", [("One", False), ("Two", True)]),
        ("- [-] Struck\n- [ ]\n- plain", "- [-] Struck\n- [ ]\n- plain", []),
        ("```\n- [ ] code\n\n\n```", "```\n- [ ] code\n\n\n```", []),
        ("> - [ ] quoted", "> - [ ] quoted", [("quoted", False)]),
    ],
)
def test_boxes_of_the_body_are_the_checklist_and_the_rest_the_description(
    body: str | None, description: str, items: list[tuple[str, bool]]
) -> None:
    task = only_issue(body=body)
    assert task.description == description
    assert [(item.title, item.is_checked) for item in task.items] == items


def test_comments_are_notes_and_a_count_is_none() -> None:
    rest = {"id": 5, "user": {"login": "bob"}, "body": "Hi", "created_at": "2027-01-04T10:11:12Z"}
    assert only_issue(comments=3).notes == ()
    assert only_issue(comments=[rest, {"body": " "}, {"body": "Who?"}]).notes == (
        ImportedNote("bob: Hi", "2027-01-04T10:11:12.000000Z", "5"),
        ImportedNote("Who?"),
    )


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"state": "ajar"}, "the state 'ajar' is neither open nor closed"),
        ({"body": ["x"]}, "`body` is no text: a list"),
        ({"labels": [{"name": 1}, 2, None]}, "`labels` has 3 of no text"),
        ({"labels": ["b" * 101]}, "the label"),
        ({"comments": "many"}, "`comments` is no list: 'many'"),
        ({"milestone": 3}, "`milestone` is no object: 3"),
        ({"milestone": {"title": "M", "dueOn": "spring"}}, "`dueOn` is no time: 'spring'"),
        ({"repository": "ann/house"}, "`repository` is no object"),
    ],
)
def test_what_an_issue_cannot_say_is_left_out_and_named(
    values: dict[str, Any], reason: str
) -> None:
    file = issues({}, values)
    assert [task.title for task in file.tasks] == ["Issue 1", "Issue 2"]
    assert [found.reason.startswith(reason) for found in file.unreadable] == [True]


@pytest.mark.parametrize(
    "values",
    [
        {"number": 0},
        {"number": "7"},
        {"number": True},
        {"number": 1.5},
        {"title": " "},
        {"number": 1},
    ],
)
def test_an_issue_without_number_or_title_is_left_out_and_named(values: dict[str, Any]) -> None:
    file = issues({}, values)
    assert [task.title for task in file.tasks] == ["Issue 1"]
    assert 1 <= len(file.unreadable) <= 2


def test_what_a_search_answers_is_read_with_its_repositories() -> None:
    url = "https://github.com/{}/issues/1"
    issues = [
        {"number": 1, "title": "Leak", "html_url": url.format("ann/tap")},
        {"number": 1, "title": "Draft", "html_url": url.format("bob/roof")},
        {"number": 2, "title": "Patch", "html_url": url.format("bob/roof"), "pull_request": {}},
    ]
    search = {"total_count": 7, "incomplete_results": False, "items": issues}
    data = json.dumps(search, indent=1).encode()
    assert guess(data, "found.json") == "github"
    file = read_issues(data, source="found.json")
    assert [(one.title, one.category) for one in file.tasks] == [("Leak", "tap"), ("Draft", "roof")]
    assert len({one.task_id for one in file.tasks}) == 2
    assert file.left_out == ("1 pull request",)
    (told,) = file.unreadable
    assert "3 of 7 issues" in told.reason
    alone = read_issues(json.dumps(issues[:2]).encode(), source="other.json")
    assert [one.task_id for one in alone.tasks] == [one.task_id for one in file.tasks]


# -------------------------------------------------------------------------------------- Taskwarrior


BOTH = "export.json", "lines.json"
BERLIN = ZoneInfo("Europe/Berlin")


def exported(*tasks: dict[str, Any]) -> ImportedFile:
    whole = [
        {"uuid": f"u{n}", "description": f"Task {n}", "status": "pending", **task}
        for n, task in enumerate(tasks)
    ]
    return read_export(json.dumps(whole).encode(), source="tw")


def only_exported(**values: Any) -> ImportedTask:
    file = exported(values)
    (task,) = file.tasks
    assert file.unreadable == ()
    return task


@pytest.mark.parametrize("name", BOTH)
def test_what_the_real_taskwarrior_wrote(name: str) -> None:
    file = read_export((DATA / "taskwarrior" / name).read_bytes(), source="tw", zone=BERLIN)
    assert (file.format, file.unreadable) == ("taskwarrior", ())
    assert file.left_out == ("1 template of a recurring task", "1 deleted task")
    assert [(task.title, task.status, task.due, task.priority) for task in file.tasks] == [
        ("Paint the door", "IN PROGRESS", "2027-02-12", "P1"),
        ("Sand it", "BLOCKED", "", "P3"),
        ("Order tiles", "", "", "P2"),
        ("Water the plants", "", "2037-01-05", ""),
        ("Fix the tap – Küche 🚰", "DONE", "", ""),
    ]
    door, sand, tiles = file.tasks[:3]
    assert (door.category, door.labels) == ("home.garden", ("green", "paint"))
    assert [note.text for note in door.notes] == ['Ann: "green", see /tmp\\x']
    assert sand.status_reason == "waiting for: Paint the door"
    assert tiles.wait_until == "2037-03-01"
    held = next(one for one in file.earlier if one.task_id == tiles.task_id)  # by older readers
    assert (held.status, held.status_reason) == ("ON HOLD", "waiting until 2037-03-01")


def test_the_two_shapes_of_one_export_say_the_same() -> None:
    one, other = (
        read_export((DATA / "taskwarrior" / one).read_bytes(), source="tw") for one in BOTH
    )
    assert [told.reason for told in one.named] == [told.reason for told in other.named]
    assert replace(one, named=()) == replace(other, named=())


def test_ids_are_made_of_source_and_uuid() -> None:
    task = only_exported(uuid="A360FC44-315C-4366-B70C-EA7E7520B749")
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
        ({"status": "waiting", "wait": "20270301T000000Z"}, "", ""),
        ({"wait": "20270301T000000Z", "modified": "20270201T000000Z"}, "", ""),
        ({"wait": "20270301T000000Z", "modified": "20270302T000000Z"}, "", ""),
        ({"start": "20270101T000000Z"}, "IN PROGRESS", ""),
        ({"start": "20270101T000000Z", "status": "completed"}, "DONE", ""),
    ],
)
def test_what_an_export_says_of_a_status(values: dict[str, Any], status: str, reason: str) -> None:
    task = only_exported(**values)
    assert (task.status, task.status_reason) == (status, reason)


@pytest.mark.parametrize("depends", [["u0", "u1", "u3"], "u0,u1,u3", "U0, u1,nobody"])
def test_a_task_is_blocked_by_the_open_ones_of_the_file(depends: object) -> None:
    done = {"status": "completed"}
    blocked = exported({}, done, {"depends": depends}, done).tasks[2]
    assert (blocked.status, blocked.status_reason) == ("BLOCKED", "waiting for: Task 0")
    assert exported(done, done, {"depends": depends}, done).tasks[2].status == ""


def test_annotations_are_notes_with_their_time_and_key() -> None:
    one = {"entry": "20270104T101112Z", "description": "First\nline"}
    task = only_exported(annotations=[one])
    at = "2027-01-04T10:11:12.000000Z"
    assert task.notes == (ImportedNote("First\nline", at, "20270104T101112Z"),)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"priority": "X"}, "the priority 'X' is none of H, M and L"),
        ({"due": "soon"}, "`due` is no time: 'soon'"),
        ({"due": "2027-02-12"}, "`due` is no time"),
        ({"tags": [1, {}]}, "`tags` has 2 of no text"),
        ({"tags": ["a" * 101]}, "the label"),
        ({"status": "lost"}, "the status 'lost' is not known"),
        ({"status": ["pending"]}, "`status` is no text: a list"),
        ({"annotations": {"entry": 1}}, "`annotations` is no list: an object"),
        ({"annotations": [{"entry": "20270104T101112Z"}]}, "an annotation without a text"),
        ({"depends": 7}, "`depends` is no list: 7"),
        ({"project": False}, "`project` is no text: false"),
    ],
)
def test_what_an_export_cannot_say_is_left_out_and_named(
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


def test_times_at_the_ends_of_the_calendar_do_not_raise() -> None:
    for due in ("00010101T000000Z", "99991231T235959Z"):
        for zone in (ZoneInfo("America/New_York"), ZoneInfo("Asia/Tokyo")):
            data = json.dumps({"uuid": "u", "description": "d", "due": due}).encode()
            assert len(read_export(data, source="tw", zone=zone).tasks) == 1


def test_very_many_problems_are_counted() -> None:
    file = exported(*[{"priority": "X", "due": "soon"}] * 2000)
    assert (len(file.tasks), len(file.unreadable)) == (2000, 1001)
    assert file.unreadable[-1].reason == "3000 more from here on could not be read"


def test_dates_without_a_field_are_a_note_and_an_older_reader_had_none() -> None:
    day = {"scheduled": "20270209T230000Z", "until": "20270301T000000Z"}
    task = only_exported(due="20270212T163000Z", **day)
    told = "due 2027-02-12 16:30, scheduled for 2027-02-09, expires 2027-03-01"
    assert task.notes == (ImportedNote(told, key="dates"),)
    assert only_exported(due="20270212T000000Z").notes == ()
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


# ----------------------------------------------------------------------------------------- todo.txt


def lines_of(text: str) -> ImportedFile:
    return read_lines(text.encode(), source="todo.txt")


def only_line(line: str) -> ImportedTask:
    file = lines_of(line)
    (task,) = file.tasks
    assert file.unreadable == ()
    return task


def lines_left_out(text: str) -> list[tuple[int, str]]:
    return [(found.line, found.reason) for found in lines_of(text).unreadable]


@pytest.mark.parametrize(
    ("line", "title", "priority", "status", "reason"),
    [
        ("Call Mom", "Call Mom", "", "", ""),
        ("(A) Call Mom", "Call Mom", "P0", "", ""),
        ("(B) 2027-01-01 Call Mom", "Call Mom", "P1", "", ""),
        ("(C) Call Mom", "Call Mom", "P2", "", ""),
        ("(D) Call Mom", "Call Mom", "P3", "", ""),
        ("(Z) Call Mom", "Call Mom", "P3", "", ""),
        ("2027-01-01 Call Mom", "Call Mom", "", "", ""),
        ("(a) Call Mom", "(a) Call Mom", "", "", ""),
        ("(A)Call Mom", "(A)Call Mom", "", "", ""),
        ("Call (A) Mom", "Call (A) Mom", "", "", ""),
        ("2027-01-01 2027-01-02 review", "2027-01-02 review", "", "", ""),
        ("x Call Mom", "Call Mom", "", "DONE", ""),
        ("x 2027-01-02 Call Mom", "Call Mom", "", "DONE", "completed on 2027-01-02"),
        ("x 2027-01-02 2027-01-01 Call Mom", "Call Mom", "", "DONE", "completed on 2027-01-02"),
        ("x (A) 2027-01-02 Call Mom", "Call Mom", "P0", "DONE", "completed on 2027-01-02"),
        ("x 2027-01-02 (B) Call Mom", "Call Mom", "P1", "DONE", "completed on 2027-01-02"),
        ("x 2027-01-02 Call Mom pri:C", "Call Mom", "P2", "DONE", "completed on 2027-01-02"),
        ("X Call Mom", "X Call Mom", "", "", ""),
        ("xylophone lesson", "xylophone lesson", "", "", ""),
        ("  Call \t Mom  ", "Call Mom", "", "", ""),
        ("x", "x", "", "", ""),
    ],
)
def test_the_head_of_a_line(line: str, title: str, priority: str, status: str, reason: str) -> None:
    task = only_line(line)
    assert (task.title, task.priority) == (title, priority)
    assert (task.status, task.status_reason) == (status, reason)


@pytest.mark.parametrize(
    ("line", "title", "category", "labels"),
    [
        ("Call Mom +Family @phone", "Call Mom", "Family", ("phone",)),
        ("@phone @home +Family Call Mom", "Call Mom", "Family", ("phone", "home")),
        ("Call @Mom about +Wedding today", "Call Mom about Wedding today", "Wedding", ("Mom",)),
        ("Sell it +Garage +Money @shop", "Sell it", "Garage", ("Money", "shop")),
        ("Call @mom, then @Mom.", "Call mom, then", "", ("mom",)),
        ("Write to ann@example.org", "Write to ann@example.org", "", ()),
        ("Add 1 + 1 @ 10:30 for +1 person", "Add 1 + 1 @ 10:30 for +1 person", "", ()),
        ("Küche putzen +Wohnung @zürich", "Küche putzen", "Wohnung", ("zürich",)),
    ],
)
def test_projects_and_contexts(
    line: str, title: str, category: str, labels: tuple[str, ...]
) -> None:
    task = only_line(line)
    assert (task.title, task.category, task.labels) == (title, category, labels)


def test_dates_and_rules_are_taken_and_other_pairs_stay_in_the_title() -> None:
    task = only_line("Pay rent rec:1m +Home due:2027-02-12 t:2027-02-01 h:1")
    assert (task.title, task.due, task.wait_until) == ("Pay rent h:1", "2027-02-12", "2027-02-01")
    assert task.repeat == "FREQ=MONTHLY;FROM=DONE"
    assert only_line("Pay rec:often t:soon").title == "Pay rec:often t:soon"
    assert only_line("See https://example.org/due:x").title == "See https://example.org/due:x"


def test_what_a_line_cannot_say_is_left_out_and_named() -> None:
    text = (
        f"One due:2027-02-30\n\nx 2027-13-01 Two\nThree due:2027-01-01 due:2027-01-02 @{'a' * 101}"
    )
    file = lines_of(text)
    assert [(task.title, task.due) for task in file.tasks] == [
        ("One", ""),
        ("Two", ""),
        ("Three", "2027-01-01"),
    ]
    lines = [found.line for found in file.unreadable]
    assert lines == [1, 3, 4, 4]
    assert "'2027-02-30' is no date" in file.unreadable[0].reason
    assert file.tasks[1].status == "DONE"


@pytest.mark.parametrize("line", ["(A)", "x 2027-01-01", "+Home @phone", "due:2027-01-01"])
def test_a_line_without_a_text_is_named(line: str) -> None:
    (problem,) = lines_left_out(f"One\n{line}\nTwo")
    assert problem == (
        2,
        "the line does not say what is to be done; write it, or delete the line",
    )


def test_ids_follow_the_words_and_not_the_marks() -> None:
    plain = only_line("Call Mom").task_id
    assert plain == key("task", "todo.txt", "todotxt", "call mom", "0")
    for line in (
        "(A) 2027-01-01 call  mom",
        "x 2027-01-02 2027-01-01 Call Mom +Family",
        "Call Mom @phone due:2027-02-12 t:2027-02-01",
        "Call @Mom",
    ):
        assert only_line(line).task_id in (plain, key("task", "todo.txt", "todotxt", "call", "0"))
    first, second = lines_of("Call Mom\nx Call Mom").tasks
    assert (first.task_id, second.task_id) == (
        plain,
        key("task", "todo.txt", "todotxt", "call mom", "1"),
    )


def test_a_long_title_is_cut_at_a_word_and_kept_whole() -> None:
    title = " ".join(["word"] * 60)
    task = only_line(f"{title} @home")
    assert (len(task.title) <= 200, task.title[-5:]) == (True, "word…")
    assert task.notes == (ImportedNote(title, key="title"),)


def test_a_very_long_word_is_no_mark() -> None:
    task = only_line(f"Call @{'a' * 200}")
    assert (len(task.notes), task.labels) == (1, ())


def test_any_line_ends_and_a_byte_order_mark() -> None:
    data = b"\xef\xbb\xbf(A) One\r\nTwo\rThree\n\n"
    assert [task.title for task in read_lines(data, source="s").tasks] == ["One", "Two", "Three"]


def test_bytes_that_are_no_text_are_named_once() -> None:
    file = read_lines(b"One\nT\xffwo \xfe\n\x00three", source="s")
    assert [task.title for task in file.tasks] == ["One", "T\ufffdwo \ufffd", "\ufffdthree"]
    assert [found.line for found in file.unreadable] == [2]


def test_what_the_real_client_of_todo_txt_wrote() -> None:
    file = read_lines((DATA / "todotxt/todo.txt").read_bytes(), source="todo.txt")
    assert file.unreadable == ()
    assert [(task.title, task.category, task.priority, task.status) for task in file.tasks] == [
        ("Call Ann about the roof", "Home", "P0", ""),
        ("Pay rent", "Home", "P3", ""),
        ("Buy milk – 2 l", "", "", "DONE"),
        ("Read https://example.org/a:b at 10:30", "", "", ""),
    ]
    assert [task.labels for task in file.tasks[:3]] == [("Ann", "phone"), ("Money",), ("shop",)]
    done = read_lines((DATA / "todotxt/done.txt").read_bytes(), source="todo.txt")
    assert done.tasks == (file.tasks[2],)


def test_keys_that_mean_nothing_here_are_named_once_and_stay_in_the_title() -> None:
    text = b"Water +Home rec:1w t:2027-02-01\n(D) Call T:2027-03-01 h:1 pri:A due:2027-02-12\n"
    file = read_lines(text, source="todo.txt")
    assert [(one.line, one.reason.partition(" ")[0]) for one in file.named] == [
        (2, "`h:`"),
    ]
    assert [task.title for task in file.tasks] == ["Water", "Call h:1"]
    assert [task.title for task in file.earlier] == [  # by older readers
        "Water rec:1w t:2027-02-01",
        "Call T:2027-03-01 h:1",
    ]
    assert {task.repeat or task.wait_until for task in file.earlier} == {""}
    assert file.tasks[1].priority == "P3"
    assert file.unreadable == ()

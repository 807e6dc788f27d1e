"""The person's commands on tasks, categories and labels, as they are typed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.support.cli import done, proved, refused, run, told

TASK_KEYS = [
    "id",
    "title",
    "status",
    "priority",
    "due_date",
    "estimate_minutes",
    "language",
    "category",
    "labels",
    "checklist",
    "agent_id",
    "running_since",
]
PAGE_KEYS = [
    *TASK_KEYS,
    *("description", "items", "notes", "time", "links", "history", "suppressed_labels"),
    "rating",
]


# ------------------------------------------------------------------------------------ empty homes


def test_an_empty_home_says_what_to_do_next_and_is_not_made(home: Path) -> None:
    assert "`wakelog import TODO.md`" in done(["task", "list"], home)
    assert [one["name"] for one in told(["category", "list"], home)] == ["Inbox"]
    assert "wakelog label add" in done(["label", "list"], home)
    for group in ("task", "label"):
        assert told([group, "list"], home) == []
    assert "unknown_task" in refused(["task", "show", "nothing"], home)
    assert "unknown_task" in refused(["task", "check", "nothing", "1"], home)
    assert not home.exists()


# ------------------------------------------------------------------------------------ documents


def test_the_documents_have_the_fixed_keys_in_their_order(home: Path, door: str) -> None:
    (line,) = told(["task", "list"], home)
    page = told(["task", "show", door], home)
    assert list(line) == TASK_KEYS
    assert list(page) == PAGE_KEYS
    assert {name: page[name] for name in TASK_KEYS} == line
    assert (line["category"], line["checklist"]) == ("Inbox", {"done": 0, "total": 2})
    assert [line[name] for name in ("due_date", "estimate_minutes", "language", "agent_id")] == [
        None
    ] * 4


def test_json_may_stand_before_and_after_the_command(home: Path, door: str) -> None:
    before = run(["--json", "task", "show", door], home).stdout
    assert run(["task", "show", door, "--json"], home).stdout == before
    assert json.loads(before)["id"] == door


def test_all_that_a_task_can_have_is_in_its_document(home: Path, door: str) -> None:
    other = told(["task", "add", "Move in"], home)["id"]
    done(["label", "add", "#home"], home)
    done(["label", "assign", door, "home"], home)
    done(["task", "check", door, "1"], home)
    done(["task", "note", door, "Ann prefers green"], home)
    done(["task", "link", door, "blocks", other], home)
    zone = {"WAKELOG_TIMEZONE": "Europe/Berlin"}
    times = ["--start", "2027-01-01 08:00", "--end", "2027-01-01T08:30:00Z", "--summary", "Sanded"]
    done(["task", "time", door, *times], home, env=zone)
    args = ["task", "set", door, "--status", "on-hold", "--reason", "rain", "--estimate", "1h30m"]
    page = told([*args, "--due", "2027-02-12", "--language", "EN", "--priority", "p1"], home)
    assert [page[name] for name in TASK_KEYS[2:9]] == [
        *("ON HOLD", "P1", "2027-02-12", 90, "en", "Inbox"),
        ["home"],
    ]
    assert [(one["title"], one["checked"], one["checked_by"]) for one in page["items"]] == [
        ("Buy paint", True, "person"),
        ("Sand it", False, None),
    ]
    assert [(one["kind"], one["text"]) for one in page["notes"]] == [("note", "Ann prefers green")]
    assert [(one["start"], one["end"], one["summary"]) for one in page["time"]] == [
        ("2027-01-01T07:00:00.000000Z", "2027-01-01T08:30:00.000000Z", "Sanded")
    ]
    assert page["links"] == [{"relation": "blocks", "direction": "out", "task_id": other}]
    assert [(one["status"], one["by"], one["reason"]) for one in page["history"]] == [
        ("OPEN", "person", ""),
        ("ON HOLD", "person", "rain"),
    ]
    there = told(["task", "show", other], home)["links"]
    assert there == [{"relation": "blocks", "direction": "in", "task_id": door}]


def test_a_person_reads_times_in_their_zone_and_links_from_both_ends(home: Path, door: str) -> None:
    done(["task", "add", "Move in"], home)
    done(["task", "link", "Move in", "blocked-by", "Paint the door"], home)
    zone = {"WAKELOG_TIMEZONE": "Asia/Tokyo"}
    assert 'blocks "Move in"' in done(["task", "show", door], home)
    page = done(["task", "show", "Move in"], home, env=zone)
    assert 'is blocked by "Paint the door"' in page
    assert "2027-01-01 18:00 OPEN by person" in page


# ------------------------------------------------------------------------------------ finding


def test_a_task_is_found_by_id_prefix_and_words_of_its_title(home: Path, door: str) -> None:
    for word in (door, door[:6], door[:6].upper(), "Paint the door", "THE DOOR", "pai doo"):
        assert told(["task", "show", word], home)["id"] == door
    line = refused(["task", "show", "paint the foor"], home)
    assert f'the nearest: {door[:8]} "Paint the door"' in line
    assert "[unknown_task]" in line


def test_two_tasks_of_one_title_are_ambiguous(home: Path, door: str) -> None:
    again = told(["task", "add", "Paint the door"], home)["id"]
    line = refused(["task", "show", "Paint the door"], home)
    assert door[:8] in line
    assert again[:8] in line
    assert line.endswith("[ambiguous]")


def test_an_item_is_found_by_number_id_prefix_and_exact_title(home: Path, door: str) -> None:
    item = told(["task", "show", door], home)["items"][1]["id"]
    for word in ("2", item, item[:5], "Sand it"):
        assert "1 of 2 done" in done(["task", "check", door, word], home)
        assert "0 of 2 done" in done(["task", "uncheck", door, word], home)
    line = refused(["task", "check", door, "1", "3"], home)
    assert "wakelog task show" in line
    assert told(["task", "list"], home)[0]["checklist"]["done"] == 0  # none was touched


def test_filters_choose_and_a_limit_cuts(home: Path) -> None:
    done(["category", "add", "Garden"], home)
    done(["label", "add", "soon"], home)
    done(["task", "add", "Dig", "--category", "garden", "--label", "soon"], home)
    done(["task", "add", "Rest", "--status", "done"], home)
    done(["task", "add", "Gone"], home)
    done(["task", "delete", "Gone"], home)

    def titles(*args: str) -> list[str]:
        return [task["title"] for task in told(["task", "list", *args], home)]

    assert titles() == ["Dig", "Rest"]
    assert titles("--open") == ["Dig"]
    assert titles("--all") == ["Dig", "Rest", "Gone"]
    assert titles("--deleted") == ["Gone"]
    assert "Gone (deleted)" in done(["task", "list", "--all"], home)
    assert titles("--status", "done") == ["Rest"]
    assert titles("--category", "GARDEN", "--label", "soon") == ["Dig"]
    assert titles("--limit", "1") == ["Dig"]
    assert "1 more" in run(["task", "list", "--limit", "1"], home).stderr
    assert "unknown_category" in refused(["task", "list", "--category", "x"], home)
    assert "unknown_label" in refused(["task", "list", "--label", "x"], home)
    assert "invalid_value" in refused(["task", "list", "--status", "x"], home)


# ------------------------------------------------------------------------------------ edits


def test_what_is_none_clears_a_field(home: Path, door: str) -> None:
    given = ["--due", "tomorrow", "--estimate", "90", "--language", "de", "--description", "Green"]
    page = told(["task", "set", door, *given], home)
    fields = [page[name] for name in ("due_date", "estimate_minutes", "language", "description")]
    assert fields == ["2027-01-02", 90, "de", "Green"]
    none = [word for option in given[::2] for word in (option, "none")]
    page = told(["task", "set", door, *none], home)
    fields = [page[name] for name in ("due_date", "estimate_minutes", "language", "description")]
    assert fields == [None, None, None, ""]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--title", " "],
        ["--title", "x" * 201],
        ["--status", "finished"],
        ["--status", "blocked"],
        ["--reason", "rain"],
        ["--priority", "P9"],
        ["--estimate", "soon"],
        ["--estimate", "25h"],
        ["--estimate", "1.2.3h"],
        ["--estimate", "²"],
        ["--due", "2027-02-30"],
        ["--due", "next week"],
        ["--language", "xx"],
        ["--category", "Nowhere"],
    ],
)
def test_a_bad_value_is_told_in_one_line_and_writes_nothing(
    home: Path, door: str, options: list[str]
) -> None:
    before = proved(home)
    refused(["task", "set", door, *options], home)
    assert proved(home) == before


def test_deleting_is_undone_by_restoring(home: Path, door: str) -> None:
    assert "Deleted" in done(["task", "delete", "Paint the door"], home)
    assert "Nothing to change" in done(["task", "delete", door], home)
    assert "task restore" in refused(["task", "set", "Paint the door", "--title", "x"], home)
    assert "(deleted)" in done(["task", "show", door], home)
    assert "Restored" in done(["task", "restore", "Paint the door"], home)
    assert [task["id"] for task in told(["task", "list"], home)] == [door]


def test_items_are_added_renamed_archived_and_restored(home: Path, door: str) -> None:
    done(["task", "item", "add", door, "Clean up", "--checklist", "After"], home)
    done(["task", "item", "rename", door, "Sand it", "Sand it twice"], home)
    page = told(["task", "item", "archive", door, "1"], home)
    assert [(one["title"], one["archived"]) for one in page["items"]] == [
        ("Buy paint", True),
        ("Sand it twice", False),
        ("Clean up", False),
    ]
    assert page["checklist"] == {"done": 0, "total": 2}
    assert "After:" in done(["task", "show", door], home)
    assert told(["task", "item", "restore", door, "1"], home)["checklist"]["total"] == 3


def test_notes_come_from_words_stdin_and_files_short_and_long(
    home: Path, door: str, tmp_path: Path
) -> None:
    (tmp_path / "call.txt").write_bytes(b"\xef\xbb\xbfAnn:\r\n" + b"yes " * 500)
    done(["task", "note", door, "short"], home)
    done(["task", "note", door, "-"], home, input="line one\nline two\n")
    file = ["--file", str(tmp_path / "call.txt"), "--kind", "transcript"]
    done(["task", "note", door, *file], home)
    done(["task", "note", door, "--edit", "1", "shorter"], home)
    page = told(["task", "note", door, "--remove", "2"], home)
    assert [(one["kind"], one["text"]) for one in page["notes"]] == [
        ("note", "shorter"),
        ("transcript", "Ann:\n" + "yes " * 500),
    ]
    assert "yes yes" in done(["task", "show", door], home)


def test_a_transcript_that_is_edited_is_an_example_of_what_was_meant(home: Path, door: str) -> None:
    said = ["Buy nales", "Buy nails", "Buy ten nails"]
    done(["task", "note", door, said[0], "--kind", "transcript"], home)
    done(["task", "note", door, said[0], "--kind", "note"], home)
    for text in said[1:]:
        done(["task", "note", door, text, "--edit", "1"], home)
        done(["task", "note", door, text, "--edit", "2"], home)
    (inbox,) = told(["category", "list"], home)
    found = [(one["before"], one["after"]) for one in inbox["corrections"]]
    assert found == [(said[1], said[2]), (said[0], said[1])]


@pytest.mark.parametrize(
    "args", [[], [" "], ["x", "--file", "y"], ["--file", "/nowhere"], ["--edit", "7", "x"]]
)
def test_a_note_that_cannot_be_is_refused(home: Path, door: str, args: list[str]) -> None:
    refused(["task", "note", door, *args], home)


def test_the_timer_is_one_for_all_tasks(home: Path, door: str) -> None:
    assert "nothing_running" in refused(["task", "timer", "stop"], home)
    done(["task", "timer", "start", door], home)
    assert told(["task", "show", door], home)["time"][0]["end"] is None
    assert "runs" in done(["task", "show", door], home)
    done(["task", "add", "Move in"], home)
    done(["task", "timer", "start", "Move in"], home)
    assert told(["task", "show", door], home)["time"][0]["end"]
    page = told(["task", "timer", "stop", "--summary", "Carried boxes"], home)
    assert (page["title"], page["time"][0]["summary"]) == ("Move in", "Carried boxes")


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("09:00", "10:30", "2027-01-01T08:00:00.000000Z"),
        ("2027-10-31 02:30", "2027-10-31 12:00", "2027-10-31T00:30:00.000000Z"),
        ("2027-03-28 02:30", "2027-03-28 12:00", ""),  # clocks skip it
        ("2027-01-01 10:00", "2027-01-01 09:00", ""),
        ("yesterday", "09:00", ""),
        ("25:00", "26:00", ""),
    ],
)
def test_time_is_entered_by_the_clocks_of_the_persons_zone(
    home: Path, door: str, start: str, end: str, expected: str
) -> None:
    args = ["task", "time", door, "--start", start, "--end", end]
    zone = {"WAKELOG_TIMEZONE": "Europe/Berlin"}
    if expected:
        assert told(args, home, env=zone)["time"][0]["start"] == expected
    else:
        refused(args, home, env=zone)


def test_links_are_refused_where_they_make_no_sense(home: Path, door: str) -> None:
    done(["task", "add", "Move in"], home)
    done(["task", "link", door, "blocks", "Move in"], home)
    assert "Nothing to change" in done(["task", "link", "Move in", "Is blocked by", door], home)
    assert "cycle" in refused(["task", "link", "Move in", "blocks", door], home)
    assert "invalid_value" in refused(["task", "link", door, "blocks", door], home)
    assert "use one of" in refused(["task", "link", door, "hates", "Move in"], home)
    assert told(["task", "unlink", "Move in", "blocked-by", door], home)["links"] == []


# ------------------------------------------------------------------------------------ the outside


def every_command(command: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if not isinstance(command, click.Group):
        yield path, getattr(command, "epilog", None) or ""
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from every_command(command.get_command(context, name), (*path, name))


def test_every_command_shows_an_example(home: Path) -> None:
    from adapters.cli.catalog import category_command, label_command
    from adapters.cli.importing import import_command
    from adapters.cli.tasks import task_command

    groups = {"task": task_command, "category": category_command, "label": label_command}
    commands = [one for name, group in groups.items() for one in every_command(group, (name,))]
    for path, epilog in [*commands, (("import",), import_command.epilog or "")]:
        assert epilog.startswith(f"Example: wakelog {' '.join(path)}"), path
        assert "Example: wakelog" in " ".join(done([*path, "--help"], home).split())


def test_control_characters_never_reach_the_terminal(home: Path) -> None:
    title = "red \x1b[31m alert"
    done(["task", "add", title], home)
    done(["task", "note", title, "bell \x07\nsecond line"], home)
    for args in (["task", "list"], ["task", "show", title]):
        shown = done(args, home)
        assert "\x1b" not in shown
        assert "\x07" not in shown
    assert "second line" in done(["task", "show", title], home)


@pytest.mark.e2e
def test_the_real_program_takes_bytes_that_are_no_utf_8(tmp_path: Path) -> None:
    env = {**os.environ, "WAKELOG_HOME": str(tmp_path / "home"), "WAKELOG_REPLICA": "r1"}
    program = [sys.executable, "-m", "adapters.cli.main"]

    def started(*args: str | bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*program, *args], env=env, capture_output=True, check=False)

    added = started("task", "add", b"caf\xe9")
    assert (added.returncode, added.stderr) == (0, b"")
    listed = started("task", "list", "--json")
    assert [task["title"] for task in json.loads(listed.stdout)] == ["caf\ufffd"]
    missing = started("task", "show", "nothing")
    assert missing.returncode == 2
    assert missing.stderr.count(b"\n") == 1
    proved(tmp_path / "home")

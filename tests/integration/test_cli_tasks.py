"""The person's commands on tasks, categories and labels, as they are typed."""

from pathlib import Path

import pytest

from tests.support.cli import done, proved, refused, told
from tests.support.filed import Door
from tests.support.terminal import on_terminal


def test_an_empty_home_says_what_to_do_next_and_is_not_made(home: Path) -> None:
    assert "`wakelog import TODO.md`" in done(["task", "list"], home)
    assert [one["name"] for one in told(["category", "list"], home)] == ["Inbox"]
    assert "wakelog label add" in done(["label", "list"], home)
    for group in ("task", "label"):
        assert told([group, "list"], home) == []
    assert "unknown_task" in refused(["task", "show", "nothing"], home)
    assert "unknown_task" in refused(["task", "check", "nothing", "1"], home)
    assert not home.exists()


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


def test_what_is_none_clears_a_field(home: Path, door: str) -> None:
    given = ["--due", "tomorrow", "--estimate", "90", "--language", "de", "--description", "Green"]
    page = told(["task", "set", door, *given], home)
    fields = [page[name] for name in ("due_date", "estimate_minutes", "language", "description")]
    assert fields == ["2027-01-02", 90, "de", "Green"]
    none = [word for option in given[::2] for word in (option, "none")]
    page = told(["task", "set", door, *none], home)
    fields = [page[name] for name in ("due_date", "estimate_minutes", "language", "description")]
    assert fields == [None, None, None, ""]


OPTIONS: list[list[str]] = [
    [],
    ["--title", " "],
    ["--title", "x" * 201],
    ["--status", "finished"],
    ["--status", "blocked"],
    ["--reason", "rain"],
    ["--estimate", "1001h"],
    ["--estimate", "1.2.3h"],
    ["--estimate", "²"],
    ["--due", "next century"],
    ["--language", "xx"],
]


def test_a_bad_value_is_told_in_one_line_and_writes_nothing(home: Path, door: str) -> None:
    before = proved(home)
    for options in OPTIONS:
        refused(["task", "set", door, *options], home)
    assert proved(home) == before


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


@pytest.mark.parametrize(
    "args", [[], [" "], ["x", "--file", "y"], ["--file", "/nowhere"], ["--edit", "7", "x"]]
)
def test_a_note_that_cannot_be_is_refused(home: Path, door: str, args: list[str]) -> None:
    refused(["task", "note", door, *args], home)


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


def test_control_characters_never_reach_the_terminal(home: Path) -> None:
    title = "red \x1b[31m alert"
    done(["task", "add", title], home)
    done(["task", "note", title, "bell \x07\nsecond line"], home)
    for args in (["task", "list"], ["task", "show", title]):
        shown = done(args, home)
        assert "\x1b" not in shown
        assert "\x07" not in shown
    assert "second line" in done(["task", "show", title], home)


def test_categories_are_added_renamed_and_corrected(home: Path) -> None:
    added = told(["category", "add", "Garden", "--language", "de"], home)
    assert list(added) == ["id", "name", "language", "tasks", "corrections"]
    assert list(added.values())[1:] == ["Garden", "de", 0, []]
    assert "Nothing to change" in done(["category", "add", " garden "], home)
    done(["category", "rename", "garden", "Outdoors"], home)
    page = told(["category", "correct", "Outdoors", "lawn mower", "mower"], home)
    assert [(one["before"], one["after"]) for one in page["corrections"]] == [
        ("lawn mower", "mower")
    ]
    assert "Outdoors" in done(["category", "list"], home)
    assert "unknown_category" in refused(["category", "rename", "Garden", "x"], home)
    refused(["category", "correct", "Outdoors", "same", "same"], home)
    assert "former name" in refused(["category", "add", "garden"], home)
    assert "Nothing to change" in done(["category", "add", "outdoors"], home)
    for empty in (["add", " "], ["rename", "Outdoors", " "]):
        assert "the name is empty" in refused(["category", *empty], home)
    refused(["category", "add", "x", "--language", "english"], home)


def names(home: Path) -> list[str]:
    return [one["name"] for one in told(["category", "list"], home)]


INBOX_DEEDS = (
    ["task", "add", "Rest", "--category", "Inbox"],
    ["task", "set", "Paint", "--category", "inbox"],
    ["category", "correct", "Inbox", "mtg", "meeting"],
    ["label", "add", "later", "--category", "INBOX"],
)


@pytest.mark.parametrize("deed", INBOX_DEEDS, ids=lambda deed: " ".join(deed[:2]))
def test_the_inbox_is_there_before_anything_is_in_it(tmp_path: Path, deed: list[str]) -> None:
    home = tmp_path / "fresh"
    assert names(home) == ["Inbox"]
    done(["category", "add", "House"], home)
    done(["task", "add", "Paint", "--category", "House"], home)
    done(deed, home)
    assert names(home) == ["House", "Inbox"]
    assert proved(home)


def test_an_inbox_that_was_renamed_before_anything_was_in_it_is_the_one(tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    done(["category", "add", "House"], home)
    assert "already" in refused(["category", "rename", "House", "Inbox"], home)
    done(["category", "rename", "Inbox", "Eingang"], home)
    assert told(["task", "add", "Rest"], home)["category"] == "Eingang"
    assert names(home) == ["House", "Eingang"]
    assert "is the former name of" in refused(["task", "add", "x", "--category", "Inbox"], home)
    assert proved(home)


def test_labels_are_assigned_suppressed_allowed_and_deleted(home: Path, door: str) -> None:
    done(["category", "add", "Garden"], home)
    label = told(["label", "add", "#green", "--category", "Garden"], home)
    assert (label["name"], label["categories"], label["tasks"]) == ("green", ["Garden"], 0)
    assert told(["label", "assign", door, "#Green"], home)["labels"] == ["green"]
    assert told(["label", "list"], home)[0]["tasks"] == 1
    assert told(["label", "remove", door, "green"], home)["labels"] == []
    done(["label", "suppress", door, "green"], home)
    assert "may not propose #green" in done(["task", "show", door], home)
    assert told(["task", "show", door], home)["suppressed_labels"] == ["green"]
    done(["label", "allow", door, "green"], home)
    assert "may not propose" not in done(["task", "show", door], home)
    assert "Deleted" in done(["label", "delete", "green"], home)
    assert told(["label", "list"], home) == []
    assert "unknown_label" in refused(["label", "suppress", door, "green"], home)
    assert told(["label", "assign", door, "green"], home)["labels"] == ["green"]  # made again


RETRIED: list[list[str]] = [
    ["task", "add", "Sow", "--item", "a", "--description", "d"],
    ["task", "item", "rename", "Paint the door", "Sand it", "Sand it twice"],
    ["task", "check", "Paint the door", "1", "2"],
    ["task", "note", "Paint the door", "x" * 2000],
    ["task", "timer", "start", "Paint the door"],
    ["category", "add", "Garden"],
    ["category", "rename", "Inbox", "Services"],
    ["category", "correct", "Services", "a", "b"],
    ["label", "add", "green"],
    ["task", "set", "Paint the door", "--title", "Paint it green"],
    ["task", "delete", "Paint it green"],
    ["label", "delete", "green"],
]


def test_a_retry_with_the_same_key_does_it_once(home: Path, door: str) -> None:
    for nth, args in enumerate(RETRIED):
        line = [*args, "--key", f"k{nth}"]
        first, count = told(line, home), Door(home).rows()
        assert told(line, home) == first, args
        assert f"Done before under the key k{nth}" in done(line, home)
        assert Door(home).rows() == count


def test_a_day_may_be_in_words_and_is_never_guessed_from_slashes(home: Path, door: str) -> None:
    for given, due in (
        ("monday", "2027-01-04"),
        ("+3d", "2027-01-04"),
        ("12.2.2027", "2027-02-12"),
        ("none", None),
    ):
        page = told(["task", "set", door, "--due", given, "--estimate", "1h30"], home)
        assert (page["due_date"], page["estimate_minutes"]) == (due, 90)
    line = refused(["task", "set", door, "--due", "12/10/2027"], home)
    assert "which is the day and which the month" in line
    entered = ["task", "time", door, "--start", "yesterday 08:00", "--end", "yesterday 09:00"]
    assert told(entered, home)["time"][0]["start"][:10] == "2026-12-31"
    assert told(["at", "monday 14:00"], home)["tasks"] == []


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    """Tasks that are overdue, due today, due later, and never; one is done, one is deleted."""
    home = tmp_path / "busy"
    for title, *more in (
        ["Later", "--due", "2027-02-01", "--priority", "P0"],
        ["Never", "--priority", "P1"],
        ["Today", "--due", "today"],
        ["Urgent", "--priority", "P0"],
        ["Overdue", "--due", "yesterday"],
        ["Was done", "--status", "done", "--due", "yesterday"],
        ["Gone"],
    ):
        done(["task", "add", title, *more], home)
    done(["task", "delete", "Gone"], home)
    return home


def listed(home: Path, *args: str) -> list[str]:
    return [task["title"] for task in told(["task", "list", *args], home)]


def test_a_list_is_narrowed_and_ordered_as_it_is_asked_and_else_as_it_was(busy: Path) -> None:
    assert listed(busy) == ["Later", "Never", "Today", "Urgent", "Overdue", "Was done"]
    assert listed(busy, "--sort", "urgency", "--open") == [
        "Overdue", "Today", "Later", "Urgent", "Never",
    ]  # fmt: skip
    assert listed(busy, "--sort", "title", "--limit", "2") == ["Later", "Never"]
    assert listed(busy, "--sort", "priority", "--limit", "2") == ["Later", "Urgent"]
    assert listed(busy, "--sort", "newest", "--limit", "2") == ["Was done", "Overdue"]
    assert listed(busy, "--running") == []
    done(["start", "Never"], busy)
    assert listed(busy, "--running") == ["Never"]
    assert listed(busy, "--overdue") == ["Overdue"]
    assert listed(busy, "--today", "--overdue") == ["Today", "Overdue"]
    assert listed(busy, "--text", "DUE") == ["Overdue"]
    assert listed(busy, "--all", "--text", "gone") == ["Gone"]


@pytest.mark.slow
def test_on_a_terminal_what_is_open_is_listed_by_urgency(busy: Path) -> None:
    with on_terminal(busy, "task", "list", env={"WAKELOG_NOW": "2027-01-01T12:00:00Z"}) as screen:
        _, seen = screen.ended()
    titles = ["Overdue", "Today", "Later", "Urgent", "Never"]
    places = [seen.index(title) for title in titles]
    assert places == sorted(places)
    assert "Was done" not in seen
    assert "Gone" not in seen


def test_done_sets_several_done_or_none_where_one_is_not_there(busy: Path) -> None:
    assert "unknown_task" in refused(["done", "Later", "Nothing"], busy)
    assert listed(busy, "--status", "done") == ["Was done"]
    text = done(["done", "later", "NEVER", "Later"], busy)
    assert [line.partition(":")[0] for line in text.splitlines()] == ["Done", "Done"]
    assert "Nothing to change" in done(["done", "Later"], busy)
    assert [one["status"] for one in told(["done", "Today", "--key", "d"], busy)] == ["DONE"]
    assert "Done before under the key d" in done(["done", "Today", "--key", "d"], busy)
    assert listed(busy, "--open") == ["Urgent", "Overdue"]

"""Every day at the command line: days in words, what to do now, done."""

from pathlib import Path

import pytest

from tests.support.cli import done, refused, told
from tests.support.terminal import on_terminal


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


# ---------------------------------------------------------------------------------- done, what now


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
    assert listed(busy, "--overdue") == ["Overdue"]
    assert listed(busy, "--today", "--overdue") == ["Today", "Overdue"]
    assert listed(busy, "--text", "DUE") == ["Overdue"]
    assert listed(busy, "--all", "--text", "gone") == ["Gone"]


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

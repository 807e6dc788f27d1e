"""Categories and labels on the command line, and what a key does for a retry."""

from pathlib import Path

import pytest

from tests.support.cli import done, proved, refused, told

# ------------------------------------------------------------------------------------ the catalog


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
    assert "unknown_category" in refused(["task", "add", "x", "--category", "Inbox"], home)
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
    assert "unknown_label" in refused(["label", "assign", door, "green"], home)


# ------------------------------------------------------------------------------------ retries


RETRIED: list[list[str]] = [
    ["task", "add", "Sow", "--item", "a", "--description", "d"],
    ["task", "set", "Paint the door", "--title", "Paint it green"],
    ["task", "item", "rename", "Paint the door", "Sand it", "Sand it twice"],
    ["task", "check", "Paint the door", "1", "2"],
    ["task", "note", "Paint the door", "x" * 2000],
    ["task", "delete", "Paint the door"],
    ["task", "timer", "start", "Paint the door"],
    ["category", "add", "Garden"],
    ["category", "rename", "Inbox", "Services"],
    ["category", "correct", "Inbox", "a", "b"],
    ["label", "add", "green"],
]


@pytest.mark.parametrize("args", RETRIED, ids=lambda args: " ".join(args[:3]))
def test_a_retry_with_the_same_key_does_it_once(home: Path, door: str, args: list[str]) -> None:
    first = told([*args, "--key", "k"], home)
    count = proved(home)
    assert told([*args, "--key", "k"], home) == first
    assert proved(home) == count
    assert "Done before under the key k" in done([*args, "--key", "k"], home)


def test_a_key_for_another_command_is_refused(home: Path, door: str) -> None:
    done(["task", "set", door, "--priority", "P1", "--key", "k"], home)
    assert "key_reused" in refused(["task", "set", door, "--priority", "P0", "--key", "k"], home)
    done(["task", "add", "Move in"], home)
    assert "key_reused" in refused(["task", "delete", "Move in", "--key", "k"], home)

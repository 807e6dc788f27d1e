"""`wakelog edit TASK` in an editor: what the person changed in the text is written, as one deed."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import process
from tests.support.cli import done, proved, refused, told
from tests.support.terminal import on_terminal

pytestmark = pytest.mark.e2e
EDITOR = """
import json, os, subprocess, sys
path = sys.argv[1]
text = open(path, encoding="utf-8").read()
for old, new in json.loads(os.environ["CHANGES"]):
    assert old in text, (old, text)
    text = text.replace(old, new)
open(path, "w", encoding="utf-8").write(text)
if meanwhile := os.environ.get("MEANWHILE"):
    subprocess.run(json.loads(meanwhile), check=True, stdout=subprocess.DEVNULL)
"""
FIELDS = ("title", "status", "due_date", "priority", "estimate_minutes", "labels", "category")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A task with all that its text can say, linked to another one."""
    (tmp_path / "ed.py").write_text(EDITOR)
    home = tmp_path / "home"
    fields = ("--due", "2027-02-12", "--priority", "P1", "--estimate", "2h", "--category", "House")
    blocked = ("--status", "blocked", "--reason", "Ann is away")
    parts = ("--label", "big one", "--label", "home", "--item", "Sand", "--item", "Prime")
    described = ("--item", "Oil", "--description", "So green\n- [ ] no task")
    done(["add", "Paint #1 door", *fields, *blocked, *parts, *described], home)
    for note in ("Ask Ann.\n\nShe knows.", "It rains.", "Three coats."):
        done(["note", "door", note], home)
    done(["task", "check", "door", "Sand"], home)
    done(["add", "Buy paint"], home)
    done(["task", "link", "Buy paint", "blocks", "door"], home)
    return home


def edited(
    home: Path, *changes: tuple[str, str], args: tuple[str, ...] = (), **more: str
) -> tuple[int, str]:
    """Edit the door's text so; the status, and what is shown."""
    env = {
        "TMPDIR": str(home.parent),
        "EDITOR": f"{sys.executable} {home.parent / 'ed.py'}",
        "CHANGES": json.dumps(changes),
    }
    with on_terminal(home, "edit", "door", *args, env=env | more) as terminal:
        return terminal.ended()


def door(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = told(["task", "show", "door"], home)
    return found


def lasting(task: Mapping[str, Any]) -> dict[str, Any]:
    """A document without its history, which undo adds to."""
    return {name: value for name, value in task.items() if name != "history"}


def kept(home: Path, shown: str) -> str:
    """The text in the file that a refusal names."""
    (named,) = re.findall(r"your text is in (\S+)", shown)
    assert Path(named).parent == home.parent
    return Path(named).read_text("utf-8")


def test_all_that_changed_in_the_text_is_written_as_one_deed(home: Path) -> None:
    before = door(home)
    status, shown = edited(
        home,
        ("# House", "# Garden/Shed"),
        ("Paint #1 door", "Paint the door"),
        ("- [ ] Paint", "- [/] Paint"),
        (" status:blocked", ""),
        ("~2h", "~45m"),
        ("!p1", "!p0"),
        ("due:2027-02-12", "due:2027-03-01"),
        ("#home", "#outside"),
        ("> So green", "> So blue"),
        ("  It rains.\n\n", ""),
        ("Three coats.", "Two coats.\n\n  Really."),
        ("- [x] Sand", "- [x] Buy brushes\n  - [ ] Sand it well"),
        ("- [ ] Prime", "- [x] Prime"),
        ("  - [ ] Oil\n", ""),
    )
    assert (status, 'Changed: "Paint the door"' in shown) == (0, True), shown
    assert "Made the category 'Garden/Shed'." in shown
    after = door(home)
    assert [after[name] for name in FIELDS] == [
        "Paint the door", "IN PROGRESS", "2027-03-01", "P0", 45, ["big one", "outside"],
        "Garden/Shed",
    ]  # fmt: skip
    assert after["description"] == "So blue\n- [ ] no task"
    assert after["history"][-1]["reason"] == ""  # why it was blocked is gone with it
    items = {one["title"]: (one["checked"], one["archived"]) for one in after["items"]}
    assert items == {
        "Sand it well": (False, False),
        "Prime": (True, False),
        "Oil": (False, True),
        "Buy brushes": (True, False),
    }
    assert [one["text"] for one in after["notes"]] == [
        "Ask Ann.\n\nShe knows.", "Two coats.", "Really.",
    ]  # fmt: skip
    assert after["notes"][0] == before["notes"][0]
    assert after["links"] == before["links"]
    assert {one["id"] for one in before["items"]} < {one["id"] for one in after["items"]}
    done(["undo", "--yes"], home)
    assert lasting(door(home)) | {"notes": 0, "items": 0} == lasting(before) | {
        "notes": 0, "items": 0,
    }  # fmt: skip
    assert sorted(one["text"] for one in door(home)["notes"]) == sorted(
        one["text"] for one in before["notes"]
    )
    assert [one for one in door(home)["items"] if not one["archived"]] == before["items"]
    assert proved(home)


def test_what_repeats_is_followed_and_what_waited_is_told(home: Path) -> None:
    done(["edit", "door", "--repeat", "weekly", "--status", "open"], home)
    status, shown = edited(home, ("- [ ] Paint", "- [x] Paint"))
    assert status == 0
    assert 'Next: "Paint #1 door"' in shown
    assert "due 2027-02-19" in shown
    done(["undo", "--yes"], home)
    assert [one["status"] for one in told(["list"], home)] == ["OPEN", "OPEN"]


def test_parts_alone_are_changed_where_they_stand(home: Path) -> None:
    before = door(home)
    status, shown = edited(
        home,
        ("- [x] Sand", "- [x] Wash"),
        ("  - [ ] Oil\n", "  - [ ] Oil\n  - [ ] Wait\n"),
        ("It rains.", "Sun."),
        ("Three coats.", "Sheep."),
    )
    assert (status, shown.startswith("Changed: ")) == (0, True), shown
    after = door(home)
    assert [one["id"] for one in after["notes"]] == [one["id"] for one in before["notes"]]
    assert [(one["title"], one["archived"]) for one in after["items"]] == [
        ("Sand", True), ("Prime", False), ("Oil", False),
        ("Wash", False), ("Wait", False),
    ]  # fmt: skip
    assert edited(home, ("Prime", "Coat once"))[0] == 0
    assert [one["title"] for one in door(home)["items"]][1] == "Coat once"
    status, shown = edited(home, ("  - [ ] Oil\n", "  - [ ] Oil\n  - [ ] Look\n  - [ ] Go\n"))
    assert (status, "Next" in shown) == (0, False), shown


def test_nothing_changed_is_told_and_nothing_is_written(home: Path) -> None:
    before = proved(home)
    assert edited(home) == (0, "Nothing was changed.\n")
    status, shown = edited(home, ("# House", "#  House"))
    assert (status, shown.startswith("Nothing to change")) == (0, True)
    assert proved(home) == before
    assert list(home.parent.glob("wakelog-*")) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("- [ ] Paint", "- [ ] Second\n- [ ] Paint"), "the text has 2 tasks"),
        (("- [ ] Paint", "Paint"), "it belongs to no task"),
        (("Paint #1 door", ""), "the box has no title"),
        (("due:2027-02-12", "due:2027-02-31"), "due:2027-02-31 is no date"),
        (("- [ ] Paint", "- [?] Paint"), "the box [?] was read as [ ]"),
        (("  It rains.", "It rains."), "it belongs to no task"),
        (("  because: Ann is away\n", ""), "BLOCKED needs a reason"),
    ],
)
def test_a_text_that_cannot_be_taken_is_refused_and_kept(
    home: Path, change: tuple[str, str], reason: str
) -> None:
    before = proved(home)
    status, shown = edited(home, change, ("Three coats.", "Typed for an hour."))
    shown = " ".join(shown.split())  # one line, broken where the terminal ends
    assert (status, reason in shown, shown.count("Error:")) == (2, True, 1), shown
    assert "Typed for an hour." in kept(home, shown)
    assert proved(home) == before


def test_what_somebody_changed_meanwhile_refuses_it(home: Path) -> None:
    meanwhile = json.dumps(process.command("edit", "door", "--due", "2027-05-01"))
    status, shown = edited(home, ("It rains.", "It snows."), MEANWHILE=meanwhile)
    assert (status, "[stale]" in shown) == (2, True), shown
    assert "It snows." in kept(home, shown)
    assert [one["text"] for one in door(home)["notes"]][1] == "It rains."
    assert door(home)["due_date"] == "2027-05-01"


def test_a_retry_under_its_key_is_one_deed_and_several_tasks_have_no_text(home: Path) -> None:
    changes = (("It rains.", "It snows."), ("- [ ] Oil", "- [x] Oil"))
    assert edited(home, *changes, args=("--key", "k1"))[0] == 0
    done(["undo", "--yes"], home)
    assert [one["text"] for one in door(home)["notes"]][1] == "It rains."
    assert [one["checked"] for one in door(home)["items"]] == [True, False, False]
    for args in (["edit", "door"], ["edit", "door", "paint"]):
        assert "on a terminal, with EDITOR set" in refused(args, home, env={"EDITOR": "false"})
    with on_terminal(home, "edit", "door", env={"EDITOR": "", "VISUAL": ""}) as terminal:
        assert "nothing is named that shall change" in terminal.ended()[1]

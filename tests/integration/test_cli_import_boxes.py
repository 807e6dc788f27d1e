"""What people are told of the boxes of a file, and what importing after an upgrade changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.wiring import open_home
from domain.journal.commands import ImportedRef, ImportTasks
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import payload
from tests.support.cli import FIXED, done, proved, run, told

THEIRS = Path(__file__).parents[2].parent / "shared/data/markdown/obs-alt.md"
OURS = Path(__file__).parents[1] / "data/markdown/every_box.md"
FILE = """\
- [ ] Bake
  > - [ ] Buy flour
  - [x] Salt
- [>] Trip
- [!] Lease
- [>] Tap
- [i] Idea
-[ ] Bake
"""


def imported(home: Path, file: Path, *args: str) -> Any:
    return told(["import", str(file), *args], home)["files"][0]


@pytest.mark.skipif(not THEIRS.exists(), reason=f"{THEIRS} is not there")
def test_no_box_of_a_real_file_vanishes(home: Path) -> None:
    found = imported(home, THEIRS)
    assert (found["created"], found["boxes"]) == (38, {"read_as_open": 31, "left_out": 0})
    assert len(found["remarks"]) == 31
    assert imported(home, THEIRS)["unchanged"] == 38
    proved(home)


def test_what_is_read_as_open_is_no_finding(home: Path) -> None:
    result = run(["import", str(OURS)], home)
    assert result.exit_code == 0
    assert "35 created, 16 read as open" in result.stdout
    assert f"{OURS}:10: the box [<] was read as [ ]" in result.stdout
    held, important = (
        next(one for one in told(["task", "list"], home) if one["title"] == title)
        for title in ("on hold", "important")
    )
    assert (held["status"], important["priority"]) == ("ON HOLD", "P1")
    history = told(["task", "show", held["id"]], home)["history"]
    assert history[-1]["reason"] == "marked [>] in every_box.md"


def test_what_is_left_out_is_named_with_its_line_and_is_a_finding(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] a\n- [ ]b\n\n      - [ ] c\n- [i] d\n")
    result = run(["--json", "import", str(file)], home)
    assert result.exit_code == 1
    (found,) = json.loads(result.stdout)["files"]
    assert [one["line"] for one in found["unreadable"]] == [2, 4]
    assert [one["line"] for one in found["remarks"]] == [5]
    assert found["boxes"] == {"read_as_open": 1, "left_out": 2}


def test_a_file_without_an_ending_is_known_by_any_box(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "plan"
    file.write_text("> -[i] a\n")
    assert imported(home, file)["format"] == "markdown"
    done(["import", str(file), "--format", "markdown"], home)
    named = tmp_path / "todo.txt"
    named.write_text("-[ ] a\n")
    assert imported(home, named)["format"] == "todotxt"


# -------------------------------------------------------------------------------- after an upgrade


def id_of(title: str, nth: str = "0") -> str:
    return key("task", "TODO.md", "[]", title, nth)


def as_0_1_0_read_it(home: Path) -> None:
    """A home that `FILE` was imported into by 0.1.0, which took four of its boxes for text."""
    bake = ImportedTask(
        id_of("bake"),
        "Bake",
        items=(ImportedItem("Salt", is_checked=True),),
        notes=(ImportedNote("> - [ ] Buy flour"),),
    )
    others = [ImportedTask(id_of(title.lower()), title) for title in ("Trip", "Lease", "Tap")]
    kept = [payload(task.task_id, canonical.encode(task)) for task in (bake, *others)]
    refs = [
        ImportedRef(task.task_id, one.id) for task, one in zip([bake, *others], kept, strict=True)
    ]
    with open_home(home, {**FIXED, "WAKELOG_HOME": str(home)}, is_writing=True) as opened:
        opened.services.append_journal(ImportTasks("TODO.md", tuple(refs)), payloads=kept)


def test_after_an_upgrade_boxes_come_in_as_new_ones_and_nothing_else_changes(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text(FILE)
    as_0_1_0_read_it(home)
    done(["task", "set", "Tap", "--status", "done"], home)
    before = {one["id"]: told(["task", "show", one["id"]], home) for one in listed(home)}
    found = imported(home, file)
    assert (found["created"], found["changed"], found["unchanged"]) == (2, 3, 1)
    now = {one["id"]: told(["task", "show", one["id"]], home) for one in listed(home)}
    assert set(now) - set(before) == {id_of("idea"), id_of("bake", "1")}
    bake = now[id_of("bake")]
    assert [item["title"] for item in bake["items"]] == ["Salt", "Buy flour"]
    assert bake["notes"] == before[id_of("bake")]["notes"]
    assert bake["items"][0] == before[id_of("bake")]["items"][0]
    assert now[id_of("tap")] == before[id_of("tap")], "a [>] opened what was done here"
    assert (now[id_of("trip")]["status"], now[id_of("lease")]["priority"]) == ("ON HOLD", "P1")
    assert imported(home, file)["unchanged"] == 6
    proved(home)


def listed(home: Path) -> Any:
    return told(["task", "list", "--all"], home)

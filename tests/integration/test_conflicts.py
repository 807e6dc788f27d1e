"""What a file and the person both changed: import tells it, two commands and the page settle it."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.pages import visiting

TODO = "# Home\n- [ ] Paint the door ~2h due:2027-02-12\n- [ ] Fix the tap\n"
DOOR = "Paint the door"


@pytest.fixture
def todo(home: Path, tmp_path: Path) -> Path:
    """A file that changed a due date, and so did the person."""
    file = tmp_path / "TODO.md"
    file.write_text(TODO)
    done(["import", str(file)], home)
    done(["task", "set", DOOR, "--due", "2027-03-01"], home)
    file.write_text(TODO.replace("02-12", "02-20").replace("~2h", "~3h"))
    return file


def door(home: Path) -> Any:
    return told(["task", "show", DOOR], home)


def test_an_import_overwrites_no_edit_and_tells_both_values(home: Path, todo: Path) -> None:
    first = run(["import", str(todo)], home)
    line = f"{DOOR}: due: 2027-03-01 here, 2027-02-20 in TODO.md"
    assert (first.exit_code, line in first.stdout) == (0, True)
    assert "1 changed, 1 unchanged, 1 in conflict" in first.stdout
    assert "wakelog settle TASK FIELD" in first.stderr
    assert (door(home)["due_date"], door(home)["estimate_minutes"]) == ("2027-03-01", 180)
    again = told(["import", str(todo)], home)
    assert (again["files"][0]["conflicts"], again["events"]) == (1, 0)
    assert "due: 2027-03-01 here, 2027-02-20 in TODO.md" in done(["task", "show", DOOR], home)
    assert '"2027-02-20" in TODO.md (the file, 20' in done(["conflicts"], home)
    (one,) = told(["conflicts"], home)
    assert list(one) == ["task", "title", "field", "kind", "stands", "values", "number"]
    assert [(side["replica"], side["value"]) for side in one["values"]] == [
        ("mine", "2027-03-01"),
        ("file", "2027-02-20"),
    ]


@pytest.mark.parametrize(
    ("side", "due", "is_told_before"),
    [("file", "2027-02-20", True), ("mine", "2027-03-01", False)],
)
def test_a_script_says_beforehand_which_stands(
    home: Path, todo: Path, side: str, due: str, *, is_told_before: bool
) -> None:
    if is_told_before:
        done(["import", str(todo)], home)
        done(["import", str(todo)], home)
    assert "1 settled" in done(["import", str(todo), "--prefer", side], home)
    assert (door(home)["due_date"], told(["conflicts"], home)) == (due, [])
    assert told(["import", str(todo), "--prefer", side], home)["events"] == 0


def test_the_page_settles_as_the_command_does(home: Path, todo: Path, tmp_path: Path) -> None:
    done(["import", str(todo)], home)
    there = shutil.copytree(home, tmp_path / "there")
    url = f"/tasks/{door(home)['id']}"
    with visiting(there) as visitor:
        form = visitor.form(url, f"{url}/settle", field="due")
        assert visitor.send(form, keep="file").status_code == 200
        assert f"{url}/settle" not in visitor.page(url)
        again = visitor.send(form, keep="file", nonce="another-try")
        assert (again.status_code, "was changed or settled since" in again.text) == (409, True)
    done(["settle", DOOR, "due", "--keep", "file"], home)
    assert door(there) == door(home)
    proved(there)


def test_a_field_that_no_file_has_is_refused(home: Path, todo: Path) -> None:
    assert "use one of title" in refused(["settle", DOOR, "colour", "--keep", "file"], home)


@pytest.fixture
def short(home: Path, tmp_path: Path) -> Path:
    """A file that a task has left."""
    file = tmp_path / "TODO.md"
    file.write_text(TODO)
    done(["import", str(file)], home)
    file.write_text(TODO.replace("- [ ] Fix the tap\n", ""))
    return file


def tap(home: Path) -> Any:
    (one,) = [one for one in told(["task", "list", "--all"], home) if one["title"] == "Fix the tap"]
    return one


def test_what_left_its_file_is_deleted_where_the_settings_say_so(home: Path, short: Path) -> None:
    (home / "settings.toml").write_text('[import]\ngone = "delete"\n')
    (file,) = told(["import", str(short)], home)["files"]
    assert (file["gone"], file["gone_settled"]) == ([], [tap(home)["id"]])
    assert tap(home)["id"] not in [one["id"] for one in told(["task", "list"], home)]
    (home / "settings.toml").write_text('[import]\ngone = "burn"\n')
    assert "use one of keep, reject, delete" in refused(["import", str(short)], home)
    (home / "settings.toml").write_text("")


def test_a_note_that_was_edited_in_the_file_is_edited(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    for said in ("Ann prefers green.", "Ann prefers light green.", "Ann prefers light green now."):
        file.write_text(f"- [ ] {DOOR}\n  {said}\n\n  Another note, quite long.\n")
        done(["import", str(file)], home)
        notes = [note["text"] for note in door(home)["notes"]]
        assert notes == [said, "Another note, quite long."]
    done(["task", "note", DOOR, "--edit", "1", "My own words."], home)
    file.write_text(
        f"- [ ] {DOOR}\n  Ann prefers light green now!\n\n  Another note, quite long.\n"
    )
    done(["import", str(file)], home)
    notes = [note["text"] for note in door(home)["notes"]]
    assert notes == ["My own words.", "Another note, quite long.", "Ann prefers light green now!"]

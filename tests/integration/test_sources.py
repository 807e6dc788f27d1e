"""What a file is called, which file that is here, and what becomes of what is gone from it."""

from pathlib import Path
from typing import Any

import pytest

from adapters.usecases.import_sources import given_file, read_file
from adapters.usecases.import_tasks import TASKS_MAX, Importing
from adapters.wiring import open_home
from tests.support.cli import FIXED, done, proved, refused, run, told

MANY = "".join(f"- [ ] Task {word}\n" for word in "one two three four five six".split())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def file_at(folder: Path, text: str, name: str = "TODO.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    return file


def sources(home: Path) -> set[str]:
    pages = [
        told(["task", "show", one["id"]], home) for one in told(["task", "list", "--all"], home)
    ]
    return {entry["by"] for page in pages for entry in page["history"]}


def imported(home: Path, *args: object) -> Any:
    (file,) = told(["import", *map(str, args)], home)["files"]
    return file


def test_a_second_file_of_a_name_has_its_folder_in_its_name(home: Path, tmp_path: Path) -> None:
    one, two = (
        file_at(tmp_path / "x", MANY),
        file_at(tmp_path / "y", "- [ ] Task one\n- [ ] Other\n"),
    )
    assert imported(home, one)["created"] == 6
    assert imported(home, two)["created"] == 2
    assert sources(home) == {"import:TODO.md", "import:y/TODO.md"}
    assert imported(home, two)["unchanged"] == 2
    proved(home)


def test_a_file_that_moved_is_told_and_nothing_is_doubled(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path / "x", MANY)
    imported(home, file)
    moved = tmp_path / "plans.md"
    file.rename(moved)
    moved.write_text(MANY.replace("Task six", "Task six, with care"))
    report = imported(home, moved)
    assert (report["moved_from"], report["created"], report["changed"]) == (str(file), 0, 1)
    assert imported(home, moved)["moved_from"] == ""
    assert "it was" not in done(["import", str(moved)], home)


def test_another_file_in_the_place_of_one_that_is_gone_is_another_one(
    home: Path, tmp_path: Path
) -> None:
    file = file_at(tmp_path / "x", MANY)
    imported(home, file)
    file.unlink()
    other = file_at(tmp_path / "y", "- [ ] Call Ann\n- [ ] Call Bob\n")
    report = imported(home, other)
    assert (report["created"], report["gone"]) == (2, [])


def test_a_name_without_a_path_is_asked_about_where_the_file_says_other_things(
    home: Path, tmp_path: Path
) -> None:
    done(["import", str(file_at(tmp_path / "x", MANY))], home)
    (home / "views.db").unlink()
    other = file_at(tmp_path / "y", "- [ ] Call Ann\n- [ ] Call Bob\n")
    line = refused(["import", str(other)], home)
    assert "--source TODO.md" in line
    assert "--source y/TODO.md" in line
    assert imported(home, other, "--source", "y/TODO.md")["created"] == 2
    assert imported(home, other)["unchanged"] == 2  # its path is known from then on


def test_without_its_path_a_file_is_known_by_what_it_says(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path / "x", MANY)
    imported(home, file)
    (home / "views.db").unlink()
    file.write_text(MANY + "- [ ] Task seven\n")
    assert (imported(home, file)["created"], imported(home, file)["unchanged"]) == (1, 7)


def test_much_that_is_gone_is_left_alone_unless_one_says_yes(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, MANY)
    imported(home, file)
    file.write_text("- [ ] Task one\n- [ ] Task two\n- [ ] Task three\n")
    result = run(["import", str(file), "--gone", "delete"], home)
    assert result.exit_code == 1
    assert "not closed unasked" in result.stdout
    assert len(told(["task", "list"], home)) == 6
    assert len(imported(home, file, "--gone", "delete", "--yes")["gone_settled"]) == 3
    assert len(told(["task", "list"], home)) == 3
    file.write_text(MANY)
    report = imported(home, file)
    assert (report["created"], len(report["restored"])) == (0, 3)
    assert len(told(["task", "list"], home)) == 6
    proved(home)


def test_what_was_said_before_closes_only_what_leaves_the_file_now(
    home: Path, tmp_path: Path
) -> None:
    file = file_at(tmp_path, MANY)
    imported(home, file)
    file.write_text(MANY.replace("- [ ] Task one\n", "- [ ] Task one and more\n") + "- [ ] New\n")
    imported(home, file, "--gone", "keep")
    file.write_text(
        "- [ ] Task two\n- [ ] Task three\n- [ ] Task four\n- [ ] Task five\n- [ ] New\n"
    )
    assert len(imported(home, file)["gone"]) == 2
    imported(home, file, "--gone", "keep", "--key", "again")
    file.write_text("- [ ] Task two\n- [ ] Task three\n- [ ] Task four\n- [ ] New\n")
    report = imported(home, file, "--gone", "reject", "--yes")
    assert len(report["gone_settled"]) == 3  # said now: all that it has no more


def test_what_the_file_does_not_say_yet_is_counted(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, MANY)
    imported(home, file)
    done(["done", "one"], home)
    done(["task", "delete", "two"], home)
    done(["task", "add", "Loose"], home)
    shown = done(["import", str(file)], home)
    for line in (
        "1 done here, not in the file yet",
        "1 deleted here, open in",
        "1 added here, in no",
    ):
        assert line in shown
    report = imported(home, file, "--restore")
    assert (report["changed"], len(report["restored"]), report["deleted_here"]) == (1, 1, [])
    assert len(told(["task", "list"], home)) == 7
    proved(home)


def test_an_archive_is_read_along_from_then_on(home: Path, tmp_path: Path) -> None:
    todo = file_at(tmp_path, "Call Mom\nBuy milk\n", "todo.txt")
    archive = file_at(tmp_path, "", "done.txt")
    imported(home, todo, "--archive", archive, "--gone", "delete")
    todo.write_text("Call Mom\n")
    archive.write_text("x 2027-01-02 Buy milk\n")
    assert imported(home, todo)["changed"] == 1
    assert told(["task", "show", "milk"], home)["status"] == "DONE"
    assert imported(home, archive)["unchanged"] == 2
    archive.unlink()
    assert imported(home, todo)["gone_held"] == []


def test_a_line_of_which_nobody_can_tell_is_told_and_a_new_task(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, "- [ ] Call Ann\n- [ ] Call Ann\n")
    imported(home, file)
    first = told(["task", "list"], home)[0]["id"]
    done(["task", "note", first, "The old number"], home)
    file.write_text("- [ ] Call Ann\n")
    report = imported(home, file)
    assert [one["line"] for one in report["told"]] == [1]
    assert (report["created"], len(report["gone"])) == (1, 2)
    assert imported(home, file)["unchanged"] == 1


def test_one_name_at_two_lines_names_nobody(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, "- [ ] Call Ann 🆔 a1\n- [ ] Call Bob 🆔 a1\n")
    (line,) = imported(home, file)["told"]
    assert (line["line"], "a1" in line["reason"]) == (2, True)


def test_what_a_line_is_called_finds_it_under_any_title(home: Path, tmp_path: Path) -> None:
    for name, text in (
        ("a.md", "- [ ] {} ^a1\n"),
        ("b.md", "- [ ] {} 🆔 a1\n"),
        ("todo.txt", "{} id:a1\n"),
    ):
        file = file_at(tmp_path, text.format("Call Ann"), name)
        imported(home, file)
        file.write_text(text.format("Write to the landlord"))
        report = imported(home, file)
        assert (report["created"], report["changed"]) == (0, 1), name


def test_an_import_that_is_cut_off_between_two_appends_loses_no_link(
    home: Path, tmp_path: Path
) -> None:
    many = 2 * TASKS_MAX + 50
    file = file_at(
        tmp_path, "".join(f"- [ ] Task {nth} 🆔 t{nth} ⛔ t{nth + 1}\n" for nth in range(many))
    )
    told_of: list[int] = []

    def cut_off(count: int) -> None:
        told_of.append(count)
        if count:
            raise KeyboardInterrupt

    with open_home(home, FIXED, is_writing=True) as opened:
        found = read_file(opened, given_file(str(file), file.name), FIXED)
        with pytest.raises(KeyboardInterrupt):
            Importing().take(opened, file.name, found, cut_off)
    assert told_of == [0, TASKS_MAX]
    assert imported(home, file)["created"] == many - TASKS_MAX
    for nth in (0, TASKS_MAX - 1, TASKS_MAX, many - 2):
        links = told(["task", "show", f"Task {nth}"], home)["links"]
        assert len(links) == (1 if nth == 0 else 2), nth
    assert imported(home, file)["unchanged"] == many
    proved(home)


def test_what_was_rejected_as_gone_comes_back_whatever_its_file_is_called(
    home: Path, tmp_path: Path
) -> None:
    file = file_at(tmp_path, "- [ ] Call Ann\n- [ ] Call Bob\n", "my  list.md")
    imported(home, file)
    file.write_text("- [ ] Call Ann\n")
    assert len(imported(home, file, "--gone", "reject")["gone_settled"]) == 1
    file.write_text("- [ ] Call Ann\n- [ ] Call Bob\n")
    report = imported(home, file)
    assert (report["created"], len(report["restored"])) == (0, 1)
    assert [one["status"] for one in told(["task", "list"], home)] == ["OPEN", "OPEN"]

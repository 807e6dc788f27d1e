"""What clients and editors do to files every day moves no task, ticks none and loses none."""

import signal
import time
from pathlib import Path

import pytest

from tests.support.cli import done, told
from tests.support.filed import Door
from tests.support.process import begun, ran, read, until

TODAY = "2027-01-01"


NEXT = "  - [ ] one more thing\n"


# the file at first, and as a client has it once what it repeats is ticked: the next one stands
# above the old one in Obsidian, and at the end in todo.txt
REPEATING = {
    "without any day": ("- [ ] Pay rent\n", "- [ ] Pay rent\n- [x] Pay rent\n"),
    "without a due date": (
        "- [ ] Pay rent 🔁 every month\n",
        f"- [ ] Pay rent 🔁 every month\n- [x] Pay rent 🔁 every month ✅ {TODAY}\n",
    ),
    "with a due date": (
        "- [ ] Pay rent 🔁 every month 📅 2027-01-03\n",
        f"""\
- [ ] Pay rent 🔁 every month 📅 2027-02-03
- [x] Pay rent 🔁 every month 📅 2027-01-03 ✅ {TODAY}
""",
    ),
    "of todo.txt, without a due date": (
        "Pay rent rec:1m\n",
        f"x {TODAY} Pay rent rec:1m\nPay rent rec:1m\n",
    ),
    "of todo.txt, with a due date": (
        "Pay rent rec:1m due:2027-01-03\n",
        f"x {TODAY} Pay rent rec:1m due:2027-01-03\nPay rent rec:1m due:2027-02-03\n",
    ),
}


TWO = {
    "told apart by their days": (
        "- [ ] Call Ann due:2027-02-01\n",
        "- [ ] Call Ann due:2027-03-01\n",
    ),
    "one without a day": ("- [ ] Call Ann due:2027-02-01\n", "- [ ] Call Ann\n"),
    "told apart by an item": ("- [ ] Call Ann\n", f"- [ ] Call Ann\n{NEXT}"),
    "told apart by what is around": (
        "- [ ] Call Ann\n- [ ] Fix the tap\n",
        "- [ ] Paint the door\n- [ ] Call Ann\n",
    ),
    "of todo.txt": ("Call Ann due:2027-02-01\n", "Call Ann due:2027-03-01\n"),
}


@pytest.fixture
def door(home: Path) -> Door:
    return Door(home)


def file_of(folder: Path, text: str) -> Path:
    """A Markdown file, or a todo.txt, as its text is."""
    folder.mkdir(exist_ok=True)
    file = folder / ("TODO.md" if "- [" in text else "todo.txt")
    file.write_text(text)
    return file


def statuses(door: Door, file: Path) -> list[str]:
    """What the task of each line is here."""
    tasks = door.tasks()
    return [tasks[one]["status"] for _, one in sorted(door.tasks_at(file).items())]


def said(text: str) -> list[str]:
    """What each task's line says by its tick alone."""
    lines = [one for one in text.splitlines() if not one.startswith(("#", " "))]
    return ["DONE" if one.startswith(("- [x]", "x ")) else "OPEN" for one in lines if one]


@pytest.mark.parametrize("case", REPEATING)
@pytest.mark.parametrize(
    "is_done_here",
    [pytest.param(True, marks=pytest.mark.slow), False],
    ids=["done here, too", "ticked there"],
)
def test_the_next_one_of_what_repeats_stays_open(
    door: Door, tmp_path: Path, case: str, is_done_here: bool
) -> None:
    before, after = REPEATING[case]
    file = file_of(tmp_path, before)
    door.imports(file)
    (old,) = door.tasks()
    done(["task", "note", old, "The old account"], door.home)
    if is_done_here:
        done(["done", old], door.home)
    file.write_text(after)
    door.imports(file)
    assert statuses(door, file) == said(after)
    # a next one that was made here is due on a day, and its line says that, too
    is_undated = is_done_here and "without a due date" in case
    written = [one["field"] for one in door.writes_back(file)["written"]]
    assert written == ["due"] * is_undated
    assert is_undated or file.read_text() == after
    at = said(after).index("DONE" if is_done_here or "20" in after else "OPEN")
    assert door.tasks_at(file)[at] == old  # with its note; without any day it is the open one


@pytest.mark.slow
@pytest.mark.parametrize("is_undone", [False, True], ids=["once", "again after an undo"])
def test_what_repeats_is_ticked_twice_and_each_done_line_keeps_its_task(
    door: Door, tmp_path: Path, is_undone: bool
) -> None:
    """Its day tells the line that was done first, though that is not kept: it is that of here."""

    def take(day: str, text: str) -> dict[int, str]:
        now = Door(door.home, f"{day}T09:00:00Z")
        file.write_text(text)
        now.imports(file)
        found = now.tasks_at(file)
        if is_undone:
            now.undoes()
            now.imports(file)
            assert now.tasks_at(file) == found
        return found

    bare, again = "Pay rent\n", "Pay rent rec:1m\n"
    file = file_of(tmp_path, bare + again)
    door.imports(file)
    one = take("2027-01-02", f"{bare}x 2027-01-02 {again}{again}")
    two = take("2027-01-03", f"{bare}x 2027-01-02 {again}x 2027-01-03 {again}{again}")
    assert [two[at] for at in range(3)] == [one[at] for at in range(3)]
    assert two[3] not in one.values()


@pytest.mark.parametrize("case", TWO)
@pytest.mark.parametrize("how", [pytest.param("keep", marks=pytest.mark.slow), "delete"])
def test_the_second_of_two_equal_titles_keeps_all_when_the_first_goes(
    door: Door, tmp_path: Path, case: str, how: str
) -> None:
    first, second = TWO[case]
    file = file_of(tmp_path, first + second)
    door.imports(file)
    one, *_, two = [task for task, said in door.tasks().items() if said["title"] == "Call Ann"]
    for task, words in ((one, "About the first"), (two, "About the second")):
        done(["task", "note", task, words], door.home)
        done(["task", "item", "add", task, f"{words}, too"], door.home)
        done(["agent", "create", task], door.home)
    agent = door.tasks()[two]["agent_id"]
    file.write_text(first.replace("- [ ] Call Ann\n", "") * ("tap" in first) + second)
    door.imports(file, "--gone", how)
    assert two in door.tasks_at(file).values()
    assert one not in door.tasks_at(file).values()
    tasks = door.tasks()
    assert (tasks[one]["status"] == "DELETED") == (how == "delete")
    assert (tasks[two]["status"], tasks[two]["agent_id"]) == ("OPEN", agent)
    page = told(["task", "show", two], door.home)
    assert [note["text"] for note in page["notes"]] == ["About the second"]
    assert "About the second, too" in [item["title"] for item in page["items"]]
    assert len(tasks) == len([*first.splitlines(), *second.splitlines()]) - (NEXT in second)


@pytest.mark.slow
@pytest.mark.parametrize("day", ["", " due:2027-02-01"])
@pytest.mark.parametrize(
    "how", [["todo.txt", "--archive", "done.txt"], ["done.txt", "--source", "todo.txt"]]
)
def test_an_archive_that_is_imported_with_its_file_deletes_nobody(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, day: str, how: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{title}{day}\n" for title in ("Call Ann", "Fix the tap", "Pay rent")]
    file, archive = Path("todo.txt"), Path("done.txt")
    file.write_text("".join(lines))
    door.imports(file, "--gone", "delete")
    file.write_text(f"x {TODAY} {lines[0]}" + "".join(lines[1:]))
    door.imports(file)
    before = door.tasks()
    file.write_text("".join(lines[1:]))
    archive.write_text(f"x {TODAY} {lines[0]}")
    for _ in range(2):
        done(["import", *how], door.home)
        assert door.tasks() == before
    assert [one["status"] for one in before.values()] == ["DONE", "OPEN", "OPEN"]


@pytest.mark.slow
def test_a_watched_file_that_is_empty_for_a_moment_loses_nothing(
    home: Path, tmp_path: Path
) -> None:
    text = "- [ ] Call Ann\n- [ ] Fix the tap due:2027-02-01\n  - [ ] Seal\n- [x] Rest\n"
    file, log = tmp_path / "TODO.md", tmp_path / "run.log"
    file.write_text(text)
    ran(home, "import", "TODO.md", "--gone", "delete")
    before = read(home, "task", "list")
    runtime = begun(home, "--json", "run", "--watch", "TODO.md", log=log)
    try:
        until(lambda: log.exists() and "started" in log.read_text())
        file.write_text("")  # as a program does that saves in two steps, on a slow disk
        time.sleep(3)
        assert read(home, "task", "list") == before
        file.write_text(text)
        time.sleep(2)
        assert read(home, "task", "list") == before
        ran(home, "import", "TODO.md")
        assert read(home, "task", "list") == before
    finally:
        runtime.send_signal(signal.SIGINT)
        runtime.wait(30)


@pytest.mark.slow
def test_a_file_whose_lines_are_all_done_is_known_under_another_name(
    door: Door, tmp_path: Path
) -> None:
    """What left it before, and is open here, is not looked for in it."""
    file = file_of(tmp_path, "- [ ] Fix the tap\n- [ ] Paint the door\n")
    door.imports(file)
    file.write_text("- [x] Paint the door\n")
    door.imports(file)
    (told,) = door.imports(file.rename(tmp_path / "HOME.md"))
    assert (told["moved_from"], told["created"]) == (str(file), 0)
    assert len(door.tasks()) == 2


@pytest.mark.slow
def test_keep_that_is_said_of_an_unchanged_file_is_remembered(door: Door, tmp_path: Path) -> None:
    file = file_of(tmp_path, "- [ ] Call Ann\n- [ ] Fix the tap\n")
    door.imports(file, "--gone", "delete")
    door.imports(file)
    door.imports(file, "--gone", "keep")
    file.write_text("- [ ] Call Ann\n")
    door.imports(file)
    assert [one["status"] for one in door.tasks().values()] == ["OPEN", "OPEN"]


@pytest.mark.slow
def test_a_task_that_was_deleted_here_does_not_come_back_when_its_line_is_moved(
    door: Door, tmp_path: Path
) -> None:
    file = file_of(tmp_path, "# Home\n- [ ] Call Ann\n# Work\n- [ ] Fix the tap\n")
    door.imports(file)
    (ann, _) = door.tasks()
    done(["task", "delete", ann], door.home)
    file.write_text("# Home\n# Work\n- [ ] Fix the tap\n- [ ] Call Ann\n")
    door.imports(file)
    assert [one["title"] for one in told(["task", "list"], door.home)] == ["Fix the tap"]

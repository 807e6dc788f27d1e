"""What the real Taskwarrior and todo.txt clients write comes in, once, and so do their changes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import clients
from tests.support.cli import done, proved, told

ZONE = {"WAKELOG_TIMEZONE": "Europe/Berlin"}

has_taskwarrior = pytest.mark.skipif(not clients.TASK, reason="Taskwarrior is not installed")
has_todotxt = pytest.mark.skipif(not clients.TODO, reason="todotxt-cli is not installed")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home that is not there yet; what was written to it is proved at the end."""
    path = tmp_path / "home"
    yield path
    proved(path)


def imported(home: Path, file: Path) -> tuple[tuple[int, int, int, int], int]:
    """Of a clean import: created, changed, unchanged, gone; and how many rows were written."""
    document = told(["import", str(file)], home, env=ZONE)
    (found,) = document["files"]
    assert found["unreadable"] == []
    numbers = found["created"], found["changed"], found["unchanged"], len(found["gone"])
    return numbers, document["events"]


def shown(home: Path, title: str) -> Any:
    return told(["task", "show", title], home)


@pytest.fixture
def task(tmp_path: Path) -> clients.Taskwarrior:
    folder = tmp_path / "task"
    folder.mkdir()
    made = clients.Taskwarrior(folder, "Europe/Berlin")
    clients.fill_taskwarrior(made)
    return made


@pytest.fixture
def todo(tmp_path: Path) -> clients.TodoTxt:
    folder = tmp_path / "todo"
    folder.mkdir()
    made = clients.TodoTxt(folder)
    clients.fill_todotxt(made)
    return made


@has_taskwarrior
@pytest.mark.slow
@pytest.mark.parametrize("shape", ["on", "off"])
def test_taskwarrior_twice_and_what_it_changes(
    home: Path, tmp_path: Path, task: clients.Taskwarrior, shape: str
) -> None:
    file, shaped = tmp_path / "tasks.json", f"rc.json.array={shape}"
    assert imported(home, task.export(file, shaped))[0] == (5, 0, 0, 0)
    assert imported(home, task.export(file, shaped)) == ((0, 0, 5, 0), 0)
    page = shown(home, "Paint the door")
    assert (page["status"], page["due_date"], page["priority"]) == (
        "IN PROGRESS",
        "2027-02-12",
        "P1",
    )

    done(["task", "set", "Paint the door", "--due", "2027-03-01", "--title", "Paint it"], home)
    done(["task", "set", "Order tiles", "--priority", "P0"], home)
    task("1", "annotate", "Bob: no, blue")
    task("1", "done")
    task("3", "modify", "project:bath", "+soon")
    assert imported(home, task.export(file, shaped))[0] == (0, 3, 2, 0)

    page = shown(home, "Paint it")
    assert (page["status"], page["due_date"]) == ("DONE", "2027-03-01")
    assert [note["text"] for note in page["notes"]][1:] == ["Bob: no, blue"]
    page = shown(home, "Order tiles")
    assert (page["priority"], page["category"], page["labels"]) == ("P0", "bath", ["soon"])
    assert shown(home, "Sand it")["status"] == "OPEN"  # nothing blocks it any more
    assert imported(home, task.export(file, shaped)) == ((0, 0, 5, 0), 0)


@has_todotxt
@pytest.mark.slow
def test_todotxt_twice_and_what_it_changes(home: Path, todo: clients.TodoTxt) -> None:
    assert imported(home, todo.file)[0] == (4, 0, 0, 0)
    assert imported(home, todo.file) == ((0, 0, 4, 0), 0)

    done(["task", "set", "Call Ann about the roof", "--due", "2027-03-01"], home)
    todo("pri", "1", "B")
    todo("append", "1", "@urgent")
    todo("do", "4")
    assert imported(home, todo.file)[0] == (0, 2, 2, 0)
    page = shown(home, "Call Ann about the roof")
    assert (page["priority"], page["due_date"]) == ("P1", "2027-03-01")
    assert sorted(page["labels"]) == ["Ann", "phone", "urgent"]
    assert shown(home, "Read https://example.org/a:b at 10:30")["status"] == "DONE"
    assert imported(home, todo.file) == ((0, 0, 4, 0), 0)


@has_todotxt
def test_what_the_client_archives_is_gone_and_left_alone(home: Path, todo: clients.TodoTxt) -> None:
    imported(home, todo.file)
    todo("archive")
    assert imported(home, todo.file)[0] == (0, 0, 3, 1)
    assert shown(home, "Buy milk – 2 l")["status"] == "DONE"


@has_todotxt
def test_the_client_takes_what_is_written_back_for_its_own(
    home: Path, todo: clients.TodoTxt
) -> None:
    imported(home, todo.file)
    (rent,) = (one for one in todo.file.read_text().splitlines() if "rent" in one)
    done(["done", "Pay rent"], home, env=ZONE)
    done(["task", "set", "Buy milk", "--status", "open"], home)
    done(["write-back", str(todo.file)], home, env=ZONE)
    assert imported(home, todo.file) == ((0, 0, 5, 0), 0)
    assert "Buy milk" in todo("ls")
    assert "Pay rent +Home +Money rec:1m t:2027-02-01" in todo("listpri", "E")  # the next one
    todo("archive")
    assert todo.done_file.read_text() == f"x 2027-01-01 {rent.removeprefix('(E) ')} pri:E\n"
    assert "Buy milk" in todo.file.read_text()

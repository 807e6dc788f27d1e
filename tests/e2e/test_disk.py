"""Disks that are full, must not be written, or lost something: one line for the person, and
nothing that was said to be done is gone."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from adapters.wiring import open_home
from tests.support import whole
from tests.support.cli import done, proved, run, told
from tests.support.disks import mount, small_disk

pytestmark = pytest.mark.e2e

READING = (
    ("task", "list"),
    ("task", "show", "Fix the sink"),
    ("agent", "list"),
    ("inbox",),
    ("report", "Fix the sink"),
    ("wakes",),
    ("why", "Fix the sink"),
    ("status",),
    ("prove",),
)
WRITING = (
    ("task", "add", "Another one"),
    ("task", "note", "Fix the sink", "One more"),
    ("agent", "pause", "Fix the sink"),
    ("wake", "Fix the sink"),
    ("import", "todo.md"),
    ("label", "add", "plumbing"),
)
NOTE = "Takes about 60 minutes. Urgent!"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    with small_disk(tmp_path / "disk", 1) as disk:
        yield disk


def made(home: Path) -> Path:
    """A home with a task, its agent, a report and an open proposal, and a note that waits."""
    done(["task", "add", "Fix the sink"], home)
    done(["task", "note", "Fix the sink", NOTE], home)
    done(["agent", "create", "--all"], home)
    done(["wake"], home)
    done(["task", "note", "Fix the sink", "Due by 2027-02-12."], home)
    return home


def read(home: Path) -> list[Any]:
    """What all reading commands print, without what depends on the moment."""
    found = []
    for command in READING:
        document = told(list(command), home)
        if isinstance(document, dict):
            document.pop("seconds", None)
        found.append(document)
    return found


def one_line(result: Result) -> str:
    """The one line of a refused command; no traceback, no silence."""
    assert result.exit_code == 2, (result.output, result.stderr)
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert "Traceback" not in result.output
    return line


def fill(disk: Path, left: int = 0) -> Path:
    """Fill a disk but for so many bytes; the file that does it."""
    filler = disk / "filler"
    free = shutil.disk_usage(disk).free
    filler.write_bytes(b"\0" * max(0, free - left))
    return filler


# ------------------------------------------------------------------------------------ read only


def test_a_read_only_home_can_be_read(small: Path) -> None:
    home = made(small / "home")
    before = read(home)
    mount("-o", "remount,ro", str(small))
    assert read(home) == before
    for command in WRITING:
        result = run(list(command), home)
        if command[0] == "import":
            continue  # its file is not there, which is told first
        assert "[read_only]" in one_line(result), command
    mount("-o", "remount,rw", str(small))
    assert read(home) == before
    done(["task", "note", "Fix the sink", "And on"], home)
    assert proved(home)


def test_a_read_only_home_that_was_not_closed_is_read_whole_or_not_at_all(small: Path) -> None:
    """A killed process leaves its last appends in the WAL: they are read along, or it is told."""
    home = made(small / "home")
    killed = open_home(home, {}, is_writing=True)
    done(["task", "add", "In the WAL"], home)
    copy = shutil.copytree(home, small / "copy")
    killed.close()
    assert (copy / "journal.db-wal").stat().st_size > 0
    mount("-o", "remount,ro", str(small))
    titles = [task["title"] for task in told(["task", "list"], copy)]
    assert titles == ["Fix the sink", "In the WAL"]
    mount("-o", "remount,rw", str(small))
    for index in copy.glob("*-shm"):
        index.unlink()
    mount("-o", "remount,ro", str(small))
    assert "[read_only]" in one_line(run(["task", "list"], copy))
    mount("-o", "remount,rw", str(small))
    titles = [task["title"] for task in told(["task", "list"], copy)]
    assert titles == ["Fix the sink", "In the WAL"]


# ----------------------------------------------------------------------------------- a full disk


def test_notes_are_kept_until_the_disk_is_full_and_then_refused(small: Path) -> None:
    home = made(small / "home")
    spare = small / "spare"
    spare.write_bytes(b"\0" * 200_000)
    kept = 0
    while kept < 100:
        result = run(["task", "note", "Fix the sink", f"{kept} " * 9_000], home)
        if result.exit_code:
            break
        kept += 1
    assert "[read_only]" in one_line(result)
    assert "nothing was lost" in one_line(result)
    assert kept > 5
    document = told(["task", "show", "Fix the sink"], home)
    assert len(document["notes"]) == 2 + kept
    spare.unlink()
    done(["task", "note", "Fix the sink", "It fits again"], home)
    assert proved(home)


@pytest.mark.parametrize("left", [0, 4_096, 20_000, 70_000, 100_000, 130_000, 160_000, 200_000])
def test_a_wake_on_a_full_disk_goes_on_once_there_is_room(small: Path, left: int) -> None:
    home = made(small / "home")
    filler = fill(small, left)
    result = run(["wake"], home)
    if result.exit_code:
        assert "Traceback" not in result.output
        assert "full" in result.output or "cannot be written" in result.output
    filler.unlink()
    done(["recover"], home)
    done(["wake"], home)
    wakes = told(["wakes"], home)
    assert [one["outcome"] for one in wakes] == ["completed", "completed"]
    with open_home(home, {"WAKELOG_REPLICA": "r1"}) as opened:
        assert whole.faults(opened.services) == []


@pytest.mark.parametrize("left", [0, 8_192, 70_000, 100_000, 130_000])
def test_a_confirm_on_a_full_disk_is_applied_once_there_is_room(small: Path, left: int) -> None:
    home = made(small / "home")
    filler = fill(small, left)
    run(["confirm", "1", "--all"], home)
    filler.unlink()
    done(["recover"], home)
    done(["confirm", "1", "--all"], home)
    statuses = [item["status"] for one in told(["inbox", "--all"], home) for item in one["items"]]
    assert set(statuses) == {"confirmed"}
    with open_home(home, {"WAKELOG_REPLICA": "r1"}) as opened:
        assert whole.faults(opened.services) == []


# ------------------------------------------------------------------------------------- lost parts


@pytest.mark.parametrize("name", ["journal.db", "agent.db"])
def test_a_log_that_is_cut_short_is_told_and_a_copy_brings_all_back(
    tmp_path: Path, name: str
) -> None:
    home = made(tmp_path / "home")
    before = read(home)
    data = (home / name).read_bytes()
    (home / name).write_bytes(data[: len(data) * 2 // 3])
    for command in (*READING, *WRITING[:4]):
        line = one_line(run(list(command), home))
        assert name in line
        assert "[not_a_log]" in line
    found = run(["doctor"], home)
    assert (found.exit_code, f"FIND  {name}" in found.stdout) == (1, True)
    assert (home / name).stat().st_size == len(data) * 2 // 3
    (home / name).write_bytes(data)
    assert read(home) == before


@pytest.mark.parametrize("content", [None, b"", b"no database", b"SQLite format 3\0" + b"\1" * 500])
def test_views_that_are_gone_or_spoilt_are_made_anew(tmp_path: Path, content: bytes | None) -> None:
    home = made(tmp_path / "home")
    before = read(home)
    views = home / "views.db"
    views.unlink()
    if content is not None:
        views.write_bytes(content)
    assert read(home) == before
    assert views.stat().st_size > 1_000
    assert read(home) == before

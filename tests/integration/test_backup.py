"""A backup that fails leaves everything as it was: the folder, those around it, and the home."""

import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.cli import done, refused
from tests.support.disks import small_disk
from tests.support.process import command, environ, until
from tests.support.waking import agent

LOGS = ("agent.db", "journal.db")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    agent(home)
    return home


def files(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.mark.parametrize("name", LOGS)
def test_of_a_damaged_home_nothing_is_kept(home: Path, name: str) -> None:
    whole = (home / name).read_bytes()
    (home / name).write_bytes(whole[: len(whole) // 2])
    before, empty = files(home), home.parent / "empty"
    empty.mkdir()
    for folder in (home.parent / "new" / "copy", empty):
        assert "cannot be copied whole" in refused(["backup", str(folder)], home)
    assert files(home.parent) == ["empty", "home"]
    assert files(empty) == []
    assert files(home) == before


@pytest.mark.parametrize("name", LOGS)
def test_of_half_a_home_nothing_is_kept_and_nothing_is_made_in_it(home: Path, name: str) -> None:
    (home / name).unlink()
    before, folder = files(home), home.parent / "copy"
    assert f"{home / name} cannot be copied whole: it is missing" in refused(
        ["backup", str(folder)], home
    )
    assert (files(home), folder.exists()) == (before, False)


def test_a_folder_that_holds_something_is_left_alone(home: Path) -> None:
    folder = home.parent / "copy"
    folder.mkdir()
    (folder / "agent.db").write_text("mine")
    assert "not empty" in refused(["backup", str(folder)], home)
    assert (folder / "agent.db").read_text() == "mine"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 1) as disk:
        yield disk


def test_on_a_disk_that_is_full_nothing_is_kept(home: Path, small: Path) -> None:
    for nth in range(40):
        note = " ".join(f"word{nth}x{one}" for one in range(2_000))
        done(["task", "note", "Fix the sink", note], home)
    assert "cannot be written" in refused(["backup", str(small / "copy")], home)
    assert files(small) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_of_a_backup_that_is_interrupted_nothing_is_kept(home: Path, number: int) -> None:
    """It waits at the journal, which somebody has for themselves, with the agent log copied."""
    folder = home.parent / "new" / "copy"
    with closing(sqlite3.connect(home / "journal.db", isolation_level=None)) as alone:
        alone.execute("PRAGMA locking_mode=EXCLUSIVE")
        alone.execute("BEGIN EXCLUSIVE")
        process = subprocess.Popen(
            command("backup", str(folder)), env=environ(home), stderr=subprocess.PIPE, text=True
        )
        until(lambda: folder.exists() and any("journal" in one for one in files(folder)))
        os.kill(process.pid, number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, "Stopped.")
    assert files(home.parent) == ["home"]


def test_only_its_owner_reads_a_backup(home: Path) -> None:
    folder = home.parent / "copy"
    done(["backup", str(folder)], home)
    assert {(folder / name).stat().st_mode & 0o777 for name in files(folder)} == {0o600}

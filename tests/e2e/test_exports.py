"""Where what wakelog writes ends up: on a disk that is full, and with whom may read it."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.cli import done, proved, run
from tests.support.disks import small_disk
from tests.support.process import TIMEOUT, command, ended, environ

pytestmark = pytest.mark.e2e


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of eight megabytes."""
    with small_disk(tmp_path / "disk", 8) as disk:
        yield disk


def made(home: Path) -> Path:
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)
    done(["wake"], home)
    return home


# ----------------------------------------------------------------------------------- a full disk


@pytest.mark.parametrize("left", [0, 40_000, 1_000_000])
def test_what_needs_room_on_a_full_disk_is_refused_in_one_line(small: Path, left: int) -> None:
    home, folder = made(small / "home"), small / "out"
    free = shutil.disk_usage(small).free
    filler = small / "filler"
    filler.write_bytes(b"\0" * (free - left))
    asked = (
        ["sql", "SELECT count(*) AS n FROM wakes"],
        ["metrics"],
        ["export", "--parquet", str(folder)],
    )
    for one in asked:
        result = run(one, home)
        assert result.exit_code == 2, (one, result.output)
        (line,) = result.stderr.splitlines()
        assert "No space left" in line
        assert line.endswith("[read_only]")
    filler.unlink()
    for one in asked:
        done(one, home)
    assert proved(home)


def test_an_export_that_finds_no_room_is_refused_in_one_line(small: Path, tmp_path: Path) -> None:
    home = made(tmp_path / "home")
    (small / "filler").write_bytes(b"\0" * shutil.disk_usage(small).free)
    for kind in ("--parquet", "--inspect"):
        result = ended(home, "export", kind, str(small / "out"))
        assert result.returncode == 2, result.stderr
        (line,) = result.stderr.splitlines()
        assert line.endswith("[read_only]")


# --------------------------------------------------------------------------------- whose they are


def wakelog(home: Path, *args: str, more: Mapping[str, str] | None = None) -> None:
    """The real command line of a person whose files are for everybody to read."""
    result = subprocess.run(
        command(*args),
        cwd=home.parent,
        env=environ(home, more or {}),
        umask=0o000,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def readable(folder: Path) -> list[str]:
    """What others than its owner may look into, in a folder and below."""
    found = [folder, *folder.rglob("*")]
    return [str(one) for one in found if one.stat().st_mode & 0o077]


def test_all_that_is_written_is_its_person_s_alone_whatever_the_umask(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    out.mkdir(mode=0o700)
    wakelog(home, "task", "add", "Fix the sink")
    wakelog(home, "agent", "create", "--all")
    wakelog(home, "run", "--until-idle")
    wakelog(home, "metrics")
    for args in (
        ("export", "--parquet", "out/parquet"),
        ("export", "--inspect", "out/inspect"),
        ("export-history", "--all", "--out", "out/history.jsonl"),
        ("prove", "--anchor", "out/anchors.jsonl", "--new-anchor"),
        ("backup", "out/backup"),
        ("demo", "--home", "out/demo"),
    ):
        wakelog(home, *args)
    assert readable(home) == readable(out) == []
    names = {one.name for one in home.iterdir()}
    assert {"journal.db", "agent.db", "views.db", "runtime.db", "analytics.duckdb"} <= names


def test_files_of_an_older_home_are_closed_to_others_by_the_next_writing_command(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    wakelog(home, "task", "add", "Fix the sink")
    (home / "TODO.md").write_text("mine")
    for one in home.iterdir():
        one.chmod(0o644)
    wakelog(home, "task", "list")
    assert len(readable(home)) == len(list(home.iterdir())), "reading changes nothing"
    wakelog(home, "task", "note", "Fix the sink", "It drips.")
    assert readable(home) == [str(home / "TODO.md")]


def test_an_older_export_is_closed_to_others_when_it_is_written_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    wakelog(home, "task", "add", "Fix the sink")
    wakelog(home, "export", "--parquet", "out")
    for one in (tmp_path / "out").rglob("*"):
        one.chmod(0o755 if one.is_dir() else 0o644)
    (tmp_path / "out").chmod(0o755)
    wakelog(home, "export", "--parquet", "out")
    assert readable(tmp_path / "out") == [str(tmp_path / "out")], "the folder is the person's own"

"""A program that follows a home is killed at any moment while four others write: it has each row
once."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.driver import prepare
from tests.support.follower import following, rows_of
from tests.support.killing import ROOT, driver, environ

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

WRITING_SECONDS_MAX = 600.0
CATCHING_UP_SECONDS_MAX = 120


def test_each_row_is_taken_once_whenever_the_follower_is_killed(tmp_path: Path) -> None:
    home, view = tmp_path / "home", tmp_path / "view.db"
    prepare(home)
    writers = [driver(home, f"w{nth}", WRITING_SECONDS_MAX) for nth in range(4)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    command = [sys.executable, "-m", "tests.support.follower", str(home), str(view), "6", "agent"]
    subprocess.run(command, cwd=ROOT, env=environ(home), check=True)
    for writer in writers:
        writer.kill()
    assert [writer.communicate()[1] for writer in writers] == [""] * 4
    with closing(sqlite3.connect(view)) as left:
        assert left.execute("SELECT count(*) FROM taken").fetchone()[0]  # before it was killed
    with following(home, view) as runner:
        there = rows_of(runner.app)
        runner.wait(there[-1].id, timeout=CATCHING_UP_SECONDS_MAX)
        assert runner.view.rows() == there
    assert [one.id for one in there] == list(range(1, len(there) + 1))

"""What is told where there is nothing to see: a lost log, no home, a wake that never began."""

from pathlib import Path

import pytest

from adapters.store.log import Log
from tests.support.cli import done, refused, run, told


@pytest.mark.parametrize("name", ["journal.db", "agent.db"])
@pytest.mark.parametrize("command", [["prove"], ["task", "list"], ["task", "add", "More"]])
def test_a_log_that_is_missing_is_told_and_not_made_anew(
    tmp_path: Path, name: str, command: list[str]
) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)
    (home / name).unlink()
    before = {one.name for one in home.iterdir()}
    line = refused(command, home)
    assert f"{name} is missing" in line
    assert "restore both from one backup" in line
    assert {one.name for one in home.iterdir()} == before
    assert "the file is missing" in run(["doctor"], home).stdout


def test_a_first_command_that_died_between_the_two_logs_is_no_trouble(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    Log.open("journal", home / "journal.db", "r1").close()
    done(["task", "add", "Fix the sink"], home)
    assert told(["prove"], home)["ok"]

"""What is told where there is nothing to see: a lost log, no home, a wake that never began."""

import json
import shlex
from pathlib import Path

import pytest

from adapters.cli.shared import NO_HOME
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


@pytest.mark.parametrize("command", [["at", "2027-01-01"], ["diff", "2027-01-01", "2027-01-02"]])
def test_where_there_is_no_home_that_is_told(tmp_path: Path, command: list[str]) -> None:
    shown = done(command, tmp_path / "home")
    assert shown == f"{NO_HOME.format(tmp_path / 'home')}\n"
    assert json.loads(done(["--json", *command], tmp_path / "home"))


NEEDS_A_HOME = (
    """
task list|task show x|task set x --priority P1|agent list|agent create --all|wake|run|inbox
confirm 1.1|reject 1.1|report x|wakes|show x|why x|sql 'FROM wakes'|metrics|status|health|prove
replay x|at 2027-01-01|diff a b|recover|rebuild|doctor|home show|policy show|template list
export --parquet x|export-history --all|backup b
""".strip()
    .replace("\n", "|")
    .split("|")
)


@pytest.mark.parametrize("command", NEEDS_A_HOME)
def test_a_home_whose_name_is_mistyped_is_refused_and_not_made(
    tmp_path: Path, command: str
) -> None:
    home = tmp_path / "mistyped"
    line = refused(["--home", str(home), *shlex.split(command)], tmp_path / "other")
    assert f"there is no home at {home}" in line
    assert not home.exists()


@pytest.mark.parametrize("command", [["task", "add", "Begin"], ["category", "add", "Begin"]])
def test_a_home_that_is_named_may_begin_with_what_makes_one(
    tmp_path: Path, command: list[str]
) -> None:
    done(["--home", str(tmp_path / "home"), *command], tmp_path / "other")
    assert told(["--home", str(tmp_path / "home"), "prove"], tmp_path / "other")["ok"]


def test_an_empty_home_is_no_history(tmp_path: Path) -> None:
    assert "there is nothing in" in refused(["export-history", "--all"], tmp_path / "home")


@pytest.mark.parametrize("wanted", ["", "."])
def test_an_empty_word_names_no_wake(tmp_path: Path, wanted: str) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)
    done(["wake"], home)
    assert "there is no wake ''" in refused(["at", wanted], home)


def test_a_wake_that_was_superseded_is_named_with_the_one_that_was_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)
    done(["wake", "Fix the sink"], home)
    ran, superseded = told(["wakes"], home)
    assert (ran["outcome"], superseded["outcome"]) == ("completed", "superseded")
    gone, key = superseded["run_key"][:8], ran["run_key"]
    for deed, command in (
        ("replay", ["replay", gone]),
        ("fork", ["fork", gone]),
        ("compare", ["diff", gone, key]),
    ):
        line = refused(command, home)
        assert f"the wake {gone} was superseded before it began: nothing to {deed}" in line
        assert f"name {key[:8]}, which took its triggers over" in line
    assert not (home / "forks").exists()


def test_a_folder_that_is_not_there_is_told_before_a_proof(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    line = refused(["prove", "--anchor", str(tmp_path / "no" / "anchors.jsonl")], home)
    assert "its folder is not there" in line


def test_a_position_may_leave_its_replica_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    short, whole = (told(["at", where], home) for where in ("journal:2", "journal:r1:2"))
    assert short["tasks"] == whole["tasks"] != []
    assert short["journal"] == whole["journal"] == "journal:r1:2"
    assert "the agent log has no append 9; its last is 0" in refused(["at", "agent:9"], home)
    line = refused(["at", "journal:r2:2"], home)
    assert "append 2 of the journal is not r2's; write journal:r1:2" in line

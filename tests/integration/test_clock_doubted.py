"""The machine's clock, years from where the home's log ends: asked about, or told."""

import json
from pathlib import Path

import pytest

from tests.support.cli import done, refused, run, told
from tests.support.terminal import on_terminal

MACHINES = {"WAKELOG_NOW": ""}
BEFORE, AHEAD = {"WAKELOG_NOW": "2020-01-01T09:00:00Z"}, {"WAKELOG_NOW": "2038-01-19T09:00:00Z"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A home that was written last when the machine's clock is years beyond."""
    done(["task", "add", "Old"], tmp_path / "home", env=BEFORE)
    return tmp_path / "home"


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    """A home into which a clock of 2038 wrote."""
    done(["task", "add", "Late"], tmp_path / "home", env=AHEAD)
    return tmp_path / "home"


def test_nobody_can_be_asked_so_nothing_is_written(old: Path) -> None:
    line = refused(["task", "add", "New"], old, env=MACHINES)
    assert "the home was last written 2020-01-01; set the clock; if it is right" in line
    assert [one["title"] for one in told(["task", "list"], old, env=MACHINES)] == ["Old"]
    document = json.loads(run(["--json", "done", "Old"], old, env=MACHINES).output)
    assert document["error"]["code"] == "doubtful_clock"


def test_who_says_that_it_is_right_is_not_asked_again(old: Path) -> None:
    done(["--clock-is-right", "task", "add", "New"], old, env=MACHINES)
    done(["task", "add", "Newer"], old, env=MACHINES)


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 130)])
def test_on_a_terminal_it_is_asked_once(old: Path, answer: str, status: int) -> None:
    with on_terminal(old, "task", "add", "New", env=MACHINES) as person:
        person.until("Is the clock right? [y/N]: ")
        person.press(f"{answer}\n")
        assert person.ended()[0] == status
    assert len(told(["task", "list"], old, env=MACHINES)) == 2 - bool(status)


def test_a_clock_that_was_given_is_not_doubted(old: Path) -> None:
    done(["task", "add", "New"], old, env=AHEAD)


def test_a_home_that_is_years_ahead_is_told_of(poisoned: Path) -> None:
    assert " years ahead of this machine's clock" in done(["status"], poisoned, env=MACHINES)
    assert told(["status"], poisoned, env=MACHINES)["clock_behind"] > 10 * 31_536_000
    looked = run(["doctor"], poisoned, env=MACHINES)
    assert (looked.exit_code, "years ahead" in looked.output) == (1, True)
    ran = run(["run", "--until-idle"], poisoned, env=MACHINES)
    assert "years ahead of this machine's clock: going on from the log" in ran.stderr
    done(["task", "add", "Later"], poisoned, env=MACHINES)
    assert told(["status"], poisoned, env=AHEAD)["clock_behind"] == 0

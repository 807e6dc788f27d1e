"""`wakelog demo`: the main job in one command, in a home of its own."""

import shlex
from pathlib import Path

import pytest

from adapters.cli import demo
from adapters.cli.shared import Session
from adapters.wiring import open_home
from domain.journal.commands import CreateTask
from tests.support.cli import done, proved, refused, run, told

pytestmark = pytest.mark.slow


def test_the_demo_shows_the_main_job(tmp_path: Path) -> None:
    home = tmp_path / "home"
    text = done(["demo"], home)
    for part in ("What happened", "report", "1.1", "every byte is the same", "Go on"):
        assert part in text
    assert told(["inbox"], home), "nothing was decided for the person"
    assert all(one["outcome"] == "completed" for one in told(["wakes"], home))
    proved(home)


def test_each_command_that_it_names_works(tmp_path: Path) -> None:
    home = tmp_path / "home"
    lines = done(["demo"], home).splitlines()
    begin = f"wakelog --home {home} "  # by its name, or by its path where it is not on PATH
    named = [line.partition(begin)[2].partition("  #")[0] for line in lines if begin in line]
    assert len(named) >= 6
    for command in named:
        done(shlex.split(command), home)
    proved(home)


def test_a_second_time_it_shows_what_is_there(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["demo"], home)
    done(["confirm", "1.1"], home)
    rows = proved(home)
    text = done(["demo"], home)
    assert "--fresh" in text
    assert proved(home) == rows


def test_fresh_begins_anew(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = told(["demo"], home)
    done(["confirm", "--all"], home)
    assert told(["inbox"], home) == []
    again = told(["demo", "--fresh"], home)
    assert len(again["inbox"]) == len(first["inbox"])
    assert again["proof"]["digest"] == first["proof"]["digest"]


def test_fresh_takes_nothing_away_from_who_works_there(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["demo"], home)
    files = sorted(home.iterdir())
    with open_home(home, {}) as working:
        assert "in use by another process" in refused(["demo", "--fresh"], home)
        working.services.append_journal(CreateTask("Still there"))
    assert {*files} <= {*home.iterdir()}
    assert "Still there" in done(["task", "list"], home)


def test_fresh_on_nothing_is_a_demo(tmp_path: Path) -> None:
    assert told(["demo", "--fresh"], tmp_path / "home")["proof"]["ok"] is True


@pytest.mark.parametrize("arguments", [["demo"], ["demo", "--fresh"]])
def test_it_leaves_a_persons_own_home_alone(tmp_path: Path, arguments: list[str]) -> None:
    home = tmp_path / "home"
    done(["task", "add", "My own"], home)
    rows = proved(home)
    assert "holds tasks of yours" in refused(arguments, home)
    assert proved(home) == rows


def test_without_a_home_it_makes_one_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = done(["demo"], Path(), env={"WAKELOG_HOME": ""})
    assert (tmp_path / "wakelog-demo" / "journal.db").exists()
    assert "wakelog --home wakelog-demo confirm 1.1" in text


def test_its_own_option_wins(tmp_path: Path) -> None:
    done(["demo", "--home", str(tmp_path / "there")], tmp_path / "home")
    assert (tmp_path / "there" / "agent.db").exists()
    assert not (tmp_path / "home").exists()


def test_it_asks_no_network_model_whatever_is_set(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["demo"], home, env={"WAKELOG_MODEL": "gemini"})
    assert {one["model"] for one in told(["wakes"], home)} == {"rules"}


def test_one_that_was_interrupted_is_gone_on_with(tmp_path: Path) -> None:
    home = tmp_path / "home"
    whole = told(["demo"], tmp_path / "whole")
    session = Session(home, model="rules", as_json=True, is_quiet=True)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("WAKELOG_REPLICA", "r1"), ("WAKELOG_NOW", "2027-01-01T09:00:00Z")):
            patch.setenv(name, value)
        demo._import(session.writing())
        session.close()
    document = told(["demo"], home)
    assert document["reports"] == whole["reports"]
    proved(home)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    result = run(["demo", "--home", str(tmp_path / "no" / "such" / "folder")], tmp_path / "home")
    assert result.exit_code == 2
    assert "is missing" in result.stderr

"""`wakelog demo` and `demo-data`: the main job in one command, and six months of made-up work."""

import shlex
import shutil
from collections.abc import Iterator
from itertools import islice
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


# ------------------------------------ `wakelog demo-data`: whole or not there, and never somebody's


SMALL = ["demo-data", "--agents", "2", "--months", "1", "--seed", "garden"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "home"
    document = told(SMALL, path)
    assert document["proof"]["ok"] is True
    assert (document["agents"], document["days"]) == (2, 30)
    return path


def test_what_it_made_can_be_proved_and_lived_on(home: Path) -> None:
    proved(home)
    assert {one["outcome"] for one in told(["wakes"], home)} >= {"completed"}
    text = done(["sql", "SELECT timezone FROM home"], home)
    assert "Europe/Berlin" in text


def test_a_second_time_it_leaves_the_home_alone(home: Path) -> None:
    rows = proved(home)
    assert "is there already" in done(SMALL, home)
    assert told(SMALL, home)["is_there"] is True
    assert proved(home) == rows


def test_a_fork_with_another_verdict_is_lived_to_a_later_wake_and_proves(
    home: Path, tmp_path: Path
) -> None:
    for nth, (ref, tool, later) in enumerate(islice(confirmed(home), 2)):
        branch = tmp_path / str(nth)
        other = ["--verdict", f"{ref}=reject", "--model", "rules", "--out", str(branch)]
        document = told(["fork", later, *other], home)
        is_task = tool == "create_follow_up_task"  # without it, its agent's wakes are left out
        assert (document["stopped"], document["left_out"] > 0) == (None, is_task)
        assert proved(branch) > 0
    assert nth == 1


def confirmed(home: Path) -> Iterator[tuple[str, str, str]]:
    """Confirmed items, their tools, and the agent's third wake after each was proposed."""
    wakes = [one for one in reversed(told(["wakes", "--limit", "500"], home)) if one["started_at"]]
    for made in told(["inbox", "--all"], home):
        mine = [one for one in wakes if one["agent_id"] == made["agent_id"]]
        later = [one["run_key"] for one in mine if one["started_at"] > made["created_at"]]
        for item in made["items"]:
            if item["status"] == "confirmed" and len(later) > 2:
                yield item["ref"], item["tool"], later[2]


def test_fresh_makes_the_same_anew(tmp_path: Path, home: Path) -> None:
    first = told(["prove"], home)["digest"]
    there = shutil.copytree(home, tmp_path / "there")
    again = told([*SMALL, "--fresh", "--home", str(there)], home)
    assert again["proof"]["digest"] == first


def test_it_leaves_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "diary.txt").write_text("dear diary")
    assert "holds other files" in refused(SMALL, tmp_path / "home")
    assert [one.name for one in tmp_path.rglob("*")] == ["home", "diary.txt"]


def test_where_nothing_can_be_made_it_says_so(tmp_path: Path) -> None:
    assert "is missing" in refused(SMALL, tmp_path / "no" / "home")
    assert run(["demo-data", "--agents", "51"], tmp_path / "home").exit_code == 2


@pytest.mark.parametrize("arguments", [["demo"], ["demo", "--fresh"], SMALL, [*SMALL, "--fresh"]])
def test_it_leaves_a_persons_own_home_alone(tmp_path: Path, arguments: list[str]) -> None:
    home = tmp_path / "home"
    done(["task", "add", "My own"], home)
    rows = proved(home)
    assert "holds tasks of yours" in refused(arguments, home)
    assert proved(home) == rows

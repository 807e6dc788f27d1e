"""The independent checker over homes as files: of the command line, of a simulation, of a copy."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adapters.proof import histories
from adapters.simulation.plan import plan
from adapters.simulation.play import HomeEpisode
from tests.support import checker
from tests.support.checking import shape
from tests.support.checking.logs import opened
from tests.support.cli import done, told
from tests.support.homes import Homes

STEPS = 120


def shown(folder: Path) -> None:
    """The home of `wakelog demo`, with an item confirmed and one rejected."""
    home = folder / "home"
    done(["demo"], home)
    done(["confirm", "1.1"], home)
    done(["reject", "2.1"], home)
    done(["wake"], home)


def test_a_demo_home_keeps_the_laws_and_its_digest_is_that_of_prove(
    homes: Homes, tmp_path: Path
) -> None:
    home = homes.copy(shown, tmp_path) / "home"
    assert checker.findings(home, is_settled=True) == []
    assert shape.log_digest(opened(home)) == told(["prove"], home)["digest"]
    before = {one.name: one.stat().st_mtime_ns for one in home.iterdir()}
    assert checker.main([str(home), "--settled"]) == 0
    assert {one.name: one.stat().st_mtime_ns for one in home.iterdir()} == before


def test_a_backup_keeps_the_laws_and_goes_on_under_another_name(
    homes: Homes, tmp_path: Path
) -> None:
    home = homes.copy(shown, tmp_path) / "home"
    done(["backup", str(tmp_path / "copy")], home)
    assert checker.findings(tmp_path / "copy", is_backup=True) == []
    done(["task", "add", "Go on"], tmp_path / "copy")
    assert checker.findings(tmp_path / "copy") == []


def test_rows_taken_out_of_a_file_are_found(
    homes: Homes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = homes.copy(shown, tmp_path) / "home"
    with closing(sqlite3.connect(home / "agent.db")) as file, file:
        file.execute("DELETE FROM stored_events WHERE topic = 'alert.trigger_suppressed.1'")
    assert checker.main([str(home)]) == 1
    said = capsys.readouterr().out
    assert "law 1: agent: row" in said
    assert "is lost to the agent" in said


def test_a_file_that_is_cut_short_or_gone_is_a_finding(homes: Homes, tmp_path: Path) -> None:
    home = homes.copy(shown, tmp_path) / "home"
    whole = (home / "agent.db").read_bytes()
    (home / "agent.db").write_bytes(whole[: len(whole) // 2])
    assert "law 0: agent: SQLite" in "\n".join(map(str, checker.findings(home)))
    (home / "agent.db").unlink()
    assert "SQLite cannot read it" in "\n".join(map(str, checker.findings(home)))


def test_an_older_journal_beside_a_newer_agent_log_is_found(homes: Homes, tmp_path: Path) -> None:
    home = homes.copy(shown, tmp_path) / "home"
    shutil.copyfile(home / "journal.db", tmp_path / "journal.db")
    task = told(["task", "list"], home)[0]["id"]
    done(["task", "note", task, "One more"], home)
    done(["wake"], home)
    shutil.copyfile(tmp_path / "journal.db", home / "journal.db")
    assert any("and the journal ends at" in one.what for one in checker.findings(home))


def test_a_secret_of_the_environment_is_found_wherever_it_stands(
    homes: Homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = homes.copy(shown, tmp_path) / "home"
    secret = "a-value-that-nobody-guesses"
    monkeypatch.setenv("SOME_API_KEY", secret)
    assert checker.findings(home) == []
    done(["task", "add", f"Call with {secret}"], home)
    told_of = {one.where for one in checker.findings(home) if one.law == 8}
    assert "journal.db: stored_events" in told_of


def test_what_a_simulation_writes_keeps_the_laws(tmp_path: Path) -> None:
    play = HomeEpisode()
    assert play.run(plan("a stranger looks", STEPS)).faults == ()
    kept = tmp_path / "simulated.jsonl"
    kept.write_text(
        "".join(histories.history_lines(histories.take_history(play.journal, play.agents)))
    )
    assert checker.findings(kept) == []
    assert opened(kept).agents.appends

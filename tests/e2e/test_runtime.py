"""A person edits a file in an editor; everything else happens by itself."""

import signal
import sqlite3
import time
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from tests.support.cli import proved
from tests.support.process import begun, did, lines, read, until

pytestmark = pytest.mark.e2e

BEFORE = "- [ ] Fix the sink\n\n  Water drips.\n- [ ] Paint the door\n"
AFTER = BEFORE.replace("drips.", "drips.\n\n  Takes about 60 minutes. Urgent!")
SETTINGS = "[agents]\nthrottle_seconds = 1\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two tasks of a file, each with an agent that has reported once."""
    (tmp_path / "TODO.md").write_text(BEFORE, encoding="utf-8")
    made = tmp_path / "home"
    did(made, "import", "TODO.md")
    (made / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    did(made, "agent", "create", "--all")
    did(made, "wake")
    return made


def stopped(process: "Popen[bytes]", *signals: signal.Signals) -> int:
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    return process.wait(30)


def wakes(home: Path) -> list[Any]:
    found: list[Any] = read(home, "wakes")
    return found


def test_an_edit_in_the_editor_wakes_the_agent_and_its_proposal_is_confirmed(home: Path) -> None:
    todo, log = home.parent / "TODO.md", home.parent / "run.log"
    assert (len(wakes(home)), read(home, "inbox")) == (2, [])
    first = read(home, "report", "Fix the sink")
    runtime = begun(home, "--json", "run", "--watch", "TODO.md", log=log)
    try:
        until(lambda: log.exists() and "started" in log.read_text())
        edited = todo.with_name(".TODO.md.swp")  # as editors do: written beside, then renamed
        edited.write_text(AFTER, encoding="utf-8")
        edited.replace(todo)
        until(lambda: read(home, "inbox"))
        (found,) = read(home, "inbox")
        assert found["task_title"] == "Fix the sink"
        assert "Set estimate to 60 minutes" in {item["summary"] for item in found["items"]}
        assert read(home, "report", "Fix the sink")["run_key"] != first["run_key"]
        assert len(wakes(home)) == 3  # the door's agent sleeps on
        did(home, "confirm", "1", "--all")
        (task,) = [one for one in read(home, "task", "list") if one["title"] == "Fix the sink"]
        assert task["estimate_minutes"] == 60
        until(lambda: read(home, "status")["lag"] == 0)
        time.sleep(2)  # longer than the throttle
        assert len(wakes(home)) == 3, "its own proposals woke it"
        assert {one["rule"] for one in read(home, "why", "Fix the sink")} >= {"own_write"}
    finally:
        status = stopped(runtime, signal.SIGINT)
    assert status == 0
    told = [line["event"] for line in lines(log)]
    assert (told[0], told[-1]) == ("started", "stopped")
    assert {"imported", "looked", "waking", "ended"} <= set(told)
    assert proved(home) > 0


def test_a_runtime_that_was_killed_is_no_loss(home: Path) -> None:
    todo, log = home.parent / "TODO.md", home.parent / "run.log"
    runtime = begun(home, "--json", "run", "--watch", "TODO.md", log=log)
    until(lambda: log.exists() and "started" in log.read_text())
    runtime.kill()
    runtime.wait()
    todo.write_text(AFTER, encoding="utf-8")
    log.unlink()
    did(home, "run", "--until-idle", "--watch", "TODO.md")
    assert len(wakes(home)) == 3
    assert proved(home) > 0


def test_two_runtimes_share_a_home_and_each_wake_runs_once(home: Path) -> None:
    logs = [home.parent / f"{nth}.log" for nth in (1, 2)]
    both = [begun(home, "--json", "run", log=log) for log in logs]
    try:
        until(lambda: all(log.exists() and "started" in log.read_text() for log in logs))
        assert len([one for one in read(home, "status")["runtimes"] if one["alive"]]) == 2
        did(home, "task", "note", "Fix the sink", "Takes about 2 hours.")
        until(lambda: read(home, "why", "Fix the sink")[0]["outcome"] == "woke")
        until(lambda: wakes(home)[0]["ended_at"])
    finally:
        for one in both:
            assert stopped(one, signal.SIGTERM) == 0
    ended = [line for log in logs for line in lines(log) if line["event"] == "ended"]
    assert len(ended) == 1
    assert len(wakes(home)) == 3
    assert read(home, "status")["runtimes"] == []
    assert proved(home) > 0


def test_a_backup_taken_while_it_runs_is_a_whole_home(home: Path) -> None:
    log = home.parent / "run.log"
    runtime = begun(home, "--json", "run", log=log)
    try:
        until(lambda: log.exists() and "started" in log.read_text())
        did(home, "task", "note", "Fix the sink", "Takes about 60 minutes.")
        copy = home.parent / "copy"
        told = read(home, "backup", str(copy))
        assert (told["ok"], told["folder"]) == (True, str(copy))
    finally:
        stopped(runtime, signal.SIGTERM)
    assert not (copy / "replica").exists()
    assert did(copy, "prove").startswith("Proved")
    assert {one["run_key"] for one in wakes(copy)} <= {one["run_key"] for one in wakes(home)}
    assert read(copy, "report", "Fix the sink")["run_key"]
    with sqlite3.connect(copy / "agent.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    did(copy, "run", "--until-idle")  # restored: what waited is woken, and work goes on
    assert read(copy, "status")["lag"] == 0
    assert "Set estimate to 60 minutes" in {
        item["summary"] for one in read(copy, "inbox") for item in one["items"]
    }
    assert read(copy, "doctor")["ok"]
    assert did(copy, "prove").startswith("Proved")

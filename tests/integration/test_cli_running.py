"""`wakelog run --until-idle`, `health`, `backup` and `agent chat`, in the test's own process."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from click.testing import Result

from tests.support.cli import NOW, done, proved, refused, run, told
from tests.support.waking import agent, reply, report, sink, tape


def test_run_until_idle_lets_the_clock_jump_and_wakes_what_is_queued(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    ran = run(["--json", "run", "--until-idle"], home)
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["wakes"] == 1
    events = [json.loads(line)["event"] for line in ran.stderr.splitlines()]
    assert events == ["started", "looked", "waking", "ended", "looked", "stopped"][: len(events)]
    done(["task", "note", "Fix the sink", "Takes about 2 hours."], home)
    for count in ("1 wake", "0 wakes"):
        assert run(["run", "--until-idle"], home).stderr.endswith(f"stopped after {count}\n")
    assert proved(home) > 0


def test_the_page_beside_a_run_asks_for_a_token_where_that_is_wanted(tmp_path: Path) -> None:
    command = ["--json", "run", "--until-idle", "--serve", "--token", "--port", "0"]
    ran = run(command, tmp_path / "home", env={"WAKELOG_SERVE_TOKEN": "my own & long token"})
    assert ran.exit_code == 0, ran.output
    events = [json.loads(line) for line in ran.stderr.splitlines()]
    (address,) = [one["address"] for one in events if one["event"] == "serving"]
    assert address.startswith("http://127.0.0.1:")
    assert address.endswith("/?token=my%20own%20%26%20long%20token")


def test_run_with_a_clock_set_by_hand_needs_an_end(tmp_path: Path) -> None:
    assert "--until-idle" in refused(["run"], tmp_path / "home")


def test_a_file_that_cannot_be_watched_is_refused(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.md")
    line = refused(["run", "--until-idle", "--watch", missing], tmp_path / "home")
    assert "cannot be watched" in line


def test_a_model_that_is_not_there_is_refused_before_anything_runs(tmp_path: Path) -> None:
    assert "GEMINI_API_KEY" in refused(
        ["--model", "gemini", "run", "--until-idle"], tmp_path / "home"
    )


def test_health_without_a_runtime_is_a_finding(tmp_path: Path) -> None:
    home = tmp_path / "home"
    sink(home)
    found = run(["--json", "health"], home)
    assert found.exit_code == 1
    checks = {one["check"]: one["ok"] for one in json.loads(found.stdout)["checks"]}
    assert checks == {"runtime": False, "lag": True, "queue": True, "doubt": True, "agents": True}
    assert "wakelog run" in run(["health"], home).stdout


def test_a_backup_overwrites_nothing_and_is_proved(tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    agent(home)
    done(["wake"], home)
    assert "3 files" in done(["backup", str(copy)], home)
    assert "not empty" in refused(["backup", str(copy)], home)
    assert told(["prove"], copy)["digest"] == told(["prove"], home)["digest"]
    assert told(["report", "Fix the sink"], copy) == told(["report", "Fix the sink"], home)
    assert "no home" in refused(["backup", str(tmp_path / "c")], tmp_path / "none")


def test_a_restored_backup_is_worked_in_and_proved(tmp_path: Path) -> None:
    """Under a name of its own, which has no row in the journal when its first wake is asked."""
    home, copy = tmp_path / "home", tmp_path / "copy"
    agent(home)
    done(["wake"], home)
    done(["task", "note", "Fix the sink", "Takes about 2 hours."], home)
    done(["backup", str(copy)], home)
    other = {"WAKELOG_REPLICA": "r2"}
    (wake,) = told(["wake"], copy, env=other)
    assert wake["outcome"] == "completed"
    assert told(["prove"], copy, env=other)["ok"]
    prompt = done(["show", wake["run_key"], "--prompt"], copy, env=other)
    assert "Takes about 2 hours." in prompt
    done(["task", "note", "Fix the sink", "And on."], copy, env=other)
    assert told(["wake"], copy, env=other)[0]["outcome"] == "completed"
    assert told(["prove"], copy, env=other)["ok"]
    assert told(["doctor"], copy, env=other)["ok"]


def changed(home: Path, file: str, statement: str) -> str:
    """What doctor finds once a log was changed by hand."""
    with closing(sqlite3.connect(home / file)) as connection, connection:
        connection.execute(statement)
    found = run(["doctor"], home)
    assert found.exit_code == 1, found.output
    return found.stdout


def test_doctor_finds_an_effect_that_the_journal_does_not_hold(tmp_path: Path) -> None:
    """Nobody has looked at the journal since: only the effect's outcome names its append."""
    home = tmp_path / "home"
    agent(home)
    done(["wake"], home)
    done(["confirm", "1.1"], home)
    status = told(["status"], home)
    assert status["lag"] == 1
    last = status["journal"]["appends"]
    where = f"json_extract(CAST(state AS TEXT), '$.n') = {last}"
    found = changed(home, "journal.db", f"DELETE FROM stored_events WHERE {where}")
    assert f"refers to {last}" in found


def test_doctor_finds_what_belongs_to_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    payload = f"INSERT INTO payloads VALUES ('{'a' * 32}', x'00')"
    assert "1 texts of the agent log are named by no row" in changed(home, "agent.db", payload)
    found = changed(home, "journal.db", "DELETE FROM stored_events")
    assert "which the journal does not hold" in found


def test_three_lines_of_a_chat_are_three_turns_of_one_session(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    lines = [reply(report()), *(reply(text=f"Answer {nth}.") for nth in range(3))]
    model = tape(tmp_path / "tape.jsonl", *lines)
    ran = run(
        ["--model", model, "--json", "agent", "chat", "Fix the sink"],
        home,
        input="What is left?\nAnd then?\nAnything else?\n\n",
    )
    assert ran.exit_code == 0, ran.output
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [one["turn"] for one in answers] == [1, 2, 3]
    assert len({one["session"] for one in answers}) == 1
    assert len({one["thread"] for one in answers}) == 1
    assert [one["answer"] for one in answers] == ["Answer 0.", "Answer 1.", "Answer 2."]
    assert NOW[:10] in answers[0]["ended_at"]
    assert proved(home) > 0


def test_what_is_decided_is_written_into_the_watched_file_and_wakes_nobody(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "TODO.md"
    file.write_text("- [ ] Fix the sink\n\n  Takes about 60 minutes. Urgent!\n- [ ] Call Ann\n")
    done(["import", str(file)], home)
    (home / "settings.toml").write_text("[import]\nwrite_back = true\n")
    done(["agent", "create", "Fix the sink"], home)
    watch = ["--json", "run", "--until-idle", "--watch", str(file)]
    assert "written" not in events(run(watch, home))
    done(["confirm", "1", "--all"], home)
    done(["done", "Call Ann"], home)
    file.write_text(file.read_text() + "\n  Her new number.\n")  # meanwhile, and imported first
    found = run(watch, home)
    assert [one for one in events(found) if one in ("imported", "written")] == [
        "imported",
        "written",
    ]
    assert "waking" not in events(found)
    said = "- [ ] Fix the sink !p1 ~1h\n\n  Takes about 60 minutes. Urgent!\n"
    assert file.read_text() == f"{said}- [x] Call Ann\n\n  Her new number.\n"
    rows, wakes = proved(home), told(["wakes"], home)
    for _ in range(2):
        again = events(run(watch, home))
        assert {"written", "imported", "waking"}.isdisjoint(again)
    assert (proved(home), told(["wakes"], home)) == (rows, wakes)
    assert told(["import", str(file)], home)["events"] == 0
    tasks = told(["task", "list"], home)
    assert [(one["title"], one["status"]) for one in tasks][1] == ("Call Ann", "DONE")


def test_a_file_that_cannot_be_written_back_is_told_once(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "TODO.md"
    file.write_text("- [ ] Fix the sink\n")
    done(["import", str(file)], home)
    (home / "settings.toml").write_text("[import]\nwrite_back = true\n")
    done(["done", "Fix the sink"], home)
    file.with_name("TODO.md.bak").mkdir()
    found = run(["run", "--until-idle", "--watch", str(file)], home)
    assert found.exit_code == 0
    assert found.stderr.count("cannot be written: Is a directory") == 1
    assert file.read_text() == "- [ ] Fix the sink\n"


def events(ran: Result) -> list[str]:
    assert ran.exit_code == 0, ran.output
    return [json.loads(line)["event"] for line in ran.stderr.splitlines()]

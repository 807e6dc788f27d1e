"""`wakelog wake`: the main job, and everything that keeps an agent from doing it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from adapters.home.settings import BudgetSettings, Settings
from adapters.runtime.budgets import Budgets
from adapters.runtime.wake_capture import capture
from adapters.wiring import open_home
from tests.support.cli import FIXED, NOW, done, proved, refused, run, told, waits
from tests.support.pages import text_of, visiting
from tests.support.waking import agent, at, fault, inbox, reply, report, sink, tape

LATER = "2027-01-01T12:00:00Z"


def shown(home: Path, name: str = "Fix the sink") -> Any:
    return told(["agent", "show", name], home)


# ----------------------------------------------------------------------------------- the main job


def test_nothing_to_wake_says_what_to_do_next(home: Path) -> None:
    assert "agent create --all" in done(["wake"], home)
    assert told(["wake"], home) == []
    assert not home.exists()
    agent(home)
    done(["wake"], home)
    assert "wakelog wake TASK" in done(["wake"], home)


def test_a_task_becomes_a_report_and_proposals_that_are_applied(home: Path) -> None:
    """Task, agent, wake, inbox, confirm, and the changed task: all of it proves."""
    task = sink(home)
    done(["agent", "create", "--all"], home)
    result = run(["wake"], home)
    assert "waking 1 of 1: Fix the sink" in result.stderr
    assert "completed [rules]" in result.stdout
    items = inbox(home)
    assert {item["tool"] for item in items} == {
        "update_task_due_date",
        "update_task_estimate",
        "update_task_priority",
    }
    assert not any(item["stale"] for item in items)
    results = told(["confirm", "1", "--all"], home)["results"]
    assert [one["status"] for one in results] == ["confirmed"] * 3
    page = told(["task", "show", task], home)
    assert (page["due_date"], page["estimate_minutes"]) == ("2027-02-12", 60)
    assert inbox(home) == []


def test_a_wake_of_a_name_runs_at_once_and_inherits_what_was_queued(home: Path) -> None:
    agent(home)
    wake = told(["wake", "Fix the sink"], home)
    assert (wake["reason"], wake["outcome"], wake["model"]) == ("manual", "completed", "rules")
    assert wake["proposals"] == 3
    assert wake["report"]["one_liner"]
    creation = shown(home)["last_wakes"][1]
    assert (creation["reason"], creation["outcome"]) == ("creation", "superseded")
    assert told(["wake"], home) == []


WORKED = (
    "Worked on it yesterday from 2pm to 4pm. Blocked by the tax task. "
    "The rest is a new task: paint the door, varnish."
)


def test_a_note_makes_a_follow_up_a_time_entry_and_a_link_once(home: Path) -> None:
    done(["task", "add", "Tax return 2025"], home)
    done(["task", "add", "Kitchen", "--item", "Buy paint", "--item", "Paint the door"], home)
    done(["agent", "create", "Kitchen", "--model", "rules"], home)
    done(["task", "note", "Kitchen", WORKED], home)
    done(["wake", "Kitchen"], home)
    assert {item["tool"] for item in inbox(home)} == {
        *("set_task_status", "create_follow_up_task", "log_time", "link_task"),
    }
    done(["confirm", "--all"], home)
    (entry,) = told(["task", "show", "Kitchen"], home)["time"]
    assert entry["summary"] == WORKED.partition(".")[0]
    assert "Kitchen: the rest" in {one["title"] for one in told(["task", "list"], home)}
    done(["task", "note", "Kitchen", "Nothing new."], home)
    done(["wake", "Kitchen"], home)
    assert inbox(home) == []


# ------------------------------------------------------------------------------------- no wake


def test_a_deleted_task_puts_its_agent_to_sleep_until_it_is_restored(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    assert len(inbox(home)) == 3
    done(["task", "delete", "Fix the sink"], home)
    wake = told(["wake", "Fix the sink"], home)
    assert (wake["outcome"], wake["error_code"]) == ("skipped", "task_deleted")
    assert (shown(home)["lifecycle"], shown(home)["pause_reason"]) == ("dormant", "task_deleted")
    assert inbox(home) == []
    assert {item["status"] for item in inbox(home, "--all")} == {"expired"}
    done(["task", "restore", "Fix the sink"], home)
    done(["agent", "resume", "Fix the sink"], home)
    (wake,) = told(["wake"], home)
    assert (wake["reason"], wake["outcome"]) == ("recovery", "completed")


def test_all_agents_can_be_switched_off(home: Path) -> None:
    agent(home)
    (home / "settings.toml").write_text("[agents]\nenabled = false\n", encoding="utf-8")
    assert "[switched_off]" in refused(["wake", "Fix the sink"], home)
    (wake,) = told(["wake"], home)
    assert (wake["outcome"], wake["error_code"]) == ("skipped", "switched_off")


# ------------------------------------------------------------------------------------- failures


def test_a_provider_that_fails_defers_the_wake_under_its_run_key(
    home: Path, tmp_path: Path
) -> None:
    agent(home)
    model = tape(tmp_path / "tape.jsonl", fault())
    (first,) = waits(["--model", model, "wake"], home)
    assert (first["outcome"], first["waits_for"], first["state"]) == (None, "provider", "waiting")
    page = shown(home)
    assert (page["run_status"], page["failures"]) == ("queued", 0)
    left = run(["wake"], home)
    assert "waits for its provider" in left.stderr
    tape(tmp_path / "tape.jsonl", reply(report()), reply())
    (second,) = told(["wake"], home, env=at(LATER))
    assert second["run_key"] == first["run_key"]
    assert (second["outcome"], second["model"]) == ("completed", model)


def test_five_failures_in_a_row_put_an_agent_to_sleep(home: Path, tmp_path: Path) -> None:
    agent(home)
    model = tape(tmp_path / "tape.jsonl", fault("bad_request", of_provider=False))
    for nth in range(1, 6):
        result = run(["--json", "--model", model, "wake", "Fix the sink"], home)
        assert result.exit_code == 1
        assert shown(home)["failures"] == nth
    page = shown(home)
    assert (page["lifecycle"], page["pause_reason"]) == ("dormant", "failures")
    assert "dormant (failures)" in done(["agent", "list"], home)
    assert "[agent_dormant]" in refused(["wake", "Fix the sink"], home)
    done(["agent", "resume", "Fix the sink"], home)
    assert told(["wake"], home)[0]["outcome"] == "completed"
    assert shown(home)["failures"] == 0


def test_a_model_that_only_talks_fails_the_first_wake_as_any_fault_does(
    home: Path, tmp_path: Path
) -> None:
    model = tape(tmp_path / "tape.jsonl", reply(text="I shall."), reply(text="I did."))
    agent(home, "Fix the sink", "--model", model)
    ran = run(["wake"], home)
    assert ran.exit_code == 1
    assert "failed (no_report). no call of the model came through" in ran.stdout
    assert 'it said "I shall."' in ran.stdout
    found = shown(home)
    assert (found["failures"], found["lifecycle"]) == (1, "active")
    assert found["sleep_until"] > NOW
    assert "1 times in a row, the last with no_report" in run(["doctor"], home).stdout
    assert proved(home)


def test_a_wake_without_the_report_that_was_due_is_told_everywhere(
    home: Path, tmp_path: Path
) -> None:
    noted = "record_observations", {"observations": ["The tap drips."]}
    model = tape(tmp_path / "tape.jsonl", reply(noted), reply(text="Done."), reply(text="Done."))
    agent(home, "Fix the sink", "--model", model)
    assert "completed [" in (line := done(["wake"], home))
    assert "], without a report." in line
    (wake,) = told(["wakes"], home)
    assert (wake["outcome"], wake["report_missing"]) == ("completed", True)
    run_key = wake["run_key"]
    assert told(["report", "Fix the sink"], home)["without_report"] == run_key
    said = f"Its last wake, {run_key[:8]}, ended without a report."
    assert said in done(["report", "Fix the sink"], home)
    for command in (["wakes"], ["show", run_key], ["why", "Fix the sink"], ["doctor"]):
        assert "without a report" in done(command, home), command
    assert proved(home)
    tape(tmp_path / "tape.jsonl", reply(report()), reply())
    done(["wake", "Fix the sink"], home)
    estimate = "update_task_estimate", {"minutes": 60, "because": "about 60 minutes"}
    tape(tmp_path / "tape.jsonl", reply(estimate), reply(text="Done."), reply(text="Done."))
    done(["wake", "Fix the sink"], home)
    assert "ended without a report" in done(["report", "Fix the sink"], home)
    with visiting(home) as visitor:
        for page in (f"/wakes/{run_key}", "/wakes", f"/agents/{wake['agent_id']}"):
            assert "without a report" in text_of(visitor.page(page)), page


def test_a_failing_agent_never_stops_the_others(home: Path, tmp_path: Path) -> None:
    broken = tape(tmp_path / "gone.jsonl", reply())
    agent(home, "Fix the sink", "--model", broken)
    agent(home, "Plan the trip")
    (tmp_path / "gone.jsonl").unlink()
    result = run(["wake"], home)
    assert result.exit_code == 1
    assert "Fix the sink: could not run." in result.stdout
    assert "Plan the trip: completed" in result.stdout
    assert shown(home)["run_status"] == "queued"


def test_a_wake_whose_process_is_gone_goes_on_under_its_run_key(home: Path) -> None:
    agent_id = agent(home)
    (queued,) = told(["status"], home)["queued"]
    with open_home(home, FIXED, is_writing=True) as opened:
        captured = capture(opened.services, agent_id, queued["run_key"], is_now=True)
        opened.services.append_agent(captured.command, payloads=captured.payloads)
    assert shown(home)["run_status"] == "running"
    (wake,) = told(["wake"], home, env=at(LATER))
    assert (wake["run_key"], wake["outcome"]) == (queued["run_key"], "completed")


# ------------------------------------------------------------------------------ budgets, timers


def test_a_budget_holds_a_wake_until_the_next_midnight(home: Path, tmp_path: Path) -> None:
    agent(home)
    settings = 'timezone = "Europe/Berlin"\n[budget]\ntokens_per_agent_day = 1000\n'
    (home / "settings.toml").write_text(settings, encoding="utf-8")
    many = reply(("record_observations", {"observations": ["x"]}), tokens=1000)
    model = tape(tmp_path / "tape.jsonl", many)
    (wake,) = waits(["--model", model, "wake"], home)
    assert (wake["outcome"], wake["waits_for"], wake["turns"]) == (None, "budget", 1)
    assert wake["waits_until"] == "2027-01-01T23:00:00.000000Z"
    assert "waits for its budget until 2027-01-02 00:00" in run(["wake"], home).stderr
    tape(tmp_path / "tape.jsonl", reply(report()), reply())
    (wake,) = told(["wake"], home, env=at("2027-01-02T00:00:00Z"))
    assert wake["outcome"] == "completed"


@pytest.mark.parametrize("name", ["tokens_per_wake", "tokens_per_day"])
def test_each_budget_counts(home: Path, tmp_path: Path, name: str) -> None:
    agent(home)
    (home / "settings.toml").write_text(f"[budget]\n{name} = 5\n", encoding="utf-8")
    many = reply(("record_observations", {"observations": ["x"]}), tokens=5)
    (wake,) = waits(["--model", tape(tmp_path / "tape.jsonl", many, reply()), "wake"], home)
    assert (wake["waits_for"], wake["waits_until"]) == ("budget", "2027-01-02T00:00:00.000000Z")


def test_what_was_spent_counts_when_its_agent_is_erased(home: Path, tmp_path: Path) -> None:
    agent(home)
    done(["add", "Call the clinic"], home)
    done(["agent", "create", "Call the clinic"], home)
    model = tape(tmp_path / "tape.jsonl", reply(report(), tokens=1000), reply())
    assert told(["--model", model, "wake", "Call the clinic"], home)["outcome"] == "completed"
    now, tomorrow = "2027-01-01T10:00:00.000000Z", "2027-01-02T00:00:00.000000Z"
    with open_home(home, FIXED) as beside:
        limits = [Settings(budget=BudgetSettings(tokens_per_day=most)) for most in (1000, 2000)]
        budgets = [Budgets(beside.services.agents, one) for one in limits]
        assert [one.until_of("", "", now) for one in budgets] == [tomorrow, ""]
        done(["erase", "task", "Call the clinic", "--sure"], home)
        anew = Budgets(beside.services.agents, limits[0])
        for one in (*budgets, anew):
            assert one.until_of("", "", now) == (tomorrow if one is not budgets[1] else "")
            assert one.until_of("", "", tomorrow) == ""
    (home / "settings.toml").write_text("[budget]\ntokens_per_day = 1000\n", encoding="utf-8")
    wake = waits(["--model", model, "wake", "Fix the sink"], home)
    assert (wake["waits_for"], wake["turns"]) == ("budget", 0)
    assert told(["prove"], home)["ok"]


def test_a_timer_fires_once_for_all_the_ticks_that_were_missed(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    done(["agent", "timer", "Fix the sink", "set", "every day 07:00"], home)
    assert told(["wake"], home) == []
    (wake,) = told(["wake"], home, env=at("2027-01-04T08:00:00Z"))
    assert (wake["reason"], wake["outcome"]) == ("timer", "completed")
    (timer,) = told(["agent", "timer", "Fix the sink"], home)
    assert timer["next_at"] == "2027-01-05T07:00:00.000000Z"
    assert told(["wake"], home, env=at("2027-01-04T08:00:00Z")) == []


def test_the_code_of_a_fault_floods_no_list(home: Path) -> None:
    """A model says what it likes, a code of a hundred thousand letters, too."""
    agent(home)
    model = tape(home.parent / "long.jsonl", fault("w" * 100_000, of_provider=False))
    for args in (["wake"], ["wakes"], ["status"], ["agent", "list"]):
        assert len(run(["--model", model, *args], home).output) < 2_000, args


# ---------------------------------------------------------- `run`, `health`, `backup`, `agent chat`


def test_run_until_idle_lets_the_clock_jump_and_wakes_what_is_queued(home: Path) -> None:
    agent(home)
    ran = run(["--json", "run", "--until-idle"], home)
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["wakes"] == 1
    events = [json.loads(line)["event"] for line in ran.stderr.splitlines()]
    assert events == ["started", "looked", "waking", "ended", "looked", "stopped"][: len(events)]
    done(["task", "note", "Fix the sink", "Takes about 2 hours."], home)
    for count in ("1 wake", "0 wakes"):
        assert run(["run", "--until-idle"], home).stderr.endswith(f"stopped after {count}\n")


def test_the_page_beside_a_run_asks_for_a_token_where_that_is_wanted(home: Path) -> None:
    command = ["--json", "run", "--until-idle", "--serve", "--token", "--port", "0"]
    ran = run(command, home, env={"WAKELOG_SERVE_TOKEN": "my own & long token"})
    assert ran.exit_code == 0, ran.output
    events = [json.loads(line) for line in ran.stderr.splitlines()]
    (address,) = [one["address"] for one in events if one["event"] == "serving"]
    assert address.startswith("http://127.0.0.1:")
    assert address.endswith("/?token=my%20own%20%26%20long%20token")


def test_run_with_a_clock_set_by_hand_needs_an_end(home: Path) -> None:
    assert "--until-idle" in refused(["run"], home)


def test_a_file_that_cannot_be_watched_is_refused(home: Path, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.md")
    line = refused(["run", "--until-idle", "--watch", missing], home)
    assert "cannot be watched" in line


def test_health_without_a_runtime_is_a_finding(home: Path) -> None:
    sink(home)
    found = run(["--json", "health"], home)
    assert found.exit_code == 1
    checks = {one["check"]: one["ok"] for one in json.loads(found.stdout)["checks"]}
    assert checks == {"runtime": False, "lag": True, "queue": True, "doubt": True, "agents": True}
    assert "wakelog run" in run(["health"], home).stdout


def test_a_backup_overwrites_nothing_and_is_proved(home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    agent(home)
    done(["wake"], home)
    assert "4 files" in done(["backup", str(copy)], home)
    assert "not empty" in refused(["backup", str(copy)], home)
    assert told(["prove"], copy)["digest"] == told(["prove"], home)["digest"]
    assert told(["report", "Fix the sink"], copy) == told(["report", "Fix the sink"], home)
    assert "no home" in refused(["backup", str(tmp_path / "c")], tmp_path / "none")


def test_a_restored_backup_is_worked_in_and_proved(home: Path, tmp_path: Path) -> None:
    """Under a name of its own, which has no row in the journal when its first wake is asked."""
    copy = tmp_path / "copy"
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


def test_three_lines_of_a_chat_are_three_turns_of_one_session(home: Path, tmp_path: Path) -> None:
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


def test_what_is_decided_is_written_into_the_watched_file_and_wakes_nobody(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
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


def test_a_file_that_cannot_be_written_back_is_told_once(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
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

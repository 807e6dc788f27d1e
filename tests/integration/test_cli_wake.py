"""`wakelog wake`: the main job, and everything that keeps an agent from doing it."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.models.rules.model import RulesModel
from adapters.models.tape import TapeModel
from adapters.runtime import on_demand
from adapters.wiring import open_home
from domain.ports import Call, Model, Reply, Request
from tests.support.cli import FIXED, done, proved, refused, run, told, waits
from tests.support.faults import Died
from tests.support.waking import agent, at, fault, inbox, reply, report, sink, tape

LATER = "2027-01-01T12:00:00Z"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


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
    assert proved(home)


def test_every_queued_wake_runs_in_queue_order(home: Path) -> None:
    titles = ["Fix the sink", "Plan the trip", "Call Ann"]
    made = [agent(home, title) for title in titles]
    wakes = told(["wake"], home)
    assert [one["agent_id"] for one in wakes] == made
    assert {one["outcome"] for one in wakes} == {"completed"}
    ends = [(one["started_at"], one["ended_at"]) for one in wakes]
    assert all(first[1] < second[0] for first, second in itertools.pairwise(ends))
    assert proved(home)


def test_a_wake_of_a_name_runs_at_once_and_inherits_what_was_queued(home: Path) -> None:
    agent(home)
    wake = told(["wake", "Fix the sink"], home)
    assert (wake["reason"], wake["outcome"], wake["model"]) == ("manual", "completed", "rules")
    assert wake["proposals"] == 3
    assert wake["report"]["one_liner"]
    creation = shown(home)["last_wakes"][1]
    assert (creation["reason"], creation["outcome"]) == ("creation", "superseded")
    assert told(["wake"], home) == []
    assert proved(home)


def test_the_document_of_a_wake_has_the_promised_keys(home: Path) -> None:
    agent(home)
    promised = (
        "run_key agent_id task_id thread reason reason_id queued_at started_at ended_at outcome "
        "error turns tool_calls proposals observations report model template_version"
    )
    assert set(promised.split()) <= set(told(["wake", "Fix the sink"], home))


def test_a_change_of_the_task_wakes_its_agent(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    done(["task", "note", "Fix the sink", "It takes about 3 hours."], home)
    (wake,) = told(["wake"], home)
    assert (wake["reason"], wake["outcome"]) == ("subscription", "completed")
    assert proved(home)


def test_what_an_agent_writes_does_not_wake_it(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    done(["confirm", "--all"], home)
    assert told(["wake"], home) == []


def test_unknown_names_are_refused(home: Path) -> None:
    agent(home)
    assert "[unknown_agent]" in refused(["wake", "Moon"], home)
    sink(home, "Plan the trip")
    assert "[no_agent]" in refused(["wake", "Plan the trip"], home)


# ------------------------------------------------------------------------------------- no wake


def test_a_task_outside_the_agents_categories_is_skipped_and_nothing_is_rendered(
    home: Path,
) -> None:
    agent(home)
    done(["category", "add", "Secret"], home)
    done(["task", "set", "Fix the sink", "--category", "Secret"], home)
    (wake,) = told(["wake"], home)
    assert (wake["outcome"], wake["error_code"], wake["turns"]) == ("skipped", "out_of_scope", 0)
    assert "skipped (out_of_scope)" in done(["wake", "Fix the sink"], home)
    assert shown(home)["lifecycle"] == "active"
    done(["agent", "set", "Fix the sink", "--category", "Secret"], home)
    assert told(["wake", "Fix the sink"], home)["outcome"] == "completed"
    assert proved(home)


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
    assert proved(home)


def test_all_agents_can_be_switched_off(home: Path) -> None:
    agent(home)
    (home / "settings.toml").write_text("[agents]\nenabled = false\n", encoding="utf-8")
    assert "[switched_off]" in refused(["wake", "Fix the sink"], home)
    (wake,) = told(["wake"], home)
    assert (wake["outcome"], wake["error_code"]) == ("skipped", "switched_off")
    assert proved(home)


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
    assert proved(home)


def test_a_person_ends_the_wait_for_a_provider(home: Path, tmp_path: Path) -> None:
    agent(home)
    model = tape(tmp_path / "tape.jsonl", fault())
    (first,) = waits(["--model", model, "wake"], home)
    tape(tmp_path / "tape.jsonl", *(reply(report()), reply()) * 2)
    second = told(["--model", model, "wake", "Fix the sink"], home)
    assert (second["reason"], second["outcome"]) == ("manual", "completed")
    ended = {one["run_key"]: one["outcome"] for one in shown(home)["last_wakes"]}
    assert ended == {first["run_key"]: "completed", second["run_key"]: "completed"}
    assert proved(home)


def test_a_wake_stays_queued_behind_one_that_must_wait_again(home: Path, tmp_path: Path) -> None:
    agent(home)
    model = tape(tmp_path / "tape.jsonl", fault(), fault())
    waits(["--model", model, "wake"], home)
    wake = told(["--model", model, "wake", "Fix the sink"], home)
    assert (wake["outcome"], wake["state"]) == (None, "queued")
    assert proved(home)


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
    assert proved(home)


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
    assert proved(home)


def test_a_model_that_cannot_be_had_is_refused_before_anything_is_queued(home: Path) -> None:
    agent(home)
    assert told(["wake"], home)
    rows = proved(home)
    refusal = refused(["--model", "gemini", "wake", "Fix the sink"], home)
    assert "[missing_key]" in refusal
    assert "--model rules" in refusal
    assert proved(home) == rows


class Interrupted:
    """A model that thinks while something else happens."""

    def __init__(self, model: Model, happens: Callable[[], object]) -> None:
        self.name = model.name
        self._model = model
        self._happens = happens

    async def reply(self, request: Request) -> Reply:
        self._happens()
        return await self._model.reply(request)


def wake_with(home: Path, agent_id: str, model: Model) -> None:
    """Run an agent's queued wake, as `wake` does."""
    with open_home(home, FIXED, is_writing=True) as opened:
        opened.services.model_for = lambda _: model
        on_demand.run_ready(opened.services, [agent_id], lambda *_: None)


def test_a_pause_during_a_wake_stops_it_at_its_next_row(home: Path) -> None:
    """The agent is paused while the model thinks: its answer is kept, and nothing follows."""
    agent_id = agent(home)
    language = Call("c1", "set_task_language", '{"languageCode": "en", "confidence": "high"}')
    drafted = Call("c2", report()[0], json.dumps(report()[1]))
    model = TapeModel("tape", [Reply(raw=b"", calls=(language, drafted))])
    pausing = Interrupted(model, lambda: done(["agent", "pause", "Fix the sink"], home))
    wake_with(home, agent_id, pausing)
    (wake,) = told(["wakes"], home)
    assert (wake["outcome"], wake["error_code"], wake["report"]) == ("skipped", "dormant", None)
    assert told(["task", "show", "Fix the sink"], home)["language"] is None
    assert proved(home)


def test_a_wake_whose_process_is_gone_goes_on_under_its_run_key(home: Path) -> None:
    def dies() -> None:
        raise Died

    agent_id = agent(home)
    with pytest.raises(Died):
        wake_with(home, agent_id, Interrupted(RulesModel(), dies))
    assert shown(home)["run_status"] == "running"
    (wake,) = told(["wake"], home, env=at(LATER))
    assert (wake["reason"], wake["outcome"]) == ("creation", "completed")
    assert proved(home)


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
    assert proved(home)


@pytest.mark.parametrize("name", ["tokens_per_wake", "tokens_per_day"])
def test_each_budget_counts(home: Path, tmp_path: Path, name: str) -> None:
    agent(home)
    (home / "settings.toml").write_text(f"[budget]\n{name} = 5\n", encoding="utf-8")
    many = reply(("record_observations", {"observations": ["x"]}), tokens=5)
    (wake,) = waits(["--model", tape(tmp_path / "tape.jsonl", many, reply()), "wake"], home)
    assert (wake["waits_for"], wake["waits_until"]) == ("budget", "2027-01-02T00:00:00.000000Z")
    assert proved(home)


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
    assert proved(home)


def test_proposals_expire_when_their_time_is_over(home: Path) -> None:
    agent(home)
    (home / "settings.toml").write_text("[agents]\nexpire_after_days = 2\n", encoding="utf-8")
    done(["wake"], home)
    done(["defer", "1.1"], home)
    done(["wake"], home, env=at("2027-01-02T09:00:00Z"))
    assert len(inbox(home)) == 2
    done(["wake"], home, env=at("2027-01-04T09:00:00Z"))
    assert inbox(home) == []
    statuses = [item["status"] for item in inbox(home, "--all")]
    assert statuses == ["deferred", "expired", "expired"]
    assert proved(home)


def test_the_code_of_a_fault_floods_no_list(home: Path) -> None:
    """A model says what it likes, a code of a hundred thousand letters, too."""
    agent(home)
    model = tape(home.parent / "long.jsonl", fault("w" * 100_000, of_provider=False))
    for args in (["wake"], ["wakes"], ["status"], ["agent", "list"]):
        assert len(run(["--model", model, *args], home).output) < 2_000, args

"""`wakelog export --inspect`: read back with Inspect's own reader, and held against the log."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, refused, run, told
from tests.support.homes import Homes
from tests.support.inspecting import read_logs
from tests.support.waking import agent, fault, inbox, reply, report, tape

GARBAGE = ("update_task_estimate", "{not json")
ROCKET = ("launch_rocket", {"to": "the moon"})
DUE = ("update_task_due_date", {"dueDate": "2027-02-12", "because": "so"})
P0 = ("update_task_priority", {"priority": "P0"})
HOUR = ("update_task_estimate", {"minutes": 60})


def lived(home: Path) -> None:
    agent(home)
    lines = (
        reply(ROCKET, GARBAGE, DUE, HOUR, text="Let me see.", tokens=40),
        reply(report(), tokens=60),
        reply(text="Nothing more."),
    )
    done(["--model", tape(home / "first.jsonl", *lines), "wake"], home)
    refs = [item["ref"] for item in inbox(home)]
    done(["confirm", refs[0]], home)
    done(["reject", refs[1], "--reason", "I know"], home)
    broken = tape(home / "second.jsonl", fault("blocked", of_provider=False))
    done(["agent", "set", "Fix the sink", "--model", broken], home)
    assert run(["wake", "Fix the sink"], home).exit_code == 1


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """One wake with refused calls and two decided proposals, and one that failed."""
    return homes.copy(lived, tmp_path / "home")


def exported(home: Path, folder: Path) -> list[Any]:
    done(["export", "--inspect", str(folder)], home)
    return read_logs(folder)


def test_every_wake_is_a_sample_of_its_template_and_model(home: Path, tmp_path: Path) -> None:
    found = exported(home, tmp_path / "out")
    wakes = {one["run_key"]: one for one in told(["wakes"], home)}
    assert {one.eval.model for one in found} == {one["model"] for one in wakes.values()}
    samples = {sample.id: (log, sample) for log in found for sample in log.samples}
    assert set(samples) == set(wakes)
    for run_key, (log, sample) in samples.items():
        assert log.status == "success"
        assert log.eval.model == wakes[run_key]["model"]
        assert sample.metadata["reason"] == wakes[run_key]["reason"]
        assert sample.metadata["task"] == "Fix the sink"
        assert (sample.error is not None) == (wakes[run_key]["outcome"] == "failed")


def test_a_sample_holds_what_the_model_was_shown_and_said(home: Path, tmp_path: Path) -> None:
    sample = first_sample(home, tmp_path)
    prompt = told(["show", str(sample.id), "--prompt"], home)
    system, user = ("\n\n".join(one["text"] for one in prompt[half]) for half in ("system", "user"))
    assert [one.text for one in sample.input] == [system, user]
    said = [(one.role, one.text) for one in sample.messages[2:]]
    steps = told(["show", str(sample.id)], home)["steps"]
    recorded = []
    for step in steps:
        if step["kind"] == "wake.model_answered.1":
            recorded.append(("assistant", step["data"]["text"] or ""))
        elif step["kind"] == "wake.tool_returned.1":
            recorded.append(("tool", step["data"]["message"]))
    assert said == recorded
    asked = [one for one in sample.events if one.event == "model"]
    assert [len(one.input) for one in asked] == [2, 7, 9]
    assert "update_report" in {tool.name for tool in asked[0].tools}


def test_calls_are_told_with_what_they_came_to(home: Path, tmp_path: Path) -> None:
    sample = first_sample(home, tmp_path)
    calls = [one for one in sample.events if one.event == "tool"]
    found = [(one.function, one.error.type if one.error else "", one.metadata["status"])
             for one in calls]  # fmt: skip
    assert found == [
        ("launch_rocket", "permission", "denied"),
        ("update_task_estimate", "permission", "denied"),
        ("update_task_due_date", "", "queued"),
        ("update_task_estimate", "", "queued"),
        ("update_report", "", "success"),
    ]
    assert calls[2].arguments == DUE[1]
    made = [call for one in sample.messages for call in getattr(one, "tool_calls", None) or ()]
    assert [one.id for one in made] == [one.id for one in calls]
    assert [bool(one.parse_error) for one in made] == [False, True, False, False, False]


def test_verdicts_are_scores_and_tokens_are_usage(home: Path, tmp_path: Path) -> None:
    sample = first_sample(home, tmp_path)
    assert sample.scores["accepted"].value == 0.5
    assert sample.scores["completed"].value == 1
    assert sample.model_usage == {}  # the last turn did not say what it took
    facts = [one.data["fact"] for one in sample.events if one.event == "info"]
    assert facts.count("changes.item_confirmed.1") == 1
    assert facts.count("changes.item_rejected.1") == 1


def test_acceptance_is_weighted_by_items_and_agents_are_its_clusters(tmp_path: Path) -> None:
    """One agent's item is confirmed, three of another are rejected: a quarter, and not a half."""
    home = tmp_path / "home"
    agent(home)
    done(["task", "add", "Paint the door"], home)
    done(["agent", "create", "--task", "Paint the door"], home)
    for nth, calls in enumerate([(HOUR,), (HOUR, DUE, P0)]):
        lines = reply(*calls, report()), reply(text="Nothing more.")
        made = tape(home / "model.jsonl", *lines)
        done(["--model", made, "wake", ("Fix the sink", "Paint the door")[nth]], home)
    first, *others = (item["ref"] for item in sorted(inbox(home), key=lambda one: one["ref"]))
    done(["confirm", first], home)
    for one in others:
        done(["reject", one], home)
    (log,) = exported(home, tmp_path / "out")
    accepted = next(one for one in log.results.scores if one.name == "accepted")
    metrics = {name: one.value for name, one in accepted.metrics.items()}
    assert metrics == {"mean": 0.25, "items": 4, "stderr": pytest.approx(0.375)}
    assert log.eval.metadata.keys() >= {"template_id", "template", "template_version"}


def test_wakes_without_their_texts_are_told_of_no_task(home: Path, tmp_path: Path) -> None:
    said = run(["export", "--inspect", str(tmp_path / "out"), "--redact"], home).stderr
    assert "Texts, names and ids were rewritten" in said
    found = read_logs(tmp_path / "out")
    assert sum(len(one.samples) for one in found) == 2
    for text in ("sink", "Let me see", "I know"):
        assert not any(text in one.model_dump_json() for one in found)


def test_a_failed_wake_says_why(home: Path, tmp_path: Path) -> None:
    (sample,) = (
        one for log in exported(home, tmp_path / "out") for one in log.samples if one.error
    )
    assert "blocked" in sample.error.message
    assert sample.scores["completed"].value == 0
    assert "accepted" not in sample.scores
    (asked,) = (one for one in sample.events if one.event == "model")
    assert asked.error == "no answer"


def test_exporting_again_replaces_the_files(home: Path, tmp_path: Path) -> None:
    first = exported(home, tmp_path / "out")
    again = exported(home, tmp_path / "out")
    assert [one.model_dump() for one in again] == [one.model_dump() for one in first]


def test_the_document_names_the_files(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    document = told(["export", "--inspect", str(folder)], home)
    assert {one["file"] for one in document["files"]} == {one.name for one in folder.iterdir()}
    assert sum(one["wakes"] for one in document["files"]) == 2


def test_without_wakes_nothing_is_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Alone"], home)
    assert done(["export", "--inspect", str(tmp_path / "out")], home).startswith("No wakes yet.")


def test_a_folder_that_cannot_be_written_is_said(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    line = refused(["export", "--inspect", str(tmp_path / "file" / "out")], home)
    assert "cannot be written" in line


def test_without_the_extra_it_says_what_to_install(home: Path) -> None:
    code = (
        "import sys; sys.modules['inspect_ai'] = None\n"
        "from adapters.cli.main import main\n"
        f"sys.argv = ['wakelog', '--home', {str(home)!r}, 'export', '--inspect', 'out']\n"
        "main()"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "pip install 'wakelog[inspect]'" in ended.stderr


def first_sample(home: Path, tmp_path: Path) -> Any:
    found = [one for log in exported(home, tmp_path / "out") for one in log.samples]
    return next(one for one in found if not one.error)

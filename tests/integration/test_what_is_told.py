"""What scaffold 2 tells an agent, in whole homes: the talk so far, the clock, later values."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.proof import histories
from adapters.proof.histories import History
from adapters.simulation.plan import plan
from adapters.simulation.play import history_of
from domain.append import envelope
from domain.wake.commands import BeginWake, LocalTime
from replay.appends import appends
from tests.support.cli import done, proved, run, told
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import SIGNATURE, GeminiServer, answer, call, serving, text
from tests.support.waking import agent, at, inbox, sink

REPORT = {"content": "A plumber comes.", "tldr": "On its way.", "oneLiner": "On track"}
SINK = "Fix the sink"
TALK = (
    ("How long does it take?", "It takes 45 minutes."),
    ("Who can do it?\n## Task\nme?", "Kim, a plumber."),
    ("And what if not?", "Then Robin."),
    ("What does it cost?", "About 90."),
    ("What did I ask first?", "How long it takes: 45 minutes."),
)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A home after a talk of five turns, its questions' run keys, and what Gemini was sent."""
    home = tmp_path_factory.mktemp("talk") / "home"
    script = [answer(call("update_report", REPORT, signature=SIGNATURE)), answer(text("Done."))]
    for nth, (_, said) in enumerate(TALK):
        if nth == 1:  # what a tool says is no part of the talk
            noted = {"observations": ["Kim is the plumber of the house."]}
            script.append(answer(call("record_observations", noted, signature=SIGNATURE)))
        script.append(answer(text(said)))
    with pytest.MonkeyPatch.context() as patch, serving(*script) as server:
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setitem(sys.modules, "keyring", None)
        agent(home)
        agreed(home)
        done(["--model", "gemini", "wake"], home, env=environment(server))
        keys = [_asked(home, server, words, nth) for nth, (words, _) in enumerate(TALK)]
    return home, keys, server


def _asked(home: Path, server: GeminiServer, words: str, nth: int) -> str:
    command = ["--model", "gemini", "agent", "ask", SINK, words, "--session", "kitchen"]
    environ = environment(server) | at(f"2027-01-0{nth + 2}T09:00:00Z")
    return str(told(command, home, env=environ)["run_key"])


def prompt_of(home: Path, run_key: str) -> dict[str, str]:
    """The sections of the user part that a wake was shown, without their headings."""
    document = told(["show", run_key, "--prompt"], home)
    return {one["name"]: one["text"].partition("\n\n")[2] for one in document["user"]}


def test_the_fifth_question_is_sent_with_the_first(talk: Any) -> None:
    home, keys, server = talk
    sent = "".join(part["text"] for part in server.sent[-1].contents[0]["parts"])
    section = prompt_of(home, keys[4])["thread"]
    assert f"## Earlier in this session\n\n{section}\n\n" in sent
    turns = json.loads(section)
    assert [one["person"] for one in turns][::2] == [TALK[0][0], TALK[2][0]]
    assert [one["you"] for one in turns] == [said for _, said in TALK[:4]]
    assert turns[1]["person"] == "Who can do it?\n#### Task\nme?"
    days = ["Sat 2027-01-02", "Sun 2027-01-03", "Mon 2027-01-04", "Tue 2027-01-05"]
    assert [one["at"][:14] for one in turns] == days
    assert "Kim is the plumber of the house." not in section, "no results of tools"
    assert "thread" not in prompt_of(home, keys[0])


def test_a_talk_is_proved_replayed_and_forked(talk: Any) -> None:
    home, keys, _ = talk
    assert proved(home)
    for key in keys:
        assert run(["replay", key], home).exit_code == 0
    forked = told(["fork", keys[2]], home)
    assert forked["diff"]["same"]
    assert {one["how"] for one in forked["answers"]} == {"recorded"}
    assert len(json.loads(prompt_of(Path(forked["home"]), forked["forked_run_key"])["thread"])) == 2
    assert proved(Path(forked["home"]))


def test_another_session_and_a_wake_without_a_question_know_nothing_of_it(talk: Any) -> None:
    home, _, _ = talk
    other = told(["--model", "rules", "agent", "ask", SINK, "Well?", "--session", "attic"], home)
    woken = told(["--model", "rules", "wake", SINK], home)
    for page in (other, woken):
        assert "thread" not in prompt_of(home, page["run_key"])


# ----------------------------------------------------------------------------------------- clock


def clocks(history: History) -> list[LocalTime | None]:
    """What the wakes of a history were told of the person's clock."""
    first = [one.facts[0] for one in appends(history.rows["agent"])]
    causes = [envelope.cause_of(one)[0] for one in first]
    return [one.local for one in causes if isinstance(one, BeginWake)]


def test_the_clock_of_each_wake_outlives_export_redaction_and_fork(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    (home / "settings.toml").write_text('timezone = "Asia/Kathmandu"\n')
    run_key = told(["wake", SINK], home)["run_key"]
    clock = LocalTime("Friday", "2027-01-01T14:45", "Asia/Kathmandu", "+05:45")
    shown = "Friday 2027-01-01 14:45, Asia/Kathmandu (UTC+05:45)"
    assert prompt_of(home, run_key)["now"] == shown
    for options in ([], ["--redact"]):
        file = tmp_path / f"export{len(options)}.jsonl"
        done(["export-history", "--all", *options, "--out", str(file)], home)
        history = histories.read_history(file)
        assert set(clocks(history)) == {clock}
        assert histories.prove_history(history).ok
    forked = told(["fork", run_key], home, env=at("2027-06-01T09:00:00Z"))
    assert prompt_of(Path(forked["home"]), forked["forked_run_key"])["now"] == shown


def test_simulated_wakes_know_their_clock() -> None:
    told_to = clocks(history_of(plan("laws", 90)))
    assert told_to
    assert None not in told_to


# ---------------------------------------------------------------------------------------- values


def test_what_the_person_sets_after_a_note_is_not_proposed_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    sink(home, note="Due by 2027-02-01.")
    done(["agent", "create", SINK], home)
    done(["wake", SINK], home)
    assert [one["arguments"] for one in inbox(home)] == [{"dueDate": "2027-02-01"}]
    done(["reject", "1.1"], home)
    done(["task", "set", SINK, "--due", "2027-03-01"], home, env=at("2027-01-02T09:00:00Z"))
    done(["wake", SINK], home, env=at("2027-01-02T10:00:00Z"))
    assert inbox(home) == []
    newer = ["task", "note", SINK, "Due by 2027-02-15."]
    done(newer, home, env=at("2027-01-03T09:00:00Z"))
    done(["wake", SINK], home, env=at("2027-01-03T10:00:00Z"))
    assert [one["arguments"] for one in inbox(home)] == [{"dueDate": "2027-02-15"}]
    assert proved(home)

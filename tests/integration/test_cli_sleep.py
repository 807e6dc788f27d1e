"""`wakelog agent sleep` and `wakelog wake --cancel`."""

from pathlib import Path

from tests.support.cli import done, refused, run, told
from tests.support.waking import agent, at, fault, proposing, tape

LATER = at("2027-02-02T09:00:00Z")
UNTIL = "2027-02-01T00:00:00.000000Z"


def outcomes(home: Path) -> list[tuple[str, str]]:
    return [
        (one["outcome"] or one["state"], one["error_code"] or "") for one in told(["wakes"], home)
    ]


def test_an_agent_that_sleeps_keeps_its_triggers_and_wakes_when_the_date_has_come(
    home: Path,
) -> None:
    (agent_id,) = proposing(home)
    assert (
        told(["agent", "sleep", agent_id, "--until", "2027-02-01"], home)["asleep_until"] == UNTIL
    )
    done(["task", "note", "Fix the sink", "It drips again."], home)
    assert told(["wake"], home) == []
    assert "sleeps until 2027-02-01 00:00" in run(["wake"], home).output
    (queued,) = told(["status"], home)["queued"]
    assert (queued["due_at"], queued["asleep"]) == (UNTIL, True)
    assert ", asleep" in done(["status"], home)
    assert "Asleep:     until 2027-02-01 00:00" in done(["agent", "show", agent_id], home)
    ran = told(["wake"], home, env=LATER)
    assert [one["outcome"] for one in ran] == ["completed"]
    assert told(["agent", "show", agent_id], home, env=LATER)["asleep_until"] is None


def test_a_person_wakes_and_asks_who_sleeps_and_it_goes_on_sleeping(home: Path) -> None:
    (agent_id,) = proposing(home)
    asleep = done(["agent", "sleep", agent_id, "--until", "1.2.2027"], home)
    assert asleep.startswith("Asleep until 2027-02-01 00:00: ")
    assert told(["wake", agent_id], home)["outcome"] == "completed"
    assert told(["agent", "ask", agent_id, "What is left?"], home)["outcome"] == "completed"
    done(["task", "note", "Fix the sink", "It drips again."], home)
    assert told(["wake"], home) == []
    done(["agent", "sleep", agent_id, "--end"], home)
    assert len(told(["wake"], home)) == 1


def test_a_sleep_is_said_clearly(home: Path) -> None:
    (agent_id,) = proposing(home)
    assert "--until DATE" in refused(["agent", "sleep", agent_id], home)
    assert "later" in refused(["agent", "sleep", agent_id, "--until", "2026-12-31"], home)
    assert "no time" in refused(["agent", "sleep", agent_id, "--until", "soon"], home)


def test_a_queued_wake_is_cancelled_with_what_made_it(home: Path) -> None:
    agent_id = agent(home)
    cancelled = told(["wake", "--cancel", agent_id, "--key", "mine"], home)
    assert (cancelled["outcome"], cancelled["error_code"]) == ("skipped", "cancelled")
    again = told(["wake", "--cancel", agent_id, "--key", "mine"], home)
    assert again["run_key"] == cancelled["run_key"]
    assert told(["wake"], home) == []
    assert "nothing is queued" in refused(["wake", "--cancel", agent_id], home)
    assert "cancelled" in done(["wakes"], home)
    assert "name a task" in refused(["wake", "--cancel"], home)


def test_a_wake_that_has_begun_is_not_cancelled_and_what_stops_it_is_named(
    home: Path, tmp_path: Path
) -> None:
    agent_id = agent(home)
    model = tape(tmp_path / "tape.jsonl", fault())
    run(["--model", model, "wake"], home)
    line = refused(["wake", "--cancel", agent_id], home)
    assert "has begun" in line
    assert "wakelog agent pause" in line

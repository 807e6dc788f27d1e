"""Verdicts as people type them: sets by words, edits as options, all after a question, days."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.deciding import ref_of, results
from tests.support.homes import Homes
from tests.support.terminal import on_terminal
from tests.support.waking import agent, at, inbox, proposing, reply, report, tape


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """One agent whose first wake proposed a due date, an estimate and a priority."""
    return homes.copy(proposing, tmp_path / "home")


def task(home: Path) -> Any:
    return told(["task", "show", "Fix the sink"], home)


# --------------------------------------------------------------------------------- words for sets


def test_a_set_and_a_wake_are_named_by_the_words_of_their_task(home: Path) -> None:
    (one,) = told(["inbox"], home)
    assert results(["reject", "the SINK.1"], home)[0]["ref"] == "1.1"
    assert told(["show", "the sink"], home)["run_key"] == one["run_key"]
    done(["wake", "Fix the sink"], home)
    assert "the newest first" in refused(["show", "the sink"], home)
    line = refused(["reject", "the sonk.1"], home)
    assert 'the nearest: 1 "Fix the sink"' in line
    assert "[unknown_set]" in line


# --------------------------------------------------------------------- edits in words, and all


def test_an_edit_is_written_as_options_are(home: Path) -> None:
    estimate, due = ref_of(home, "update_task_estimate"), ref_of(home, "update_task_due_date")
    (one,) = results(["confirm", estimate, "--edit", "minutes=1h30"], home)
    assert one["summary"] == "Set estimate to 90 minutes"
    (one,) = results(["confirm", due, "--edit", "due=12.2.2027"], home)
    assert (one["status"], task(home)["due_date"]) == ("confirmed", "2027-02-12")
    assert proved(home)


@pytest.mark.parametrize("name", ["estimate", "estimate_minutes", "minutes"])
def test_an_edit_may_name_the_field_as_lists_do(home: Path, name: str) -> None:
    (one,) = results(
        ["confirm", ref_of(home, "update_task_estimate"), "--edit", f"{name}=90"], home
    )
    assert (one["status"], one["summary"]) == ("confirmed", "Set estimate to 90 minutes")
    due = ["confirm", ref_of(home, "update_task_due_date"), "--edit"]
    assert "[invalid_value]" in refused([*due, f"{name}=90"], home)
    assert results([*due, "due_date=12.2.2027"], home)[0]["status"] == "confirmed"


def test_several_edits_stand_behind_one_another_and_a_text_may_have_spaces(tmp_path: Path) -> None:
    home = tmp_path / "home"
    model = tape(
        tmp_path / "tape.jsonl",
        reply(("set_task_status", {"status": "BLOCKED", "reason": "No key"}), report()),
        reply(),
    )
    agent(home, "Fix the sink", "--model", model)
    done(["wake", "Fix the sink"], home)
    edit = ["confirm", "1.1", "--edit", "status=ON HOLD", "reason=Rain until spring"]
    assert results(edit, home)[0]["status"] == "confirmed"
    assert task(home)["status"] == "ON HOLD"
    assert "Rain until spring" in done(["task", "show", "Fix the sink"], home)
    assert "[invalid_value]" in refused(["confirm", "1.1", "--edit", "colour"], home)


@pytest.mark.parametrize(("answer", "status"), [("y", "rejected"), ("n", "pending")])
def test_all_that_is_meant_is_listed_and_asked_on_a_terminal(
    home: Path, answer: str, status: str
) -> None:
    count = len(inbox(home))
    with on_terminal(home, "reject", "--all") as terminal:
        listed = terminal.until(f"Reject {count} proposals? [y/N]: ")
        terminal.press(f"{answer}\n")
        assert terminal.ended()[0] == 0
    assert [line.split()[0] for line in listed.splitlines()] == [
        one["ref"] for one in inbox(home, "--all")
    ]
    assert {one["status"] for one in inbox(home, "--all")} == {status}


def test_who_says_yes_or_has_no_terminal_is_not_asked(home: Path) -> None:
    with on_terminal(home, "reject", "--all", "--yes") as terminal:
        status, seen = terminal.ended()
    assert (status, "[y/N]" in seen) == (0, False)
    assert {one["status"] for one in inbox(home, "--all")} == {"rejected"}


def test_a_second_reason_is_not_dropped_in_silence(home: Path) -> None:
    done(["reject", "1.1"], home)
    told_so = run(["reject", "1.1", "--reason", "We have one"], home)
    assert "1.1 was rejected before without one; that stays." in told_so.stderr


# ------------------------------------------------------------------------------- put off until ...


def test_what_is_put_off_until_a_day_waits_again_from_then_on(home: Path) -> None:
    (one,) = told(["inbox"], home)
    refs = [item["ref"] for item in one["items"]]
    done(["defer", *refs, "--until", "monday"], home)
    assert told(["inbox"], home) == []
    assert "put off" in done(["inbox"], home)
    assert {item["until"] for item in inbox(home, "--all")} == {"2027-01-04T00:00:00.000000Z"}
    then = at("2027-01-04T00:00:00Z")
    (back,) = told(["inbox"], home, env=then)
    assert [item["ref"] for item in back["items"]] == refs
    assert "[deferred until 2027-01-04" in done(["inbox"], home, env=then)
    later = results(["defer", refs[0], "--until", "+7d"], home)  # put off again, further
    assert later[0]["unchanged"] is False
    assert results(["defer", refs[0]], home)[0]["unchanged"] is True
    (back,) = told(["inbox"], home, env=then)
    assert [item["ref"] for item in back["items"]] == refs[1:]
    done(["reject", "--all"], home, env=then)
    assert [item["status"] for item in inbox(home, "--all")].count("rejected") == len(refs) - 1
    assert proved(home)


def test_a_day_that_is_over_puts_nothing_off(home: Path) -> None:
    assert "give a day or a time to come" in refused(["defer", "1.1", "--until", "yesterday"], home)
    assert told(["inbox"], home)[0]["items"][0]["status"] == "pending"

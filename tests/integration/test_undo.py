"""`wakelog undo`: the newest deed is taken back whole, and never over what came after."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from adapters.runtime import review
from adapters.wiring import open_home
from domain.changes.commands import ReopenItem
from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.deciding import ref_of, results
from tests.support.process import command, environ
from tests.support.waking import at, inbox, proposing, sink

SINK = "Fix the sink"


def page(home: Path) -> Any:
    """What a task says; what only grows, or was put away, is left out."""
    shown = told(["task", "show", SINK], home)
    left_out = {"history", "updated_at", "notes", "checklists"}
    items = [one["title"] for one in shown["items"] if not one["archived"]]
    notes = [one["text"] for one in shown["notes"]]
    kept = {name: value for name, value in shown.items() if name not in left_out}
    return {**kept, "items": items, "notes": notes}


EDITS = [
    ["task", "set", SINK, "--due", "2027-03-01", "--estimate", "2h", "--language", "de"],
    ["task", "set", SINK, "--status", "BLOCKED", "--reason", "No parts"],
    ["task", "set", SINK, "--description", "New", "--category", "Work"],
    ["done", SINK],
    ["task", "item", "add", SINK, "Seal", "Pipe"],
    ["task", "check", SINK, "1", "2"],
    ["task", "item", "rename", SINK, "1", "Cut"],
    ["task", "item", "archive", SINK, "1"],
    ["task", "note", SINK, "Ann knows"],
    ["task", "note", SINK, "Bob knows", "--edit", "1"],
    ["task", "note", SINK, "--remove", "1"],
    ["label", "assign", SINK, "urgent"],
    ["label", "suppress", SINK, "urgent"],
    ["task", "link", SINK, "blocks", "Paint"],
]


def prepared(home: Path) -> None:
    sink(home)
    done(["task", "add", "Paint"], home)
    done(["category", "add", "Work"], home)
    done(["label", "add", "urgent"], home)
    done(["task", "item", "add", SINK, "Saw", "Drill"], home)


@pytest.mark.slow
def test_every_edit_is_taken_back_and_done_again(home: Path) -> None:
    prepared(home)
    for line in EDITS:
        before = page(home)
        done(line, home)
        after = page(home)
        assert after != before, line
        redo = told(["undo"], home)["redo"]
        assert page(home) == before, line
        done(redo.split()[1:], home)
        assert page(home) == after, line
        done(["undo"], home)
    proved(home)


def test_undo_goes_one_deed_further_back_each_time_and_then_says_so(home: Path) -> None:
    assert "nothing to undo" in refused(["undo"], home)
    assert "Nothing to undo." in done(["undo", "--list"], home)
    sink(home)
    states = [page(home)]
    for day in ("2027-03-01", "2027-03-02"):
        done(["task", "set", SINK, "--due", day], home)
        states.append(page(home))
    assert "Set the due back to “2027-03-01”" in done(["undo", "--key", "k"], home)
    done(["undo", "--key", "k"], home)  # a retry
    assert page(home) == states[1]
    done(["undo"], home)
    assert page(home) == states[0]
    done(["undo"], home)  # the note
    assert "Delete" in done(["undo"], home)
    assert told(["task", "list"], home) == []
    assert "nothing to undo" in refused(["undo"], home)
    proved(home)


def test_what_was_changed_since_is_not_overwritten_and_an_older_deed_has_a_name(
    home: Path,
) -> None:
    proposing(home)
    done(["task", "set", SINK, "--priority", "P1"], home)
    done(["confirm", ref_of(home, "update_task_estimate")], home)
    done(["task", "set", SINK, "--estimate", "25"], home)
    done(["undo"], home)
    done(["task", "set", SINK, "--estimate", "30"], home)
    deeds = told(["undo", "--list"], home)["deeds"]
    assert [one["state"] for one in deeds[:3]] == ["open", "moved", "open"]
    assert "changed since" in refused(["undo", deeds[1]["ref"]], home)
    assert page(home)["estimate_minutes"] == 30
    done(["undo", deeds[2]["ref"]], home)
    assert page(home)["priority"] == "P2"
    assert "none of the deeds" in refused(["undo", "j9999"], home)
    proved(home)


def test_all_that_one_command_did_is_one_deed(home: Path) -> None:
    proposing(home, SINK, "Paint")
    before = told(["task", "list"], home)
    count = len(inbox(home))
    done(["confirm", "--all", "--yes"], home)
    done(["undo"], home)
    assert [one["due_date"] for one in told(["task", "list"], home)] == [
        one["due_date"] for one in before
    ]
    done(["task", "add", "New", "--item", "One", "--description", "Two"], home)
    done(["done", SINK, "Paint"], home)
    done(["undo"], home)
    assert {one["status"] for one in told(["task", "list"], home)} == {"OPEN"}
    done(["undo"], home)
    assert len(told(["task", "list"], home)) == len(before)
    assert count
    proved(home)


def test_a_rejection_and_a_deferral_are_before_the_person_again(home: Path) -> None:
    proposing(home)
    before = inbox(home)
    refs = [one["ref"] for one in before]
    done(["defer", refs[0]], home)
    done(["reject", *refs[1:], "--reason", "no"], home)
    assert inbox(home) == []
    assert "wakelog reject" in told(["undo"], home)["redo"]
    done(["undo"], home)
    assert inbox(home) == before
    ref = ref_of(home, "update_task_estimate")
    results(["confirm", ref], home)
    results(["reject", refs[-1]], home)  # once more, by another operation
    done(["undo"], home)
    done(["undo"], home)
    assert page(home)["estimate_minutes"] is None
    proved(home)


def accepted(home: Path) -> tuple[int, float | None]:
    """How many confirmations lessons count, and which part of all that was decided was accepted."""
    (metrics,) = told(["metrics"], home)
    learnt = sum(one["confirmed"] for one in told(["lessons"], home))
    return learnt, metrics["acceptance_rate"]


def test_confirmations_are_undone_as_one_and_no_longer_counted_and_given_again(home: Path) -> None:
    proposing(home)
    before, open_before = page(home), inbox(home)
    refs = [one["ref"] for one in open_before]
    done(["confirm", *refs], home)
    confirmed = page(home)
    assert accepted(home) == (len(refs), 1.0)
    undone = told(["undo"], home)
    assert undone["undone"]["proposals"] == refs
    assert (page(home), accepted(home)) == (before, (0, None))
    assert [one["undone"] for one in inbox(home)] == [True] * len(refs)
    assert [{**one, "undone": False} for one in inbox(home)] == open_before
    assert "[undone]" in done(["inbox"], home)
    assert undone["redo"] == f"wakelog confirm {' '.join(refs)}"
    again = done(undone["redo"].split()[1:], home)
    assert "already" not in again
    assert (page(home), accepted(home)) == (confirmed, (len(refs), 1.0))
    done(["undo"], home)
    done(["reject", refs[0]], home)
    assert accepted(home) == (0, 0.0)
    proved(home)


def test_an_undo_of_a_confirmation_that_moved_is_told_and_it_stays_confirmed(home: Path) -> None:
    proposing(home)
    ref = ref_of(home, "update_task_estimate")
    done(["confirm", ref], home)
    name = told(["undo", "--list"], home)["deeds"][0]["ref"]
    done(["task", "set", SINK, "--estimate", "25"], home)
    assert "changed since" in refused(["undo", name], home)
    assert ref not in [one["ref"] for one in inbox(home)]
    assert "already" in done(["confirm", ref], home)


def labelled(home: Path) -> str:
    sink(home)
    done(["label", "add", "urgent"], home)
    done(["agent", "create", SINK], home)
    done(["wake"], home)
    return ref_of(home, "assign_task_label")


def test_a_declined_label_is_allowed_again_and_a_crash_between_is_taken_up(home: Path) -> None:
    ref = labelled(home)
    for _ in range(2):
        done(["reject", ref], home)
        assert page(home)["suppressed_labels"] == ["urgent"]
        done(["undo"], home)
        assert page(home)["suppressed_labels"] == []
    done(["reject", ref], home)
    opened = open_home(home, {**os.environ, **FIXED}, is_writing=True)
    (set_id,) = {one["id"] for one in told(["inbox", "--all"], home)}
    number = int(ref.split(".")[1])
    services = opened.services
    services.append_agent(ReopenItem(set_id, number, "person", services.journal.tail().n))
    asked = review.changes_of(services, set_id).items[number - 1].asked
    opened.close()
    assert asked is not None
    assert page(home)["suppressed_labels"] == ["urgent"]
    done(["recover"], home)
    assert page(home)["suppressed_labels"] == []
    results(["confirm", ref], home)
    assert page(home)["labels"] == ["urgent"]
    proved(home)


def test_a_verdict_whose_set_has_expired_can_be_taken_back_and_expires_then(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text("[agents]\nexpire_after_days = 3\n")
    proposing(home)
    done(["reject", inbox(home)[0]["ref"]], home)
    late = at("2027-06-01T09:00:00Z")
    done(["recover"], home, env=late)
    assert inbox(home) == []
    done(["undo"], home, env=late)
    assert len(inbox(home)) == 1
    done(["recover"], home, env=late)
    assert inbox(home) == []
    proved(home)


def test_an_import_is_undone_as_one_and_time_is_told_to_stay(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "todo.md"
    file.write_text("- [ ] One\n- [ ] Two\n")
    done(["import", str(file)], home)
    done(["task", "time", "One", "--start", "2026-12-31T09:00", "--end", "2026-12-31T10:00"], home)
    text = done(["undo"], home)
    assert "Not undone: log time" in text
    assert "task retime" in text
    assert "left alone" in text
    assert [one["title"] for one in told(["task", "list"], home)] == ["One"]
    proved(home)


@pytest.mark.slow
def test_two_processes_that_undo_at_once_undo_two_deeds_or_one_is_refused(home: Path) -> None:
    sink(home)
    for day in ("2027-03-01", "2027-03-02", "2027-03-03"):
        done(["task", "set", SINK, "--due", day], home)
    env = environ(home, {"WAKELOG_REPLICA": "r1"})
    runs = [subprocess.Popen(command("undo"), env=env, stdout=-1, stderr=-1) for _ in range(2)]
    for one in runs:
        one.communicate()
    codes = sorted(one.returncode for one in runs)
    assert codes in ([0, 0], [0, 2])
    assert page(home)["due_date"] == ("2027-03-01" if codes == [0, 0] else "2027-03-02")
    proved(home)


@pytest.mark.slow
def test_a_fork_in_which_the_undone_verdict_was_another_undoes_nothing_else(home: Path) -> None:
    proposing(home)
    ref = ref_of(home, "update_task_estimate")
    done(["confirm", ref], home)
    done(["task", "set", SINK, "--due", "2027-03-03"], home)  # where the confirm was, in the fork
    done(["undo", told(["undo", "--list"], home)["deeds"][1]["ref"]], home)
    done(["task", "note", SINK, "Call Ann."], home)
    done(["wake", SINK], home)
    wake = told(["wakes"], home)[0]["run_key"]
    fork = told(["fork", wake, "--verdict", f"{ref}=reject", "--model", "rules"], home)
    branch = Path(fork["home"])
    found = page(branch)
    assert (found["due_date"], found["estimate_minutes"]) == ("2027-03-03", None)
    for _ in ("the note", "the day"):
        done(["undo"], branch)
    assert told(["undo"], branch)["undone"]["proposals"] == [ref]
    assert ref in [one["ref"] for one in inbox(branch)]
    proved(branch)


def test_help_tells_how(home: Path) -> None:
    assert "one deed further back" in run(["undo", "--help"], home).stdout

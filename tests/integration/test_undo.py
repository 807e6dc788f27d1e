"""`wakelog undo`: the newest deed is taken back whole, and never over what came after."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import wakelog
from adapters.home.files import RUNTIME
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
    assert [one["state"] for one in deeds[:4]] == ["open", "undone", "moved", "open"]
    assert "changed since" in refused(["undo", deeds[2]["ref"]], home)
    assert page(home)["estimate_minutes"] == 30
    done(["undo", deeds[3]["ref"]], home)
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
    done(["undo", "--yes"], home, env=late)
    assert len(inbox(home)) == 1
    done(["recover"], home, env=late)
    assert inbox(home) == []
    proved(home)


def test_an_import_is_undone_as_one_and_a_rating_is_told_to_stay(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "todo.md"
    file.write_text("- [ ] One\n- [ ] Two\n")
    done(["import", str(file)], home)
    done(["task", "rate", "One", "4"], home)
    newer = "Not undone: rate task of “One”: the rating stays: rate again to replace it"
    wanted = "before it: the import of todo.md, 2 tasks, just now; `wakelog undo j2`"
    assert f"{newer}; {wanted}" in refused(["undo"], home)
    text = done(["undo", "--yes"], home)
    assert newer in text
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
    assert "done elsewhere" in refused(["undo"], branch)  # in the home that it is a fork of
    for _ in ("the note", "the day"):
        done(["undo", "--yes"], branch)
    assert told(["undo", "--yes"], branch)["undone"]["proposals"] == [ref]
    assert ref in [one["ref"] for one in inbox(branch)]
    proved(branch)


def test_undo_takes_back_start_done_and_stop_one_after_the_other_and_never_sticks(
    home: Path,
) -> None:
    sink(home)
    done(["task", "timer", "start", SINK], home)
    assert "Fix the sink (timer runs)" in done(["task", "list"], home)
    later = at("2027-01-01T09:25:01Z")
    status = done(["status"], home, env=later)
    assert "timer      Fix the sink, since 2027-01-01 09:00 (25 min)" in status
    assert told(["status"], home)["timers"][0]["title"] == SINK
    assert "(timer stopped after 25 min)" in done(["done", SINK], home, env=later)
    assert "nothing_running" in refused(["task", "timer", "stop"], home, env=later)
    text = done(["undo"], home, env=at("2027-01-01T09:30:01Z"))
    assert "Let the timer run on (30 min by now)" in text
    done(["task", "timer", "stop"], home, env=at("2027-01-01T09:40:01Z"))
    late = at("2027-01-01T09:45:01Z")
    assert "Let the timer run on (45 min by now)" in done(["undo"], home, env=late)
    assert "Take the time entry away" in done(["undo"], home, env=late)
    assert "Take the note away again" in done(["undo"], home, env=late)
    done(["undo"], home, env=late)
    assert told(["task", "list"], home) == []
    proved(home)


def test_concluding_tells_how_long_its_timer_ran(home: Path) -> None:
    sink(home)
    done(["task", "timer", "start", SINK], home)
    line = ["task", "conclude", SINK, "--follow-up", "Paint"]
    assert "stopped after 1h30m); added" in done(line, home, env=at("2027-01-01T10:30:01Z"))


def test_what_changed_nothing_is_said_and_the_deed_before_it_is_not_taken_for_it(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "b.md"
    file.write_text("- [ ] One\n- [x] Two\n")
    done(["import", str(file)], home)
    later = at("2027-01-01T09:10:00Z")
    for key in ([], ["--key", "k"]):
        assert "Nothing to change" in done(["done", "Two", *key], home, env=later)
        because = refused(["undo"], home, env=later)
        assert "Nothing to take back in `done` of “Two”" in because
        assert "before it: the import of b.md, 2 tasks, 10 min ago; `wakelog undo j2`" in because
    assert len(told(["task", "list"], home)) == 2
    done(["undo", "j2"], home)
    assert told(["task", "list"], home) == []


@pytest.mark.parametrize(("clock", "is_asked"), [("10:00:00", False), ("10:00:01", True)])
def test_what_is_older_than_an_hour_is_asked_for(home: Path, clock: str, is_asked: bool) -> None:
    done(["task", "add", SINK], home)
    late = at(f"2027-01-01T{clock}Z")
    if is_asked:
        assert "1 h ago; `wakelog undo j2` takes that back" in refused(["undo"], home, env=late)
    else:
        done(["undo"], home, env=late)


def test_more_than_ten_tasks_are_asked_for_and_a_name_or_a_yes_answers(
    home: Path, tmp_path: Path
) -> None:
    for count, name in ((10, "ten.md"), (11, "eleven.md"), (11, "more.md")):
        file = tmp_path / name
        file.write_text("".join(f"- [ ] {name} {nth}\n" for nth in range(count)))
        done(["import", str(file)], home)
    assert "the import of more.md, 11 tasks, just now" in refused(["undo"], home)
    assert "11 tasks" in run(["undo", "--json"], home).stderr
    done(["undo", "--yes"], home)
    newest = told(["undo", "--list"], home)["deeds"]
    assert [(one["state"], one["task_count"]) for one in newest] == [
        ("undone", 11),
        ("open", 11),
        ("open", 10),
    ]
    assert newest[0]["again"].startswith("wakelog undo j")
    done(["undo", newest[1]["ref"]], home)
    done(["undo"], home)
    assert told(["task", "list"], home) == []


def test_who_did_it_is_known_by_a_file_that_may_go_and_unknown_is_elsewhere(
    home: Path, tmp_path: Path
) -> None:
    sink(home)
    done(["task", "set", SINK, "--due", "2027-03-01"], home)
    (home / RUNTIME).write_bytes(b"no database at all")
    assert "done elsewhere" in refused(["undo"], home)
    (home / RUNTIME).unlink()
    assert "done elsewhere" in refused(["undo"], home)
    file = tmp_path / "two.md"
    file.write_text("- [ ] One\n- [ ] Two\n")
    with wakelog.open_home(home, environ=FIXED) as opened:
        opened.import_file(file)
    assert "done by a program" in refused(["undo"], home)


def test_an_undo_under_a_key_is_not_asked_for_twice(home: Path) -> None:
    sink(home)
    assert told(["undo", "--key", "k"], home)["undone"]["ref"] == "j3"
    late = at("2027-06-01T09:00:00Z")
    assert told(["undo", "--key", "k"], home, env=late)["repeated"]


def test_what_was_undone_stays_in_the_list_with_what_does_it_again(home: Path) -> None:
    proposing(home)
    ref = inbox(home)[0]["ref"]
    done(["reject", ref], home)
    done(["undo"], home)
    (newest, *_) = told(["undo", "--list"], home)["deeds"]
    assert (newest["state"], newest["again"]) == ("undone", f"wakelog reject {ref}")
    assert f"again with `wakelog reject {ref}`" in done(["undo", "--list"], home)


def test_a_file_that_says_done_or_is_without_a_task_stops_its_timer_and_undo_goes_on(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "todo.md"
    for text, more in (("- [x] One\n- [ ] Two\n", []), ("- [ ] Two\n", ["--gone", "reject"])):
        file.write_text("- [ ] One\n- [ ] Two\n")
        done(["import", str(file)], home)
        done(["task", "timer", "start", "One"], home)
        file.write_text(text)
        done(["import", str(file), *more], home)
        assert told(["status"], home)["timers"] == []
        done(["undo"], home)
        assert [one["title"] for one in told(["status"], home)["timers"]] == ["One"]
        done(["undo"], home)
    proved(home)


def test_an_import_that_is_done_again_has_its_labels_again(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "todo.md"
    file.write_text("- [ ] One #fresh\n")
    done(["import", str(file)], home)
    redo = told(["undo"], home)["redo"]
    assert told(["label", "list"], home) == []
    done(redo.split()[1:], home)
    assert [one["name"] for one in told(["label", "list"], home)] == ["fresh"]
    proved(home)


def test_help_tells_how(home: Path) -> None:
    assert "one deed further back" in run(["undo", "--help"], home).stdout

"""`wakelog undo`: the newest deed is taken back whole, and never over what came after."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import wakelog
from adapters.home.files import RUNTIME
from adapters.home.origin import origin_text, terminal_session
from adapters.runtime import review
from adapters.wiring import open_home
from domain.changes.commands import ReopenItem
from tests.support import checker
from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.deciding import ref_of, results
from tests.support.forms import forms
from tests.support.homes import Homes
from tests.support.pages import decided_by, refs, visiting
from tests.support.process import command, ended, environ
from tests.support.terminal import on_terminal
from tests.support.waking import at, inbox, proposing, sink

# -------------------------------------------------------------------------------------------- deeds


SINK = "Fix the sink"


def page(home: Path) -> Any:
    """What a task says; what only grows, or was put away, is left out."""
    shown = told(["task", "show", SINK], home)
    left_out = {"history", "updated_at", "notes", "checklists"}
    items = [one["title"] for one in shown["items"] if not one["archived"]]
    notes = [one["text"] for one in shown["notes"]]
    kept = {name: value for name, value in shown.items() if name not in left_out}
    return {**kept, "items": items, "notes": notes}


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


def test_what_was_changed_since_is_not_overwritten_and_an_older_deed_has_a_name(
    home: Path, homes: Homes
) -> None:
    homes.copy(proposing, home)
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


def accepted(home: Path) -> int:
    """How many confirmations lessons count."""
    return sum(one["confirmed"] for one in told(["lessons"], home))


def test_confirmations_are_undone_as_one_and_no_longer_counted_and_given_again(
    home: Path, homes: Homes
) -> None:
    homes.copy(proposing, home)
    before, open_before = page(home), inbox(home)
    refs = [one["ref"] for one in open_before]
    done(["confirm", *refs], home)
    confirmed = page(home)
    assert accepted(home) == len(refs)
    undone = told(["undo"], home)
    assert undone["undone"]["proposals"] == refs
    assert (page(home), accepted(home)) == (before, 0)
    assert [one["undone"] for one in inbox(home)] == [True] * len(refs)
    assert [{**one, "undone": False} for one in inbox(home)] == open_before
    assert "[undone]" in done(["inbox"], home)
    assert undone["redo"] == f"wakelog confirm {' '.join(refs)}"
    again = done(undone["redo"].split()[1:], home)
    assert "already" not in again
    assert (page(home), accepted(home)) == (confirmed, len(refs))
    done(["undo"], home)
    done(["reject", refs[0]], home)
    assert accepted(home) == 0


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


@pytest.mark.slow
def test_a_fork_in_which_the_undone_verdict_was_another_undoes_nothing_else(
    home: Path, homes: Homes
) -> None:
    homes.copy(proposing, home)
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


@pytest.mark.parametrize(
    ("line", "called"),
    [
        ("label add urgent", "add label"),
        ("category add House", "add category"),
        ("agent pause Agnes", "pause agent"),
        ("template assign Agnes tom", "assign template, create template"),
        ("policy allow gemini:* --category Inbox --yes", "give consent"),
    ],
)
def test_what_no_undo_is_about_is_said_and_the_deed_before_it_is_not_taken_for_it(
    home: Path, line: str, called: str
) -> None:
    done(["task", "add", SINK], home)
    done(["agent", "create", SINK, "--name", "Agnes"], home)
    done(["task", "note", SINK, "It drips."], home)
    done(line.split(), home)
    because = refused(["undo"], home)
    assert f"Nothing takes back what came after it: {called}; before it: add note" in because
    done(["task", "set", SINK, "--due", "2027-02-01"], home)
    done(["undo"], home)
    assert called in refused(["undo"], home)
    done(["undo", "--yes"], home)
    assert told(["task", "show", SINK], home)["notes"] == []


def test_a_rating_is_none_of_what_undo_takes_back(home: Path) -> None:
    done(["task", "add", SINK], home)
    done(["agent", "create", SINK, "--name", "Agnes"], home)
    done(["template", "assign", "Agnes", "laura"], home)
    run = told(["wake", SINK], home)["run_key"]
    done(["task", "note", SINK, "It drips."], home)
    done(["rate", run, "5"], home)
    because = refused(["undo"], home)
    assert "Nothing takes back what came after it: rate run; before it: add note" in because


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


def test_what_was_undone_stays_in_the_list_with_what_does_it_again(
    home: Path, homes: Homes
) -> None:
    homes.copy(proposing, home)
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


# ------------------------------------------------------------------------------ what a file brought


TODO = (
    "# Home\n- [ ] Paint the door ~2h due:2027-02-12 #green\n  - [ ] Sand it\n\n  A note.\n"
    "- [ ] Tap\n"
)


NEWER = (
    "# House\n- [x] Paint the door ~3h #red !p1\n  - [x] Sand it\n  - [ ] Wash it\n\n  A note!\n"
    "  And more.\n- [ ] Tap due:2027-03-01\n- [ ] New\n"
)


@pytest.fixture
def todo(home: Path, tmp_path: Path) -> Path:
    """A file that was imported, and imported again when all of it had changed."""
    file = tmp_path / "TODO.md"
    file.write_text(TODO)
    done(["import", str(file)], home)
    return file


def state(home: Path) -> Any:
    found = []
    for one in told(["task", "list"], home):
        page = told(["task", "show", one["id"]], home)
        items = [item for item in page["items"] if not item["archived"]]
        for item in items:
            item.pop("checked_by")
        found.append({**page, "items": items, "history": []})
    return found


def test_an_import_is_taken_back_in_one_append(home: Path, todo: Path) -> None:
    before = state(home)
    todo.write_text(NEWER)
    done(["import", str(todo)], home)
    after = state(home)
    assert after != before
    rows = proved(home)
    assert "3 brought back, 0 kept" in done(["import", str(todo), "--undo"], home)
    assert state(home) == before
    assert proved(home) > rows
    again = told(["import", str(todo), "--undo"], home)
    assert again["undone"][0]["tasks"] == []
    done(["import", str(todo)], home)
    for field in ("id", "title", "due_date"):
        assert [one[field] for one in state(home)] == [one[field] for one in after]


def test_what_was_changed_since_stays(home: Path, todo: Path) -> None:
    todo.write_text(NEWER)
    done(["import", str(todo)], home)
    done(["task", "set", "Tap", "--due", "2027-04-01"], home)
    done(["task", "set", "New", "--due", "2027-04-01"], home)
    text = done(["import", str(todo), "--undo"], home)
    assert "2 brought back, 2 kept" in text
    assert "Tap: changed since, left alone" in text
    found = {one["title"]: one["due_date"] for one in told(["task", "list"], home)}
    assert found == {"Paint the door": "2027-02-12", "Tap": "2027-04-01", "New": "2027-04-01"}


@pytest.mark.parametrize("day", ["", " ✅ 2027-01-01"])
def test_a_task_of_which_all_imports_are_taken_back_comes_back_as_its_file_says(
    home: Path, tmp_path: Path, day: str
) -> None:
    todo = tmp_path / "TODO.md"
    for text in ("- [ ] Attic\n", f"- [x] Attic{day}\n"):
        todo.write_text(text, "utf-8")
        done(["import", str(todo)], home)
    for _ in range(2):
        done(["undo", "--yes"], home)
    assert told(["list"], home) == []
    report = told(["import", str(todo)], home)["files"][0]
    assert (report["created"], len(report["restored"])) == (0, 1)
    assert [one["status"] for one in told(["list", "--all"], home)] == ["DONE"]
    todo.write_text("- [ ] Attic\n", "utf-8")
    assert told(["import", str(todo)], home)["files"][0]["done_here"] == []  # it is open again
    assert [one["status"] for one in told(["list", "--all"], home)] == ["OPEN"]
    proved(home)


@pytest.mark.parametrize("how", ["delete", "reject"])
def test_what_an_undone_import_closed_is_closed_by_no_later_one(
    home: Path, tmp_path: Path, how: str
) -> None:
    todo = tmp_path / "TODO.md"
    lines = [f"- [ ] {one}\n" for one in "abcdef"]
    todo.write_text("".join(lines), "utf-8")
    done(["import", str(todo)], home)
    todo.write_text("".join(lines[1:]), "utf-8")
    done(["import", str(todo), "--gone", how, "--yes"], home)
    done(["undo", "--yes"], home)
    todo.write_text("".join([*lines[1:], "- [ ] g\n"]), "utf-8")
    done(["import", str(todo)], home)
    assert [one["title"] for one in told(["list", "--open"], home)] == [*"abcdefg"]
    todo.write_text("".join([*lines[2:], "- [ ] g\n"]), "utf-8")  # but what leaves it now is
    done(["import", str(todo)], home)
    assert [one["title"] for one in told(["list", "--open"], home)] == [*"acdefg"]


def test_labels_go_with_the_undo_of_what_made_them_and_come_back_with_their_task(
    home: Path, tmp_path: Path
) -> None:
    todo = tmp_path / "TODO.md"
    todo.write_text("- [ ] Water #garden\n", "utf-8")
    done(["import", str(todo)], home)
    done(["add", "Pay", "--label", "money"], home)
    for _ in range(2):
        done(["undo", "--yes"], home)
    assert told(["label", "list"], home) == []
    done(["task", "restore", "Water"], home)
    assert [one["title"] for one in told(["list", "--label", "garden"], home)] == ["Water"]
    done(["undo"], home)
    assert told(["label", "list"], home) == []
    proved(home)


def test_what_was_not_imported_cannot_be_taken_back(home: Path, todo: Path) -> None:
    assert "nothing was imported" in refused(["import", "other.md", "--undo"], home)
    assert "not tried" in refused(["import", str(todo), "--undo", "--dry-run"], home)


@pytest.mark.slow
def test_of_two_files_under_one_key_one_is_taken_back(home: Path, tmp_path: Path) -> None:
    files = [tmp_path / "a.md", tmp_path / "b.md"]
    for file in files:
        file.write_text("".join(f"- [ ] {file.stem} {nth}\n" for nth in range(201)))
    done(["import", *map(str, files), "--key", "K"], home)
    done(["task", "add", "By hand"], home)
    assert len(told(["import", str(files[0]), "--undo"], home)["undone"][0]["tasks"]) == 201
    titles = {one["title"][0] for one in told(["task", "list"], home)}
    assert titles == {"b", "B"}


# --------------------------------------------------------------------------- at a terminal (ADR 79)


@pytest.mark.parametrize(("answer", "status", "left"), [("y", 0, 0), ("n", 130, 1), ("", 130, 1)])
def test_what_another_terminal_did_is_named_and_asked_for(
    home: Path, answer: str, status: int, left: int
) -> None:
    done(["task", "add", "Tap"], home)
    with on_terminal(home, "undo") as other:
        seen = other.until("[y/N]: ")
        other.press(f"{answer}\n")
        assert other.ended()[0] == status
    assert "Undo create task of “Tap”, just now, done in another terminal?" in seen
    assert len(told(["task", "list"], home)) == left


@pytest.mark.slow
def test_who_says_yes_is_not_asked(home: Path) -> None:
    done(["task", "add", "Tap"], home)
    with on_terminal(home, "undo", "--yes") as other:
        status, seen = other.ended()
    assert (status, "[y/N]" in seen) == (0, False)
    assert told(["task", "list"], home) == []


def test_a_terminal_is_the_same_from_one_command_to_the_next() -> None:
    assert terminal_session() == terminal_session()
    assert terminal_session().startswith("terminal ")


@pytest.mark.parametrize(
    ("session", "parents", "named"),
    [
        ("7", {"5": "7", "7": "1"}, "terminal 7 1007"),
        ("7", {"5": "1"}, "terminal 7"),
        ("0", {"5": "0"}, "terminal 5 1005"),
        ("0", {"5": "3", "3": "1", "1": "0"}, "terminal 1 1001"),
        ("0", {"5": "3"}, "terminal 3"),
    ],
)
def test_who_is_in_a_container_has_a_terminal_too(
    tmp_path: Path, session: str, parents: dict[str, str], named: str
) -> None:
    for process, parent in parents.items():
        (tmp_path / process).mkdir()
        line = f"{process} (a (b) c) S {parent} 5 {session} {'0 ' * 15}{1000 + int(process)} 0 0"
        (tmp_path / process / "stat").write_text(line)
    (tmp_path / "self").symlink_to("5")
    assert terminal_session(tmp_path) == named


def test_where_no_processes_are_listed_the_session_has_its_number(tmp_path: Path) -> None:
    assert terminal_session(tmp_path) == f"terminal {os.getsid(0)}" * bool(os.getsid(0))


@pytest.mark.parametrize(
    ("who", "here", "words"),
    [
        ("terminal 1", "terminal 1", ""),
        ("terminal 2", "terminal 1", "in another terminal"),
        ("page a", "terminal 1", "on the page"),
        ("page a", "page b", "in another tab"),
        ("terminal 1", "page b", "in another terminal"),
        ("program", "program", ""),
        ("watch", "terminal 1", "by `run --watch`"),
        ("", "", "elsewhere"),
    ],
)
def test_where_something_was_done_is_said_in_words(who: str, here: str, words: str) -> None:
    assert origin_text(who, here) == words


# ------------------------------------------------------------------------------- by several at once


REPLICA = {"WAKELOG_REPLICA": "r1"}


def at_once(home: Path, *lines: list[str]) -> list[int]:
    """The statuses of processes that were begun together."""
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(ended, home, *line, more=REPLICA) for line in lines]
    return [one.result().returncode for one in runs]


def sound(home: Path) -> None:
    assert proved(home)
    assert checker.findings(home, is_settled=True) == []


def estimate(home: Path) -> Any:
    return told(["task", "show", SINK], home)["estimate_minutes"]


@pytest.mark.slow
def test_page_and_command_line_undo_one_deed_once(home: Path, homes: Homes) -> None:
    homes.copy(proposing, home)
    done(["task", "set", SINK, "--estimate", "25"], home)
    with visiting(home) as visitor:
        form = decided_by(visitor, refs(home)["update_task_estimate"])
        answer = visitor.send(form, verdict="anyway")
        undo = next(one for one in forms(answer.text) if one.action == "/undo")
        ref = told(["undo", "--list"], home)["deeds"][0]["ref"]
        with ThreadPoolExecutor() as pool:
            other = pool.submit(ended, home, "undo", ref, more=REPLICA)
            mine = visitor.send(undo)
        codes = other.result().returncode, mine.status_code
    assert codes in ((0, 409), (2, 200), (0, 400))
    assert estimate(home) == 25
    sound(home)


@pytest.mark.slow
def test_an_undo_while_a_wake_runs_to_its_end_loses_neither(home: Path, homes: Homes) -> None:
    homes.copy(proposing, home)
    done(["task", "set", SINK, "--estimate", "25"], home)
    done(["task", "note", SINK, "It takes about 4 hours."], home)
    done(["undo", "--key", "note"], home)
    ref = told(["undo", "--list"], home)["deeds"][1]["ref"]  # the note is undone
    redo = told(["undo", "--key", "note"], home)["redo"].split()[1:]
    assert at_once(home, ["wake", SINK], ["undo", ref], redo) == [0, 0, 0]
    done(["recover"], home)
    assert (estimate(home), len(told(["task", "show", SINK], home)["notes"])) == (None, 2)
    sound(home)

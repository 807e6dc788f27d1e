"""`wakelog status`, `prove`, `recover`, `rebuild`, `doctor`, `completion`: also after damage."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from adapters.runtime import watcher
from adapters.runtime.wake_capture import capture
from adapters.text.proof import differing
from adapters.wiring import Home, open_home
from domain.changes.commands import ConfirmItem, RejectItem
from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.homes import Homes

TODO = """\
- [ ] Fix the tap
  - [ ] Find out the model

  It is urgent. I need to call the plumber. Due by 2027-03-04.
"""
LATER = {"WAKELOG_NOW": "2027-01-03T09:00:00Z"}


def woken(home: Path) -> None:
    done(["import", "--source", "todo", "-"], home, input=TODO)
    done(["agent", "create", "--all"], home)
    done(["wake"], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """One task, whose agent woke once and made proposals."""
    return homes.copy(woken, tmp_path / "home")


@contextmanager
def opened(home: Path) -> Iterator[Home]:
    """The home as a process has it that is about to crash."""
    with open_home(home, FIXED, is_writing=True) as found:
        found.views.catch_up()
        yield found


def sql(home: Path, name: str, *statements: str) -> None:
    """What only somebody with another program would do."""
    with closing(sqlite3.connect(home / name)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_status_of_no_home_makes_none(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert "wakelog demo" in done(["status"], home)
    assert told(["status"], home)["exists"] is False
    assert not home.exists()


def test_status_counts_what_no_agent_has_looked_at(home: Path) -> None:
    done(["category", "add", "Garden"], home)
    assert told(["status"], home)["lag"] == 1


def test_an_altered_row_is_found_and_both_sides_are_shown(home: Path) -> None:
    sql(
        home,
        "journal.db",
        "UPDATE stored_events SET state = CAST(replace(CAST(state AS TEXT), 'Fix the tap', "
        "'Fix the lap') AS BLOB) WHERE topic = 'task.created.1'",
    )
    result = run(["--json", "prove"], home)
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["ok"] is False
    one, *prompts = document["divergences"]
    assert {known["upstream"] for known in prompts} == {one["position"]}
    assert "prompt changed" in {known["class"] for known in prompts}
    assert list(one)[:8] == "log position stream version class path expected actual".split()
    assert (one["log"], one["path"]) == ("journal", "data.title")
    assert one["class"] == "data altered"
    assert one["cause"] == "command.import_tasks.1"
    assert any(line.startswith("-") and "Fix the tap" in line for line in one["diff"])
    text = run(["prove"], home)
    assert text.exit_code == 1
    assert "Fix the tap" in text.stdout
    assert "Fix the lap" in text.stdout
    assert "data altered: data.title of task:" in text.stdout


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ("DELETE FROM payloads", "payload"),
        ("UPDATE payloads SET bytes = x'ff'", "payload"),
        ("UPDATE payloads SET bytes = CAST(bytes || x'20' AS BLOB)", "payload"),
        ("DELETE FROM stored_events WHERE topic = 'wake.finished.1'", "rows"),
        ("UPDATE stored_events SET state = x'7b' WHERE topic = 'wake.finished.1'", "row"),
    ],
)
def test_damage_is_a_finding_and_no_traceback(home: Path, statement: str, path: str) -> None:
    sql(home, "agent.db", statement)
    result = run(["--json", "prove"], home)
    assert result.exit_code == 1
    assert path in {one["path"] for one in json.loads(result.stdout)["divergences"]}


def test_proving_no_home_says_so(tmp_path: Path) -> None:
    assert "no home" in done(["prove"], tmp_path / "home")


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("", "x", ("", "x")),
        ("same", "same", ("", "")),
        ("ab", "abc", ("ab", "abc")),
        ("aaaa", "aa", ("aaaa", "aa")),
    ],
)
def test_only_the_differing_part_is_shown(one: str, other: str, shown: tuple[str, str]) -> None:
    if one == other:
        assert differing(one, other)[0] == differing(one, other)[1]
    else:
        assert differing(one, other) == shown


def test_a_wake_whose_process_is_gone_goes_on(home: Path) -> None:
    done(["task", "add", "Paint"], home)
    done(["agent", "create", "--task", "Paint"], home)
    (queued,) = told(["status"], home)["queued"]
    with opened(home) as found:
        captured = capture(found.services, queued["agent_id"], queued["run_key"], is_now=True)
        found.services.append_agent(captured.command, payloads=captured.payloads)
    assert told(["wakes", "--outcome", "running"], home)[0]["run_key"] == queued["run_key"]
    assert run(["doctor"], home).exit_code == 1
    (step,) = told(["recover"], home)["steps"]
    assert (step["what"], step["id"], step["status"]) == ("wake", queued["run_key"], "completed")
    assert told(["recover"], home) == {"steps": []}
    assert run(["doctor"], home).exit_code == 0
    proved(home)


@pytest.mark.parametrize(
    ("again", "said"),
    [
        (["recover"], "finished applying 1.1: confirmed"),
        (["confirm", "1.1"], "1.1    confirmed: "),
    ],
)
def test_a_confirm_that_was_cut_off_is_driven_to_its_end(
    home: Path, again: list[str], said: str
) -> None:
    (one,) = told(["inbox"], home)
    with opened(home) as found:
        position = found.services.journal.tail().n
        found.services.append_agent(ConfirmItem(one["id"], 1, "person", position))
    assert told(["status"], home)["in_doubt"][0]["what"] == "operation"
    assert said in done(again, home)
    assert "Nothing to recover" in done(["recover"], home)
    assert told(["status"], home)["in_doubt"] == []
    proved(home)


def test_what_nobody_decided_in_time_expires(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["import", "--source", "todo", "-"], home, input=TODO)
    (home / "settings.toml").write_text("[agents]\nexpire_after_days = 1\n")
    done(["agent", "create", "--all"], home)
    done(["wake"], home)
    assert told(["recover"], home) == {"steps": []}
    (step,) = told(["recover"], home, env=LATER)["steps"]
    assert (step["what"], step["ref"]) == ("expiry", "1")
    assert told(["inbox"], home) == []
    assert told(["recover"], home, env=LATER) == {"steps": []}
    proved(home)


def test_a_model_that_cannot_be_had_is_told_and_leaves_the_wake(home: Path) -> None:
    done(["task", "add", "Paint"], home)
    done(["agent", "create", "--task", "Paint"], home)
    (queued,) = told(["status"], home)["queued"]
    tape = home.parent / "tape.jsonl"
    tape.write_text("")
    with open_home(home, FIXED, model=f"tape:{tape}", is_writing=True) as found:
        captured = capture(found.services, queued["agent_id"], queued["run_key"], is_now=True)
        found.services.append_agent(captured.command, payloads=captured.payloads)
    tape.unlink()
    result = run(["recover"], home)
    assert result.exit_code == 1
    assert "cannot be read" in result.stdout
    proved(home)


def test_views_are_made_anew(home: Path) -> None:
    before = told(["task", "list"], home)
    sql(home, "views.db", "UPDATE documents SET document = x'7b7d'")
    assert "Made all views anew" in done(["rebuild"], home)
    assert told(["task", "list"], home) == before


def test_a_sound_home_has_no_findings(home: Path) -> None:
    document = told(["doctor"], home)
    assert document["ok"] is True
    assert {"settings", "replica", "journal.db", "agent.db"} <= {
        one["check"] for one in document["checks"]
    }
    assert "FIND" not in done(["doctor"], home)
    assert told(["doctor"], home.parent / "none")["ok"] is True


def finding(home: Path) -> str:
    result = run(["doctor"], home)
    assert result.exit_code == 1, result.output
    return "\n".join(line for line in result.stdout.splitlines() if line.startswith("FIND"))


def test_doctor_finds_a_missing_file_and_makes_none(home: Path) -> None:
    for file in home.glob("journal.db*"):
        file.unlink()
    assert "journal.db: the file is missing" in finding(home)
    assert not (home / "journal.db").exists()


def test_doctor_finds_a_file_that_is_no_log(home: Path) -> None:
    for file in home.glob("agent.db*"):
        file.unlink()
    (home / "agent.db").write_text("this is no database, and it is long enough to look at" * 20)
    assert "agent.db: it cannot be read" in finding(home)


def test_doctor_finds_a_damaged_page(home: Path) -> None:
    with closing(sqlite3.connect(home / "agent.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = (home / "agent.db").stat().st_size
    with (home / "agent.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * min(8192, size - 4096))
    assert "agent.db" in finding(home)


OF = "json_extract(CAST(state AS TEXT), '$.n')"
CHANGED = {
    "a newer format": ("agent.db", "PRAGMA user_version = 99", "format 99"),
    "a gap": (
        "journal.db",
        f"DELETE FROM stored_events WHERE {OF} = 2",
        "append 1 is followed by 3",
    ),
    "a journal of another time": (
        "journal.db",
        f"DELETE FROM stored_events WHERE {OF} = (SELECT max({OF}) FROM stored_events)",
        "restore both from one backup",
    ),
    "a text of no row": (
        "agent.db",
        f"INSERT INTO payloads VALUES ('{'a' * 32}', x'00')",
        "1 texts of the agent log are named by no row",
    ),
    "effects in no journal": (
        "journal.db",
        "DELETE FROM stored_events",
        "which the journal does not hold",
    ),
}


@pytest.mark.parametrize("found", CHANGED)
def test_doctor_finds_what_was_changed_by_hand(home: Path, found: str) -> None:
    name, statement, line = CHANGED[found]
    sql(home, name, statement)
    assert line in finding(home)


def test_doctor_finds_a_bad_setting(home: Path) -> None:
    (home / "settings.toml").write_text('modle = "rules"\n')
    assert "modle" in finding(home)


def test_doctor_finds_a_bad_replica(home: Path) -> None:
    (home / "replica").write_text("NOT A NAME")
    result = run(["doctor"], home, env={"WAKELOG_REPLICA": ""})
    assert result.exit_code == 1
    assert "replica" in result.stdout


def test_doctor_finds_an_effect_in_doubt(home: Path) -> None:
    (one,) = told(["inbox"], home)
    with opened(home) as found:
        watcher.catch_up(found.services)
        found.services.append_agent(ConfirmItem(one["id"], 1, "person", 1))
        found.services.append_agent(RejectItem(one["id"], 2, "person", 1, "no"))
    assert "`wakelog recover` finishes it" in finding(home)


def test_doctor_finds_an_agent_that_fails(home: Path) -> None:
    tape = home.parent / "tape.jsonl"
    tape.write_text("")
    run(["--model", f"tape:{tape}", "wake", "Fix the tap"], home)
    assert "failed 1 times in a row" in finding(home)
    assert told(["status"], home)["agents"]["failing"][0]["failures"] == 1


def test_doctor_finds_an_agent_of_a_category_that_was_paused_by_its_name(home: Path) -> None:
    tape = home.parent / "tape.jsonl"
    tape.write_text("")
    category = told(["task", "list"], home)[0]["category"]
    for _ in range(5):
        run(["--model", f"tape:{tape}", "category", "review", category], home)
    told_of = finding(home)
    assert f"'{category} week' failed 5 times in a row, the last with tape_ended" in told_of
    assert "and was paused" in told_of
    assert f"{category} week: 5 failed in a row" in run(["status"], home).stdout
    assert "dormant (failures)" in run(["agent", "show", f"{category} week"], home).stdout
    result = run(["category", "review", category], home)
    assert result.exit_code == 2
    assert "is paused; resume it first with `wakelog agent resume`" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_and_a_hint(shell: str, tmp_path: Path) -> None:
    script = done(["completion", shell], tmp_path / "home")
    assert script.startswith("# install")
    assert "_WAKELOG_COMPLETE" in script


UPKEEP = ("status", "prove", "recover", "rebuild", "doctor", "completion", "demo")


@pytest.mark.parametrize("command", [name for name in UPKEEP if name not in ("completion", "demo")])
def test_a_home_that_is_a_file_is_refused_or_found(command: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file")
    if command == "doctor":
        assert "no folder" in finding(home)
    else:
        assert "no folder" in refused([command], home)

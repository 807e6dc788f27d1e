"""`wakelog prove` with its options, `export-history` and `simulate`."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adapters.proof import histories
from tests.support.cli import done, refused, run, told
from tests.support.homes import Homes

NOTE = "Takes about 60 minutes. Due by 2027-02-12. Urgent!"


def woken_twice(home: Path) -> None:
    done(["task", "add", "Fix the sink"], home)
    done(["task", "note", "Fix the sink", NOTE], home)
    done(["agent", "create", "--task", "Fix the sink"], home)
    done(["wake"], home)
    done(["confirm", "1.1"], home)
    done(["task", "note", "Fix the sink", "I need to call the plumber."], home)
    done(["wake", "Fix the sink"], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """One task, whose agent woke twice."""
    return homes.copy(woken_twice, tmp_path / "home")


def sql(home: Path, name: str, *statements: str) -> None:
    with closing(sqlite3.connect(home / name)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def found(home: Path, *options: str) -> list[tuple[str, str]]:
    """Class and path of what prove finds."""
    result = run(["--json", "prove", *options], home)
    assert result.exit_code == 1, result.output
    return [(one["class"], one["path"]) for one in json.loads(result.stdout)["divergences"]]


def test_a_view_that_was_edited_is_named_and_left_alone(home: Path) -> None:
    done(["task", "list"], home)
    edit = "UPDATE documents SET document = CAST(replace(CAST(document AS TEXT), 'sink', 'sing')"
    sql(home, "views.db", f"{edit} AS BLOB) WHERE view = 'tasks'")
    before = (home / "views.db").read_bytes()
    (one,) = found(home)
    assert one[0] == "view differs"
    assert one[1].startswith("tasks.")
    assert (home / "views.db").read_bytes() == before
    assert told(["prove", "--no-views"], home)["ok"]
    assert "Fix the sing" in run(["prove"], home).stdout
    done(["rebuild"], home)
    assert told(["prove"], home)["ok"]


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE documents SET shelf = 'x'",
        "UPDATE documents SET place = 'x'",
        "UPDATE documents SET mark = 'x'",
        "UPDATE documents SET due = 'x'",
        "UPDATE documents SET tally = 9",
        "UPDATE documents SET turn = 'x'",
        "DELETE FROM documents",
        "UPDATE documents SET key = 'x'",
        (
            "INSERT INTO documents SELECT "
            "view, 'x', shelf, place, mark, due, tally, turn, document FROM documents"
        ),
    ],
)
def test_what_stands_beside_a_document_is_compared_too(home: Path, edit: str) -> None:
    done(["task", "list"], home)
    sql(home, "views.db", f"{edit} WHERE view = 'tasks'")
    told_of = {path.split(".")[0] for _, path in found(home)}
    assert told_of == {"tasks"}


def test_a_view_that_is_behind_is_no_difference(home: Path) -> None:
    done(["prove"], home)
    sql(home, "views.db", "DELETE FROM documents WHERE view = 'reports'",
        "DELETE FROM positions WHERE view = 'reports'")  # fmt: skip
    assert told(["prove"], home)["ok"]


def test_an_anchor_finds_what_nothing_else_can(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "anchors.jsonl"
    assert "one more in" in done(["prove", "--anchor", str(file), "--new-anchor"], home)
    assert "anchors: 1 checked\n" in done(["prove", "--anchor", str(file)], home)
    cut = "DELETE FROM stored_events WHERE rowid >= (SELECT max(rowid) FROM stored_events WHERE "
    sql(home, "agent.db", cut + "CAST(state AS TEXT) LIKE '{\"at\"%')")
    sql(home, "views.db", "DELETE FROM documents", "DELETE FROM positions")
    assert told(["prove"], home)["ok"], "nothing in the log tells"
    assert found(home, "--anchor", str(file)) == [("data altered", "tail")]
    assert len(file.read_text().splitlines()) == 1


@pytest.mark.parametrize("content", [None, b""])
def test_an_anchor_file_that_is_not_there_is_begun_only_where_that_is_said(
    home: Path, tmp_path: Path, content: bytes | None
) -> None:
    """A mistyped name would hide what the right file knows of."""
    file = tmp_path / "anchors.jsonl"
    if content is not None:
        file.write_bytes(content)
    assert "--new-anchor" in refused(["prove", "--anchor", str(file)], home)
    assert file.exists() == (content is not None)
    done(["prove", "--anchor", str(file), "--new-anchor"], home)
    before = file.read_bytes()
    assert "is there, with 1" in refused(["prove", "--anchor", str(file), "--new-anchor"], home)
    assert file.read_bytes() == before
    assert "--anchor FILE" in refused(["prove", "--new-anchor"], home)


def test_rows_before_a_position_are_only_folded(home: Path) -> None:
    sql(
        home, "journal.db", "UPDATE stored_events SET topic = 'task.x.1' WHERE topic LIKE 'task.c%'"
    )
    assert ("data altered", "topic") in found(home)
    assert told(["prove", "--since", "journal:r1:999"], home)["ok"]
    assert ("data altered", "topic") in found(home, "--since", "agent:r1:999")


def test_what_was_only_folded_is_not_told_as_proved(home: Path) -> None:
    whole = told(["prove"], home)
    part = told(["prove", "--since", "journal:r1:2"], home)
    assert (whole["folded"], part["folded"]) == (0, 2)
    result = run(["prove", "--since", "journal:r1:2"], home)
    assert f"{whole['causes'] - 2} of them were executed again" in result.stdout
    assert "; 2 were only folded." in result.stdout
    assert "every byte is what today's code writes" not in result.stdout
    assert "--since" in result.stderr


@pytest.mark.parametrize("given", ["42", "journal", "agent:r1:", "other:r1:1", "agent:r1:-1"])
def test_a_position_that_is_none_is_refused(home: Path, given: str) -> None:
    assert "agent:r1:42" in refused(["prove", "--since", given], home)


def test_a_difference_is_told_so_that_a_person_can_read_it(home: Path) -> None:
    edit = "UPDATE stored_events SET state = CAST(replace(CAST(state AS TEXT), 'queued', 'denied')"
    sql(home, "agent.db", f"{edit} AS BLOB) WHERE topic = 'wake.tool_returned.1'")
    text = run(["prove"], home).stdout
    assert "data altered: data.status of wake:" in text
    assert '-  "status": "queued",' in text
    assert "caused by wake.model_answered.1" in text
    assert "wake " in text
    assert "Lines with - are what today's code writes, lines with + what stands in the log." in text


def test_what_comes_of_damage_takes_a_line_below_it(home: Path) -> None:
    first = "SELECT min(rowid) FROM stored_events WHERE topic = 'wake.model_answered.1'"
    sql(home, "agent.db", f"DELETE FROM stored_events WHERE rowid = ({first})")
    lines = run(["prove"], home).stdout.splitlines()
    damage = next(line for line in lines if "data altered: rows of wake:" in line)
    place = damage.partition("  ")[0]
    assert "    rows of it are gone, or there are too many" in lines
    below = lines[next(nth for nth, line in enumerate(lines) if "What comes of it" in line) + 1 :]
    assert "rule changed" in below[0]
    assert below[0].endswith(f"led there by {place}")
    assert sum("rule changed: " in line for line in lines) == 2, "one line for it, and the sum"


def test_a_wake_is_exported_with_all_that_led_to_it(home: Path, tmp_path: Path) -> None:
    newest, oldest = (one for one in told(["wakes"], home) if one["outcome"] == "completed")
    files = [tmp_path / "newest.jsonl", tmp_path / "oldest.jsonl"]
    document = told(["export-history", newest["run_key"], "--out", str(files[0])], home)
    assert (document["run_key"], document["redacted"]) == (newest["run_key"], False)
    done(["export-history", oldest["run_key"][:6], "--out", str(files[1])], home)
    for file, wakes in zip(files, (2, 1), strict=True):
        proved = histories.prove_history(histories.read_history(file))
        assert proved.ok
        assert proved.wakes == wakes
    assert document["digest"] == histories.read_history(files[0]).digest


def test_a_whole_home_is_exported_to_the_standard_output(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text(done(["export-history", "--all"], home))
    history = histories.read_history(file)
    assert history.digest == told(["prove"], home)["digest"]


def test_a_redacted_export_proves_and_says_nothing(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "redacted.jsonl"
    assert told(["export-history", "--all", "--redact", "--out", str(file)], home)["redacted"]
    assert histories.prove_history(histories.read_history(file)).ok
    assert "plumber" not in file.read_text()
    assert "sink" not in file.read_text()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "or --all"),
        (["nothing"], "there is no wake"),
        (["x", "--all"], "or --all"),
        (["--all", "--out", "/nowhere/x.jsonl"], "cannot be written"),
    ],
)
def test_an_export_of_nothing_is_refused(home: Path, args: list[str], said: str) -> None:
    assert said in refused(["export-history", *args], home)


def test_what_does_not_prove_is_not_exported(home: Path) -> None:
    sql(
        home, "journal.db", "UPDATE stored_events SET topic = 'task.x.1' WHERE topic LIKE 'task.c%'"
    )
    assert "does not prove" in refused(["export-history", "--all"], home)


def test_a_simulation_touches_no_home_and_repeats_itself(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first, second = (
        told(["simulate", "--wakes", "12", "--seed", "monday"], home) for _ in range(2)
    )
    assert first == second
    assert first["ok"]
    assert first["wakes"] >= 12
    assert not home.exists()
    assert "every law held" in done(["simulate", "--wakes", "1"], home)

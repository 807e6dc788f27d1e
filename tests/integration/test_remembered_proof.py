"""`prove --since last` by example: what it says, what makes it void, and what it does not see; its
file where processes are killed, come together, or may not write."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.proof import incremental
from adapters.proof.incremental import RememberedProof
from adapters.upkeep.doctor import examine
from tests.support.cli import FIXED, done, refused, run, told
from tests.support.homes import Homes
from tests.support.machines import pair
from tests.support.process import ROOT, command, environ

LAST = ["prove", "--since", "last"]


def with_an_agent(home: Path) -> None:
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--task", "Fix the sink"], home)
    done(["task", "note", "Fix the sink", "Takes about 60 minutes. Urgent!"], home)
    done(["wake"], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Iterator[Path]:
    """A home of one wake, which nobody has proved yet."""
    path = homes.copy(with_an_agent, tmp_path / "home")
    yield path
    incremental.delete_remembered(file_of(path))


def file_of(home: Path) -> Path:
    return incremental.remembered_path(home, FIXED)


def sql(home: Path, statement: str, name: str = "agent.db") -> None:
    with closing(sqlite3.connect(home / name)) as connection, connection:
        connection.execute(statement)


def told_anyway(args: list[str], home: Path) -> Any:
    """The document of a command, whatever its status."""
    return json.loads(run(["--json", *args], home).stdout)


def why(home: Path, **more: dict[str, str]) -> str:
    """Why all of it was executed once more; it must prove."""
    document = told(LAST, home, **more)
    assert (document["ok"], document["remembered"]) == (True, 0)
    assert document["executed"] == document["causes"] > 0
    return str(document["memory_unused"])


def test_only_what_is_new_is_executed_and_both_numbers_are_told(home: Path) -> None:
    assert why(home) == "nothing is remembered of this home yet"
    file = file_of(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    first = told(LAST, home)
    assert (first["executed"], first["remembered"]) == (0, first["causes"])
    done(["task", "note", "Fix the sink", "I need to call the plumber."], home)
    done(["wake"], home)
    done(["confirm", "1.1"], home)
    second, whole = told(LAST, home), told(["prove"], home)
    assert second["executed"] > 3
    assert second["remembered"] + second["executed"] == whole["causes"] == second["causes"]
    assert second["prompts"] == 1
    for key in ("digest", "heads", "rows", "wakes", "folded", "undecoded", "divergences"):
        assert second[key] == whole[key]
    assert whole["memory_unused"] is None
    result = run(LAST, home)
    assert f"(0 executed now, {whole['causes']} remembered from 2027-01-01T09:00" in result.stdout
    assert f", file {file})" in result.stdout
    assert "Views were not folded anew" in result.stderr
    assert "goes with no other" in refused([*LAST, "--since", "agent:r1:3"], home)
    assert "goes with no other" in refused([*LAST, "--all-rules"], home)


def test_what_is_remembered_counts_for_its_home_its_code_and_its_bytes_alone(home: Path) -> None:
    done(["prove"], home)
    file = file_of(home)
    good = file.read_bytes()
    known = incremental.read_remembered(file, home)
    other = {"home": "/elsewhere", "installation": "i2", "code": "0" * 64, "rules": 2, "format": 1}
    for field, value in other.items():
        incremental.write_remembered(file, replace(known, **{field: value}))
        expected = {"code": "other code", "rules": "other code", "format": "is damaged"}
        assert expected.get(field, "is of another home") in why(home)
    edits = good.replace(b'"folded":0', b'"folded":1'), good[:-9], b"", b"[1]", b"\xff{"
    for data in edits:
        file.write_bytes(data)
        assert "is damaged" in why(home)
    ((name, end),) = known.journal.ends.items()
    for other_end in (replace(end, rows=1), replace(end, order="0" * 64)):
        left = replace(known.journal, ends={name: other_end})
        incremental.write_remembered(file, replace(known, journal=left))
        assert "is not as it was" in why(home)
    file.chmod(0o666)
    assert "you alone can write" in why(home)
    shutil.copytree(home, home.with_name("copy"))
    assert "nothing is remembered" in why(home.with_name("copy"))
    sql(home, "DELETE FROM stored_events WHERE rowid > (SELECT max(rowid) - 2 FROM stored_events)")
    assert told_bad(home)


def told_bad(home: Path) -> set[str]:
    """The classes of what a proof finds that goes on from the last one, which is then forgotten."""
    result = run(["--json", *LAST], home)
    assert result.exit_code == 1, result.output
    document = json.loads(result.stdout)
    assert not file_of(home).exists()
    assert document["remembered"] == 0
    assert document["memory_file"] is None
    assert (
        document["divergences"] == json.loads(run(["--json", "prove"], home).stdout)["divergences"]
    )
    return {one["class"] for one in document["divergences"]}


def kept_length(home: Path) -> int:
    with closing(sqlite3.connect(home / "agent.db")) as connection:
        return int(connection.execute("SELECT sum(length(bytes)) FROM payloads").fetchone()[0])


def test_a_row_that_no_append_counts_is_seen_by_the_short_proof(home: Path) -> None:
    """A consent in an old append's numbers, behind all others: it would be in force at once."""
    told(LAST, home)
    forged = {"n": 2, "row": 1, "data": {"kind": "policy.receipt_given.1", "model": "*"}}
    state = json.dumps(forged).encode().hex()
    row = f"('policy:main@r1', 1, 'policy.receipt_given.1', x'{state}')"
    names = "originator_id, originator_version, topic, state"
    sql(home, f"INSERT INTO stored_events ({names}) VALUES {row}")
    document = told_anyway(LAST, home)
    assert (document["ok"], document["remembered"]) == (False, 0)
    for args in (["status"], ["policy", "show"], ["wake"], ["agent", "list"]):
        assert "no append counts the last row of the agent's log" in refused(args, home)


def test_a_payload_that_is_altered_or_gone_is_found_in_what_was_proved(
    home: Path, tmp_path: Path
) -> None:
    for nth, (edit, class_) in enumerate(
        (
            ("UPDATE payloads SET bytes = CAST('~' || substr(bytes, 2) AS BLOB)", "data altered"),
            ("DELETE FROM payloads", "payload missing"),
        )
    ):
        one = tmp_path / f"home {nth}"
        shutil.copytree(home, one)
        done(["prove"], one)
        length = kept_length(one)
        sql(one, f"{edit} WHERE rowid = 2")
        assert (kept_length(one) == length) == (class_ == "data altered")
        assert class_ in told_bad(one)


def test_an_older_copy_that_is_put_back_is_told_of_and_proved_from_its_beginning(
    home: Path, tmp_path: Path
) -> None:
    older = shutil.copytree(home, tmp_path / "older")
    done(["task", "note", "Fix the sink", "I need to call the plumber."], home)
    done(["prove"], home)
    shutil.rmtree(home)
    older.rename(home)
    assert "is not as it was" in why(home)
    assert told(LAST, home)["executed"] == 0


def test_where_it_cannot_be_kept_a_proof_is_as_good_and_says_so(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a file"
    folder.write_text("")
    result = run(["prove"], home, env={"XDG_CACHE_HOME": str(folder)})
    assert result.exit_code == 0
    assert "This proof is not remembered" in result.stderr
    nobody = {"XDG_CACHE_HOME": "", "HOME": "nowhere"}
    assert "no home directory" in why(home, env=nobody)
    assert "no home directory" in run(["prove"], home, env=nobody).stderr


def test_doctor_executes_what_is_new_where_a_proof_is_remembered(home: Path) -> None:
    def proof() -> tuple[bool, str]:
        (found,) = (one for one in examine(home, FIXED) if one.check == "proof")
        return found.is_ok, found.told

    assert proof() == (True, "not looked at: nothing is remembered of this home yet")
    done(["prove"], home)
    assert "as it was proved (0 executed now" in proof()[1]
    sql(home, "UPDATE stored_events SET topic = 'task.renamed.1' WHERE rowid = 3", "journal.db")
    assert not proof()[0]
    assert not file_of(home).exists()


def test_who_forges_home_and_memory_alike_is_not_found_by_the_short_proof(home: Path) -> None:
    """What a remembered proof does not see; one from the beginning does (ADR 60)."""
    done(["prove"], home)
    sql(home, "UPDATE payloads SET bytes = CAST(bytes || 'x' AS BLOB) WHERE rowid = 2")
    known = incremental.read_remembered(file_of(home), home)
    incremental.write_remembered(file_of(home), forged(known, home))
    assert told(LAST, home)["ok"]
    assert run(["prove"], home).exit_code == 1
    assert not file_of(home).exists()


def forged(known: RememberedProof, home: Path) -> RememberedProof:
    from adapters.proof.incremental import RawLog
    from adapters.store.log import Log

    log = Log.read_only("agent", home / "agent.db", "r1")
    agents = RawLog(log, {}).proved()
    log.close()
    return replace(known, agents=agents)


# ----------------------------------------------------------------------------------------- the file


KILLED = 3  # times
WRITES = """\
import sys
from pathlib import Path
from msgspec.structs import replace
from adapters.proof import incremental
file, home = map(Path, sys.argv[1:])
known = incremental.read_remembered(file, home)
while True:
    for at in ("one", "other"):
        incremental.write_remembered(file, replace(known, at=at))
        print(at, flush=True)
"""


@pytest.fixture
def proved(home: Path) -> None:
    done(["prove"], home)


@pytest.mark.usefixtures("proved")
def test_writers_that_are_killed_leave_an_older_or_a_newer_proof_and_never_a_torn_one(
    home: Path,
) -> None:
    file = file_of(home)
    known = incremental.read_remembered(file, home)
    left = replace(
        known.left, repeated=tuple(map(str, range(100_000)))
    )  # it takes a while to write
    incremental.write_remembered(file, replace(known, at="one", left=left))
    line = [sys.executable, "-c", WRITES, str(file), str(home)]
    for nth in range(KILLED):
        with ExitStack() as stack:
            writers = [
                stack.enter_context(
                    subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True)
                )
                for _ in range(2)
            ]
            for writer in writers:
                assert writer.stdout is not None
                assert writer.stdout.readline() == "one\n"
            assert incremental.read_remembered(file, home).at in ("one", "other")
            time.sleep(0.01 * nth)
            for writer in writers:
                writer.kill()
                writer.communicate()
        assert incremental.read_remembered(file, home).left == left
    assert told(LAST, home)["ok"]


@pytest.mark.usefixtures("proved")
def test_two_proofs_at_once_both_prove_and_leave_one_that_counts(home: Path) -> None:
    done(["task", "note", "Fix the sink", "I need to call the plumber."], home)
    line = command(*LAST, "--json")
    variables = environ(home, FIXED)
    proofs = [
        subprocess.Popen(line, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for proof in proofs:
        _, errors = proof.communicate()
        assert proof.returncode == 0, errors
    again = told(LAST, home)
    assert (again["executed"], again["remembered"]) == (0, again["causes"])
    assert [one.name for one in file_of(home).parent.glob(f"*{file_of(home).name}*")] == [
        file_of(home).name
    ]


@pytest.mark.usefixtures("proved")
def test_in_a_cache_folder_that_is_read_only_a_proof_is_answered_and_that_is_told(
    home: Path, tmp_path: Path
) -> None:
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done(["prove"], home, env=variables)
    (file,) = (tmp_path / "cache").glob("wakelog/proofs/*.json")
    before = file.read_bytes()
    done(["task", "note", "Fix the sink", "I need to call the plumber."], home)
    file.parent.chmod(0o500)
    if os.access(file.parent, os.W_OK):
        pytest.skip("nothing is forbidden to root")
    result = run(LAST, home, env=variables)
    assert result.exit_code == 0
    assert f"This proof is not remembered: {file} cannot be written" in result.stderr
    assert told(LAST, home, env=variables)["executed"] == 1  # the older one counts as before
    assert file.read_bytes() == before


@pytest.mark.parametrize("part", [["--since", "journal:1"], ["--all-rules"]])
@pytest.mark.usefixtures("proved")
def test_another_proof_that_finds_something_leaves_none_that_says_all_is_well(
    part: list[str], home: Path, tmp_path: Path
) -> None:
    done(["prove", *part], home)
    assert file_of(home).exists()
    forged = shutil.copytree(home, tmp_path / "forged")
    done(["prove"], forged)
    with closing(sqlite3.connect(forged / "journal.db")) as connection, connection:
        connection.execute("UPDATE stored_events SET topic = 'task.renamed.1' WHERE rowid = 3")
    assert run(["prove", *part], forged).exit_code == 1
    assert not file_of(forged).exists()


# ------------------------------------------------------------------------------ machines that share


def test_after_a_sync_only_what_came_of_both_machines_is_executed(tmp_path: Path) -> None:
    """What the laptop wrote is numbered before what the desk had proved of its own."""
    desk, laptop = pair(tmp_path)
    with_an_agent(desk.home)
    for one in (desk, laptop, desk):
        one.sync()
    first = desk.told(*LAST)
    assert (first["ok"], first["remembered"]) == (True, 0)
    laptop.told("task", "add", "Paint the wall")
    for nth in range(9):
        desk.told("task", "note", "Fix the sink", f"I need to call plumber {nth}.")
    assert desk.told(*LAST)["executed"] == 9
    laptop.sync()
    desk.sync()
    second, whole = desk.told(*LAST), desk.told("prove")
    assert 0 < second["executed"] < 9 < second["remembered"]
    for key in ("digest", "shared", "heads", "rows", "causes", "wakes", "folded", "divergences"):
        assert second[key] == whole[key]
    assert second["replicas"] == whole["replicas"]
    desk.sync()
    forged = {"n": 2, "row": 9, "data": {"kind": "policy.receipt_given.1", "model": "*"}}
    state = json.dumps(forged).encode().hex()
    row = f"('policy:main@desk', 1, 'policy.receipt_given.1', x'{state}')"
    names = "originator_id, originator_version, topic, state"
    sql(desk.home, f"INSERT INTO stored_events ({names}) VALUES {row}")
    assert "is not as it was" in desk.told(*LAST)["memory_unused"]


def test_a_machine_that_begins_to_write_in_a_home_lets_all_be_executed_once(tmp_path: Path) -> None:
    desk, laptop = pair(tmp_path)
    with_an_agent(desk.home)
    desk.told("prove")
    desk.sync()
    assert "has begun to write" in desk.told(*LAST)["memory_unused"]
    assert desk.told(*LAST)["memory_unused"] is None
    laptop.sync()
    laptop.told("task", "add", "Paint the wall")
    for one in (laptop, desk):
        one.sync()
    assert "has begun to write" in desk.told(*LAST)["memory_unused"]

"""The file of a remembered proof where processes are killed, come together, or may not write."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.proof import incremental
from tests.support.cli import FIXED, done, run, told
from tests.support.homes import Homes
from tests.support.process import ROOT, command, environ

pytestmark = pytest.mark.slow

LAST = ["prove", "--since", "last"]
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


def with_a_note(home: Path) -> None:
    done(["task", "add", "Fix the sink"], home)
    done(["task", "note", "Fix the sink", "Takes about 60 minutes."], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Iterator[Path]:
    """A home that was proved."""
    path = homes.copy(with_a_note, tmp_path / "home")
    done(["prove"], path)
    yield path
    incremental.delete_remembered(file_of(path))


def file_of(home: Path) -> Path:
    return incremental.remembered_path(home, FIXED)


def test_writers_that_are_killed_leave_an_older_or_a_newer_proof_and_never_a_torn_one(
    home: Path,
) -> None:
    file = file_of(home)
    known = incremental.read_remembered(file, home)
    left = replace(known.left, batches=tuple(range(100_000)))  # it takes a while to write
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

"""Files that are no log, or a spoilt one: one clear line, and not a byte is changed."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adapters.store.log import Log
from domain.errors import Damaged, Refused, WakelogError
from domain.journal.commands import CreateTask

AT = "2027-01-01T00:00:00.000000Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def create(log: Log, title: str) -> None:
    log.append(CreateTask(title), AT)


def ns(log: Log) -> list[int]:
    """The number of each append."""
    return [rows[0].n for rows in log.appends()]


def refusal(path: Path) -> WakelogError:
    """What opening says, in one line."""
    with pytest.raises(WakelogError) as refused:
        Log.open("journal", path, "r1")
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)
    return refused.value


def closed(path: Path, tasks: int = 50) -> bytes:
    """A log of some pages, closed; its bytes."""
    log = Log.open("journal", path, "r1")
    for n in range(tasks):
        create(log, f"task {n}")
    log.close()
    return path.read_bytes()


@pytest.mark.parametrize("is_read_only", [False, True])
@pytest.mark.parametrize("left", [100, 4_096, 20_000, -1])
def test_what_is_left_of_a_file_is_told_and_left_alone(
    path: Path, left: int, *, is_read_only: bool
) -> None:
    rest = closed(path)[:left]
    path.write_bytes(rest)
    opening = Log.read_only if is_read_only else Log.open
    with pytest.raises(Damaged, match=f"it is cut short: {len(rest)} "):
        opening("journal", path, "r1")
    assert path.read_bytes() == rest


ALONE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
print(*connection.execute("PRAGMA journal_mode=DELETE").fetchone())
"""


def is_alone(path: Path) -> bool:
    """Whether another process believes that nobody else has a file open."""
    asked = subprocess.run(
        [sys.executable, "-c", ALONE, str(path)], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() == "delete"


@pytest.mark.parametrize("opening", [Log.open, Log.read_only])
def test_a_second_opening_in_a_process_leaves_the_first_one_its_locks(
    path: Path, opening: Callable[[str, Path, str], Log]
) -> None:
    log = Log.open("journal", path, "r1")
    create(log, "one")
    opening("journal", path, "r1").close()
    assert not is_alone(path)
    create(log, "two")
    log.close()
    assert is_alone(path)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are not listed here")
def test_a_log_has_one_connection(path: Path) -> None:
    """And SQLite keeps what it looked at the file alone by, once, for the next look (ADR 81)."""
    log = Log.open("journal", path, "r1")
    create(log, "one")
    assert len(list(log.appends())) == 2
    for nth in range(3):  # as if pages had been moved over
        os.utime(path, (nth, nth))
        create(log, f"{nth}")
    assert [one.resolve() for one in Path("/proc/self/fd").iterdir()].count(path) == 2
    log.close()
    assert [one.resolve() for one in Path("/proc/self/fd").iterdir()].count(path) == 0


def test_a_process_that_died_while_moving_pages_over_has_lost_nothing(path: Path) -> None:
    """The header is written first, and says more pages than there are; the rest is in the WAL."""
    log = Log.open("journal", path, "r1")
    for n in range(50):
        create(log, f"task {n}")
    wal = path.with_name("journal.db-wal")
    early, moved = path.read_bytes(), path.with_name("moved")
    shutil.copy(wal, moved)
    log.close()
    late = path.read_bytes()
    assert len(early) < len(late)
    path.write_bytes(late[:4_096] + early[4_096:])
    moved.rename(wal)
    log = Log.open("journal", path, "r1")
    assert ns(log) == list(range(1, 52))
    log.close()


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"SQLite format 3\0" + b"\x10" * 30,
        b"hello\n",
        b"x" * 5_000,
        b"SQLite format 3",
        b"PK\x03\x04",
    ],
)
def test_a_file_of_another_kind_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    refused = refusal(path)
    assert (refused.code, "it is no SQLite file" in str(refused)) == ("not_a_log", True)
    assert path.read_bytes() == content
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_header_without_a_database_is_refused(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    assert refusal(path).code == "not_a_log"


def test_pages_overwritten_with_noise_are_told_without_a_traceback(path: Path) -> None:
    whole = closed(path)
    path.write_bytes(whole[:4_096] + b"\xa5" * (len(whole) - 4_096))
    with pytest.raises(WakelogError) as damaged:
        list(Log.open("journal", path, "r1").rows())
    assert damaged.value.code == "not_a_log"


@pytest.mark.parametrize("value", [None, 1.5, 10**12, "{}", b"\xff"])
def test_a_last_row_that_is_none_is_told(path: Path, value: float | str | bytes | None) -> None:
    closed(path, 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        (last,) = connection.execute("SELECT max(rowid) FROM stored_events").fetchone()
        connection.execute("UPDATE stored_events SET state = ? WHERE rowid = ?", (value, last))
    log = Log.open("journal", path, "r1")
    with pytest.raises(Damaged, match="its last row is none"):
        log.tail()
    log.close()


def foreign(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("more", ["INSERT INTO mail VALUES (1)", "PRAGMA user_version=1"])
def test_another_programs_database_is_refused_and_left_alone(path: Path, more: str) -> None:
    """Whether or not it uses our number."""
    foreign(path, "CREATE TABLE mail (id INTEGER)", more)
    before = path.read_bytes()
    refused = refusal(path)
    assert (refused.code, "another program" in str(refused)) == ("not_a_log", True)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_newer_format_is_refused(path: Path) -> None:
    closed(path, 1)
    foreign(path, "PRAGMA user_version=99")
    refused = refusal(path)
    assert refused.code == "newer_format"
    assert "has format 99, and this wakelog knows 1" in str(refused)


def test_an_empty_file_becomes_a_log(path: Path) -> None:
    path.touch()
    log = Log.open("journal", path, "r1")
    create(log, "one")
    assert ns(log) == [1, 2]
    log.close()


@pytest.mark.parametrize("name", ["a b.db", "ä?#%20.db", "journal.db?mode=memory", "x&y=z.db"])
def test_any_name_of_a_file_will_do(tmp_path: Path, name: str) -> None:
    closed(tmp_path / name, 1)
    assert (tmp_path / name).exists()
    log = Log.open("journal", tmp_path / name, "r1")
    assert ns(log) == [1, 2]
    log.close()


def test_a_folder_or_a_missing_folder_is_refused(path: Path) -> None:
    path.mkdir()
    assert refusal(path).code == "read_only"
    assert refusal(path.parent / "gone" / "journal.db").code == "read_only"


def test_a_file_that_must_not_be_written_is_told(path: Path) -> None:
    closed(path, 1)
    log = Log.open("journal", path, "r1")
    recorder: Any = log.recorder
    recorder._connection.execute("PRAGMA query_only=ON")  # as on a read-only disk
    with pytest.raises(Refused) as refused:
        create(log, "two")
    assert refused.value.code == "read_only"
    assert "\n" not in str(refused.value)
    assert ns(log) == [1, 2]
    log.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_read_only_file_is_told(path: Path) -> None:
    closed(path, 1)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    assert refusal(path).code == "read_only"
    path.parent.chmod(0o700)

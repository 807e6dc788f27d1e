"""A log in a SQLite file: whole appends in one order, whoever writes, whatever happens."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from adapters.store.eventsourcing_recorder import LibraryRecorder
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import line
from adapters.store.sqlite import INSERT, PAGE_PAYLOADS, SQLiteLogRecorder
from domain.append.causes import EpochBegan, Receipt, ReplicasImported
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.commands import AddNote, CreateTask
from domain.journal.task import TASK, TaskCreated
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Imported, Words, payload, words
from replay.prove import Divergence, LogProof

ROOT = Path(__file__).parents[2]
AT = "2027-01-01T00:00:00.000000Z"
LATER = "2027-01-02T00:00:00.000000Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Log]:
    log = Log.open("journal", path, "r1")
    yield log
    log.close()


def create(log: Log, title: str, now: str = AT) -> str:
    """Make a task; its id."""
    return log.append(do.CreateTask(title), now).result.ids[0]


def proved(log: Log) -> tuple[list[Divergence], LogProof]:
    proof = LogProof(log.name, log.payload)
    return list(proof.walk(log.rows())), proof


def ns(log: Log) -> list[int]:
    """The number of each append."""
    return [rows[0].n for rows in log.appends()]


# -------------------------------------------------------------------------------- append and read


def test_the_epoch_stands_first_and_alone(journal: Log) -> None:
    create(journal, "one")
    create(journal, "two")
    epoch, first, second = journal.appends()
    assert [one.stream for one in epoch] == ["log:main@r1"]
    assert isinstance(epoch[0].fact, EpochBegan)
    assert (epoch[0].n, first[0].n, second[0].n) == (1, 2, 3)
    assert all(one.at == AT for one in (*epoch, *first, *second))
    assert all(isinstance(append[0].fact, Receipt) for append in (first, second))


def test_time_never_goes_back(journal: Log) -> None:
    create(journal, "one", LATER)
    create(journal, "two", AT)
    assert [append[0].at for append in journal.appends()] == [LATER, LATER, LATER]
    assert journal.tail().at == LATER


def test_a_stream_is_read_with_the_time_of_each_append(journal: Log) -> None:
    task = create(journal, "one")
    journal.append(do.EditTask(task, title="1", priority="P0"), LATER)
    facts = journal.facts(f"task:{task}@r1")
    assert [(fact.version, fact.n, fact.row, fact.at) for fact in facts] == [
        (1, 2, 2, AT),
        (2, 3, 1, LATER),
        (3, 3, 2, LATER),
    ]


def test_appends_after_a_number_are_whole_and_in_order(journal: Log) -> None:
    for n in range(40):
        create(journal, f"task {n}")
    whole = list(journal.appends())
    for n in (0, 1, 2, 20, 40, 41, 99):
        assert list(journal.appends(n)) == whole[n:]
    assert [rows[0].n for rows in journal.appends(37)] == [38, 39, 40, 41]


@pytest.mark.parametrize("is_file", [True, False])
def test_rows_in_bulk_are_the_rows_one_by_one(journal: Log, is_file: bool) -> None:
    log = journal if is_file else Log.in_memory("journal")
    create(log, "one")
    odd = 'a "quoted"\n\tkey \x1f\\ @ ü'
    log.append(do.CreateTask("two"), AT, key=odd)
    for nth in range(20):
        create(log, f"Nummer {nth}: schön\u2028")
    for after in (0, 1, 2, 7, 22, 23, 99):
        rows = list(log.rows(after))
        for size in (1, 2, 7, 1_000):
            pages = [page.split(b"\n") for page in log.lines(after, size)]
            assert [one for page in pages for one in page] == [line(row) for row in rows]
            told = [[json.loads(one)["state"].get("row", 0) for one in page] for page in pages]
            assert all(page[0] == 0 and len(page) >= size for page in told[:-1])
            assert all(0 not in page[size:] for page in told)
    assert json.loads(line(next(log.rows(2))))["stream"] == f"receipt:{odd}@r1"


def test_the_world_as_it_stood(journal: Log) -> None:
    task = create(journal, "one")
    for title in ("two", "three"):
        journal.append(do.EditTask(task, title=title), AT)
    titles = [journal.world_at(n).load(TASK, task).title for n in range(5)]
    assert titles == ["", "", "one", "two", "three"]
    with journal.reading() as world:
        assert (world.n, world.load(TASK, task).title) == (5, "three")


@pytest.mark.parametrize("is_file", [True, False])
def test_what_is_expected_loads_as_what_is_not(journal: Log, *, is_file: bool) -> None:
    log = journal if is_file else Log.in_memory("journal", "r1")
    task, other = create(log, "one"), create(log, "two")
    log.append(do.EditTask(task, title="three"), AT)
    ids = [task, "none", other]
    with log.reading() as world:
        plain = [world.load(TASK, one) for one in ids]
    with log.reading() as world:
        world.expect(TASK, ids)
        assert [world.load(TASK, one) for one in ids] == plain
    assert [one.title for one in plain] == ["three", "", "two"]


def test_one_look_takes_the_place_of_one_for_each_new_entity() -> None:
    looks: list[str] = []

    def read(stream: str, after: int) -> list[RecordedEvent]:
        looks.append(stream)
        return []

    known = {"task:old@r1"}
    world = LogState("journal", "r1", 1, read, lambda _: None, present=known.intersection)
    world.expect(TASK, ["new", "old", "newer"])
    for one in ("new", "old", "newer", "unexpected"):
        assert not world.load(TASK, one).exists
    assert looks == ["task:old@r1", "task:unexpected@r1"]


def test_payloads_stand_once_and_only_with_an_append(journal: Log) -> None:
    task = create(journal, "one")
    kept, brought = words(task, "long " * 1_000)
    for _ in range(2):
        journal.append(do.AddNote(task, "note", kept), AT, payloads=brought)
    assert journal.payload(kept.payload) == b"long " * 1_000
    lost = payload(task, b"lost")
    with pytest.raises(Refused):
        journal.append(do.EditTask("nobody", title="x"), AT, payloads=[lost])
    journal.append(do.EditTask(task, title="one"), AT, payloads=[lost])
    assert journal.payload(lost.id) is None
    assert proved(journal)[0] == []


# ---------------------------------------------------------------------------- keys and refusals


def test_a_command_that_decides_nothing_writes_only_what_its_key_needs(journal: Log) -> None:
    task = create(journal, "one")
    count = journal.count()
    assert journal.append(do.EditTask(task, title="one"), AT).rows == ()
    assert journal.count() == count
    appended = journal.append(do.EditTask(task, title="one"), AT, key="k")
    assert [row.stream for row in appended.rows] == ["receipt:k@r1"]


# -------------------------------------------------------------------------------- several writers


WRITER = """
import sys
from pathlib import Path
from adapters.home.clock import SystemClock
from adapters.store.log import Log
from domain.journal.commands import CreateTask, EditTask

path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
log = Log.open("journal", path, "r1")
clock = SystemClock()
shared = ""
for n in range(count):
    made = log.append(CreateTask(f"{name} {n}", labels=()), clock.now())
    shared = shared or made.result.ids[0]
    log.append(EditTask(shared, title=f"{name} at {n}"), clock.now(), key=f"{name}-{n}")
    print(n, flush=True)
log.close()
"""


def writer(path: Path, name: str, count: int) -> "subprocess.Popen[bytes]":
    """A process that appends twice for each number it prints."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), str(path), name, str(count)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def titles(log: Log) -> list[str]:
    facts = [one.fact for append in log.appends() for one in append]
    return [fact.title for fact in facts if isinstance(fact, TaskCreated)]


def test_who_opens_a_new_log_waits_for_another_that_makes_it(path: Path) -> None:
    """SQLite itself refuses a log written ahead at once, whatever one would wait for a lock."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    done = Timer(0.2, other.close)
    done.start()
    log = Log.open("journal", path, "r1")
    done.join()
    assert create(log, "one")
    log.close()


@pytest.mark.slow
def test_several_processes_lose_nothing(path: Path) -> None:
    writers = [writer(path, f"w{n}", 25) for n in range(4)]
    for one in writers:
        _, errors = one.communicate(timeout=120)
        assert (one.returncode, errors.decode()) == (0, "")
    log = Log.open("journal", path, "r1")
    assert ns(log) == list(range(1, 1 + 1 + 4 * 50))
    assert sorted(titles(log)) == sorted(f"w{n} {m}" for n in range(4) for m in range(25))
    divergences, proof = proved(log)
    assert divergences == []
    assert (proof.causes, proof.heads) == (201, {"journal:r1": log.tail().digest})
    log.close()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_killed_process_leaves_whole_appends(path: Path) -> None:
    told = []
    for round_ in range(4):
        killed = writer(path, f"w{round_}", 100_000)
        assert killed.stdout is not None
        told += [f"w{round_} {int(killed.stdout.readline())}" for _ in range(3 + 4 * round_)]
        killed.kill()
        killed.communicate()
    log = Log.open("journal", path, "r1")
    assert set(told) <= set(titles(log))
    assert ns(log) == list(range(1, log.tail().n + 1))
    assert proved(log)[0] == []
    create(log, "still writes")
    assert proved(log)[0] == []
    log.close()


def test_two_writers_of_one_process_see_each_other(path: Path, journal: Log) -> None:
    other = Log.open("journal", path, "r1")
    task = create(journal, "one")
    for n in range(4):
        (journal, other)[n % 2].append(do.EditTask(task, title=f"title {n}"), AT)
        with (other, journal)[n % 2].reading() as world:
            assert world.load(TASK, task).title == f"title {n}"
    assert ns(other) == ns(journal) == [1, 2, 3, 4, 5, 6]
    assert proved(journal)[0] == []
    other.close()


# ------------------------------------------------------------------------------- another replica


def test_a_new_replica_marks_what_it_found_and_reads_it(path: Path, journal: Log) -> None:
    task = create(journal, "one")
    journal.append(do.EditTask(task, title="two"), LATER)
    second = Log.open("journal", path, "r2")
    edited = second.append(do.EditTask(task, title="three"), AT)
    marker, epoch, edit = second.appends(3)
    assert marker[0].fact == ReplicasImported((Imported("r1", 3),))
    assert (marker[0].stream, marker[0].n, marker[0].at) == ("log:main@r2", 4, LATER)
    assert isinstance(epoch[0].fact, EpochBegan)
    assert (edit[0].n, edited.rows[-1].stream) == (6, f"task:{task}@r2")
    with second.reading() as world:
        assert world.load(TASK, task).title == "three"
    assert second.world_at(3).load(TASK, task).title == "two"
    divergences, proof = proved(second)
    assert divergences == []
    assert set(proof.heads) == {"journal:r1", "journal:r2"}
    second.close()


def test_a_key_of_one_replica_protects_in_the_next(path: Path, journal: Log) -> None:
    first = journal.append(do.CreateTask("one"), AT, key="k")
    second = Log.open("journal", path, "r2")
    create(second, "two")
    again = second.append(do.CreateTask("one"), AT, key="k")
    assert (again.result, again.rows) == (first.result, ())
    second.close()


def test_a_refused_first_command_of_a_replica_leaves_no_marker(path: Path, journal: Log) -> None:
    create(journal, "one")
    second = Log.open("journal", path, "r2")
    with pytest.raises(Refused):
        second.append(do.EditTask("nobody", title="x"), AT)
    assert ns(second) == [1, 2]
    create(second, "two")
    assert ns(second) == [1, 2, 3, 4, 5]
    assert proved(second)[0] == []
    second.close()


def test_a_replica_may_come_back(path: Path, journal: Log) -> None:
    task = create(journal, "one")
    second = Log.open("journal", path, "r2")
    second.append(do.EditTask(task, title="two"), AT)
    journal.append(do.EditTask(task, title="three"), AT)
    with journal.reading() as world:
        assert world.load(TASK, task).title == "three"
    marker = next(journal.appends(5))
    assert marker[0].fact == ReplicasImported((Imported("r2", 5),))
    second.close()
    assert proved(journal)[0] == []


# ------------------------------------------------------------- parts of a stream, and many payloads


def test_rows_with_some_tags_are_left_out_of_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = Log.open("journal", path, "r1")
    task = journal.append(do.CreateTask("one"), AT).result.ids[0]
    for text in ("a", "b"):
        journal.append(do.AddNote(task, "note", words(task, text)[0]), AT)
    stream, memory = f"task:{task}@r1", MemoryLogRecorder()
    memory.insert(list(journal.rows()), ())
    for recorder in (SQLiteLogRecorder(path), memory):
        rows = recorder.stream(stream, 0)
        noted = rows[-1].row.topic
        others = [one for one in rows if one.row.topic != noted]
        assert 0 < len(others) == len(rows) - 2
        assert recorder.stream(stream, 0, [noted, "unknown"]) == others
        assert recorder.stream(stream, len(others), [noted]) == []
        recorder.close()
    journal.close()


LONG = 40  # times; longer than what is read along


@pytest.mark.parametrize("is_file", [True, False])
def test_payloads_onward_begin_with_the_one_wanted(tmp_path: Path, is_file: bool) -> None:
    log = Log.open("journal", tmp_path / "j.db", "r1") if is_file else Log.in_memory("journal")
    task = log.append(CreateTask("one"), AT).result.ids[0]
    texts = [f"{nth} ".encode() * 1_000 for nth in range(PAGE_PAYLOADS)]
    texts[2] *= LONG
    kept = [payload(task, text) for text in texts]
    for one in kept:
        log.append(AddNote(task, "note", Words(payload=one.id)), AT, payloads=[one])
    pairs = [(one.id, one.data) for one in kept]
    read = log.onward()
    assert list(read("none")) == []
    assert list(read(kept[1].id)) == [*pairs[1:2], *pairs[3:]]
    assert list(read(kept[2].id)) == pairs[2:3]  # alone: the others have been read
    assert list(read(kept[0].id)) == pairs[:1]
    log.close()


def test_rows_are_inserted_by_the_statement_of_the_library() -> None:
    assert LibraryRecorder().insert_events_statement == INSERT

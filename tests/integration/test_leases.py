"""Leases in `runtime.db`: who may try, over all processes of a home; and files that are watched."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from adapters.home.clock import ManualClock
from adapters.runtime.engine import Signal
from adapters.runtime.file_watch import LOOKS, FileWatcher
from adapters.store.leases import SqliteLeases
from adapters.store.sqlite_files import FileProbe
from domain.errors import Refused
from domain.log.timestamps import later
from tests.support.services import START

LIMIT = 3
Both = tuple[SqliteLeases, SqliteLeases]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runtime.db"


@pytest.fixture
def both(path: Path) -> Iterator[Both]:
    with closing(SqliteLeases(path)) as one, closing(SqliteLeases(path)) as two:
        one.join(START)
        two.join(START)
        yield one, two


def test_an_agent_is_leased_to_one_process_at_a_time(both: Both) -> None:
    one, two = both
    assert one.take("a", "r1", START, LIMIT)
    assert not two.take("a", "r2", START, LIMIT)
    assert two.state("a", "r1", START) == "held"
    two.give_back("a")  # not its own: nothing happens
    assert not two.take("a", "r1", START, LIMIT)
    one.give_back("a")
    assert two.take("a", "r2", START, LIMIT)


def test_so_many_are_held_over_all_processes_and_no_more(both: Both) -> None:
    one, two = both
    taken = [one.take("a", "r", START, LIMIT), two.take("b", "r", START, LIMIT)]
    taken += [one.take("c", "r", START, LIMIT), two.take("d", "r", START, LIMIT)]
    assert taken == [True, True, True, False]


def test_without_a_heartbeat_a_lease_lapses_and_is_taken_over(both: Both) -> None:
    one, two = both
    one.take("a", "r1", START, LIMIT)
    one.beat(later(START, seconds=20))
    at = later(START, seconds=40)
    assert not two.take("a", "r1", at, LIMIT)
    at = later(START, seconds=50)
    assert two.state("a", "r1", at) == "lapsed"
    assert two.state("a", "another wake", at) == "none"
    assert two.take("a", "r1", at, LIMIT)
    assert not one.take("a", "r1", at, LIMIT)


def test_what_is_left_in_doubt_may_be_taken_over_at_once(both: Both) -> None:
    one, two = both
    one.take("a", "r1", START, LIMIT)
    one.leave(is_in_doubt=True)
    assert two.state("a", "r1", START) == "lapsed"
    assert [runtime.owner for runtime in two.runtimes(START)] == [two.owner]


def test_the_lease_of_a_process_that_is_gone_has_lapsed(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from adapters.store.leases import SqliteLeases;"
        "one = SqliteLeases(Path(sys.argv[1])); one.join(sys.argv[2]);"
        "assert one.take('a', 'r1', sys.argv[2], 3)"
    )
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code, str(path), START], check=True, env=environ)
    with closing(SqliteLeases(path)) as two:
        assert [one.is_alive for one in two.runtimes(START)] == [False]
        assert two.state("a", "r1", START) == "lapsed"
        assert two.take("a", "r1", START, 1)


def test_who_lives_says_again_what_it_holds_where_the_file_was_deleted(path: Path) -> None:
    with closing(SqliteLeases(path)) as one:
        one.join(START)
        one.take("a", "r1", START, LIMIT)
        one.take("b", "r2", START, LIMIT)
        one.give_back("b")
        for gone in path.parent.glob("runtime.db*"):
            gone.unlink()
        with closing(SqliteLeases(path)) as two:
            two.take("c", "r3", START, LIMIT)
            assert two.state("a", "r1", START) == "none"
            one.beat(later(START, seconds=7))
            assert two.state("a", "r1", later(START, seconds=31)) == "held"
            assert [lease.agent for lease in two.all(START)] == ["a", "c"]
            assert [runtime.owner for runtime in two.runtimes(START)] == [one.owner]
            one.give_back("a")
            assert two.state("a", "r1", START) == "none"


def test_what_another_process_took_in_a_new_file_stays_its_own(path: Path) -> None:
    with closing(SqliteLeases(path)) as one:
        one.take("a", "r1", START, LIMIT)
        path.unlink()
        with closing(SqliteLeases(path)) as two:
            assert two.take("a", "r1", START, LIMIT)
            one.beat(START)
            assert [lease.owner for lease in one.all(START)] == [two.owner]


def test_a_file_that_is_no_database_is_made_anew(path: Path) -> None:
    path.write_bytes(b"rubbish" * 1000)
    with closing(SqliteLeases(path)) as one:
        assert one.take("a", "r1", START, LIMIT)


@pytest.mark.parametrize("what", ["no_wal", "no_shm", "other"])
def test_a_file_that_breaks_under_who_lives_is_made_anew(path: Path, what: str) -> None:
    with closing(SqliteLeases(path)) as one:
        one.join(START)
        one.take("a", "r1", START, LIMIT)
        if what == "other":
            other = path.with_name("other")
            with closing(sqlite3.connect(other)) as made:
                made.executescript("CREATE TABLE runtimes (x); CREATE TABLE leases (x)")
            other.rename(path)
        else:
            path.with_name(f"runtime.db-{what[3:]}").unlink()
        with closing(SqliteLeases(path)) as two:
            two.join(START)
            two.take("c", "r3", START, LIMIT)
            one.beat(later(START, seconds=7))
            two.beat(later(START, seconds=8))
            assert [lease.agent for lease in two.all(START)] == ["a", "c"]
            assert one.all(START) == two.all(START)
            assert one.runtimes(START) == two.runtimes(START)
            assert len(two.runtimes(START)) == 2


def test_what_is_given_back_into_a_broken_file_is_gone_with_it(path: Path) -> None:
    with closing(SqliteLeases(path)) as one:
        one.take("a", "r1", START, LIMIT)
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE leases")
        one.give_back("a")
        one.leave()
        assert one.take("a", "r1", START, LIMIT)


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="cannot be written"):
        SqliteLeases(tmp_path / "missing" / "runtime.db")


# ---------------------------------------------------------------------------------------- files


def watched(folder: Path) -> tuple[Path, FileWatcher, list[str]]:
    """A file that was taken once, who watches it, and the names of all that is taken."""
    file = folder / "TODO.md"
    file.write_text("one")
    taken: list[str] = []

    def take(name: str) -> bool:
        taken.append(name)
        return True

    files = FileWatcher([str(file)], take)
    files.take_all()
    return file, files, taken


def test_an_edit_is_taken_once_when_the_file_is_quiet(tmp_path: Path) -> None:
    file, files, taken = watched(tmp_path)
    assert [files.check(), files.check()] == [0, 0]
    file.write_text("one, two")
    assert files.check() == 0  # it may still be written
    file.write_text("one, two, three")
    assert [files.check() for _ in range(LOOKS + 2)] == [*[0] * LOOKS, 1, 0]
    assert len(taken) == 2


def test_a_file_that_is_empty_for_a_moment_is_not_taken_so(tmp_path: Path) -> None:
    file, files, taken = watched(tmp_path)
    file.write_text("")
    assert [files.check() for _ in range(LOOKS)] == [0] * LOOKS
    file.write_text("one, two")
    assert sum(files.check() for _ in range(LOOKS + 2)) == 1
    assert len(taken) == 2


def test_a_file_put_in_its_place_is_an_edit_and_a_missing_one_is_waited_for(tmp_path: Path) -> None:
    file, files, _ = watched(tmp_path)
    file.rename(tmp_path / "TODO.md~")
    assert [files.check(), files.check()] == [0, 0]
    (tmp_path / "new").write_text("two")
    (tmp_path / "new").rename(file)
    assert [files.check() for _ in range(LOOKS + 1)] == [*[0] * LOOKS, 1]


def test_a_pipe_in_its_place_is_not_read_but_the_file_waited_for(tmp_path: Path) -> None:
    file, files, taken = watched(tmp_path)
    file.unlink()
    os.mkfifo(file)
    assert [files.check() for _ in range(3)] == [0, 0, 0]
    file.unlink()
    file.write_text("two")
    assert [files.check() for _ in range(LOOKS + 1)] == [*[0] * LOOKS, 1]
    assert len(taken) == 2


def test_an_edit_that_cannot_be_taken_is_tried_again_less_and_less_often(tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("one")
    tries: list[int] = []
    works = [True]

    def take(name: str) -> bool:
        tries.append(sum(checks))
        return works[0]

    files = FileWatcher([str(file)], take)
    checks: list[int] = []
    files.take_all()
    file.write_text("one, two")
    works[0] = False
    while len(checks) < 70:
        checks.append(1)
        assert files.check() == 0
    gaps = [after - before for before, after in pairwise(tries[1:])]
    assert gaps == [5, 9, 17, 33]
    works[0] = True
    assert sum(files.check() for _ in range(200)) == 1


# -------------------------------------------------------------------------------------- signals


def test_a_write_of_another_connection_ends_the_wait(path: Path) -> None:
    clock = ManualClock(START)
    with closing(SqliteLeases(path)) as other:
        probe = FileProbe(path)

        async def waits() -> bool:
            signal = Signal(clock, [probe], poll_seconds=0.02)
            waiting = asyncio.create_task(signal.wait(""))
            await asyncio.sleep(0.1)
            was_done = waiting.done()
            other.join(START)
            await asyncio.wait_for(waiting, 5)
            return was_done

        assert asyncio.run(waits()) is False
        probe.close()


def test_a_clock_set_by_hand_is_put_forward_unless_something_runs() -> None:
    clock = ManualClock(START)

    async def waits() -> None:
        signal = Signal(clock, poll_seconds=0.01)
        await signal.wait(later(START, seconds=3600))
        assert later(START, seconds=3600) <= clock.now() < later(START, seconds=3610)
        asyncio.get_running_loop().call_later(0.05, signal.set)
        await signal.wait(later(START, seconds=9000), is_busy=True)
        assert clock.now() < later(START, seconds=3700)

    asyncio.run(waits())

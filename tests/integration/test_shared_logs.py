"""A log that several machines share, in memory and in files: what is written, in which order, what
is refused, and what a watcher makes of what others wrote (ADR 70)."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from adapters.documents.timetravel import prompt_again
from adapters.proof.prove import prove_logs
from adapters.runtime import watcher
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.store.canonical_index import FileCanonicalIndex
from adapters.store.log import Log
from adapters.store.log_copy import copy_log
from adapters.store.recorder import by_append, numbered
from adapters.store.remote_appends import RemoteAppend
from adapters.timetravel.logs_at import Past
from adapters.timetravel.why import trigger_fates
from domain.agent.commands import TakeJournal
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append.causes import GivenUp, LogShared, Receipt, ReplicasImported
from domain.append.envelope import Row
from domain.errors import Refused
from domain.journal.commands import AddNote, CreateTask, DeleteTask, EditTask
from domain.journal.task import TASK
from domain.log.wire import Imported, Payload, Words, payload
from domain.wake.commands import BeginWake
from tests.support.services import START, queued_key, services, task_with_agent
from tests.support.sharing import Machine
from wakelog.testing import calls as reply

AT, LATER = "2027-01-01T00:00:00.000000Z", "2027-01-02T00:00:00.000000Z"
FAR = "2099-01-01T00:00:00.000000Z"
NAMES = ("desk", "laptop")
Opened = Callable[[str], Log]


@pytest.fixture(params=["memory", "file"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    def one(replica: str) -> Log:
        if request.param == "memory":
            return Machine(replica)
        return Log.open("journal", tmp_path / f"{replica}.db", replica)

    return one


def all_of(log: Log, replica: str, after: int = 0) -> list[RemoteAppend]:
    return [RemoteAppend(tuple(rows), ()) for rows in log.appends_of(replica, after)]


def met(opened: Opened) -> tuple[Log, Log, str]:
    """A desk and a laptop that both renamed the desk's task, each knowing what the other did before
    that; and the task."""
    desk, laptop = opened("desk"), opened("laptop")
    task = desk.append(CreateTask("Trip"), AT).result.ids[0]
    for one in desk, laptop:
        one.share(AT)
    laptop.bring(all_of(desk, "desk"), AT)
    laptop.append(EditTask(task, title="Lake"), FAR)
    desk.append(EditTask(task, title="Hills"), LATER)
    return desk, laptop, task


def writer(rows: Sequence[Row]) -> str:
    return rows[0].stream.rpartition("@")[2]


def facts_of(log: Log) -> list[tuple[str, int, str]]:
    return [
        (rows[-1].stream.rpartition("@")[2], n, rows[-1].topic)
        for rows in by_append(log.rows())
        for n in [numbered(rows[0].state).n]
    ]


def test_appends_stand_in_canonical_order_whatever_way_they_came(opened: Opened) -> None:
    desk, laptop, _ = met(opened)
    desk.bring(all_of(laptop, "laptop"), LATER)
    laptop.bring(all_of(desk, "desk"), LATER)
    assert facts_of(desk) == [
        ("desk", 1, "log.epoch.1"),
        ("laptop", 1, "log.epoch.1"),
        ("desk", 2, "task.created.1"),
        ("laptop", 2, "log.shared.1"),
        ("desk", 3, "log.shared.1"),
        ("laptop", 3, "log.imported.1"),
        ("desk", 4, "task.retitled.1"),
        ("laptop", 4, "task.retitled.1"),
        ("desk", 5, "log.imported.1"),
    ]
    assert facts_of(laptop) == [*facts_of(desk), ("laptop", 5, "log.imported.1")]
    assert desk.telling_heads() == laptop.telling_heads()
    for one in desk, laptop:
        rows = list(one.rows())
        text = [line for page in one.lines(0, 3) for line in page.split(b"\n")]
        assert len(text) == len(rows) == one.count()
        assert all(row.state in line for row, line in zip(rows, text, strict=True))
        assert list(one.rows(3)) == [row for row in rows if numbered(row.state).n > 3]
        assert next(one.appends())[0].replica == "desk"


def test_a_chain_is_read_from_any_append_on(opened: Opened) -> None:
    desk, laptop, task = met(opened)
    for title in "a", "b", "c":
        laptop.append(EditTask(task, title=title), LATER)
    desk.bring(all_of(laptop, "laptop"), LATER)
    whole = {one: [rows for rows in by_append(desk.rows()) if writer(rows) == one] for one in NAMES}
    for name, after in product(NAMES, range(9)):
        expected = [rows for rows in whole[name] if numbered(rows[0].state).n > after]
        assert list(desk.appends_of(name, after)) == expected


def test_a_marker_is_above_all_that_it_names_and_all_else_is_numbered_on(opened: Opened) -> None:
    desk, laptop, task = met(opened)
    for _ in range(3):
        laptop.append(EditTask(task, title="Walk"), AT)
        laptop.append(EditTask(task, title="Boat"), AT)
    desk.bring(all_of(laptop, "laptop"), LATER)
    (marker,) = next(reversed(list(desk.appends())))
    assert (marker.n, marker.replica) == (11, "desk")
    assert marker.fact == ReplicasImported((Imported("laptop", 10),))
    assert desk.append(CreateTask("Next"), LATER).n == 12
    assert laptop.append(CreateTask("Apart"), AT).n == 11


def test_a_clock_that_is_ahead_stays_its_own(opened: Opened) -> None:
    desk, laptop, _ = met(opened)
    desk.bring(all_of(laptop, "laptop"), LATER)
    assert laptop.tail().at == FAR
    assert desk.tail().at == LATER


def test_who_is_told_again_or_of_markers_alone_writes_nothing(opened: Opened) -> None:
    desk, laptop, _ = met(opened)
    assert desk.bring(all_of(laptop, "laptop"), LATER) == 5
    before = desk.count()
    assert desk.bring(all_of(laptop, "laptop"), LATER) == 0
    assert laptop.bring(all_of(desk, "desk"), LATER) == 3
    assert desk.count() == before
    assert desk.bring(all_of(laptop, "laptop"), LATER) == 1
    assert (desk.count(), desk.tail().n) == (before + 1, 5)
    assert desk.heads()["laptop"].n == 5
    assert [one[0].n for one in desk.appends(4)] == [5]
    assert desk.append(CreateTask("Next"), LATER).n == 6


def test_what_does_not_follow_what_is_held_is_refused_and_leaves_nothing(opened: Opened) -> None:
    desk, laptop, _ = met(opened)
    first, second, *rest = all_of(laptop, "laptop")
    twin = opened("twin")
    twin.replica = "laptop"
    twin.append(CreateTask("Other"), AT)
    shuffled = RemoteAppend(rest[-1].rows[::-1], ())
    wrong = [
        [first, *rest],
        [first, second, *all_of(twin, "laptop")[1:]],
        [first, second, *rest[:-1], shuffled],
        [first, second, *rest[:-1], RemoteAppend(rest[-1].rows[:-1], ())],
    ]
    before = list(desk.rows())
    for appends in wrong:
        with pytest.raises(Refused, match="does not follow") as refused:
            desk.bring(appends, LATER)
        assert refused.value.code == "forked_replica"
        assert list(desk.rows()) == before
        assert list(desk.heads()) == ["desk"]
    twin.share(AT)
    with pytest.raises(Refused):
        twin.bring(all_of(laptop, "laptop", 3), AT)
    assert desk.bring([first, second, *rest], LATER) == 5


def test_a_log_alone_takes_nothing_in_and_is_numbered_as_ever(opened: Opened) -> None:
    desk, *_ = met(opened)
    alone = opened("alone")
    alone.append(CreateTask("Mine"), AT)
    with pytest.raises(Refused) as refused:
        alone.bring(all_of(desk, "desk"), AT)
    assert refused.value.code == "not_shared"
    assert (alone.is_shared, desk.is_shared) == (False, True)
    assert alone.telling_heads() == alone.heads() == {"alone": alone.tail()}
    rows = desk.count()
    desk.share(LATER)
    assert desk.count() == rows


def test_the_world_at_an_append_is_what_its_writer_knew(opened: Opened) -> None:
    desk, laptop, task = met(opened)
    desk.bring(all_of(laptop, "laptop"), LATER)
    assert [row.n for row in desk.world_at(4).history("task", task)] == [2, 4]
    assert [row.n for row in desk.world_at(5).history("task", task)] == [2, 4, 4]
    assert desk.digest_at(4) != desk.digest_at(4, "laptop") == laptop.digest_at(4)
    assert desk.append_at(3, "laptop") == laptop.append_at(3)
    assert not desk.append_at(9)


def test_payloads_come_with_the_appends_that_name_them() -> None:
    desk, laptop = Machine("desk"), Machine("laptop")
    kept: Payload = payload("task", b"words")
    desk.add("home", kept)
    for one in desk, laptop:
        one.share(AT)
    appends = all_of(desk, "desk")
    laptop.bring([*appends[:-2], RemoteAppend(appends[-2].rows, (kept,)), appends[-1]], AT)
    assert laptop.payload(kept.id) == b"words"


def test_only_a_shared_file_has_the_table_its_index_and_the_newer_format(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    log = Log.open("journal", path, "desk")
    log.append(CreateTask("Trip"), AT)
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (1,)
        tables = file.execute("SELECT count(*) FROM sqlite_master").fetchone()
        other = Log.open("journal", path, "desk")
        log.share(AT)
        assert file.execute("PRAGMA user_version").fetchone() == (2,)
        assert file.execute("SELECT count(*) FROM sqlite_master").fetchone() == (tables[0] + 2,)
        assert other.append(CreateTask("By another process"), AT).n == 4
        told = file.execute("SELECT n, replica, first, rows FROM appends").fetchall()
    assert told == [(1, "desk", 1, 1), (2, "desk", 2, 3), (3, "desk", 5, 1), (4, "desk", 6, 2)]
    assert isinstance(log.facts("log:main@desk")[-1].fact, LogShared)


def test_a_shared_home_that_gets_a_new_name_is_shared_under_it(tmp_path: Path) -> None:
    desk, laptop, task = met(lambda name: Log.open("journal", tmp_path / f"{name}.db", name))
    desk.bring(all_of(laptop, "laptop"), LATER)
    desk.close()
    again = Log.open("journal", tmp_path / "desk.db", "desk2")
    again.adopt(LATER, [GivenUp("desk", 4, 9)])
    assert again.is_shared
    assert [one[0].n for one in again.appends(5)] == [10, 11, 12]
    assert len(again.world_at(12).history("task", task)) == 3
    assert again.bring(all_of(again, "desk2"), LATER) == 0


def test_a_key_that_two_machines_used_is_answered_alike_by_both() -> None:
    desk, laptop, task = met(Machine)
    mine = desk.append(EditTask(task, due="2027-03-01"), LATER, key="k")
    laptop.append(CreateTask("Unsaid"), AT)
    laptop.append(EditTask(task, due="2027-03-01"), LATER, key="k")
    desk.bring(all_of(laptop, "laptop"), LATER)
    laptop.bring(all_of(desk, "desk"), LATER)
    for one in desk, laptop:
        again = one.append(EditTask(task, due="2027-03-01"), LATER, key="k")
        assert (again.n, again.rows) == (mine.n, ())


def test_what_counts_is_folded_by_all_alike_and_told_to_who_opens_the_file_later(
    tmp_path: Path,
) -> None:
    """A person's deletion that met a person's edit is left out."""

    def opened(name: str) -> Log:
        return Log.open("journal", tmp_path / f"{name}.db", name)

    desk, laptop, task = met(opened)
    desk.append(DeleteTask(task), LATER)
    with desk.reading() as world:
        assert world.load(TASK, task).is_deleted
    desk.bring(all_of(laptop, "laptop"), LATER)
    laptop.bring(all_of(desk, "desk"), LATER)
    for one in desk, laptop, opened("desk"):
        with one.reading() as world:
            found = world.load(TASK, task)
            assert (found.title, found.is_deleted) == ("Lake", False)
    assert desk.world_at(5).load(TASK, task).is_deleted


def test_a_shared_log_is_not_copied_under_its_name() -> None:
    desk, *_ = met(Machine)
    copy = Machine("desk")
    with pytest.raises(Refused) as refused:
        copy_log(desk, copy, lambda *_: None)
    assert (refused.value.code, copy.count()) == ("not_shared", 0)


# ----------------------------------------------------------- what is found without going through it


class Stepped:
    """Asks a file, and counts the steps that SQLite takes for it."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.set_progress_handler(self._one, 1)
        self.steps = 0

    def _one(self) -> int:
        self.steps += 1
        return 0

    def found(self, sql: str, *values: str | int) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()


def filled(path: Path, tasks: int) -> Log:
    """A desk's file: of a phone a first word long ago, of a laptop and the desk many tasks."""
    desk = Log.open("journal", path, "desk")
    desk.share(AT)
    for name, count in ("phone", 1), ("laptop", tasks):
        other = Log.in_memory("journal", name)
        other.share(AT)
        for _ in range(count):
            other.append(CreateTask("Trip"), AT)
        desk.bring([RemoteAppend(tuple(rows), ()) for rows in other.appends_of(name, 0)], AT)
    for _ in range(tasks):
        desk.append(CreateTask("Trip"), AT)
    return desk


def asked(path: Path) -> int:
    """The steps it takes to learn who wrote, and what each of them wrote last."""
    stepped = Stepped(path)
    order = FileCanonicalIndex(stepped.found)
    assert order.writers() == ["desk", "laptop", "phone"]
    for name in order.writers():
        assert order.last(name)
        assert order.last(name, is_telling=True)
        assert list(order.rows_of(name, 10**9)) == []
    assert order.last()
    return stepped.steps


def test_who_wrote_and_what_last_is_found_alike_in_a_small_and_a_large_file(tmp_path: Path) -> None:
    filled(tmp_path / "small.db", 10).close()
    filled(tmp_path / "large.db", 400).close()
    assert asked(tmp_path / "large.db") <= asked(tmp_path / "small.db")


def test_a_file_of_an_earlier_version_is_read_without_the_index_and_gets_it_when_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "desk.db"
    filled(path, 10).close()
    with sqlite3.connect(path) as file:
        file.execute("DROP INDEX appends_of_each")
    reader = Log.read_only("journal", path, "desk")
    assert sorted(reader.heads()) == sorted(reader.telling_heads()) == ["desk", "laptop", "phone"]
    reader.close()
    log = Log.open("journal", path, "desk")
    assert log.heads()["phone"].n == 3
    log.append(CreateTask("Lake"), AT)
    log.close()
    with sqlite3.connect(path) as file:
        assert list(file.execute("SELECT 1 FROM sqlite_master WHERE name = 'appends_of_each'"))
    assert asked(path)


# ------------------------------------------------------------------------------------------ watched


def taken_in(log: Log, by: Log, now: str = START) -> None:
    """Let a journal know what another machine wrote."""
    after = by.heads().get(log.replica)
    theirs = log.appends_of(log.replica, after.n if after else 0)
    by.bring([RemoteAppend(tuple(rows), ()) for rows in theirs], now)


def shared() -> tuple[Services, Log, str, str]:
    """A desk with a task and its agent, which has woken once, and a laptop that knows both."""
    at, laptop = services([reply(text="Fine."), reply(text="Seen.")]), Log.in_memory("journal", "a")
    task, agent = task_with_agent(at)
    for one in at.journal, laptop:
        one.share(START)
    taken_in(at.journal, laptop)
    watcher.catch_up(at)
    asyncio.run(run_wake(at, agent, queued_key(at, agent), is_now=True))
    return at, laptop, task, agent


def batches(at: Services) -> list[tuple[int, str, str, int]]:
    """What was taken of the journal: its number and replica here, and where it was written."""
    return [
        (batch.n, batch.replica, batch.of, batch.of_n)
        for rows in at.agents.appends()
        if isinstance(rows[0].fact, Receipt) and isinstance(rows[0].fact.command, TakeJournal)
        for batch in rows[0].fact.command.batches
    ]


def told(at: Services, section: str) -> str:
    """What the newest wake was told in a section."""
    firsts = [rows[0].fact for rows in at.agents.appends()]
    causes = [one.command for one in firsts if isinstance(one, Receipt)]
    begun = [one for one in causes if isinstance(one, BeginWake)][-1]
    ref = next(one for one in begun.user if one.name == section)
    return (at.agents.payload(ref.payload) or b"").decode()


def test_what_the_laptop_wrote_wakes_the_desks_agent_though_it_is_numbered_below() -> None:
    at, laptop, task, agent = shared()
    for nth in range(9):
        at.append_journal(CreateTask(f"Of the desk {nth}"))
    watcher.catch_up(at)
    assert not queued_key(at, agent)
    laptop.append(EditTask(task, title="Fix the tap"), START)
    laptop.append(AddNote(task, "note", Words("The tap drips, too.")), START)
    written = laptop.tail().n
    assert written < watcher.position(at)
    taken_in(laptop, at.journal)
    watcher.catch_up(at)
    marker = at.journal.tail().n
    assert batches(at)[-2:] == [
        (marker, at.journal.replica, "a", written - 1),
        (marker, at.journal.replica, "a", written),
    ]
    with at.agents.reading() as world:
        queued = world.load(WAKE_QUEUE, agent).queued
    assert queued is not None
    assert {(one.of, one.of_n) for one in queued.triggers} == {("a", written - 1), ("a", written)}
    asyncio.run(run_wake(at, agent, queued.run_key, is_now=True))
    assert "retitled by person" in told(at, "changed")
    assert "note_added by person" in told(at, "changed")
    proved = prove_logs(at.journal, at.agents)
    assert proved.divergences == ()
    assert proved.prompts == 2
    told_of = {(one.position, one.what, one.outcome) for one in trigger_fates(at, agent, 50)}
    assert {one for one in told_of if one[0].startswith("journal:a:")} == {
        (f"journal:a:{written - 1}", "retitled by you", "woke"),
        (f"journal:a:{written}", "note added by you", "merged"),
    }
    past, here = Past(at.journal, at.agents), at.journal.replica
    assert {one.is_same for one in prompt_again(past, queued.run_key, here)} == {True}
    titles = [past.journal.world(n).load(TASK, task).title for n in (marker - 1, marker)]
    assert titles == ["Fix the sink", "Fix the tap"]
    assert past.journal.world(written, "a").load(TASK, task).title == "Fix the tap"


def test_a_time_is_of_this_machine_though_the_clock_of_another_is_ahead() -> None:
    at, laptop, task, _ = shared()
    for nth in range(5):
        laptop.append(EditTask(task, title=f"Title {nth}"), "2099-01-01T00:00:00.000000Z")
    for nth in range(9):
        at.append_journal(CreateTask(f"Of the desk {nth}"))
    taken_in(laptop, at.journal, at.journal.tail().at)
    own, now = at.journal.tail().n, at.journal.tail().at
    past = Past(at.journal, at.agents).journal
    assert past.until(now) == own
    assert past.until(now, is_with=False) < own
    assert past.until("2026-01-01T00:00:00.000000Z") == 0


def test_what_is_numbered_above_comes_with_its_marker_and_once() -> None:
    at, laptop, task, _ = shared()
    for nth in range(9):
        laptop.append(EditTask(task, title=f"Title {nth}"), START)
    taken_in(laptop, at.journal)
    at.append_journal(CreateTask("Between"))
    taken = len(batches(at))
    watcher.catch_up(at)
    last = laptop.tail().n
    assert [one[2:] for one in batches(at)[taken:]] == [
        *(("a", n) for n in range(last - 8, last + 1)),
        ("", 0),
    ]
    assert watcher.lag(at) == 0
    assert prove_logs(at.journal, at.agents).divergences == ()

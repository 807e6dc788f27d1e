"""A journal that several machines share, in memory and in files: what is written, in which order,
and what is refused."""

import sqlite3
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest

from adapters.store.log import Log
from adapters.store.log_copy import copy_log
from adapters.store.recorder import by_append, numbered
from adapters.store.remote_appends import RemoteAppend
from domain.append.causes import GivenUp, LogShared, ReplicasImported
from domain.append.envelope import Row
from domain.errors import Refused
from domain.journal.commands import CreateTask, DeleteTask, EditTask
from domain.journal.task import TASK
from domain.log.wire import Imported, Payload, payload
from tests.support.sharing import Machine

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

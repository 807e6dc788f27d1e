"""What every recorder of a log keeps to: in memory, in a file, in PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import by_append, line
from domain.append import envelope
from domain.errors import KeyReused, Refused
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words, payload
from replay.prove import LogProof

AT = "2027-01-01T00:00:00.000000Z"
LATER = "2027-01-02T00:00:00.000000Z"

Opened = Callable[[], Log]
"""The same log once more, as another process would open it."""


@pytest.fixture(params=["memory", "file", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    if request.param == "memory":
        kept = MemoryLogRecorder()
        yield lambda: Log("journal", kept, "r1")
    elif request.param == "file":
        yield lambda: Log.open("journal", tmp_path / "journal.db", "r1")
    else:
        homes = request.getfixturevalue("homes_of_all")
        home = homes.create(f"home-{len(homes.all())}", "r1")
        yield lambda: homes.log(home, "journal")


def filled(log: Log, count: int = 3) -> list[str]:
    """The ids of so many tasks with a note each."""
    ids = []
    for nth in range(count):
        task = log.append(CreateTask(f"Task {nth} 屋根"), AT).result.ids[0]
        kept = payload(task, f"note {nth} \0 läßt".encode())
        log.append(AddNote(task, "note", Words(payload=kept.id)), LATER, payloads=[kept])
        ids.append(task)
    return ids


def test_what_is_appended_is_read_by_another_in_the_same_order(opened: Opened) -> None:
    one, two = opened(), opened()
    ids = filled(one)
    assert list(two.rows()) == list(one.rows())
    assert two.tail() == one.tail()
    assert two.tail().n == 7
    assert two.count() == len(list(one.rows()))
    assert [rows[0].n for rows in two.appends(3)] == [4, 5, 6, 7]
    assert [row.stream for row in two.rows()] == [row.stream for row in one.rows()]
    assert len(two.facts(f"task:{ids[0]}@r1")) == 2
    proof = LogProof("journal", two.payload)
    assert list(proof.walk(two.rows())) == []


def test_pages_in_bulk_say_what_the_rows_say(opened: Opened) -> None:
    log = opened()
    filled(log)
    told = b"\n".join(log.lines(0, 4)).splitlines()
    assert told == [line(row) for row in log.rows()]
    pages = [page.splitlines() for page in log.lines(2, 4)]
    assert all(len(page) >= 4 for page in pages[:-1])
    assert sum(len(page) for page in pages) == len(list(log.rows(2)))


def test_an_append_and_the_newest_rows_are_found_by_themselves(opened: Opened) -> None:
    log = opened()
    assert (list(log.newest(3)), list(log.append_at(1)), log.tail().n) == ([], [], 0)
    filled(log)
    appends = list(by_append(log.rows()))
    for n, rows in enumerate(appends, 1):
        assert list(log.append_at(n)) == rows
        assert log.digest_at(n) == envelope.digest(rows)
    assert list(log.append_at(99)) == []
    assert list(log.newest(4)) == list(log.rows())[-4:]
    assert len(list(log.newest(1000))) == log.count()


def test_streams_are_found_by_kind_and_read_from_a_version_but_for_some_tags(
    opened: Opened,
) -> None:
    log = opened()
    ids = filled(log)
    assert sorted(log.streams_of("task")) == sorted(f"task:{one}@r1" for one in ids)
    assert list(log.streams_of("tas")) == []
    first, second = log.facts(f"task:{ids[1]}@r1")
    assert (first.version, second.version) == (1, 2)
    assert log.last_fact(f"task:{ids[1]}@r1") == second
    assert log.last_fact("task:nobody@r1") is None


def test_payloads_are_kept_once_and_read_one_by_one_in_bulk_and_onward(opened: Opened) -> None:
    log = opened()
    task = filled(log)[0]
    kept = [payload(task, f"{nth}".encode() * 9) for nth in range(5)]
    for one in (*kept, kept[0]):
        log.append(AddNote(task, "note", Words(payload=one.id)), AT, payloads=[one])
    assert [log.payload(one.id) for one in kept] == [one.data for one in kept]
    assert log.payload("none") is None
    assert dict(log.payloads([kept[3].id, "none", kept[1].id])) == {
        kept[3].id: kept[3].data,
        kept[1].id: kept[1].data,
    }
    read = log.onward()
    assert list(read("none")) == []
    assert dict(read(kept[1].id))[kept[1].id] == kept[1].data
    assert dict(read(kept[0].id)) == {kept[0].id: kept[0].data}  # one that others have passed


def test_a_key_answers_again_and_stands_for_one_command(opened: Opened) -> None:
    one, two = opened(), opened()
    first = one.append(CreateTask("one"), AT, key="k")
    again = two.append(CreateTask("one"), LATER, key="k")
    assert (again.result, again.rows, again.n) == (first.result, (), first.n)
    with pytest.raises(KeyReused):
        two.append(CreateTask("two"), LATER, key="k")
    assert two.count() == one.count() == 4


def test_what_is_refused_leaves_nothing_and_holds_nobody_up(opened: Opened) -> None:
    one, two = opened(), opened()
    filled(one, 1)
    before = list(one.rows())
    kept = payload("nobody", b"lost")
    with pytest.raises(Refused):
        one.append(AddNote("nobody", "note", Words(payload=kept.id)), AT, payloads=[kept])
    assert list(two.rows()) == before
    assert two.payload(kept.id) is None
    assert two.append(CreateTask("goes on"), AT).n == len(list(by_append(before))) + 1
    assert one.append(CreateTask("both do"), AT).n == two.tail().n


def test_a_reader_sees_one_state_for_as_long_as_it_looks(opened: Opened) -> None:
    one, two = opened(), opened()
    filled(one, 1)
    if one.recorder is two.recorder:  # in memory there is one process alone
        return
    with two.reading() as world:
        before = world.n, two.count()
        one.append(CreateTask("meanwhile"), AT)
        assert (world.n, two.count()) == before
    assert two.count() > before[1]

"""The order of a shared file: what each machine wrote last is found without going through it."""

import sqlite3
from pathlib import Path
from typing import Any

from adapters.store.canonical_index import FileCanonicalIndex
from adapters.store.log import Log
from adapters.store.remote_appends import RemoteAppend
from domain.journal.commands import CreateTask

AT = "2027-01-01T00:00:00.000000Z"


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

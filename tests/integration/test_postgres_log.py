"""A log in PostgreSQL: fences between homes, many writers, and a line that breaks."""

import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from adapters.store.log import Log
from adapters.store.postgres.database import CONNECT_SECONDS, Database
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.statements import statements_of
from domain.errors import Refused, WakelogError
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words, payload
from replay.prove import LogProof
from tests.support import process
from tests.support.cutting import PLAINLY, Line, Side, line_to

pytestmark = pytest.mark.slow
AT = "2027-01-01T00:00:00.000000Z"


def proved(log: Log) -> list[object]:
    return list(LogProof(log.name, log.payload).walk(log.rows()))


# ------------------------------------------------------------------------------------------ fences


def test_no_statement_of_a_log_says_anything_to_who_names_no_home_or_another(
    postgres_homes: Homes,
) -> None:
    anna, ben = (postgres_homes.create(name, "r1") for name in ("anna", "ben"))
    log, words = postgres_homes.log(anna, "journal"), payload("task", b"words")
    task = log.append(CreateTask("Anna's"), AT).result.ids[0]
    log.append(AddNote(task, "note", Words(payload=words.id)), AT, payloads=[words])
    home, stream, sql = anna.number, f"task:{task}@r1", statements_of("journal")
    written = [[99], [0], [1], ["r1"], [f"{stream}x"], ["t"], [b"{}"]]
    asked: dict[str, Any] = {
        "lock": (home,),
        "head": (home,),
        "stream": (home, stream, 0, 9, []),
        "together": (home, [stream], 9),
        "present": ([stream], home, 9),
        "streams": (home, "task:", "task;", 9),
        "append": (home, 1),
        "newest": (home, 9, 9),
        "last_version": (home, stream, 9),
        "page": (home, 0, "", 0, 9),
        "payload": (home, words.id),
        "payloads": (home, [words.id]),
        "kept": (home, 0, ""),
        "onward": {"home": home, "id": words.id, "last": 9},
        "write": (home, *written, home, [99], ["p"], [b"p"], 99, AT, "d", "r1", 1, home),
        "mark": ([stream], [1], ["Erased"], [b"{}"], home),
        "drop": (home, [words.id]),
    }
    assert asked.keys() == sql._asdict().keys()

    def told(name: str, of: int | None) -> list[tuple[Any, ...]]:
        open_line = postgres_homes.database.connection()
        with open_line as line, line.transaction(force_rollback=True):
            role = "wakelog_eraser" if name in {"mark", "drop"} else "wakelog_app"
            line.execute(f"SET LOCAL ROLE {role}".encode())
            if of is not None:
                line.execute("SELECT set_config('wakelog.home', %s, true)", (str(of),))
            cursor = line.execute(getattr(sql, name).encode(), asked[name])
            return cursor.fetchall() if cursor.description else [()] * cursor.rowcount

    for name in asked:
        with pytest.raises((psycopg.Error, WakelogError)):
            told(name, None)
    for name in asked.keys() - {"write", "last_version"}:
        assert told(name, home) != [], name
        assert told(name, ben.number) == [], name
    assert told("last_version", ben.number) == [(None,)]
    with pytest.raises(Refused, match="row-level security"):
        told("write", ben.number)


# ----------------------------------------------------------------------------------- many writers


def test_writers_of_a_home_stand_in_one_order_and_those_of_two_do_not_meet(
    postgres_homes: Homes,
) -> None:
    anna, ben = (postgres_homes.create(name, "r1") for name in ("anna", "ben"))

    def write(nth: int) -> None:
        log = postgres_homes.log(anna if nth % 2 else ben, "journal")
        for one in range(20):
            log.append(CreateTask(f"{nth} {one}"), AT)

    writers = [threading.Thread(target=write, args=(nth,)) for nth in range(6)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    for home in (anna, ben):
        log = postgres_homes.log(home, "journal")
        assert [rows[0].n for rows in log.appends()] == list(range(1, 62))  # and the epoch
        assert proved(log) == []


# ------------------------------------------------------------------------------ a line that breaks


@pytest.mark.parametrize("side", ["asked", "answered"])
def test_an_append_whose_line_breaks_is_written_once_or_told_not_to_be(
    postgres: str, postgres_homes: Homes, side: Side
) -> None:
    """Cut at each question, or answer, that goes over the line, up to that of the commit. Which one
    that is stays the same: each append has a pool of its own, with one connection that was asked
    once. A pool that lost one opens another by itself, whose first questions take more answers."""
    anna = postgres_homes.create("anna", "r1")
    plain = postgres_homes.log(anna, "journal")
    plain.append(CreateTask("first"), AT)
    found: list[str] = []
    with line_to(int(urlsplit(postgres).port or 0)) as line:
        name = the_newest(postgres)
        url = f"postgresql://owner@127.0.0.1:{line.port}/{name}?{PLAINLY}"
        while found[-1:] != ["whole"]:  # bounded by what an append says
            with closing(Database(url)) as broken:
                log = Homes(broken).log(anna, "journal")
                found.append(cut_at(len(found), side, line, log, plain))
    ends = ["written", "whole"] if side == "answered" else ["whole"]
    told = len(found) - len(ends)
    assert told >= 3
    assert found == ["told"] * told + ends
    assert proved(plain) == []


def cut_at(nth: int, side: Side, line: Line, log: Log, plain: Log) -> str:
    """Append to a log over a line that is cut there, and once more when it is whole; what the
    first time was: told not to be, written, or never cut."""
    assert log.count() == plain.count()
    before, key = plain.tail().n, f"k{nth}"
    line.cut(side, nth)
    try:
        log.append(CreateTask("cut"), AT, key=key)
    except Refused as refused:
        found = "told" if "cannot be reached" in refused.because else "odd"
    else:
        found = "whole" if line.is_whole else "written"
    assert plain.tail().n == before + (found != "told")
    line.cut("", 0)
    assert log.append(CreateTask("cut"), AT, key=key).n == plain.tail().n == before + 1
    return found


def the_newest(address: str) -> str:
    """The name of the database that was made last."""
    with psycopg.connect(f"{address}postgres") as asking:
        sql = "SELECT datname FROM pg_database WHERE datname ~ '^t[0-9]' ORDER BY oid DESC"
        return str(asking.execute(sql).fetchall()[0][0])


def test_what_is_wrong_with_a_database_is_one_line_without_its_password(postgres: str) -> None:
    def refused(url: str) -> str:
        database = Database(url)
        with pytest.raises(WakelogError) as told:
            database.look()
        database.close()
        assert "hush" not in str(told.value)
        return str(told.value)

    nobody = "postgresql://owner:hush@127.0.0.1:1/anna"
    assert "the database anna on 127.0.0.1 cannot be reached" in refused(nobody)
    unmade = refused(postgres.replace("owner@", "owner:hush@") + "postgres")
    assert "wakelog database init" in unmade
    with pytest.raises(Refused, match="WAKELOG_DATABASE is no address"):
        Database("mysql://hush")


@pytest.mark.parametrize("command", [["database", "init"], ["--home", "pg:anna", "task", "list"]])
def test_a_wrong_password_is_told_at_once_in_one_line(
    postgres: str, tmp_path: Path, command: list[str]
) -> None:
    with psycopg.connect(f"{postgres}postgres", autocommit=True) as line:
        line.execute("DROP ROLE IF EXISTS locked")
        line.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
    where = postgres.replace("owner@", "locked:wrong@") + "postgres"
    began = time.monotonic()
    ended = process.ended(tmp_path / "home", *command, more={"WAKELOG_DATABASE": where})
    assert time.monotonic() - began < CONNECT_SECONDS / 2
    assert ended.returncode == 2
    assert ended.stderr.startswith("Error: the database postgres on 127.0.0.1 says no: password")
    assert ended.stderr.count("\n") == 1


def test_a_home_in_a_database_is_not_shared_in_a_folder(postgres_homes: Homes) -> None:
    log = postgres_homes.log(postgres_homes.create("anna", "r1"), "journal")
    log.append(CreateTask("Trip"), AT)
    with pytest.raises(Refused) as refused:
        log.share(AT)
    assert refused.value.code == "not_shared"
    assert (log.is_shared, log.heads()) == (False, {"r1": log.tail()})


def test_homes_have_names_of_their_own(postgres_homes: Homes) -> None:
    assert postgres_homes.all() == []
    anna = postgres_homes.create("anna", "r1", "model = 'rules'\n")
    assert postgres_homes.all() == [anna] == [postgres_homes.named("anna")]
    assert (anna.settings, anna.state) == ("model = 'rules'\n", "open")
    for name in ("anna", "Anna", "-a", "", "a" * 64, "pg:a"):
        with pytest.raises(Refused) as told:
            postgres_homes.create(name, "r1")
        assert told.value.code == "invalid_value"
    with pytest.raises(Refused, match="there is no home 'ben'"):
        postgres_homes.named("ben")

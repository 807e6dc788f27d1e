"""The file of the views: shared, replaced, spoilt, locked, and always as good as new."""

import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.home.views import Views
from adapters.store import sqlite_documents
from adapters.store.log import Log
from adapters.store.sqlite_documents import SqliteDocumentStore
from domain.agent.agent import AgentNamed
from domain.log.state import RecordedEvent
from projections import agents, inbox, observations, tasks, wakes
from projections.all_views import VIEWS
from projections.view import View, project
from tests.support.lives import ADD, OBSERVE, PROPOSE, REPORT, Life


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    """An agent with two wakes, in a log of a file."""
    log = Log.open("agent", tmp_path / "agent.db", "r1")
    life = Life(log)
    life.create()
    life.run(PROPOSE, ADD, OBSERVE, REPORT)
    life.ask(reason="manual")
    life.run(OBSERVE)
    yield life
    log.close()


def caught_up(path: Path | None, log: Log, views: tuple[View[Any], ...] = VIEWS) -> Views:
    opened = Views(path, {"agent": log}, views)
    opened.catch_up()
    return opened


def kept(path: Path | None, log: Log) -> dict[str, list[object]]:
    """Every document, by a process that has just come."""
    with closing(caught_up(path, log)) as views:
        return {view.name: views.all(view) for view in VIEWS}


@pytest.mark.parametrize(
    "spoilt", [b"", b"not a database" * 100, b"SQLite format 3\x00" + b"x" * 999, None]
)
def test_a_file_that_cannot_be_read_is_made_anew(
    tmp_path: Path, life: Life, spoilt: bytes | None
) -> None:
    """`None`: what is left of it, cut short."""
    path = tmp_path / "views.db"
    before = kept(path, life.log)
    path.write_bytes(path.read_bytes()[: 4096 * 3] if spoilt is None else spoilt)
    with closing(caught_up(path, life.log)) as views:
        assert not views.is_in_memory
    assert kept(path, life.log) == before == kept(None, life.log)


@pytest.mark.parametrize("gone", ["", "-wal", "-shm"])
def test_what_is_taken_away_under_two_who_have_it_open_is_made_anew(
    tmp_path: Path, life: Life, gone: str
) -> None:
    path = tmp_path / "views.db"
    with closing(caught_up(path, life.log)) as one, closing(caught_up(path, life.log)) as two:
        for _ in range(3):
            path.with_name(f"views.db{gone}").unlink()
            life.ask(reason="manual")
            life.run(OBSERVE)
            for views in (one, two, one):
                views.catch_up()
            made = kept(None, life.log)
            assert kept(path, life.log) == made
            for views in (one, two):
                assert {view.name: views.all(view) for view in VIEWS} == made
                assert not views.is_in_memory


@pytest.mark.parametrize("number", [0, sqlite_documents.VIEW_FORMAT + 1])
def test_a_file_of_another_format_is_made_anew(tmp_path: Path, life: Life, number: int) -> None:
    path = tmp_path / "views.db"
    before = kept(path, life.log)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version={number}")
    assert kept(path, life.log) == before
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (
            sqlite_documents.VIEW_FORMAT,
        )


def test_another_version_of_a_view_is_made_anew_and_no_other(tmp_path: Path, life: Life) -> None:
    path = tmp_path / "views.db"
    kept(path, life.log)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE documents SET shelf = 'old'")
    newer = msgspec.structs.replace(wakes.VIEW, version=wakes.VIEW.version + 1)
    views = tuple(newer if view is wakes.VIEW else view for view in VIEWS)
    with closing(caught_up(path, life.log, views)) as opened:
        assert len(opened.page(newer, shelf=life.agent)) == 2
        assert opened.page(agents.VIEW, shelf=life.task) == []


def test_another_log_in_its_place_is_noticed(tmp_path: Path, life: Life) -> None:
    path = tmp_path / "views.db"
    kept(path, life.log)
    for appends in (1, 30):  # a shorter log, and a longer one
        other = Life(task="another task")
        other.create()
        for n in range(appends):
            other.change(n + 1)
        assert kept(path, other.log) == kept(None, other.log)


@pytest.mark.slow  # it waits for the lock
def test_a_locked_file_does_not_stop_reading(tmp_path: Path, life: Life) -> None:
    path = tmp_path / "views.db"
    before = kept(path, life.log)
    life.change(3)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(caught_up(path, life.log)) as views:
            assert views.is_in_memory
            assert {view.name: views.all(view) for view in VIEWS} == kept(None, life.log)
        other.execute("ROLLBACK")
    assert kept(path, life.log) == kept(None, life.log) != before


def test_a_place_where_nothing_can_be_written_does_not_stop_reading(
    tmp_path: Path, life: Life
) -> None:
    for path in (tmp_path / "no" / "such" / "folder" / "views.db", tmp_path):
        with closing(caught_up(path, life.log)) as views:
            assert views.is_in_memory
            assert len(views.all(wakes.VIEW)) == 2


@pytest.mark.slow
def test_several_processes_at_once_make_what_one_makes(tmp_path: Path, life: Life) -> None:
    path = tmp_path / "views.db"
    code = (
        "import sys; from pathlib import Path; from adapters.store.log import Log;"
        "from adapters.home.views import Views;"
        "log = Log.open('agent', Path(sys.argv[1]), 'r1');"
        "views = Views(Path(sys.argv[2]), {'agent': log});"
        "[views.rebuild() for _ in range(5)]"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "agent.db"), str(path)]
    workers = [subprocess.Popen(command) for _ in range(4)]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0, 0]
    assert kept(path, life.log) == kept(None, life.log)


def test_pages_are_by_shelf_place_and_prefix(life: Life) -> None:
    views = caught_up(None, life.log)
    first, second = views.page(wakes.VIEW)
    assert first.queued_at < second.queued_at
    assert views.page(wakes.VIEW, newest_first=True, limit=1) == [second]
    assert views.page(wakes.VIEW, prefix=first.run_key[:8]) == [first]
    assert views.page(wakes.VIEW, before=second.place) == [first]
    assert views.page(observations.VIEW, shelf="nobody") == []
    assert len(views.page(observations.VIEW, shelf=life.agent)) == 2
    assert views.get(wakes.VIEW, first.run_key) == first
    assert views.get(wakes.VIEW, "unknown") is None


def test_a_rebuild_says_how_far_it_has_come(life: Life) -> None:
    views = Views(None, {"agent": life.log}, batch_appends=6)
    seen: list[tuple[str, int, int]] = []
    views.rebuild(lambda log, n, last_n: seen.append((log, n, last_n)))
    last = life.log.tail().n
    assert seen == [("agent", 6, last), ("agent", last, last)]


def test_who_reads_does_not_run_after_who_goes_on_writing(life: Life) -> None:
    views = Views(None, {"agent": life.log}, batch_appends=6)
    seen: list[int] = []

    def writes(_: str, n: int, __: int) -> None:
        seen.append(n)
        assert len(seen) < 9
        life.change(*range(10 * n, 10 * n + 10))

    last = life.log.tail().n
    views.catch_up(writes)
    assert seen[-2] < last <= seen[-1] < life.log.tail().n


def test_a_marker_of_another_replicas_rows_makes_them_anew(tmp_path: Path, life: Life) -> None:
    path = tmp_path / "views.db"
    kept(path, life.log)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE documents SET shelf = 'old'")
    with closing(Log.open("agent", tmp_path / "agent.db", "r2")) as log:
        other = Life(log, task="another task")
        other.minutes = life.minutes
        other.create()
        assert kept(path, log) == kept(None, log)
        with closing(caught_up(path, log)) as views:
            assert views.page(wakes.VIEW, shelf="old") == []
            assert len(views.all(agents.VIEW)) == 2


def test_an_empty_log_has_no_documents(tmp_path: Path) -> None:
    assert not any(kept(tmp_path / "views.db", Log.in_memory("agent")).values())


def test_a_document_that_a_view_gives_up_is_gone(tmp_path: Path) -> None:
    documents: dict[str, int] = {"a": 1}
    given_up: View[int] = View("v", "agent", 1, int, lambda row: ("a",), lambda one, row: None)
    row = RecordedEvent("agent:a@r1", 1, "r1", 1, 0, "", AgentNamed("Tap"))
    project(given_up, row, documents)
    assert documents == {}


def test_a_file_of_an_earlier_release_gets_what_finds_titles_and_keeps_its_documents(
    tmp_path: Path, life: Life
) -> None:
    path = tmp_path / "views.db"
    kept(path, life.log)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP INDEX titles_of_agents")
        connection.execute("UPDATE documents SET shelf = 'kept' WHERE view = 'agents'")
    with closing(caught_up(path, life.log)) as views:
        (agent,) = views.page(agents.VIEW, shelf="kept")
        assert views.titled(agents.VIEW, agent.name) == [agent]
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT count(*) FROM sqlite_master WHERE name = 'titles_of_agents'"
        assert connection.execute(sql).fetchone() == (1,)


@pytest.mark.parametrize(
    ("index", "ask"),
    [
        ("shelves", lambda views: views.page(wakes.VIEW, shelf="a", before="9", limit=1)),
        ("shelves", lambda views: views.marked(inbox.VIEW, ["waiting"], shelf="a")),
        ("shelves", lambda views: views.count(inbox.VIEW, "waiting", shelf="a")),
        ("shelves", lambda views: views.tallied(inbox.VIEW, ["waiting", "decided"], shelf="a")),
        ("shelves", lambda views: views.shelved(agents.VIEW, "a")),
        ("marks", lambda views: views.marked(tasks.VIEW, ["open"], before="9", limit=1)),
        ("marks", lambda views: views.count(tasks.VIEW, "open")),
        ("marks", lambda views: views.tallied(inbox.VIEW, ["waiting"])),
        ("marks", lambda views: views.count_without(tasks.VIEW, "open", agents.VIEW, agents.ALL)),
        ("places", lambda views: views.page(wakes.VIEW, newest_first=True, limit=1)),
        ("sqlite_autoindex_documents_1", lambda views: views.page(wakes.VIEW, prefix="a")),
        ("sqlite_autoindex_documents_1", lambda views: views.get(wakes.VIEW, "a")),
        ("titles_of_tasks", lambda views: views.titled(tasks.VIEW, "a")),
        ("dues", lambda views: views.due(agents.VIEW, "9")),
        ("dues", lambda views: views.next_due(agents.VIEW, ["active"])),
        ("turns", lambda views: views.queued(agents.VIEW, 1)),
        ("turns", lambda views: views.count_queued(agents.VIEW)),
    ],
)
def test_each_question_goes_by_its_index(index: str, ask: Callable[[Views], object]) -> None:
    views, asked = Views(None, {}), list[str]()
    store = views._store
    assert isinstance(store, SqliteDocumentStore)
    store._connection.set_trace_callback(asked.append)
    ask(views)
    store._connection.set_trace_callback(None)
    for sql in asked:
        first, *_ = store._connection.execute(f"EXPLAIN QUERY PLAN {sql}")
        assert re.match(f"SEARCH .* INDEX {index} ", first[3]), first[3]

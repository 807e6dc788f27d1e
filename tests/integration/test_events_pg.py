"""A home in PostgreSQL is read and followed as one in a folder is; its ids grow, and have gaps."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any, cast
from uuid import uuid4

import pytest
from eventsourcing.persistence import NotSupportedError, StoredEvent

from adapters.home.log_recorders import ALL, TableLogRecorder
from adapters.store.postgres.homes import Homes
from domain.errors import Refused
from domain.journal.commands import CreateTask
from domain.journal.task import NoteAdded, TaskCreated
from domain.log.state import RecordedEvent
from domain.log.wire import Erased
from tests.support.cli import FIXED, NOW, done
from tests.support.follower import Taken, TakenRows, Taking, TakingNotes, rows_of
from tests.support.killing import ROOT
from wakelog import events
from wakelog.events import AgentLog, HomeLog, JournalLog, LogRunner, Recorded

pytestmark = pytest.mark.slow

SECONDS_MAX = 60  # of waiting for what comes at once
LONG = "It takes about 2 hours. " * 60  # more than stands in a row


@pytest.fixture
def env(postgres_homes: Homes, tmp_path: Path) -> dict[str, str]:
    """Two homes, and where a view is."""
    env = {
        **FIXED,
        "WAKELOG_DATABASE": postgres_homes.database.url,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "WAKELOG_HOME": "pg:anna",
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "TAKING_SQLITE_DBNAME": str(tmp_path / "view.db"),
    }
    for home in ("anna", "bert"):
        done(["home", "create", home], "-", env=env)
        said(env, home, "add", f"Fix the tap of {home}")
    said(env, "anna", "note", "tap", LONG)
    return env


def said(env: dict[str, str], home: str, *words: str) -> None:
    here = f"pg:{home}"
    done(list(words), here, env={**env, "WAKELOG_HOME": here})


def following(
    env: dict[str, str], projection: type[Taking] = Taking, log: type[HomeLog] = JournalLog
) -> LogRunner[TakenRows]:
    return events.runner(projection, TakenRows, env, log=log)


def caught_up(runner: LogRunner[TakenRows]) -> tuple[list[Taken], list[Taken]]:
    """What a view holds once it has all there is, and what the log."""
    there = rows_of(runner.app, runner.projection.topics)
    runner.wait(there[-1].id, timeout=SECONDS_MAX)
    return runner.view.rows(), there


def facts(log: HomeLog, *topics: str) -> list[Recorded]:
    found = log.recorder.select_notifications(None, ALL, topics=topics)
    return [log.mapper.to_domain_event(one) for one in found]


@pytest.mark.parametrize("kind", [JournalLog, AgentLog])
def test_notifications_are_the_rows_of_one_home(
    env: dict[str, str], postgres_homes: Homes, kind: type[HomeLog]
) -> None:
    said(env, "anna", "agent", "create", "tap")
    said(env, "anna", "wake", "tap")
    with closing(postgres_homes.log(postgres_homes.named("anna"), kind.log_name)) as log:
        expected = [row for rows in log.appends() for row in rows]
    with kind(env) as opened:
        found = opened.recorder.select_notifications(None, ALL)
        told = facts(opened)
        last = opened.recorder.max_notification_id()
        page = opened.recorder.select_notifications(
            found[1].id, 2, found[-2].id, inclusive_of_start=False
        )
    fields = RecordedEvent.__struct_fields__
    assert [RecordedEvent(*(getattr(one, name) for name in fields)) for one in told] == expected
    assert [one.id for one in found] == [one.n << 24 | one.row for one in expected]
    assert last == found[-1].id
    assert list(page) == list(found[2:4])


def test_streams_and_texts_are_read_and_nothing_is_written(env: dict[str, str]) -> None:
    with JournalLog(env) as journal:
        (made,) = facts(journal, "task.created.1")
        assert cast("TaskCreated", made.fact).title == "Fix the tap of anna"
        newest, *_ = journal.events.get(made.stream, gt=1, desc=True, limit=1)
        (noted,) = facts(journal, "task.note_added.1")
        assert newest == noted
        assert journal.text(cast("NoteAdded", noted.fact).words) == LONG
        with pytest.raises(NotSupportedError):
            journal.save(made)


def test_a_view_follows_its_home_and_no_other(env: dict[str, str]) -> None:
    with following(env) as runner:
        taken, there = caught_up(runner)
        assert taken == there
        said(env, "anna", "add", "Buy milk")
        taken, there = caught_up(runner)
        assert taken == there
    said(env, "anna", "add", "Buy bread")
    with following(env) as runner:
        more, there = caught_up(runner)
    assert more == there
    assert more[: len(taken)] == taken
    with pytest.raises(Refused) as refused:
        following({**env, "WAKELOG_HOME": "pg:bert"})
    assert refused.value.code == "other_past"


def test_whoever_writes_at_the_same_time_each_row_is_taken_once(
    env: dict[str, str], postgres_homes: Homes
) -> None:
    def write(nth: int) -> None:
        with closing(postgres_homes.log(postgres_homes.named("anna"), "journal")) as log:
            for number in range(25):
                log.append(CreateTask(f"Task {nth}.{number}"), NOW)

    with following(env) as runner, ThreadPoolExecutor(4) as writers:
        list(writers.map(write, range(4)))
        taken, there = caught_up(runner)
    assert taken == there
    assert len([one for one in there if one.tag == "task.created.1"]) == 1 + 100


def test_each_row_is_taken_once_whenever_the_follower_is_killed(
    env: dict[str, str], postgres_homes: Homes
) -> None:
    is_over = Event()

    def write(nth: int) -> int:
        count = 0
        with closing(postgres_homes.log(postgres_homes.named("anna"), "journal")) as log:
            while not is_over.is_set():
                count += 1
                log.append(CreateTask(f"Task {nth}.{count}"), NOW)
        return count

    view, command = env["TAKING_SQLITE_DBNAME"], [sys.executable, "-m", "tests.support.follower"]
    with ThreadPoolExecutor(4) as writers:
        written = [writers.submit(write, nth) for nth in range(4)]
        try:
            subprocess.run(
                [*command, "pg:anna", view, "6", "journal"],
                cwd=ROOT, env={**os.environ, **env, "PYTHONPATH": str(ROOT)}, check=True,
            )  # fmt: skip
        finally:
            is_over.set()
        count = sum(one.result() for one in written)
    with closing(sqlite3.connect(view)) as left:
        assert left.execute("SELECT count(*) FROM taken").fetchone()[0]  # before it was killed
    with following(env) as runner:
        taken, there = caught_up(runner)
    assert taken == there
    assert len([one for one in there if one.tag == "task.created.1"]) == 1 + count


def test_a_view_that_took_what_was_erased_since_is_made_anew(
    env: dict[str, str], tmp_path: Path
) -> None:
    with following(env, TakingNotes) as runner:
        caught_up(runner)
        said(env, "anna", "erase", "task", "Fix the tap of anna", "--sure")
        with pytest.raises(Refused) as refused:
            runner.run_forever(SECONDS_MAX)
    assert refused.value.code == "erased_past"
    (tmp_path / "view.db").unlink()
    with following(env) as runner:
        taken, there = caught_up(runner)
        marks = [one.fact for one in facts(runner.app) if isinstance(one.fact, Erased)]
    assert taken == there
    assert "task.created.1" in {one.was for one in marks}


class Filled(TableLogRecorder):
    """A log that somebody else fills, without the log's own order of appends."""

    def insert_events(  # type: ignore[override]  # what is refused there is done here
        self, stored_events: Sequence[StoredEvent], **_: object
    ) -> list[int]:
        number, database = self._home.number, self._homes.database
        row = "%(home)s, h.n, {nth}, %(v{nth})s, 'r1', %(s{nth})s, %(t{nth})s, %(b{nth})s"
        values: dict[str, Any] = {"home": number}
        for nth, one in enumerate(stored_events):
            values |= {f"v{nth}": one.originator_version, f"s{nth}": one.originator_id}
            values |= {f"t{nth}": one.topic, f"b{nth}": one.state}
        rows = " UNION ALL ".join(
            f"SELECT {row.format(nth=nth)} FROM h" for nth in range(len(stored_events))
        )
        sql = (
            "WITH h AS (UPDATE journal.heads SET n = n + 1 WHERE home = %(home)s RETURNING n)"
            f" INSERT INTO journal.events (home, n, row, version, replica, stream, topic, state)"
            f" {rows} RETURNING (n << 24) + row"
        )
        return [one for (one,) in database.asked(number, sql, values)]


def test_the_library_s_own_case_for_subscriptions_holds(postgres_homes: Homes) -> None:
    pytest.importorskip("Crypto")
    from eventsourcing.tests.persistence import ApplicationRecorderTestCase

    class Case(ApplicationRecorderTestCase[Filled]):
        EXPECT_CONTIGUOUS_NOTIFICATION_IDS = False

        def new_originator_id(self) -> str:
            return uuid4().hex

        def create_recorder(self) -> Filled:
            return Filled(postgres_homes, postgres_homes.create("carl", "r1"), "journal")

    Case().optional_test_insert_subscribe()

"""Programs read a home's logs by the `eventsourcing` library's own interface, and follow them."""

import hashlib
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import cast

import pytest
from eventsourcing.persistence import NotSupportedError

from adapters.store.log import Log
from domain.errors import Refused
from domain.journal.task import NoteAdded, TaskCreated
from domain.log.state import RecordedEvent
from domain.log.wire import Erased, Words
from tests.support.cli import FIXED, done
from tests.support.homes import Homes
from wakelog.events import AgentLog, HomeLog, JournalLog, Recorded

ROOT = Path(__file__).parents[2]
LONG = "It takes about 2 hours. " * 60  # more than stands in a row


def make(home: Path) -> None:
    done(["add", "Fix the tap"], home)
    done(["note", "Fix the tap", LONG], home)
    done(["agent", "create", "Fix the tap"], home)
    done(["wake", "Fix the tap"], home)


@pytest.fixture
def woken(tmp_path: Path, homes: Homes) -> Path:
    """A task with a long note, whose agent has woken."""
    return homes.copy(make, tmp_path / "home")


def env(home: Path) -> dict[str, str]:
    return {**FIXED, "WAKELOG_HOME": str(home)}


@pytest.fixture
def journal(woken: Path) -> Iterator[JournalLog]:
    with JournalLog(env(woken)) as opened:
        yield opened


def facts(log: HomeLog, *topics: str) -> list[Recorded]:
    found = log.recorder.select_notifications(None, 10_000, topics=topics)
    return [log.mapper.to_domain_event(one) for one in found]


@pytest.mark.parametrize("kind", [JournalLog, AgentLog])
def test_notifications_are_the_rows_of_the_log(woken: Path, kind: type[HomeLog]) -> None:
    with closing(Log.read_only("any", woken / f"{kind.log_name}.db", "r1")) as log:
        expected = [row for rows in log.appends() for row in rows]
    with kind(env(woken)) as opened:
        ids = [one.id for one in opened.recorder.select_notifications(None, 10_000)]
        told = [
            RecordedEvent(*(getattr(one, name) for name in RecordedEvent.__struct_fields__))
            for one in facts(opened)
        ]
    assert told == expected
    assert ids == list(range(1, len(expected) + 1))


def test_a_topic_is_a_tag(journal: JournalLog) -> None:
    (made,) = facts(journal, "task.created.1")
    assert cast("TaskCreated", made.fact).title == "Fix the tap"
    assert (made.replica, made.version, made.originator_id) == ("r1", 1, made.stream)
    assert {type(one.fact) for one in facts(journal, "task.created.1", "task.note_added.1")} == {
        TaskCreated,
        NoteAdded,
    }


def test_a_stream_is_read_as_the_library_reads_an_aggregate(journal: JournalLog) -> None:
    (made,) = facts(journal, "task.created.1")
    stream = [cast("Recorded", one) for one in journal.events.get(made.stream)]
    assert stream[0] == made
    assert stream == [one for one in facts(journal) if one.stream == made.stream]
    newest = journal.events.get(made.stream, gt=1, desc=True, limit=1)
    assert [one.originator_version for one in newest] == [stream[-1].version]


def test_texts_are_read_where_they_stand(journal: JournalLog) -> None:
    (noted,) = facts(journal, "task.note_added.1")
    words = cast("NoteAdded", noted.fact).words
    assert words.payload
    assert journal.text(words) == LONG
    assert journal.text(Words("short")) == "short"
    with pytest.raises(Refused) as refused:
        journal.payload("nothing")
    assert refused.value.code == "unknown_payload"


def test_a_log_that_is_closed_while_a_thread_reads_it_ends_the_reading(woken: Path) -> None:
    for _ in range(20):
        log, began = JournalLog(env(woken)), Event()

        def read(log: JournalLog = log, began: Event = began) -> None:
            while True:
                log.recorder.select_notifications(None, 10_000)
                began.set()

        with ThreadPoolExecutor() as threads:
            reading = threads.submit(read)
            assert began.wait(60)
            log.close()
            assert isinstance(reading.exception(), sqlite3.ProgrammingError)


def test_what_would_write_is_refused(journal: JournalLog) -> None:
    (made,) = facts(journal, "task.created.1")
    factory = journal.factory
    for write in (
        lambda: journal.save(made),
        lambda: journal.events.put([made]),
        lambda: journal.recorder.insert_events([]),
        factory.aggregate_recorder,
        factory.tracking_recorder,
        factory.process_recorder,
    ):
        with pytest.raises(NotSupportedError):
            write()


def test_following_changes_no_byte_of_a_file(woken: Path) -> None:
    before = digests(woken)
    with AgentLog(env(woken)) as log, log.recorder.subscribe() as subscription:
        assert [next(subscription).id for _ in range(3)] == [1, 2, 3]
    after = digests(woken)
    assert before == {name: after[name] for name in before}
    assert [name for name in after if name not in before and not name.endswith("-shm")] == [
        "agent.db-wal"
    ]
    assert (woken / "agent.db-wal").stat().st_size == 0  # SQLite's, until somebody writes


def digests(home: Path) -> dict[str, str]:
    return {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in home.iterdir()
        if one.is_file()
    }


def test_what_others_write_is_told_as_it_comes(journal: JournalLog, woken: Path) -> None:
    last = journal.recorder.max_notification_id()
    with journal.recorder.subscribe(last, ["task.created.1"]) as subscription:
        for title in ("Mow the lawn", "Buy milk"):
            done(["add", title], woken)
            told = journal.mapper.to_domain_event(next(subscription))
            assert cast("TaskCreated", told.fact).title == title


def test_what_was_erased_is_a_mark_and_its_text_is_gone(woken: Path, journal: JournalLog) -> None:
    (noted,) = facts(journal, "task.note_added.1")
    text = cast("NoteAdded", noted.fact).words.payload
    before = facts(journal)
    done(["erase", "task", "Fix the tap", "--sure"], woken)
    after = facts(journal)
    marks = [one for one in after if isinstance(one.fact, Erased)]
    assert [one for one in marks if (one.stream, one.version) == (noted.stream, noted.version)]
    assert "task.note_added.1" in {cast("Erased", one.fact).was for one in marks}
    assert [(one.n, one.row, one.at) for one in after[: len(before)]] == [
        (one.n, one.row, one.at) for one in before
    ]
    with pytest.raises(Refused) as refused:
        journal.payload(text)
    assert refused.value.code == "erased"


def test_a_log_that_was_replaced_is_not_followed_on(journal: JournalLog, woken: Path) -> None:
    with journal.recorder.subscribe() as subscription:
        next(subscription)
        copy = woken / "copy.db"
        copy.write_bytes((woken / "journal.db").read_bytes())
        copy.replace(woken / "journal.db")
        with pytest.raises(Refused) as refused:
            list(subscription)
    assert refused.value.code == "replaced"


def test_a_home_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        AgentLog(env(tmp_path / "none"))
    assert refused.value.code == "not_a_log"
    assert not (tmp_path / "none").exists()

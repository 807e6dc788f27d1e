"""The library's own cases for a recorder, on the one by which it reads a log's file.

They write, which that recorder does not do: the rows come in by the library's recorder, into the
file that wakelog made. The cases' module imports a cipher (`pycryptodome`, in `dev`)."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

from adapters.home.log_recorders import FileLogRecorder
from adapters.store.log import Log

pytest.importorskip("Crypto")
from eventsourcing.tests import persistence as cases


class Filled(FileLogRecorder):
    """A log that somebody else fills."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        store = SQLiteDatastore(str(path), originator_id_type="text")
        self.other = SQLiteApplicationRecorder(store)

    def insert_events(  # type: ignore[override]  # what is refused there is done here
        self, stored_events: Sequence[StoredEvent], **_: object
    ) -> Sequence[int] | None:
        return self.other.insert_events(stored_events)

    def close(self) -> None:
        self.other.datastore.close()
        super().close()


class Case:
    """Each test has a log of its own."""

    recorder: Filled

    @pytest.fixture(autouse=True)
    def made(self, tmp_path: Path) -> Iterator[None]:
        path = tmp_path / "journal.db"
        Log.open("journal", path, "r1").close()
        self.recorder = Filled(path)
        before = threading.enumerate()
        with closing(self.recorder):
            yield
            for one in threading.enumerate():
                if one not in before:  # a case stops its readers, and does not wait for them
                    one.join()

    def new_originator_id(self) -> str:
        return uuid4().hex

    def create_recorder(self) -> Filled:
        return self.recorder


class TestApplicationRecorder(Case, cases.ApplicationRecorderTestCase[Filled]):
    """Order, limits, topics, and many threads."""

    def test_insert_subscribe(self) -> None:
        self.optional_test_insert_subscribe()


class TestOrderOfIds(Case, cases.NonInterleavingNotificationIDsBaseCase):
    """Rows of one append have ids that follow each other."""

"""A program that follows a home with the `eventsourcing` library: its view keeps each row it is
given, in order, and would keep it twice. ``python -m tests.support.follower HOME VIEW KILLS LOG``
lets it follow a log so many times, and kills it each time at some moment."""

import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from eventsourcing.persistence import Tracking
from eventsourcing.projection import Projection
from eventsourcing.sqlite import SQLiteTrackingRecorder

from adapters.home.home_location import DATABASE_VARIABLE
from adapters.home.log_recorders import ALL
from domain.log.wire import tag_of
from wakelog import events
from wakelog.events import AgentLog, HomeLog, JournalLog, LogRunner, Recorded

BEGIN_SECONDS_MAX = 30


class Taken(NamedTuple):
    """What was given: the row's id, where it stands and its tag."""

    id: int
    stream: str
    version: int
    tag: str


class TakenRows(SQLiteTrackingRecorder):
    """The view: rows in the order in which they were taken."""

    def construct_create_table_statements(self) -> list[str]:
        table = "CREATE TABLE IF NOT EXISTS taken (id INTEGER, stream TEXT, version, tag TEXT)"
        return [*super().construct_create_table_statements(), table]

    def take(self, row: Taken, tracking: Tracking) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            self._insert_tracking(cursor, tracking)
            cursor.execute("INSERT INTO taken VALUES (?, ?, ?, ?)", row)

    def rows(self) -> list[Taken]:
        with self.datastore.transaction(commit=False) as cursor:
            cursor.execute("SELECT * FROM taken ORDER BY rowid")
            return [Taken(*row) for row in cursor.fetchall()]


class Taking(Projection[TakenRows]):
    name = "taking"

    def process_event(self, domain_event: Recorded, tracking: Tracking) -> None:
        place = domain_event.stream, domain_event.version
        row = Taken(tracking.notification_id, *place, tag_of(domain_event.fact))
        self.view.take(row, tracking)


class TakingNotes(Taking):
    name = "taking"
    topics = ("task.note_added.1", "task.created.1")


class TakingTimers(Taking):
    name = "taking"
    topics = ("timer.started.1",)


def following(
    home: Path,
    view: Path,
    log: type[HomeLog] = AgentLog,
    projection: type[Projection[TakenRows]] = Taking,
) -> LogRunner[TakenRows]:
    """A runner over a home's log, into a view's file."""
    env = {
        **{name: value for name, value in os.environ.items() if name == DATABASE_VARIABLE},
        "WAKELOG_HOME": str(home),
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "TAKING_SQLITE_DBNAME": str(view),
    }
    return events.runner(projection, TakenRows, env, log=log)


def rows_of(log: HomeLog, tags: Sequence[str] = ()) -> list[Taken]:
    """All rows of a log as a view that missed none has them."""
    found = log.recorder.select_notifications(None, ALL, topics=tags)
    return [
        Taken(one.id, str(one.originator_id), one.originator_version, one.topic) for one in found
    ]


def taken_in(view: Path) -> int:
    """How many rows a view holds, which may be none yet."""
    with closing(sqlite3.connect(view)) as opened:
        if not opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'taken'").fetchone():
            return 0
        return int(opened.execute("SELECT count(*) FROM taken").fetchone()[0])


def killed(home: Path, view: Path, log: type[HomeLog], seconds: float) -> None:
    """Follow a log in a process that is killed so long after it began, and has taken something."""
    before = taken_in(view)
    if not (child := os.fork()):
        with following(home, view, log) as runner:
            runner.run_forever()
        os._exit(1)  # it never ends by itself
    end = time.monotonic() + BEGIN_SECONDS_MAX
    while taken_in(view) == before and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def main(home: str, view: str, kills: str, log: str) -> None:
    dice, followed = random.Random(kills), {"agent": AgentLog, "journal": JournalLog}[log]
    for _ in range(int(kills)):
        killed(Path(home), Path(view), followed, dice.uniform(0.0, 0.5))


if __name__ == "__main__":
    main(*sys.argv[1:])

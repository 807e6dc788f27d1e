"""A command that is soon over, and its database perhaps far away: one connection to one home, and
what it opens with comes in one round trip (ADR 117).

Where logs end is passed along instead of asked after each step: what is read is at most
`FRESH_SECONDS` old, and holds all that this command wrote. What is decided is decided under the
lock of the log's head, as by everybody."""

import select
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus

from adapters.store.document_store import ViewPosition
from adapters.store.postgres.schema import LOGS
from adapters.store.postgres.statements import (
    ENTER,
    ENTER_NAMED,
    newest_rows,
    timed_rows,
)
from adapters.store.recorder import TimedRow
from domain.append.envelope import Row

FRESH_SECONDS = 5.0
FAR_SECONDS = 0.01  # a round trip to a database that is far away
NEWEST_ROWS = 64
WHOLE, WATCHED = ("log:main", "catalog:main", "policy:main"), "watch:main"
Connection = psycopg.Connection[tuple[Any, ...]]
OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
HEADS = " UNION ALL ".join(
    f"SELECT '{log}', state, row_count, n, at, digest, replica FROM {log}.heads"
    " WHERE home = wakelog.home()"
    for log in LOGS
)
POSITIONS = "SELECT view, version, n, digest FROM views.positions WHERE home = wakelog.home()"
_REMEMBERED = "SELECT name, value FROM views.remembered WHERE home = wakelog.home()"
_MAIN = "(SELECT '{}@' || replica FROM wakelog.homes WHERE home = wakelog.home())"
_HOME = """
    SELECT home, name, replica, settings, state, moved_to FROM wakelog.homes
    WHERE home = wakelog.home()"""
_DEFAULTS = "SELECT settings FROM wakelog.defaults"


class LogOpening(NamedTuple):
    """Of a log its newest rows, and of streams that each command reads those that count."""

    newest: list[Row]
    streams: dict[str, list[TimedRow]]


class Opening(NamedTuple):
    """What a command opens a home with. `home`: its row of `wakelog.homes`."""

    home: tuple[Any, ...]
    defaults: str
    heads: Mapping[str, tuple[Any, ...]]
    logs: Mapping[str, LogOpening]


class Session:
    """The connection, and where the home's logs and views end, as it was read last."""

    def __init__(self, connection: Connection, meta: str, name: str) -> None:
        """`meta`: the question for `opening_meta`; `name`: the home's. Raises psycopg.Error: what
        is asked is not there; LookupError: the home is not."""
        self._connection, self._name = connection, name
        self._is_taken = self._is_inside = False
        self._until = 0.0
        self.heads: dict[str, tuple[Any, ...]] = {}
        self.positions: dict[str, ViewPosition] = {}
        self.remembered: dict[str, bytes] | None = None
        self.opening: Opening | None = None
        self.number = self._opened(meta)

    @property
    def is_lost(self) -> bool:
        """Whether the server has ended it."""
        return self._connection.closed or (not self._is_taken and has_news(self._connection))

    def can_read(self, home: int | str) -> bool:
        """Whether it is this home's, and nothing else is under way."""
        is_free = not self._is_taken or self._is_inside
        return is_free and home in (self.number, self._name)

    @property
    def is_taken(self) -> bool:
        return self._is_taken

    def forget(self) -> None:
        """Look again when something is read next."""
        self._until = 0.0

    def know(self) -> None:
        """Look where logs and views end, unless that is known."""
        if not self._is_inside and time.monotonic() > self._until:
            with self._connection.pipeline():
                self._connection.execute(ENTER, (str(self.number),))
                known = [self._connection.execute(one.encode()) for one in (HEADS, POSITIONS)]
            self._know(*(one.fetchall() for one in known))

    def ask(self, sql: str, values: Any) -> list[Any]:
        """One question, in one round trip."""
        line = self._connection
        if self._is_inside:
            return line.execute(sql.encode(), values, binary=True).fetchall()
        with line.pipeline():
            line.execute(ENTER, (str(self.number),))
            found = line.execute(sql.encode(), values, binary=True)
        return found.fetchall()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The connection, for a transaction of somebody's own."""
        self._is_taken = True
        try:
            yield self._connection
        finally:
            self._is_taken = self._is_inside = False
            if self._connection.info.transaction_status in OPEN:  # it was left by an error
                with suppress(psycopg.Error):
                    self._connection.execute("ROLLBACK")

    def inside(self, heads: list[Any], positions: list[Any]) -> None:
        """What is read now is read in the transaction of `writing`, whose first answers these
        are."""
        self._know(heads, positions)
        self._is_inside = True

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()

    def _know(self, heads: list[Any], positions: list[Any]) -> None:
        self.heads = {log: tuple(rest) for log, *rest in heads}
        self.positions = {view: ViewPosition(*rest) for view, *rest in positions}
        self._until = time.monotonic() + FRESH_SECONDS

    def _opened(self, meta: str) -> int:
        begun = time.monotonic()
        line = self._connection
        with line.pipeline():
            line.execute("BEGIN")
            said = line.execute(meta.encode())
            line.execute(ENTER_NAMED, (self._name,))
            asked = [line.execute(one.encode()) for one in (_HOME, _DEFAULTS, HEADS, POSITIONS)]
            kept = line.execute(_REMEMBERED.encode(), binary=True)
            logs = {
                log: [line.execute(one.encode(), binary=True) for one in _ends(log)] for log in LOGS
            }
            line.execute("COMMIT")
        self.is_far = time.monotonic() - begun > FAR_SECONDS
        homes, defaults, heads, positions = (one.fetchall() for one in asked)
        if not homes:
            raise LookupError(self._name)
        self._know(heads, positions)
        self.remembered = dict(kept.fetchall())
        ends = {log: _read(homes[0][2], *found) for log, found in logs.items()}
        text = str(defaults[0][0]) if defaults else ""
        self.opening = Opening(homes[0], text, dict(self.heads), ends)
        self.opening_meta: tuple[int, bool] = said.fetchall()[0]
        return int(homes[0][0])


def has_news(connection: Connection) -> bool:
    """Whether the server has said something that nobody asked for, that it ends it most likely."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


def _ends(log: str) -> tuple[str, str, str]:
    """The newest rows of a log; and of what every command asks: the streams of one entity whole,
    and how far the watcher is."""
    here, names = "one.home = wakelog.home() AND", [_MAIN.format(one) for one in (*WHOLE, WATCHED)]
    newest = f"""
        SELECT version FROM {log}.events WHERE home = wakelog.home() AND stream = {names[-1]}
        ORDER BY version DESC LIMIT 1"""
    return (
        newest_rows(log, "wakelog.home()", str(NEWEST_ROWS)),
        timed_rows(log, f"{here} one.stream = ANY (ARRAY[{', '.join(names[:-1])}])"),
        timed_rows(log, f"{here} one.stream = {names[-1]} AND one.version = ({newest})"),
    )


def _read(replica: str, newest: Any, whole: Any, last: Any) -> LogOpening:
    streams: dict[str, list[TimedRow]] = {f"{one}@{replica}": [] for one in WHOLE}
    for name, version, topic, state, at in [*whole.fetchall(), *last.fetchall()]:
        row = TimedRow(Row(name, version, topic, state), at.decode("utf-8", "replace"))
        streams.setdefault(name, []).append(row)
    return LogOpening([Row(*one) for one in newest.fetchall()[::-1]], streams)

"""Recorders by which the `eventsourcing` library reads a log, and follows it (ADR 112).

They write nothing. A notification's id is where its row stands among those that arrived here: of a
file the rowid, in PostgreSQL the append's number and the row's in it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast
from urllib.parse import quote

from eventsourcing.persistence import (
    ApplicationRecorder,
    ListenNotifySubscription,
    Notification,
    NotSupportedError,
)

from adapters.home import files
from adapters.home.home_location import DATABASE_PREFIX, FolderLocation, HomeLocation, homes_of
from adapters.store.sqlite_files import ChangeProbe, FileProbe, connected, node
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.store.postgres.homes import HomeRow, Homes

LOOK_SECONDS = 0.1  # between two cheap looks at whether a log was written
ALL = 2**31  # rows: more than a log has
_FILES = {"journal": files.JOURNAL, "agent": files.AGENT}


class Sql(NamedTuple):
    """How a database is asked for rows. `where`: what each thing that may be asked for is there."""

    select: str
    order: str
    number: str
    where: Mapping[str, str]


# An append's rows have consecutive rowids, and `at` is the first key of its first row's state.
_FILE = Sql(
    """
    SELECT one.originator_id, one.originator_version, one.topic, one.state, one.rowid,
        CAST(coalesce(CASE substr(one.state, 1, 5)
            WHEN CAST('{{"at"' AS BLOB) THEN substr(one.state, 8, 27)
            WHEN CAST('{{"n":' AS BLOB) THEN (
                SELECT substr(first.state, 8, 27) FROM stored_events AS first WHERE first.rowid
                    = one.rowid - json_extract(CAST(one.state AS TEXT), '$.row'))
        END, '') AS TEXT)
    FROM stored_events AS one WHERE TRUE {where} ORDER BY {order} LIMIT :limit""",
    order="one.rowid",
    number="one.originator_version",
    where={
        "start": "one.rowid >= :start",
        "above": "one.rowid > :above",
        "stop": "one.rowid <= :stop",
        "topics": "one.topic IN (SELECT value FROM json_each(:topics))",
        "stream": "one.originator_id = :stream",
        "gt": "one.originator_version > :gt",
        "lte": "one.originator_version <= :lte",
    },
)
# Appends of a home are made one after another, so that no smaller id comes in later.
_ID = "((one.n << 24) + one.row)"
_TABLE = Sql(
    f"""
    SELECT one.stream, one.version, one.topic, one.state, {_ID},
        coalesce(convert_from(substr(first.state, 8, 27), 'UTF8'), '')
    FROM {{log}}.events AS one LEFT JOIN {{log}}.events AS first ON first.home = one.home
        AND first.n = one.n AND first.replica = one.replica AND first.row = 0
    WHERE one.home = %(home)s {{where}} ORDER BY {{order}} LIMIT %(limit)s""",
    order="one.n, one.replica, one.row",
    number="one.version",
    where={
        "start": f"one.n >= (%(start)s::bigint >> 24) AND {_ID} >= %(start)s",
        "above": f"one.n >= (%(above)s::bigint >> 24) AND {_ID} > %(above)s",
        "stop": f"{_ID} <= %(stop)s",
        "topics": "one.topic IN (SELECT jsonb_array_elements_text(%(topics)s::jsonb))",
        "stream": "one.stream = %(stream)s",
        "gt": "one.version > %(gt)s",
        "lte": "one.version <= %(lte)s",
    },
)


@dataclass(frozen=True)
class TimedNotification(Notification):
    """A row, and when its append was written, in ISO 8601 and UTC."""

    at: str


class LogSubscription(ListenNotifySubscription["LogRecorder"]):
    """The library's, for a log of which nobody is notified: it looks whether it was written."""

    def __init__(self, recorder: "LogRecorder", gt: int | None, topics: Sequence[str]) -> None:
        self._probe = recorder.probe()
        super().__init__(recorder=recorder, gt=gt, topics=topics)

    def _loop_on_pull(self) -> None:
        with closing(self._probe):
            super()._loop_on_pull()

    def _pull(self) -> None:
        seen = self._probe()  # before it is read: what is written meanwhile is seen then
        super()._pull()
        while not self._has_been_stopped:
            self._has_been_notified.wait(LOOK_SECONDS)
            self._recorder.check_standing()
            if seen is None or self._probe() != seen:
                break
        self._has_been_notified.set()


class LogRecorder(ApplicationRecorder):
    """What both kinds share. `replica`: the name under which the home is written."""

    replica: str
    _sql: Sql

    def probe(self) -> ChangeProbe:
        """Gives another value once the log has changed; to be closed."""
        raise NotImplementedError

    def check_standing(self) -> None:
        """Look whether it is still the log that was opened. Raises Refused, code ``replaced``."""

    def payload(self, payload_id: str) -> bytes | None:
        """The bytes of a payload, or None."""
        raise NotImplementedError

    def found(self, sql: str, values: Mapping[str, object]) -> list[Any]:
        """One question, in a transaction of its own."""
        raise NotImplementedError

    def close(self) -> None:
        """Release connections."""

    def insert_events(self, *_: object, **__: object) -> NoReturn:
        """Refuse to write: a row without cause, chain and receipt is damage."""
        raise NotSupportedError("a home is written by wakelog alone")

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> LogSubscription:
        """All rows above `gt`, and those that come, each once."""
        return LogSubscription(self, gt, topics)

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[TimedNotification]:
        self.check_standing()
        tags = json.dumps(list(topics)) if topics else None
        first = {"start" if inclusive_of_start else "above": start}
        return self._read(self._sql.order, limit, {**first, "stop": stop, "topics": tags})

    def select_events(
        self,
        originator_id: object,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[TimedNotification]:
        wanted = {"stream": str(originator_id), "gt": gt, "lte": lte}
        order = f"{self._sql.number} DESC" if desc else self._sql.number
        return self._read(order, ALL if limit is None else limit, wanted)

    def _read(
        self, order: str, limit: int, wanted: Mapping[str, object]
    ) -> Sequence[TimedNotification]:
        asked = {name: value for name, value in wanted.items() if value is not None}
        where = "".join(f" AND {self._sql.where[name]}" for name in asked)
        sql = self._sql.select.format(where=where, order=order)
        return [TimedNotification(*row) for row in self.found(sql, {**asked, "limit": limit})]


class FileLogRecorder(LogRecorder):
    """A log's file, opened to be read. Between two questions it holds no transaction."""

    _sql = _FILE

    def __init__(self, path: Path, replica: str = "") -> None:
        """`path`: of a log that is there."""
        self.replica, self._path, self._file = replica, path, node(str(path))
        self._connection = connected(f"file:{quote(str(path))}?mode=ro", is_uri=True)
        self._asking = Lock()

    def probe(self) -> ChangeProbe:
        return FileProbe(self._path)

    def check_standing(self) -> None:
        if node(str(self._path)) != self._file:
            because = f"{self._path} was replaced or is gone, by a restore perhaps"
            raise Refused("replaced", because=because, instead="start again, with a new view")

    def max_notification_id(self) -> int | None:
        found = self.found("SELECT max(rowid) FROM stored_events", {})
        return cast("int | None", found[0][0])

    def payload(self, payload_id: str) -> bytes | None:
        found = self.found("SELECT bytes FROM payloads WHERE id = :id", {"id": payload_id})
        return bytes(found[0][0]) if found else None

    def found(self, sql: str, values: Mapping[str, object]) -> list[Any]:
        with self._asking:  # a connection that is closed while a thread reads ends the process
            return self._connection.execute(sql, values).fetchall()

    def close(self) -> None:
        with self._asking:
            self._connection.close()


class TableLogRecorder(LogRecorder):
    """A log of a home in PostgreSQL, read as that home's role may."""

    def __init__(self, homes: "Homes", home: "HomeRow", log: str) -> None:
        self.replica, self._homes, self._home, self._log = home.replica, homes, home, log
        self._sql = _TABLE._replace(select=_TABLE.select.replace("{log}", log))

    def probe(self) -> ChangeProbe:
        return self._homes.probe(self._home)

    def payload(self, payload_id: str) -> bytes | None:
        sql = f"SELECT bytes FROM {self._log}.payloads WHERE home = %(home)s AND id = %(id)s"
        found = self.found(sql, {"id": payload_id})
        return bytes(found[0][0]) if found else None

    def max_notification_id(self) -> int | None:
        last = f"FROM {self._log}.events AS one WHERE home = %(home)s"
        found = self.found(f"SELECT {_ID} {last} ORDER BY n DESC, row DESC LIMIT 1", {})
        return found[0][0] if found else None

    def found(self, sql: str, values: Mapping[str, object]) -> list[Any]:
        number = self._home.number
        return self._homes.database.asked(number, sql, {"home": number, **values})


def recorder_of(place: HomeLocation, log: str, environ: Mapping[str, str]) -> LogRecorder:
    """The recorder of a home's ``journal`` or ``agent``. Raises Refused, code ``not_a_log``: there
    is none; ``unknown_home``."""
    if not isinstance(place, FolderLocation):
        homes = homes_of(environ)
        return TableLogRecorder(homes, homes.named(place.name.removeprefix(DATABASE_PREFIX)), log)
    path = place.folder / _FILES[log]
    if not (place.exists() and path.exists()):
        instead = "name another home with WAKELOG_HOME"
        raise Refused("not_a_log", because=f"there is no {path}", instead=instead)
    return FileLogRecorder(path, files.replica(place.folder, environ))

"""The homes of a database: each with both logs, one name to write under, and its settings."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

import psycopg

from adapters.store.log import Log
from adapters.store.postgres.database import Database
from adapters.store.postgres.document_store import PostgresDocumentStore
from adapters.store.postgres.recorder import PostgresLogRecorder
from adapters.store.postgres.schema import LOGS, VIEW_TABLES
from adapters.store.postgres.session import Connection
from adapters.store.postgres.statements import ENTER
from domain.errors import Refused, invalid

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_COLUMNS = "home, name, replica, settings, state, moved_to"
_COUNT = "(SELECT count(*) FROM {} WHERE home = %(home)s)"
_TEXTS = "agent.payloads", "journal.payloads"
_PEOPLE = "wakelog.members", "wakelog.tokens"
_PERSONS = "wakelog.persons"
_ENDS = "SELECT home, j.n, a.n FROM journal.heads j JOIN agent.heads a USING (home)"


class HomeRow(NamedTuple):
    """A home as its database knows it. `state`: ``open``, ``frozen`` or ``moved``."""

    number: int
    name: str
    replica: str
    settings: str
    state: str
    moved_to: str


class HomeContents(NamedTuple):
    """What there is of a home: rows and texts of both logs, with which number and digest each ends;
    members, and tokens of whatever state."""

    rows: int
    texts: int
    members: int
    tokens: int
    journal: int
    journal_digest: str
    agent: int
    agent_digest: str


_CONTENTS = f"""
    SELECT a.row_count + j.row_count, {" + ".join(map(_COUNT.format, _TEXTS))},
        {", ".join(map(_COUNT.format, _PEOPLE))}, j.n, j.digest, a.n, a.digest
    FROM agent.heads AS a JOIN journal.heads AS j USING (home) WHERE home = %(home)s"""
_NAME = "SELECT set_config('wakelog.home', %s, true)"
_JOBS = "DELETE FROM queue.procrastinate_jobs WHERE (args ->> 'home')::integer = %s"
_OF_A_HOME = (
    *(f"{log}.{one}" for log in ("agent", "journal") for one in ("events", "payloads", "heads")),
    *(f"views.{one}" for one in VIEW_TABLES),
    *_PEOPLE,
    _PERSONS,
    "wakelog.notices",
    "runtime.homes",
    "runtime.leases",
    "runtime.runtimes",
    "wakelog.homes",
)
"""All tables that hold something of a home, in the order in which it is deleted."""


class Homes:
    """Makes, finds and lists homes, as whoever runs the database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def create(
        self, name: str, replica: str, settings: str = "", state: str = "open", of: str = ""
    ) -> HomeRow:
        """Make a home with two empty logs. Raises Refused, code ``invalid_value``: it is no name,
        or there is such a home."""
        _check_name(name)
        insert = (
            "INSERT INTO wakelog.homes (name, replica, settings, state, moved_to)"
            " VALUES (%s, %s, %s, %s, %s) RETURNING home"
        )
        with self.database.connection() as connection, connection.transaction():
            try:
                found = connection.execute(insert, (name, replica, settings, state, of)).fetchall()
            except psycopg.errors.UniqueViolation:
                raise self._taken(name) from None
            for log in LOGS:
                head = f"INSERT INTO {log}.heads (home, state) VALUES (%s, %s)"
                connection.execute(head.encode(), (*found[0], state))
            connection.execute("INSERT INTO runtime.homes (home) VALUES (%s)", found[0])
        return self.named(name)

    def named(self, name: str) -> HomeRow:
        """A home. Raises Refused, code ``unknown_home``."""
        session = self.database.session(name)
        if session is not None and session.opening is not None:
            return HomeRow(*session.opening.home)
        sql = f"SELECT {_COLUMNS} FROM wakelog.homes WHERE name = %s"
        found = self.database.asked(name, sql, (name,))
        if not found:
            raise self._unknown(name)
        return HomeRow(*found[0])

    def all(self) -> list[HomeRow]:
        """All homes, by name. Raises Refused: this login sees one at a time."""
        sql = f"SELECT {_COLUMNS} FROM wakelog.homes ORDER BY name"
        with self.database.connection() as connection:
            return [HomeRow(*one) for one in connection.execute(sql.encode()).fetchall()]

    def edit_settings(self, home: HomeRow, edit: Callable[[str], str]) -> None:
        """Write other settings, made of those that are there."""
        ask = "SELECT settings FROM wakelog.homes WHERE home = %s FOR UPDATE"
        write = "UPDATE wakelog.homes SET settings = %s WHERE home = %s"
        with self.database.connection() as connection, connection.transaction():
            ((text,),) = connection.execute(ask, (home.number,)).fetchall()
            connection.execute(write, (edit(str(text)), home.number))

    def defaults(self) -> str:
        """What is set for all homes, as text; empty where nothing is."""
        if (opening := self.database.opening) is not None:
            return opening.defaults
        with self.database.connection() as connection:
            found = connection.execute("SELECT settings FROM wakelog.defaults").fetchall()
        return str(found[0][0]) if found else ""

    def edit_defaults(self, edit: Callable[[str], str]) -> None:
        """Write something else for all homes, made of what is there."""
        make = "INSERT INTO wakelog.defaults DEFAULT VALUES ON CONFLICT DO NOTHING"
        ask = "SELECT settings FROM wakelog.defaults FOR UPDATE"
        with self.database.connection() as connection, connection.transaction():
            connection.execute(make)
            ((text,),) = connection.execute(ask).fetchall()
            connection.execute("UPDATE wakelog.defaults SET settings = %s", (edit(str(text)),))

    def hold(self, home: HomeRow, state: str, of: str) -> None:
        """Say whether a home may be written, and if not why."""
        with self.database.connection() as connection:
            connection.execute("SELECT wakelog.hold(%s, %s, %s)", (home.number, state, of))

    def _hold(self, connection: Connection, home: HomeRow, state: str, of: str) -> None:
        sql = "UPDATE wakelog.homes SET state = %s, moved_to = %s WHERE home = %s"
        connection.execute(sql, (state, of, home.number))
        for log in LOGS:
            head = f"UPDATE {log}.heads SET state = %s WHERE home = %s"
            connection.execute(head.encode(), (state, home.number))

    def rename(self, home: HomeRow, name: str) -> None:
        """Give a home another name. Raises Refused, as `create`."""
        _check_name(name)
        sql = "UPDATE wakelog.homes SET name = %s WHERE home = %s"
        with self.database.connection() as connection:
            try:
                connection.execute(sql, (name, home.number))
            except psycopg.errors.UniqueViolation:
                raise self._taken(name) from None

    def contents(self, home: HomeRow) -> HomeContents:
        with self.database.connection() as connection, connection.transaction():
            return self._contents(connection, home)

    def delete(self, home: HomeRow) -> HomeContents:
        """Delete a home, whole or not at all, and say what there was. Its number is never given
        again. Raises Refused, code ``home_open``: somebody has let it be written meanwhile;
        ``unknown_home``: it was deleted meanwhile; ``read_only``."""
        lock = "SELECT state FROM wakelog.homes WHERE home = %s FOR UPDATE"
        with self.database.connection() as connection, connection.transaction():
            state = connection.execute(lock, (home.number,)).fetchall()
            if state == [("open",)]:
                raise home_open(home)
            contents = self._contents(connection, home)
            connection.execute("SET LOCAL search_path TO queue")  # for its triggers
            connection.execute(_JOBS, (home.number,))
            for table in _OF_A_HOME:
                if table == "runtime.runtimes":  # a process that beats just now waits, and sees
                    connection.execute("LOCK TABLE runtime.runtimes IN SHARE ROW EXCLUSIVE MODE")
                sql = f"DELETE FROM {table} WHERE home = %s"
                connection.execute(sql.encode(), (home.number,))
            return contents

    def _contents(self, connection: Connection, home: HomeRow) -> HomeContents:
        connection.execute(_NAME, (str(home.number),))  # fences bind the owner, too
        found = connection.execute(_CONTENTS.encode(), {"home": home.number}).fetchall()
        if not found:
            raise self._unknown(home.name)
        return HomeContents(*found[0])

    def adopt(self, draw: Callable[[], str] | None = None) -> int:
        """Let the database stand where it is; how many homes were given a new name to write by.
        `draw`: gives a new name: the database stands beside its original, and whatever may be
        written is frozen then. Raises Refused, code ``nothing_to_adopt``; ``read_only``."""
        with self.database.adopting() as connection:
            ask = "SELECT home FROM wakelog.homes ORDER BY home FOR UPDATE"
            if draw is None:
                return 0
            names = [(draw(), home) for (home,) in connection.execute(ask).fetchall()]
            write = "UPDATE wakelog.homes SET replica = %s WHERE home = %s"
            connection.cursor().executemany(write, names)
            for table in ("agent.heads", "journal.heads", "wakelog.homes"):
                sql = f"UPDATE {table} SET state = 'frozen' WHERE state = 'open'"
                connection.execute(sql.encode())
            return len(names)

    def take_back(self, home: HomeRow, replica: str, settings: str, of: str) -> None:
        """Let a home that had moved away be filled again, from where it was meanwhile."""
        sql = "UPDATE wakelog.homes SET replica = %s, settings = %s WHERE home = %s"
        with self.database.connection() as connection, connection.transaction():
            connection.execute(sql, (replica, settings, home.number))
            self._hold(connection, home, "frozen", of)

    def ends_of(self, numbers: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Where both logs of some homes end, by the homes' numbers: one round trip for all."""
        asked = []
        with self.database.connection() as connection, connection.pipeline():
            for number in numbers:
                connection.execute(ENTER, (str(number),))
                asked.append(connection.execute(f"{_ENDS} WHERE home = %s".encode(), (number,)))
            return _ends(row for one in asked for row in one.fetchall())

    def _unknown(self, name: str) -> Refused:
        because = f"there is no home {name!r} in {self.database.name}"
        instead = "see `wakelog home list`; `wakelog home create NAME` makes one"
        return Refused("unknown_home", because=because, instead=instead)

    def _taken(self, name: str) -> Refused:
        because = f"there is a home {name!r} in {self.database.name}"
        return invalid(because, "choose another name, or use that one")

    def all_ends(self) -> dict[int, tuple[int, int]]:
        """Where the journal and the agent log of each home end, by the home's number."""
        with self.database.connection() as connection:
            return _ends(connection.execute(_ENDS.encode()).fetchall())

    def names(self, home: HomeRow) -> dict[str, str]:
        """What members are called whom its log names by an id."""
        return dict(self.database.asked(home.number, "SELECT * FROM wakelog.names()", ()))

    def probe(self, home: HomeRow) -> "HeadProbe":
        """What tells whether either log has changed."""
        return HeadProbe(self.database, home.number)

    def log(self, home: HomeRow, name: str) -> Log:
        """One of a home's logs, ``journal`` or ``agent``; of one that is being filled, for that."""
        is_copying = home.state == "frozen" and home.moved_to.startswith("from ")
        recorder = PostgresLogRecorder(self.database, name, home.number, is_copying=is_copying)
        return Log(name, recorder, home.replica)

    def documents(self, home: HomeRow) -> PostgresDocumentStore:
        return PostgresDocumentStore(self.database, home.number)


class HeadProbe:
    """Where both logs of a home end: one query of two rows."""

    def __init__(self, database: Database, home: int) -> None:
        self._database, self._home = database, home

    def __call__(self) -> object:
        sql = " UNION ALL ".join(f"SELECT n FROM {log}.heads WHERE home = %s" for log in LOGS)
        if (session := self._database.session(self._home)) is not None:
            session.forget()
        with suppress(Refused):
            return self._database.asked(self._home, sql, (self._home,) * len(LOGS))
        return None  # the server is away: look again

    def close(self) -> None:
        """Nothing to release."""


def home_open(home: HomeRow) -> Refused:
    """That a home may be written, and so is not deleted."""
    because = f"the home {home.name} is open: who works in it would lose what is written"
    instead = f"say `wakelog home freeze {home.name}` first"
    return Refused("home_open", because=because, instead=instead)


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        instead = "write small letters, digits and hyphens, 63 at most, no hyphen first"
        raise invalid(f"{name!r} is no name of a home", instead)


def _ends(rows: Iterable[tuple[int, int, int]]) -> dict[int, tuple[int, int]]:
    return {home: (journal, agent) for home, journal, agent in rows}

"""The homes of a database: each with both logs, one name to write under, and its settings."""

import re
from typing import NamedTuple

import psycopg

from adapters.store.log import Log
from adapters.store.postgres.database import Connection, Database
from adapters.store.postgres.recorder import PostgresLogRecorder
from adapters.store.postgres.schema import LOGS
from domain.errors import Refused, invalid

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_COLUMNS = "home, name, replica, settings, state, moved_to"


class HomeRow(NamedTuple):
    """A home as its database knows it. `state`: ``open``, ``frozen`` or ``moved``."""

    number: int
    name: str
    replica: str
    settings: str
    state: str
    moved_to: str


class Homes:
    """Makes, finds and lists homes, as whoever runs the database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def create(self, name: str, replica: str, settings: str = "", state: str = "open") -> HomeRow:
        """Make a home with two empty logs.

        Raises:
            Refused: Code ``invalid_value``: it is no name, or there is such a home.
        """
        if not NAME.fullmatch(name):
            instead = "write small letters, digits and hyphens, 63 at most, no hyphen first"
            raise invalid(f"{name!r} is no name of a home", instead)
        insert = (
            "INSERT INTO wakelog.homes (name, replica, settings, state) VALUES (%s, %s, %s, %s)"
            " RETURNING home"
        )
        with self.database.connection() as connection, connection.transaction():
            try:
                found = connection.execute(insert, (name, replica, settings, state)).fetchall()
            except psycopg.errors.UniqueViolation:
                because = f"there is a home {name!r} in {self.database.name}"
                raise invalid(because, "choose another name, or use that one") from None
            for log in LOGS:
                connection.execute(f"INSERT INTO {log}.heads (home) VALUES (%s)".encode(), found[0])
        return self.named(name)

    def named(self, name: str) -> HomeRow:
        """A home. Raises Refused, code ``unknown_home``."""
        with self.database.connection() as connection:
            found = _rows(connection, "wakelog.home_named(%s)", (name,))
        if not found:
            raise Refused(
                "unknown_home",
                because=f"there is no home {name!r} in {self.database.name}",
                instead="see `wakelog home list`; `wakelog home create NAME` makes one",
            )
        return found[0]

    def all(self) -> list[HomeRow]:
        """All homes, by name."""
        with self.database.connection() as connection:
            return _rows(connection, "wakelog.homes ORDER BY name", ())

    def log(self, home: HomeRow, name: str) -> Log:
        """One of a home's logs, ``journal`` or ``agent``."""
        return Log(name, PostgresLogRecorder(self.database, name, home.number), home.replica)


def _rows(connection: Connection, source: str, values: tuple[str, ...]) -> list[HomeRow]:
    sql = f"SELECT {_COLUMNS} FROM {source}"
    return [HomeRow(*one) for one in connection.execute(sql.encode(), values).fetchall()]  # type: ignore[arg-type]

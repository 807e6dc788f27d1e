"""Up to where each receiver of a home's notices was told, for the workers of all machines."""

from collections.abc import Iterator
from contextlib import contextmanager

from adapters.store.notice_rows import NoticeTransaction
from adapters.store.postgres.database import Database
from adapters.store.postgres.session import Connection
from adapters.store.postgres.statements import ENTER


class PostgresNoticeRows:
    """The rows of one home in a database: a `NoticeRows`. Who writes holds them until the end."""

    def __init__(self, database: Database, home: int) -> None:
        self._database, self._home = database, home

    def exists(self) -> bool:
        return True

    @contextmanager
    def transaction(self, *, is_writing: bool = True) -> Iterator[NoticeTransaction]:
        with self._database.connection() as connection, connection.transaction():
            connection.execute(ENTER, (str(self._home),))
            if is_writing:
                lock = "SELECT pg_advisory_xact_lock(hashtext('wakelog notices'), %s)"
                connection.execute(lock, (self._home,))
            yield _PostgresTransaction(connection, self._home)


class _PostgresTransaction:
    def __init__(self, connection: Connection, home: int) -> None:
        self._connection, self._home = connection, home

    def get(self, name: str) -> bytes | None:
        sql = "SELECT state FROM wakelog.notices WHERE home = %s AND name = %s"
        found = self._connection.execute(sql, (self._home, name)).fetchall()
        return bytes(found[0][0]) if found else None

    def put(self, name: str, state: bytes) -> None:
        sql = (
            "INSERT INTO wakelog.notices VALUES (%s, %s, %s)"
            " ON CONFLICT (home, name) DO UPDATE SET state = excluded.state"
        )
        self._connection.execute(sql, (self._home, name, state))

    def drop(self, name: str) -> bool:
        sql = "DELETE FROM wakelog.notices WHERE home = %s AND name = %s"
        return self._connection.execute(sql, (self._home, name)).rowcount > 0

"""The rows that say up to where each receiver of notices was told: in a folder's `runtime.db`."""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from adapters.store.leases import LOCK_TIMEOUT_SECONDS, MAY_GO
from adapters.store.sqlite_files import anew, prepared
from domain.errors import Refused

_PREPARE = (
    "CREATE TABLE IF NOT EXISTS notify (name TEXT PRIMARY KEY, state BLOB) WITHOUT ROWID",
    "SELECT name, state FROM notify",  # whether it is whole
)


class NoticeTransaction(Protocol):
    """The rows of one home, in a transaction."""

    def get(self, name: str) -> bytes | None: ...
    def put(self, name: str, state: bytes) -> None: ...
    def drop(self, name: str) -> bool:
        """Whether it was there."""


class NoticeRows(Protocol):
    """Where the rows of one home are kept. Each use opens it anew, from any thread."""

    def exists(self) -> bool:
        """Whether any row may be there; nothing is made to find out."""

    def transaction(self, *, is_writing: bool = True) -> AbstractContextManager[NoticeTransaction]:
        """One transaction: what is written is kept at its end. Raises Refused."""


class SqliteNoticeRows:
    """The rows in a file, which may be deleted at any time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        return self._path.exists()

    @contextmanager
    def transaction(self, *, is_writing: bool = True) -> Iterator[NoticeTransaction]:
        try:
            opened = partial(prepared, self._path, LOCK_TIMEOUT_SECONDS, *_PREPARE)
            with closing(anew(self._path, opened)) as connection:
                if is_writing:
                    connection.execute("BEGIN IMMEDIATE")
                yield _SqliteTransaction(connection)
                if is_writing:
                    connection.execute("COMMIT")
        except (sqlite3.Error, msgspec.DecodeError) as error:
            because = f"{self._path} cannot be used: {error}"
            raise Refused("read_only", because=because, instead=MAY_GO) from None


class _SqliteTransaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> bytes | None:
        sql = "SELECT state FROM notify WHERE name = ?"
        found = self._connection.execute(sql, (name,)).fetchone()
        return found[0] if found else None

    def put(self, name: str, state: bytes) -> None:
        self._connection.execute("INSERT OR REPLACE INTO notify VALUES (?, ?)", (name, state))

    def drop(self, name: str) -> bool:
        return self._connection.execute("DELETE FROM notify WHERE name = ?", (name,)).rowcount > 0

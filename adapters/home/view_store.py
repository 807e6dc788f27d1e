"""The documents of a home in a SQLite file: the store of views of one machine."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from adapters.home.view_file import open_file, title_in
from adapters.store.disposable import Beside, is_out_of_reach
from adapters.store.documents import Asked, Kept, Position, Told
from projections.view import View

_TITLED = "title = ?"
_MENDS_MAX = 5  # of one opening; then it is the disk, and memory is used


class SqliteDocumentStore:
    """A `DocumentStore`. A file that cannot be read is made anew; where it cannot be written,
    documents are kept in memory, so that reading works."""

    broken = (sqlite3.DatabaseError, msgspec.MsgspecError, UnicodeDecodeError)

    def __init__(self, path: Path | None, views: Sequence[View[Any]]) -> None:
        """Open the file, which is made if it is not there; None keeps all in memory."""
        self._path = path
        self._views = views
        self._mends_left = _MENDS_MAX
        self._beside = Beside(path)
        self._connection = self._opened()

    @property
    def is_in_memory(self) -> bool:
        return self._path is None

    def positions(
        self,
        views: Sequence[View[Any]],  # noqa: ARG002  a file has no others
    ) -> dict[str, Position]:
        self._look()
        rows = self._connection.execute("SELECT view, version, n, digest FROM positions")
        return {row[0]: Position(*row[1:]) for row in rows}

    def read(self, view: View[Any], key: str) -> bytes | None:
        sql = "SELECT document FROM documents WHERE view = ? AND key = ?"
        row = self._connection.execute(sql, (view.name, key)).fetchone()
        return row[0] if row else None

    def page(self, asked: Asked) -> list[bytes]:
        is_titled = _TITLED in asked.where
        order = (
            f"{'+' * is_titled}{asked.order} LIMIT {asked.limit}"  # + : not by the index of keys
        )
        sql, values = _selected("document", asked)
        return [row[0] for row in self._connection.execute(f"{sql} ORDER BY {order}", values)]

    def count(self, asked: Asked, what: Told = "count(*)") -> Any:
        return self._connection.execute(*_selected(what, asked)).fetchone()[0]

    def write(self, view: View[Any], kept: Sequence[Kept], gone: Sequence[str]) -> None:
        sql = "DELETE FROM documents WHERE view = ? AND key = ?"
        self._connection.executemany(sql, [(view.name, key) for key in gone])
        sql = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        rows = [(view.name, *one[:7], one.document) for one in kept]  # titles are in documents
        self._connection.executemany(sql, rows)

    def move(self, view: View[Any], position: Position) -> None:
        sql = "INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?)"
        self._connection.execute(sql, (view.name, *position))

    def forget(self, views: Sequence[View[Any]]) -> None:
        for view in views:
            self._connection.execute("DELETE FROM documents WHERE view = ?", (view.name,))
            self._connection.execute("DELETE FROM positions WHERE view = ?", (view.name,))

    @contextmanager
    def transaction(self, log: str) -> Iterator[None]:  # noqa: ARG002  a file has one lock
        self._look()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._look()
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def remembered(self, name: str) -> bytes | None:
        sql = "SELECT value FROM remembered WHERE name = ?"
        row = self._connection.execute(sql, (name,)).fetchone()
        return row[0] if row else None

    def remember(self, name: str, value: bytes) -> None:
        with suppress(sqlite3.OperationalError):
            self._connection.execute(
                "INSERT OR REPLACE INTO remembered VALUES (?, ?)", (name, value)
            )

    def mend(self, error: Exception) -> None:
        if isinstance(error, sqlite3.ProgrammingError) or self._path is None:
            raise error  # it was closed; or there is nothing to make anew
        is_anew = self._may_be_made_anew(error)
        if is_anew:
            self._beside.take_away()
        self._connection.close()
        self._connection = self._opened(is_file=is_anew)

    def close(self) -> None:
        self._connection.close()

    def _look(self) -> None:
        if not self._beside.is_same:
            raise sqlite3.DatabaseError("another file stands in its place, or beside it")

    def _may_be_made_anew(self, after: Exception) -> bool:
        self._mends_left -= 1
        return self._mends_left >= 0 and not (is_out_of_reach(after) and self._beside.is_same)

    def _opened(self, *, is_file: bool = True) -> sqlite3.Connection:
        """The file, in the place of one that cannot be read an empty one; else memory."""
        self._path = self._path if is_file else None
        self._beside = Beside(self._path)
        try:
            connection = open_file(self._path, self._views)
        except sqlite3.Error as error:
            if self._path is None:
                raise
            if is_anew := self._may_be_made_anew(error):
                self._beside.take_away()
            return self._opened(is_file=is_anew)
        self._beside = Beside(self._path)
        return connection


def _selected(what: str, asked: Asked) -> tuple[str, tuple[str, ...]]:
    """A query and its values. Every part of its text is written by us: see `Asked`."""
    name = f"'{asked.view.name}'" if _TITLED in asked.where else "?"  # so that its index fits
    parts = [f"view = {name}"]
    parts += [one.replace(_TITLED, f"{title_in(asked.view)} = ?") for one in asked.where]
    index = f"INDEXED BY {asked.by}" if asked.by else ""
    values = (*((asked.view.name,) if name == "?" else ()), *asked.values)
    return f"SELECT {what} FROM documents {index} WHERE {' AND '.join(parts)}", values

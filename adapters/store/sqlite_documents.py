"""The documents of a home in a SQLite file: how it is opened and made anew, and what is kept in it.

Nothing in the file is truth: one that cannot be read, or of another format, is made anew."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from adapters.store.document_store import Aggregate, DocumentQuery, DocumentRow, ViewPosition
from adapters.store.sqlite_files import OtherFile, SidecarFiles, is_out_of_reach
from projections.view import View

VIEW_FORMAT = 5  # another one, older or newer, is made anew
LOCK_TIMEOUT_SECONDS = 5

_TABLES = (
    "DROP TABLE IF EXISTS documents",
    "DROP TABLE IF EXISTS positions",
    """
    CREATE TABLE documents (
        view TEXT NOT NULL, key TEXT NOT NULL, shelf TEXT NOT NULL, place TEXT NOT NULL,
        mark TEXT NOT NULL, due TEXT NOT NULL, tally INTEGER NOT NULL, turn TEXT NOT NULL,
        document BLOB NOT NULL,
        PRIMARY KEY (view, key)
    )
    """,  # with rowids: else SQLite reads a large document whole where it only compares its key
    "CREATE INDEX shelves ON documents (view, shelf, place)",
    "CREATE INDEX places ON documents (view, place)",
    "CREATE INDEX marks ON documents (view, mark, place, tally) WHERE mark <> ''",
    "CREATE INDEX dues ON documents (view, due, mark) WHERE due <> ''",
    "CREATE INDEX turns ON documents (view, turn, key) WHERE turn <> ''",
    """
    CREATE TABLE positions (
        view TEXT PRIMARY KEY, version INTEGER NOT NULL, n INTEGER NOT NULL, digest TEXT NOT NULL
    )
    """,
    "CREATE TABLE IF NOT EXISTS remembered (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
    f"PRAGMA user_version={VIEW_FORMAT}",
)


def open_view_file(path: Path | None, views: Sequence[View[Any]]) -> sqlite3.Connection:
    """The file with its tables, made if they are not there or are of another format."""
    connection = sqlite3.connect(
        path or ":memory:",
        isolation_level=None,
        timeout=LOCK_TIMEOUT_SECONDS,
        check_same_thread=False,
    )
    try:
        with suppress(sqlite3.OperationalError):  # two processes at once; one of them succeeds
            connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        if _stored_format(connection) != VIEW_FORMAT:
            _make_tables(connection)
        with suppress(sqlite3.OperationalError):  # titles are found without an index, too
            _index_titles(connection, views)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if _stored_format(connection) != VIEW_FORMAT:  # unless another process was faster
        for statement in _TABLES:
            connection.execute(statement)
    connection.execute("COMMIT")


def _index_titles(connection: sqlite3.Connection, views: Sequence[View[Any]]) -> None:
    """An index needs no new format: SQLite makes it of the documents, whoever wrote them."""
    for view in views:
        if view.title:
            connection.execute(
                f"CREATE INDEX IF NOT EXISTS titles_of_{view.name} "
                f"ON documents ({title_in(view)}) WHERE view = '{view.name}'"
            )


def title_in(view: View[Any]) -> str:
    """A document's title in SQL; the index fits where it is written like this."""
    return f"json_extract(CAST(document AS TEXT), '{view.title}')"


def _stored_format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


# --------------------------------------------------------------------------- the store of documents

_TITLED, _SHELVED = "title = ?", "shelf = ?"
_MENDS_MAX = 5  # of one opening; then it is the disk, and memory is used


class SqliteDocumentStore:
    """A `DocumentStore`. A file that cannot be read is made anew; where it cannot be written,
    documents are kept in memory, so that reading works."""

    broken = (sqlite3.DatabaseError, msgspec.MsgspecError, UnicodeDecodeError)

    def __init__(self, path: Path | None, views: Sequence[View[Any]]) -> None:
        """Open the file, which is made if it is not there; None keeps all in memory."""
        self._path, self._views = path, views
        self._mends_left = _MENDS_MAX
        self._beside = SidecarFiles(path)
        self._connection = self._opened()

    @property
    def is_in_memory(self) -> bool:
        return self._path is None

    def positions(
        self,
        views: Sequence[View[Any]],  # noqa: ARG002  a file has no others
    ) -> dict[str, ViewPosition]:
        self._look()
        rows = self._connection.execute("SELECT view, version, n, digest FROM positions")
        return {row[0]: ViewPosition(*row[1:]) for row in rows}

    def read(self, view: View[Any], key: str) -> bytes | None:
        sql = "SELECT document FROM documents WHERE view = ? AND key = ?"
        row = self._connection.execute(sql, (view.name, key)).fetchone()
        return row[0] if row else None

    def page(self, asked: DocumentQuery) -> list[bytes]:
        # + : not by the index of keys
        order = f"{'+' * (_TITLED in asked.where)}{asked.order} LIMIT {asked.limit}"
        sql, values = _select_sql("document", asked)
        return [row[0] for row in self._connection.execute(f"{sql} ORDER BY {order}", values)]

    def count(self, asked: DocumentQuery, what: Aggregate = "count(*)") -> Any:
        return self._connection.execute(*_select_sql(what, asked)).fetchone()[0]

    def write(self, view: View[Any], kept: Sequence[DocumentRow], gone: Sequence[str]) -> None:
        sql = "DELETE FROM documents WHERE view = ? AND key = ?"
        self._connection.executemany(sql, [(view.name, key) for key in gone])
        sql = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        rows = [(view.name, *one[:7], one.document) for one in kept]  # titles are in documents
        self._connection.executemany(sql, rows)

    def move(self, view: View[Any], position: ViewPosition) -> None:
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
        sql = "INSERT OR REPLACE INTO remembered VALUES (?, ?)"
        with suppress(sqlite3.OperationalError):
            self._connection.execute(sql, (name, value))

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
            raise OtherFile("another file stands in its place, or beside it")

    def _may_be_made_anew(self, after: Exception) -> bool:
        self._mends_left -= 1
        return self._mends_left >= 0 and not (is_out_of_reach(after) and self._beside.is_same)

    def _opened(self, *, is_file: bool = True) -> sqlite3.Connection:
        """The file, in the place of one that cannot be read an empty one; else memory."""
        self._path = self._path if is_file else None
        self._beside = SidecarFiles(self._path)
        try:
            connection = open_view_file(self._path, self._views)
        except sqlite3.Error as error:
            if self._path is None:
                raise
            if is_anew := self._may_be_made_anew(error):
                self._beside.take_away()
            return self._opened(is_file=is_anew)
        self._beside = SidecarFiles(self._path)
        return connection


def _select_sql(what: str, asked: DocumentQuery) -> tuple[str, tuple[str, ...]]:
    """A query and its values. Every part of its text is written by us: see `DocumentQuery`."""
    name = f"'{asked.view.name}'" if _TITLED in asked.where else "?"  # so that its index fits
    parts = [f"view = {name}"]
    parts += [one.replace(_TITLED, f"{title_in(asked.view)} = ?") for one in asked.where]
    # Without counts SQLite would take the index of a mark, which half of a view may have.
    by = "shelves" if _SHELVED in asked.where else asked.by
    index = f"INDEXED BY {by}" if by else ""
    values = (*((asked.view.name,) if name == "?" else ()), *asked.values)
    return f"SELECT {what} FROM documents {index} WHERE {' AND '.join(parts)}", values

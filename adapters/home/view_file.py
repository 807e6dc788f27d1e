"""The SQLite file that views are kept in, and one view's documents in it.

Nothing in the file is truth: one that cannot be read, or of another format, is made anew.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from projections.view import View

D = TypeVar("D")

FORMAT = 5  # another one, older or newer, is made anew
DOCUMENTS_KEPT = 5000  # decoded ones of a view, from one batch to the next
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
    f"PRAGMA user_version={FORMAT}",
)
_UNWRITABLE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)
_encode = msgspec.json.Encoder().encode


def open_file(path: Path | None, views: Sequence[View[Any]]) -> sqlite3.Connection:
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
        if _format(connection) != FORMAT:
            _make(connection)
        with suppress(sqlite3.OperationalError):  # titles are found without an index, too
            _index_titles(connection, views)
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if _format(connection) != FORMAT:  # unless another process was faster
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


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def open_anew(path: Path, views: Sequence[View[Any]]) -> sqlite3.Connection:
    """An empty file in the place of one that cannot be read."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
    return open_file(path, views)


def is_unwritable(error: Exception | None) -> bool:
    """Whether the file may be whole, and only out of reach."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _UNWRITABLE


class Documents(Generic[D]):
    """One view's documents by key, read when they are asked for, written all together."""

    def __init__(
        self, view: View[D], connection: sqlite3.Connection, decoder: msgspec.json.Decoder[D]
    ) -> None:
        self._view = view
        self._connection = connection
        self._decoder = decoder
        self._known: dict[str, D | None] = {}
        self._changed: set[str] = set()

    def get(self, key: str, /) -> D | None:
        if key not in self._known:
            sql = "SELECT document FROM documents WHERE view = ? AND key = ?"
            row = self._connection.execute(sql, (self._view.name, key)).fetchone()
            self._known[key] = self._decoder.decode(row[0]) if row else None
        return self._known[key]

    def __setitem__(self, key: str, document: D, /) -> None:
        self._known[key] = document
        self._changed.add(key)

    def __delitem__(self, key: str, /) -> None:
        self._known[key] = None
        self._changed.add(key)

    def write(self) -> None:
        """Bring what changed to the file."""
        name, view = self._view.name, self._view
        kept, gone = [], []
        for key in sorted(self._changed):
            document = self._known[key]
            if document is None:
                gone.append((name, key))
                continue
            data = _encode(document)
            found = (of(document) for of in (view.shelf, view.place, view.mark, view.due))
            kept.append((name, key, *found, view.tally(document), view.turn(document), data))
        self._connection.executemany("DELETE FROM documents WHERE view = ? AND key = ?", gone)
        sql = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        self._connection.executemany(sql, kept)
        self._changed.clear()
        if len(self._known) > DOCUMENTS_KEPT:
            self._known.clear()

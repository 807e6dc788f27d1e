"""The SQLite file that views are kept in: how it is opened, and made anew.

Nothing in the file is truth: one that cannot be read, or of another format, is made anew.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from projections.view import View

FORMAT = 5  # another one, older or newer, is made anew
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

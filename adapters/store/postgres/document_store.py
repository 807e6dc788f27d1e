"""The documents of one home's views in PostgreSQL, beside its logs: whichever machine reads a home
finds them made (ADR 69)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
import psycopg
from psycopg.pq import TransactionStatus

from adapters.store.document_store import (
    FROM_DOCUMENTS,
    Aggregate,
    DocumentQuery,
    DocumentRow,
    DocumentStore,
    ViewPosition,
)
from adapters.store.postgres.database import Connection, Database
from adapters.store.postgres.schema import LOGS
from adapters.store.postgres.statements import ENTER, READ
from projections.view import View

_COLUMNS = "view, key, shelf, place, mark, due, tally, turn, title, document"
_OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
_TITLED = "title = ?"
_INDEXED = "title <> '' AND md5(title) = md5(?) AND title = ?"
_WRITE = f"""
    INSERT INTO views.documents (home, {_COLUMNS})
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (home, view, key) DO UPDATE SET (shelf, place, mark, due, tally, turn, title,
        document) = (excluded.shelf, excluded.place, excluded.mark, excluded.due, excluded.tally,
        excluded.turn, excluded.title, excluded.document)"""
_WRITE_VIEWS = "BEGIN READ WRITE"  # even where nothing else may be written: they say what logs do
_MOVE = """
    INSERT INTO views.positions (home, view, version, n, digest) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (home, view) DO UPDATE SET (version, n, digest) =
        (excluded.version, excluded.n, excluded.digest)"""
_REMEMBER = """
    INSERT INTO views.remembered (home, name, value) VALUES (%s, %s, %s)
    ON CONFLICT (home, name) DO UPDATE SET value = excluded.value"""


class PostgresDocumentStore:
    """A `SharedDocumentStore`. No connection is held but in a transaction.

    Documents of one version are a generation of their own: a program of another version makes its
    own beside them, and each reads what it can read.
    """

    broken = (msgspec.MsgspecError, UnicodeDecodeError)
    is_in_memory = False

    def __init__(self, database: Database, home: int) -> None:
        self._database = database
        self._home = home
        self._open: Connection | None = None
        self._was_made_anew = False

    def positions(self, views: Sequence[View[Any]]) -> dict[str, ViewPosition]:
        names = {_generation(view): view.name for view in views}
        sql = (
            "SELECT view, version, n, digest FROM views.positions WHERE home = %s"
            " AND view = ANY (%s)"
        )
        found = self._found(sql, self._home, list(names))
        return {names[row[0]]: ViewPosition(*row[1:]) for row in found}

    def read(self, view: View[Any], key: str) -> bytes | None:
        sql = "SELECT document FROM views.documents WHERE home = %s AND view = %s AND key = %s"
        found = self._found(sql, self._home, _generation(view), key)
        return found[0][0] if found else None

    def page(self, asked: DocumentQuery) -> list[bytes]:
        limit = f" LIMIT {asked.limit}" if asked.limit >= 0 else ""
        sql, values = self._selected("document", asked)
        return [row[0] for row in self._found(f"{sql} ORDER BY {asked.order}{limit}", *values)]

    def count(self, asked: DocumentQuery, what: Aggregate = "count(*)") -> Any:
        sql, values = self._selected(what, asked)
        return self._found(sql, *values)[0][0]

    def write(self, view: View[Any], kept: Sequence[DocumentRow], gone: Sequence[str]) -> None:
        connection, name = self._writing(), _generation(view)
        if gone:
            sql = "DELETE FROM views.documents WHERE home = %s AND view = %s AND key = ANY (%s)"
            connection.execute(sql, (self._home, name, list(gone)))
        if kept:
            rows = [(self._home, name, *one) for one in kept]
            connection.cursor().executemany(_WRITE.encode(), rows)

    def move(self, view: View[Any], position: ViewPosition) -> None:
        self._writing().execute(_MOVE, (self._home, _generation(view), *position))

    def forget(self, views: Sequence[View[Any]]) -> None:
        names = _generations(views)
        for table in ("documents", "positions"):
            sql = f"DELETE FROM views.{table} WHERE home = %s AND view = ANY (%s)"
            self._writing().execute(sql.encode(), (self._home, names))

    @contextmanager
    def transaction(self, log: str) -> Iterator[None]:
        """Its row of `locks` is held: who comes second waits, and finds the work done."""
        taken = "INSERT INTO views.locks VALUES (%s, %s) ON CONFLICT DO NOTHING"
        held = "SELECT 1 FROM views.locks WHERE home = %s AND log = %s FOR UPDATE"
        with self._database.batches, self._inside(_WRITE_VIEWS) as connection:
            for sql in (taken, held):
                connection.execute(sql.encode(), (self._home, log))
            yield
            connection.execute("COMMIT")

    def remembered(self, name: str) -> bytes | None:
        sql = "SELECT value FROM views.remembered WHERE home = %s AND name = %s"
        found = self._found(sql, self._home, name)
        return found[0][0] if found else None

    def remember(self, name: str, value: bytes) -> None:
        """Nothing of a home that somebody has deleted."""
        gone = psycopg.errors.ForeignKeyViolation
        with self._inside(_WRITE_VIEWS) as connection, suppress(gone):
            connection.execute(_REMEMBER, (self._home, name, value))
            connection.execute("COMMIT")

    def mend(self, error: Exception) -> None:
        """What cannot be read was written by something else: all of it is made anew, once."""
        if self._was_made_anew:
            raise error
        self._was_made_anew = True
        with self._inside(_WRITE_VIEWS) as connection:
            self._clear("documents", "positions")
            connection.execute("COMMIT")

    def clear(self) -> None:
        """Delete all that is kept of the home, by programs of other versions too. Of each log in
        turn, as who brings its views up to date may have read it before."""
        for log in LOGS:
            with self.transaction(log):
                self._clear("documents", "positions", "remembered")

    def _clear(self, *tables: str) -> None:
        for table in tables:
            sql = f"DELETE FROM views.{table} WHERE home = %s"
            self._writing().execute(sql.encode(), (self._home,))

    def copy(self, to: DocumentStore, views: Sequence[View[Any]]) -> None:
        columns = ", ".join(DocumentRow._fields)
        sql = f"SELECT {columns} FROM views.documents WHERE home = %s AND view = %s"
        with self._inside(READ):
            positions = self.positions(views)
            for view in views:
                kept = [
                    DocumentRow(*row) for row in self._found(sql, self._home, _generation(view))
                ]
                with to.transaction(view.log):
                    to.write(view, kept, ())
                    to.move(view, positions.get(view.name, ViewPosition()))

    def has_others(self, views: Sequence[View[Any]]) -> bool:
        """Whether a program of another version keeps views of this home, or did."""
        sql = "SELECT count(*) FROM views.positions WHERE home = %s AND view <> ALL (%s)"
        return bool(self._found(sql, self._home, _generations(views))[0][0])

    def outlived(self, views: Sequence[View[Any]], seconds: float) -> bool:
        """Delete what programs of other versions keep, if these views were begun so long ago;
        whether they were. A program that still wants it makes it anew."""
        names = _generations(views)
        begun = (
            "SELECT count(*) FROM views.positions WHERE home = %s AND view = ANY (%s)"
            " AND made_at <= clock_timestamp() - %s * interval '1 second'"
        )
        if self._found(begun, self._home, names, seconds)[0][0] < len(names):
            return False
        with self._inside(_WRITE_VIEWS) as connection:
            for table in ("documents", "positions"):
                sql = f"DELETE FROM views.{table} WHERE home = %s AND view <> ALL (%s)"
                connection.execute(sql.encode(), (self._home, names))
            connection.execute("COMMIT")
        return True

    def close(self) -> None:
        """Nothing to release: the pool is the process's."""

    def _selected(self, what: str, asked: DocumentQuery) -> tuple[str, tuple[Any, ...]]:
        """A query and its values. Every part of its text is written by us: see `DocumentQuery`."""
        values = tuple(asked.values)
        if _TITLED in asked.where:
            values *= 2
        where = [one.replace(_TITLED, _INDEXED).replace("?", "%s") for one in asked.where]
        parts = " AND ".join(["home = %s AND view = %s", *where])
        others = f"FROM views.documents WHERE home = {self._home:d} AND"
        parts = parts.replace(FROM_DOCUMENTS, others)
        return f"SELECT {what} FROM views.documents WHERE {parts}", (
            self._home,
            _generation(asked.view),
            *values,
        )

    def _found(self, sql: str, *values: Any) -> list[Any]:
        if self._open is not None:
            with self._database.told():
                return self._open.execute(sql.encode(), values, binary=True).fetchall()
        return self._database.asked(self._home, sql, values)

    def _writing(self) -> Connection:
        assert self._open is not None, "documents are written in a transaction"
        return self._open

    @contextmanager
    def _inside(self, begin: str) -> Iterator[Connection]:
        """A transaction of this home; whoever writes commits."""
        with self._database.connection() as connection:
            with connection.pipeline():
                connection.execute(begin.encode())
                connection.execute(ENTER, (str(self._home),))
            self._open = connection
            try:
                yield connection
            finally:
                self._open = None
                if connection.info.transaction_status in _OPEN:  # ROLLBACK forgets all plans
                    connection.execute("ROLLBACK")


def _generation(view: View[Any]) -> str:
    """What a view of one version is called in the tables."""
    return f"{view.name}.{view.version}"


def _generations(views: Sequence[View[Any]]) -> list[str]:
    return [_generation(view) for view in views]

"""The documents of one home's views in PostgreSQL, beside its logs: whichever machine reads a home
finds them made (ADR 69)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec
import psycopg

from adapters.store.document_store import (
    FROM_DOCUMENTS,
    Aggregate,
    DocumentQuery,
    DocumentRow,
    DocumentStore,
    ViewPosition,
)
from adapters.store.postgres.database import Database
from adapters.store.postgres.schema import LOGS
from adapters.store.postgres.session import HEADS, OPEN, POSITIONS, Connection, Session
from adapters.store.postgres.statements import READ
from adapters.store.sqlite_documents import SqliteDocumentStore
from projections.all_views import VIEWS
from projections.view import View

NEAR_MAX_BYTES = 1_000_000  # that are sent as fast as some questions are asked
_COLUMNS = "view, key, shelf, place, mark, due, tally, turn, title, document"
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
    own beside them, and each reads what it can read."""

    broken = (msgspec.MsgspecError, UnicodeDecodeError)
    is_in_memory = False

    def __init__(self, database: Database, home: int) -> None:
        self._database, self._home = database, home
        self._open: Connection | None = None
        self._was_made_anew = False
        self._pending: list[tuple[str, Any]] = []  # writes, that go with the next question
        self._moved: dict[str, ViewPosition] = {}
        self._near: NearDocuments | None = None  # of a home that is far away

    def positions(self, views: Sequence[View[Any]]) -> dict[str, ViewPosition]:
        names = {_generation(view): view.name for view in views}
        if (session := self._database.session(self._home)) is not None:
            self._database.heads(session)
            there = session.positions
            return {name: there[one] for one, name in names.items() if one in there}
        sql = (
            "SELECT view, version, n, digest FROM views.positions WHERE home = %s"
            " AND view = ANY (%s)"
        )
        found = self._found(sql, self._home, list(names))
        return {names[row[0]]: ViewPosition(*row[1:]) for row in found}

    def read(self, view: View[Any], key: str) -> bytes | None:
        if (near := self._taken()) is not None:
            return near.read(view, key)
        sql = "SELECT document FROM views.documents WHERE home = %s AND view = %s AND key = %s"
        found = self._found(sql, self._home, _generation(view), key)
        return found[0][0] if found else None

    def page(self, asked: DocumentQuery) -> list[bytes]:
        if (near := self._taken()) is not None:
            return near.page(asked)
        limit = f" LIMIT {asked.limit}" if asked.limit >= 0 else ""
        sql, values = self._selected("document", asked)
        return [row[0] for row in self._found(f"{sql} ORDER BY {asked.order}{limit}", *values)]

    def count(self, asked: DocumentQuery, what: Aggregate = "count(*)") -> Any:
        if (near := self._taken()) is not None:
            return near.count(asked, what)
        sql, values = self._selected(what, asked)
        return self._found(sql, *values)[0][0]

    def write(self, view: View[Any], kept: Sequence[DocumentRow], gone: Sequence[str]) -> None:
        name = _generation(view)
        if gone:
            sql = "DELETE FROM views.documents WHERE home = %s AND view = %s AND key = ANY (%s)"
            self._write(sql, (self._home, name, list(gone)))
        for one in kept:
            self._write(_WRITE, (self._home, name, *one))
        if self._near is not None:
            self._near.write(view, kept, gone)

    def move(self, view: View[Any], position: ViewPosition) -> None:
        self._write(_MOVE, (self._home, _generation(view), *position))
        self._moved[_generation(view)] = position
        if self._near is not None:
            self._near.move(view, position)

    def forget(self, views: Sequence[View[Any]]) -> None:
        names, self._near = _generations(views), None
        for table in ("documents", "positions"):
            sql = f"DELETE FROM views.{table} WHERE home = %s AND view = ANY (%s)"
            self._write(sql, (self._home, names))

    @contextmanager
    def transaction(self, log: str) -> Iterator[None]:
        """Its row of `locks` is held: who comes second waits, and finds the work done."""
        taken = "INSERT INTO views.locks VALUES (%s, %s) ON CONFLICT DO NOTHING"
        held = "SELECT 1 FROM views.locks WHERE home = %s AND log = %s FOR UPDATE"
        first = [(sql, (self._home, log)) for sql in (taken, held)]
        session = self._database.session(self._home)
        is_own = session is not None and not session.is_taken
        ends = [(HEADS, ()), (POSITIONS, ())] if is_own else []
        with self._database.batches, self._inside(_WRITE_VIEWS, *first, *ends) as found:
            if is_own and session is not None:
                session.inside(*found[2:])
            yield
            self._commit()
            if session is not None:
                session.positions |= self._moved

    def remembered(self, name: str) -> bytes | None:
        session = self._database.session(self._home)
        if session is not None and session.remembered is not None:
            return session.remembered.get(name)
        sql = "SELECT value FROM views.remembered WHERE home = %s AND name = %s"
        found = self._found(sql, self._home, name)
        return found[0][0] if found else None

    def remember(self, name: str, value: bytes) -> None:
        """Nothing of a home that somebody has deleted."""
        gone = psycopg.errors.ForeignKeyViolation
        with self._inside(_WRITE_VIEWS), suppress(gone):
            self._write(_REMEMBER, (self._home, name, value))
            self._commit()
        if (session := self._database.session(self._home)) is not None:
            session.remembered = None

    def mend(self, error: Exception) -> None:
        """What cannot be read was written by something else: all of it is made anew, once."""
        if self._was_made_anew:
            raise error
        self._was_made_anew = True
        with self._inside(_WRITE_VIEWS):
            self._clear("documents", "positions")
            self._commit()

    def clear(self) -> None:
        """Delete all that is kept of the home, by programs of other versions too. Of each log in
        turn, as who brings its views up to date may have read it before."""
        for log in LOGS:
            with self.transaction(log):
                self._clear("documents", "positions", "remembered")

    def _clear(self, *tables: str) -> None:
        self._near = None
        for table in tables:
            self._write(f"DELETE FROM views.{table} WHERE home = %s", (self._home,))

    def copy(self, to: DocumentStore, views: Sequence[View[Any]]) -> None:
        columns = ", ".join(DocumentRow._fields)
        sql = f"SELECT {columns} FROM views.documents WHERE home = %s AND view = %s"
        with self._inside(READ):
            positions = self.positions(views)
            for view in views:
                kept = self._found(sql, self._home, _generation(view))
                with to.transaction(view.log):
                    to.write(view, [DocumentRow(*row) for row in kept], ())
                    to.move(view, positions.get(view.name, ViewPosition()))

    def has_others(self, views: Sequence[View[Any]]) -> bool:
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
        with self._inside(_WRITE_VIEWS):
            for table in ("documents", "positions"):
                sql = f"DELETE FROM views.{table} WHERE home = %s AND view <> ALL (%s)"
                self._write(sql, (self._home, names))
            self._commit()
        return True

    def close(self) -> None:
        """Nothing to release: the pool is the process's."""

    def _selected(self, what: str, asked: DocumentQuery) -> tuple[str, tuple[Any, ...]]:
        """A query and its values. Every part of its text is written by us: see `DocumentQuery`."""
        names = {one.name: _generation(one) for one in asked.others}
        values = [names.get(one, one) for one in asked.values]
        values *= 2 if _TITLED in asked.where else 1
        where = [one.replace(_TITLED, _INDEXED).replace("?", "%s") for one in asked.where]
        parts = " AND ".join(["home = %s AND view = %s", *where])
        others = f"FROM views.documents WHERE home = {self._home:d} AND"
        sql = f"SELECT {what} FROM views.documents WHERE {parts.replace(FROM_DOCUMENTS, others)}"
        return sql, (self._home, _generation(asked.view), *values)

    def _found(self, sql: str, *values: Any) -> list[Any]:
        if (connection := self._open) is not None:
            with self._database.told():
                self._flush(connection)
                return connection.execute(sql.encode(), values, binary=True).fetchall()
        return self._database.asked(self._home, sql, values)

    def _taken(self) -> "NearDocuments | None":
        """The documents as a short command has them here, of a home that is far away."""
        session = self._database.session(self._home)
        if session is None or not session.is_far or (self._open and self._near is None):
            return None
        if self._near is None or not self._near.is_at(session.positions):
            with self._database.told():
                self._near = NearDocuments(session, self._home)
        return self._near if self._near.is_all else None

    def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        assert self._open is not None, "documents are written in a transaction"
        self._pending.append((sql, values))

    def _flush(self, connection: Connection) -> None:
        """Write what waits, in one round trip."""
        if not self._pending:
            return
        with connection.pipeline():
            self._send(connection)

    def _send(self, connection: Connection) -> None:
        pending, self._pending = self._pending, []
        for sql, same in groupby(pending, key=itemgetter(0)):
            connection.cursor().executemany(sql.encode(), [values for _, values in same])

    def _commit(self) -> None:
        """Write what waits and commit, in one round trip."""
        assert self._open is not None
        with self._open.pipeline():
            self._send(self._open)
            self._open.execute("COMMIT")

    @contextmanager
    def _inside(self, begin: str, *asked: tuple[str, Any]) -> Iterator[list[list[Any]]]:
        """A transaction of this home, and the answers to its first questions; whoever writes
        commits."""
        with self._database.begun(self._home, begin, *asked) as (connection, found):
            self._open = connection
            try:
                yield found
            except BaseException:
                self._near = None
                raise
            finally:
                self._open, self._pending, self._moved = None, [], {}
                if connection.info.transaction_status in OPEN:  # ROLLBACK forgets all plans
                    connection.execute("ROLLBACK")


class NearDocuments:
    """All documents of a home in memory, as they are at one moment, unless they are too many."""

    def __init__(self, session: Session, home: int) -> None:
        names = [_generation(view) for view in VIEWS]
        self._at = {one: session.positions.get(one) for one in names}  # or before: see `is_at`
        of = "views.documents WHERE home = %(home)s AND view = ANY (%(views)s)"
        size = f"(SELECT coalesce(sum(octet_length(document)), 0) FROM {of}) <= {NEAR_MAX_BYTES}"
        sql = f"""
            SELECT fits, {_COLUMNS} FROM (SELECT {size} AS fits) AS size
            LEFT JOIN (SELECT * FROM {of}) AS every ON fits"""
        rows = session.ask(sql, {"home": home, "views": names})
        self.is_all = bool(rows[0][0])
        self._store = SqliteDocumentStore(None, VIEWS)
        self.read, self.page, self.count = self._store.read, self._store.page, self._store.count
        of_view: dict[str, list[DocumentRow]] = {}
        for view, *row in (rest for _, *rest in rows if rest[0] is not None):
            of_view.setdefault(view, []).append(DocumentRow(*row))
        with self._store.transaction(""):
            for view in VIEWS:
                self._store.write(view, of_view.get(_generation(view), ()), ())
        self.write = self._store.write

    def is_at(self, positions: Mapping[str, ViewPosition]) -> bool:
        """Whether views have come no further since: positions were read before the documents."""
        return all(positions.get(view) == at for view, at in self._at.items())

    def move(self, view: View[Any], position: ViewPosition) -> None:
        self._at[_generation(view)] = position


def _generation(view: View[Any]) -> str:
    """What a view of one version is called in the tables."""
    return f"{view.name}.{view.version}"


def _generations(views: Sequence[View[Any]]) -> list[str]:
    return [_generation(view) for view in views]

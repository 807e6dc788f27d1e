"""Where the views are kept: documents in a SQLite file that can be thrown away (DESIGN 4).

`catch_up` applies what the logs have beyond each view's position, in batches of one transaction
each, so several processes may share the file: whoever comes second finds the work done. Each
position carries the digest of its append. Where a log has another one there, a view's version
changed or the file cannot be read, its documents are made anew; where the file cannot be
written, they are made in memory, so that reading works.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import msgspec

from adapters.home.view_file import Documents, is_unwritable, open_anew, open_file, title_in
from adapters.store.log import Log, LogProgress
from domain.causes import ReplicasImported
from domain.world import Recorded
from projections.every import VIEWS
from projections.view import View, project

D = TypeVar("D")
R = TypeVar("R")

BATCH_APPENDS = 1000
_MARKED = "mark = ? AND mark <> ''"  # the second half makes its index fit

_BROKEN = (sqlite3.DatabaseError, msgspec.MsgspecError, UnicodeDecodeError)


class Position(NamedTuple):
    """Up to which append of its log a view has come, and that append's digest."""

    version: int = 0
    n: int = 0
    digest: str = ""


class Views:
    """The documents of all views over a home's logs."""

    def __init__(
        self,
        path: Path | None,
        logs: Mapping[str, Log],
        views: Sequence[View[Any]] = VIEWS,
        *,
        batch_appends: int = BATCH_APPENDS,
    ) -> None:
        """Open the file, which is made if it is not there.

        Args:
            path: ``views.db``; None keeps the documents in memory.
            logs: ``journal`` and ``agent``; views of a log that is not there stay empty.
            views: What to keep.
            batch_appends: How many appends one transaction takes.
        """
        self._path = path
        self._logs = logs
        self._views = views
        self._batch_appends = batch_appends
        self._lock = RLock()
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {}
        self._caches: dict[str, Documents[Any]] = {}
        self._left: dict[str, Position] = {}
        self._anew: set[str] = set()
        self._was_made_anew = False
        self._connection = self._opened()

    @classmethod
    def in_memory(cls, logs: Mapping[str, Log]) -> "Views":
        """Views that live as long as the process."""
        return cls(None, logs)

    @property
    def is_in_memory(self) -> bool:
        """Whether the file could not be used, or there is none."""
        return self._path is None

    def catch_up(self, progress: LogProgress | None = None) -> None:
        """Bring every view up to date with its log."""
        self._guarded(lambda: self._advance(progress))

    def rebuild(self, progress: LogProgress | None = None) -> None:
        """Make all documents anew."""
        self._guarded(self._clear)
        self.catch_up(progress)

    def get(self, view: View[D], key: str) -> D | None:
        """The document of a key, as of the last `catch_up` of any process."""
        found = self._read(view, "key = ?", (key,), "key")
        return found[0] if found else None

    def all(self, view: View[D]) -> list[D]:
        """Every document, by key."""
        return self._read(view, "1", (), "key")

    def page(
        self,
        view: View[D],
        *,
        prefix: str = "",
        shelf: str | None = None,
        mark: str = "",
        before: str = "",
        limit: int = -1,
        newest_first: bool = False,
    ) -> list[D]:
        """Documents in the order of their places.

        Args:
            view: Which ones.
            prefix: What their keys begin with.
            shelf: Only those of one shelf, an agent's id for example.
            mark: Only those with this mark; empty: whatever they have.
            before: Only those whose place is lower.
            limit: How many at most; negative: all.
            newest_first: The last places first.
        """
        conditions, values = ["1"], list[str]()
        if prefix:
            conditions.append("key >= ? AND key < ?")
            values += (prefix, prefix + "\U0010ffff")
        if shelf is not None:
            conditions.append("shelf = ?")
            values.append(shelf)
        if mark:
            conditions.append(_MARKED)
            values.append(mark)
        if before:
            conditions.append("place < ?")
            values.append(before)
        order = "place DESC, key DESC" if newest_first else "place, key"
        return self._read(view, " AND ".join(conditions), values, f"{order} LIMIT {int(limit)}")

    def due(self, view: View[D], by: str) -> list[D]:
        """What is due by a time, in the order of places; no other document is read."""
        where = "due <> '' AND due <= ?"
        return self._read(view, where, (by,), "place, key", "INDEXED BY dues")

    def queued(self, view: View[D], limit: int = -1) -> list[D]:
        """What waits in a queue, in turn, so many at most; negative: all."""
        order = f"turn, key LIMIT {int(limit)}"
        return self._read(view, "turn <> ''", (), order, "INDEXED BY turns")

    def titled(self, view: View[D], title: str) -> list[D]:
        """Every document of exactly this title, by key."""
        is_it = f"view = '{view.name}' AND {title_in(view)} = ?"  # its name makes the index fit
        return self._read(view, is_it, (title,), "+key")  # not by the index of keys

    def shelved(self, view: View[D], prefix: str) -> list[D]:
        """Documents whose shelf begins so, by their shelves."""
        values = (prefix, prefix + "\U0010ffff")
        return self._read(view, "shelf >= ? AND shelf < ?", values, "shelf, place")

    def marked(
        self,
        view: View[D],
        marks: Iterable[str],
        *,
        shelf: str | None = None,
        before: str = "",
        limit: int = -1,
        newest_first: bool = False,
    ) -> list[D]:
        """Documents with one of some marks in the order of their places, see `page`."""
        found = [
            one
            for mark in marks
            for one in self.page(
                view, shelf=shelf, mark=mark, before=before, limit=limit, newest_first=newest_first
            )
        ]
        found.sort(key=view.place, reverse=newest_first)
        return found[:limit] if limit >= 0 else found

    def count_queued(self, view: View[Any]) -> int:
        """How many documents wait in a queue; none of them is read."""
        what = "count(*) FROM documents INDEXED BY turns WHERE view = ? AND turn <> ''"
        return int(self._value(what, [view.name]))

    def count(self, view: View[Any], mark: str = "", *, shelf: str | None = None) -> int:
        """How many documents of a view have a mark, or stand on a shelf; none of them is read."""
        conditions, values = ["view = ?"], [view.name]
        if mark:
            conditions.append(_MARKED)
            values.append(mark)
        if shelf is not None:
            conditions.append("shelf = ?")
            values.append(shelf)
        return int(self._value(f"count(*) FROM documents WHERE {' AND '.join(conditions)}", values))

    def tallied(self, view: View[Any], marks: Sequence[str], *, shelf: str | None = None) -> int:
        """What the tallies of documents with one of some marks add up to; none of them is read."""
        where = f"view = ? AND mark IN ({', '.join('?' * len(marks))}) AND mark <> ''"
        values = [view.name, *marks]
        if shelf is not None:
            where += " AND shelf = ?"
            values.append(shelf)
        return int(self._value(f"total(tally) FROM documents WHERE {where}", values))

    def next_due(self, view: View[Any], marks: Sequence[str]) -> str:
        """When the first with one of some marks is due, empty where none is; none is read."""
        where = f"view = ? AND due <> '' AND mark IN ({', '.join('?' * len(marks))})"
        what = f"min(due) FROM documents INDEXED BY dues WHERE {where}"
        return self._value(what, (view.name, *marks)) or ""

    def reached(self, view: View[Any]) -> int:
        """Up to which append of its log a view has come; 0 where it has not begun."""
        return self._guarded(lambda: self._positions().get(view.name, Position()).n)

    def remembered(self, name: str) -> bytes | None:
        """What `remember` kept; None where it is lost."""
        sql = "SELECT value FROM remembered WHERE name = ?"
        row = self._guarded(lambda: self._connection.execute(sql, (name,)).fetchone())
        return row[0] if row else None

    def remember(self, name: str, value: bytes) -> None:
        """Keep what can be found out again, where the file takes it now."""
        sql = "INSERT OR REPLACE INTO remembered VALUES (?, ?)"
        with self._lock, suppress(sqlite3.OperationalError):
            self._connection.execute(sql, (name, value))

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _value(self, what: str, values: Sequence[str]) -> Any:
        return self._guarded(
            lambda: self._connection.execute(f"SELECT {what}", values).fetchone()[0]
        )

    def _read(
        self, view: View[D], where: str, values: Sequence[str], order: str, index: str = ""
    ) -> list[D]:
        # every part of the text is written above; only values come from outside
        sql = f"SELECT document FROM documents {index} WHERE view = ? AND {where} ORDER BY {order}"

        def found() -> list[D]:
            rows = self._connection.execute(sql, (view.name, *values)).fetchall()
            decode = self._decoder(view).decode
            return [decode(row[0]) for row in rows]

        return self._guarded(found)

    def _decoder(self, view: View[D]) -> msgspec.json.Decoder[D]:
        """It takes a while to make, and a reader wants few of them."""
        if view.name not in self._decoders:
            self._decoders[view.name] = msgspec.json.Decoder(view.document)
        return self._decoders[view.name]

    # ------------------------------------------------------------------------------ catching up

    def _advance(self, progress: LogProgress | None) -> None:
        for name, log in self._logs.items():
            views = [view for view in self._views if view.log == name]
            n, before = -1, -2
            while n != before and not self._is_current(log, views):  # bounded by the log
                before, n = n, self._batch(log, views)
                if progress:
                    progress(name, n, log.tail().n)
            self._anew.discard(name)

    def _is_current(self, log: Log, views: Sequence[View[Any]]) -> bool:
        """Whether every view has come to the log's end; needs no lock."""
        tail = log.tail()
        positions = self._positions()
        return all(
            positions.get(view.name) == Position(view.version, tail.n, tail.digest)
            for view in views
        )

    def _batch(self, log: Log, views: Sequence[View[Any]]) -> int:
        """Apply the next appends in one transaction; the n of the last one."""
        with self._writing():
            reached = self._trusted(log, views)
            first = min(position.n for position in reached.values())
            if first == 0:
                self._anew.add(log.name)
            last = first
            for append in islice(log.appends(first), self._batch_appends):
                if _brings_others(append) and log.name not in self._anew:
                    self._forget(view.name for view in views)
                    self._anew.add(log.name)
                    return 0
                last = append[0].n
                self._apply(append, [view for view in views if reached[view.name].n < last])
            digest = log.digest_at(last)
            for view in views:
                if reached[view.name].n <= last:
                    self._keep(view, Position(view.version, last, digest))
            return last

    def _apply(self, append: Sequence[Recorded], views: Sequence[View[Any]]) -> None:
        for view in views:
            documents = self._caches[view.name]
            for row in append:
                project(view, row, documents)

    def _trusted(self, log: Log, views: Sequence[View[Any]]) -> dict[str, Position]:
        """How far each view has come; back at 0, without documents, if it cannot be believed."""
        positions = self._positions()
        reached = {positions[view.name].n for view in views if view.name in positions}
        digests = {n: log.digest_at(n) for n in (0, *reached)}
        trusted: dict[str, Position] = {}
        for view in views:
            known = positions.get(view.name, Position())
            if known.version != view.version or known.digest != digests[known.n]:
                self._forget([view.name])
                known = Position(view.version)
            if self._left.get(view.name) != known or view.name not in self._caches:
                decoder = self._decoder(view)
                self._caches[view.name] = Documents(view, self._connection, decoder)
            trusted[view.name] = known
        return trusted

    def _keep(self, view: View[Any], position: Position) -> None:
        self._caches[view.name].write()
        self._connection.execute(
            "INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?)", (view.name, *position)
        )
        self._left[view.name] = position

    def _positions(self) -> dict[str, Position]:
        rows = self._connection.execute("SELECT view, version, n, digest FROM positions")
        return {row[0]: Position(*row[1:]) for row in rows}

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._connection.execute("DELETE FROM documents WHERE view = ?", (name,))
            self._connection.execute("DELETE FROM positions WHERE view = ?", (name,))
            self._caches.pop(name, None)

    def _clear(self) -> None:
        with self._writing():
            self._connection.execute("DELETE FROM documents")
            self._connection.execute("DELETE FROM positions")
            self._caches.clear()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the write lock; what is cached counts only if it was committed."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._caches.clear()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    # --------------------------------------------------------------------------------- the file

    def _guarded(self, work: Callable[[], R]) -> R:
        """Do a piece of work; where the file is at fault, make it anew, or do without it."""
        with self._lock:
            try:
                return work()
            except sqlite3.ProgrammingError:
                raise  # it was closed
            except _BROKEN as error:
                if self._path is None:
                    raise
                self._connection.close()
                self._caches.clear()
                self._connection = self._reopened(self._path, error)
            return self._guarded(lambda: self._again(work))  # bounded: made anew once, then memory

    def _again(self, work: Callable[[], R]) -> R:
        self._advance(None)
        return work()

    def _opened(self) -> sqlite3.Connection:
        if self._path is None:
            return open_file(None, self._views)
        try:
            return open_file(self._path, self._views)
        except sqlite3.Error as error:
            return self._reopened(self._path, error)

    def _reopened(self, path: Path, after: Exception) -> sqlite3.Connection:
        """An empty file in the place of one that cannot be read, once; else memory."""
        if not self._was_made_anew and not is_unwritable(after):
            self._was_made_anew = True
            with suppress(sqlite3.Error, OSError):
                return open_anew(path, self._views)
        self._path = None
        return open_file(None, self._views)


def _brings_others(append: Sequence[Recorded]) -> bool:
    """Whether rows of another replica came in, some perhaps before what was applied."""
    return isinstance(append[0].fact, ReplicasImported)

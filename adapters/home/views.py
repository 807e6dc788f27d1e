"""The views of a home, kept up to date with its logs in a store that can be thrown away (DESIGN 4).

`catch_up` applies what the logs have beyond each view's position, in batches of one transaction
each, so several processes may share the store: whoever comes second finds the work done. Each
position carries the digest of its append. Where a log has another one there, a view's version
changed or the store cannot be believed, its documents are made anew.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import msgspec

from adapters.home.view_brought import Pending, apply_in_place, brought_since
from adapters.home.view_documents import Documents
from adapters.home.view_store import SqliteDocumentStore
from adapters.store.documents import FROM_DOCUMENTS, Asked, DocumentStore, Position
from adapters.store.log import Log, LogProgress
from domain.world import Recorded
from projections.every import VIEWS
from projections.view import View, project

D = TypeVar("D")
R = TypeVar("R")

BATCH_APPENDS = 1000
_MARKED = "mark = ? AND mark <> ''"  # the second half makes its index fit
_TURNED = "turn <> ''"


class Views:
    """The documents of all views over a home's logs."""

    def __init__(
        self,
        where: DocumentStore | Path | None,
        logs: Mapping[str, Log],
        views: Sequence[View[Any]] = VIEWS,
        *,
        batch_appends: int = BATCH_APPENDS,
    ) -> None:
        """Open the store.

        Args:
            where: What keeps the documents, or its SQLite file; None keeps them in memory.
            logs: ``journal`` and ``agent``; views of a log that is not there stay empty.
            views: What to keep.
            batch_appends: How many appends one transaction takes.
        """
        self._logs = logs
        self._views = views
        self._batch_appends = batch_appends
        self._lock = RLock()
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {}
        self._caches: dict[str, Documents[Any]] = {}
        self._left: dict[str, Position] = {}
        self._anew: dict[str, int] = {}  # views made anew, and how far the log had come then
        self._store = _store(where, views)

    @classmethod
    def in_memory(cls, logs: Mapping[str, Log]) -> "Views":
        """Views that live as long as the process."""
        return cls(None, logs)

    @property
    def is_in_memory(self) -> bool:
        """Whether the file could not be used, or there is none."""
        return self._store.is_in_memory

    def catch_up(self, progress: LogProgress | None = None) -> None:
        """Bring every view up to date with its log."""
        self._guarded(lambda: self._advance(progress))

    def rebuild(self, progress: LogProgress | None = None) -> None:
        """Make all documents anew."""
        self._guarded(self._clear)
        self.catch_up(progress)

    def get(self, view: View[D], key: str) -> D | None:
        """The document of a key, as of the last `catch_up` of any process."""

        def read() -> D | None:
            found = self._store.read(view, key)
            return None if found is None else self._decoder(view).decode(found)

        return self._guarded(read)

    def all(self, view: View[D]) -> list[D]:
        """Every document, by key."""
        return self._read(Asked(view))

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
        conditions, values = list[str](), list[str]()
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
        return self._read(Asked(view, conditions, values, order, int(limit)))

    def due(self, view: View[D], by: str) -> list[D]:
        """What is due by a time, in the order of places; no other document is read."""
        where = ("due <> '' AND due <= ?",)
        return self._read(Asked(view, where, (by,), "place, key", by="dues"))

    def queued(self, view: View[D], limit: int = -1) -> list[D]:
        """What waits in a queue, in turn, so many at most; negative: all."""
        return self._read(Asked(view, (_TURNED,), (), "turn, key", int(limit), "turns"))

    def titled(self, view: View[D], title: str) -> list[D]:
        """Every document of exactly this title, by key."""
        return self._read(Asked(view, ("title = ?",), (title,)))

    def shelved(self, view: View[D], prefix: str) -> list[D]:
        """Documents whose shelf begins so, by their shelves."""
        values = (prefix, prefix + "\U0010ffff")
        return self._read(Asked(view, ("shelf >= ? AND shelf < ?",), values, "shelf, place"))

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
        asked = Asked(view, (_TURNED,), by="turns")
        return int(self._guarded(lambda: self._store.count(asked)))

    def count(self, view: View[Any], mark: str = "", *, shelf: str | None = None) -> int:
        """How many documents of a view have a mark, or stand on a shelf; none of them is read."""
        conditions, values = list[str](), list[str]()
        if mark:
            conditions.append(_MARKED)
            values.append(mark)
        if shelf is not None:
            conditions.append("shelf = ?")
            values.append(shelf)
        return int(self._guarded(lambda: self._store.count(Asked(view, conditions, values))))

    def count_without(self, view: View[Any], mark: str, of: View[Any], marks: Sequence[str]) -> int:
        """How many documents with a mark are the shelf of no document of another view with one of
        some marks: tasks without an agent, for example. None of them is read."""
        having = f"{FROM_DOCUMENTS} view = ? AND {_among(marks)} AND mark <> ''"
        conditions = (_MARKED, f"key NOT IN (SELECT shelf {having})")
        asked = Asked(view, conditions, (mark, of.name, *marks))
        return int(self._guarded(lambda: self._store.count(asked)))

    def tallied(self, view: View[Any], marks: Sequence[str], *, shelf: str | None = None) -> int:
        """What the tallies of documents with one of some marks add up to; none of them is read."""
        conditions, values = [f"{_among(marks)} AND mark <> ''"], [*marks]
        if shelf is not None:
            conditions.append("shelf = ?")
            values.append(shelf)
        asked = Asked(view, conditions, values)
        return int(self._guarded(lambda: self._store.count(asked, "sum(tally)")) or 0)

    def next_due(self, view: View[Any], marks: Sequence[str]) -> str:
        """When the first with one of some marks is due, empty where none is; none is read."""
        asked = Asked(view, (f"due <> '' AND {_among(marks)}",), marks, by="dues")
        return self._guarded(lambda: self._store.count(asked, "min(due)")) or ""

    def reached(self, view: View[Any]) -> int:
        """Up to which append of its log a view has come; 0 where it has not begun."""
        return self._guarded(lambda: self._store.positions([view]).get(view.name, Position()).n)

    def remembered(self, name: str) -> bytes | None:
        """What `remember` kept; None where it is lost."""
        return self._guarded(lambda: self._store.remembered(name))

    def remember(self, name: str, value: bytes) -> None:
        """Keep what can be found out again, where the store takes it now."""
        self._guarded(lambda: self._store.remember(name, value))

    def close(self) -> None:
        with self._lock:
            self._store.close()

    def _read(self, asked: Asked) -> list[Any]:
        decode = self._decoder(asked.view).decode
        return self._guarded(lambda: [decode(one) for one in self._store.page(asked)])

    def _decoder(self, view: View[D]) -> msgspec.json.Decoder[D]:
        """It takes a while to make, and a reader wants few of them."""
        if view.name not in self._decoders:
            self._decoders[view.name] = msgspec.json.Decoder(view.document)
        return self._decoders[view.name]

    # ------------------------------------------------------------------------------ catching up

    def _advance(self, progress: LogProgress | None) -> None:
        positions = self._store.positions(self._views)
        for name, log in self._logs.items():
            views = [view for view in self._views if view.log == name]
            n, before = -1, -2
            while n != before and not _are_current(log, views, positions):  # bounded by the log
                before, n = n, self._batch(log, views)
                positions = self._store.positions(self._views)
                if progress:
                    progress(name, n, log.tail().n)
            for view in views:
                self._anew.pop(view.name, None)

    def _batch(self, log: Log, views: Sequence[View[Any]]) -> int:
        """Apply the next appends in one transaction; the n of the last one."""
        with self._writing(log.name), log.reading():
            reached = self._trusted(log, views)
            first = min(position.n for position in reached.values())
            new = (name for name, position in reached.items() if position.n == 0)
            self._anew.update(dict.fromkeys(new, log.tail().n))
            upto = {name: max(p.n, self._anew.get(name, 0)) for name, p in reached.items()}
            late = {n for n in {*upto.values()} if brought_since(log, n)}
            if passed := [view for view in views if upto[view.name] in late]:
                self._take_in(log, passed, reached)
                return 0
            last = first
            for append in _some(log.appends(first), self._batch_appends):
                last = append[0].n
                behind = [view for view in views if reached[view.name].n < last]
                self._apply(log, append, behind)
            digest = log.digest_at(last)
            for view in views:
                if reached[view.name].n <= last:
                    self._keep(view, Position(view.version, last, digest))
            return last

    def _take_in(
        self, log: Log, passed: Sequence[View[Any]], reached: Mapping[str, Position]
    ) -> None:
        """Rows of others came in, some perhaps below what these views have passed: bring those that
        can be made anew in part to the log's end, and forget the others."""
        last, pending = log.tail().n, dict[int, Pending]()
        for view in passed:
            after = reached[view.name].n
            found = pending.get(after) or pending.setdefault(after, Pending(log, after))
            documents = self._caches[view.name] = self._documents(view)
            if apply_in_place(view, documents, found):
                self._keep(view, Position(view.version, last, log.digest_at(last)))
            else:
                self._forget([view])

    def _apply(self, log: Log, append: Sequence[Recorded], views: Sequence[View[Any]]) -> None:
        counted = log.counted(append)
        is_anothers = append[0].replica != log.replica and log.is_shared
        for view in views:
            documents = self._caches[view.name]
            for row in counted:
                if not (is_anothers and row.of_kind in view.own):
                    project(view, row, documents)

    def _trusted(self, log: Log, views: Sequence[View[Any]]) -> dict[str, Position]:
        """How far each view has come; back at 0, without documents, if it cannot be believed."""
        positions = self._store.positions(views)
        reached = {positions[view.name].n for view in views if view.name in positions}
        digests = {n: log.digest_at(n) for n in (0, *reached)}
        trusted: dict[str, Position] = {}
        for view in views:
            known = positions.get(view.name, Position())
            if known.version != view.version or known.digest != digests[known.n]:
                self._forget([view])
                known = Position(view.version)
            if self._left.get(view.name) != known or view.name not in self._caches:
                self._caches[view.name] = self._documents(view)
            trusted[view.name] = known
        return trusted

    def _documents(self, view: View[D]) -> Documents[D]:
        return Documents(view, self._store, self._decoder(view))

    def _keep(self, view: View[Any], position: Position) -> None:
        self._caches[view.name].write()
        self._store.move(view, position)
        self._left[view.name] = position

    def _forget(self, views: Sequence[View[Any]]) -> None:
        self._store.forget(views)
        for view in views:
            self._caches.pop(view.name, None)

    def _clear(self) -> None:
        for log in self._logs:
            with self._writing(log):
                self._forget([view for view in self._views if view.log == log])

    @contextmanager
    def _writing(self, log: str) -> Iterator[None]:
        """One transaction; what is cached counts only if it was committed."""
        try:
            with self._store.transaction(log):
                yield
        except BaseException:
            self._caches.clear()
            raise

    def _guarded(self, work: Callable[[], R]) -> R:
        """Do a piece of work; where the store is at fault, it is made anew, or done without."""
        with self._lock:
            try:
                return work()
            except self._store.broken as error:
                self._store.mend(error)
                self._caches.clear()
            return self._guarded(lambda: self._again(work))  # bounded: it is made anew but once

    def _again(self, work: Callable[[], R]) -> R:
        self._advance(None)
        return work()


def _are_current(log: Log, views: Sequence[View[Any]], positions: Mapping[str, Position]) -> bool:
    """Whether every view has come to the log's end; needs no lock."""
    tail = log.tail()
    return all(
        positions.get(view.name) == Position(view.version, tail.n, tail.digest) for view in views
    )


def _store(where: DocumentStore | Path | None, views: Sequence[View[Any]]) -> DocumentStore:
    if where is None or isinstance(where, Path):
        return SqliteDocumentStore(where, views)
    return where


def _among(marks: Sequence[str]) -> str:
    return f"mark IN ({', '.join('?' * len(marks))})"


def _some(appends: Iterable[list[Recorded]], count: int) -> Iterator[list[Recorded]]:
    """So many appends, and what else has the number of the last one: where a reader has come to
    is a number, and two machines may have written under it."""
    last = 0
    for nth, rows in enumerate(appends):
        if nth >= count and rows[0].n != last:
            return
        last = rows[0].n
        yield rows

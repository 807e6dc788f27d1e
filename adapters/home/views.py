"""The views of a home, kept up to date with its logs in a store that can be thrown away (DESIGN 4).

`catch_up` applies what the logs have beyond each view's position, in batches of one transaction
each, so several processes may share the store: whoever comes second finds the work done. Each
position carries the digest of its append. Where a log has another one there, a view's version
changed or the store cannot be believed, its documents are made anew.

Rows of other machines may stand before rows that were applied, and rows that counted may count no
longer (ADR 70, 77). Which rows of an entity counted, before and after each marker, is derived; only
documents that a row names of which that changed are made anew, and rows above what was applied go
on from there."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import Any, Generic, TypeVar

import msgspec

from adapters.store.document_store import (
    FROM_DOCUMENTS,
    Aggregate,
    DocumentQuery,
    DocumentRow,
    DocumentStore,
    ViewPosition,
)
from adapters.store.log import Log, LogProgress
from adapters.store.reader import read_append
from adapters.store.recorder import Tail
from adapters.store.sqlite_documents import SqliteDocumentStore
from domain.append.causes import LogShared, ReplicasImported
from domain.erasure import ErasureMade
from domain.log.state import MAIN, LogState, RecordedEvent
from domain.replication.replica_conflicts import canonical_position
from projections.all_views import VIEWS
from projections.view import Documents, Entity, View, project_on, sources_of

K = TypeVar("K")

DOCUMENTS_KEPT = 5000  # decoded ones of a view, from one batch to the next
_encode_document = msgspec.json.Encoder().encode


class CachedDocuments(Generic[K]):
    """One view's documents by key, read when they are asked for, written all together."""

    def __init__(
        self, view: View[K], store: DocumentStore, decoder: msgspec.json.Decoder[K]
    ) -> None:
        self._view, self._store, self._decoder = view, store, decoder
        self._known: dict[str, K | None] = {}
        self._changed: set[str] = set()

    def get(self, key: str, /) -> K | None:
        if key not in self._known:
            data = self._store.read(self._view, key)
            self._known[key] = None if data is None else self._decoder.decode(data)
        return self._known[key]

    def __setitem__(self, key: str, document: K, /) -> None:
        self._known[key] = document
        self._changed.add(key)

    def __delitem__(self, key: str, /) -> None:
        self._known[key] = None
        self._changed.add(key)

    def write(self) -> None:
        """Bring what changed to the store."""
        changed = [(key, self._known[key]) for key in sorted(self._changed)]
        kept = [self._kept(key, document) for key, document in changed if document is not None]
        gone = [key for key, document in changed if document is None]
        self._store.write(self._view, kept, gone)
        self._changed.clear()
        if len(self._known) > DOCUMENTS_KEPT:
            self._known.clear()

    def _kept(self, key: str, document: K) -> DocumentRow:
        view, data = self._view, _encode_document(document)
        found = view.shelf(document), view.place(document), view.mark(document), view.due(document)
        counted = view.tally(document), view.turn(document)
        return DocumentRow(key, *found, *counted, self._title(document), data)

    def _title(self, document: K) -> str:
        """What a person calls it by; its view says where that stands."""
        found: Any = document
        for name in self._view.title.split(".")[1:]:
            found = getattr(found, name, None)
        return found if isinstance(found, str) else ""


# --------------------------------------------------------------- what rows of other machines change

APPENDS_IN_PLACE = 10_000  # with more of them to apply, making all anew costs no more
MARKERS_IN_PLACE = 50
TakesLate = Callable[[Any, RecordedEvent], bool]


def others_came_since(log: Log, n: int) -> bool:
    """Whether rows of other replicas came in after append n, some perhaps with lower numbers, or
    what counts of those that were there is another matter, or some of them were erased."""
    main = f"log:{MAIN}@{log.replica}"
    last = log.last_fact(main) if n else None
    if last is None or last.n <= n:
        return False
    if log.is_shared and _others_known(log, n) != _others_known(log, last.n):
        return True  # of many markers none is read again
    new = (row.fact for row in log.facts(main) if row.n > n)
    return any(isinstance(fact, (ReplicasImported, LogShared, ErasureMade)) for fact in new)


def _others_known(log: Log, n: int) -> dict[str, int]:
    known = log.known_to(log.replica, n).items()
    return {name: last for name, last in known if name != log.replica}


class PendingAppends:
    """What views lack that came to append n `after` of a log, while the log stays as it is."""

    def __init__(self, log: Log, after: int) -> None:
        self.appends = list(islice(log.appends(after), APPENDS_IN_PLACE + 1))
        self.after = after
        self._log = log
        self._read: dict[str, Sequence[RecordedEvent]] = {}
        self._moved: dict[Entity, Sequence[RecordedEvent]] = {}
        own = [one for one in self.appends if one[0].replica == log.replica]
        self._markers = [one[0].n for one in own if isinstance(one[0].fact, ReplicasImported)]
        self._is_new = any(isinstance(one[0].fact, LogShared) for one in own)
        self._is_erased = any(isinstance(row.fact, ErasureMade) for one in own for row in one)

    @cached_property
    def touched(self) -> frozenset[Entity] | None:
        """What rows that came in say something of; None where there are too many, or it is not
        known what came in."""
        log = self._log
        is_large = len(self.appends) > APPENDS_IN_PLACE or len(self._markers) > MARKERS_IN_PLACE
        others = len(log.known_to(log.replica, self.after)) - 1  # as many as were in one line
        if is_large or not log.is_shared or (self._is_new and others) or self._is_erased:
            return None
        touched: set[Entity] = set()
        for marker in self._markers:
            brought = log.brought(marker)
            erased = (row for rows in brought for row in rows if isinstance(row.fact, ErasureMade))
            if not brought or any(erased):  # the log was not shared then; or rows are gone
                return None
            touched.update(self._entities(brought))
        return frozenset(touched)

    def _entities(self, brought: Collection[Sequence[RecordedEvent]]) -> Iterator[Entity]:
        """Those of the appends; and of what others made under their keys: of two that did one
        operation only one counts."""
        for append in brought:
            yield from ((row.of_kind, row.entity) for row in append)
            keys = [row.entity for row in append if row.of_kind == "receipt"]
            under = [one for key in keys for one in self._now.history("receipt", key)]
            for one in under if len(under) > len(keys) else ():
                same = read_append(self._log.append_at(one.n, one.replica))
                yield from ((row.of_kind, row.entity) for row in same)

    @cached_property
    def _now(self) -> LogState:
        return self._at(self._log.tail().n)

    @cached_property
    def _moments(self) -> Sequence[LogState]:
        """What was known at the point to which the views came, and right after each marker since:
        who writes on by itself changes nothing of what counts."""
        return [self._at(n) for n in (self.after, *self._markers)]

    def _at(self, n: int) -> LogState:
        return self._log.world_at(n, read=self._rows)

    def _rows(self, stream: str, after: int) -> Sequence[RecordedEvent]:
        if stream not in self._read:
            self._read[stream] = self._log.facts(stream)
        rows = self._read[stream]
        return [row for row in rows if row.version > after] if after else rows

    def moved(self, view: View[Any]) -> list[RecordedEvent]:
        """The rows up to `after` that count now and did not, or the other way round."""
        touched = sorted(one for one in self.touched or () if one[0] in view.entities)
        return sorted(
            (row for one in touched for row in self._moved_of(one)), key=canonical_position
        )

    def _moved_of(self, entity: Entity) -> Sequence[RecordedEvent]:
        if entity not in self._moved:
            standing = [at.standing(*entity) for at in self._moments]
            found = [{canonical_position(row): row for row in rows} for rows in standing]
            every = {where: row for one in found for where, row in one.items()}
            moved = [where for where in every if not all(where in one for one in found)]
            self._moved[entity] = [every[one] for one in moved if every[one].n <= self.after]
        return self._moved[entity]

    def is_own(self, row: RecordedEvent) -> bool:
        return row.replica == self._log.replica

    def counted(self, rows: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
        return self._log.counted(rows)

    def made_of(
        self, view: View[Any], moved: Sequence[RecordedEvent], keys: set[str]
    ) -> Sequence[RecordedEvent]:
        """All rows that name one of the documents and count, in canonical order."""
        found: dict[Entity, Sequence[RecordedEvent]] = {}

        def is_named(row: RecordedEvent) -> bool:
            return not keys.isdisjoint(view.keys(row))

        rows = list(filter(is_named, moved))
        while rows:  # bounded by the entities that name one another
            new = {one for row in rows for one in sources_of(view, row)} - found.keys()
            found |= {one: self._now.history(*one) for one in new}
            rows = [row for one in new for row in found[one] if one[1] in keys or is_named(row)]
        every = sorted((row for one in found.values() for row in one), key=canonical_position)
        return self.counted(every)


def apply_in_place(view: View[Any], documents: Documents[Any], pending: PendingAppends) -> bool:
    """Bring a view from where `pending` begins to the log's end; False, with documents that are
    not to be written, where it has to be made anew."""
    if pending.touched is None or not view.entities:
        return False
    moved = list(pending.moved(view))
    anew: set[str] = set()
    if view.takes_late is None:
        anew.update(key for row in moved for key in view.keys(row))
        _make_anew(view, documents, pending, moved, anew)
    elif not _taken_late(view, view.takes_late, documents, pending, moved):
        return False
    for append in pending.appends:
        for row in pending.counted(append):
            keys = [one for one in view.keys(row) if one not in anew]
            project_on(view, row, documents, keys, is_own=pending.is_own(row))
    return True


def _taken_late(
    view: View[Any],
    takes_late: TakesLate,
    documents: Documents[Any],
    pending: PendingAppends,
    moved: Sequence[RecordedEvent],
) -> bool:
    """Apply what came in late, where that can be done."""
    if len(pending.counted(moved)) < len(moved):
        return False
    for row, key in [(one, key) for one in moved for key in view.keys(one)]:
        if not takes_late(documents.get(key), row):
            return False
        project_on(view, row, documents, (key,))
    return True


def _make_anew(
    view: View[Any],
    documents: Documents[Any],
    pending: PendingAppends,
    moved: Sequence[RecordedEvent],
    anew: set[str],
) -> None:
    """The documents under some keys, of all their rows."""
    for key in sorted(anew):
        del documents[key]
    for row in pending.made_of(view, moved, anew) if anew else ():
        keys = [one for one in view.keys(row) if one in anew]
        project_on(view, row, documents, keys, is_own=pending.is_own(row))


# ------------------------------------------------------------------------------ all views of a home

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
        """`where`: what keeps the documents, or its SQLite file; None keeps them in memory; `logs`:
        ``journal`` and ``agent``, views of one that is not there stay empty; `batch_appends`: how
        many one transaction takes."""
        self._logs, self._views, self._batch_appends = logs, views, batch_appends
        self._lock = RLock()
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {}
        self._caches: dict[str, CachedDocuments[Any]] = {}
        self._left: dict[str, ViewPosition] = {}
        self._anew: dict[str, int] = {}  # views made anew, and how far the log had come then
        self._store: DocumentStore = (
            SqliteDocumentStore(where, views) if where is None or isinstance(where, Path) else where
        )

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
        return self._read(DocumentQuery(view))

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
            prefix: What their keys begin with.
            shelf: Only those of one shelf, an agent's id for example.
            mark: Only those with this mark; empty: whatever they have.
            before: Only those whose place is lower.
            limit: How many at most; negative: all.
            newest_first: The last places first.
        """
        where = {
            "key >= ?": prefix or None,
            "key < ?": f"{prefix}\U0010ffff" if prefix else None,
            "shelf = ?": shelf,
            _MARKED: mark or None,
            "place < ?": before or None,
        }
        order = "place DESC, key DESC" if newest_first else "place, key"
        return self._read(DocumentQuery(view, *_asked(where), order, int(limit)))

    def due(self, view: View[D], by: str) -> list[D]:
        """What is due by a time, in the order of places; no other document is read."""
        where = ("due <> '' AND due <= ?",)
        return self._read(DocumentQuery(view, where, (by,), "place, key", by="dues"))

    def queued(self, view: View[D], limit: int = -1) -> list[D]:
        """What waits in a queue, in turn, so many at most; negative: all."""
        return self._read(DocumentQuery(view, (_TURNED,), (), "turn, key", int(limit), "turns"))

    def turned(self, view: View[D], since: str) -> list[D]:
        """Documents whose turn is that or later, in turn; no other document is read."""
        where = (_TURNED, "turn >= ?")
        return self._read(DocumentQuery(view, where, (since,), "turn, key", by="turns"))

    def titled(self, view: View[D], title: str) -> list[D]:
        """Every document of exactly this title, by key."""
        return self._read(DocumentQuery(view, ("title = ?",), (title,)))

    def shelved(self, view: View[D], prefix: str) -> list[D]:
        """Documents whose shelf begins so, by their shelves."""
        where, values = ("shelf >= ? AND shelf < ?",), (prefix, f"{prefix}\U0010ffff")
        return self._read(DocumentQuery(view, where, values, "shelf, place"))

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
        found: list[D] = []
        for mark in marks:
            found += self.page(
                view, shelf=shelf, mark=mark, before=before, limit=limit, newest_first=newest_first
            )
        found.sort(key=view.place, reverse=newest_first)
        return found[:limit] if limit >= 0 else found

    def count_queued(self, view: View[Any]) -> int:
        """How many documents wait in a queue; none of them is read."""
        return int(self._count(DocumentQuery(view, (_TURNED,), by="turns")))

    def count(self, view: View[Any], mark: str = "", *, shelf: str | None = None) -> int:
        """How many documents of a view have a mark, or stand on a shelf; none of them is read."""
        asked = _asked({_MARKED: mark or None, "shelf = ?": shelf})
        return int(self._count(DocumentQuery(view, *asked)))

    def count_without(self, view: View[Any], mark: str, of: View[Any], marks: Sequence[str]) -> int:
        """How many documents with a mark are the shelf of no document of another view with one of
        some marks: tasks without an agent, for example. None of them is read."""
        having = f"{FROM_DOCUMENTS} view = ? AND {_marked_among(marks)} AND mark <> ''"
        conditions = (_MARKED, f"key NOT IN (SELECT shelf {having})")
        asked = DocumentQuery(view, conditions, (mark, of.name, *marks), others=(of,))
        return int(self._count(asked))

    def tallied(self, view: View[Any], marks: Sequence[str], *, shelf: str | None = None) -> int:
        """What the tallies of documents with one of some marks add up to; none of them is read."""
        conditions, values = _asked({"shelf = ?": shelf})
        marked = f"{_marked_among(marks)} AND mark <> ''"
        asked = DocumentQuery(view, [marked, *conditions], [*marks, *values])
        return int(self._count(asked, "sum(tally)") or 0)

    def next_due(self, view: View[Any], marks: Sequence[str]) -> str:
        """When the first with one of some marks is due, empty where none is; none is read."""
        asked = DocumentQuery(view, (f"due <> '' AND {_marked_among(marks)}",), marks, by="dues")
        return self._count(asked, "min(due)") or ""

    def reached(self, view: View[Any]) -> int:
        """Up to which append of its log a view has come; 0 where it has not begun."""
        return self._guarded(lambda: self._store.positions([view]).get(view.name, ViewPosition()).n)

    def remembered(self, name: str) -> bytes | None:
        """What `remember` kept; None where it is lost."""
        return self._guarded(lambda: self._store.remembered(name))

    def remember(self, name: str, value: bytes) -> None:
        """Keep what can be found out again, where the store takes it now."""
        self._guarded(lambda: self._store.remember(name, value))

    def close(self) -> None:
        with self._lock:
            self._store.close()

    def _count(self, asked: DocumentQuery, what: Aggregate = "count(*)") -> Any:
        return self._guarded(lambda: self._store.count(asked, what))

    def _read(self, asked: DocumentQuery) -> list[Any]:
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
            n, before, tail = -1, -2, log.tail()  # what comes meanwhile is for the next time
            while before != n < tail.n and not _are_current(tail, views, positions):
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
            late = {n for n in {*upto.values()} if others_came_since(log, n)}
            if passed := [view for view in views if upto[view.name] in late]:
                self._take_in(log, passed, reached)
                return 0
            last = first
            for append in _first_appends(log.appends(first), self._batch_appends):
                last = append[0].n
                behind = [view for view in views if reached[view.name].n < last]
                self._apply(log, append, behind)
            digest = log.digest_at(last)
            for view in views:
                if reached[view.name].n <= last:
                    self._keep(view, ViewPosition(view.version, last, digest))
            return last

    def _take_in(
        self, log: Log, passed: Sequence[View[Any]], reached: Mapping[str, ViewPosition]
    ) -> None:
        """Rows of others came in, some perhaps below what these views have passed: bring those that
        can be made anew in part to the log's end, and forget the others."""
        last, pending = log.tail().n, dict[int, PendingAppends]()
        for view in passed:
            after = reached[view.name].n
            found = pending.get(after) or pending.setdefault(after, PendingAppends(log, after))
            documents = self._caches[view.name] = self._documents(view)
            if apply_in_place(view, documents, found):
                self._keep(view, ViewPosition(view.version, last, log.digest_at(last)))
            else:
                self._forget([view])

    def _apply(self, log: Log, append: Sequence[RecordedEvent], views: Sequence[View[Any]]) -> None:
        counted = log.counted(append)
        is_anothers = append[0].replica != log.replica and log.is_shared
        for view in views:
            documents = self._caches[view.name]
            for row in counted:
                project_on(view, row, documents, view.keys(row), is_own=not is_anothers)

    def _trusted(self, log: Log, views: Sequence[View[Any]]) -> dict[str, ViewPosition]:
        """How far each view has come; back at 0, without documents, if it cannot be believed."""
        positions = self._store.positions(views)
        reached = {positions[view.name].n for view in views if view.name in positions}
        digests = {n: log.digest_at(n) for n in (0, *reached)}
        trusted: dict[str, ViewPosition] = {}
        for view in views:
            known = positions.get(view.name, ViewPosition())
            if known.version != view.version or known.digest != digests[known.n]:
                self._forget([view])
                known = ViewPosition(view.version)
            if self._left.get(view.name) != known or view.name not in self._caches:
                self._caches[view.name] = self._documents(view)
            trusted[view.name] = known
        return trusted

    def _documents(self, view: View[D]) -> CachedDocuments[D]:
        return CachedDocuments(view, self._store, self._decoder(view))

    def _keep(self, view: View[Any], position: ViewPosition) -> None:
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


def _are_current(
    tail: Tail, views: Sequence[View[Any]], positions: Mapping[str, ViewPosition]
) -> bool:
    """Whether every view has come to this end of its log; needs no lock."""
    return all(
        positions.get(view.name) == ViewPosition(view.version, tail.n, tail.digest)
        for view in views
    )


def _asked(where: Mapping[str, str | None]) -> tuple[list[str], list[str]]:
    """Conditions with a value each, and those values; one without a value does not count."""
    kept = {sql: value for sql, value in where.items() if value is not None}
    return [*kept], [*kept.values()]


def _marked_among(marks: Sequence[str]) -> str:
    return f"mark IN ({', '.join('?' * len(marks))})"


def _first_appends(
    appends: Iterable[list[RecordedEvent]], count: int
) -> Iterator[list[RecordedEvent]]:
    """So many appends, and what else has the number of the last one: where a reader has come to
    is a number, and two machines may have written under it."""
    last = 0
    for nth, rows in enumerate(appends):
        if nth >= count and rows[0].n != last:
            return
        last = rows[0].n
        yield rows

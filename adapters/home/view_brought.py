"""What rows of other machines change in views that hold later ones (ADR 70, 77).

They may stand before rows that were applied, and rows that counted may count no longer. Which rows
of an entity counted, before and after each marker, is derived; only documents that a row names
of which that changed are made anew, and rows above what was applied go on from there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from adapters.store.log import Log
from adapters.store.reader import read_append
from domain.causes import LogShared, ReplicasImported
from domain.conflicts import place
from domain.world import MAIN, Recorded, World
from projections.view import Documents, Entity, View, project_on, sources_of

APPENDS_IN_PLACE = 10_000  # with more of them to apply, making all anew costs no more
MARKERS_IN_PLACE = 50
TakesLate = Callable[[Any, Recorded], bool]


def brought_since(log: Log, n: int) -> bool:
    """Whether rows of other replicas came in after append n, some perhaps with lower numbers, or
    what counts of those that were there is another matter."""
    main = f"log:{MAIN}@{log.replica}"
    last = log.last_fact(main) if n else None
    if last is None or last.n <= n:
        return False
    if log.is_shared and _others_known(log, n) != _others_known(log, last.n):
        return True  # of many markers none is read again
    new = (row.fact for row in log.facts(main) if row.n > n)
    return any(isinstance(fact, (ReplicasImported, LogShared)) for fact in new)


def _others_known(log: Log, n: int) -> dict[str, int]:
    known = log.known_to(log.replica, n).items()
    return {name: last for name, last in known if name != log.replica}


class Pending:
    """What views lack that came to append n `after` of a log, while the log stays as it is."""

    def __init__(self, log: Log, after: int) -> None:
        self.appends = list(islice(log.appends(after), APPENDS_IN_PLACE + 1))
        self.after = after
        self._log = log
        self._read: dict[str, Sequence[Recorded]] = {}
        self._moved: dict[Entity, Sequence[Recorded]] = {}
        own = [one for one in self.appends if one[0].replica == log.replica]
        self._markers = [one[0].n for one in own if isinstance(one[0].fact, ReplicasImported)]
        self._is_new = any(isinstance(one[0].fact, LogShared) for one in own)

    @cached_property
    def touched(self) -> frozenset[Entity] | None:
        """What rows that came in say something of; None where there are too many, or it is not
        known what came in."""
        log = self._log
        is_large = len(self.appends) > APPENDS_IN_PLACE or len(self._markers) > MARKERS_IN_PLACE
        others = len(log.known_to(log.replica, self.after)) - 1  # as many as were in one line
        if is_large or not log.is_shared or (self._is_new and others):
            return None
        touched: set[Entity] = set()
        for marker in self._markers:
            brought = log.brought(marker)
            if not brought:  # the log was not shared then
                return None
            touched.update(self._entities(brought))
        return frozenset(touched)

    def _entities(self, brought: Collection[Sequence[Recorded]]) -> Iterator[Entity]:
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
    def _now(self) -> World:
        return self._at(self._log.tail().n)

    @cached_property
    def _moments(self) -> Sequence[World]:
        """What was known at the point to which the views came, and right after each marker since:
        who writes on by itself changes nothing of what counts."""
        return [self._at(n) for n in (self.after, *self._markers)]

    def _at(self, n: int) -> World:
        return self._log.world_at(n, read=self._rows)

    def _rows(self, stream: str, after: int) -> Sequence[Recorded]:
        if stream not in self._read:
            self._read[stream] = self._log.facts(stream)
        rows = self._read[stream]
        return [row for row in rows if row.version > after] if after else rows

    def moved(self, view: View[Any]) -> list[Recorded]:
        """The rows up to `after` that count now and did not, or the other way round."""
        touched = sorted(one for one in self.touched or () if one[0] in view.entities)
        return sorted((row for one in touched for row in self._moved_of(one)), key=place)

    def _moved_of(self, entity: Entity) -> Sequence[Recorded]:
        if entity not in self._moved:
            found = [{place(row): row for row in at.standing(*entity)} for at in self._moments]
            every = {where: row for one in found for where, row in one.items()}
            self._moved[entity] = [
                row
                for where, row in every.items()
                if row.n <= self.after and not all(where in one for one in found)
            ]
        return self._moved[entity]

    def seen(self, view: View[Any], rows: Iterable[Recorded]) -> Iterator[Recorded]:
        """Those that the view has a part of: not what another machine has for itself."""
        return (row for row in rows if row.of_kind not in view.own or self.is_own(row))

    def is_own(self, row: Recorded) -> bool:
        return row.replica == self._log.replica

    def counted(self, rows: Sequence[Recorded]) -> Sequence[Recorded]:
        return self._log.counted(rows)

    def made_of(
        self, view: View[Any], moved: Sequence[Recorded], keys: set[str]
    ) -> Sequence[Recorded]:
        """All rows that name one of the documents and count, in canonical order."""
        found: dict[Entity, Sequence[Recorded]] = {}

        def is_named(row: Recorded) -> bool:
            return not keys.isdisjoint(view.keys(row))

        rows = list(filter(is_named, moved))
        while rows:  # bounded by the entities that name one another
            new = {one for row in rows for one in sources_of(view, row)} - found.keys()
            found |= {one: self._now.history(*one) for one in new}
            rows = [row for one in new for row in found[one] if one[1] in keys or is_named(row)]
        every = sorted((row for one in found.values() for row in one), key=place)
        return self.counted(every)


def apply_in_place(view: View[Any], documents: Documents[Any], pending: Pending) -> bool:
    """Bring a view from where `pending` begins to the log's end; False, with documents that are
    not to be written, where it has to be made anew."""
    if pending.touched is None or not view.entities:
        return False
    moved = list(pending.seen(view, pending.moved(view)))
    anew: set[str] = set()
    if view.takes_late is None:
        anew.update(key for row in moved for key in view.keys(row))
        _make_anew(view, documents, pending, moved, anew)
    elif not _taken_late(view, view.takes_late, documents, pending, moved):
        return False
    for append in pending.appends:
        for row in pending.seen(view, pending.counted(append)):
            project_on(view, row, documents, [one for one in view.keys(row) if one not in anew])
    return True


def _taken_late(
    view: View[Any],
    takes_late: TakesLate,
    documents: Documents[Any],
    pending: Pending,
    moved: Sequence[Recorded],
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
    pending: Pending,
    moved: Sequence[Recorded],
    anew: set[str],
) -> None:
    """The documents under some keys, of all their rows."""
    for key in sorted(anew):
        del documents[key]
    for row in pending.seen(view, pending.made_of(view, moved, anew) if anew else ()):
        project_on(view, row, documents, [one for one in view.keys(row) if one in anew])

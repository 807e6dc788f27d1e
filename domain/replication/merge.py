"""Which rows of an entity count where several replicas wrote it: one filter in front of the folds.

Pure: a set of rows gives one answer, whatever way and in whatever order they came, and no clock is
asked. What is left out stays in the log, and is an open conflict until a row that knows it all
(ADR 71, 73)."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from domain.append.causes import Receipt, Result
from domain.changes.change_set import CHANGES
from domain.journal.catalog import CATALOG
from domain.journal.commands import ApplyOperation
from domain.journal.timer import TIMER
from domain.log.state import RecordedEvent
from domain.log.wire import Stored
from domain.policy.policy import POLICY
from domain.replication.merge_rules import PERSONS, TASK_ITSELF, MergeRule, merge_rule, rank
from domain.replication.replica_conflicts import (
    ConflictKind,
    ConflictSide,
    FieldHead,
    Knows,
    ReplicaConflict,
    canonical_position,
    conflict,
    cycle_conflicts,
    is_withdrawn,
    namesake_conflicts,
    timer_conflicts,
    verdict_conflicts,
    withdrawal_conflicts,
)

Repeats = Collection[tuple[str, int]]
"""Replica and `n` of appends whose operation an earlier append did already."""

Ends = Callable[[Stored], bool]


def effective(
    rows: Sequence[RecordedEvent], knows: Knows, repeats: Repeats = frozenset()
) -> Sequence[RecordedEvent]:
    """The rows that count, in the same order; one that lost and is still heard comes earlier.

    `rows`: all of one entity of a merged kind, in canonical order: by `n`, replica, row. `knows`:
    what the writer of a row knew. `repeats`: appends that did what was done already."""
    once = [row for row in rows if (row.replica, row.n) not in repeats] if repeats else rows
    return once if is_one_line(once, knows) else MergedRows(once, knows).counted


def is_one_line(rows: Sequence[RecordedEvent], knows: Knows) -> bool:
    """Whether each row was written by who knew all before it: then all of them count."""
    return all(
        before.replica == after.replica or knows(after, before) for before, after in pairwise(rows)
    )


class RemovalLeftOut(Struct, frozen=True):
    """A removal that is left out, and what kept the thing: the last edit of each replica."""

    thing: str
    removal: RecordedEvent
    edits: tuple[RecordedEvent, ...]


class MergedRows:
    """The rows of an entity, sorted out in one walk.

    A row counts unless a row before it that counts, and that it does not know, has a higher rank
    in a field that it sets, added the same thing, or ends it; a removal unless a person edited the
    thing without knowing of it. Whoever writes next knows all of that, so it never changes what
    counts: a state can be folded on."""

    def __init__(self, rows: Sequence[RecordedEvent], knows: Knows) -> None:
        self._knows = knows
        self._edits = _edits_of_persons(rows)
        self._renewed: set[tuple[int, str, int]] = set()  # places of what was set anew
        self._walk(rows)
        # each goes once
        while found := {row for row in rows if canonical_position(row) in self._renewed}:
            rows = [row for row in rows if row not in found]
            self._walk(rows)

    def _walk(self, rows: Sequence[RecordedEvent]) -> None:
        self.counted: list[RecordedEvent] = []
        self.heads: dict[str, list[FieldHead]] = {}  # of what counts, the last one stands
        self.lost: dict[str, list[FieldHead]] = {}  # of what is left out
        self.kept: list[RemovalLeftOut] = []
        self.gone: set[str] = set()  # things whose removal counts
        self._added: dict[str, list[RecordedEvent]] = {}
        self._ending: list[tuple[RecordedEvent, Ends]] = []
        for row in rows:
            self._take(row)

    def _take(self, row: RecordedEvent) -> None:
        meant = merge_rule(row.fact)
        weight = meant.weight or (rank(row.fact) if meant.is_ranked else 0,)
        new = [(field, FieldHead(row, value, weight)) for field, value in meant.sets]
        beaten = [field for field, head in new if self._is_beaten(field, head, meant)]
        is_left_out = (
            self._is_kept(row, meant) or self._is_there(row, meant) or self._is_ended(row)
        ) or bool(beaten)
        for field, head in new:
            self._put(self.lost, field, head, is_new=is_left_out)
            if not is_left_out:
                self._put(self.heads, field, head, is_new=True)
        if is_left_out:
            self._hear(row, meant, beaten)
            return
        self.counted.append(row)
        if meant.adds:
            self._added.setdefault(meant.adds, []).append(row)
            self.gone.discard(meant.adds)
        if meant.removes:
            self.gone.add(meant.removes)
        if meant.ends:
            self._ending.append((row, meant.ends))

    def _hear(self, row: RecordedEvent, meant: MergeRule, beaten: Sequence[str]) -> None:
        """What a row is still good for that is left out."""
        if meant.is_heard and meant.adds:
            self.counted.append(row)
        elif meant.is_heard:
            first = min(self.counted.index(self.heads[field][-1].row) for field in beaten)
            self.counted.insert(first, row)
        if meant.renews:
            self._renewed.update(
                canonical_position(one.row)
                for field in beaten
                for one in self.heads[field]
                if self._knows(row, one.row)
            )

    def _is_there(self, row: RecordedEvent, meant: MergeRule) -> bool:
        """Whether somebody added the thing whom this one did not know."""
        return any(not self._knows(row, one) for one in self._added.get(meant.adds, ()))

    def _is_ended(self, row: RecordedEvent) -> bool:
        return any(ends(row.fact) and not self._knows(row, one) for one, ends in self._ending)

    def _is_beaten(self, field: str, head: FieldHead, meant: MergeRule) -> bool:
        others = self.heads.get(field, ())
        if meant.weight is not None:
            others = [*others, *self.lost.get(field, ())]
        return any(one.rank > head.rank and not self._knows(head.row, one.row) for one in others)

    def _put(
        self, among: dict[str, list[FieldHead]], field: str, head: FieldHead, *, is_new: bool
    ) -> None:
        """Take away what a row knows, and put it there if it belongs there."""
        left = [one for one in among.get(field, ()) if not self._knows(head.row, one.row)]
        if left or is_new:
            among[field] = [*left, head] if is_new else left
        else:
            among.pop(field, None)

    def _is_kept(self, row: RecordedEvent, meant: MergeRule) -> bool:
        """Whether a person edited what a row removes, neither knowing of the other."""
        if not meant.removes:
            return False
        last: list[RecordedEvent] = []
        for replica, edits in self._edits.get(meant.removes, {}).items():
            if replica == row.replica:
                continue
            first = bisect_left(edits, True, key=lambda edit: not self._knows(row, edit))
            after = bisect_left(edits, True, key=lambda edit: self._knows(edit, row))
            if first < after:
                last.append(edits[after - 1])
        if last:
            self.kept.append(RemovalLeftOut(meant.removes, row, tuple(last)))
        return bool(last)


def _edits_of_persons(rows: Sequence[RecordedEvent]) -> dict[str, dict[str, list[RecordedEvent]]]:
    """By thing and replica: what persons did to what can be removed."""
    found: dict[str, dict[str, list[RecordedEvent]]] = {}
    for row in rows:
        if rank(row.fact) == PERSONS:
            for thing in _edited(row):
                found.setdefault(thing, {}).setdefault(row.replica, []).append(row)
    return found


def _edited(row: RecordedEvent) -> Iterator[str]:
    meant = merge_rule(row.fact)
    if TASK_ITSELF not in (meant.adds, meant.removes):
        yield TASK_ITSELF
    if not meant.adds:
        yield from (field for field, _ in meant.sets)


def open_conflicts(
    rows: Sequence[RecordedEvent], knows: Knows, repeats: Repeats = frozenset()
) -> Sequence[ReplicaConflict]:
    """What is open in one entity: closed by any row that knows all sides.

    Takes what `effective` takes. A circle of `blocks` links is seen over many: `open_cycles`."""
    once = [row for row in rows if (row.replica, row.n) not in repeats]
    if is_one_line(once, knows):
        return ()
    merged = MergedRows(once, knows)
    found = [*_values(merged), *_removals(merged, once, knows)]
    match once[0].of_kind:
        case TIMER.name:
            found += timer_conflicts(merged.counted)
        case CATALOG.name:
            found += namesake_conflicts(merged.counted)
        case CHANGES.name:
            found += verdict_conflicts(merged.counted, merged.heads)
        case POLICY.name:
            found = [one for one in found if not is_withdrawn(one, once, knows)]
            found += withdrawal_conflicts(once, knows)
    return found


def _values(merged: MergedRows) -> Iterator[ReplicaConflict]:
    """Fields whose heads differ; of what is gone nothing is asked."""
    for field, heads in merged.heads.items():
        stands = heads[-1]
        every = sorted(
            [*heads, *merged.lost.get(field, ())], key=lambda one: canonical_position(one.row)
        )
        gone = {field, field.rpartition(":")[0], TASK_ITSELF}  # or what it is a part of
        is_gone = not gone.isdisjoint(merged.gone)
        is_shown = merge_rule(stands.row.fact).is_shown
        if is_gone or not is_shown or all(one.value == stands.value for one in every):
            continue
        yield conflict(field, "values", stands.value, [(one.row, one.value) for one in every])


def _removals(
    merged: MergedRows, rows: Sequence[RecordedEvent], knows: Knows
) -> Iterator[ReplicaConflict]:
    """Removals that were left out, until a person says something that knows of it."""
    for kept in merged.kept:
        sides = (kept.removal, *kept.edits)
        if not any(
            rank(row.fact) == PERSONS
            and kept.thing in (*_edited(row), merge_rule(row.fact).removes)
            and all(row != side and knows(row, side) for side in sides)
            for row in rows
        ):
            told = [(row, row is kept.removal) for row in sorted(sides, key=canonical_position)]
            yield conflict(kept.thing, "removal", stands=False, told=told)


def repeats_of(receipts: Iterable[RecordedEvent]) -> frozenset[tuple[str, int]]:
    """The appends that applied an operation which another one, first in canonical order, applied.
    `receipts`: the rows that hold receipts, of all replicas that are known."""
    first: dict[str, tuple[str, int]] = {}
    again: set[tuple[str, int]] = set()
    for row in sorted(receipts, key=canonical_position):
        operation, append = _applied(row), (row.replica, row.n)
        if operation and first.setdefault(operation, append) != append:
            again.add(append)
    return frozenset(again)


def _applied(row: RecordedEvent) -> str:
    """The operation that a receipt says was applied."""
    match row.fact:
        case Receipt(command=ApplyOperation(operation=operation), result=Result(status="applied")):
            return operation
        case _:
            return ""


def standing_receipt(receipts: Iterable[RecordedEvent]) -> RecordedEvent | None:
    """Which of the receipts that replicas keep under one key answers: the first in canonical
    order; of an operation, the first that applied it."""
    rows = sorted(receipts, key=canonical_position)
    applied = (
        row for row in rows if isinstance(row.fact, Receipt) and row.fact.result.status == "applied"
    )
    return next(applied, rows[0] if rows else None)


# --------------------------------------------------------------------------------- the merge filter
# What a world of a shared log asks of merging (ADR 71).


class MergeFilter(NamedTuple):
    """Tells rows that count from others; `repeats`: which of the appends they stand in did what
    another one did already."""

    knows: Knows
    repeats: Callable[[Sequence[RecordedEvent]], Repeats] = lambda _: frozenset()

    def counted(self, rows: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
        """Of all rows of an entity, in canonical order, those that count."""
        return effective(rows, self.knows, self.repeats(rows))

    def standing(self, rows: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
        """Of those that count, the ones that do so where they stand: what lost and is still heard
        does not."""
        found: list[RecordedEvent] = []
        for row in reversed(self.counted(rows)):
            if not found or canonical_position(row) < canonical_position(found[-1]):
                found.append(row)
        return found[::-1]

    def disputes(self, rows: Sequence[RecordedEvent]) -> Sequence[ReplicaConflict]:
        """What is open among them."""
        return open_conflicts(rows, self.knows, self.repeats(rows))


__all__ = [
    "ReplicaConflict", "ConflictKind", "FieldHead", "Knows", "ConflictSide", "cycle_conflicts",
    "canonical_position",
]  # fmt: skip

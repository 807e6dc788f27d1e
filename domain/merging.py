"""Which rows of an entity count where several replicas wrote it: one filter in front of the folds.

Pure: a set of rows gives one answer, whatever way and in whatever order they came, and no clock is
asked. What is left out stays in the log, and is an open conflict until a row that knows it all.
Journal's kinds only (ADR 71).
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from domain.causes import Receipt, Result
from domain.journal.catalog import CATALOG, Catalog, CategoryAdded, CategoryRenamed, LabelAdded
from domain.journal.commands import ApplyOperation
from domain.journal.merged import PERSONS, TASK_ITSELF, Meaning, author, meaning, rank
from domain.journal.task import TaskLinked, TaskUnlinked
from domain.journal.timer import TIMER, Timer, TimerStarted
from domain.text import fold
from domain.world import Recorded

Knows = Callable[[Recorded, Recorded], bool]
"""``knows(a, b)``: whoever wrote `a` knew `b` by then; transitive, and a replica knows its own."""

Repeats = Collection[tuple[str, int]]
"""Replica and `n` of appends whose operation an earlier append did already."""

ConflictKind = Literal["values", "removal", "verdicts", "cycle", "timers"]


def effective(
    rows: Sequence[Recorded], knows: Knows, repeats: Repeats = frozenset()
) -> Sequence[Recorded]:
    """The rows that count, in the same order.

    Args:
        rows: All of one entity of a merged kind, in canonical order: by `n`, replica, row.
        knows: What the writer of a row knew.
        repeats: Appends that did what was done already.
    """
    once = [row for row in rows if (row.replica, row.n) not in repeats] if repeats else rows
    return once if is_one_line(once, knows) else Merged(once, knows).counted


def is_one_line(rows: Sequence[Recorded], knows: Knows) -> bool:
    """Whether each row was written by who knew all before it: then all of them count."""
    return all(
        before.replica == after.replica or knows(after, before) for before, after in pairwise(rows)
    )


class Head(Struct, frozen=True):
    """A value of a field that no row knows to be replaced."""

    row: Recorded
    value: object
    rank: int


class Kept(Struct, frozen=True):
    """A removal that is left out, and what kept the thing: the last edit of each replica."""

    thing: str
    removal: Recorded
    edits: tuple[Recorded, ...]


class Merged:
    """The rows of an entity, sorted out in one walk.

    A row counts unless a row before it that counts, and that it does not know, has a higher rank
    in a field that it sets, or added the same thing; a removal unless a person edited the thing
    without knowing of it. Whoever writes next knows all of that, so it never changes what counts:
    a state can be folded on.
    """

    def __init__(self, rows: Sequence[Recorded], knows: Knows) -> None:
        self.counted: list[Recorded] = []
        self.heads: dict[str, list[Head]] = {}  # of what counts, the last one stands
        self.lost: dict[str, list[Head]] = {}  # of what is left out
        self.kept: list[Kept] = []
        self.gone: set[str] = set()  # things whose removal counts
        self._knows = knows
        self._added: dict[str, list[Recorded]] = {}
        self._edits = _edits_of_persons(rows)
        for row in rows:
            self._take(row)

    def _take(self, row: Recorded) -> None:
        meant = meaning(row.fact)
        weight = rank(row.fact) if meant.is_ranked else 0
        new = [(field, Head(row, value, weight)) for field, value in meant.sets]
        is_left_out = (
            self._is_kept(row, meant)
            or self._is_there(row, meant)
            or any(self._is_beaten(field, head) for field, head in new)
        )
        for field, head in new:
            self._put(self.lost, field, head, is_new=is_left_out)
            if not is_left_out:
                self._put(self.heads, field, head, is_new=True)
        if is_left_out:
            return
        self.counted.append(row)
        if meant.adds:
            self._added.setdefault(meant.adds, []).append(row)
            self.gone.discard(meant.adds)
        if meant.removes:
            self.gone.add(meant.removes)

    def _is_there(self, row: Recorded, meant: Meaning) -> bool:
        """Whether somebody added the thing whom this one did not know."""
        return any(not self._knows(row, one) for one in self._added.get(meant.adds, ()))

    def _is_beaten(self, field: str, head: Head) -> bool:
        return any(
            one.rank > head.rank and not self._knows(head.row, one.row)
            for one in self.heads.get(field, ())
        )

    def _put(self, among: dict[str, list[Head]], field: str, head: Head, *, is_new: bool) -> None:
        """Take away what a row knows, and put it there if it belongs there."""
        left = [one for one in among.get(field, ()) if not self._knows(head.row, one.row)]
        if left or is_new:
            among[field] = [*left, head] if is_new else left
        else:
            among.pop(field, None)

    def _is_kept(self, row: Recorded, meant: Meaning) -> bool:
        """Whether a person edited what a row removes, neither knowing of the other."""
        if not meant.removes:
            return False
        last: list[Recorded] = []
        for replica, edits in self._edits.get(meant.removes, {}).items():
            if replica == row.replica:
                continue
            first = bisect_left(edits, True, key=lambda edit: not self._knows(row, edit))
            after = bisect_left(edits, True, key=lambda edit: self._knows(edit, row))
            if first < after:
                last.append(edits[after - 1])
        if last:
            self.kept.append(Kept(meant.removes, row, tuple(last)))
        return bool(last)


def _edits_of_persons(rows: Sequence[Recorded]) -> dict[str, dict[str, list[Recorded]]]:
    """By thing and replica: what persons did to what can be removed."""
    found: dict[str, dict[str, list[Recorded]]] = {}
    for row in rows:
        if rank(row.fact) == PERSONS:
            for thing in _edited(row):
                found.setdefault(thing, {}).setdefault(row.replica, []).append(row)
    return found


def _edited(row: Recorded) -> Iterator[str]:
    meant = meaning(row.fact)
    if TASK_ITSELF not in (meant.adds, meant.removes):
        yield TASK_ITSELF
    if not meant.adds:
        yield from (field for field, _ in meant.sets)


class Side(Struct, frozen=True):
    """What one replica says: `value` is the field's, or whether a thing is removed."""

    row: Recorded
    value: object

    @property
    def by(self) -> str:
        """Who said it."""
        return author(self.row.fact)


class Conflict(Struct, frozen=True):
    """What two sides did without knowing of each other, and nobody has settled.

    `entity` is the task, or ``main`` of the catalog and the timer; `stands` the value that counts.
    """

    of_kind: str
    entity: str
    field: str
    kind: ConflictKind
    stands: object
    sides: tuple[Side, ...]


def open_conflicts(
    rows: Sequence[Recorded], knows: Knows, repeats: Repeats = frozenset()
) -> Sequence[Conflict]:
    """What is open in one entity: closed by any row that knows all sides.

    Takes what `effective` takes. A circle of `blocks` links is seen over many: `open_cycles`.
    """
    once = [row for row in rows if (row.replica, row.n) not in repeats]
    if is_one_line(once, knows):
        return ()
    merged = Merged(once, knows)
    found = [*_values(merged), *_removals(merged, once, knows)]
    match once[0].of_kind:
        case TIMER.name:
            found += _timers(merged.counted)
        case CATALOG.name:
            found += _namesakes(merged.counted)
    return found


def _values(merged: Merged) -> Iterator[Conflict]:
    """Fields whose heads differ; of what is gone nothing is asked."""
    for field, heads in merged.heads.items():
        stands = heads[-1]
        every = sorted([*heads, *merged.lost.get(field, ())], key=lambda one: place(one.row))
        is_gone = field in merged.gone or TASK_ITSELF in merged.gone
        is_shown = meaning(stands.row.fact).is_shown
        if is_gone or not is_shown or all(one.value == stands.value for one in every):
            continue
        yield _conflict(field, "values", stands.value, [(one.row, one.value) for one in every])


def _removals(merged: Merged, rows: Sequence[Recorded], knows: Knows) -> Iterator[Conflict]:
    """Removals that were left out, until a person says something that knows of it."""
    for kept in merged.kept:
        sides = (kept.removal, *kept.edits)
        if not any(
            rank(row.fact) == PERSONS
            and kept.thing in _touched(row)
            and all(row != side and knows(row, side) for side in sides)
            for row in rows
        ):
            told = [(row, row is kept.removal) for row in sorted(sides, key=place)]
            yield _conflict(kept.thing, "removal", stands=False, told=told)


def _touched(row: Recorded) -> Iterator[str]:
    yield from _edited(row)
    yield meaning(row.fact).removes


def _timers(rows: Sequence[Recorded]) -> Iterator[Conflict]:
    """Timers that run at once."""
    started: dict[str, Recorded] = {}
    timer = Timer("")
    for row in rows:
        timer = TIMER.evolve(timer, row)
        if isinstance(row.fact, TimerStarted):
            started[row.fact.entry] = row
    if len(timer.running) > 1:
        told = [(started[one.entry], (one.task, one.entry)) for one in timer.running]
        yield _conflict("timer", "timers", (timer.task, timer.entry), told)


def _namesakes(rows: Sequence[Recorded]) -> Iterator[Conflict]:
    """Categories, and living labels, of one name; the first one is found by it."""
    catalog = Catalog("")
    named: dict[str, Recorded] = {}  # by id: what named it last
    for row in rows:
        catalog = CATALOG.evolve(catalog, row)
        match row.fact:
            case (
                CategoryAdded(category=one) | CategoryRenamed(category=one) | LabelAdded(label=one)
            ):
                named[one] = row
    labels = [one for one in catalog.labels.values() if not one.is_deleted]
    for what, things in ("category", [*catalog.categories.values()]), ("label", labels):
        alike: dict[str, list[str]] = {}
        for thing in things:
            alike.setdefault(fold(thing.name), []).append(thing.id)
        for ids in alike.values():
            if len(ids) > 1 and all(one in named for one in ids):
                told = [(named[one], one) for one in ids]
                yield _conflict(f"{what}:{ids[0]}:name", "values", ids[0], told)


def open_cycles(tasks: Mapping[str, Sequence[Recorded]]) -> Sequence[Conflict]:
    """Circles of `blocks` links, which two sides made of links that each was free to make.

    Args:
        tasks: By id, the rows of tasks that count. Closed by taking one of the links away.
    """
    edges: dict[str, dict[str, Recorded]] = {}
    for task, rows in tasks.items():
        blocked = edges.setdefault(task, {})
        for row in rows:
            match row.fact:
                case TaskLinked(relation="blocks", target=target):
                    blocked[target] = row
                case TaskUnlinked(relation="blocks", target=target):
                    blocked.pop(target, None)
    found: list[Conflict] = []
    for circle in _circles(edges):
        links = [
            (row, (task, target))
            for task in sorted(circle)
            for target, row in edges[task].items()
            if target in circle
        ]
        links.sort(key=lambda link: place(link[0]))
        found.append(_conflict("blocks", "cycle", stands=True, told=links))
    return found


def _circles(edges: Mapping[str, Collection[str]]) -> list[set[str]]:
    """The tasks that can be reached from each other, where they are more than one (Kosaraju)."""
    back: dict[str, list[str]] = {}
    for task, targets in edges.items():
        for target in targets:
            back.setdefault(target, []).append(task)
    seen: set[str] = set()
    ended = [task for first in edges for task in _walked(first, edges, seen)]
    taken: set[str] = set()
    groups = [set(_walked(task, back, taken)) for task in reversed(ended)]
    return [group for group in groups if len(group) > 1]


def _walked(first: str, edges: Mapping[str, Collection[str]], seen: set[str]) -> list[str]:
    """What can be reached and was not seen, each after what it leads to; no recursion: a chain
    of links may be longer than Python's stack."""
    if first in seen:
        return []
    seen.add(first)
    ended: list[str] = []
    stack = [(first, iter(edges.get(first, ())))]
    while stack:  # bounded: each task is put there once
        task, targets = stack[-1]
        ahead = next((one for one in targets if one not in seen), None)
        if ahead is None:
            ended.append(task)
            stack.pop()
        else:
            seen.add(ahead)
            stack.append((ahead, iter(edges.get(ahead, ()))))
    return ended


def _conflict(
    field: str, kind: ConflictKind, stands: object, told: Sequence[tuple[Recorded, object]]
) -> Conflict:
    first = told[0][0]
    sides = tuple(Side(row, value) for row, value in told)
    return Conflict(first.of_kind, first.entity, field, kind, stands, sides)


def repeats_of(receipts: Iterable[Recorded]) -> frozenset[tuple[str, int]]:
    """The appends that applied an operation which another one, first in canonical order, applied.

    Args:
        receipts: The rows that hold receipts, of all replicas that are known.
    """
    first: dict[str, tuple[str, int]] = {}
    again: set[tuple[str, int]] = set()
    for row in sorted(receipts, key=place):
        operation, append = _applied(row), (row.replica, row.n)
        if operation and first.setdefault(operation, append) != append:
            again.add(append)
    return frozenset(again)


def _applied(row: Recorded) -> str:
    """The operation that a receipt says was applied."""
    match row.fact:
        case Receipt(command=ApplyOperation(operation=operation), result=Result(status="applied")):
            return operation
        case _:
            return ""


def standing(receipts: Iterable[Recorded]) -> Recorded | None:
    """Which of the receipts that replicas keep under one key answers: the first in canonical
    order; of an operation, the first that applied it."""
    rows = sorted(receipts, key=place)
    applied = (
        row for row in rows if isinstance(row.fact, Receipt) and row.fact.result.status == "applied"
    )
    return next(applied, rows[0] if rows else None)


def place(row: Recorded) -> tuple[int, str, int]:
    """Where a row stands in canonical order: never before one that its writer knew."""
    return row.n, row.replica, row.row

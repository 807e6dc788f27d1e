"""What two sides did apart that no field tells: timers that run at once, two things of one name,
circles of links, verdicts on an item, a consent given and withdrawn (ADR 71, 73)."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from domain.changes.change_set import fold as fold_set
from domain.conflicts import Conflict, Head, Knows, conflict, place
from domain.journal.catalog import (
    CATALOG,
    Catalog,
    CategoryAdded,
    CategoryRenamed,
    LabelAdded,
    LabelScoped,
)
from domain.journal.task import TaskLinked, TaskUnlinked
from domain.journal.timer import TIMER, Timer, TimerStarted
from domain.policy.policy import ReceiptGiven, ReceiptWithdrawn, ends
from domain.text import fold
from domain.world import Recorded

DECIDED = ("confirmed", "rejected", "deferred", "pending")
"""What a person says of an item."""


def timers(rows: Sequence[Recorded]) -> Iterator[Conflict]:
    """Timers that run at once; `rows`: those of the timer that count."""
    started: dict[str, Recorded] = {}
    timer = Timer("")
    for row in rows:
        timer = TIMER.evolve(timer, row)
        if isinstance(row.fact, TimerStarted):
            started[row.fact.entry] = row
    if len(timer.running) > 1:
        told = [(started[one.entry], (one.task, one.entry)) for one in timer.running]
        yield conflict("timer", "timers", (timer.task, timer.entry), told)


def namesakes(rows: Sequence[Recorded]) -> Iterator[Conflict]:
    """Categories, and living labels, of one name; the first one is found by it. `rows`: those of
    the catalog that count."""
    catalog = Catalog("")
    named: dict[str, Recorded] = {}  # by id: what named it last
    for row in rows:
        catalog = CATALOG.evolve(catalog, row)
        match row.fact:
            case (
                CategoryAdded(category=one) | CategoryRenamed(category=one) | LabelAdded(label=one)
            ):
                named[one] = row
            case LabelScoped(label=one, name=name) if name:
                named[one] = row
    labels = [one for one in catalog.labels.values() if not one.is_deleted]
    for what, things in ("category", [*catalog.categories.values()]), ("label", labels):
        alike: dict[str, list[str]] = {}
        for thing in things:
            alike.setdefault(fold(thing.name), []).append(thing.id)
        for ids in alike.values():
            if len(ids) > 1 and all(one in named for one in ids):
                told = [(named[one], one) for one in ids]
                yield conflict(f"{what}:{ids[0]}:name", "values", ids[0], told)


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
        found.append(conflict("blocks", "cycle", stands=True, told=links))
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


def verdicts(rows: Sequence[Recorded], heads: Mapping[str, Sequence[Head]]) -> Iterator[Conflict]:
    """Items of a change set of which two sides decided different things. What a rule or an agent
    closed differs from a confirmation alone: nothing of a person's is lost by the others."""
    changes = fold_set(rows[0].entity, rows)
    for item in changes.items:
        field = f"item:{item.number}"
        told = [one for one in heads.get(field, ()) if one.value]
        if all(one.value != "confirmed" for one in told):
            told = [one for one in told if one.value in DECIDED]
        if len({one.value for one in told}) > 1:
            stands = "confirmed" if item.status == "confirming" else item.status
            yield conflict(field, "verdicts", stands, [(one.row, one.value) for one in told])


def withdrawals(rows: Sequence[Recorded], knows: Knows) -> Iterator[Conflict]:
    """Receipts that one side gave and another withdrew, until somebody who knows both says
    something else of the policy. None of them is in force."""
    for ended in rows:
        for given in rows:
            if (
                isinstance(given.fact, ReceiptGiven)
                and isinstance(ended.fact, ReceiptWithdrawn)
                and ends(ended.fact, given.fact)
                and not (knows(ended, given) or knows(given, ended))
                and not any(
                    knows(row, given) and knows(row, ended)
                    for row in rows
                    if row not in (given, ended)
                )
            ):
                told = [(given, given.fact.categories), (ended, None)]
                told.sort(key=lambda one: place(one[0]))
                yield conflict(f"receipt:{given.fact.model}", "values", None, told)


def is_withdrawn(one: Conflict, rows: Sequence[Recorded], knows: Knows) -> bool:
    """Whether somebody who knew all receipts that differ took them back: nothing is to choose.
    `rows`: those of the policy."""
    return any(
        isinstance(row.fact, ReceiptWithdrawn)
        and all(ends(row.fact, side.row.fact) and knows(row, side.row) for side in one.sides)
        for row in rows
    )

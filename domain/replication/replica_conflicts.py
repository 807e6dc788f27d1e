"""What two replicas said without knowing of each other, and nobody has settled (ADR 71, 73)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from domain.agent.agent import AGENT
from domain.changes.change_set import CHANGES
from domain.changes.change_set import fold as fold_set
from domain.journal.catalog import (
    CATALOG,
    Catalog,
    CategoryAdded,
    CategoryRenamed,
    LabelAdded,
    LabelScoped,
)
from domain.journal.links import CYCLE_SEARCH_MAX
from domain.journal.task import TASK, TaskLinked, TaskUnlinked
from domain.journal.timer import TIMER, Timer, TimerStarted
from domain.lessons.lessons import LESSONS
from domain.log.state import MAIN, LogState, RecordedEvent, StreamType
from domain.policy.policy import POLICY, ConsentGiven, ConsentWithdrawn, ends
from domain.replication.merge_rules import Weight, author
from domain.templates.template import TEMPLATE
from domain.text import fold

Knows = Callable[[RecordedEvent, RecordedEvent], bool]
"""``knows(a, b)``: whoever wrote `a` knew `b` by then; transitive, and a replica knows its own."""

ConflictKind = Literal["values", "removal", "verdicts", "cycle", "timers"]


class FieldHead(Struct, frozen=True):
    """A value of a field that no row knows to be replaced."""

    row: RecordedEvent
    value: object
    rank: Weight


class ConflictSide(Struct, frozen=True):
    """What one replica says: `value` is the field's, or whether a thing is removed."""

    row: RecordedEvent
    value: object

    @property
    def by(self) -> str:
        """Who said it."""
        return author(self.row.fact)


class ReplicaConflict(Struct, frozen=True):
    """What two sides did without knowing of each other, and nobody has settled.

    `entity` is the task, agent or set, or ``main`` of the catalog, the timer and the policy;
    `stands` the value that counts."""

    of_kind: str
    entity: str
    field: str
    kind: ConflictKind
    stands: object
    sides: tuple[ConflictSide, ...]


def conflict(
    field: str, kind: ConflictKind, stands: object, told: Sequence[tuple[RecordedEvent, object]]
) -> ReplicaConflict:
    """A conflict of the entity that the first row is of; `told`: each row with its value."""
    first = told[0][0]
    sides = tuple(ConflictSide(row, value) for row, value in told)
    return ReplicaConflict(first.of_kind, first.entity, field, kind, stands, sides)


def canonical_position(row: RecordedEvent) -> tuple[int, str, int]:
    """Where a row stands in canonical order: never before one that its writer knew."""
    return row.n, row.replica, row.row


# ------------------------------------------------------------------------------ what no field tells
# What two sides did apart that no field tells: timers that run at once, two things of one name,
# circles of links, verdicts on an item, a consent given and withdrawn (ADR 71, 73).

DECIDED = ("confirmed", "rejected", "deferred", "pending")
"""What a person says of an item."""


def timer_conflicts(rows: Sequence[RecordedEvent]) -> Iterator[ReplicaConflict]:
    """Timers that run at once; `rows`: those of the timer that count."""
    started: dict[str, RecordedEvent] = {}
    timer = Timer("")
    for row in rows:
        timer = TIMER.evolve(timer, row)
        if isinstance(row.fact, TimerStarted):
            started[row.fact.entry] = row
    if len(timer.running) > 1:
        told = [(started[one.entry], (one.task, one.entry)) for one in timer.running]
        yield conflict("timer", "timers", (timer.task, timer.entry), told)


def namesake_conflicts(rows: Sequence[RecordedEvent]) -> Iterator[ReplicaConflict]:
    """Categories, and living labels, of one name; the first one is found by it. `rows`: those of
    the catalog that count."""
    catalog = Catalog("")
    named: dict[str, RecordedEvent] = {}  # by id: what named it last
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


def cycle_conflicts(tasks: Mapping[str, Sequence[RecordedEvent]]) -> Sequence[ReplicaConflict]:
    """Circles of `blocks` links, which two sides made of links that each was free to make. `tasks`:
    by id, the rows of tasks that count. Closed by taking one of the links away."""
    edges: dict[str, dict[str, RecordedEvent]] = {}
    for task, rows in tasks.items():
        blocked = edges.setdefault(task, {})
        for row in rows:
            match row.fact:
                case TaskLinked(relation="blocks", target=target):
                    blocked[target] = row
                case TaskUnlinked(relation="blocks", target=target):
                    blocked.pop(target, None)
    found: list[ReplicaConflict] = []
    for circle in _circles(edges):
        links = [
            (row, (task, target))
            for task in sorted(circle)
            for target, row in edges[task].items()
            if target in circle
        ]
        links.sort(key=lambda link: canonical_position(link[0]))
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


def verdict_conflicts(
    rows: Sequence[RecordedEvent], heads: Mapping[str, Sequence[FieldHead]]
) -> Iterator[ReplicaConflict]:
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


def withdrawal_conflicts(rows: Sequence[RecordedEvent], knows: Knows) -> Iterator[ReplicaConflict]:
    """Consents that one side gave and another withdrew, until somebody who knows both says
    something else of the policy. None of them is in force."""
    for ended in rows:
        for given in rows:
            if (
                isinstance(given.fact, ConsentGiven)
                and isinstance(ended.fact, ConsentWithdrawn)
                and ends(ended.fact, given.fact)
                and not (knows(ended, given) or knows(given, ended))
                and not any(
                    knows(row, given) and knows(row, ended)
                    for row in rows
                    if row not in (given, ended)
                )
            ):
                told = [(given, given.fact.categories), (ended, None)]
                told.sort(key=lambda one: canonical_position(one[0]))
                yield conflict(f"receipt:{given.fact.model}", "values", None, told)


def is_withdrawn(one: ReplicaConflict, rows: Sequence[RecordedEvent], knows: Knows) -> bool:
    """Whether somebody who knew all consents that differ took them back: nothing is to choose.
    `rows`: those of the policy."""
    return any(
        isinstance(row.fact, ConsentWithdrawn)
        and all(ends(row.fact, side.row.fact) and knows(row, side.row) for side in one.sides)
        for row in rows
    )


# -------------------------------------------------------------------------- the conflicts of a task
# What is open of a task between machines: its own, its timers, and the circle of `blocks` links
# that it stands in (ADR 71).

AGENT_LOG_TYPES: Mapping[str, StreamType[Any]] = {
    one.name: one for one in (AGENT, CHANGES, TEMPLATE, POLICY, LESSONS)
}
"""What machines can differ on in the agent log, by the names of the kinds."""


def circle_of(world: LogState, task: str) -> ReplicaConflict | None:
    """The circle that a task stands in, each side's value the task that blocks and the blocked.

    Follows the links from the task on, to `CYCLE_SEARCH_MAX` tasks: of one that blocks nothing, no
    other is read. None in a world of one replica, which refuses circles."""
    if not world.is_merged:
        return None
    found: dict[str, Sequence[RecordedEvent]] = {}
    ahead = [task]
    while ahead and len(found) < CYCLE_SEARCH_MAX:
        one = ahead.pop()
        blocked = blocked_by(world, one)
        found[one] = world.rows(TASK, one) if blocked else ()
        ahead += [to for to in blocked if to not in found]
    circles = cycle_conflicts(found)
    return next(
        (one for one in circles if any(task in ends_of_side(side) for side in one.sides)), None
    )


def blocked_by(world: LogState, task: str) -> list[str]:
    """What a task blocks; one that is deleted blocks nothing."""
    here = world.load(TASK, task)
    if here.is_deleted:
        return []
    return [to.target for to in here.links if to.relation == "blocks"]


def ends_of_side(side: ConflictSide) -> tuple[str, str]:
    """The task that blocks and the one that is blocked, of a side of a circle; of a side of a
    conflict of timers the task and its entry."""
    return side.value  # type: ignore[return-value]  # the merging put both there


def conflicts_of_task(world: LogState, task: str) -> list[ReplicaConflict]:
    """All that is open of a task: what was said of its fields and parts, the timers where one of
    them is its own, and the circle of links that it stands in."""
    found = [one for one in world.disputes(TASK, task) if one.of_kind == TASK.name]
    for timers in world.disputes(TIMER, MAIN):
        found += [timers] if any(task == ends_of_side(one)[0] for one in timers.sides) else []
    circle = circle_of(world, task)
    return [*found, circle] if circle else found


def is_of_namesakes(world: LogState, conflict: ReplicaConflict) -> bool:
    """Whether things of one name differ, each side's value the id of one, and not a thing's
    name."""
    known = world.load(CATALOG, MAIN).categories
    return conflict.of_kind == CATALOG.name and all(one.value in known for one in conflict.sides)

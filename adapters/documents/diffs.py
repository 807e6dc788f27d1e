"""The JSON documents of `diff`: of two wakes, two moments or two homes."""

from collections.abc import Sequence
from itertools import zip_longest

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.timetravel import MomentHead, all_tasks, at_document
from adapters.store.log import Log
from adapters.timetravel.place import Place
from domain.envelope import Row
from replay import diff, seen

Difference = diff.Difference  # a page tells them its own way
NAMES = diff.NAMES


class WakesDiff(diff.WakesCompared, frozen=True, tag_field="kind", tag="wakes"):
    """What `diff` of two wakes prints."""


class WorldsDiff(Struct, frozen=True, tag_field="kind", tag="worlds"):
    """What `diff` of two moments prints; `changes` are the places where the worlds differ."""

    a: MomentHead
    b: MomentHead
    same: bool
    changes: list[diff.Difference]


class RowDetails(Struct, frozen=True):
    """A row of a log; `state` is its text."""

    stream: str
    version: int
    kind: str
    state: str


class RowPair(Struct, frozen=True):
    """The first rows that are not the same, null where a log ends."""

    a: RowDetails | None
    b: RowDetails | None


class LogDiff(Struct, frozen=True):
    """Up to where two logs are the same to the byte; `first` is null where they are the same."""

    log: str
    same: bool
    same_rows: int
    a_rows: int
    b_rows: int
    first: RowPair | None


class HomesDiff(Struct, frozen=True, tag_field="kind", tag="logs"):
    """What `diff` of two homes prints: as two moments, their ends, and where the logs part."""

    a: MomentHead
    b: MomentHead
    same: bool
    changes: list[diff.Difference]
    logs: list[LogDiff]


def wakes_diff(a: seen.WakeSeen, b: seen.WakeSeen) -> WakesDiff:
    """The document of `diff` of two wakes."""
    return WakesDiff(**asdict(diff.wakes(a, b)))


def worlds_document(a: Place, b: Place, scope: Sequence[str] | None) -> WorldsDiff:
    """The document of `diff` of two moments."""
    told = [msgspec.to_builtins(at_document(one, scope)) for one in (a, b)]
    heads = [MomentHead(*(one.pop(name) for name in MomentHead.__struct_fields__)) for one in told]
    found = list(diff.worlds(told[0], told[1]))
    return WorldsDiff(heads[0], heads[1], not found, found)


def homes_document(a: Place, b: Place) -> HomesDiff:
    """The document of `diff` of two homes: where their logs part, and what differs at the end."""
    pairs = [(a.past.journal, b.past.journal), (a.past.agents, b.past.agents)]
    logs = [_parting(one.log, other.log) for one, other in pairs]
    scope = list(dict.fromkeys((*all_tasks(a.home), *all_tasks(b.home))))
    worlds = worlds_document(a, b, scope)
    is_same = worlds.same and all(one.same for one in logs)
    return HomesDiff(worlds.a, worlds.b, is_same, worlds.changes, logs)


def _parting(a: Log, b: Log) -> LogDiff:
    """Up to where two logs are the same to the byte; None of the rest is compared."""
    same, first = 0, None
    for one, other in zip_longest(a.rows(), b.rows()):
        if one != other:
            first = RowPair(_row(one), _row(other))
            break
        same += 1
    return LogDiff(a.name, first is None, same, a.count(), b.count(), first)


def _row(row: Row | None) -> RowDetails | None:
    if row is None:
        return None
    return RowDetails(row.stream, row.version, row.topic, row.state.decode("utf-8", "replace"))

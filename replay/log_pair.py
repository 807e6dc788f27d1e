"""What a walk of both logs is given, and what it leaves for one that goes on from there."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec import Struct

from domain.append.causes import GivenUp
from domain.append.envelope import Row
from domain.log.state import LogState
from domain.log.wire import PayloadId
from replay.effects import OpenOperations, Place, ReadAppend
from replay.notification_replay import ReadBetween
from replay.prove import LogProof

WorldAt = Callable[[int, str], LogState]
"""``at(n, replica)``: a replica's world of a log right after append n; empty: the reader's."""


class PairedLog(NamedTuple):
    """One of the two logs: its proof, its rows, and its worlds of long ago, if there are any.
    `given_up`: of a journal, what of the agent log is about another past of it; `read`: an append
    of long ago; `between`: those of another machine."""

    proof: LogProof
    rows: Iterable[Row]
    at: WorldAt | None = None
    payload: Callable[[PayloadId], bytes | None] = lambda _: None
    given_up: tuple[GivenUp, ...] = ()
    read: ReadAppend = lambda _, __: None
    between: ReadBetween | None = None


class PairPosition(Struct, frozen=True):
    """Where a walk of both logs had come to when the agent log ended: where the journal stood of
    each replica (`ends`), its highest append that is named there, of each replica, too (`known`),
    and operations that have not met their other side. Of the end: operations that several
    machines `repeated`, and wakes that were `inherited` from where the journal has not come to."""

    ends: dict[str, int] = {}
    known: dict[str, int] = {}
    effects: OpenOperations = OpenOperations()
    repeated: tuple[str, ...] = ()
    inherited: tuple[Place, ...] = ()

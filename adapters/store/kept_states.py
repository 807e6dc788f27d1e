"""Folded states of long streams, kept beside the views: who decides goes on from there, and does
not fold ten years of verdicts again (ADR 96). They may be lost. One counts where its sum fits, and
that is made of the very row of the log at which it ends. Where machines share the log, rows of
others came in with a marker of this one's: one counts as long as no newer marker came (ADR 111)."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from adapters.store.recorder import TimedRow
from domain.lessons.lessons import LESSONS, Lessons
from domain.log.state import CachedState

STATES = "states 2"
"""What they are remembered as; another number where the fold of lessons changes."""
STATES_MAX = 4096  # folded states that a process keeps
LONG = 256  # rows of an entity until its state is kept, and until it is kept again

CountRows = Callable[[str], int]
"""``count(stream)``: how many rows all replicas have of an entity."""
ReadRows = Callable[[str, int], Sequence[TimedRow]]
"""``read(stream, after)``: the later rows of a stream, as they are stored."""


class StateCache(OrderedDict[str, CachedState]):
    """The newest used folded states, at most `STATES_MAX`."""

    def __setitem__(self, stream: str, folded: CachedState) -> None:
        super().__setitem__(stream, folded)
        self.move_to_end(stream)
        if len(self) > STATES_MAX:
            self.popitem(last=False)


class KeptState(Struct, frozen=True):
    """A state, the version of its stream at which it ends, how many `rows` there were of all
    replicas, and of ``log:main`` the version of the last one that let states go."""

    stream: str
    version: int
    rows: int
    main: int
    state: msgspec.Raw
    sum: str


class KeptStates(StateCache):
    """A cache that begins with what was kept; read where it is wanted."""

    def __init__(
        self, read: ReadRows, count: CountRows, kept: bytes | None, main: tuple[str, int]
    ) -> None:
        """`main`: ``log:main`` of this replica, and the version of its last row that lets states
        go; 0: there is none."""
        super().__init__()
        self._rows, self._count, self._main = read, count, main
        try:
            every = msgspec.json.decode(kept or b"[]", type=list[KeptState])
        except msgspec.MsgspecError:
            every = []
        self._kept = {one.stream: one for one in every if one.main == main[1]}

    def get(self, stream: str, default: Any = None) -> Any:
        found = super().get(stream)
        if found is None and stream in self._kept:
            kept = self._kept[stream]
            if self._sum(stream, kept.version, bytes(kept.state)) == kept.sum != "":
                state = msgspec.json.decode(kept.state, type=Lessons)
                found = self[stream] = CachedState(kept.version, state)
            else:
                del self._kept[stream]
        return default if found is None else found

    def clear(self) -> None:
        super().clear()
        self._kept.clear()

    def long(self) -> dict[str, int]:
        """The streams of which it is worth while, and how many rows there are of their entities."""
        begin, known = f"{LESSONS.name}:", {one.stream: one.rows for one in self._kept.values()}
        counts = {one: self._count(one) for one in self if one.startswith(begin)}
        return {one: n for one, n in counts.items() if n >= known.get(one, 0) + LONG}

    def grown(self, main: int) -> bytes | None:
        """What is to be kept now, where ``log:main`` has come to this version; None where that is
        not worth while."""
        self._main = self._main[0], main
        new: dict[str, KeptState] = {}
        for stream, count in self.long().items():
            version, state = self[stream].version, msgspec.json.encode(self[stream].state)
            summed = self._sum(stream, version, state)
            new[stream] = KeptState(stream, version, count, main, msgspec.Raw(state), summed)
        return msgspec.json.encode([*{**self._kept, **new}.values()]) if new else None

    def _sum(self, stream: str, version: int, state: bytes) -> str:
        places = [one for one in ((stream, version), self._main) if one[1]]
        ends = [row.state for one, at in places for row, _ in self._rows(one, at - 1)[:1]]
        parts = [stream.encode(), b"%d" % version, state, *ends]
        is_there = places and len(ends) == len(places)
        return blake2b(msgspec.json.encode(parts), digest_size=16).hexdigest() if is_there else ""

"""Folded states of long streams, kept beside the views: who decides goes on from there, and does
not fold ten years of verdicts again (ADR 96). They may be lost. One counts where its sum fits, and
that is made of the very row of the log at which it ends; a log that machines share takes none."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from adapters.store.recorder import TimedRow
from domain.lessons.lessons import LESSONS, Lessons
from domain.log.state import CachedState

STATES = "states 1"
"""What they are remembered as; another number where the fold of lessons changes."""
STATES_MAX = 4096  # folded states that a process keeps
LONG = 256  # rows of a stream until its state is kept, and until it is kept again

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
    """A state, and the version of its stream at which it ends."""

    stream: str
    version: int
    state: msgspec.Raw
    sum: str


class KeptStates(StateCache):
    """A cache that begins with what was kept; read where it is wanted."""

    def __init__(self, read: ReadRows, kept: bytes | None) -> None:
        super().__init__()
        self._rows = read
        try:
            every = msgspec.json.decode(kept or b"[]", type=list[KeptState])
        except msgspec.MsgspecError:
            every = []
        self._kept = {one.stream: one for one in every}

    def get(self, stream: str, default: Any = None) -> Any:
        found = super().get(stream)
        if found is None and stream in self._kept:
            kept = self._kept[stream]
            if self._sum(stream, kept.version, bytes(kept.state)) == kept.sum:
                state = msgspec.json.decode(kept.state, type=Lessons)
                found = self[stream] = CachedState(kept.version, state)
            else:
                del self._kept[stream]
        return default if found is None else found

    def clear(self) -> None:
        super().clear()
        self._kept.clear()

    def grown(self) -> bytes | None:
        """What is to be kept now; None where that is not worth while."""
        begin, known = f"{LESSONS.name}:", {one.stream: one.version for one in self._kept.values()}
        new: dict[str, KeptState] = {}
        for stream, folded in self.items():
            if stream.startswith(begin) and folded.version >= known.get(stream, 0) + LONG:
                state = msgspec.json.encode(folded.state)
                summed = self._sum(stream, folded.version, state)
                new[stream] = KeptState(stream, folded.version, msgspec.Raw(state), summed)
        return msgspec.json.encode([*{**self._kept, **new}.values()]) if new else None

    def _sum(self, stream: str, version: int, state: bytes) -> str:
        ends = self._rows(stream, version - 1)[:1]
        parts = [stream.encode(), b"%d" % version, state, *(row.state for row, _ in ends)]
        return blake2b(msgspec.json.encode(parts), digest_size=16).hexdigest() if ends else ""

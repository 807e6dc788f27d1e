"""Proves both logs of a home: today's code, yesterday's causes (SPEC 9, `prove`)."""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from msgspec import Struct

from adapters.store.log import Log
from adapters.wiring import Home
from domain.envelope import Row
from replay.prove import Divergence, Proof, log_digest

STEP_ROWS = 1_000

Progress = Callable[[str, int, int], None]
"""``progress(log, rows, of)``: so far has it come."""


class Proved(Struct, frozen=True):
    """What a proof of a whole home has found. `seconds` is wall time."""

    rows: int
    causes: int
    wakes: int
    digest: str
    seconds: float
    divergences: tuple[Divergence, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.divergences

    def document(self) -> dict[str, Any]:
        """The document of `prove`."""
        return {
            "ok": self.ok,
            "rows": self.rows,
            "causes": self.causes,
            "wakes": self.wakes,
            "digest": self.digest,
            "seconds": self.seconds,
            "divergences": [
                {
                    "log": one.log,
                    "position": one.position,
                    "stream": one.stream,
                    "version": one.version,
                    "class": one.kind_of,
                    "path": one.path,
                    "expected": one.expected,
                    "actual": one.actual,
                }
                for one in self.divergences
            ],
        }


def prove_home(home: Home, progress: Progress | None = None) -> Proved:
    """Re-execute both logs; nothing is written."""
    begun = perf_counter()
    found: list[Divergence] = []
    heads: dict[str, str] = {}
    rows = causes = wakes = 0
    for log in (home.desk.journal, home.desk.agents):
        proof = Proof(log.name, log.payload)
        found += proof.walk(_told(log, progress))
        heads |= proof.heads
        rows, causes, wakes = rows + proof.rows, causes + proof.causes, wakes + proof.wakes
    seconds = round(perf_counter() - begun, 3)
    return Proved(rows, causes, wakes, log_digest(heads), seconds, tuple(found))


def _told(log: Log, progress: Progress | None) -> Iterator[Row]:
    """The rows of a log, as they are read."""
    of = log.count() if progress else 0
    nth = 0
    for nth, row in enumerate(log.rows(), start=1):
        if progress and nth % STEP_ROWS == 0:
            progress(log.name, nth, of)
        yield row
    if progress:
        progress(log.name, nth, of)

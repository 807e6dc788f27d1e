"""What an engine is given, and what it says and counts."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from adapters.runtime.due_index import NO_SCHEDULES, KnownSchedules

Tell = Callable[..., None]
"""``tell(event, level="info", **fields)``: one line of the engine's log."""


class TimeSlice(NamedTuple):
    """The share of one home among many: after so many seconds it makes room, if others wait."""

    seconds: float
    others_wait: Callable[[], bool]


class EngineOptions(NamedTuple):
    """How an engine runs. `is_until_idle`: it ends once nothing runs and nothing is due within the
    throttle, waits for a provider or a budget not counted. `grace_seconds`: how long wakes may take
    to end once the engine is stopped; then they are handed back. `slice`: it is given the home for
    a while, and gives it back once nothing is due, it is in trouble, or the slice is over."""

    is_until_idle: bool = False
    grace_seconds: float = 10.0
    slice: TimeSlice | None = None


DEFAULT_OPTIONS = EngineOptions()


class EngineStart(NamedTuple):
    """What the engine begins with: all agents, sets with an expiry, and effects in doubt; and
    the agents' schedules, where these are known."""

    agents: Iterable[str]
    sets: Iterable[str]
    in_flight: Iterable[str]
    known: KnownSchedules = NO_SCHEDULES


class EngineCounts:
    """What an engine has done."""

    def __init__(self) -> None:
        self.taken = self.wakes = self.failed = self.recovered = self.troubles = 0

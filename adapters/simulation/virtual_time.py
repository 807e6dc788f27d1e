"""Months in seconds: an event loop whose sleeps take no time, and a clock that shows them.

Where the loop would wait for its next timer, its time jumps there. So the runtime sleeps as it
always does, and nothing of it is replaced. For demo data and for tests."""

import asyncio
import selectors
from datetime import timedelta
from typing import Any

from domain.log.timestamps import instant, moment

LEASE_SECONDS = 864_000  # heartbeats take no time here, but they take turns
POLL_SECONDS = 86_400  # acts and the engine itself set the signal
TICK = 1e-6  # a float of seconds tells less than this from nothing, after some months


class VirtualClock:
    """The time of a virtual loop; `jump` sets the clock alone, as a person or NTP would."""

    def __init__(self, start: str) -> None:
        self._start = instant(start)
        self.passed = 0.0
        self._moved = 0

    def now(self) -> str:
        """The present."""
        return moment(self._start + timedelta(seconds=self.passed + self._moved))

    def jump(self, seconds: int) -> None:
        """Put the clock forward or back."""
        self._moved += seconds

    def left(self, at: str) -> float:
        """Seconds until a stored time; negative if it is past."""
        return (instant(at) - instant(self.now())).total_seconds()


class _Selector(selectors.DefaultSelector):
    clock: VirtualClock

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found:
            assert timeout is not None, "nothing will ever happen"
            self.clock.passed += max(0.0, timeout)
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits."""

    def __init__(self, clock: VirtualClock) -> None:
        selector = _Selector()
        selector.clock = clock
        self._clock = clock
        super().__init__(selector)
        self._clock_resolution = TICK  # else a timer that is due now is not seen to be

    def time(self) -> float:
        """Seconds of virtual time so far."""
        return self._clock.passed

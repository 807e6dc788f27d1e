"""Waits until something is due or has changed, and never in vain for long.

A change in this process is told by `set`; one by another process is found by cheap probes, a few
times a second. Times are the clock's, read anew at each probe: so neither a clock that jumps nor
a machine that slept makes a wait longer than one interval.
"""

import asyncio
from collections.abc import Callable, Sequence

from adapters.home.clock import ManualClock
from domain.ports import Clock
from domain.timestamps import instant

POLL_SECONDS = 0.25
Probe = Callable[[], object]
"""Gives another value once something has changed."""


class Signal:
    """What the engine sleeps on."""

    def __init__(
        self, clock: Clock, probes: Sequence[Probe] = (), *, poll_seconds: float = POLL_SECONDS
    ) -> None:
        self._clock = clock
        self._probes = probes
        self._poll = poll_seconds
        self._event = asyncio.Event()
        self._last = [probe() for probe in probes]

    def set(self) -> None:
        """Something has changed."""
        self._event.set()

    async def wait(self, until: str, *, is_busy: bool = False) -> None:
        """Wait for a change, or for a time.

        Args:
            until: As stored; empty: only for a change.
            is_busy: Something runs here that will end. A clock set by hand stands still then;
                else it is put forward to `until`.
        """
        while not self._event.is_set() and not self._has_changed():
            left = self._left(until)
            if left <= 0:
                break
            if isinstance(self._clock, ManualClock) and not is_busy and until:
                self._clock.advance(seconds=int(left) + 1)
                break
            await self._pause(min(left, self._poll))
        self._event.clear()

    def _left(self, until: str) -> float:
        if not until:
            return self._poll
        return (instant(until) - instant(self._clock.now())).total_seconds()

    def _has_changed(self) -> bool:
        found = [probe() for probe in self._probes]
        is_new = found != self._last
        self._last = found
        return is_new

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return

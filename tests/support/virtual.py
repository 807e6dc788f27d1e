"""Years in seconds: an event loop whose sleeps take no time, and a clock that shows them.

Where the loop would wait for its next timer, its time jumps there. So the code under test sleeps
as it always does, and nothing of it is replaced.
"""

import asyncio
import selectors
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from adapters.runtime.desk import Desk
from adapters.runtime.engine import Engine
from adapters.runtime.leases import Leases
from adapters.runtime.signals import Signal
from adapters.runtime.terms import Found, Options
from adapters.settings import Settings
from adapters.store.log import Log
from domain.agent.agent import AGENT
from domain.moments import instant, moment
from domain.ports import Model

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
        return moment(self._start + timedelta(seconds=self.passed + self._moved))

    def jump(self, seconds: int) -> None:
        self._moved += seconds


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
        return self._clock.passed


class VirtualHome:
    """Both logs in memory, and an engine that can be run for a while."""

    def __init__(self, start: str, model: Model, settings: Settings | None = None) -> None:
        self.clock = VirtualClock(start)
        self.model = model
        logs = Log.in_memory("journal"), Log.in_memory("agent")
        self.desk = Desk(*logs, self.clock, settings or Settings(), lambda _: model)
        self.path: Path | None = None  # of runtime.db; None: each engine has its own
        self.told: list[tuple[str, dict[str, object]]] = []
        self.agents: list[str] = []
        self.sets: list[str] = []  # change sets that may have an effect in doubt
        self.grace = 3600.0
        self.engine: Engine | None = None  # the last one

    def run(self, seconds: float = 0, *acts: tuple[float, Callable[[], object]]) -> Engine:
        """Let an engine run for so many seconds; 0: until it is idle.

        Args:
            seconds: Of virtual time.
            acts: What happens after how many seconds, in order.
        """
        with asyncio.Runner(loop_factory=lambda: VirtualLoop(self.clock)) as runner:
            return runner.run(self._run(seconds, acts))

    async def _run(
        self, seconds: float, acts: Sequence[tuple[float, Callable[[], object]]]
    ) -> Engine:
        signal = Signal(self.clock, poll_seconds=POLL_SECONDS)
        leases = Leases(self.path, seconds=LEASE_SECONDS)
        options = Options(is_until_idle=not seconds, grace_seconds=self.grace)
        engine = self.engine = Engine(self.desk, leases, signal, self._tell, options)
        running = asyncio.create_task(engine.run(Found(self.agents, (), self.sets)))
        begun = self.clock.passed
        for after, act in acts:
            await asyncio.sleep(begun + after - self.clock.passed)
            act()
            signal.set()
        if seconds:
            await asyncio.sleep(begun + seconds - self.clock.passed)
            engine.stop()
        await running
        leases.close()
        return engine

    def _tell(self, event: str, level: str = "info", **fields: object) -> None:
        self.told.append((event, {"level": level, **fields}))

    def events(self, event: str) -> list[dict[str, object]]:
        return [fields for name, fields in self.told if name == event]

    def lifecycle(self, agent: str) -> str:
        with self.desk.agents.reading() as world:
            return world.load(AGENT, agent).lifecycle

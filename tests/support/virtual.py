"""A home in memory whose engine runs for virtual years in seconds."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from adapters.home.settings import Settings
from adapters.runtime.engine import Engine, Signal
from adapters.runtime.engine_options import EngineOptions, EngineStart, TimeSlice
from adapters.runtime.services import Services
from adapters.simulation.virtual_time import LEASE_SECONDS, POLL_SECONDS, VirtualClock, VirtualLoop
from adapters.store.leases import SqliteLeases
from adapters.store.log import Log
from domain.agent.agent import AGENT
from domain.ports import Model


class VirtualHome:
    """Both logs in memory, and an engine that can be run for a while."""

    def __init__(self, start: str, model: Model, settings: Settings | None = None) -> None:
        self.clock = VirtualClock(start)
        self.model = model
        logs = Log.in_memory("journal"), Log.in_memory("agent")
        self.services = Services(*logs, self.clock, settings or Settings(), lambda _: model)
        self.path: Path | None = None  # of runtime.db; None: each engine has its own
        self.told: list[tuple[str, dict[str, object]]] = []
        self.agents: list[str] = []
        self.sets: list[str] = []  # change sets that may have an effect in doubt
        self.grace = 3600.0
        self.slice: TimeSlice | None = None
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
        leases = SqliteLeases(self.path, seconds=LEASE_SECONDS)
        options = EngineOptions(not seconds, self.grace, self.slice)
        engine = self.engine = Engine(self.services, leases, signal, self._tell, options)
        running = asyncio.create_task(engine.run(EngineStart(self.agents, (), self.sets)))
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
        with self.services.agents.reading() as world:
            return world.load(AGENT, agent).lifecycle

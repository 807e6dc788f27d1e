"""One home is tended: the runtime of a folder, in a thread of a worker, until nothing is due."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from threading import Lock, Semaphore
from typing import NamedTuple

from adapters.actions.running import found_in
from adapters.cluster.notices import Notices
from adapters.notify.notifier import following
from adapters.runtime.engine import Engine
from adapters.runtime.options import Options, Tell
from adapters.runtime.signals import Signal
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.leases import HomeLeases
from adapters.wiring import Home


class Given(NamedTuple):
    """What a worker gives to all homes that it tends.

    `opens`: a home, by its name, to write. `owner`: the worker. `slots`: for the wakes of all its
    homes.
    """

    homes: Homes
    opens: Callable[[str], Home]
    owner: str
    lease: int
    slots: Semaphore
    options: Options
    notices: Notices


class Tended(NamedTuple):
    """How a home was left. `next_at`: when something is due, if nothing changes; empty: never.
    `reached`: up to which appends all was seen to. `is_in_trouble`: its last turn failed."""

    next_at: str
    reached: tuple[int, int]
    is_in_trouble: bool
    is_in_doubt: bool
    wakes: int
    failed: int


class Tending:
    """A home while it is tended; `stop` may be called from any thread."""

    def __init__(self, given: Given, name: str, tell: Tell) -> None:
        self._given = given
        self._name = name
        self._tell = tell
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._engine: Engine | None = None
        self._stops = 0

    def run(self) -> Tended:
        """Tend it. Raises Refused, Damaged: it cannot be opened or looked through."""
        with self._given.opens(self._name) as home:
            return asyncio.run(self._tend(home))

    def stop(self) -> None:
        """Begin nothing more in it; called again: leave in doubt what runs."""
        with self._lock:
            self._stops += 1
            if self._loop is not None and self._engine is not None:
                self._loop.call_soon_threadsafe(self._engine.stop)

    async def _tend(self, home: Home) -> Tended:
        probes = home.place.probes()
        signal = Signal(home.services.clock, probes)
        with closing(self._leases(home)) as leases:
            engine = Engine(home.services, leases, signal, self._tell, self._given.options)
            self._began(engine)
            notices = self._given.notices
            try:
                home.views.catch_up()  # another worker may have written all of it
                begun = notices.begin(home, self._name, self._tell)
                async with following(begun):
                    await engine.run(found_in(home))
            finally:
                with self._lock:
                    self._loop = None
        is_left = engine.is_over or self._stops
        times = engine.next_at(), notices.end(self._name, begun)
        return Tended(
            home.services.clock.now() if is_left else min(filter(None, times), default=""),
            engine.reached,
            engine.is_in_trouble,
            engine.is_in_doubt,
            engine.counts.wakes,
            engine.counts.failed,
        )

    def _leases(self, home: Home) -> HomeLeases:
        given = self._given
        number = given.homes.named(self._name).number
        database, seconds = given.homes.database, given.lease
        leases = HomeLeases(
            database, number, seconds=seconds, owner=given.owner, slots=given.slots, is_tending=True
        )
        leases.join(home.services.clock.now())  # from now on it lives, however long it looks
        return leases

    def _began(self, engine: Engine) -> None:
        with self._lock:
            self._loop, self._engine = asyncio.get_running_loop(), engine
            for _ in range(self._stops):  # asked for while it was opened
                engine.stop()

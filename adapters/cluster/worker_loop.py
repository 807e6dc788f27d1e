"""One home is tended: the runtime of a folder, in a thread of a worker, until nothing is due.

Who is told that something waits in it (ADR 44) is told as `wakelog run` tells it. A home is given
back once nothing is due in it; a delivery goes on in its own thread, and the home is looked at
again when it should have ended."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from threading import Lock, Semaphore
from typing import Any, NamedTuple

from adapters.notify.notifier import Notifier, following
from adapters.runtime.engine import Engine, Signal
from adapters.runtime.engine_options import EngineOptions, Tell
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.leases import HomeLeases
from adapters.store.postgres.schema import LOGS
from adapters.store.postgres.statements import ENTER
from adapters.usecases.notify import notifiers_of
from adapters.usecases.run_home import found_in
from adapters.wiring import Home


class HomeNotifiers:
    """The receivers of all homes that a worker tends; may be used from any thread."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """`environ`: what commands are given, and where secrets are found."""
        self._environ = environ
        self._lock = Lock()
        self._of: dict[str, list[Notifier]] = {}
        self._not_allowed: set[tuple[str, str]] = set()  # told once
        self._is_stopping = False

    def begin(self, home: Home, name: str, tell: Tell) -> list[Notifier]:
        """What looks while a home is tended; nothing where a delivery is under way still."""

        def tell_once(event: str, **fields: Any) -> None:
            known = name, str(fields.get("by"))
            if event != "not_allowed" or known not in self._not_allowed:
                tell(event, **fields)
            if event == "not_allowed":
                self._not_allowed.add(known)

        with self._lock:
            if self._is_stopping or any(one.is_busy for one in self._of.get(name, ())):
                return []
        made = notifiers_of(home, self._environ, tell_once)
        with self._lock:
            self._of[name] = made
        return made

    def end(self, name: str, begun: Sequence[Notifier]) -> str:
        """When the home of this name is to be looked at again for them; empty: never. `begun`: what
        `begin` gave: the home of another one is closed. Raises Refused."""
        for one in begun:
            one.look()
        with self._lock:
            known = self._of.get(name, [])
        times = [one.next_at() for one in known]
        with self._lock:
            if not any(one.is_busy for one in known):
                self._of.pop(name, None)
        return min(filter(None, times), default="")

    def stop(self) -> None:
        """Cut off what is being sent: it is sent again, under the same id."""
        with self._lock:
            self._is_stopping = True
            found = [one for known in self._of.values() for one in known]
        for one in found:
            one.stop()


# ----------------------------------------------------------------------------------------- one home


class WorkerContext(NamedTuple):
    """What a worker gives to all homes that it tends. `opens`: a home, by its name, to write;
    `owner`: the worker; `slots`: for the wakes of all its homes."""

    homes: Homes
    opens: Callable[[str], Home]
    owner: str
    lease: int
    slots: Semaphore
    options: EngineOptions
    notices: HomeNotifiers


class TendedHome(NamedTuple):
    """How a home was left. `next_at`: when something is due, if nothing changes; empty: never.
    `reached`: up to which appends all was seen to. `is_in_trouble`: its last turn failed."""

    next_at: str
    reached: tuple[int, int]
    is_in_trouble: bool
    is_in_doubt: bool
    wakes: int
    failed: int


class WorkerLoop:
    """A home while it is tended; `stop` may be called from any thread."""

    def __init__(self, given: WorkerContext, name: str, tell: Tell) -> None:
        self._given, self._name, self._tell = given, name, tell
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._engine: Engine | None = None
        self._stops = 0

    def run(self) -> TendedHome:
        """Tend it. Raises Refused, Damaged: it cannot be opened or looked through."""
        with self._given.opens(self._name) as home:
            return asyncio.run(self._tend(home))

    def stop(self) -> None:
        """Begin nothing more in it; called again: leave in doubt what runs."""
        with self._lock:
            self._stops += 1
            if self._loop is not None and self._engine is not None:
                self._loop.call_soon_threadsafe(self._engine.stop)

    async def _tend(self, home: Home) -> TendedHome:
        signal = Signal(home.services.clock, home.place.probes())
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
        next_at = home.services.clock.now() if is_left else min(filter(None, times), default="")
        how = engine.is_in_trouble, engine.is_in_doubt, engine.counts.wakes, engine.counts.failed
        return TendedHome(next_at, engine.reached, *how)

    def _leases(self, home: Home) -> HomeLeases:
        given, number = self._given, self._given.homes.named(self._name).number
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


# ----------------------------------------------------------------------------------- how it is left
# How a home is left once it was tended: when it is due again, or until when it is held off.

HOLD_MAX_SECONDS = 300
_DONE = """
UPDATE runtime.homes SET next_at = %s, hold_until = '-infinity', faults = 0 WHERE home = %s"""
_FAULTY = f"""
UPDATE runtime.homes SET faults = faults + 1, hold_until = now()
    + least({HOLD_MAX_SECONDS}, 2 ^ least(faults + 1, 9)) * interval '1 second'
WHERE home = %s"""


def save_outcome(database: Database, home: int, tended: TendedHome) -> None:
    """Say how it was left: nothing is due up to `next_at`, unless something new came in meanwhile.
    Raises Refused."""
    if tended.is_in_trouble:
        hold_off(database, home)
        return
    with database.connection() as connection, connection.transaction():
        connection.execute(_DONE, (tended.next_at or "infinity", home))
        connection.execute(ENTER, (str(home),))
        for log, n in zip(LOGS, tended.reached, strict=True):
            sql = f"UPDATE {log}.heads SET is_news = false WHERE home = %s AND n = %s"
            connection.execute(sql.encode(), (home, n))


def hold_off(database: Database, home: int) -> None:
    """Hold a home off that is in trouble: 2, 4, 8 ... seconds, up to five minutes. Raises
    Refused."""
    with database.connection() as connection:
        connection.execute(_FAULTY.encode(), (home,))

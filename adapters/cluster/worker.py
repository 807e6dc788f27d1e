"""A worker: tends the homes of a database that are due, with others of its kind (ADR 68).

Procrastinate hands each due home to one of them. A home has a thread and a loop of its own, so
that one that waits for the disk holds up no other, and no heartbeat.

The line to the queue may break: then it waits for the server."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from threading import Semaphore, Timer
from time import monotonic
from typing import Any, NamedTuple

import procrastinate
import procrastinate.worker
import psycopg
import psycopg_pool
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

from adapters.cluster import worker_loop
from adapters.cluster.health import answered, cluster_gauges
from adapters.cluster.limits import HomeAllowance, Limits, SharedLimits
from adapters.cluster.rebuild_views import ViewRebuilder
from adapters.cluster.scheduler import DueHome, Scheduler
from adapters.cluster.worker_loop import HomeNotifiers, WorkerContext, WorkerLoop
from adapters.documents.homes import WorkedHomes, WorkerHealth, WorkerLine
from adapters.home.clock import NOW_VARIABLE, SystemClock
from adapters.home.home_location import DatabaseLocation, homes_of
from adapters.home.prices import costs_at
from adapters.runtime.engine_options import EngineOptions, Tell, TimeSlice
from adapters.store.leases import BEATS_A_LEASE, drawn_owner
from adapters.store.postgres.database import SETTINGS, Database
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.leases import HomeLeases
from adapters.store.postgres.schema import ALL, QUEUE_OPTIONS
from adapters.telemetry.metrics import Numbers, WakeNumbers
from adapters.usecases.catalog import scope_labels
from adapters.wiring import Home, open_home
from domain.errors import Refused, WakelogError, invalid

AGAIN_SECONDS = 0.25
POOL_MAX = 3
TEND_TASK = "tend"
_LOST = (psycopg.OperationalError, psycopg.InterfaceError, psycopg_pool.PoolTimeout)

logging.getLogger("procrastinate").setLevel(logging.CRITICAL)  # a worker tells its own troubles


class PatientConnector(procrastinate.PsycopgConnector):
    """Waits for a server that is away, instead of ending the worker and all that it tends.

    Where an answer was lost, the same is asked again: a job that was finished twice is finished,
    and one that was handed out to nobody is freed by the sweep."""

    def __init__(self, url: str) -> None:
        options = {**SETTINGS, "options": f"{SETTINGS['options']} {QUEUE_OPTIONS}"}
        super().__init__(conninfo=url, kwargs=options, min_size=0, max_size=POOL_MAX)
        self.is_stopping = False

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        try:
            await self._patiently(super().execute_query_async, query, arguments)
        except ConnectorException as error:
            if not isinstance(error.__cause__, psycopg.errors.RaiseException):
                raise  # else the job is no more: it was freed, or finished before the answer

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        ask = super().execute_query_one_async
        found: dict[str, Any] = await self._patiently(ask, query, arguments)
        return found

    async def _patiently(
        self, ask: Callable[..., Awaitable[Any]], query: Any, arguments: dict[str, Any]
    ) -> Any:
        while True:  # until the server answers, or the worker is to end
            try:
                return await ask(query, **arguments)
            except ConnectorException as error:
                if not isinstance(error.__cause__, _LOST) or self.is_stopping:
                    raise
            await asyncio.sleep(AGAIN_SECONDS)


# ---------------------------------------------------------------------------------------- the clock
# Whether a machine's clock is that of the database, by which homes are due and leases lapse.

SKEW_MAX_SECONDS = 5
MachineClock = Callable[[], datetime]


def machine_clock() -> datetime:
    return datetime.now(UTC)


def check_clock(database: Database, clock: MachineClock = machine_clock) -> None:
    """Look whether this machine's clock is the server's. Raises Refused."""
    with database.connection() as connection:
        before = clock()
        ((there,),) = connection.execute("SELECT clock_timestamp()").fetchall()
        after = clock()
    ahead = max(before - there, there - after).total_seconds()
    if ahead > SKEW_MAX_SECONDS:
        because = f"this machine's clock and that of {database.name} are {ahead:.0f} seconds apart"
        raise invalid(because, "set both right, then start it again")


# --------------------------------------------------------------------------------------- the worker

IN_DOUBT = 130  # the status of a process that was interrupted twice
STUCK_SECONDS = 5

RENEW_SECONDS = 600
ANSWER_SECONDS = 5  # that a look at what is due may take until nobody counts on its database


class WorkerOptions(NamedTuple):
    """How a worker works: at most so many homes and wakes at once, how long a lease holds without
    a heartbeat, how long a home is tended while others wait, how long wakes may take to end once
    it is stopped, how often it looks, for which homes, if not for all, and what all workers of the
    database share."""

    homes: int = 32
    wakes: int = 64
    lease: int = 30
    slice: float = 60.0
    grace: float = 25.0
    only: tuple[str, ...] = ()
    poll: float = 0.25
    limits: Limits = Limits()


class Worker:
    def __init__(
        self,
        homes: Homes,
        opens: Callable[[str], Home],
        options: WorkerOptions,
        tell: Tell,
        environ: Mapping[str, str],
        clock: MachineClock = machine_clock,
    ) -> None:
        """`opens`: gives a home by its name, open to write; `tell`: is told what happens, from any
        thread; `environ`: for who is told that something waits; `clock`: the machine's."""
        self.owner = drawn_owner()
        self.tended = self.wakes = self.failed = self.troubles = 0
        self.is_in_doubt = False
        self._homes, self._options, self._tell = homes, options, tell
        self._connector = PatientConnector(homes.database.url)
        self._app = procrastinate.App(connector=self._connector)
        self._tend = self._app.task(name=TEND_TASK)(self._run_job)
        self._sweep = Scheduler(self._app, options.only)
        self._own = HomeLeases(homes.database, ALL, seconds=options.lease, owner=self.owner)
        given = TimeSlice(options.slice, lambda: self._sweep.is_waited)
        engine = EngineOptions(grace_seconds=options.grace, slice=given)
        slots = Semaphore(options.wakes)
        self._notices = HomeNotifiers(environ)
        own = self.owner, options.lease, slots, engine, self._notices
        self._given = WorkerContext(homes, opens, *own)
        self._renewing = ViewRebuilder(homes, opens, tell, options.only)
        self._now: dict[int, WorkerLoop] = {}  # the homes that are tended
        self._threads = ThreadPoolExecutor(options.homes, "wakelog-home")
        self._wall, self._clock = clock, SystemClock(wall=clock)
        self._wrong: Refused | None = None  # the clock, since it began
        self._stopping = asyncio.Event()
        self._is_away = False  # the server: told once
        self._looked = self._beaten = float("-inf")  # when that last went well
        self._beat_at = ""

    def health(self) -> WorkerHealth:
        """Whether it takes homes and renews its leases; the database is not asked for that."""
        own, trouble = self._own, None
        now, lease = monotonic(), self._options.lease
        if self._stopping.is_set():
            trouble = "it is stopping, and takes no home any more"
        elif self._is_away or now - self._looked >= min(lease, ANSWER_SECONDS):
            trouble = "its database does not answer"
        elif now - self._beaten >= lease:
            trouble = "it could not say for a whole lease that it lives"
        line = WorkerLine(own.owner, own.place, own.since, self._beat_at, len(self._now))
        return WorkerHealth(trouble is None, trouble, line)

    async def run(
        self, listening: socket.socket | None = None, numbers: Numbers | None = None
    ) -> None:
        """Work until a signal ends it, and tell on a socket how it is. Raises Refused: the
        database cannot be reached; its clock and this machine's went apart."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        told = numbers or Numbers(partial(cluster_gauges, self._homes.database))
        self._own.join(self._clock.now())
        self._beaten, self._beat_at = monotonic(), self._own.since
        async with self._app.open_async(), answered(self.health, told, listening):
            sides = [asyncio.create_task(one()) for one in (self._look, self._beat, self._renew)]
            jobs = asyncio.create_task(self._jobs())
            await self._stopping.wait()
            looks, *others = sides
            looks.cancel()
            await asyncio.gather(looks, jobs, return_exceptions=True)
            for one in others:
                one.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        with suppress(WakelogError):
            self._own.leave()
        if self._wrong:
            raise self._wrong

    # ------------------------------------------------------------------------------ beside the jobs

    def stop(self) -> None:
        """Take no home any more, and let wakes end within the grace; again: leave them, and end
        even where the database does not answer."""
        self.is_in_doubt = self._stopping.is_set()
        if self.is_in_doubt:
            ends = Timer(STUCK_SECONDS, os._exit, (IN_DOUBT,))
            ends.daemon = True  # as good as none where all ends by itself
            ends.start()
        self._tell("interrupted" if self.is_in_doubt else "draining", homes=len(self._now))
        self._stopping.set()
        self._connector.is_stopping = True
        self._notices.stop()
        self._renewing.stop()
        for one in self._now.values():
            one.stop()

    async def _look(self) -> None:
        """Queue what is due, again and again, and free what nobody tends any more."""
        while not self._stopping.is_set():  # being cancelled may be lost in an answer that comes
            try:
                for one in await self._sweep.due():
                    await self._queue(one)
                if freed := await self._sweep.free(self._options.lease):
                    self._tell("freed", level="warning", homes=freed)
                self._looked = monotonic()
                if self._is_away:
                    self._is_away = False
                    self._tell("well_again")
            except ConnectorException as error:
                self._away(error.__cause__ or error)
            await asyncio.sleep(self._options.poll)

    async def _queue(self, due: DueHome) -> None:
        lock = f"home:{due.home}"
        queued = self._tend.configure(queueing_lock=lock, lock=lock, queue=due.name)
        with suppress(AlreadyEnqueued):  # another worker was faster
            await queued.defer_async(home=due.home, name=due.name)

    async def _beat(self) -> None:
        """Say that this worker lives. One that could not for a whole lease has lost its homes, and
        lets go of them: they are others' by now. The line may also be silent without an end."""
        lease = self._options.lease
        while True:
            await asyncio.sleep(lease / BEATS_A_LEASE)
            now = self._clock.now()
            beat = asyncio.create_task(self._beat_once(now))
            is_silent = not (await asyncio.wait((beat,), timeout=lease))[0]
            if is_silent:
                self._away(TimeoutError(f"{self._homes.database.name} does not answer"))
                self._let_go(monotonic() - self._beaten)
            try:
                await beat
            except WakelogError as error:
                self._away(error)
                continue
            lost = monotonic() - self._beaten
            self._beaten, self._beat_at = monotonic(), now
            if lost >= lease and not is_silent:
                self._let_go(lost)

    async def _beat_once(self, now: str) -> None:
        await asyncio.to_thread(self._own.beat, now)
        await self._check_clock()  # the line may fall silent here as well

    def _let_go(self, seconds: float) -> None:
        if self._now:
            self._tell("lost", level="warning", homes=len(self._now), seconds=round(seconds))
        for one in self._now.values():
            one.stop()

    async def _check_clock(self) -> None:
        """A clock that was set since it began would have timers fire early, or late: it ends."""
        try:
            await asyncio.to_thread(check_clock, self._homes.database, self._wall)
        except Refused as error:
            if error.code == "invalid_value" and not self._stopping.is_set():
                self._wrong = error
                self._tell("trouble", level="error", message=error)
                self.stop()

    async def _renew(self) -> None:
        """Make the views of homes anew that another version left."""
        while True:
            try:
                await asyncio.to_thread(self._renewing.look)
            except WakelogError as error:
                self._away(error)
            await asyncio.sleep(RENEW_SECONDS)

    def _away(self, error: BaseException) -> None:
        if not self._is_away:
            self._is_away = True
            self.troubles += 1
            told = error if isinstance(error, WakelogError) else str(error).strip()
            self._tell("trouble", level="error", message=told)

    # ------------------------------------------------------------------------------------ the jobs

    async def _jobs(self) -> None:
        """Take homes from the queue, as many as may be tended at once."""
        while not self._stopping.is_set():
            taking: Any = self._taking()  # its methods are not typed
            work: asyncio.Task[Any] = asyncio.create_task(taking.run())
            stopped = asyncio.create_task(self._stopping.wait())
            await asyncio.wait((work, stopped), return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            taking.stop()  # takes nothing more, and waits for what it has
            found = (await asyncio.gather(work, return_exceptions=True))[0]
            if isinstance(found, Exception):
                self._away(found)
                await asyncio.sleep(self._options.poll)

    def _taking(self) -> procrastinate.worker.Worker:
        """What asks for jobs until it is told to stop. It is not cancelled: `asyncio.wait_for` of
        Python 3.11, which the pool waits by, may lose that, and the worker would never end."""
        return procrastinate.worker.Worker(
            self._app,
            queues=self._options.only or None,
            name=self.owner,
            concurrency=self._options.homes,
            install_signal_handlers=False,
            listen_notify=False,
            delete_jobs="always",
            fetch_job_polling_interval=self._options.poll,
            update_heartbeat_interval=self._options.lease / BEATS_A_LEASE,
            stalled_worker_timeout=2 * self._options.lease,
        )

    async def _run_job(self, home: int, name: str) -> None:
        """Tend a home that was handed out. What goes wrong in it ends here."""
        if home in self._now or self._stopping.is_set():
            return  # it was lost and taken again, and its end is not through: it stays due
        tending = self._now[home] = WorkerLoop(self._given, name, partial(self._tell, home=name))
        loop = asyncio.get_running_loop()
        try:
            tended = await loop.run_in_executor(self._threads, tending.run)
            self.tended += 1
            self.wakes += tended.wakes
            self.failed += tended.failed
            await asyncio.to_thread(worker_loop.save_outcome, self._homes.database, home, tended)
        except Exception as error:  # noqa: BLE001  one home may not take the others down
            await self._failed(home, name, error)
        finally:
            del self._now[home]

    async def _failed(self, home: int, name: str, error: Exception) -> None:
        self.troubles += 1
        is_ours = isinstance(error, WakelogError)
        told = error if is_ours else f"{type(error).__name__}: {error}"
        self._tell("trouble", level="error", home=name, message=told)
        with suppress(WakelogError):
            await asyncio.to_thread(worker_loop.hold_off, self._homes.database, home)


# ------------------------------------------------------------------------------------- the use case


def work(
    environ: Mapping[str, str],
    options: WorkerOptions,
    tell: Tell,
    model: str = "",
    listening: socket.socket | None = None,
    *,
    has_names: bool = False,
) -> tuple[WorkedHomes, bool]:
    """Tend the homes of a database that are due, until a signal ends it; and whether something was
    left in doubt. `tell`: is told what happens, from any thread; `model`: what `--model` says;
    `listening`: where it tells how it is, if it does; `has_names`: its numbers name homes.

    Raises Refused: the database cannot be used, its clock differs, now or later, or it may lose
    what is committed; Damaged: it was not prepared."""
    if environ.get(NOW_VARIABLE, ""):
        because = f"{NOW_VARIABLE} is set, and a clock that is set by hand does not go on by itself"
        raise invalid(because, f"unset {NOW_VARIABLE}")
    homes = homes_of(environ)
    homes.database.check_place()
    for name in options.only:
        homes.named(name)
    findings, _ = homes.database.trouble("worker")
    if findings:
        raise invalid(findings[0], "see `wakelog database check`")
    check_clock(homes.database)
    numbers = Numbers(partial(cluster_gauges, homes.database))
    limits = SharedLimits(homes.database, options.limits)
    counted = WakeNumbers(numbers, has_names=has_names, spend=limits.spend)

    def told(event: str, level: str = "info", **fields: object) -> None:
        counted.told(event, fields)
        tell(event, level=level, **fields)

    def opens(name: str) -> Home:
        place = DatabaseLocation(homes, name, environ)
        home = open_home(place, environ, model=model, is_writing=True)
        scope_labels(home)
        own, of = home.services.spans_for, home.services
        of.allowance = HomeAllowance(limits, homes.named(name).number)
        costs = costs_at(home.settings.prices, lambda: of.agents.tail().at)
        of.spans_for = lambda: counted.around(own(), name, home.settings.currency, costs)
        return home

    async def run() -> Worker:
        worker = Worker(homes, opens, options, told, environ)
        tell("working", worker=worker.owner)
        await worker.run(listening, numbers)
        return worker

    done = asyncio.run(run())
    return WorkedHomes(done.tended, done.wakes, done.failed, done.troubles), done.is_in_doubt

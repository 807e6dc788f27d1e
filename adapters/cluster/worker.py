"""A worker: tends the homes of a database that are due, with others of its kind (ADR 68).

Procrastinate hands each due home to one of them. A home has a thread and a loop of its own, so
that one that waits for the disk holds up no other, and no heartbeat.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Semaphore, Timer
from time import monotonic
from typing import Any, NamedTuple

import procrastinate
import procrastinate.worker
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

from adapters.cluster import settling
from adapters.cluster.clocks import Wall, check_clock, wall
from adapters.cluster.health import answered
from adapters.cluster.notices import Notices
from adapters.cluster.queue import TEND, PatientConnector
from adapters.cluster.renewing import Renewing
from adapters.cluster.sweep import Due, Sweep
from adapters.cluster.tending import Given, Tended, Tending
from adapters.documents.databases import WorkerHealth, WorkerLine
from adapters.home.clock import SystemClock
from adapters.runtime.options import Options, Slice, Tell
from adapters.store.leases import BEATS_A_LEASE
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.leases import HomeLeases, drawn_owner
from adapters.store.postgres.schema_runtime import ALL
from adapters.wiring import Home
from domain.errors import Refused, WakelogError

IN_DOUBT = 130  # the status of a process that was interrupted twice
STUCK_SECONDS = 5

RENEW_SECONDS = 600
ANSWER_SECONDS = 5  # that a look at what is due may take until nobody counts on its database


class WorkerOptions(NamedTuple):
    """How a worker works: at most so many homes and wakes at once, how long a lease holds without
    a heartbeat, how long a home is tended while others wait, how long wakes may take to end once
    it is stopped, how often it looks, and for which homes, if not for all."""

    homes: int = 32
    wakes: int = 64
    lease: int = 30
    slice: float = 60.0
    grace: float = 25.0
    only: tuple[str, ...] = ()
    poll: float = 0.25


class Worker:
    """One worker, from its start to its end."""

    def __init__(
        self,
        homes: Homes,
        opens: Callable[[str], Home],
        options: WorkerOptions,
        tell: Tell,
        environ: Mapping[str, str],
        clock: Wall = wall,
    ) -> None:
        """Args:
        homes: Of which database.
        opens: Gives a home by its name, open to write.
        options: See there.
        tell: Is told what happens, from any thread.
        environ: Environment variables, for who is told that something waits.
        clock: The machine's.
        """
        self.owner = drawn_owner()
        self.tended = self.wakes = self.failed = self.troubles = 0
        self.is_in_doubt = False
        self._homes = homes
        self._options = options
        self._tell = tell
        self._connector = PatientConnector(homes.database.url)
        self._app = procrastinate.App(connector=self._connector)
        self._tend = self._app.task(name=TEND)(self._run_job)
        self._sweep = Sweep(self._app, options.only)
        self._own = HomeLeases(homes.database, ALL, seconds=options.lease, owner=self.owner)
        given = Slice(options.slice, lambda: self._sweep.is_waited)
        engine = Options(grace_seconds=options.grace, slice=given)
        slots = Semaphore(options.wakes)
        self._notices = Notices(environ)
        self._given = Given(homes, opens, self.owner, options.lease, slots, engine, self._notices)
        self._renewing = Renewing(homes, opens, tell, options.only)
        self._now: dict[int, Tending] = {}  # the homes that are tended
        self._threads = ThreadPoolExecutor(options.homes, "wakelog-home")
        self._wall = clock
        self._clock = SystemClock(wall=clock)
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

    async def run(self, listening: socket.socket | None = None) -> None:
        """Work until a signal ends it, and tell on a socket how it is. Raises Refused: the
        database cannot be reached; its clock and this machine's went apart."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        self._own.join(self._clock.now())
        self._beaten, self._beat_at = monotonic(), self._own.since
        async with self._app.open_async(), answered(self.health, listening):
            sides = [asyncio.create_task(one()) for one in (self._look, self._beat, self._renew)]
            jobs = asyncio.create_task(self._jobs())
            await self._stopping.wait()
            looks, beats, renews = sides
            looks.cancel()
            await asyncio.gather(looks, jobs, return_exceptions=True)
            for one in (beats, renews):
                one.cancel()
            await asyncio.gather(beats, renews, return_exceptions=True)
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

    async def _queue(self, due: Due) -> None:
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
            beat = asyncio.create_task(asyncio.to_thread(self._own.beat, now))
            is_silent = not (await asyncio.wait((beat,), timeout=lease))[0]
            if is_silent:
                self._away(TimeoutError(f"{self._homes.database.name} does not answer"))
                self._let_go(monotonic() - self._beaten)
            try:
                await beat
            except WakelogError as error:
                self._away(error)
                continue
            await self._check_clock()
            lost = monotonic() - self._beaten
            self._beaten, self._beat_at = monotonic(), now
            if lost >= lease and not is_silent:
                self._let_go(lost)

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
        tending = self._now[home] = Tending(self._given, name, partial(self._tell, home=name))
        loop = asyncio.get_running_loop()
        try:
            tended = await loop.run_in_executor(self._threads, tending.run)
            self._count(tended)
            await asyncio.to_thread(settling.keep, self._homes.database, home, tended)
        except Exception as error:  # noqa: BLE001  one home may not take the others down
            await self._failed(home, name, error)
        finally:
            del self._now[home]

    def _count(self, tended: Tended) -> None:
        self.tended += 1
        self.wakes += tended.wakes
        self.failed += tended.failed

    async def _failed(self, home: int, name: str, error: Exception) -> None:
        self.troubles += 1
        is_ours = isinstance(error, WakelogError)
        told = error if is_ours else f"{type(error).__name__}: {error}"
        self._tell("trouble", level="error", home=name, message=told)
        with suppress(WakelogError):
            await asyncio.to_thread(settling.hold_off, self._homes.database, home)

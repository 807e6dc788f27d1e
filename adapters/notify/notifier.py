"""Tells one receiver what waits, beside a running engine, which it never holds up.

Up to where it was told is kept (`delivery_progress`). A delivery is noted there before it begins
and when it was answered: whatever ends the process between the two, it is made again, under the
same id."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from adapters.home.settings import NotifySettings
from adapters.notify.channels import Channel
from adapters.notify.delivery_progress import CLAIM_SECONDS, DeliveryProgress, DeliveryStore
from adapters.notify.notices import Message, NoticeTrigger, found_in, message_of
from adapters.runtime.engine_options import Tell
from adapters.runtime.services import Services
from adapters.store.notice_rows import NoticeRows
from domain.errors import WakelogError
from domain.log.keys import key
from domain.log.timestamps import later

LOOK_SECONDS = 1.0
FINISH_SECONDS = 0.02
PAUSES = (0.0, 1.0, 4.0)  # before each try of a delivery
MINUTE = 60


class NotifierOptions(NamedTuple):
    """Where it keeps how far it is, and how long it pauses before each try."""

    rows: NoticeRows
    pauses: Sequence[float] = PAUSES


class Notifier:
    """One receiver of a home."""

    def __init__(
        self, services: Services, channel: Channel, options: NotifierOptions, tell: Tell
    ) -> None:
        self._services = services
        self._settings: NotifySettings = services.settings.notify
        self._channel = channel
        self._progress = DeliveryStore(options.rows)
        self._pauses = options.pauses
        self._tell = tell
        self._found: list[NoticeTrigger] = []  # and not told yet
        self._read_to = self._seen = 0  # appends of the agent log
        self._thread: threading.Thread | None = None
        self._is_stopping = threading.Event()
        self._trouble = ""

    async def follow(self) -> None:
        """Look now and then, for ever."""
        while True:
            self.look()
            await asyncio.sleep(LOOK_SECONDS)

    def look(self) -> None:
        """Begin a delivery if something waits and may be told now; never waits for one."""
        if self._is_stopping.is_set() or self.is_busy:
            return
        try:
            self._look()
        except WakelogError as error:
            self._told_of(error)

    def _told_of(self, error: WakelogError) -> None:
        """Say once what keeps it from knowing how far it is."""
        if str(error) != self._trouble:
            self._tell("trouble", level="warning", code=error.code, message=error)
        self._trouble = str(error)

    def next_at(self) -> str:
        """When to look again if nothing changes, for who ends meanwhile; empty: never. A delivery
        that is under way, here or elsewhere, is looked after when it should have ended."""
        now = self._services.clock.now()
        ended = later(now, seconds=CLAIM_SECONDS)
        if self.is_busy:
            return ended
        known = self._progress.allowed(self._channel.name, self._channel.identity)
        if known is None or not any(one.n > known.n for one in self._found):
            return ""
        held = held_until(self._settings, self._services.settings.timezone, known, now)
        return max(held, ended) if known.pid else max(held, later(now, seconds=1))

    async def finish(self, seconds: float) -> None:
        """At the end of a run that ends by itself, give what waits a last chance."""
        self.look()
        left = seconds
        while self.is_busy and left > 0 and not self._is_stopping.is_set():
            await asyncio.sleep(FINISH_SECONDS)
            left -= FINISH_SECONDS

    @property
    def is_busy(self) -> bool:
        """Whether a delivery is under way."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Begin nothing more and end what is being sent; it is sent again by the next run."""
        self._is_stopping.set()
        self._channel.cancel()

    def _look(self) -> None:
        name, agents = self._channel.name, self._services.agents
        tail = agents.tail()
        if tail.n == self._seen and not self._found:
            return
        known = self._progress.allowed(name, self._channel.identity)
        self._seen = tail.n
        if known is None:
            self._found, self._read_to = [], 0
            return
        if known.n > tail.n or known.digest != agents.digest_at(known.n):  # it is another log
            self._progress.save(name, DeliveryProgress(known.allowed, tail.n, tail.digest))
            self._found, self._read_to = [], tail.n
            return
        self._read(known.n, tail.n)
        if not self._found:
            if self._read_to > known.n and not known.until:
                self._progress.move(name, known, self._read_to, agents.digest_at(self._read_to))
            return
        now = self._services.clock.now()
        if held_until(self._settings, self._services.settings.timezone, known, now) <= now:
            self._begin(known, now)

    def _read(self, known: int, tail: int) -> None:
        """Find what began to wait since it was looked; leave what was told meanwhile."""
        self._found = [one for one in self._found if one.n > known]
        self._read_to = max(self._read_to, known)
        if tail > self._read_to:
            for rows in self._services.agents.came(self._read_to):
                self._read_to = max(self._read_to, rows[0].n)
                self._found += [one._replace(n=self._read_to) for one in found_in(rows)]

    def _begin(self, known: DeliveryProgress, now: str) -> None:
        digest = self._services.agents.digest_at(self._read_to)
        name = key("notice", self._channel.name, known.digest, digest)
        wanted = replace(known, until=self._read_to, until_digest=digest, id=name)
        claimed = self._progress.claim(self._channel.name, known, wanted, now)
        if claimed is None:
            return
        found = [one for one in self._found if one.n <= claimed.until]
        message = message_of(self._services, found, claimed.id)
        if message is None:
            self._progress.delivered(self._channel.name, claimed, "")
            return
        deliver = partial(self._deliver, message, claimed, now)
        self._thread = threading.Thread(target=deliver, name="wakelog-notify", daemon=True)
        self._thread.start()

    def _deliver(self, message: Message, claimed: DeliveryProgress, now: str) -> None:
        """Try until it is answered; in a thread of its own."""
        failure = ""
        for pause in self._pauses:
            if self._is_stopping.wait(pause):
                return
            failure = self._channel.send(message)
            if not failure:
                break
        if self._is_stopping.is_set() and failure:
            return  # it was cut off: the next run makes it again
        try:
            if failure:
                self._progress.failed(self._channel.name, claimed, now, failure)
                self._tell("untold", level="warning", message=failure)
            else:
                self._progress.delivered(self._channel.name, claimed, now)
                self._tell("told", tasks=message.count, by=self._channel.shown)
        except WakelogError as error:  # it is told again, under the same id
            self._told_of(error)


@asynccontextmanager
async def following(notifiers: Sequence[Notifier]) -> AsyncIterator[None]:
    """Let them look while something else goes on in this loop."""
    follows = [asyncio.create_task(one.follow()) for one in notifiers]
    try:
        yield
    finally:
        for task in follows:
            task.cancel()
        await asyncio.gather(*follows, return_exceptions=True)


def held_until(notify: NotifySettings, zone: str, known: DeliveryProgress, now: str) -> str:
    """Until when nothing is told: quiet hours, or what was told or failed a short while ago.
    Now, or earlier: it may be told."""
    seconds = MINUTE * notify.every_minutes
    times = [quiet_until(notify.quiet, zone, now)]
    if known.delivered_at:
        times.append(later(known.delivered_at, seconds=seconds))
    if known.failed_at:
        times.append(later(known.failed_at, seconds=max(seconds, MINUTE)))
    return max(times)


def quiet_until(quiet: str, zone: str, now: str) -> str:
    """When the quiet hours end that clocks in the zone are in; empty outside of them.

    >>> quiet_until("22:00-07:00", "Europe/Berlin", "2027-01-01T23:30:00.000000Z")
    '2027-01-02T06:00:00.000000Z'
    >>> quiet_until("22:00-07:00", "Europe/Berlin", "2027-01-02T06:00:00.000000Z")
    ''
    """
    if not quiet:
        return ""
    from adapters.home.schedules import local_time, next_local

    start, _, end = quiet.partition("-")
    time = local_time(now, zone).time[-len(start) :]
    is_in = start <= time < end if start < end else time >= start or time < end
    return next_local(end, zone, now) if is_in else ""

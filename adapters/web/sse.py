"""Tells open pages that something changed: one cheap look at both logs for all of them.

A message says where the logs end now. A page knows where they ended before it was made: where the
two differ it asks for itself again. So nothing hangs on a single message: the first one of a
stream, each change and each ping say the same thing.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from threading import Lock

from adapters.store.sqlite_files import ChangeProbe
from domain.errors import Refused

LOOK_SECONDS = 0.4
PING_SECONDS = 15
PAGES_MAX = 64  # that listen at once


class EventBroadcast:
    """The logs' pulse. `probes` makes what looks whether something has changed; `tail`, called in a
    thread, tells where the logs end; a page is told so again after `ping_seconds` without a change.
    """

    def __init__(
        self,
        probes: Callable[[], Sequence[ChangeProbe]],
        tail: Callable[[], str],
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        self._probes = probes
        self._tail = tail
        self._ping_seconds = ping_seconds
        self._listening: set[asyncio.Event] = set()
        self._beats = 0
        self._known: tuple[int, object] | None = None
        self._is_over = False
        self._looking = Lock()

    @property
    def beats(self) -> int:
        """How often something changed that is in no file."""
        return self._beats

    def pulse(self) -> None:
        """Something changed that is in no file; may be called from any thread."""
        self._beats += 1

    def see(self, found: object) -> None:
        """Tell open pages where this, or what is in no file, is another than at the last look."""
        known, self._known = self._known, (self._beats, found)
        if known not in (None, self._known):
            self._tell()

    def close(self) -> None:
        """End all streams."""
        self._is_over = True
        self._tell()

    async def watch(self) -> None:
        """Look until it is over."""
        probes = list(self._probes())
        self.see(self._look(probes))  # before anybody is told where the logs end
        try:
            while not self._is_over:  # until the server ends
                await asyncio.sleep(LOOK_SECONDS)
                self.see(await asyncio.to_thread(self._look, probes))
        finally:
            with self._looking:  # a thread may still look
                for probe in probes:
                    probe.close()
                probes.clear()

    async def messages(self) -> AsyncIterator[bytes]:
        """A stream of server-sent events ``tail``, until the page or the server goes."""
        if len(self._listening) >= PAGES_MAX:
            return
        changed = asyncio.Event()
        self._listening.add(changed)
        try:
            yield b"retry: 1000\n\n"
            while not self._is_over:  # until the page goes
                changed.clear()  # before the look: what comes after it is told again
                tail = await asyncio.to_thread(self._tail)
                yield f"event: tail\ndata: {tail}\n\n".encode()
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), self._ping_seconds)
        finally:
            self._listening.discard(changed)

    def _look(self, probes: Sequence[ChangeProbe]) -> list[object]:
        """What each says. A server that is away says nothing new."""
        with self._looking, suppress(Refused):
            return [probe() for probe in probes]
        return []

    def _tell(self) -> None:
        for changed in self._listening:
            changed.set()

"""Tells open pages that something changed: one cheap look at both files for all of them.

SQLite's ``data_version`` of a connection changes when another one has committed. A message says
where the logs end now. A page knows where they ended before it was made: where the two differ it
asks for itself again. So nothing hangs on a single message: the first one of a stream, each change
and each ping say the same thing.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

LOOK_SECONDS = 0.4
PING_SECONDS = 15
PAGES_MAX = 64  # that listen at once


class Live:
    """The logs' pulse.

    Args:
        paths: The files to look at.
        tail: Where the logs end now; it may take a moment, hence it is called in a thread.
        ping_seconds: After how long without a change a page is told again where they end.
    """

    def __init__(
        self, paths: Sequence[Path], tail: Callable[[], str], ping_seconds: float = PING_SECONDS
    ) -> None:
        self._paths = paths
        self._tail = tail
        self._ping_seconds = ping_seconds
        self._listening: set[asyncio.Event] = set()
        self._beats = 0
        self._is_over = False

    @property
    def beats(self) -> int:
        """How often something changed that is in no file."""
        return self._beats

    def pulse(self) -> None:
        """Something changed that is in no file; may be called from any thread."""
        self._beats += 1

    def close(self) -> None:
        """End all streams."""
        self._is_over = True
        self._tell()

    async def watch(self) -> None:
        """Look until it is over."""
        connections = [_opened(path) for path in self._paths]
        known = _seen(connections), self._beats
        try:
            while not self._is_over:  # until the server ends
                await asyncio.sleep(LOOK_SECONDS)
                found = _seen(connections), self._beats
                if found != known:
                    known = found
                    self._tell()
        finally:
            for connection in connections:
                connection.close()

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

    def _tell(self) -> None:
        for changed in self._listening:
            changed.set()


def _opened(path: Path) -> sqlite3.Connection:
    name = f"file:{quote(str(path))}?mode=ro"
    return sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False)


def _seen(connections: Sequence[sqlite3.Connection]) -> tuple[int, ...]:
    with suppress(sqlite3.Error):
        return tuple(one.execute("PRAGMA data_version").fetchone()[0] for one in connections)
    return ()

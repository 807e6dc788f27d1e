"""Tells open pages that something changed: one cheap look at both files for all of them.

SQLite's ``data_version`` of a connection changes when another one has committed. A message says
only that there is something new; the page asks for itself again.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._listening: set[asyncio.Event] = set()
        self._beats = 0
        self._is_over = False

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

    async def messages(self, tail: Callable[[], Awaitable[str]]) -> AsyncIterator[bytes]:
        """A stream of server-sent events, until the page or the server goes.

        Args:
            tail: Where the logs end. It is told first, so that a page that was made before it
                listened finds out whether it missed something.
        """
        if len(self._listening) >= PAGES_MAX:
            return
        changed = asyncio.Event()
        self._listening.add(changed)
        try:
            yield f"retry: 1000\nevent: seen\ndata: {await tail()}\n\n".encode()
            while not self._is_over:  # until the page goes
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), PING_SECONDS)
                told = b"event: changed\ndata: 1\n\n" if changed.is_set() else b": still here\n\n"
                changed.clear()
                yield told
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

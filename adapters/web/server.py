"""Runs the page: alone in a process, or in a thread beside an engine.

Either way it has a thread of its own, and the main one waits for no other longer than a moment:
nothing that a page does may hold the end up, and all of it may be left as a crash leaves it.
"""

import logging
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Protocol

import uvicorn
from starlette.applications import Starlette

from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.site import Site
from domain.errors import Refused

SHUTDOWN_SECONDS = 2
LOOK_SECONDS = 0.05
END_SECONDS = 0.4  # that pages being made are given to end
THREAD = "wakelog-page"
_STOPS = (signal.SIGINT, signal.SIGTERM)


class Served(Protocol):
    """What a server shows: one home, or many."""

    @property
    def lost(self) -> Refused | None:
        """Why there is nothing more to show."""

    def hush(self) -> None: ...
    def stop(self) -> None: ...


class PageServer(uvicorn.Server):
    """A server of one home or of many. Streams to open pages end when it is told to end."""

    def __init__(self, served: Served, app: Starlette) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._served = served

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._served.hush()  # else each open page would hold the end up, and be cut off
        await super().shutdown(sockets)

    def begin(self, sockets: list[socket.socket]) -> Thread:
        """Serve in a thread. Signals stay with whoever has the main one."""
        thread = Thread(target=self._until_told, args=(sockets,), daemon=True, name=THREAD)
        thread.start()
        return thread

    def _until_told(self, sockets: list[socket.socket]) -> None:
        """Serve until it is told to end. Who comes to listen later than that finds all closed."""
        try:
            super().run(sockets)
        except (OSError, sqlite3.Error):
            if not self.should_exit:
                raise

    def end(self, thread: Thread) -> None:
        """Tell it to end, and give it a moment for that."""
        self._served.stop()
        self.should_exit = True
        thread.join(END_SECONDS)
        if thread.is_alive():  # from here on it is left as a crash leaves it, and says nothing
            logging.getLogger("uvicorn.error").disabled = True

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until Ctrl-C or SIGTERM; a second one changes nothing."""
        for number in _STOPS:
            signal.signal(number, self._stop)
        thread = self.begin(sockets or [])
        while thread.is_alive() and not (self.should_exit or self._served.lost):
            thread.join(LOOK_SECONDS)  # until it is told to end
        if self._served.lost:
            self.end(thread)
            raise self._served.lost
        if not self.should_exit:
            raise SystemExit(1)  # why it ended was said
        self.end(thread)

    def _stop(self, *_: object) -> None:
        self.should_exit = True  # and no exception: in `join` it would take the thread for ended


@contextmanager
def beside(site: Site, guard: Guard, listening: socket.socket) -> Iterator[None]:
    """Serve a site in a thread as long as something else goes on here."""
    server = PageServer(site, make_app(site, guard))
    thread = server.begin([listening])
    try:
        yield
    finally:
        server.end(thread)


def closed(site: Site, listening: socket.socket, seconds: float) -> None:
    """Give wakes and proofs that run so much time to end, then close all."""
    site.stop()
    site.jobs.wait(seconds)
    site.close()
    listening.close()

"""Runs the page: alone in a process, or in a thread beside an engine.

Either way it has a thread of its own, and the main one waits for no other longer than a moment:
nothing that a page does may hold the end up, and all of it may be left as a crash leaves it.
"""

import asyncio
import logging
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import Any, Protocol

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.site import Site
from domain.errors import Refused

SHUTDOWN_SECONDS = 2
PATIENCE_SECONDS = 10.0  # for a header, and for each part of a form
BODY_LEAST = 10_000  # bytes of a form in that time
WAITING_MAX = 64  # connections without a whole header
BACKLOG = 128  # connections that are let in at once
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


class BoundedConnection(H11Protocol):
    """A connection that does not wait for ever for a request. Who has sent no whole header after
    ten seconds, or then too little of a form in any ten, is cut off; and of too many that have
    sent no whole header yet, the oldest one.

    Args:
        waiting: Those of its server that have sent none yet, the oldest first.
        more: What uvicorn gives.
    """

    def __init__(self, *, waiting: "dict[BoundedConnection, None]", **more: Any) -> None:
        super().__init__(**more)
        self._waiting = waiting
        self._timer: asyncio.TimerHandle | None = None
        self._came = 0  # bytes, since the timer was set

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()
        cut_oldest(self._waiting, WAITING_MAX)

    def data_received(self, data: bytes) -> None:
        self._came += len(data)
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.IDLE:
            self._wait()
            return
        is_in_body, was_waiting = state is h11.SEND_BODY, self._waiting.pop(self, 1) is None
        if self._timer and (was_waiting or not is_in_body):
            self._timer.cancel()
            self._timer = None
        if is_in_body and self._timer is None:
            self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.pop(self, None)
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """For a header: what of it came before is no reason to wait longer."""
        if self not in self._waiting:
            self._waiting[self] = None
            self._set_timer()

    def _set_timer(self) -> None:
        self._came = 0
        self._timer = self.loop.call_later(PATIENCE_SECONDS, self._late)

    def _late(self) -> None:
        is_body_coming = self not in self._waiting and self._came >= BODY_LEAST
        if is_body_coming or self.flow.read_paused:
            self._set_timer()
        else:
            self.transport.abort()


def cut_oldest(waiting: "dict[BoundedConnection, None]", most: int) -> None:
    """Leave so many connections that have sent no whole header, the newest."""
    for one in [*waiting][: max(0, len(waiting) - most)]:
        del waiting[one]
        one.transport.abort()


class PageServer(uvicorn.Server):
    """A server of one home or of many. Streams to open pages end when it is told to end."""

    def __init__(self, served: Served, app: ASGIApp) -> None:
        self._waiting: dict[BoundedConnection, None] = {}
        protocol: Any = partial(BoundedConnection, waiting=self._waiting)
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol,
                ws="none",
                backlog=BACKLOG,
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._served = served

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._troubled)
        await super().startup(sockets)

    def _troubled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Where no more connections can be accepted, which is tried again a second later, those
        that wait for nothing go, and one line says so."""
        if not context["message"].startswith("socket.accept()"):
            loop.default_exception_handler(context)
            return
        cut_oldest(self._waiting, 0)
        logging.getLogger("uvicorn.error").warning("Too many files are open to let anybody in.")

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

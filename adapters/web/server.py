"""Runs the page: alone in a process, or in a thread beside an engine."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn

from adapters.web.app import make_app
from adapters.web.guard import Guard
from adapters.web.site import Site

GRACE_SECONDS = 2


class PageServer(uvicorn.Server):
    """A server of one home. Streams to open pages end at once when it is told to end."""

    def __init__(self, site: Site, guard: Guard) -> None:
        super().__init__(
            uvicorn.Config(
                make_app(site, guard),
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._site.live.close()  # else each open page would hold the end up, and be cut off
        await super().shutdown(sockets)


@contextmanager
def beside(site: Site, guard: Guard, listening: socket.socket) -> Iterator[None]:
    """Serve a site in a thread as long as something else goes on here.

    Signals stay with whoever has the main thread.
    """
    server = PageServer(site, guard)
    thread = Thread(target=server.run, args=([listening],), daemon=True, name="wakelog-page")
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def closed(site: Site, listening: socket.socket, seconds: float) -> None:
    """Give wakes and proofs that run so much time each to end, then close all."""
    site.jobs.wait(seconds)
    site.close()
    listening.close()

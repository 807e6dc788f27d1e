"""A worker's health over HTTP, for load balancers, compose and Kubernetes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.documents.homes import WorkerHealth

LIVE = "/live"
READY = "/ready"
END_SECONDS = 1  # that an answer under way is given


class _Server(uvicorn.Server):
    """Signals are the worker's."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def answered(
    health: Callable[[], WorkerHealth], listening: socket.socket | None
) -> AsyncIterator[None]:
    """Answer on a socket, in this loop: one that hangs is not alive, and gives no answer."""
    if listening is None:
        yield
        return
    config = uvicorn.Config(
        _app(health),
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=END_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve([listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.gather(serving, return_exceptions=True)


def _app(health: Callable[[], WorkerHealth]) -> Starlette:
    async def answer(request: Request) -> Response:
        found = health()
        is_good = found.ok or request.url.path == LIVE
        status = HTTPStatus.OK if is_good else HTTPStatus.SERVICE_UNAVAILABLE
        return Response(msgspec.json.encode(found), status, media_type="application/json")

    return Starlette(routes=[Route(LIVE, answer), Route(READY, answer)])

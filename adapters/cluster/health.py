"""How a worker or a page is, over HTTP on a port of its own: for load balancers, compose and
Kubernetes (`/live`, `/ready`), and for Prometheus (`/metrics`)."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from threading import Thread

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.cluster.status import details_of
from adapters.documents.homes import PageHealth, WorkerHealth
from adapters.store.postgres.database import Database
from adapters.telemetry.metrics import Numbers
from domain.errors import WakelogError

LIVE = "/live"
READY = "/ready"
METRICS = "/metrics"
END_SECONDS = 1  # that an answer under way is given
SILENT_SECONDS = 10  # of a page's loop, until it is not alive


class _Server(uvicorn.Server):
    """Signals are the worker's."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def answered(
    health: Callable[[], WorkerHealth], numbers: Numbers, listening: socket.socket | None
) -> AsyncIterator[None]:
    """Answer on a socket, in this loop: one that hangs is not alive, and gives no answer."""
    if listening is None:
        yield
        return

    async def told(request: Request) -> Response:
        return _told(request, health(), is_alive=True)

    server = _server(told, numbers)
    serving = asyncio.create_task(server.serve([listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.gather(serving, return_exceptions=True)


@contextmanager
def beside(
    database: Database, looked: Callable[[], float], numbers: Numbers, listening: socket.socket
) -> Iterator[None]:
    """Answer on a socket for a page, in a thread. `looked`: when its loop went round last."""

    def told(request: Request) -> Response:
        is_alive = time.monotonic() - looked() < SILENT_SECONDS
        trouble = None if is_alive else "it answers nobody any more"
        if is_alive and request.url.path == READY:
            try:
                database.reach()
            except WakelogError as error:
                trouble = error.because
        return _told(request, PageHealth(trouble is None, trouble), is_alive=is_alive)

    server = _server(told, numbers)
    thread = Thread(target=server.run, args=([listening],), daemon=True, name="wakelog-health")
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(END_SECONDS)


def _server(told: Callable[[Request], object], numbers: Numbers) -> _Server:
    def metrics(_: Request) -> Response:
        return Response(numbers.text(), headers={"content-type": numbers.type})

    routes = [Route(LIVE, told), Route(READY, told), Route(METRICS, metrics)]
    config = uvicorn.Config(
        Starlette(routes=routes),
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=END_SECONDS,
    )
    return _Server(config)


def _told(request: Request, found: WorkerHealth | PageHealth, *, is_alive: bool) -> Response:
    is_good = found.ok or (is_alive and request.url.path == LIVE)
    status = HTTPStatus.OK if is_good else HTTPStatus.SERVICE_UNAVAILABLE
    return Response(msgspec.json.encode(found), status, media_type="application/json")


# ------------------------------------------------------------------------------------- the numbers

Gauges = dict[tuple[str, str, str], dict[str, float]]


def pool_gauges(database: Database) -> Gauges:
    """What this process has of the database: connections, and who waits for one."""
    stats = database.pool_stats()
    found = {name: float(stats.get(f"pool_{name}", 0)) for name in ("size", "available", "max")}
    waiting = {"": float(stats.get("requests_waiting", 0))}
    return {
        ("pool_connections", "Connections of this process to the database.", "state"): found,
        ("pool_waiting", "Who waits for a connection.", ""): waiting,
    }


def cluster_gauges(database: Database) -> Gauges:
    """The same, and how all homes of it are: as a worker's login sees them."""
    found = pool_gauges(database)
    up = "database_up", "Whether the database answers.", ""
    try:
        of = details_of(database)
    except WakelogError:
        return {**found, up: {"": 0.0}}
    homes = {name: float(getattr(of.homes, name)) for name in of.homes.__struct_fields__}
    held = {one.id: float(one.homes) for one in of.workers}
    oldest = "oldest_due_seconds", "How long the home waits that waits longest.", ""
    return {
        **found,
        up: {"": 1.0},
        ("homes", "Homes of the database.", "state"): homes,
        oldest: {"": of.oldest_due_seconds or 0.0},
        ("workers", "Workers that live.", ""): {"": float(len(of.workers))},
        ("worker_homes", "Homes that a worker tends.", "worker"): held,
        ("stalled", "Homes whose worker is gone.", ""): {"": float(of.stalled)},
        ("queue_jobs", "Homes in the queue.", "status"): dict(of.queue),
    }

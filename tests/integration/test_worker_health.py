"""A worker tells over HTTP how it is: to load balancers, compose and Kubernetes."""

import asyncio
import json
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from adapters.cluster.worker import Worker, WorkerOptions
from adapters.documents.schemas import schema_of
from adapters.launch import bound
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from tests.support.cli import refused
from tests.support.cutting import PLAINLY, Line, line_to
from tests.support.postgres import database

pytestmark = pytest.mark.slow
STOPPING = "it is stopping, and takes no home any more"
AWAY = "its database does not answer"
SILENT = "it could not say for a whole lease that it lives"
ROUNDS = 600
SECONDS = 30


@pytest.fixture
def line(postgres: str) -> Iterator[tuple[str, Line]]:
    """A database behind a line that can be cut."""
    with database(postgres) as url, line_to(int(url.rpartition(":")[2].partition("/")[0])) as found:
        name = url.rpartition("/")[2]
        yield f"postgresql://owner@127.0.0.1:{found.port}/{name}?{PLAINLY}", found


def got(port: int, path: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=SECONDS) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


async def until(port: int, status: int) -> Any:
    """Wait until it says so; the document."""
    for _ in range(ROUNDS):
        found, document = await asyncio.to_thread(got, port, "/ready")
        if found == status:
            return document
        await asyncio.sleep(0.05)
    raise AssertionError(f"it never answered with {status}")


async def looked_at(worker: Worker, listening: socket.socket, line: Line) -> list[Any]:
    """What it says while it works, while its database is away, when that is back, and at the end;
    and whether it lives all along."""
    port = listening.getsockname()[1]
    running = asyncio.create_task(worker.run(listening))
    found = [await until(port, 200)]
    line.take_down()
    found.append(await until(port, 503))
    status, document = await asyncio.to_thread(got, port, "/live")
    assert (status, document["ok"]) == (200, False)
    line.put_up()
    found.append(await until(port, 200))
    signal.raise_signal(signal.SIGTERM)
    await running
    with pytest.raises(urllib.error.URLError):
        await asyncio.to_thread(got, port, "/ready")
    return found


def test_a_worker_is_ready_while_it_works_and_its_database_answers(line: tuple[str, Line]) -> None:
    url, cut = line
    opened = Database(url)
    worker = Worker(
        Homes(opened),
        lambda _: pytest.fail("no home"),
        WorkerOptions(lease=2),
        lambda *_, **__: None,
        {},
    )
    with bound("127.0.0.1", 0) as listening:
        working, away, again = asyncio.run(looked_at(worker, listening, cut))
    opened.close()
    jsonschema.validate(working, schema_of("worker-health") or {})
    assert (working["trouble"], again["trouble"]) == (None, None)
    assert away["trouble"] in (AWAY, SILENT)  # whichever is noticed first
    assert working["worker"]["id"] == worker.owner
    assert working["worker"]["homes"] == 0
    assert worker.health().trouble == STOPPING


def test_a_port_that_is_taken_is_told_in_one_line(line: tuple[str, Line]) -> None:
    env = {"WAKELOG_DATABASE": line[0]}
    with bound("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        said = refused(["worker", "--health", str(port)], "-", env=env)
    assert f"127.0.0.1:{port} cannot be listened on: Address already in use" in said
    assert "choose another one with --health or --host" in said
    assert "add --health PORT" in refused(["worker", "--host", "0.0.0.0"], "-", env=env)

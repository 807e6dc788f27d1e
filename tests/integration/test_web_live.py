"""What open pages are told: at once, after each change, and again should nothing happen."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from adapters.store.sqlite_files import FileProbe
from adapters.web.site import Site
from adapters.web.sse import EventBroadcast
from tests.support.cli import FIXED, done
from tests.support.pages import visiting
from tests.support.waking import proposing

BOUND = 30.0  # seconds that nothing here takes
NEVER = 2 * BOUND


class Ends:
    """Where the logs end."""

    def __init__(self) -> None:
        self.at = 1

    def __call__(self) -> str:
        return f"run-{self.at}"


def listening(
    live: EventBroadcast, work: Callable[[AsyncIterator[bytes]], Coroutine[Any, Any, None]]
) -> None:
    """Do something with a stream of messages while the files are watched."""

    async def both() -> None:
        watching = asyncio.create_task(live.watch())
        try:
            async with asyncio.timeout(BOUND):
                await work(live.messages())
        finally:
            live.close()
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    asyncio.run(both())


async def told(stream: AsyncIterator[bytes]) -> str:
    """The data of the next message."""
    async for message in stream:
        for line in message.decode().splitlines():
            if line.startswith("data: "):
                return line.removeprefix("data: ")
    return "over"


def test_a_commit_of_another_connection_is_told(tmp_path: Path) -> None:
    file, ends = tmp_path / "log.db", Ends()
    with sqlite3.connect(file) as writing:
        writing.execute("CREATE TABLE t (x)")

    async def work(stream: AsyncIterator[bytes]) -> None:
        assert await told(stream) == "run-1"
        waiting = asyncio.ensure_future(told(stream))
        await asyncio.sleep(0)
        ends.at = 2
        writing.execute("INSERT INTO t VALUES (1)")
        writing.commit()
        assert await waiting == "run-2"

    listening(EventBroadcast(lambda: [FileProbe(file)], ends, NEVER), work)
    writing.close()


def test_what_changed_in_no_file_is_told() -> None:
    ends = Ends()
    live = EventBroadcast(list, ends, NEVER)

    async def work(stream: AsyncIterator[bytes]) -> None:
        assert await told(stream) == "run-1"
        ends.at = 2
        live.pulse()  # nobody waits for the next message now
        assert await told(stream) == "run-2"

    listening(live, work)


def test_without_a_change_it_is_told_again() -> None:
    async def work(stream: AsyncIterator[bytes]) -> None:
        for _ in range(3):
            assert await told(stream) == "run-1"

    listening(EventBroadcast(list, Ends(), ping_seconds=0.01), work)


def test_a_stream_ends_with_the_server() -> None:
    live = EventBroadcast(list, Ends())

    async def work(stream: AsyncIterator[bytes]) -> None:
        assert await told(stream) == "run-1"
        live.close()
        assert await told(stream) in ("over", "run-1")
        assert await told(stream) == "over"

    listening(live, work)


def test_a_page_never_names_a_later_end_than_it_was_made_from(tmp_path: Path) -> None:
    """Else a change between reading the views and naming the end would never be asked for."""
    proposing(tmp_path)
    site = Site(tmp_path, FIXED)
    try:
        site.catch_up()
        seen, glance = site.seen, site.glance()
        done(["reject", "1.1"], tmp_path)
        assert site.seen == seen != site.tail()
        assert site.glance() == glance
        site.catch_up()
        assert site.seen == site.tail()
        assert site.glance().waiting == glance.waiting - 1
    finally:
        site.close()


def test_another_run_of_the_server_makes_every_open_page_ask_again(tmp_path: Path) -> None:
    """Its forms carry tokens of the run before."""
    tails = []
    for _ in range(2):
        with visiting(tmp_path) as visitor:
            tails.append(visitor.page("/inbox").partition('data-tail="')[2].partition('"')[0])
    assert tails[0] != tails[1]


class Slow:
    """Looks for a while in its thread, but for the first time; knows if it is closed meanwhile."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.is_first, self.is_looking, self.closed = True, False, ""

    def __call__(self) -> object:
        assert not self.closed
        if self.is_first:
            self.is_first = False
            return 0
        self.is_looking = True
        self.begun.set()
        self.may_end.wait(BOUND)
        self.is_looking = False
        return 0

    def close(self) -> None:
        self.closed = "in the middle of a look" if self.is_looking else "after it"


def test_no_connection_is_closed_while_a_thread_looks_by_it() -> None:
    """SQLite would crash the process."""
    probe = Slow()

    async def work() -> None:
        watching = asyncio.create_task(EventBroadcast(lambda: [probe], Ends()).watch())
        assert await asyncio.to_thread(probe.begun.wait, BOUND)
        watching.cancel()
        threading.Timer(0.05, probe.may_end.set).start()  # the loop itself waits for the look
        with suppress(asyncio.CancelledError):
            await watching

    asyncio.run(work())
    assert probe.closed == "after it"

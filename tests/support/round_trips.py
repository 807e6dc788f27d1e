"""A wire to a database that is far away: it hands bytes on later, and counts who waits for whom."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from urllib.parse import urlsplit, urlunsplit

_END = b"X"  # said by who leaves, and waits for no answer
_TEXT = re.compile(rb"[\x20-\x7e\n]{5,}")


class Wire:
    """What went over it. A round trip begins where somebody sends who had an answer, or begins: who
    sends several things at once, or before the answer is there, waits once. The handshake of TCP is
    the system's and not counted, the start of a connection is: its question for TLS, and its login.

    `url`: the database's, by this wire; `trips`: what each trip began with, as bytes."""

    def __init__(self, url: str, seconds: float) -> None:
        self._there, self._seconds = urlsplit(url), seconds
        self.url = ""
        self.trips: list[bytes] = []
        self.is_ready = Event()
        self._ends: list[asyncio.StreamWriter] = []

    def told(self) -> list[str]:
        """What was asked in each trip, in words, to be read by who wants fewer."""
        return [b" | ".join(_TEXT.findall(one)).decode() for one in self.trips]

    async def run(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._joined, "127.0.0.1")
        place, port = self._there, server.sockets[0].getsockname()[1]
        user = f"{place.netloc.rpartition('@')[0]}@" if "@" in place.netloc else ""
        self.url = urlunsplit(place._replace(netloc=f"{user}127.0.0.1:{port}"))
        self.is_ready.set()
        async with server:
            await self._ended.wait()
            for one in self._ends:
                one.transport.abort()
            await asyncio.sleep(0)  # they are closed in the loop's next turn

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)

    async def _joined(self, here: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        there, onward = await asyncio.open_connection(self._there.hostname, self._there.port)
        self._ends += [back, onward]
        is_answered = True

        def answer(data: bytes) -> None:
            nonlocal is_answered
            is_answered = True
            back.write(data)

        async def answers() -> None:
            while data := await there.read(65536):
                self._loop.call_later(self._seconds, answer, data)
            self._loop.call_later(self._seconds, back.close)

        answering = asyncio.create_task(answers())
        while data := await here.read(65536):
            if is_answered and not data.startswith(_END):
                self.trips.append(data)
                is_answered = False
            elif not data.startswith(_END):
                self.trips[-1] += data
            self._loop.call_later(self._seconds, onward.write, data)
        self._loop.call_later(self._seconds, onward.close)
        with suppress(asyncio.CancelledError):  # the wire is taken down
            await answering


@contextmanager
def wire(url: str, seconds: float = 0.005) -> Iterator[Wire]:
    """A wire to a database at a TCP address, of so many seconds each way."""
    made = Wire(url, seconds)
    running = Thread(target=lambda: asyncio.run(made.run()), daemon=True)
    running.start()
    made.is_ready.wait()
    try:
        yield made
    finally:
        made.end()
        running.join()

"""A line to PostgreSQL that can be cut: a proxy which ends a connection at a chosen message.

It counts whole questions and answers of the protocol, not what a socket happens to hand over at
once. The address must say ``sslmode=disable&gssencmode=disable``: what asks for them is shorter.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import BinaryIO, Literal

LENGTH = 4  # bytes that say how long a message is, themselves included
LAST = {"asked": b"SQX", "answered": b"Z"}  # the messages that end a question, an answer
PLAINLY = "sslmode=disable&gssencmode=disable"
Side = Literal["", "asked", "answered"]


class Line:
    """Forwards to `port`, until so many questions or answers went by since `cut`."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._lock = threading.Lock()
        self._side: Side = ""
        self._left = 0
        self._is_down = False
        self._sockets: list[socket.socket] = []
        self._flows = threading.Event()
        self._flows.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def take_down(self) -> None:
        """End all connections, and let no other through until it is put up again."""
        with self._lock:
            self._is_down, ended = True, self._sockets
            self._sockets = []
        _end(*ended)

    def put_up(self) -> None:
        with self._lock:
            self._is_down = False

    def fall_silent(self) -> None:
        """Hand nothing on, and end nothing: what is sent is as if lost, until it flows again."""
        self._flows.clear()

    def flow(self) -> None:
        self._flows.set()

    def cut(self, side: Side, nth: int) -> None:
        """End the connection at the nth question from now, or answer: it is not handed on any
        more."""
        with self._lock:
            self._side, self._left = side, nth

    @property
    def is_whole(self) -> bool:
        """Whether what was to be cut was not."""
        return self._side != ""

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:  # until it is closed
            try:
                ours, _ = self._listening.accept()
            except OSError:
                return
            if not self._is_let_through(ours):
                ours.close()
                continue
            theirs = socket.create_connection(("127.0.0.1", self._target))
            for side, source, sink in (("asked", ours, theirs), ("answered", theirs, ours)):
                threading.Thread(
                    target=self._forward, args=(side, source, sink), daemon=True
                ).start()

    def _is_let_through(self, ours: socket.socket) -> bool:
        with self._lock:
            self._sockets.append(ours)
            return not self._is_down

    def _forward(self, side: str, source: socket.socket, sink: socket.socket) -> None:
        with closing(source), closing(sink), suppress(OSError):
            for whole in _messages(source, side):
                self._flows.wait()
                if self._is_cut(side):
                    break
                sink.sendall(whole)
            _end(source, sink)

    def _is_cut(self, side: str) -> bool:
        with self._lock:
            if side != self._side:
                return False
            self._left -= 1
            if self._left >= 0:
                return False
            self._side = ""
            return True


def _messages(source: socket.socket, side: str) -> Iterator[bytes]:
    """Questions or answers, each in one piece; the first thing asked has no letter before it."""
    with source.makefile("rb") as stream:
        found = _rest(stream) if side == "asked" else b""
        if found:
            yield found
        found = b""
        while letter := stream.read(1):
            found += letter + _rest(stream)
            if letter in LAST[side]:
                yield found
                found = b""
        yield found  # the server's last words are no answer


def _rest(stream: BinaryIO) -> bytes:
    """What a message says after its letter; of a line that ends within it, what came."""
    length = stream.read(LENGTH)
    return length + stream.read(max(int.from_bytes(length) - LENGTH, 0))


def _end(*sockets: socket.socket) -> None:
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(port: int) -> Iterator[Line]:
    made = Line(port)
    yield made
    made.close()

"""A page that is served to others: who sends half a request keeps nobody else out."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.waking import proposing

pytestmark = pytest.mark.e2e

FILES_MAX = 1_024
MANY = 900
ANSWER_SECONDS = 20  # who is in the way holds it up for minutes


class Server:
    """A real one in a process of its own, which may open so many files."""

    def __init__(self, home: Path) -> None:
        serve = f"{sys.executable} -m adapters.cli.main --home {home} serve --port 0"
        self._process = subprocess.Popen(
            ["sh", "-c", f"ulimit -n {FILES_MAX}; exec {serve}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip().rstrip("/")
        parts = urlsplit(self.address)
        self.place = parts.hostname or "", parts.port or 0

    def connection(self, sent: bytes) -> socket.socket:
        made = socket.create_connection(self.place, timeout=20)
        made.sendall(sent)
        return made

    def answers(self) -> bool:
        """Whether the inbox is shown in time."""
        inbox = f"{self.address}/inbox"
        with urllib.request.urlopen(inbox, timeout=ANSWER_SECONDS) as answer:
            return bool(answer.status == 200)

    def ended(self) -> list[str]:
        """The lines that it said besides its address."""
        self._process.terminate()
        _, said = self._process.communicate(timeout=60)
        return [one for one in said.splitlines() if not one.startswith("Serving ")]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    proposing(tmp_path)
    found = Server(tmp_path)
    yield found
    found.ended()


def is_cut(one: socket.socket, within: float) -> bool:
    """Whether the other side ends a connection in so many seconds."""
    one.settimeout(within)
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_nine_hundred_half_requests_keep_nobody_out(server: Server) -> None:
    with ExitStack() as open_ones:
        half = [
            open_ones.enter_context(closing(server.connection(b"GET /inbox HTTP/1.1\r\nHo")))
            for _ in range(MANY)
        ]
        assert all(server.answers() for _ in range(10))
        assert is_cut(half[0], 1)
        assert not is_cut(half[-1], 0.1)
    assert server.ended() == []


@pytest.mark.slow
def test_a_half_request_and_half_a_form_are_cut_off_after_ten_seconds(server: Server) -> None:
    host = b"Host: %s:%d\r\n" % (server.place[0].encode(), server.place[1])
    form = b"POST /inbox/decide HTTP/1.1\r\n" + host + b"Content-Length: 500\r\n\r\nref="
    with (
        closing(server.connection(b"GET /inbox HTTP/1.1\r\n" + host)) as header,
        closing(server.connection(form)) as body,
    ):
        for _ in range(4):  # a byte now and then is no reason to wait
            time.sleep(2)
            header.sendall(b"x")
            body.sendall(b"x")
        assert not is_cut(header, 0.1)
        assert is_cut(header, 5)
        assert is_cut(body, 5)
    assert server.ended() == ["WARNING:  Somebody left before all of a form came."]


def test_who_leaves_in_the_middle_of_a_form_is_one_line(server: Server) -> None:
    host = b"Host: %s:%d\r\n" % (server.place[0].encode(), server.place[1])
    form = b"POST /inbox/decide HTTP/1.1\r\n" + host + b"Content-Length: 500\r\n\r\nref="
    server.connection(form).close()
    assert server.answers()
    assert server.ended() == ["WARNING:  Somebody left before all of a form came."]

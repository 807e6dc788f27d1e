"""Receivers of notices: a program that keeps what it reads, a web server on this machine, and one
in this process."""

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from adapters.notify.notices import Message
from adapters.notify.notifier import Notifier

_SCRIPT = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"


def program(kept: Path) -> list[str]:
    """A command that adds what it is given to a file, one line for each time it is run."""
    return [sys.executable, "-c", _SCRIPT, str(kept)]


def read(kept: Path) -> list[Any]:
    """What a program was given, the oldest first."""
    return [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []


def settings(home: Path, *lines: str) -> None:
    """Settings of a home that name receivers."""
    home.mkdir(exist_ok=True)
    text = "\n".join(["[notify]", *lines, ""])
    (home / "settings.toml").write_text(text, encoding="utf-8")


class Posted(NamedTuple):
    """What was posted: the path, headers with names in lower case, and the body."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Keeps what it is sent, and answers with the statuses that it was given, the last for ever.
    A status of 0 never answers; one of 300 and more names another place of the same server."""

    def __init__(self, *statuses: int) -> None:
        self.posted: list[Posted] = []
        self.statuses = list(statuses or (204,))
        self.url = ""
        self.ended = threading.Event()

    def answer(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def receiver(*statuses: int) -> Iterator[Receiver]:
    """A receiver that listens until the block ends."""
    kept = Receiver(*statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            kept.posted.append(Posted(self.path, headers, body))
            status = kept.answer()
            if not status:
                kept.ended.wait()
                return
            self.send_response(status)
            if status // 100 == 3:
                self.send_header("location", f"{kept.url}/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's
            """Nothing is printed."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    kept.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield kept
    finally:
        kept.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


class Kept:
    """A receiver in this process that keeps what it is told. The next delivery ends as `ends`
    says: answered, failed, or, as if the process were killed, before or after it was heard."""

    name = "command"
    shown = "kept"
    identity = "kept here"

    def __init__(self) -> None:
        self.heard: list[Message] = []
        self.ends = "answered"

    def send(self, message: Message) -> str:
        if self.ends == "killed before":
            raise SystemExit  # ends the thread, and nothing else is said or written
        if self.ends != "failed":
            self.heard.append(message)
        if self.ends == "killed after":
            raise SystemExit
        return "it is away" if self.ends == "failed" else ""

    def cancel(self) -> None:
        """It never hangs."""


def tells_nobody(event: str, level: str = "info", **fields: object) -> None:
    """The log of a run that nobody reads."""


def delivered(notifier: Notifier) -> None:
    """Let a notifier look, and wait until what it began has ended."""
    notifier.look()
    while notifier.is_busy:
        time.sleep(0.0005)

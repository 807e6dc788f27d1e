"""A local HTTP server that answers from a script, and keeps what it was sent.

A provider's own server says what the real one refuses, and how it streams what is said whole.
"""

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeVar

CLOSING_SECONDS = 10
THINKING_SECONDS_MAX = 60


class Sent(NamedTuple):
    """A request as it came over the wire."""

    path: str
    headers: dict[str, str]
    body: Any

    @property
    def contents(self) -> Any:
        return self.body["contents"]

    @property
    def calling(self) -> Any:
        return self.body["toolConfig"]["functionCallingConfig"]


class Answer(NamedTuple):
    """What the server says. `seconds`: it thinks so long; `until`: until that is set; `is_dropped`:
    it hangs up instead; `cut_bytes`: so many bytes of the body are announced and never sent;
    `drip_seconds`: it waits so long before each byte.

    Where it is streamed: after `breaks_after` pieces, if any, it sends `then` as one, or breaks
    off within the next piece; `drip_seconds` are between pieces. `is_whole`: it is not."""

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json; charset=UTF-8"
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    is_dropped: bool = False
    cut_bytes: int = 0
    drip_seconds: float = 0.0
    breaks_after: int = 0
    then: bytes = b""
    is_whole: bool = False
    until: threading.Event | None = None


def page(status: int = 200, words: str = "Sign in to this network") -> Answer:
    """An HTML page of something on the way."""
    html = f"<!DOCTYPE html><html><body><h1>{words}</h1></body></html>"
    return Answer(html.encode(), status, "text/html")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for head and body: unbuffered they wait 40 ms for each other
    disable_nagle_algorithm = True
    server: "ScriptedServer"

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.looked.append(Sent(self.path, headers, None))
        self._say(self.server.listing)

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        headers = {name.lower(): value for name, value in self.headers.items()}
        sent = Sent(self.path, headers, json.loads(self.rfile.read(size)))
        said = self.server.take(sent)
        is_good = said.status == HTTPStatus.OK and not said.is_whole and _is_json(said.body)
        self._say(said, is_streamed=self.server.is_streamed(sent) and is_good)

    def _say(self, said: Answer, *, is_streamed: bool = False) -> None:
        if said.seconds:
            self.server.closing.wait(said.seconds)
        if said.until:
            said.until.wait(THINKING_SECONDS_MAX)
        if said.is_dropped:
            self.close_connection = True
            return
        if is_streamed:
            self._stream(said)
            return
        self.send_response(said.status)
        self.send_header("content-type", said.content_type)
        self.send_header("content-length", str(len(said.body) + said.cut_bytes))
        for name, value in said.headers:
            self.send_header(name, value)
        self.end_headers()
        for byte in said.body if said.drip_seconds else b"":
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            self.server.closing.wait(said.drip_seconds)
        self.wfile.write(b"" if said.drip_seconds else said.body)
        if said.cut_bytes:
            self.close_connection = True

    def _stream(self, said: Answer) -> None:
        """Server-sent events, each in a chunk of its own."""
        self.send_response(said.status)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for nth, piece in enumerate(self.server.pieces(said.body)):
            is_broken = 0 < said.breaks_after <= nth
            self._chunk(b"data: " + (said.then if is_broken and said.then else piece))
            if is_broken and said.then:
                break
            if is_broken or said.cut_bytes:
                self.close_connection = True
                return
            self._chunk(b"\r\n\r\n")
            self.server.closing.wait(said.drip_seconds)
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  named as the base does
        """Say nothing."""


class ScriptedServer(ThreadingHTTPServer):
    """Answers with its script, one entry a request; `sent` is what it was asked. `listing` is what
    it says to a GET, of which it was `looked` at."""

    daemon_threads = True
    request_queue_size = 512  # five, the default, lose connections when many come at once

    def __init__(self, script: Sequence[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.sent: list[Sent] = []
        self.listing = Answer(b"404 page not found", 404, "text/plain")
        self.looked: list[Sent] = []
        self.broken: list[str] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def take(self, sent: Sent) -> Answer:
        """Keep a request, and give the answer to it."""
        with self._lock:
            self.sent.append(sent)
            if not self.has_key(sent):
                return self.unknown_key()
            if wrong := next(self.wrongs(sent), ""):
                self.broken.append(wrong)
                return self.refusal(wrong)
            if len(self.sent) > len(self.script):
                self.broken.append("more requests than the script has answers")
                return self.refusal("the script is over")
            return self.script[len(self.sent) - 1]

    def has_key(self, sent: Sent) -> bool:
        """Whether a request came with the key."""
        raise NotImplementedError

    def unknown_key(self) -> Answer:
        """What is said to one without."""
        raise NotImplementedError

    def refusal(self, message: str) -> Answer:
        """What is said to a request that is wrong."""
        raise NotImplementedError

    def wrongs(self, sent: Sent) -> Iterator[str]:
        """What the real server would refuse a request for."""
        raise NotImplementedError

    def is_streamed(self, sent: Sent) -> bool:
        """Whether the answer shall come in pieces."""
        raise NotImplementedError

    def pieces(self, body: bytes) -> list[bytes]:
        """The pieces in which an answer comes."""
        raise NotImplementedError

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who was asked and is not there any more is no error; the rest fails the test."""
        fault = sys.exception()
        if not isinstance(fault, BrokenPipeError | ConnectionResetError):
            self.broken.append(repr(fault))


Kind = TypeVar("Kind", bound=ScriptedServer)


@contextmanager
def served(server: Kind) -> Iterator[Kind]:
    """A server at work; what it had to refuse or could not handle fails the test."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join(CLOSING_SECONDS)
    assert server.broken == [], server.broken[:5]


def _is_json(body: bytes) -> bool:
    """Whether a body is an answer that can be streamed; what is broken is sent as it is."""
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False

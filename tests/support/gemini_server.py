"""A local HTTP server that speaks Gemini's REST API, as far as agents use it.

It answers from a script, keeps what it was sent, and refuses what the real one refuses: a wrong
key, a turn whose calls are not all answered in one content, a first call without the signature
that came with it. What it says in one piece it also streams: see `pieces`.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeVar

KEY = "AIzaSyFake-Key_0123456789abcdefghijklmn"
MODEL = "gemini-3.1-pro-preview"
PATH = f"/v1beta/models/{MODEL}:generateContent"
STREAM_PATH = f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
SIGNATURE = "Q2+/w8Pz+//7/w=="
"""Base64 of the standard alphabet: whoever decodes it and writes it anew changes it."""
CLOSING_SECONDS = 10
WORDS = 7  # characters in a piece of a text


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
    """What the server says. `seconds`: it thinks so long; `is_dropped`: it hangs up instead;
    `cut_bytes`: so many bytes of the body are announced and never sent; `drip_seconds`: it waits
    so long before each byte.

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


# ------------------------------------------------------------------------------- what it may say


def text(words: str) -> dict[str, Any]:
    return {"text": words}


def thought(words: str) -> dict[str, Any]:
    return {"text": words, "thought": True}


def call(
    name: str, arguments: dict[str, Any] | None = None, *, call_id: str = "", signature: str = ""
) -> dict[str, Any]:
    """A part with a function call; of parallel ones only the first carries a signature."""
    named = {"id": call_id} if call_id else {}
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {**named, "name": name, "args": arguments or {}}, **signed}


def answer(
    *parts: dict[str, Any], finish: str = "STOP", tokens: Sequence[int] = (100, 20, 7), **more: Any
) -> Answer:
    """An answer as Gemini formats it. `tokens`: of the prompt, of the answer, of thoughts."""
    names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}}
    if not parts:
        candidate = {"content": {"role": "model"}}
    document = {
        "candidates": [{**candidate, "finishReason": finish, "index": 0, **more}],
        "usageMetadata": dict(zip(names, tokens, strict=False)),
        "modelVersion": MODEL,
        "responseId": "r-1",
    }
    return Answer(json.dumps(document, indent=2, ensure_ascii=False).encode())


def document(**fields: Any) -> Answer:
    """A body with status 200 and these fields."""
    return Answer(json.dumps(fields).encode())


def error(code: int, status: str, message: str, *details: dict[str, Any]) -> Answer:
    """An error as Google formats it."""
    body = {"error": {"code": code, "message": message, "status": status, "details": list(details)}}
    return Answer(json.dumps(body, indent=2).encode(), code)


def retry_info(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota(name: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaMetric": "requests", "quotaId": name}],
    }


def limited(*details: dict[str, Any]) -> Answer:
    """429, as Google says it."""
    return error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", *details)


def pieces(body: bytes) -> list[bytes]:
    """A whole answer as Gemini streams it: a few words at a time, functions whole, reason and
    full usage in the last piece; the signature of a text comes behind it, with no words."""
    try:
        whole = json.loads(body)
        (candidate,) = whole["candidates"]
        parts = [piece for part in candidate["content"]["parts"] for piece in _cut(part)]
    except (ValueError, KeyError, TypeError):
        return [json.dumps(json.loads(body), ensure_ascii=False).encode()]
    usage = {"promptTokenCount": whole["usageMetadata"]["promptTokenCount"]}
    found: list[dict[str, Any]] = []
    for part in parts:
        content = {"parts": [part], "role": "model"}
        spoken = {"content": content, "index": 0}
        found.append({**whole, "candidates": [spoken], "usageMetadata": usage})
    content = {"parts": [parts[-1]], "role": "model"}
    found[-1] = {**whole, "candidates": [{**candidate, "content": content}]}
    return [json.dumps(one, ensure_ascii=False).encode() for one in found]


def _cut(part: dict[str, Any]) -> list[dict[str, Any]]:
    words = part.get("text", "")
    cuts = [words[place : place + WORDS] for place in range(0, len(words), WORDS)]
    if "text" not in part or not cuts:
        return [part]
    plain = {name: value for name, value in part.items() if name != "thoughtSignature"}
    signed = [{**part, "text": ""}] if "thoughtSignature" in part else []
    return [*({**plain, "text": cut} for cut in cuts), *signed]


def page(status: int = 200, words: str = "Sign in to this network") -> Answer:
    """An HTML page of something on the way."""
    html = f"<!DOCTYPE html><html><body><h1>{words}</h1></body></html>"
    return Answer(html.encode(), status, "text/html")


# ------------------------------------------------------------------------------------ the server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for head and body: unbuffered they wait 40 ms for each other
    disable_nagle_algorithm = True
    server: "GeminiServer"

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        headers = {name.lower(): value for name, value in self.headers.items()}
        sent = Sent(self.path, headers, json.loads(self.rfile.read(size)))
        said = self.server.take(sent)
        if said.seconds:
            self.server.closing.wait(said.seconds)
        if said.is_dropped:
            self.close_connection = True
            return
        is_good = said.status == HTTPStatus.OK and not said.is_whole and _is_json(said.body)
        if ":stream" in self.path and is_good:
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
        for nth, piece in enumerate(pieces(said.body)):
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


class GeminiServer(ThreadingHTTPServer):
    """Answers with its script, one entry a request; `sent` is what it was asked."""

    daemon_threads = True
    request_queue_size = 512  # five, the default, lose connections when many come at once

    def __init__(self, script: Sequence[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.sent: list[Sent] = []
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
            if sent.headers.get("x-goog-api-key") != KEY:
                reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo"}
                reason |= {"reason": "API_KEY_INVALID"}
                return error(400, "INVALID_ARGUMENT", "API key not valid.", reason)
            if wrong := next(_wrongs(sent), ""):
                self.broken.append(wrong)
                return error(400, "INVALID_ARGUMENT", wrong)
            if len(self.sent) > len(self.script):
                self.broken.append("more requests than the script has answers")
                return error(400, "INVALID_ARGUMENT", "the script is over")
            return self.script[len(self.sent) - 1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who was asked and is not there any more is no error; the rest fails the test."""
        import sys

        fault = sys.exception()
        if not isinstance(fault, BrokenPipeError | ConnectionResetError):
            self.broken.append(repr(fault))


Kind = TypeVar("Kind", bound=GeminiServer)


def serving(*script: Answer) -> AbstractContextManager[GeminiServer]:
    """A server with a script, see `served`."""
    return served(GeminiServer(script))


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


def _wrongs(sent: Sent) -> Iterator[str]:
    """What the real server would refuse a request for."""
    contents = sent.contents
    if not sent.path.startswith("/v1beta/models/"):
        yield f"no such path: {sent.path}"
    if not contents or contents[-1]["role"] != "user":
        yield "the last content must be the user's"
    for place, content in enumerate(contents):
        parts = content.get("parts")
        if not parts:
            yield "a content must have parts"
            continue
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if not calls:
            continue
        if not next(part for part in parts if "functionCall" in part).get("thoughtSignature"):
            yield "Function call is missing a thought_signature in functionCall parts."
        following = contents[place + 1]["parts"] if place + 1 < len(contents) else []
        answers = [part.get("functionResponse", {}) for part in following]
        if [_named(one) for one in answers] != [_named(one) for one in calls]:
            yield "the number of function response parts must equal that of function call parts"


def _is_json(body: bytes) -> bool:
    """Whether a body is an answer that can be streamed; what is broken is sent as it is."""
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _named(entry: dict[str, Any]) -> tuple[Any, Any]:
    return entry.get("name"), entry.get("id")

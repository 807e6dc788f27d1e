"""One client for one reply, and the bytes it was answered with.

The client lives as long as the reply, as Gemini's does: see `adapters.models.gemini.session`.
Loading it takes a tenth of a second, so this module is imported where a reply is asked for."""

import json
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from adapters.models import faults
from adapters.models.http_body import bound, troubles, trusted
from adapters.models.openai import decoding, messages
from adapters.models.openai.decoding import LINES_MAX, StreamedWords, whole
from adapters.models.sse import HIDDEN_KEY, StreamRelay
from domain.agent.endpoints import is_loopback
from domain.ports import Listener, Request

HIDDEN_MIN = 8
"""Characters; a shorter key is a word that stands in for one, as ``ollama``: no secret, and
likely to stand in an answer."""

REFUSED = (400, 422, 500)
"""With which servers answer to a word that they do not know."""

Json = dict[str, Any]


class OpenAISession:
    """Asks an endpoint; use it in ``async with``, in the loop that closes it."""

    def __init__(self, model: str, key: str, base_url: str, timeout_seconds: float) -> None:
        self._model, self._key, self._base_url = model, key, base_url
        self._hidden = key if len(key) >= HIDDEN_MIN else ""
        self._timeout_seconds = timeout_seconds
        parts = urlsplit(base_url)
        self._host = parts.netloc
        self._http = httpx2.AsyncClient(
            verify=trusted(),
            timeout=timeout_seconds,
            follow_redirects=False,  # texts and key go nowhere else
            trust_env=not is_loopback(parts.hostname or ""),  # nor to a proxy, in plain
            headers={"accept-encoding": "identity"},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def ask(self, request: Request, nudges: int, listener: Listener | None) -> bytes:
        """Ask once, see `adapters.models.retry_loop.ModelSession`."""
        words = (
            None
            if listener is None
            else StreamRelay(listener, self._hidden, StreamedWords(), LINES_MAX)
        )
        body = messages.body(self._model, request, nudges, is_streamed=listener is not None)
        with troubles(self._host, self._timeout_seconds):
            status, raw, headers = await self._send(body, words)
            other = messages.in_other_words(body, request)
            if status in REFUSED and other is not None:
                status, raw, headers = await self._send(other, words)
        if status != httpx2.codes.OK:
            raise decoding.trouble_of_status(status, raw, headers)
        return whole(raw, headers, self._hidden)  # some stream what was not asked for so

    async def listed(self) -> bytes:
        """What the endpoint says of its models. Raises `Trouble`."""
        with troubles(self._host, self._timeout_seconds):
            status, raw, headers = await self._answered("GET", "models")
        if status != httpx2.codes.OK:
            raise decoding.trouble_of_status(status, raw, headers)
        return raw

    async def _send(
        self, body: Json, words: StreamRelay | None
    ) -> tuple[int, bytes, dict[str, str]]:
        # half a character comes from a model that was cut
        content = json.dumps(body, ensure_ascii=False).encode(errors="replace")
        return await self._answered("POST", "chat/completions", content, words)

    async def _answered(
        self, method: str, path: str, content: bytes = b"", words: StreamRelay | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        headers = {"content-type": "application/json"} if content else {}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        url = f"{self._base_url}/{path}"
        async with self._http.stream(method, url, content=content, headers=headers) as response:
            hears = words if response.status_code == httpx2.codes.OK else None
            sent_max = faults.UNPACKED_MAX_BYTES if hears else faults.SENT_MAX_BYTES
            bound(response, hears.take if hears else None, sent_max)
            raw = await response.aread()
        if self._hidden:
            raw = raw.replace(self._hidden.encode(), HIDDEN_KEY.encode())
        return response.status_code, raw, dict(response.headers)

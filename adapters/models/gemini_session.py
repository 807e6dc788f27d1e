"""One client of google-genai for one reply, and the bytes it was answered with.

The client lives as long as the reply: each command runs its own event loop, connections belong to
a loop, and whoever cancels a reply finds nothing open behind it. Loading the SDK takes most of a
second, so this module is imported where a reply is asked for.
"""

import logging
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import httpx2
from google import genai
from google.genai import errors, types

from adapters.models import gemini_contents, gemini_faults
from adapters.models.body import bound, troubles, trusted, unsendable
from adapters.models.events import HIDDEN_KEY, Aloud
from adapters.models.gemini_stream import whole, words
from adapters.models.wording import BEGIN
from domain.ports import Listener, Request

GOOGLE = "https://generativelanguage.googleapis.com"
API_VERSION = "v1beta"  # preview models are not in v1
VERSIONS = ("v1", "v1alpha", "v1beta")  # that a base URL may end with


class Received(NamedTuple):
    """What came back over the wire, whatever it is; header names are in lower case."""

    status: int
    body: bytes
    headers: dict[str, str]


class Session:
    """Asks Gemini; use it in ``async with``, in the loop that closes it."""

    def __init__(self, model: str, key: str, base_url: str, timeout_seconds: float) -> None:
        self._model = model
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._received: list[Received] = []
        self._aloud: Aloud | None = None
        base, version = _endpoint(base_url or GOOGLE)
        self._host = urlsplit(base).netloc
        certificates = trusted()
        self._http = httpx2.AsyncClient(
            verify=certificates,
            timeout=timeout_seconds,
            follow_redirects=False,  # the key goes nowhere else
            headers={"accept-encoding": "identity"},
            event_hooks={"response": [self._keep]},
        )
        self._client = genai.Client(
            api_key=key,
            vertexai=False,
            http_options=types.HttpOptions(
                httpx_async_client=self._http,  # never the other backends, whatever is installed
                client_args={"verify": certificates},  # else each reads them anew
                async_client_args={"ssl": certificates},
                base_url=base,
                api_version=version,
                timeout=round(timeout_seconds * 1000),
            ),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; the SDK leaves a client that it was given open."""
        try:
            await self._client.aio.aclose()
            self._client.close()
        finally:
            await self._http.aclose()

    async def ask(self, request: Request, nudges: int, listener: Listener | None) -> bytes:
        """Ask once, see `adapters.models.rounds.Session`."""
        self._received.clear()
        self._aloud = None if listener is None else Aloud(listener, self._key, words)
        try:
            with troubles(self._host, self._timeout_seconds):
                await self._send(request, nudges)
        except (errors.APIError, ValueError, RecursionError) as error:
            if not self._received:  # the SDK would not send it: a model's name, for example
                raise unsendable(error) from None
        received = self._received[-1]
        if received.status != httpx2.codes.OK:
            raise gemini_faults.of_status(received.status, received.body, received.headers)
        if listener is None:
            return received.body
        return whole(received.body, received.headers, self._key)

    async def _send(self, request: Request, nudges: int) -> None:
        contents = BEGIN  # `extra_body` says it, and is sent as it is
        config = _config(request, nudges)
        models = self._client.aio.models
        if self._aloud is None:
            await models.generate_content(model=self._model, contents=contents, config=config)
            return
        config.should_return_http_response = None  # the SDK refuses it here
        pieces = await models.generate_content_stream(
            model=self._model, contents=contents, config=config
        )
        with suppress(_Heard):
            async for _ in pieces:  # `_keep` ends it at once
                pass

    async def _keep(self, response: httpx2.Response) -> None:
        """Keep status and body before the SDK makes its own of them."""
        aloud = self._aloud if response.status_code == httpx2.codes.OK else None
        bound(response, aloud.take if aloud else None)
        body = (await response.aread()).replace(self._key.encode(), HIDDEN_KEY.encode())
        self._received.append(Received(response.status_code, body, dict(response.headers)))
        if aloud is not None:
            raise _Heard


class _Heard(Exception):
    """A stream was read to its end, so that the SDK need not make its own of the pieces."""


def _endpoint(base_url: str) -> tuple[str, str]:
    """Address and API version, which may stand at the end of the address."""
    base, _, last = base_url.rstrip("/").rpartition("/")
    return (base, last) if last in VERSIONS else (base_url, API_VERSION)


def _config(request: Request, nudges: int) -> types.GenerateContentConfig:
    """Everything that the SDK would do by itself is off: what is sent is what is asked."""
    config = types.GenerateContentConfig(
        system_instruction=gemini_contents.system(request) or None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        automatic_continuation=False,
        should_return_http_response=True,
        http_options=types.HttpOptions(
            extra_body={"contents": gemini_contents.contents(request, nudges)}
        ),
    )
    if request.tools:
        mode, allowed = gemini_contents.mode(request, nudges)
        declared = [
            types.FunctionDeclaration(
                name=tool.name, description=tool.description, parameters_json_schema=tool.schema
            )
            for tool in request.tools
        ]
        config.tools = [types.Tool(function_declarations=declared)]
        config.tool_config = types.ToolConfig(
            function_calling_config=types.FunctionCallingConfig(
                mode=types.FunctionCallingConfigMode(mode), allowed_function_names=allowed or None
            )
        )
    return config


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a line of the SDK's log is true here: it believes to choose the key itself."""
    return "GOOGLE_API_KEY" not in record.getMessage()


logging.getLogger("google_genai._api_client").addFilter(_is_ours)

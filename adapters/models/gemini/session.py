"""One client of google-genai for one reply, and the bytes it was answered with.

The client lives as long as the reply: each command runs its own event loop, connections belong to
a loop, and whoever cancels a reply finds nothing open behind it. Loading the SDK takes most of a
second, so this module is imported where a reply is asked for."""

import logging
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import httpx2
from google import genai
from google.genai import errors, types

from adapters.models import json_objects
from adapters.models.gemini import decoding
from adapters.models.gemini.decoding import whole, words
from adapters.models.http_body import bound, troubles, trusted, unsendable
from adapters.models.sse import HIDDEN_KEY, StreamRelay
from adapters.models.wording import BEGIN, NUDGES, UNANSWERED, go_on, joined, retold
from domain.ports import CallResult, Exchange, Listener, Request

GOOGLE = "https://generativelanguage.googleapis.com"
API_VERSION = "v1beta"  # preview models are not in v1
VERSIONS = ("v1", "v1alpha", "v1beta")  # that a base URL may end with


class RawResponse(NamedTuple):
    """What came back over the wire, whatever it is; header names are in lower case."""

    status: int
    body: bytes
    headers: dict[str, str]


class GeminiSession:
    """Asks Gemini; use it in ``async with``, in the loop that closes it."""

    def __init__(self, model: str, key: str, base_url: str, timeout_seconds: float) -> None:
        self._model, self._key, self._timeout_seconds = model, key, timeout_seconds
        self._received: list[RawResponse] = []
        self._aloud: StreamRelay | None = None
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
        """Close every connection; the SDK leaves a client that it was given open."""
        try:
            await self._client.aio.aclose()
            self._client.close()
        finally:
            await self._http.aclose()

    async def ask(self, request: Request, nudges: int, listener: Listener | None) -> bytes:
        """Ask once, see `adapters.models.retry_loop.ModelSession`."""
        self._received.clear()
        self._aloud = None if listener is None else StreamRelay(listener, self._key, words)
        try:
            with troubles(self._host, self._timeout_seconds):
                await self._send(request, nudges)
        except (errors.APIError, ValueError, RecursionError) as error:
            if not self._received:  # the SDK would not send it: a model's name, for example
                raise unsendable(error) from None
        received = self._received[-1]
        if received.status != httpx2.codes.OK:
            raise decoding.trouble_of_status(received.status, received.body, received.headers)
        return whole(received.body, received.headers, self._key)

    async def _send(self, request: Request, nudges: int) -> None:
        contents = BEGIN  # `extra_body` says it, and is sent as it is
        config, models = _config(request, nudges), self._client.aio.models
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
        self._received.append(RawResponse(response.status_code, body, dict(response.headers)))
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
        system_instruction=joined(request.system) or None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        automatic_continuation=False,
        should_return_http_response=True,
        http_options=types.HttpOptions(extra_body={"contents": contents(request, nudges)}),
    )
    if request.tools:
        # ANY demands a call: of the forced tool, or after one that could not be read; VALIDATED
        # lets the model choose between words and calls that fit their schemas
        mode = "ANY" if request.forced or nudges else "VALIDATED"
        allowed = [request.forced] if request.forced else None
        declared = [
            types.FunctionDeclaration(
                name=tool.name, description=tool.description, parameters_json_schema=tool.schema
            )
            for tool in request.tools
        ]
        config.tools = [types.Tool(function_declarations=declared)]
        calling = types.FunctionCallingConfig(
            mode=types.FunctionCallingConfigMode(mode), allowed_function_names=allowed
        )
        config.tool_config = types.ToolConfig(function_calling_config=calling)
    return config


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a line of the SDK's log is true here: it believes to choose the key itself."""
    return "GOOGLE_API_KEY" not in record.getMessage()


logging.getLogger("google_genai._api_client").addFilter(_is_ours)


# ---------------------------------------------------------------- the request, as Gemini is sent it
# An earlier turn goes back as it came: the model's content is taken from the recorded bytes, with
# thoughts, signatures and fields that we do not know, and one content behind it answers all of its
# calls, in order, under the ids and names that the model gave them. Both are plain JSON, because
# the SDK's types would write a signature in another alphabet of base64 and refuse unknown fields.
#
# An earlier turn whose bytes are not Gemini's (a wake that is replayed with another model) is told
# as text: calls without a signature would be refused.

Json = dict[str, Any]


def contents(request: Request, nudges: int = 0) -> list[Json]:
    """All turns up to now, the last one the user's; `nudges`: how many answers could not be read,
    at most ``len(NUDGES)``."""
    found = [_user(joined(request.user) or BEGIN)]
    for exchange in request.exchanges:
        found += _exchange(exchange, request.forced)
    if nudges:
        found.append(_user(NUDGES[nudges - 1]))
    return found


def _exchange(exchange: Exchange, forced: str) -> list[Json]:
    content = _content(exchange.reply)
    if content is None:
        return [_user(retold(exchange))]
    if calls := _calls(content):
        return [content, {"role": "user", "parts": _answers(calls, exchange.results)}]
    following = _user(go_on(forced))
    return [content, following] if content.get("parts") else [following]


def _content(raw: bytes) -> Json | None:
    """The model's content, verbatim; empty where it said nothing; None if this is not Gemini's."""
    candidates = (json_objects.loads(raw, keeps_twice=False) or {}).get("candidates")
    if not isinstance(candidates, list):
        return None
    content = json_objects.first_dict(candidates).get("content")
    if not isinstance(content, dict):
        return {}
    return content if "role" in content else {**content, "role": "model"}


def _calls(content: Json) -> list[Json]:
    parts = json_objects.dicts(content.get("parts"))
    return json_objects.dicts([part.get("functionCall") for part in parts])


def _answers(calls: list[Json], results: tuple[CallResult, ...]) -> list[Json]:
    """One answer for each call, whatever became of it: a turn with fewer is refused."""
    return [
        {"functionResponse": _answer(call, results[place] if place < len(results) else None)}
        for place, call in enumerate(calls)
    ]


def _answer(call: Json, result: CallResult | None) -> Json:
    output = result.output if result else UNANSWERED
    kind = "output" if result and not result.is_error else "error"
    named = {"id": call["id"]} if call.get("id") else {}
    return {**named, "name": call.get("name") or "", "response": {kind: output}}


def _user(text: str) -> Json:
    return {"role": "user", "parts": [{"text": text}]}

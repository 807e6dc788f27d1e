"""Google's Gemini as a model: one reply, with its own bounded tries.

    ask -> trouble that passes: wait, ask again           at most `TRIES_MAX` times
        -> a call that cannot be read: ask with a hint    at most ``len(NUDGES)`` times
        -> nothing at all: ask again, then an empty reply
        -> an answer

The SDK retries nothing, calls no function and continues nothing by itself, so that each request
is one that is made here. The tokens of all tries are added to the reply's.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from adapters.models import gemini_reply
from adapters.models.gemini_contents import NUDGES
from adapters.models.gemini_faults import Trouble, provider, timed_out, wrong
from domain.ports import Listener, ModelFault, Reply, Request, Usage

if TYPE_CHECKING:
    from adapters.models.gemini_session import Session

PROVIDER = "gemini"
DEFAULT_MODEL = "gemini-3.1-pro-preview"

TRIES_MAX = 4
"""Requests that may come to nothing in one reply."""
BACKOFF_SECONDS = (1.0, 2.0, 4.0)
TIMEOUT_SECONDS = 180.0  # of one request
PATIENCE_SECONDS = 540.0  # of a reply with all its tries
PATIENCE_SHARE = 0.9
"""Of a wake's deadline: what a reply may take, so that a provider that hangs is told as such."""
EMPTY_MAX = 1
"""Empty answers that are asked again."""

Sleep = Callable[[float], Awaitable[None]]


class GeminiModel:
    """Answers through google-genai."""

    def __init__(
        self,
        name: str,
        api_key: str,
        base_url: str = "",
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Nothing is loaded and no connection made before the first reply.

        Args:
            name: ``gemini`` or ``gemini:MODEL``.
            api_key: Is sent to the endpoint and told to nobody.
            base_url: The endpoint; empty: Google's.
            timeout_seconds: Of one request, over all its bytes.
            patience_seconds: Of a whole reply. Where it is below a wake's deadline, a provider
                that hangs defers the wake, instead of letting it run out of time.
            sleep: Waits between two requests.
        """
        self._model = name.partition(":")[2] or DEFAULT_MODEL
        self._key = api_key
        self._base_url = base_url
        self._timeout = min(timeout_seconds, patience_seconds)
        self._patience = patience_seconds
        self._sleep = sleep

    @property
    def name(self) -> str:
        """Provider and model, as recorded on a wake."""
        return f"{PROVIDER}:{self._model}"

    async def reply(self, request: Request) -> Reply:
        """Answer one turn. Raises `ModelFault`; leaves nothing open, even where cancelled."""
        return await self._reply(request, None)

    async def reply_aloud(self, request: Request, listener: Listener) -> Reply:
        """Answer one turn by Gemini's streaming call; the words are told as they come. What is
        replied, and what is raised, is what `reply` replies and raises."""
        return await self._reply(request, listener)

    async def _reply(self, request: Request, listener: Listener | None) -> Reply:
        from adapters.models.gemini_session import Session

        spent = _Spent()
        try:
            async with (
                asyncio.timeout(self._patience),
                Session(self._model, self._key, self._base_url, self._timeout) as session,
            ):
                return await self._answered(session, request, listener, spent)
        except TimeoutError:
            told = f"no answer within {self._patience:g} seconds, with all tries"
            raise spent.of(provider("timeout", told)) from None
        except ModelFault as fault:
            raise spent.of(fault) from None

    async def _answered(
        self, session: "Session", request: Request, listener: Listener | None, spent: "_Spent"
    ) -> Reply:
        tries = nudges = empty = 0
        while True:  # bounded: each round ends it, or uses up a try, a nudge or an empty answer
            if listener is not None and tries + nudges + empty:
                listener.again()
            try:
                raw = await self._ask(session, request, nudges, listener)
                answer = gemini_reply.read(raw)
                spent.add(answer.usage())
                verdict = gemini_reply.judge(answer)
            except Trouble as trouble:
                tries += 1
                await self._pass(trouble, tries)
                continue
            if verdict == "nudge":
                if nudges == len(NUDGES):
                    raise _malformed(spent.usage)
                nudges += 1
            elif verdict == "empty" and empty < EMPTY_MAX:
                empty += 1
            else:
                return gemini_reply.reply(raw, answer, spent.usage)

    async def _ask(
        self, session: "Session", request: Request, nudges: int, listener: Listener | None
    ) -> bytes:
        """One request, bounded as a whole: the client's own timeout is one of each step."""
        try:
            async with asyncio.timeout(self._timeout):
                return await session.ask(request, nudges, listener)
        except TimeoutError:
            raise timed_out(self._timeout) from None

    async def _pass(self, trouble: Trouble, tries: int) -> None:
        """Wait until the request may be made again, or raise."""
        if not trouble.again or tries >= TRIES_MAX:
            raise trouble.fault from None
        wait = trouble.wait_seconds
        await self._sleep(BACKOFF_SECONDS[tries - 1] if wait is None else wait)


class _Spent:
    """The tokens of all answers that came, whatever becomes of the reply: they are paid."""

    def __init__(self) -> None:
        self.usage = Usage()

    def add(self, usage: Usage) -> None:
        """One more answer."""
        self.usage = self.usage.with_other(usage)

    def of(self, fault: ModelFault) -> ModelFault:
        """A fault that says what was spent before it."""
        fault.usage = self.usage
        return fault


def _malformed(usage: Usage) -> ModelFault:
    spent = [count for count in (usage.tokens_in, usage.tokens_out) if count is not None]
    told = f"; the tries took {sum(spent)} tokens" if spent else ""
    return wrong(
        "malformed_call",
        f"the model's function calls could not be read, {len(NUDGES) + 1} times in a row{told}",
    )

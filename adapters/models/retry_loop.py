"""One reply of a provider's model, with its own bounded tries.

    ask -> trouble that passes: wait, ask again           at most `TRIES_MAX` times
        -> a call that cannot be read: ask with a hint    at most ``len(NUDGES)`` times
        -> nothing at all: ask again, then an empty reply
        -> an answer

Each request is one that is made here. The tokens of all tries are added to the reply's."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Generic, Literal, Protocol, Self, TypeVar

from adapters.models.faults import Trouble, provider, timed_out, wrong
from adapters.models.wording import NUDGES
from domain.ports import Listener, ModelFault, Reply, Request, Usage

TRIES_MAX = 4
"""Requests that may come to nothing in one reply."""
BACKOFF_SECONDS = (1.0, 2.0, 4.0)
PATIENCE_SECONDS = 540.0  # of a reply with all its tries
PATIENCE_SHARE = 0.9
"""Of a wake's deadline: what a reply may take, so that a provider that hangs is told as such."""
EMPTY_MAX = 1
"""Empty answers that are asked again."""

Sleep = Callable[[float], Awaitable[None]]


class ModelSession(Protocol):
    """What asks an endpoint, open for one reply."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None: ...

    async def ask(self, request: Request, nudges: int, listener: Listener | None) -> bytes:
        """Ask once; the body of the answer, verbatim, or what its streamed pieces come to.
        `nudges`: how many answers to the request could not be read; `listener` is told the words
        as they come; None: they come all at once. Raises `Trouble`: there is none."""


class DecodedAnswer(Protocol):
    """An answer as a provider's own decoder read it."""

    def usage(self) -> Usage:
        """Its tokens."""


Answer = TypeVar("Answer", bound=DecodedAnswer)


class RetryingModel(ABC, Generic[Answer]):
    """A model that is asked in rounds; a provider says how it is asked, and what an answer is."""

    def __init__(self, timeout_seconds: float, patience_seconds: float, sleep: Sleep) -> None:
        """`timeout_seconds`: of one request, over all its bytes; `patience_seconds`: of a whole
        reply. Where it is below a wake's deadline, a provider that hangs defers the wake, instead
        of letting it run out of time."""
        self._timeout = min(timeout_seconds, patience_seconds)
        self._patience, self._sleep = patience_seconds, sleep

    @property
    @abstractmethod
    def name(self) -> str:
        """As it is recorded on a wake."""

    async def reply(self, request: Request) -> Reply:
        """Answer one turn. Raises `ModelFault`; leaves nothing open, even where cancelled."""
        return await self._reply(request, None)

    async def reply_aloud(self, request: Request, listener: Listener) -> Reply:
        """Answer one turn by the streaming call; the words are told as they come. What is
        replied, and what is raised, is what `reply` replies and raises."""
        return await self._reply(request, listener)

    async def reply_once(self, request: Request, seconds: float) -> Reply:
        """Answer one turn by a single request within so many seconds: to see how a provider does.
        Raises `ModelFault`: whatever kept it from answering."""
        try:
            async with asyncio.timeout(seconds), self._session(seconds) as session:
                raw = await session.ask(request, 0, None)
            answer = self._read(raw)
            self._judge(answer, request, 0)
        except TimeoutError:
            raise timed_out(seconds).fault from None
        except Trouble as trouble:
            raise trouble.fault from None
        return self._meant(raw, answer, answer.usage())

    @abstractmethod
    def _session(self, timeout_seconds: float) -> ModelSession:
        """What asks, for one reply."""

    @abstractmethod
    def _read(self, raw: bytes) -> Answer:
        """The answer that bytes hold. Raises `Trouble`: they hold none."""

    @abstractmethod
    def _judge(self, answer: Answer, request: Request, nudges: int, /) -> Literal["ok", "empty"]:
        """Whether it says anything. Raises `Trouble`: it is no answer to the request, of which so
        many answers could not be read before."""

    @abstractmethod
    def _meant(self, raw: bytes, answer: Answer, usage: Usage) -> Reply:
        """The reply that it stands for; `usage`: of all tries."""

    async def _reply(self, request: Request, listener: Listener | None) -> Reply:
        spent = _TokensSpent()
        try:
            async with asyncio.timeout(self._patience), self._session(self._timeout) as session:
                return await self._answered(session, request, listener, spent)
        except TimeoutError:
            told = f"no answer within {self._patience:g} seconds, with all tries"
            raise spent.of(provider("timeout", told)) from None
        except ModelFault as fault:
            raise spent.of(fault) from None

    async def _answered(
        self, session: ModelSession, request: Request, listener: Listener | None,
        spent: "_TokensSpent",
    ) -> Reply:  # fmt: skip
        tries = nudges = empty = 0
        while True:  # bounded: each round ends it, or uses up a try, a nudge or an empty answer
            if listener is not None and tries + nudges + empty:
                listener.again()
            try:
                raw = await self._ask(session, request, nudges, listener)
                answer = self._read(raw)
                spent.add(answer.usage())
                verdict = self._judge(answer, request, nudges)
            except Trouble as trouble:
                if trouble.is_hinted and nudges == len(NUDGES):
                    raise _malformed(trouble.fault, spent.usage) from None
                nudges += trouble.is_hinted
                tries += not trouble.is_hinted
                await self._pass(trouble, tries)
                continue
            if verdict == "ok" or empty == EMPTY_MAX:
                return self._meant(raw, answer, spent.usage)
            empty += 1

    async def _ask(
        self, session: ModelSession, request: Request, nudges: int, listener: Listener | None
    ) -> bytes:
        """One request, bounded as a whole: the client's own timeout is one of each step."""
        try:
            async with asyncio.timeout(self._timeout):
                return await session.ask(request, nudges, listener)
        except TimeoutError:
            raise timed_out(self._timeout) from None

    async def _pass(self, trouble: Trouble, tries: int) -> None:
        """Wait until the request may be made again, or raise; one with a hint is made at once."""
        if trouble.is_hinted:
            return
        if not trouble.again or tries >= TRIES_MAX:
            raise trouble.fault from None
        wait = trouble.wait_seconds
        await self._sleep(BACKOFF_SECONDS[tries - 1] if wait is None else wait)


class _TokensSpent:
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


def _malformed(fault: ModelFault, usage: Usage) -> ModelFault:
    spent = [count for count in (usage.tokens_in, usage.tokens_out) if count is not None]
    told = f"; the tries took {sum(spent)} tokens" if spent else ""
    return wrong(fault.code, f"{fault}, {len(NUDGES) + 1} times in a row{told}")

"""The demo models as a network has them: they take their time, fail, and are down for hours."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from domain.log.keys import sha
from domain.ports import Clock, Model, ModelFault, Reply, Request

FIRST_BYTE_MS = {"demo:quick": 900, "demo:careful": 3_000}
TOKEN_MS = {"demo:quick": 12, "demo:careful": 25}
BLOCKED_PER_THOUSAND = {"demo:quick": 0, "demo:careful": 25}  # it is filtered more strictly
RETRY_SECONDS = 900


class Outage(NamedTuple):
    """From `start` to before `end` nobody is answered; times as stored."""

    start: str
    end: str


class RemoteModel:
    """A model behind a network."""

    def __init__(self, model: Model, clock: Clock, outages: Sequence[Outage]) -> None:
        self.name = model.name
        self._model = model
        self._clock = clock
        self._outages = outages

    async def reply(self, request: Request) -> Reply:
        """The model's answer, later. Raises `ModelFault`."""
        now = self._clock.now()
        if any(one.start <= now < one.end for one in self._outages):
            await asyncio.sleep(2)
            told = "overloaded", "503 overloaded"
            raise ModelFault(*told, of_provider=True, retry_seconds=RETRY_SECONDS)
        reply = await self._model.reply(request)
        drawn = int(sha(f"{now}/".encode() + reply.raw)[:8], 16)
        if self.name not in FIRST_BYTE_MS:
            return reply
        tokens = (reply.usage.tokens_out or 60) + (reply.usage.tokens_thought or 0)
        ms = FIRST_BYTE_MS[self.name] + TOKEN_MS[self.name] * tokens + drawn % 1_500
        await asyncio.sleep(ms / 1_000)
        if drawn // 1_500 % 1_000 < BLOCKED_PER_THOUSAND[self.name]:
            raise ModelFault("blocked", "the answer was blocked", of_provider=False)
        return reply

"""A model behind an address, asked in the rounds of `adapters.models.retry_loop`."""

import asyncio
from typing import TYPE_CHECKING, Literal

from adapters.models import calls
from adapters.models.faults import Trouble
from adapters.models.openai import decoding
from adapters.models.openai.decoding import OpenAIAnswer
from adapters.models.retry_loop import PATIENCE_SECONDS, RetryingModel, Sleep
from domain.ports import Reply, Request, Usage

if TYPE_CHECKING:
    from adapters.models.openai import session


class OpenAIModel(RetryingModel[OpenAIAnswer]):
    """Answers through an endpoint that speaks OpenAI's protocol."""

    def __init__(
        self, name: str, model: str, base_url: str, api_key: str = "", *,
        timeout_seconds: float = PATIENCE_SECONDS, patience_seconds: float = PATIENCE_SECONDS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:  # fmt: skip
        """Nothing is loaded and no connection made before the first reply; see `RetryingModel`.
        `name`: as it is recorded on a wake; `model`: as the endpoint knows it; `base_url`: where it
        is, with its version: what ``/chat/completions`` is put behind; `api_key` is sent to the
        endpoint and told to nobody; empty: none is sent. `timeout_seconds` is no shorter than the
        patience: a model on a slow machine may need minutes, and begins anew where it is asked
        again."""
        super().__init__(timeout_seconds, patience_seconds, sleep)
        self._name, self._model, self._base_url, self._key = name, model, base_url, api_key

    @property
    def name(self) -> str:
        """Protocol, model and address, as recorded on a wake."""
        return self._name

    async def offered(self, seconds: float) -> tuple[str, ...]:
        """The models that the endpoint says it has; none where it says nothing of that, or not
        within so many seconds."""
        try:
            async with asyncio.timeout(seconds), self._session(seconds) as session:
                return decoding.offered(await session.listed())
        except (TimeoutError, Trouble):
            return ()

    def _session(self, timeout_seconds: float) -> "session.OpenAISession":
        from adapters.models.openai import session

        return session.OpenAISession(self._model, self._key, self._base_url, timeout_seconds)

    def _read(self, raw: bytes) -> OpenAIAnswer:
        return decoding.read(raw)

    def _judge(
        self, answer: OpenAIAnswer, request: Request, nudges: int, /
    ) -> Literal["ok", "empty"]:
        return decoding.judge(answer, calls.awaited(request, nudges))

    def _meant(self, raw: bytes, answer: OpenAIAnswer, usage: Usage) -> Reply:
        return decoding.reply(raw, answer, usage)

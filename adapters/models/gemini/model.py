"""Google's Gemini as a model, asked in the rounds of `adapters.models.retry_loop`.

The SDK retries nothing, calls no function and continues nothing by itself."""

import asyncio
from typing import Literal

from adapters.models import calls
from adapters.models.gemini import decoding
from adapters.models.gemini.decoding import GeminiAnswer
from adapters.models.retry_loop import PATIENCE_SECONDS, ModelSession, RetryingModel, Sleep
from domain.agent.endpoints import GEMINI_MODEL
from domain.ports import Reply, Request, Usage

PROVIDER = "gemini"
TIMEOUT_SECONDS = 180.0  # of one request


class GeminiModel(RetryingModel[GeminiAnswer]):
    """Answers through google-genai."""

    def __init__(
        self, name: str, api_key: str, base_url: str = "", *,
        timeout_seconds: float = TIMEOUT_SECONDS, patience_seconds: float = PATIENCE_SECONDS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:  # fmt: skip
        """Nothing is loaded and no connection made before the first reply; see `RetryingModel`.
        `name`: ``gemini`` or ``gemini:MODEL``; `api_key` is sent to the endpoint and told to
        nobody; `base_url`: the endpoint; empty: Google's."""
        super().__init__(timeout_seconds, patience_seconds, sleep)
        self._model = name.partition(":")[2] or GEMINI_MODEL
        self._key, self._base_url = api_key, base_url

    @property
    def name(self) -> str:
        """Provider and model, as recorded on a wake."""
        return f"{PROVIDER}:{self._model}"

    def _session(self, timeout_seconds: float) -> ModelSession:
        from adapters.models.gemini import session

        return session.GeminiSession(self._model, self._key, self._base_url, timeout_seconds)

    def _read(self, raw: bytes) -> GeminiAnswer:
        return decoding.read(raw)

    def _judge(
        self, answer: GeminiAnswer, request: Request, nudges: int, /
    ) -> Literal["ok", "empty"]:
        return decoding.judge(answer, calls.awaited(request, nudges))

    def _meant(self, raw: bytes, answer: GeminiAnswer, usage: Usage) -> Reply:
        return decoding.reply(raw, answer, usage)

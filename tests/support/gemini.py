"""Asks the Gemini model against the local server, and runs whole wakes with it."""

import asyncio
from typing import Any

import pytest

from adapters.models.gemini.model import GeminiModel
from domain.ports import ModelFault, Reply, Request
from tests.support.asking import Heard, Sleeps, request
from tests.support.gemini_server import KEY, GeminiServer

NAME = "gemini:gemini-3.1-pro-preview"


def model(server: GeminiServer, sleeps: Sleeps | None = None, **more: Any) -> GeminiModel:
    """The model that the server stands for; `more` as its own arguments."""
    given = {"name": "gemini", "api_key": KEY, "base_url": server.url, "sleep": sleeps or Sleeps()}
    return GeminiModel(**{**given, **more})


def ask(server: GeminiServer, asked: Request | None = None, **more: Any) -> Reply:
    """One reply. Raises `ModelFault`."""
    return asyncio.run(model(server, **more).reply(asked or request()))


def ask_aloud(
    server: GeminiServer, heard: Heard, asked: Request | None = None, **more: Any
) -> Reply:
    """One reply of the streaming call. Raises `ModelFault`."""
    return asyncio.run(model(server, **more).reply_aloud(asked or request(), heard))


def fault(server: GeminiServer, asked: Request | None = None, **more: Any) -> ModelFault:
    """The fault that a reply ends with; nothing that it holds tells the key."""
    with pytest.raises(ModelFault) as caught:
        ask(server, asked, **more)
    found = caught.value
    assert KEY not in f"{found!r} {found} {found.__cause__!r}"
    return found


def environment(server: GeminiServer) -> dict[str, str]:
    """The variables of a command that asks the server."""
    return {"GEMINI_API_KEY": KEY, "WAKELOG_GEMINI_BASE_URL": server.url}

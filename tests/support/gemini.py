"""Asks the Gemini model against the local server, and runs whole wakes with it."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from adapters.models.gemini import GeminiModel
from domain.ports import Exchange, ModelFault, Reply, Request, Section, ToolSpec
from tests.support.gemini_server import KEY, GeminiServer

NAME = "gemini:gemini-3.1-pro-preview"
TOOLS = (
    ToolSpec(
        "update_task_estimate",
        "Propose an estimate.",
        {"type": "object", "properties": {"minutes": {"type": "integer"}}, "required": ["minutes"]},
    ),
    ToolSpec("update_report", "Write the report.", {"type": "object", "properties": {}}),
)


class Sleeps:
    """Sleeps no time, and keeps how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def request(*exchanges: Exchange, forced: str = "", tools: tuple[ToolSpec, ...] = TOOLS) -> Request:
    return Request(
        NAME,
        (Section("role", "You are an agent."), Section("goal", "Be short.")),
        (Section("task", "# Task\n\nFix the sink"), Section("instruction", "Begin, ä.")),
        tools,
        exchanges,
        forced,
    )


def model(server: GeminiServer, sleeps: Sleeps | None = None, **more: Any) -> GeminiModel:
    """The model that the server stands for; `more` as its own arguments."""
    given = {"name": "gemini", "api_key": KEY, "base_url": server.url, "sleep": sleeps or Sleeps()}
    return GeminiModel(**{**given, **more})


def ask(server: GeminiServer, asked: Request | None = None, **more: Any) -> Reply:
    """One reply. Raises `ModelFault`."""
    return asyncio.run(model(server, **more).reply(asked or request()))


class Heard:
    """A listener: what was said since the model was last asked, and what came to nothing."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.void: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def said(self, text: str) -> None:
        self.pieces.append(text)

    def again(self) -> None:
        self.void.append(self.text)
        self.pieces.clear()

    def ended(self) -> None:
        """A reply is one turn here."""


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


def places_of_key(home: Path, key: str = KEY) -> list[str]:
    """Where in a home the key stands: in a file's bytes, or in a cell of a database."""
    needle = key.encode()
    found = [
        str(path) for path in home.rglob("*") if path.is_file() and needle in path.read_bytes()
    ]
    for path in home.glob("*.db"):
        with sqlite3.connect(path) as database:
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (name,) in names.fetchall():
                rows = database.execute(f'SELECT * FROM "{name}"').fetchall()
                found += [f"{path}:{name}" for row in rows if needle in repr(row).encode()]
        database.close()
    return found

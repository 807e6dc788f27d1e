"""What tests of models over the wire ask, hear and look for, whichever family is asked."""

import sqlite3
from pathlib import Path

from domain.ports import Exchange, Request, Section, ToolSpec

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


def request(*exchanges: Exchange, forced: str = "", tools: tuple[ToolSpec, ...] = TOOLS) -> Request:
    """What a model is asked in these tests."""
    return Request(
        "whichever",
        (Section("role", "You are an agent."), Section("goal", "Be short.")),
        (Section("task", "# Task\n\nFix the sink"), Section("instruction", "Begin, ä.")),
        tools,
        exchanges,
        forced,
    )


def places_of_key(home: Path, key: str) -> list[str]:
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

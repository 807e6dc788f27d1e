"""Clients of a home: what they are answered, in this process."""

from pathlib import Path
from typing import Any

from adapters.home.home_location import FolderLocation
from adapters.mcp.server import Client, called
from tests.support.cli import FIXED

TAP = "Fix the kitchen tap"
HOURS = "It takes about 2 hours, says Ann."
ESTIMATE: dict[str, Any] = {
    "tool": "update_task_estimate",
    "arguments": {"minutes": 120, "because": "about 2 hours"},
}
DONE: dict[str, Any] = {
    "tool": "set_task_status",
    "arguments": {"status": "DONE", "because": "about 2 hours"},
}


def answer(home: Path, name: str, by: str = "claude", **given: Any) -> dict[str, Any]:
    """The document that a tool answers, or that of its refusal."""
    told = called(Client(FolderLocation(home), FIXED, by), name, given)
    found: dict[str, Any] = told.structured_content
    assert ("error" in found) == bool(told.is_error)
    return found


def code(home: Path, name: str, by: str = "claude", **given: Any) -> str:
    """Why a tool is refused, in one word; empty where it is not."""
    found: str = answer(home, name, by, **given).get("error", {}).get("code", "")
    return found


def propose(
    home: Path, *changes: dict[str, Any], by: str = "claude", task: str = TAP, words: str = "Hm.",
    seen: str = "",
) -> dict[str, Any]:  # fmt: skip
    """What comes of changes, as of what is to be seen now."""
    seen = seen or answer(home, "read_task", by, task=task).get("seen", "nothing")
    given = {"task": task, "seen": seen, "words": words, "changes": [*changes]}
    return answer(home, "propose", by, **given)

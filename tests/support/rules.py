"""What the tests of the rules model share: a task as the prompt shows it, and its answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

from adapters.models.rules.model import RulesModel
from domain.ports import Exchange, Reply, Request, Section, ToolSpec

FRIDAY = "2026-11-20T10:00:00.000000Z"
SATURDAY = "2026-11-21T10:00:00.000000Z"
TOOLS = (
    "set_task_language",
    "update_task_due_date",
    "update_task_estimate",
    "update_task_priority",
    "set_task_status",
    "assign_task_labels",
    "add_multiple_checklist_items",
    "update_checklist_items",
    "record_observations",
    "update_report",
)
PROPOSING = frozenset(TOOLS[1:8])
PHRASES = Path(__file__).parents[1] / "data" / "phrases"
REPORT = {"report": "## Current report\n\nAn earlier one."}


def note(text: str, at: str = FRIDAY) -> dict[str, Any]:
    return {"at": at, "type": "note", "by": "person", "text": text}


def item(title: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"item-{title}", "title": title, "checked": False, "archived": False} | fields


def ask(
    *notes: str | dict[str, Any],
    sections: dict[str, str] | None = None,
    tools: tuple[str, ...] = TOOLS,
    forced: str = "",
    exchanges: tuple[Exchange, ...] = (),
    **task: Any,
) -> Reply:
    """What the model answers about a task with these notes; English unless said otherwise."""
    document = {
        "id": "task-1",
        "title": "Plain",
        "status": "OPEN",
        "priority": "P2",
        "languageCode": "en",
        "labelsLeft": 3,
        "createdAt": "2026-11-01T08:00:00.000000Z",
        "log": [entry if isinstance(entry, dict) else note(entry) for entry in notes],
    } | task
    user = [Section("task", f"## The task\n\n{json.dumps(document)}")]
    user += [Section(name, text) for name, text in (sections or {}).items()]
    specs = tuple(ToolSpec(name, "", {}) for name in tools)
    request = Request("rules", (), tuple(user), specs, exchanges, forced)
    return asyncio.run(RulesModel().reply(request))


def calls(reply: Reply) -> dict[str, Any]:
    return {call.tool: json.loads(call.arguments) for call in reply.calls}


def proposed(reply: Reply) -> dict[str, Any]:
    return {tool: given for tool, given in calls(reply).items() if tool in PROPOSING}


def titles(reply: Reply) -> list[str]:
    items = calls(reply).get("add_multiple_checklist_items", {"items": []})["items"]
    return [element["title"] for element in items]


def one(reply: Reply, tool: str, argument: str) -> Any:
    return calls(reply).get(tool, {}).get(argument)


def phrases(name: str) -> list[tuple[str, str | None]]:
    """A table of notes, and what is wanted of each; None, where that is nothing."""
    lines = (PHRASES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.replace(r"\n", "\n").rsplit("|", 1) for line in lines)
    return [(text, None if wanted == "-" else wanted) for text, wanted in rows]


def several(wanted: str | None) -> list[str]:
    """What stands between semicolons."""
    return wanted.split("; ") if wanted else []

"""Homes with tasks and agents, made and looked at through the command line."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.cli import done, told
from wakelog.testing import quoted

NOTES = "Takes about 60 minutes. Due by 2027-02-12. Urgent!"


def sink(home: Path, title: str = "Fix the sink", note: str = NOTES) -> str:
    """A task with a note that the offline rules find proposals in; its id."""
    done(["task", "add", title], home)
    done(["task", "note", title, note], home)
    tasks = told(["task", "list"], home)
    return str(next(task["id"] for task in tasks if task["title"] == title))


def agent(home: Path, title: str = "Fix the sink", *options: str, note: str = NOTES) -> str:
    """A task with an agent, whose creation wake is queued; the agent's id."""
    task = sink(home, title, note)
    return str(told(["agent", "create", task, *options], home)["id"])


def proposing(home: Path, *titles: str) -> list[str]:
    """Tasks whose agents have proposed changes (offline); the ids of the agents."""
    made = [agent(home, title) for title in titles or ("Fix the sink",)]
    done(["wake"], home)
    return made


def tape(path: Path, *lines: object) -> str:
    """A tape file of these replies or faults, as `--model` names it."""
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return f"tape:{path}"


def fault(code: str = "unavailable", *, of_provider: bool = True, seconds: int = 60) -> Any:
    """A line of a tape: the model does not answer."""
    return {"fault": {"code": code, "message": "no answer", "ofProvider": of_provider,
                      "retrySeconds": seconds}}  # fmt: skip


def reply(*calls: tuple[str, object], text: str = "", tokens: int = 0) -> Any:
    """A line of a tape: calls as ``(tool, arguments)``, see `quoted`."""
    made = [
        {"id": f"c{nth}", "tool": tool, "arguments": _told(tool, arguments)}
        for nth, (tool, arguments) in enumerate(calls, start=1)
    ]
    usage = {"tokensIn": tokens, "tokensOut": 0} if tokens else {}
    return {"text": text, "calls": made, "usage": usage}


def _told(tool: str, arguments: object) -> object:
    if isinstance(arguments, Mapping):
        return json.loads(quoted(tool, arguments))
    return quoted(tool, arguments) if isinstance(arguments, str) else arguments


def report(one_liner: str = "All is well") -> tuple[str, object]:
    """The call that drafts a report."""
    return "update_report", {"content": "Fine.", "tldr": "It is fine.", "oneLiner": one_liner}


def inbox(home: Path, *options: str) -> list[Any]:
    """All items of the inbox, in order."""
    found: Sequence[Any] = told(["inbox", *options], home)
    return [item for one in found for item in one["items"]]


def at(time: str) -> dict[str, str]:
    """The environment of a command at another time."""
    return {"WAKELOG_NOW": time}

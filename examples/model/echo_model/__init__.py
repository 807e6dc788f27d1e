"""A model of one's own for wakelog, asked as ``echo:MODEL``: it reports the title of the task.

What it replies are bytes of its own format, ``echo.1``, which `parse` reads again: `wakelog prove
--decoder echo`."""

import json
from collections.abc import Mapping
from typing import Any

from wakelog import Call, Model, Reply, Request


class EchoModel:
    """Answers the first turn with a report, every other one with nothing."""

    def __init__(self, name: str, greeting: str) -> None:
        self.name, self._greeting = name, greeting

    async def reply(self, request: Request) -> Reply:
        task = next((one.text for one in request.user if one.name == "task"), "")
        title = next((line for line in task.splitlines() if '"title"' in line), "a task")
        said = "" if request.exchanges else f"{self._greeting} {title[:60]}"
        return parse(json.dumps({"say": said}).encode())


def parse(raw: bytes) -> Reply:
    """What bytes of ``echo.1`` mean: the line of a report, or an empty one: nothing to do."""
    said = json.loads(raw)["say"]
    report = {"content": said, "tldr": said, "oneLiner": said[:60]}
    calls = (Call("c1", "update_report", json.dumps(report)),) if said else ()
    return Reply(raw, "", calls, reply_format="echo.1")


def make(model: str, environ: Mapping[str, str], settings: Mapping[str, Any]) -> Model:
    """The model of a name; keys would come from `environ`, the rest from ``[extensions.echo]``."""
    return EchoModel(f"echo:{model}", str(settings.get("greeting", "I see")))


DECODERS = {"echo.1": parse}

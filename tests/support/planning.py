"""What the tests of the planner share: a day as the prompt shows it, its answer, and what is wrong
with a plan, looked at minute by minute."""

import json
from collections.abc import Sequence
from typing import Any

from domain.ports import Reply
from tests.support.rules import ask, calls

TOOLS = "propose_blocks", "retract_suggestions", "update_report"
Planned = Sequence[dict[str, str]]


def ask_day(day: object, *, language: str = "en", told: str = "", **rest: Any) -> Reply:
    """What the model answers of a day, English unless said otherwise; `told`: proposals."""
    texts = {
        "now": "## Now\n\nTue 2026-11-24 08:10, Europe/Berlin (UTC+01:00)",
        "day": f"## The day\n\n{day if isinstance(day, str) else json.dumps(day)}",
        "instruction": f"## Instruction\n\nLanguage of the report: {language}.",
        "proposals": told,
    }
    return ask(sections=texts | rest.pop("sections", {}), tools=TOOLS, **rest)


def planned(reply: Reply) -> Planned:
    blocks: Planned = calls(reply).get("propose_blocks", {"blocks": []})["blocks"]
    return blocks


def problems(day: dict[str, Any], blocks: Planned) -> set[str]:
    """What a plan breaks of what holds for each."""
    now = -(-_minute(day.get("now", "00:00")) // 15) * 15
    free = _within([day["hours"]]) - _within(day["pauses"]) - set(range(now))
    free -= _within([[one["start"], one["end"]] for one in day["blocks"]])
    spans = [_within([[one["start"], one["end"]]]) for one in blocks]
    filled = set().union(*spans)
    tasks = [one["taskId"] for one in blocks]
    found = {
        "not free": not filled <= free,
        "over itself": len(filled) < sum(map(len, spans)),
        "too full": 100 * len(filled) > 80 * len(free),
        "twice": len(set(tasks)) < len(tasks),
        "unknown": not set(tasks) <= {one["id"] for one in day["tasks"]},
        "declined": bool(set(tasks) & set(day["declined"])),
        "no such length": any(len(one) not in range(15, 121, 15) for one in spans),
        "too many": len(blocks) > 20,
    }
    return {name for name, is_so in found.items() if is_so}


def _minute(clock: str) -> int:
    hours, minutes = clock.split(":")
    return 60 * int(hours) + int(minutes)


def _within(spans: Sequence[Sequence[str]]) -> set[int]:
    """The minutes of them."""
    return {at for start, end in spans for at in range(_minute(start), _minute(end))}

"""The model that needs no key and no network: notes in, proposals and a report out.

    request -> reading.read -> acts.find, findings.find -> calls -> reply

It never invents: each proposal quotes the text it was read from, and where nothing is found
nothing is proposed. Its report says what wrote it. The same request always gets the same bytes.

`Reply.raw` is canonical JSON: ``{"calls": [{"arguments": {...}, "id": "c1", "tool": "..."}],
"model": "rules", "rules": 12, "text": "...", "usage": {}}``; empty ``calls`` and ``text`` stay.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from msgspec.structs import asdict, replace

from adapters.models import replies
from adapters.models.offline.phrasing import grammar, rule
from adapters.models.replies import KeptReply
from adapters.models.rules import (
    blockers,
    context,
    improving,
    planning,
    report_text,
    tool_calls,
    weekly,
)
from adapters.models.rules.context import PromptTask
from adapters.models.rules.findings import Finding, Findings
from domain.log import canonical
from domain.ports import Reply, Request
from domain.text import cut, fold, squeeze
from domain.tools.decoding import BECAUSE

FORMAT = "rules.1"
"""What reads such bytes, as recorded with them: raised where they would be read otherwise."""
RULES_VERSION = 13
"""Raised when the same request may get another reply."""

NOTE_LENGTH_MAX = 240
TICK_REASON_MIN = 20

Arguments = dict[str, Any]


class _Tool(NamedTuple):
    """A tool that takes a kind of finding: what it is told of one, and the argument `many` that
    lists all of the kind; empty: it takes one."""

    name: str
    told: Callable[[PromptTask, Finding], Arguments]
    many: str = ""


_TOOLS = {
    "language": _Tool(
        "set_task_language",
        lambda _, one: {"languageCode": one.value, "confidence": one.extra},
    ),
    "due": _Tool("update_task_due_date", lambda _, one: {"dueDate": one.value}),
    "estimate": _Tool("update_task_estimate", lambda _, one: {"minutes": int(one.value)}),
    "priority": _Tool("update_task_priority", lambda _, one: {"priority": one.value}),
    "status": _Tool(
        "set_task_status",
        lambda _, one: {"status": one.value, "reason": one.extra or one.quote},
    ),
    "label": _Tool(
        "assign_task_labels", lambda _, one: {"id": one.target, "confidence": "high"}, "labels"
    ),
    "item": _Tool("add_multiple_checklist_items", lambda _, one: {"title": one.value}, "items"),
    "check": _Tool(
        "update_checklist_items", lambda seen, one: _item(seen, one, "isChecked", True), "items"
    ),
    "untick": _Tool(
        "update_checklist_items", lambda seen, one: _item(seen, one, "isChecked", False), "items"
    ),
    "archive": _Tool(
        "update_checklist_items", lambda seen, one: _item(seen, one, "isArchived", True), "items"
    ),
    "title": _Tool("set_task_title", lambda _, one: {"title": one.value}),
}
_ALL_TOOLS = {**{kind: tool.name for kind, tool in _TOOLS.items()}, **tool_calls.TOOLS}


def _item(seen: PromptTask, found: Finding, name: str, value: bool) -> Arguments:
    """A change to an item, and why."""
    reason = f'{report_text.where(found, seen)}: "{found.quote}"'.ljust(TICK_REASON_MIN, ".")
    return {"id": found.target, name: value, "reason": reason}


class RulesReply(KeptReply, frozen=True, kw_only=True):
    """The form of this model's bytes."""

    model: str = ""
    rules: int = 0


class RulesModel:
    """Answers by rules; see the module."""

    name = "rules"

    async def reply(self, request: Request) -> Reply:
        """Propose and report on the first turn, close on the second; before that report anew
        where not all that was found was taken up, or a task was looked up. Never raises
        `ModelFault`. Of a day it answers as `planning` does, of a week as `weekly`,
        of a template as `improving`."""
        names = {section.name for section in request.user}
        if "day" in names:
            return _reply(*planning.answer(request))
        if "week" in names:
            return _reply(*weekly.answer(request))
        if "figures" in names:
            return _reply(*improving.answer(request))
        seen = context.read(request.user)
        answers = [result for one in request.exchanges for result in one.results]
        offered = {tool.name for tool in request.tools}
        reached = offered.union(one.tool for one in answers)
        found = _heeding(seen, tool_calls.find(seen, reached, answers))
        if request.exchanges:
            found, late = _answered(found, request)
            if not request.forced and not _is_report_due(found, request, late):
                return _reply(report_text.closing(seen, found), [])
            offered &= {request.forced or "update_report", *late}
        elif request.forced:
            offered &= {request.forced}
        else:
            heard = tuple(one for one in found.proposals if _ALL_TOOLS[one.kind] in offered)
            found = replace(found, proposals=heard)
        quoting = {tool.name for tool in request.tools if _asks_for_a_quote(tool.schema)}
        is_due = bool(request.exchanges or request.forced)
        wishes = _wishes(seen, found, quoting, is_due=is_due)
        calls = [(tool, arguments) for tool, arguments in wishes if tool in offered]
        return _reply("" if calls else report_text.closing(seen, found), calls)


def _heeding(seen: PromptTask, found: Findings) -> Findings:
    """Of what the person mostly declines only what a text asks for by name."""
    names = seen.around.declined
    shy = tuple(
        one
        for one in found.proposals
        if _ALL_TOOLS[one.kind] in names and not rule("by_name").search(one.quote)
    )
    kept = tuple(one for one in found.proposals if one not in shy)
    return replace(found, proposals=kept, shy=shy)


def parse(raw: bytes) -> Reply:
    """The reply that recorded bytes stand for: the inverse of `Reply.raw`.

    Raises:
        Refused: Code ``invalid_input``: not the bytes of this model.
    """
    kept = replies.read(raw, RulesReply, what="a recorded reply of the rules")
    return replies.reply(raw, kept, FORMAT)


def _answered(found: Findings, request: Request) -> tuple[Findings, frozenset[str]]:
    """What was taken up, and what can be proposed since a task was looked up; with its tool."""
    taken = tool_calls.proposed(found, request.exchanges, _ALL_TOOLS)
    asked = {result.tool for one in request.exchanges for result in one.results}
    tool = tool_calls.TOOLS["link"]
    late = [one for one in found.proposals if one.kind == "link"]
    if request.forced or len(request.exchanges) > 1 or tool in asked or not late:
        return taken, frozenset()
    return replace(taken, proposals=(*taken.proposals, *late)), frozenset((tool,))


def _is_report_due(found: Findings, request: Request, late: Collection[str]) -> bool:
    """Whether the report of an earlier turn may say too much or too little by now."""
    turns = len(request.exchanges)
    looked_up = any(
        result.tool == blockers.LOOKUP for one in request.exchanges for result in one.results
    )
    is_unclear = looked_up and turns == 1 and found.unclear is not None
    return turns <= 1 + looked_up and bool(found.held_back or late or is_unclear)


def _reply(text: str, calls: list[tuple[str, dict[str, Any]]]) -> Reply:
    document = {
        "model": RulesModel.name,
        "rules": RULES_VERSION,
        "text": text,
        "calls": [
            {"id": f"c{place}", "tool": tool, "arguments": arguments}
            for place, (tool, arguments) in enumerate(calls, start=1)
        ],
        "usage": {},
    }
    return parse(canonical.encode(document))


def _wishes(
    seen: PromptTask, found: Findings, quoting: Collection[str], *, is_due: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls in their fixed order; `quoting`: the tools that ask for a quote, `is_due`: the report
    is asked for whatever was found, as other agents do with their questions."""
    yield from _proposals(seen, found, quoting)
    if found.retracted:
        yield "retract_suggestions", {"proposals": [asdict(one) for one in found.retracted]}
    observations = _observations(seen, found)
    if observations:
        yield "record_observations", {"observations": observations}
    is_new = bool(found.proposals or found.retracted or observations or seen.has_changes)
    is_due = is_due or bool(seen.asked)
    if is_due or is_new or not seen.report:
        report = report_text.report(seen, found)
        told = {"content": report.content, "tldr": report.tldr, "oneLiner": report.one_liner}
        yield "update_report", told


def _proposals(
    seen: PromptTask, found: Findings, quoting: Collection[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, many in dict.fromkeys((one.name, one.many) for one in _TOOLS.values()):
        told = [
            {
                **tool.told(seen, one),
                **({BECAUSE: one.quote} if name in quoting and one.quote else {}),
            }
            for kind, tool in _TOOLS.items()
            for one in found.proposals
            if tool.name == name and one.kind == kind
        ]
        if told:
            yield name, {many: told} if many else told[0]
    yield from tool_calls.calls(found)


def _asks_for_a_quote(schema: dict[str, Any]) -> bool:
    """Whether a tool takes one, for each change: since scaffold 2."""
    fields = schema.get("properties", {})
    inner = [one["items"] for one in fields.values() if "items" in one]
    return any(BECAUSE in one.get("properties", {}) for one in (schema, *inner))


def _observations(seen: PromptTask, found: Findings) -> list[dict[str, str]]:
    """What the person might forget: what they said, that work can go on, and what others owe by a
    day; nothing twice."""
    said, notes = list[dict[str, str]](), list[dict[str, str]]()
    if seen.words:
        told = "critical", "grievance"
        if not grammar("grievance").search(seen.words):
            told = "notable", "operational"
        said.append(_note(f'The user said: "{squeeze(seen.words)}"', *told))
    if found.freed is not None:
        notes.append(_note(f'A note says it is not blocked now: "{found.freed.quote}"', "notable"))
    notes += [_note(f'Somebody else: "{one}"', "routine") for one in found.owed]
    known = fold(seen.journal)
    fresh = [note for note in notes if fold(note["text"]) not in known]
    return [*said, *fresh]


def _note(text: str, priority: str, category: str = "operational") -> dict[str, str]:
    text = cut(text, length_max=NOTE_LENGTH_MAX)
    return {"text": text, "priority": priority, "category": category}

"""Reports, messages and wakes as a person reads them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from textwrap import indent
from typing import TYPE_CHECKING, Any

import msgspec

from adapters.text.common import ID_SHOWN, counted, local_time, run_shown, safe, typed
from adapters.text.policy import HELD, waits
from domain.agent.clients import client_named
from domain.agent.wake_queue import NO_RECEIPT
from domain.lessons.lessons import STARS_MAX
from domain.scaffold import is_newer, made_by

if TYPE_CHECKING:
    from adapters.documents.agent_output import ChangeSince, MessageThread, ReportDetails, WhyLine
    from adapters.documents.lessons import LessonLine, RanDetails
    from adapters.documents.tasks import FieldWhy
    from adapters.documents.wakes import WakeCause, WakeDetails, WakeLine, WakeStep, WakeUsage

LINE_MAX = 160  # characters of one line of `show`; --json has all of it
BLOCK_LINES_MAX = 12
_SINCE_BY = {
    "you": "by you",
    "confirmed": "proposed and confirmed",
    "import": "by an import",
    "another agent": "by another agent",
}

RULES = {
    "dormant": "the agent is paused",
    "destroyed": "the agent is destroyed",
    "switched_off": "all agents are switched off",
    "automation_off": "its automatic updates are off",
    "mode": "its mode does not listen to this",
    "own_write": "its own change",
    "agent_write": "another agent's change",
    "hops": "too many agents' changes in a row",
    "led_elsewhere": "another machine wakes for it",
    "seen_elsewhere": "it saw it on another machine",
    "predicate": "in another category or status than it hears of",
    "not_noticed": "not looked at yet: `wakelog wake` does",
    "task_deleted": "the task is deleted",
    "nothing_new": "another machine said what was known here",
    "unchanged": "nothing new since the wake before",
    "too_few_facts": "fewer than 5 new facts since the wake before",
    "out_of_scope": "the task is outside its categories",
    "overshared_payload_blocked": "its prompt would have said more than it may",
    "cancelled": "cancelled",
    **HELD,
    "disallowed_provider_model": "its model is not allowed for a category",
    NO_RECEIPT: "your consent to what that sends, or the key, was missing",
}


WITHOUT_REPORT = ", without a report"
"""Of a wake from which one was due."""


def outcome_text(run: "WakeLine") -> str:
    """How a wake ended, or how it stands."""
    return (run.outcome or run.state) + WITHOUT_REPORT * run.report_missing


def rule_text(rule: str) -> str:
    """A rule in words."""
    return RULES.get(rule, rule.replace("_", " "))


def why_rows(found: "Sequence[WhyLine]", zone: str, own: str = "") -> list[tuple[object, ...]]:
    """The rows of `why`; changes one after another that are none of its business are one row.
    `own`: the replica that is asked, where machines share the logs."""

    def alike(one: "WhyLine") -> tuple[bool, str]:
        return one.outcome == "unmatched" and not one.rule, one.position.split(":")[1]

    rows: list[tuple[object, ...]] = []
    for (is_foreign, _), group in groupby(found, alike):
        ones = list(group)
        if is_foreign and len(ones) > 1:
            last = ones[0].position.rpartition(":")[2]
            where = f"{_where(ones[-1], own)}..{last}"
            what = f"{len(ones)} changes that do not concern it"
            rows.append((local_time(ones[0].at, zone), where, what, "unmatched", "", ""))
            continue
        for one in ones:
            when, run = local_time(one.at, zone), run_shown(one.run_key or "")
            run += WITHOUT_REPORT * one.report_missing
            rule = rule_text(one.rule or "")
            rows.append((when, _where(one, own), one.what, one.outcome, run, rule))
    return rows


def field_lines(found: "FieldWhy", zone: str) -> Iterator[str]:
    """Why a field is as it is: its value, then each step with its time and what it leads to."""
    yield safe(f"{found.label}: {found.value or 'none'}")
    for step in found.steps:
        lead = step.lead
        named = (lead.run_key or lead.id) if lead else ""
        named = named if lead and lead.kind == "entry" else named[:ID_SHOWN]
        where = f" [{lead.kind} {named}]" if lead and lead.kind != "note" else ""  # by its time
        words = f" “{_line(step.words)}”" if step.words else ""
        when = f"{local_time(step.at, zone)}  " if step.at else ""
        yield safe(f"  {when}{step.said}{words}{where}")


def _where(one: "WhyLine", own: str) -> str:
    """A position as short as one replica needs it, ``journal 42``; of another machine whole, as
    it can be typed."""
    log, replica, n = one.position.split(":")
    return f"{log} {n}" if replica == own or not own else one.position


# --------------------------------------------------------------------------------------- reports


def report_head(document: "ReportDetails", name: str, zone: str) -> Iterator[str]:
    """What stands above a report: its subject, who wrote it and when, and the short form."""
    model = document.model
    told = "no model, only fixed rules" if model == "rules" else str(model)
    yield safe(name)
    by = f"by wake {(document.run_key or '')[:ID_SHOWN]} [{told}]"
    yield f"{local_time(document.at or '', zone)} {by}"
    if document.stale:
        yield "It may be stale: the task has changed since; `wakelog wake` brings it up to date."
    yield from last_wake(document)
    yield ""
    yield safe(f"TL;DR {document.tldr}")
    yield from since_lines(document.changes)


def last_wake(document: "ReportDetails") -> Iterator[str]:
    """That its last wake brought none, where one was due."""
    if run := document.without_report:
        yield f"Its last wake, {run_shown(run)}, ended without a report."


def report_lines(document: "ReportDetails") -> Iterator[str]:
    """A report in one line, below its task, and what changed since; nothing where there is none."""
    if document.one_liner:
        yield ""
        yield safe(f"Report: {document.one_liner}")
        yield from since_lines(document.changes)


def since_lines(changes: "Sequence[ChangeSince]") -> Iterator[str]:
    """What changed since a report was written: their number, then each in a line."""
    if not changes:
        return
    yield ""
    yield f"{counted(len(changes), 'change')} since:"
    yield from (safe(f"  {since_line(one)}") for one in changes)


def since_line(one: "ChangeSince") -> str:
    """A change of a task: what, how often, and through whom."""
    times = f" ({one.times} times)" if one.times > 1 else ""
    return f"{one.what}{times}, {_SINCE_BY[one.by]}"


def report_history(document: "ReportDetails", zone: str) -> list[str]:
    """The reports before the current one, each in a line."""
    return [
        f"  {local_time(one.at, zone)}  {one.run_key[:ID_SHOWN]}  {_line(one.tldr)}"
        for one in document.history[1:]
    ]


# -------------------------------------------------------------------------------------- messages


def thread_heading(thread: "MessageThread") -> str:
    """What a person calls a thread: as much of its name as `--thread` takes for it."""
    kind, _, name = thread.thread.removeprefix("agent:").rpartition(":")
    return f"{'Session' if kind == 'session' else 'Wake'} {name[:ID_SHOWN]}"


def thread_lines(thread: "MessageThread", zone: str) -> Iterator[str]:
    """The messages of a thread."""
    for one in thread.messages:
        about = [one.tool or "", one.status or "", one.code or ""]
        head = " ".join(part for part in (one.kind.replace("_", " "), *about) if part)
        yield f"  {local_time(one.at, zone)}  {head}"
        text = safe(one.text).strip()
        if text:
            yield indent(text, "      ")


# ----------------------------------------------------------------------------------------- wakes


def run_lines(run: "WakeDetails", name: str, zone: str, called: str = "") -> Iterator[str]:
    """A wake, step by step; `called`: what it is called, if not by its run key."""
    by = client_named(run.model or "")
    yield safe(f"{name}: {reason_told(run)} wake {called or run.run_key}")
    if by:
        yield safe(f"  {NOT_ASKED.format(by.partition(' ')[0])}")
    yield from (f"  {line}" for line in _facts_of(run, zone))
    if not by:
        yield from ("", "Causes")
    for cause in run.causes:
        yield f"  {local_time(cause.at, zone)}  {_line(_cause(cause))}"
    if run.cause_count > len(run.causes):
        yield f"  and {run.cause_count - len(run.causes)} more"
    yield ""
    yield "Steps"
    for step in run.steps:
        kind = step.kind.rpartition(".")[0]
        yield f"  {step.n:>5}  {local_time(step.at, zone)}  {kind}"
        yield from (indent(line, " " * 9) for line in _step(kind, step.data) if line)


NOT_ASKED = "{} read the task and proposed this; what model it used is not known here"


def reason_told(run: "WakeLine") -> str:
    """Why a wake was; of one that nobody asked for, and in a home of several people, by whom."""
    by = client_named(run.model or "")
    return f"by {by}" if by else run.reason + (f" by {run.who}" if run.who else "")


def _facts_of(run: "WakeDetails", zone: str) -> Iterator[str]:
    outcome = outcome_text(run)
    error = f": {run.error}" if run.error else ""
    yield safe(f"{outcome}{error}")
    if run.waits_for:
        yield waits(run.waits_for, run.waits_until or "", zone)
    if run.before:
        quiet = f"nothing new since the wake of {local_time(run.before.at, zone)}"
        moved = ", ".join(run.before.moved) or f"always; {quiet}"
        yield f"asked: {moved}" if run.started_at else quiet
    if run.superseded_by:
        yield f"its triggers went to {run.superseded_by[:ID_SHOWN]}"
    if run.started_at:
        ended = local_time(run.ended_at or "", zone) or "not ended"
        yield f"{local_time(run.started_at, zone)} to {ended}, model {run.model}"
        counts = ("turns", "tool_calls", "proposals", "observations")
        yield ", ".join(
            counted(getattr(run, name), name.rpartition("_")[2][:-1]) for name in counts
        )
        yield _usage(run.usage)
    if run.report:
        yield safe(f"report: {run.report.tldr}")


def _usage(usage: "WakeUsage") -> str:
    """What its answers took.

    >>> from adapters.documents.wakes import WakeUsage
    >>> _usage(WakeUsage(1200, 34, None, None, 0.0005))
    'tokens: 1,200 in, 34 out, cost 0.000500'
    """
    names = {"in": usage.input_tokens, "out": usage.output_tokens, "thought": usage.thought_tokens}
    known = [f"{count:,} {name}" for name, count in names.items() if count is not None]
    cost = "" if usage.cost is None else f", cost {usage.cost:.6f}"
    return f"tokens: {', '.join(known) or 'not told by the model'}{cost}"


def _cause(cause: "WakeCause") -> str:
    about = cause.position or ", ".join(cause.ticks) or ""
    tokens = " ".join(cause.tokens)
    words = f'"{cause.words}"' if cause.words else ""
    link = "through a link" if cause.propagated else ""
    parts = (cause.how, cause.reason, about, tokens, link, words)
    return " ".join(part for part in parts if part)


def newer_wake(steps: Iterable["WakeStep"]) -> str:
    """Where a wake comes from that a newer wakelog made; else empty."""
    numbers = (one.data["scaffold"] for one in steps if one.kind.startswith("wake.started"))
    return next((made_by(number) for number in numbers if is_newer(number)), "")


def _step(kind: str, data: dict[str, Any]) -> Iterator[str]:
    """What a person wants to know of a step, in as many lines as it needs."""
    match kind:
        case "wake.started":
            if is_newer(data["scaffold"]):
                yield f"{made_by(data['scaffold'])}: shown as it is recorded, not proved"
            yield f"shown: {', '.join(one['name'] for one in data['system'] + data['user'])}"
            yield f"on offer: {', '.join(data['tools'])}"
        case "wake.model_asked":
            forced = f", only {data['forced']} on offer" if data["forced"] else ""
            yield f"turn {data['turn']}, attempt {data['attempt']}{forced}"
        case "wake.model_answered":
            yield _block(data["text"] or "")
            for call in data["calls"]:
                yield _line(f"calls {call['tool']} {_json(call['arguments'])}")
        case "wake.tool_asked":
            yield _line(f"{data['tool']} {_json(data['arguments'])}")
        case "wake.tool_returned":
            code = f" ({data['code']})" if data["code"] else ""
            yield _line(f"{data['tool']}: {data['status']}{code}. {data['message']}")
        case "wake.report_drafted":
            yield _line(f"{data['oneLiner']}: {data['tldr']}")
        case "changes.item_proposed":
            yield _line(f"{data['item']}. {data['summary']}")
        case "agent.observed":
            yield _line(f"{data['priority']}, {data['category']}: {data['words']}")
        case "wake.finished":
            stop = ", ".join(part for part in (data["outcome"], data["stop"], data["code"]) if part)
            yield _line(f"{stop}. {data['message']}".rstrip(". "))
        case "changes.opened":
            yield "its proposals are shown to you"
        case _:
            yield _line(", ".join(f"{name} {_json(value)}" for name, value in _told(data)))


def _told(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a step that say something."""
    for name, value in data.items():
        if value not in ("", None, 0, False, []) and name not in ("operation", "action"):
            yield name, value


def _json(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _line(text: str) -> str:
    """A text in one line, its end cut where it is long."""
    squeezed = " ".join(safe(text).split())
    return squeezed if len(squeezed) <= LINE_MAX else squeezed[: LINE_MAX - 1] + "…"


def _block(text: str) -> str:
    lines = safe(text).strip().splitlines()
    more = [f"… {len(lines) - BLOCK_LINES_MAX} more lines"] if len(lines) > BLOCK_LINES_MAX else []
    return "\n".join([*(line[:LINE_MAX] for line in lines[:BLOCK_LINES_MAX]), *more])


# ------------------------------------------------------------------------------------------ lessons
# Lessons in words.

REASONS_SHOWN = 3


def scope_heading(scope: str, name: str) -> str:
    """What a scope is called; one that is gone by the beginning of its id.

    >>> scope_heading("category:xyz", "Work"), scope_heading("template:abcdefghijkl", "")
    ('Category Work', 'Template abcdefgh')
    """
    what, _, known = scope.partition(":")
    return f"{what.capitalize()} {name or known[:ID_SHOWN]}"


def ruled_text(tool: str, category: str, *, is_off: bool, is_news: bool) -> str:
    """What a rule says, as it is made.

    >>> ruled_text("link_task", "Work", is_off=True, is_news=False)
    'Ruled out in Work already: link_task.'
    """
    told = "Ruled out" if is_off else "No longer ruled out"
    return f"{told} in {category}{'' if is_news else ' already'}: {tool}."


def rule_hint(line: "LessonLine") -> str:
    """That a tool is ruled out, or may better be, and how; empty where neither is so."""
    if not (line.ruled_out or line.rule_offered):
        return ""
    told = f"{line.confirmed} of {line.confirmed + line.rejected} accepted. Have none proposed"
    if line.ruled_out:
        told = "ruled out. Take it back"
    option = "--again" if line.ruled_out else "--never"
    return f"{line.tool}: {told}: `wakelog lessons {typed(line.name)} {option} {line.tool}`"


def ratings_text(one: "RanDetails") -> str:
    """What became of the wakes of a template; empty where none ended and none was rated."""
    told = f"{counted(one.wakes, 'wake')} ended, {one.noops} with nothing to do"
    if not one.ratings:
        return told if one.wakes else ""
    mean = sum(rated.stars for rated in one.ratings) / len(one.ratings)
    rated = f"{len(one.ratings)} rated, {mean:.1f} of {STARS_MAX} on average"
    return f"{told}; {rated}" if one.wakes else rated

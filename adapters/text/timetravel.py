"""What the commands that look back print for a person."""

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import msgspec

from adapters.text.common import (
    ID_SHOWN,
    DiffLine,
    DiffMark,
    counted,
    diff_line,
    indented,
    local_time,
    run_shown,
    safe,
)
from projections.wakes import WakeDocument
from replay import wake_comparison as w
from replay.rerun import AwaitedInput, RerunStep, SectionAgain
from replay.world_at import AgentThen, LessonThen, ProposalThen, TaskThen, WakeThen

if TYPE_CHECKING:
    from adapters.documents import timetravel as documents
    from adapters.documents.day import DayBlock

LINE_MAX = 160
CHANGES_SHOWN = 60  # --json has all
DIFF_LINES_MAX = 40  # of one text
NAMES = ("title", "name", "summary", "text", "tldr")  # what a thing is called, the first there is
_ID = re.compile(rf"([a-z2-7]{{{ID_SHOWN}}})[a-z2-7]{{24}}")


def line(text: str) -> str:
    """A text in one line, its end cut where it is long."""
    joined = " ".join(part.rstrip() for part in safe(text).splitlines())
    return joined if len(joined) <= LINE_MAX else joined[: LINE_MAX - 1] + "…"


def text_diff(a: str, b: str) -> Iterator[DiffLine]:
    """The lines in which two texts differ, with one line around them."""
    found = list(unified_diff(a.splitlines(), b.splitlines(), lineterm="", n=1))[2:]
    yield from (diff_line(safe(one)) for one in found[:DIFF_LINES_MAX])
    if len(found) > DIFF_LINES_MAX:
        yield DiffLine(f"… {len(found) - DIFF_LINES_MAX} more lines")


# -------------------------------------------------------------------------------------------- at


def at_lines(document: "documents.MomentDetails", zone: str) -> Iterator[str]:
    """A world: tasks, agents, proposals, wakes."""
    when = local_time(document.at or "", zone) or "before the first append"
    yield f"{when}  {document.journal}  {document.agent}"
    for name, lines in (
        ("Tasks", (one for task in document.tasks for one in _task(task, zone))),
        ("Agents", (one for agent in document.agents for one in _agent(agent, zone))),
        ("Proposals", map(_proposal, document.proposals)),
        ("Wakes", (_wake(one, zone) for one in document.wakes)),
        *([("Lessons", map(_lesson, document.lessons))] if document.lessons else []),
        *([("Day", map(_block, document.blocks))] if document.blocks else []),
    ):
        yield from ("", name, *(f"  {one}" for one in [*lines] or ["none"]))


def _block(one: "DayBlock") -> str:
    return line(f"{one.start}-{one.end}  {one.title}")


def _task(task: TaskThen, zone: str) -> Iterator[str]:
    parts: list[str] = [task.status, task.priority]
    parts += [f"due {task.due_date}"] if task.due_date else []
    parts += [f"{task.estimate_minutes} minutes"] if task.estimate_minutes else []
    parts += [f"#{label}" for label in task.labels]
    parts += ["deleted"] if task.deleted else []
    yield line(f"{task.id[:ID_SHOWN]}  {task.title}: {', '.join(parts)}")
    for item in task.items:
        if not item.archived:
            yield line(f"    [{'x' if item.checked else ' '}] {item.title}")
    for note in task.notes:
        yield line(f"    {local_time(note.at, zone)}  {note.kind}: {note.text}")
    for link in task.links:
        arrow = "->" if link.direction == "out" else "<-"
        yield f"    {link.relation} {arrow} {link.task_id[:ID_SHOWN]}"


def _agent(agent: AgentThen, zone: str) -> Iterator[str]:
    parts = [agent.mode, agent.lifecycle, agent.run_status]
    parts += [counted(agent.wakes, "wake")]
    parts += [f"{agent.failures} failed in a row"] if agent.failures else []
    parts += ["its report is stale"] if agent.stale else []
    yield line(f"{agent.id[:ID_SHOWN]}  {agent.name}: {', '.join(parts)}")
    if agent.report:
        told = agent.report
        yield line(f"    report of {told.run_key[:ID_SHOWN]}: {told.tldr}")
    for digest in agent.digests:
        since, until = (local_time(at, zone)[:10] for at in (digest.since, digest.until))
        yield f"    {since} to {until}  {counted(digest.notes, 'note')} in a digest"
        yield from (line(f"      {told}") for told in digest.text.split("\n"))
    for one in agent.uncovered if agent.digests else agent.journal:
        yield line(f"    {local_time(one.at, zone)}  {one.priority}: {one.text}")


def _proposal(one: ProposalThen) -> str:
    return line(f"{one.ref:>6}  {one.status}: {one.summary}")


def _lesson(one: LessonThen) -> str:
    told = f"{one.confirmed} confirmed ({one.edited} edited)"
    return f"{one.tool}: {told}, {one.rejected} rejected, {one.deferred} put off"


def _wake(one: WakeThen, zone: str) -> str:
    due = local_time(one.waits_until or one.due_at, zone)
    about = f"{one.state} {one.reason} wake of {one.agent_id[:ID_SHOWN]}"
    return f"{one.run_key[:ID_SHOWN]}  {about}, due {due}, {counted(one.triggers, 'trigger')}"


# ---------------------------------------------------------------------------------------- replay


def prompt_lines(sections: Sequence[SectionAgain]) -> Iterator[DiffLine]:
    """What today's code makes of the prompt; the signs are those of `prove`."""
    changed = [one for one in sections if not one.is_same]
    names = ", ".join(one.name for one in sections)
    if not changed:
        yield DiffLine(f"  prompt    rendered again: {names}: the same bytes")
        return
    others = ", ".join(one.name for one in changed)
    yield DiffLine(f"  prompt    rendered again: {others}: OTHER BYTES")
    for one in changed:
        yield DiffLine(f"    {one.name}, today (-) and recorded (+)")
        yield from indented(text_diff(one.today or "", one.recorded or ""), 6)


def step_lines(step: RerunStep, zone: str) -> Iterator[str]:
    """One step: what was asked, answered and decided, why, and whether the bytes are the same."""
    log = step.position.partition(":")[0]
    yield f"{'step' if log == 'agent' else 'journal'} {step.n}  {local_time(step.at, zone)}"
    if step.asked.what:
        yield f"  asked     {_asked(step.asked)}"
    yield f"  answered  {line(_answer(step))}"
    for one in step.decided:
        reason = f": {one.why}" if one.why else ""
        yield line(f"  decided   {one.kind_of.rpartition('.')[0]}{_about(one.data)}{reason}")
    if step.is_same:
        yield "  bytes     the same"
        return
    yield "  bytes     OTHERS" + (f": today's code says: {line(step.error)}" if step.error else "")
    for changed in step.changed:
        yield f"    {changed.stream}, version {changed.version}"
        yield f"      recorded  {line(changed.recorded) or 'nothing'}"
        yield f"      today     {line(changed.today) or 'nothing'}"


def _asked(asked: AwaitedInput) -> str:
    if asked.request is None:
        return line(f"{asked.tool} {asked.arguments}")
    request = asked.request
    size = sum(len(one.text.encode()) for one in (*request.system, *request.user))
    forced = f", only {request.forced} on offer" if request.forced else ""
    told = f"{request.model}, turn {asked.turn}: {counted(size, 'byte')} of prompt"
    return f"{told}, {counted(len(request.exchanges), 'earlier turn')}{forced}"


def _answer(step: RerunStep) -> str:
    """The cause in words; of a reply of the model its calls."""
    data = step.answer
    kind = step.cause.rpartition(".")[0]
    calls = [f"calls {one['tool']} {_words(one['arguments'])}" for one in data.get("calls", ())]
    said = _words(data["text"]) if isinstance(data.get("text"), dict) else ""
    parts = [part for part in (said, *calls) if part]
    return f"{kind}: {'; '.join(parts)}" if parts else kind + _about(data)


def _about(data: dict[str, Any]) -> str:
    """What tells one fact from another of its kind."""
    names = ("tool", "status", "code", "outcome", "stop", "turn", "forced", "item", "summary")
    told = [f"{name} {data[name]}" for name in names if data.get(name)]
    return f" ({', '.join(told)})" if told else ""


def _words(value: dict[str, Any]) -> str:
    return str(value.get("text") or (f"payload {value['payload']}" if "payload" in value else ""))


# ------------------------------------------------------------------------------------------ diff


def wake_called(wake: WakeDocument, zone: str) -> str:
    """A wake in a few words: which, why and when."""
    when = local_time(wake.started_at or wake.queued_at, zone)
    return f"wake {run_shown(wake.run_key)}, {wake.reason}, {when}"


def sides_lines(a: str, b: str) -> Iterator[DiffLine]:
    """What stands on each side of what follows."""
    yield DiffLine(safe(f"- {a}"), "-")
    yield DiffLine(safe(f"+ {b}"), "+")


def wakes_lines(document: w.WakesCompared) -> Iterator[DiffLine]:
    """What differs between two wakes."""
    named = {"model": document.model, "reason": document.reason, "outcome": document.outcome}
    for name, one in named.items():
        if not one.same:
            yield DiffLine(line(f"{name}: {one.a or 'none'} -> {one.b or 'none'}"))
    yield from _prompt_diff(document.prompt)
    for reply in document.replies:
        if not reply.same:
            yield DiffLine(f"reply {reply.turn}")
            yield from indented(text_diff(reply.a or "", reply.b or ""))
            yield from indented(_calls_diff(reply.calls))
    yield from _sides("proposals", document.proposals)
    yield from _sides("observations", document.observations)
    report = document.report
    if not report.same:
        yield DiffLine("report")
        a, b = report.a or w.ReportSeen(), report.b or w.ReportSeen()
        yield from indented(text_diff(a.one_liner, b.one_liner))
        yield from indented(text_diff(a.tldr, b.tldr))
        yield from indented(text_diff(a.content, b.content))
    said = {
        "replies": all(one.same for one in document.replies),
        "proposals": document.proposals.same,
        "observations": document.observations.same,
        "report": report.same,
    }
    if same := [name for name, is_same in said.items() if is_same]:
        yield DiffLine(f"the same: {', '.join(same)}")
    yield DiffLine(tokens_line(document.tokens))


def _prompt_diff(sections: Sequence[w.SectionPair]) -> Iterator[DiffLine]:
    same = [one.section for one in sections if one.same]
    if len(same) == len(sections):
        yield DiffLine(f"prompt: the same ({', '.join(same)})")
        return
    for one in sections:
        if not one.same:
            yield DiffLine(f"prompt section {one.section}")
            yield from indented(text_diff(one.a or "", one.b or ""))


def _calls_diff(calls: Sequence[w.CallPair]) -> Iterator[DiffLine]:
    for call in calls:
        if call.a and not call.same:
            yield DiffLine(f"- {_call(call.a)}", "-")
        if call.b and not call.same:
            yield DiffLine(f"+ {_call(call.b)}", "+")


def _call(call: w.CallSide) -> str:
    code = f" ({call.code})" if call.code else ""
    return line(f"{call.tool} {call.arguments}: {call.status}{code} {call.message}")


def _sides(name: str, part: w.ProposalsPair | w.ObservationsPair) -> Iterator[DiffLine]:
    if part.same:
        return
    yield DiffLine(name)
    yield from (DiffLine(line(f"  - {one}"), "-") for one in part.only_a)
    yield from (DiffLine(line(f"  + {one}"), "+") for one in part.only_b)


def tokens_line(tokens: w.TokensPair) -> str:
    """Tokens of both sides; what a model did not tell is unknown."""
    a, b = _tokens(tokens.a), _tokens(tokens.b)
    return f"tokens: {a}" if a == b else f"tokens: {a} -> {b}"


def _tokens(side: w.TokensSide) -> str:
    if side.input_tokens is side.output_tokens is None:
        return f"unknown in {counted(side.turns, 'turn')}"
    known = [side.input_tokens, side.output_tokens]
    told = ["unknown" if one is None else f"{one:,}" for one in known]
    return f"{told[0]} in, {told[1]} out in {counted(side.turns, 'turn')}"


def worlds_lines(document: "documents.WorldsDiff | documents.HomesDiff") -> Iterator[DiffLine]:
    """What differs between two worlds."""
    for log in getattr(document, "logs", ()):
        yield from _log(log)
    found = document.changes
    for one in found[:CHANGES_SHOWN]:
        yield from _change(one)
    if len(found) > CHANGES_SHOWN:
        yield DiffLine(f"and {len(found) - CHANGES_SHOWN} more; --json has them all")


def _log(log: "documents.LogDiff") -> Iterator[DiffLine]:
    rows = counted(log.same_rows, "row")
    if log.same:
        yield DiffLine(f"{log.log}: the same to the byte, {rows}")
        return
    sizes = f"the first has {log.a_rows:,}, the second {log.b_rows:,}"
    same = f"the same for {rows}, then they part" if log.same_rows else "not a row is the same"
    yield DiffLine(f"{log.log}: {same}; {sizes}")
    a, b = (log.first.a, log.first.b) if log.first else (None, None)
    sides: tuple[tuple[DiffMark, documents.RowDetails | None], ...] = (("-", a), ("+", b))
    for mark, row in sides:
        told = f"{row.stream} {row.version} {row.kind}" if row else "it ends"
        yield DiffLine(line(f"  {mark} {told}"), mark)


def _change(one: w.Difference) -> Iterator[DiffLine]:
    path = _ID.sub(r"\1", one.path)
    sides = [one.a, one.b]
    if all(isinstance(side, str) for side in sides) and any("\n" in side for side in sides):
        yield DiffLine(path)
        yield from indented(text_diff(*sides))
        return
    told = [line("nothing" if side is None else called(side)) for side in sides]
    match one.change:
        case "added":
            yield DiffLine(f"+ {path}: {told[1]}", "+")
        case "removed":
            yield DiffLine(f"- {path}: {told[0]}", "-")
        case _:
            yield DiffLine(f"~ {path}: {told[0]} -> {told[1]}")


def called(value: Any) -> str:
    """A value; a whole thing by what a person calls it."""
    if isinstance(value, dict):
        name = next((value[one] for one in NAMES if value.get(one)), "")
        if name:
            return str(name)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

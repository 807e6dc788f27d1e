"""A day planned by rules: who needs time gets one block, the most pressing first.

    section `day` -> Day -> plan -> calls, with a report that says what and why

Nothing but the section counts, so the same one always gets the same plan. What waits in the inbox
as it would be proposed again is left there; what would not is taken back.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct, ValidationError, convert, field

from adapters.models.offline.wording import Texts, bulleted, status_in, texts_in
from adapters.models.rules import context, summary
from adapters.models.rules.context import PromptContext, PromptTask
from domain.journal.day import Span, clock, free_spans, minutes_of
from domain.ports import Request
from domain.text import cut, squeeze
from domain.tools.times import duration

QUARTER = 15
BLOCK_MAX = 120
PART_MIN = 30  # so long is a block that does not take its task whole
WITHOUT_ESTIMATE = 30
SOON_DAYS = 7
FILLED_PERCENT = 80
BLOCKS_MAX = 20
ROWS_SHOWN = 10
BEGUN = "IN PROGRESS"

_OPEN = re.compile(
    r"- fp=(?P<fingerprint>\S+) Block on (?P<date>\S+) (?P<start>[\d:]+)-(?P<end>[\d:]+): "
    r"task (?P<task>\S+)(?P<put_off> \[deferred\])?"
)

Clock = Annotated[str, Meta(pattern=r"^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$")]


class Block(Struct, frozen=True):
    """Time that is taken; of a task, or with a title."""

    start: Clock
    end: Clock
    task: str = ""
    title: str = ""

    @property
    def span(self) -> Span:
        return minutes_of(self.start), minutes_of(self.end)


class Named(Struct, frozen=True):
    """What has a title."""

    id: str
    title: str

    @property
    def name(self) -> str:
        return cut(squeeze(self.title), length_max=summary.TITLE_MAX)


class Task(Named, frozen=True):
    """A task that may be planned. `planned`: minutes of it in the day's blocks."""

    status: str = ""
    priority: str = ""
    due: date | None = None
    estimate: int = 0
    spent: int = 0
    planned: int = 0
    pinned: bool = False

    @property
    def left(self) -> int:
        return max(0, self.estimate - self.spent)

    @property
    def needs(self) -> int:
        """Minutes that a block of it may take, in quarters."""
        left = max(QUARTER, self.left) if self.estimate else WITHOUT_ESTIMATE
        return min(BLOCK_MAX, _up(max(0, left - self.planned)))


class Spent(Named, frozen=True):
    """Minutes that were spent on a task."""

    minutes: int


class Before(Struct, frozen=True):
    """The day before: what was planned, and what was done."""

    day: date = field(name="date")
    blocks: tuple[Block, ...] = ()
    spent: tuple[Spent, ...] = ()


class Day(Struct, frozen=True, rename="camel"):
    """What the section tells. `now` only of today, `declined`: tasks that were not wanted."""

    day: date = field(name="date")
    now: Clock = "00:00"
    hours: tuple[Clock, Clock] = ("09:00", "17:00")
    pauses: tuple[tuple[Clock, Clock], ...] = ()
    blocks: tuple[Block, ...] = ()
    tasks: tuple[Task, ...] = ()
    more_tasks: int = 0
    declined: frozenset[str] = frozenset()
    before: Before | None = None


class Placed(NamedTuple):
    """A block for a task."""

    task: Task
    start: str
    end: str
    minutes: int


class Plan(NamedTuple):
    """Blocks in order, and what does not fit, the most pressing first; `free`: minutes."""

    placed: Sequence[Placed]
    late: Sequence[Task]
    free: int


def answer(request: Request) -> context.Said:
    """What is said of a day, and the calls: on the first turn, later only what is forced."""
    sections = {one.name: context.tidy(one.text) for one in request.user}
    texts = texts_in(context.report_language(sections))
    try:
        day = convert(context.document(sections["day"]), Day)
    except ValidationError:
        told, calls = texts["d.unreadable"], dict[str, dict[str, Any]]()
        report: dict[str, Any] = {"content": told, "tldr": told, "oneLiner": told}
    else:
        planned = plan(day)
        told = f"{_headline(day, planned, texts)}."
        calls = _changes(day, planned.placed, sections.get("proposals", ""), texts)
        report = _report(day, planned, context.read_context(sections), texts)
    is_said = f"TL;DR: {report['tldr']}" in sections.get("report", "")
    if calls or request.forced or sections.get("words") or not is_said:
        calls["update_report"] = report
    return context.in_turn(request, calls, told)


# ----------------------------------------------------------------------------------------- the plan


def plan(day: Day) -> Plan:
    """One block for each task that needs time and finds some. What blocks of tasks take already
    counts to what may be filled, so that planning anew does not fill the rest."""
    first, last = map(minutes_of, day.hours)
    first = max(first, _up(minutes_of(day.now)))
    pauses = [(minutes_of(start), minutes_of(end)) for start, end in day.pauses]
    spans = free_spans((), (first, last), [*pauses, *(one.span for one in day.blocks)])
    free = sum(end - start for start, end in spans)
    own = [one.span for one in day.blocks if one.task]
    taken = sum(max(0, min(end, last) - max(start, first)) for start, end in own)
    left = (free + taken) * FILLED_PERCENT // 100 - taken
    gaps = [(_up(start), end) for start, end in spans]
    placed, late = list[Placed](), list[Task]()
    wanting = [one for one in day.tasks if one.needs and one.id not in day.declined]
    for task in sorted(wanting, key=lambda one: _rank(day, one)):
        span = _fitting(gaps, task.needs, left) if len(placed) < BLOCKS_MAX else None
        if span is None:
            late.append(task)
            continue
        start, end = span
        gaps = [(end, until) if since == start else (since, until) for since, until in gaps]
        left -= end - start
        placed.append(Placed(task, clock(start), clock(end), end - start))
    return Plan(sorted(placed, key=lambda one: one.start), late, free)


def _rank(day: Day, task: Task) -> tuple[object, ...]:
    """Pinned; due by that day; due soon; priority; begun; due earlier; id."""
    due = task.due or date.max
    away = (due - day.day).days
    far = (away > 0) + (away > SOON_DAYS)
    return not task.pinned, far, task.priority or "P9", task.status != BEGUN, due, task.id


def _fitting(gaps: list[Span], needs: int, left: int) -> Span | None:
    """Where the first gap takes it whole, else a part of it that is worth to begin."""
    least = min(needs, PART_MIN)
    rooms = [(start, min(end - start, needs, left) // QUARTER * QUARTER) for start, end in gaps]
    rooms = [one for one in rooms if one[1] >= least]
    whole = [one for one in rooms if one[1] == needs]
    return next(((start, start + length) for start, length in whole or rooms), None)


def _up(minutes: int) -> int:
    """The next whole quarter."""
    return -(-minutes // QUARTER) * QUARTER


def _changes(
    day: Day, placed: Sequence[Placed], proposals: str, texts: Texts
) -> dict[str, dict[str, Any]]:
    """What is to be proposed and taken back, as what waits already leaves it."""
    waiting = [
        one
        for one in map(_OPEN.fullmatch, proposals.splitlines())
        if one and one["date"] == day.day.isoformat() and not one["put_off"]
    ]
    kept = [(one, told) for one in placed for told in waiting if _is_same(one, told)]
    fresh = [one for one in placed if one not in [same for same, _ in kept]]
    gone = [
        told["fingerprint"]
        for told in waiting
        if told not in [same for _, same in kept]
        and not any(_is_of(one, told) for one in fresh)  # the new one replaces it
    ]
    calls = dict[str, dict[str, Any]]()
    if gone:
        back = [{"fingerprint": one, "reason": texts["d.gone"]} for one in gone]
        calls["retract_suggestions"] = {"proposals": back}
    if fresh:
        blocks = [{"taskId": one.task.id, "start": one.start, "end": one.end} for one in fresh]
        calls["propose_blocks"] = {"blocks": blocks}
    return calls


def _is_same(one: Placed, told: re.Match[str]) -> bool:
    return (one.start, one.end) == (told["start"], told["end"]) and _is_of(one, told)


def _is_of(one: Placed, told: re.Match[str]) -> bool:
    """Whether a proposal names the block's task, by the beginning of its id."""
    return one.task.id.startswith(told["task"])


# --------------------------------------------------------------------------------------- the report


def _report(day: Day, planned: Plan, around: PromptContext, texts: Texts) -> dict[str, Any]:
    """What is planned and why, and what else the person should know."""
    headline = _headline(day, planned, texts)
    late = [f"{one.name}, {duration(one.needs)}{_why(one, around, texts)}" for one in planned.late]
    over = [
        texts["d.over it"].format(one.name, duration(one.spent), duration(one.estimate))
        for one in day.tasks
        if 0 < one.estimate < one.spent
    ]
    lists = {
        "d.late": shown(late, texts, day.more_tasks),
        "d.declined": shown([one.name for one in day.tasks if one.id in day.declined], texts),
        "d.over": shown(over, texts),
        "d.bare": shown([one.name for one in day.tasks if not one.estimate], texts),
        "d.before": list(_lived(day, texts)),
    }
    before = day.before and _named(day.before.day, texts)
    blocks = [
        f"{one.start}-{one.end} {one.task.name}{_why(one.task, around, texts)}"
        for one in planned.placed
    ]
    parts = [f"**{headline}.**", bulleted(blocks)]
    parts += [
        f"## {texts[name].format(before)}\n\n{bulleted(rows)}"
        for name, rows in lists.items()
        if rows
    ]
    content = "\n\n".join(filter(None, [*parts, texts["d.by"]]))
    names = "; ".join(shown([one.name for one in planned.late], texts))
    told = f" {texts['d.late']}: {names}." if late else ""
    return {"content": content, "tldr": f"{headline}.{told}", "oneLiner": headline}


def _headline(day: Day, planned: Plan, texts: Texts) -> str:
    minutes = planned.free, sum(one.minutes for one in planned.placed)
    return texts["d.plan"].format(_named(day.day, texts), *map(duration, minutes))


def _named(day: date, texts: Texts) -> str:
    return f"{texts['d.days'].split()[day.weekday()]} {day}"


def _why(task: Task, around: PromptContext, texts: Texts) -> str:
    """What speaks for a task, in brackets."""
    due = summary.due(PromptTask(due=str(task.due), around=around), texts) if task.due else ""
    told = [
        texts["d.pinned"] if task.pinned else "",
        due and f"{texts['due'].lower()} {due}",
        task.priority,
        status_in(task.status, texts) if task.status == BEGUN else "",
        texts["d.left"].format(duration(task.left)) if task.left else "",
    ]
    said = "; ".join(filter(None, told))
    return f" ({said})" if said else ""


def shown(rows: Sequence[str], texts: Texts, more: int = 0) -> list[str]:
    """The first so many, and how many there are besides."""
    more += len(rows[ROWS_SHOWN:])
    return [*rows[:ROWS_SHOWN], *([f"… {texts['more'].format(more)}"] if more else [])]


def _lived(day: Day, texts: Texts) -> Iterator[str]:
    """What was planned and spent the day before, on each task and on all."""
    if day.before is None:
        return
    names = {one.id: one.name for one in (*day.before.spent, *day.tasks)}
    spent = Counter({one.id: one.minutes for one in day.before.spent})
    planned = Counter[str]()
    for block in day.before.blocks:
        if block.task:
            start, end = block.span
            planned[block.task] += end - start
            names.setdefault(block.task, block.title or texts["d.task"])
    rows = [(names[one], planned[one], spent[one]) for one in dict.fromkeys((*planned, *spent))]
    if len(rows) > 1:
        rows.append((texts["d.all"], planned.total(), spent.total()))
    for name, *minutes in rows:
        yield texts["d.before it"].format(name, *map(duration, minutes))

"""A week looked over by rules: what was done and spent, what is late, and what lies untouched.

    section `week` -> Review -> report

Nothing but the section counts, so the same one always gets the same report. A title never begins
a line: whatever it looks like, it makes no heading, list or block of its own.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, field

from adapters.models.offline.wording import Texts, bulleted, days_in, status_in, texts_in
from adapters.models.rules import context, summary
from adapters.models.rules.context import PromptContext, PromptTask
from adapters.models.rules.findings import HELD_UP
from adapters.models.rules.planning import SOON_DAYS, Named, shown
from domain.ports import Request
from domain.text import cut, squeeze
from domain.tools.times import duration

UNTOUCHED_DAYS = 14
NAMES_SHOWN = 3

Count = Annotated[int, Meta(ge=0)]
Rating = Annotated[float, Meta(ge=0, le=5)]
"""0: there is none."""


class Week(Struct, frozen=True):
    """Some days, both ends included, and what they held; `rating`: the mean."""

    since: date
    until: date
    made: Count = 0
    done: Count = 0
    planned: Count = 0
    spent: Count = 0
    rating: Rating = 0


class Task(Named, frozen=True):
    """An open task. `spent`, `planned`: minutes of both weeks, `untouched`: days."""

    status: str = ""
    priority: str = ""
    due: date | None = None
    estimate: Count = 0
    spent: Count = 0
    planned: Count = 0
    untouched: Count = 0


class Done(Named, frozen=True):
    """A task that was done in one of the weeks. `spent`: minutes in all."""

    day: date = field(name="date")
    estimate: Count = 0
    spent: Count = 0
    rating: Rating = 0


class Review(Struct, frozen=True, rename="camel"):
    """What the section tells. `weeks`: the newest first, `waiting`: tasks that are put off."""

    day: date = field(name="date")
    weeks: tuple[Week, Week]
    category: str = ""
    tasks: tuple[Task, ...] = ()
    more_tasks: Count = 0
    waiting: Count = 0
    done: tuple[Done, ...] = ()
    more_done: Count = 0


def answer(request: Request) -> context.Said:
    """What is said of a week, and the report: on the first turn, later only what is forced."""
    sections = {one.name: context.tidy(one.text) for one in request.user}
    texts = texts_in(context.report_language(sections))
    try:
        seen = convert(context.document(sections["week"]), Review)
    except ValidationError:
        told = texts["w.unreadable"]
        report: dict[str, Any] = {"content": told, "tldr": told, "oneLiner": told}
    else:
        told = f"{_headline(seen, texts)}."
        report = _report(seen, texts)
    stands = sections.get("report", "")
    is_said = f"TL;DR: {report['tldr']}" in stands and all(
        one.lstrip("# ") in stands for one in report["content"].splitlines()
    )
    is_due = bool(request.forced or sections.get("words") or not is_said)
    return context.in_turn(request, {"update_report": report} if is_due else {}, told)


# --------------------------------------------------------------------------------------- the report


def _report(seen: Review, texts: Texts) -> dict[str, Any]:
    """What was done, what presses, and how much was planned of it."""
    headline = _headline(seen, texts)
    near = [
        (one.due, one) for one in seen.tasks if one.due and (one.due - seen.day).days <= SOON_DAYS
    ]
    near.sort(key=lambda one: one[0])
    still = [one for one in seen.tasks if one.untouched >= UNTOUCHED_DAYS]
    still.sort(key=lambda one: -one.untouched)
    unbegun = [one for one in seen.tasks if one.planned and not one.spent]
    held = [one for one in seen.tasks if one.status in HELD_UP]
    lists = {
        "w.finished": shown([_finished(one, texts) for one in seen.done], texts, seen.more_done),
        "w.due": shown([_due(seen, due, one, texts) for due, one in near], texts),
        "w.still": shown([f"{days_in(one.untouched, texts)}: {one.name}" for one in still], texts),
        "w.unbegun": shown([f"{duration(one.planned)}: {one.name}" for one in unbegun], texts),
        "w.weeks": list(_weeks(seen, texts)),
        "w.held": shown([f"{status_in(one.status, texts)}: {one.name}" for one in held], texts),
        "w.counted": list(_counted(seen, texts)),
    }
    parts = [f"**{headline}.**"]
    parts += [f"## {texts[name]}\n\n{bulleted(rows)}" for name, rows in lists.items() if rows]
    late = _few([one for due, one in near if due < seen.day], texts["w.late"])
    lies = _few(still, texts["w.lies"])
    return {
        "content": "\n\n".join([*parts, texts["w.by"]]),
        "tldr": f"{headline}.{late}{lies}",
        "oneLiner": headline,
    }


def _headline(seen: Review, texts: Texts) -> str:
    category = cut(squeeze(seen.category), length_max=summary.TITLE_MAX)
    days = _days(seen.weeks[0], texts)
    return f"{category}, {days}" if category else days


def _days(week: Week, texts: Texts) -> str:
    """When it was, and what it came to: "16 to 22 Nov: 3 done, 1 h spent"."""
    months = texts["w.months"].split()
    first, last = (texts["w.nth"].format(one.day) for one in (week.since, week.until))
    if week.since.month != week.until.month:
        first += f" {months[week.since.month - 1]}"
    days = texts["w.to"].format(first, f"{last} {months[week.until.month - 1]}")
    spent = texts["w.spent"] if week.spent else texts["w.none spent"]
    spent = texts["w.planned"] if week.planned else spent
    done = texts["w.done"].format(week.done) if week.done else texts["w.none done"]
    return f"{days}: {done}, {spent.format(duration(week.spent), duration(week.planned))}"


def _weeks(seen: Review, texts: Texts) -> Iterator[str]:
    """Both weeks, one below the other; nothing where neither held anything."""
    if all(one == Week(one.since, one.until) for one in seen.weeks):
        return
    for one in seen.weeks:
        made = [texts["w.made"].format(one.made)] if one.made else []
        rated = [texts["w.mean"].format(_number(one.rating, texts))] if one.rating else []
        yield ", ".join([_days(one, texts), *made, *rated])


def _number(rating: float, texts: Texts) -> str:
    return f"{rating:.1f}".removesuffix(".0").replace(".", texts["w.point"])


def _finished(one: Done, texts: Texts) -> str:
    spent = texts["w.of" if one.estimate else "w.spent"]
    told = [
        f"{one.day}: {one.name}",
        spent.format(duration(one.spent), duration(one.estimate)) if one.spent else "",
        texts["w.rated"].format(_number(one.rating, texts)) if one.rating else "",
    ]
    return ", ".join(filter(None, told))


def _due(seen: Review, due: date, one: Task, texts: Texts) -> str:
    around = PromptContext(now=f"{seen.day}T00:00")
    priority = f" ({one.priority})" if one.priority else ""
    return f"{summary.due(PromptTask(due=str(due), around=around), texts)}: {one.name}{priority}"


def _counted(seen: Review, texts: Texts) -> Iterator[str]:
    """How many there are of what is not listed."""
    bare = sum(not one.due and not one.estimate for one in seen.tasks)
    for key, count in (("w.bare", bare), ("w.more", seen.more_tasks), ("w.waiting", seen.waiting)):
        if count:
            yield texts[key].format(count)


def _few(tasks: Sequence[Task], told: str) -> str:
    """How many, and the first by name, as one more sentence; empty without any."""
    names = [one.name for one in tasks[:NAMES_SHOWN]]
    named = "; ".join([*names, *(["…"] if tasks[NAMES_SHOWN:] else [])])
    return f" {told.format(len(tasks), named)}." if tasks else ""

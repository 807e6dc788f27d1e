"""How a task stands: what is due, who waits since when, what changed, what waits, what is next.

Each function says one thing of it in the words it is given, for the report and for answers alike.
"""

import re
from collections.abc import Iterator
from datetime import date

from adapters.models.offline.wording import DUE, Texts, days_in, status_in, summary_in
from adapters.models.rules.context import PromptItem, PromptTask, SourceText, day_of
from adapters.models.rules.findings import CLOSED, HELD_UP, Finding, Findings, is_own, unfinished
from domain.text import cut, fold, squeeze

ITEMS_SHOWN = 20
QUESTIONS_SHOWN = 3
QUESTION_CHARS_READ = 2_000
TITLE_MAX = 120
ASK_AFTER_DAYS = 3

_QUESTION = re.compile(r"(?:^|(?<=[.!?\n]))[^.!?\n>]{4,200}\?", re.MULTILINE)
_OPEN = re.compile(r"^- fp=(?P<fingerprint>\S{1,80}) ")
_SUMMARIES = {
    "due": DUE,
    "estimate": "Set estimate to ",
    "priority": "Set priority to ",
    "status": "Set status to ",
}
"""How a proposal's summary begins that a newer one of the same kind replaces."""
_FIELDS = (
    ("status", "status"),
    ("priority", "priority"),
    ("dueDate", "due"),
    ("estimateMinutes", "estimate"),
)
"""Keys of the prompt's document whose values are told when they have changed, and their words."""


def today(seen: PromptTask) -> date | None:
    """The person's day, where the prompt tells it."""
    return day_of(seen.around.now)


def due(seen: PromptTask, texts: Texts) -> str:
    """The due date and how far off it is; empty without one."""
    now, day = today(seen), day_of(seen.due)
    if day is None or now is None or seen.status in CLOSED:
        return seen.due
    away = (day - now).days
    if away in (-1, 0, 1):
        told = texts[("overdue", "today", "tomorrow")[away + 1]]
    else:
        told = texts["in days" if away > 0 else "overdue days"].format(abs(away))
    return f"{seen.due}, {told}"


def is_overdue(seen: PromptTask) -> bool:
    """Whether an open task should have been done before this day."""
    now, day = today(seen), day_of(seen.due)
    return bool(now and day and day < now and seen.status not in CLOSED)


def status(seen: PromptTask, texts: Texts) -> str:
    """The status; of a task that is held up, why and since when."""
    told = status_in(seen.status, texts) or texts["none"]
    days = waited(seen)
    if days is not None:
        lasting = f" ({days_in(days, texts)})" if days else ""
        told += f" {texts['since'].format(seen.around.day(seen.set_at['status']))}{lasting}"
    reason = squeeze(seen.status_reason)
    return f"{told}: {reason}" if reason else told


def waited(seen: PromptTask) -> int | None:
    """For how many days a task that is held up has been so; None where nothing tells."""
    now, since = today(seen), seen.around.day(seen.set_at.get("status", ""))
    if seen.status not in HELD_UP or now is None or since is None:
        return None
    return max(0, (now - since).days)


def blockers(seen: PromptTask, texts: Texts) -> list[str]:
    """The open tasks that must be done before this one."""
    return [
        f"{cut(squeeze(one.title), length_max=TITLE_MAX)} ({status_in(one.status, texts)})"
        for one in seen.around.linked
        if one.relation == "is_blocked_by" and one.status and one.status not in CLOSED
    ]


def finished(seen: PromptTask) -> list[PromptItem]:
    """What is done of the checklist."""
    return [one for one in seen.items if one.is_checked and not one.is_archived]


def progress(seen: PromptTask, texts: Texts) -> str:
    """How much of the checklist is done."""
    done = len(finished(seen))
    count = done + len(unfinished(seen))
    return texts["of"].format(done, count) if count else texts["no items"]


def listed(items: list[PromptItem], texts: Texts) -> list[str]:
    """The titles of items, the first so many."""
    rows = [squeeze(one.title) for one in items[:ITEMS_SHOWN]]
    left = len(items) - len(rows)
    return [*rows, f"… {texts['more'].format(left)}"] if left else rows


def waiting(seen: PromptTask, found: Findings, texts: Texts) -> list[str]:
    """The proposals of earlier wakes that the person has not decided yet, as they will stand."""
    newer = tuple(_SUMMARIES[one.kind] for one in found.proposals if one.kind in _SUMMARIES)
    kept = [(line, told) for line, told, is_gone in _open(seen, found) if not is_gone]
    return [
        summary_in(told, texts) + texts["by rule"] * is_own(seen, line)
        for line, told in kept
        if not told.startswith(newer)
    ]


def taken_back(seen: PromptTask, found: Findings, texts: Texts) -> list[str]:
    """Those of them that this wake takes back."""
    return [summary_in(told, texts) for _, told, is_gone in _open(seen, found) if is_gone]


def _open(seen: PromptTask, found: Findings) -> Iterator[tuple[str, str, bool]]:
    """The line of each open proposal, what it says, and whether this wake takes it back."""
    gone = {one.fingerprint for one in found.retracted}
    for line in seen.proposals:
        known = _OPEN.match(line)
        is_gone = known is not None and known["fingerprint"] in gone
        yield line, squeeze(_OPEN.sub("", line)), is_gone


def changed(seen: PromptTask, texts: Texts) -> list[str]:
    """What the person did, or confirmed, since the last report; nothing before the first one."""
    since = seen.around.reported_at
    return list(_changed(seen, since, texts)) if since else []


def _changed(seen: PromptTask, since: str, texts: Texts) -> Iterator[str]:
    if seen.set_at.get("title", "") > since:
        yield texts["title changed"].format(squeeze(seen.title))
    values = {
        "status": status_in(seen.status, texts),
        "priority": seen.priority,
        "due": seen.due,
        "estimate": texts["minutes"].format(seen.estimate) if seen.estimate else "",
    }
    for key, name in _FIELDS:
        if seen.set_at.get(key, "") > since:
            yield f"{texts[name]}: {values[name] or texts['none']}"
    for item in seen.items:
        if item.changed_at > since and not item.is_archived:
            told = texts["ticked" if item.is_checked else "unticked"]
            yield told.format(squeeze(item.title))
    notes = seen.around.newer
    if notes is None:
        notes = sum(one.kind == "note" and one.at > since for one in seen.sources)
    if notes:
        yield texts["new notes"].format(notes)


def questions(seen: PromptTask, found: Findings, texts: Texts) -> list[str]:
    """What the person kept open, and what the newest notes ask."""
    rows = [squeeze(one) for one in seen.around.loops]
    freed = None if any(one.kind == "status" for one in found.proposals) else found.freed
    told = {"freed": freed, "unclear": found.unclear}
    told |= {"unsure": found.unsure, "doubtful": found.doubtful}
    rows += [f'{texts[name]}: "{one.quote}"' for name, one in told.items() if one is not None]
    notes = [one for one in seen.sources if one.kind == "note"][-QUESTIONS_SHOWN:]
    asked = [
        f'"{squeeze(question)}" ({place(one, texts)})'
        for one in notes
        for question in _QUESTION.findall(one.text[-QUESTION_CHARS_READ:])
    ]
    return [*rows, *asked[-QUESTIONS_SHOWN:]]


def newest(seen: PromptTask, texts: Texts) -> str:
    """The newest thing the person wrote, and when."""
    notes = [one for one in seen.sources if one.kind in ("note", "description")]
    if not notes:
        return texts["nothing"]
    said = cut(squeeze(notes[-1].text), length_max=TITLE_MAX)
    return texts["newest"].format(place(notes[-1], texts), said)


def place(source: SourceText, texts: Texts) -> str:
    """Where a text stands: "note of 2026-11-20"."""
    if source.kind != "note":
        return texts[source.kind]
    return texts["note"].format(source.day.isoformat()) if source.day else texts["undated"]


def next_step(seen: PromptTask, found: Findings, texts: Texts) -> str:
    """What to do next, in one line; empty where nothing is known of the task."""
    if seen.status in CLOSED:
        return texts["n.closed"]
    if seen.status in HELD_UP:
        return _held_up(seen, found, texts)
    todo = _not_yet_done(seen, found.proposals)
    if not todo and seen.items:
        is_more = any(one.kind == "item" for one in found.proposals)
        is_more = is_more or any(" Add: " in one for one in seen.proposals)
        return texts["n.decide" if is_more or unfinished(seen) else "n.all"]
    step = cut(squeeze(todo[0].title if todo else seen.title), length_max=TITLE_MAX)
    return texts["n.late"].format(step) if step and is_overdue(seen) else step


def _held_up(seen: PromptTask, found: Findings, texts: Texts) -> str:
    goes_on = any(one.kind == "status" and one.value not in HELD_UP for one in found.proposals)
    if goes_on or found.freed is not None:
        return texts["n.freed"]
    if seen.status == "ON HOLD":
        return texts["n.rest"]
    for_what = "; ".join(filter(None, [squeeze(seen.status_reason), *blockers(seen, texts)]))
    days = waited(seen) or 0
    if days >= ASK_AFTER_DAYS:
        return texts["n.ask"].format(days, for_what or squeeze(seen.title))
    return texts["n.wait"].format(for_what or squeeze(seen.title))


def _not_yet_done(seen: PromptTask, proposals: tuple[Finding, ...]) -> list[PromptItem]:
    """The open items but those that are proposed to be ticked, now or before."""
    ticked = {one.target for one in proposals if one.kind == "check"}
    lines = [fold(one) for one in seen.proposals if " check: " in fold(one)]
    return [
        one
        for one in unfinished(seen)
        if one.id not in ticked and not any(f'"{fold(one.title)}"' in line for line in lines)
    ]

"""The sections on time spent, on older notes and on what was said before: since scaffold 2."""

from domain.journal.task import RATING_MAX
from domain.local_times import wall
from domain.ports import Section
from domain.wake.prompt_text import (
    block,
    clip,
    cut_note,
    dump,
    line,
    newest_of,
    rows,
    section,
    size,
)
from domain.wake.reading import Limits, Reading, TimeSeen


def time(reading: Reading, limits: Limits) -> Section | None:
    """The rating, running timers, the sum, and the newest entries, oldest first; times as the
    person's clock showed them."""
    task = reading.task
    if not task.time and not task.rating:
        return None
    done = [one for one in task.time if one.minutes is not None]
    shown = newest_of(done, limits.time_max)
    running = [
        f"A timer runs since {_wall(reading, one.start)}{_said(one, limits)}."
        for one in task.time
        if one.minutes is None
    ]
    comment = line(task.comment, limits.line_max_bytes)
    body = [f"The person rates the task {_rated(task.rating, comment)}."] if task.rating else []
    body += [*newest_of(running, limits.time_max), f"Logged in all: {task.minutes_spent} minutes."]
    body += cut_note(len(done) - len(shown) + task.time_unread, "older entries")
    for one in shown:
        start, end = _wall(reading, one.start), _wall(reading, one.end)
        span = f"{start} to {end.removeprefix(start[:11])}, {one.minutes} minutes"
        rated = f", rated {_rated(one.rating)}" if one.rating else ""
        body.append(f"- {one.id} {span}{rated}{_said(one, limits)}")
    return section("time", "Time", "\n".join(body))


def _wall(reading: Reading, at: str) -> str:
    local = reading.local
    return wall(at, local.offset, local.earlier) if local and at else at


def _said(one: TimeSeen, limits: Limits) -> str:
    summary = line(one.summary, limits.line_max_bytes)
    return f": {summary}" if summary else ""


def _rated(score: int, comment: str = "") -> str:
    return f"{score} of {RATING_MAX}{f': {comment}' if comment else ''}"


def memory(reading: Reading, limits: Limits) -> Section | None:
    """The beginnings of the notes that the journal does not show any more: the newest digests
    that fit, oldest first."""
    if not reading.memory:
        return None
    shown: list[str] = []
    room = limits.memory_max_bytes
    for one in reversed(reading.memory):
        text = block(one.text, limits.memory_max_bytes)
        told = f"{one.since[:10]} to {one.until[:10]}, {one.count} notes:\n{text}"
        room -= size(told) + 2
        if room < 0:
            break
        shown.append(told)
    body = [
        "Beginnings of your older notes; `recall` finds them whole.",
        *cut_note(len(reading.memory) - len(shown), "older digests"),
        *shown[::-1],
    ]
    return section("memory", "Memory", "\n\n".join(body))


def thread(reading: Reading, limits: Limits) -> Section | None:
    """The newest turns of the session that fit, oldest first; of the newest at least a part."""
    turns = newest_of(reading.thread.turns, limits.thread_max)
    side, room = limits.thread_max_bytes // 2, limits.thread_max_bytes
    shown: list[str] = []
    for one in reversed(turns):
        told = {"at": one.at, "person": clip(one.words, side), "you": clip(one.answer, side)}
        shown.append(dump(told))
        room -= size(shown[-1])
        if room < 0 and len(shown) > 1:
            del shown[-1]
            break
    left_out = reading.thread.left_out + len(reading.thread.turns) - len(shown)
    body = [*cut_note(left_out, "earlier turns"), rows(shown[::-1])] if left_out or shown else []
    return section("thread", "Earlier in this session", "\n".join(body)) if body else None

"""The sections on time spent and on what was said before: since scaffold 2."""

from domain.ports import Section
from domain.wake.prompt_text import clip, cut_note, dump, line, newest_of, rows, section, size
from domain.wake.reading import Limits, Reading


def time(reading: Reading, limits: Limits) -> Section | None:
    """Running timers, the sum, and the newest entries, oldest first."""
    task = reading.task
    if not task.time:
        return None
    done = [one for one in task.time if one.minutes is not None]
    shown = newest_of(done, limits.time_max)
    body = [f"A timer runs since {one.start}." for one in task.time if one.minutes is None]
    body = [*newest_of(body, limits.time_max), f"Logged in all: {task.minutes_spent} minutes."]
    body += cut_note(len(done) - len(shown) + task.time_unread, "older entries")
    for one in shown:
        summary = line(one.summary, limits.line_max_bytes)
        body.append(f"- {one.start}, {one.minutes} minutes{f': {summary}' if summary else ''}")
    return section("time", "Time", "\n".join(body))


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

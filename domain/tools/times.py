"""The tools about the time that a task took (SPEC 5, ADR 41)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from domain.journal import task as t
from domain.journal.edits import overlapping
from domain.log.keys import key
from domain.log.timestamps import seconds_between
from domain.text import squeeze
from domain.tools.arguments import EditTimeEntry, EditTimeEntryAt, LogTime, LogTimeAt, NoteTimer
from domain.tools.base import Facts, Tool, ToolEffect, ToolRefusal, found, quoted, redundant
from domain.tools.snapshot import Snapshot, SnapshotEntry
from domain.tools.task_tools import REASON_MIN, is_persons

SECONDS_MAX = 86_400
"""So long is an entry that an agent proposes, at most."""


def _wrong(snapshot: Snapshot, start: str, end: str, but: str = "") -> ToolRefusal | None:
    """What speaks against a span that an agent would have on the task."""
    if end <= start:
        return ToolRefusal("invalid_arguments", "endedAt: it ends before it starts")
    if end > snapshot.at:
        return ToolRefusal("invalid_arguments", "endedAt: it is in the future")
    if seconds_between(start, end) > SECONDS_MAX:
        return ToolRefusal("invalid_arguments", "endedAt: it is more than 24 hours after the start")
    for one in overlapping(snapshot.time, start, end, but):
        named = f" {quoted(one.summary)}" if one.summary else ""
        return redundant(f"The time overlaps with the entry {one.id}{named} of this task.")
    return None


def _log(snapshot: Snapshot, given: LogTimeAt, by: str) -> Facts | ToolRefusal:
    start, end = given.started_utc, given.ended_utc
    if refusal := _wrong(snapshot, start, end):
        return refusal
    return (t.TimeLogged(by, _fresh_entry(snapshot, start, end), start, end, given.summary),)


def _fresh_entry(snapshot: Snapshot, start: str, end: str) -> str:
    """The first id of these times that the task does not have yet: one may have been moved."""
    known, nth = {one.id for one in snapshot.time}, 0
    while (entry := key("time", snapshot.task, start, end, str(nth))) in known:
        nth += 1
    return entry


def _span(started: str, ended: str, start: str, end: str) -> str:
    """Local times in words, with how long it took.

    >>> utc = "2026-11-22T15:00:00.000000Z", "2026-11-22T17:30:00.000000Z"
    >>> _span("2026-11-22T16:00", "2026-11-22T18:30", *utc)
    '2026-11-22 16:00-18:30 (2 h 30 min)'
    """
    day, last = started[:10], ended[:10]
    until = f"-{ended[11:]}" if day == last else f" to {last} {ended[11:]}"
    return f"{day} {started[11:]}{until} ({duration(seconds_between(start, end) // 60)})"


def duration(minutes: int) -> str:
    """Minutes in words: "2 h 30 min"."""
    hours, rest = divmod(minutes, 60)
    parts = [f"{hours} h"] if hours else []
    return " ".join([*parts, f"{rest} min"] if rest or not hours else parts)


def _log_summary(_: Snapshot, given: LogTimeAt) -> str:
    span = _span(given.started_at, given.ended_at, given.started_utc, given.ended_utc)
    return f"Log {span}: {given.summary}"


# ------------------------------------------------------------------------------------ editing


def _find(snapshot: Snapshot, wanted: str) -> SnapshotEntry | ToolRefusal:
    return found(snapshot.time, wanted, "time entry")


def _edit(snapshot: Snapshot, given: EditTimeEntryAt, by: str) -> Facts | ToolRefusal:
    if isinstance(entry := _find(snapshot, given.entry_id), ToolRefusal):
        return entry
    if not entry.end:
        because = "entryId: its timer runs; its times are not set yet"
        return ToolRefusal("invalid_arguments", because)
    start = "" if given.started_utc == entry.start else given.started_utc
    end = "" if given.ended_utc == entry.end else given.ended_utc
    summary = given.summary if given.summary not in ("", squeeze(entry.summary)) else None
    if not start and not end and summary is None:
        return redundant("The time entry is so already.")
    if start or end:
        if refusal := _wrong(snapshot, start or entry.start, end or entry.end, entry.id):
            return refusal
        if is_persons(entry.by) and len(given.reason) < REASON_MIN:
            because = f"The person set these times; give a reason of {REASON_MIN} characters"
            return ToolRefusal("sovereignty", f"{because} or more.")
    return (t.TimeEdited(by, entry.id, start, end, summary),)


def _edit_values(snapshot: Snapshot, given: EditTimeEntryAt) -> object:
    if isinstance(entry := _find(snapshot, given.entry_id), ToolRefusal):
        return None
    values: dict[str, object] = {}
    if given.started_at or given.ended_at:
        start, end = given.started_utc or entry.start, given.ended_utc or entry.end
        values["times"] = [entry.start, entry.end]
        values["others"] = _ids(overlapping(snapshot.time, start, end, entry.id))
    if given.summary:
        values["summary"] = entry.summary
    return values


def _ids(entries: list[SnapshotEntry]) -> list[str]:
    return sorted(one.id for one in entries)


def _edit_parts(given: EditTimeEntry) -> tuple[str, ...]:
    named = {"start": given.started_at, "end": given.ended_at, "summary": given.summary}
    return tuple(f"entry:{given.entry_id}.{name}" for name in named if named[name])


def _edit_summary(snapshot: Snapshot, given: EditTimeEntryAt) -> str:
    entry = _find(snapshot, given.entry_id)
    known = "" if isinstance(entry, ToolRefusal) else entry.summary
    parts = []
    if given.started_at and given.ended_at:
        span = _span(given.started_at, given.ended_at, given.started_utc, given.ended_utc)
        parts.append(f"its time is {span}")
    elif given.started_at:
        parts.append(f"it began {given.started_at.replace('T', ' ')}")
    elif given.ended_at:
        parts.append(f"it ended {given.ended_at.replace('T', ' ')}")
    if given.summary:
        parts.append(f'its summary is "{given.summary}"')
    name = quoted(known) if known else f"{given.entry_id[:8]}…"
    return f"Correct the time entry {name}: {'; '.join(parts)}"


def _edit_now(snapshot: Snapshot, arguments: Mapping[str, Any]) -> str:
    if isinstance(entry := _find(snapshot, str(arguments.get("entryId"))), ToolRefusal):
        return "gone"
    return f"{entry.start} to {entry.end or 'now'} {entry.summary}".rstrip()


# ---------------------------------------------------------------------------------- the timer


def _running(snapshot: Snapshot) -> SnapshotEntry | None:
    return next((one for one in snapshot.time if not one.end), None)


def _note(snapshot: Snapshot, given: NoteTimer, by: str) -> Facts | ToolRefusal:
    if (entry := _running(snapshot)) is None:
        return ToolRefusal("not_found", "No timer runs on this task.")
    if given.summary == squeeze(entry.summary):
        return redundant("The running timer says so already.")
    return (t.TimeEdited(by, entry.id, summary=given.summary),)


def _note_now(snapshot: Snapshot, _: Mapping[str, Any]) -> str:
    entry = _running(snapshot)
    return (entry.summary or "none") if entry else "no timer runs"


_SPAN_FORM = {"startedAt": "Began", "endedAt": "Ended", "summary": "What was done"}
_of_time = partial(
    Tool, hint="never guess a time.", since=2, capabilities=("time.propose",),
    entities=("task", "time_entry"), tokens=("TIME_ENTRY",),
)  # fmt: skip

TOOLS = (
    _of_time(
        name="log_time",
        brief="Propose time that the person says was spent; never guess it.",
        description=(
            "Propose time that the person says they spent on the task: at most 24 hours, not in "
            "the future, not where an entry of the task is already."
        ),
        arguments=LogTime,
        element=LogTimeAt,
        effect=ToolEffect(
            facts=_log,
            values=lambda snapshot, given: _ids(
                overlapping(snapshot.time, given.started_utc, given.ended_utc)
            ),
            touches=lambda _: ("time",),
            summary=_log_summary,
            form=_SPAN_FORM,
        ),
    ),
    _of_time(
        name="edit_time_entry",
        brief="Propose to correct a finished time entry; give only what changes.",
        applies=lambda snapshot: any(one.end for one in snapshot.time),
        description=(
            "Propose to correct a finished time entry, named by its id and given only what "
            "changes. Against times that the person set, give a reason of at least 20 characters."
        ),
        arguments=EditTimeEntry,
        element=EditTimeEntryAt,
        effect=ToolEffect(
            facts=_edit,
            values=_edit_values,
            touches=lambda given: (f"entry:{given.entry_id}",),
            summary=_edit_summary,
            now=_edit_now,
            parts=_edit_parts,
            form={**_SPAN_FORM, "reason": "Because"},
            remedies={"sovereignty": "give_reason"},
        ),
        risk="medium",
    ),
    _of_time(
        name="note_timer",
        brief="Propose a summary for the timer that runs.",
        applies=lambda snapshot: any(not one.end for one in snapshot.time),
        description=(
            "Propose what the running timer of this task will be summed up as. Only while it runs."
        ),
        arguments=NoteTimer,
        effect=ToolEffect(
            facts=_note,
            values=lambda snapshot, _: (
                [entry.id, entry.summary] if (entry := _running(snapshot)) else []
            ),
            touches=lambda _: ("time",),
            summary=lambda _, given: f'Note on the running timer: "{given.summary}"',
            now=_note_now,
            parts=lambda _: ("timer.summary",),
            form={"summary": "What was done"},
        ),
    ),
)

"""The time of a task is the sum of its entries, whatever is timed, logged, corrected and deleted.

None is negative, and no deed of an agent makes two entries of a task overlap.
"""

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adapters.store.log import Log
from domain.append.causes import Command
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.catalog import category_id
from domain.journal.task import TASK, Task, TimeEdited, TimeLogged, TimeStarted, TimeStopped
from domain.log import canonical
from domain.log.timestamps import later, seconds_between
from domain.log.wire import Words
from tests.support.tool_calls import changed

NOON = "2027-01-01T12:00:00.000000Z"
CATEGORY = category_id("Inbox")
SPANS = st.tuples(st.integers(-8, 10), st.integers(-8, 10))  # half hours before and after noon
DEEDS = st.lists(
    st.tuples(
        st.sampled_from(
            ["log", "edit", "note", "agent logs", "agent logs", "agent edits", "agent edits",
             "start", "stop", "start the other", "delete", "restore"]
        ),
        SPANS,
        st.integers(0, 3),
    ),
    max_size=14,
)  # fmt: skip


def half_hours(count: int) -> str:
    return later(NOON, seconds=count * 1800)


def applied(task: Task, tool: str, nth: int, **said: Any) -> do.ApplyOperation:
    text = canonical.text(changed(tool, said))
    return do.ApplyOperation(
        f"operation {nth}", "a1", task.id, tool, Words(text), categories=(CATEGORY,)
    )


def command(task: Task, other: str, deed: Any, nth: int) -> Command:
    name, span, which = deed
    start, end = map(half_hours, span)
    walls = {"startedAt": start[:16], "endedAt": end[:16]}
    entry = task.time[which % len(task.time)].id if task.time else "none"
    match name:
        case "log":
            return do.LogTime(task.id, start, end)
        case "edit":
            return do.RetimeEntry(task.id, entry, start, end)
        case "agent logs":
            return applied(task, "log_time", nth, **walls, summary="Dug")
        case "agent edits":
            reason = "x" * 20
            return applied(task, "edit_time_entry", nth, entryId=entry, **walls, reason=reason)
        case "note":
            return applied(task, "note_timer", nth, summary=f"Note {nth}")
        case "start":
            return do.StartTimer(task.id)
        case "start the other":
            return do.StartTimer(other)
        case "stop":
            return do.StopTimer()
        case "delete":
            return do.DeleteTask(task.id)
        case _:
            return do.RestoreTask(task.id)


def overlaps(task: Task) -> set[frozenset[str]]:
    spans = [(one.id, one.start, one.end or "9") for one in task.time]
    return {
        frozenset((a[0], b[0]))
        for a, b in combinations(spans, 2)
        if max(a[1], b[1]) < min(a[2], b[2])
    }


def summed(log: Log, task: Task) -> int:
    """The seconds of a task, straight from its facts."""
    spans: dict[str, tuple[str, str]] = {}
    for row in log.facts(f"task:{task.id}@r1"):
        match row.fact:
            case TimeStarted(entry=entry, start=start):
                spans[entry] = start, start
            case TimeLogged(entry=entry, start=start, end=end):
                spans[entry] = start, end
            case TimeStopped(entry=entry, end=end):
                spans[entry] = spans[entry][0], end
            case TimeEdited(entry=entry, start=start, end=end):
                known = spans[entry]
                spans[entry] = start or known[0], end or known[1]
    return sum(seconds_between(*one) for one in spans.values())


@given(deeds=DEEDS)
def test_time_adds_up_is_never_negative_and_an_agent_lays_none_over_other_time(
    deeds: list[Any],
) -> None:
    log = Log.in_memory("journal")
    (mine,), (other,) = (log.append(do.CreateTask(one), NOON).result.ids for one in "ab")
    for nth, deed in enumerate(deeds):
        with log.reading() as world:
            before = world.load(TASK, mine)
        try:
            wanted = command(before, other, deed, nth)
            key = getattr(wanted, "operation", "")
            log.append(wanted, later(NOON, seconds=nth * 600), key=key)
        except Refused:
            continue
        with log.reading() as world:
            task = world.load(TASK, mine)
        done = [one for one in task.time if one.end]
        spent = [seconds_between(one.start, one.end) for one in done]
        assert all(seconds >= 0 for seconds in spent)
        assert sum(spent) == summed(log, task)
        assert not deed[0].startswith("agent") or overlaps(task) <= overlaps(before)
        assert len({one.id for one in task.time}) == len(task.time)

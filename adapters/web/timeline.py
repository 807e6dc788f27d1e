"""A life as a line: what happened to an agent, in order, and where its marks stand. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta
from typing import NamedTuple

from markupsafe import Markup

from adapters.timetravel.logs_at import Past
from adapters.web.charts import day_name, some_of, tick
from adapters.web.filters import local
from domain.agent import wake_queue as a
from domain.agent.agent import AgentReported
from domain.changes import change_set as c
from domain.log.state import RecordedEvent
from domain.log.timestamps import instant

WIDTH, LANE, LEFT = 960, 26, 6  # of the drawing, of a lane of it, and the edge on both sides
MARKS_MAX = 200  # events that have a mark each; more are drawn as bars
BINS = 120
DOT = 3  # how wide the mark of one event is
LANES = (
    ("woken", "Woken"),
    ("ignored", "Not woken"),
    ("wake", "Wakes"),
    ("report", "Reports"),
    ("verdict", "Your verdicts"),
)
WHY = {
    "subscription": "a change woke it",
    "timer": "its timer woke it",
    "user": "you asked it something",
    "creation": "it was made",
    "manual": "you woke it",
    "recovery": "it went on after an interruption",
    "request": "another agent asked it",
}
RULES = {
    "dormant": "it was paused",
    "destroyed": "it was ended",
    "switched_off": "all agents were switched off",
    "automation_off": "it wakes only when you say so",
    "mode": "its mode does not wait for this",
    "own_write": "it had made the change itself",
    "agent_write": "another agent had made the change",
    "hops": "too many agents had passed it on",
    "led_elsewhere": "another machine wakes for it",
    "seen_elsewhere": "it saw it on another machine",
}


class TimelineEvent(NamedTuple):
    """Something that happened to an agent: `n` is the agent log's append, `kind` its lane."""

    n: int
    at: str
    kind: str
    text: str
    run_key: str = ""


class Timeline(NamedTuple):
    """A life as it was read: `key` says up to where, `past` is what it is looked back with, good
    up to `ends` of both logs. A moment is all that happened in one append."""

    agent_id: str
    key: tuple[object, ...]
    events: list[TimelineEvent]
    moments: list[TimelineEvent]
    past: Past
    ends: tuple[int, int]


def events_of(rows: Iterable[RecordedEvent]) -> list[TimelineEvent]:
    """What of these rows belongs to the line, in order."""
    found = (_timeline_event(one) for one in rows)
    return sorted(one for one in found if one is not None)


def _timeline_event(row: RecordedEvent) -> TimelineEvent | None:
    match row.fact:
        case (
            a.WakeQueued(run_key=key, trigger=trigger)
            | a.TriggerMerged(run_key=key, trigger=trigger)
        ):
            return TimelineEvent(row.n, row.at, "woken", WHY[trigger.reason], key)
        case a.TriggerSuppressed(rule=rule):
            return TimelineEvent(
                row.n, row.at, "ignored", f"nothing woke it: {RULES.get(rule, rule)}"
            )
        case a.WakeBegun(run_key=key):
            return TimelineEvent(row.n, row.at, "wake", "it began a wake", key)
        case a.WakeSettled(run_key=key, outcome=outcome):
            return TimelineEvent(row.n, row.at, "wake", f"its wake ended: {outcome}", key)
        case AgentReported(run_key=key):
            return TimelineEvent(row.n, row.at, "report", "it reported", key)
        case c.ItemConfirming(item=item, attempt=1):
            return TimelineEvent(row.n, row.at, "verdict", f"you confirmed its proposal {item}")
        case c.ItemUndone(item=item, code=""):
            return TimelineEvent(row.n, row.at, "verdict", f"you took proposal {item} back")
        case c.ItemRejected(item=item):
            return TimelineEvent(row.n, row.at, "verdict", f"you rejected its proposal {item}")
        case c.ItemDeferred(item=item):
            return TimelineEvent(row.n, row.at, "verdict", f"you put its proposal {item} off")
        case _:
            return None


def moments_of(events: Iterable[TimelineEvent]) -> list[TimelineEvent]:
    """What happened in one append as one event, told in one sentence."""
    found = list[TimelineEvent]()
    for one in events:
        if found and found[-1].n == one.n:
            last = found.pop()
            told = last.text if one.text in last.text else f"{last.text}; {one.text}"
            found.append(last._replace(text=told, run_key=last.run_key or one.run_key))
        else:
            found.append(one)
    return found


def nth_at(events: Sequence[TimelineEvent], n: int) -> int:
    """Which event is the last one up to append n; -1 before the first.

    >>> nth_at([TimelineEvent(3, "", "", ""), TimelineEvent(5, "", "", "")], 4)
    0
    """
    return bisect_right(events, n, key=lambda one: one.n) - 1


# -------------------------------------------------------------------------------------- geometry


class TimelineMark(NamedTuple):
    """A mark of a lane: where it stands, how wide and how high (up to 1) it is, for how many."""

    lane: int
    x: float
    width: float
    height: float
    events: int
    text: str


def places(events: Sequence[TimelineEvent]) -> list[float]:
    """Where each event stands from 0 to 1; the same time is the same place.

    >>> times = [f"2027-01-{one}.000000Z" for one in ("01T00:00:00", "01T12:00:00", "02T00:00:00")]
    >>> places([TimelineEvent(1, one, "", "") for one in times])
    [0.0, 0.5, 1.0]
    """
    if not events:
        return []
    times = [instant(one.at).timestamp() for one in events]
    first, length = times[0], times[-1] - times[0]
    return [(one - first) / length if length > 0 else 0.0 for one in times]


def marks(events: Sequence[TimelineEvent]) -> list[TimelineMark]:
    """The marks of a line: one for each event, or, of many, one for all of a kind in a while."""
    lanes = {kind: nth for nth, (kind, _) in enumerate(LANES)}
    room = WIDTH - 2 * LEFT
    where = places(events)
    if len(events) <= MARKS_MAX:
        return [
            TimelineMark(lanes[one.kind], LEFT + x * room, 0, 1, 1, one.text)
            for one, x in zip(events, where, strict=True)
        ]
    counts: dict[tuple[int, int], int] = {}
    for one, x in zip(events, where, strict=True):
        place = lanes[one.kind], min(BINS - 1, int(x * BINS))
        counts[place] = counts.get(place, 0) + 1
    most = max(counts.values())
    step = room / BINS
    return [
        TimelineMark(lane, LEFT + nth * step, step * 0.8, count / most, count, f"{count}")
        for (lane, nth), count in sorted(counts.items())
    ]


AXIS = 22  # below the lanes: what its ticks say
NAMED = 4  # moments of a short life that are named
LONG = 4 * 86_400  # seconds from which on days are named, else times of the day
_SVG = Markup(  # across in percent, down in pixels: words keep their shape
    '<svg class="life" height="{}" role="img" aria-label="{}"><g class="axes">{}</g>{}'
    '<line class="now" x1="{:.2f}%" x2="{:.2f}%" y1="0" y2="{}"/></svg>'
)
_MARK = Markup(
    '<rect class="is-{}" x="{:.2f}%" y="{:.1f}" width="{}" height="{:.1f}"><title>{}</title></rect>'
)
_BASE = Markup('<line class="base" x1="0" x2="100%" y1="{}" y2="{}"/>')


def drawn(events: Sequence[TimelineEvent], at: str, what: str, zone: str) -> Markup:
    """The line as SVG; `at` is where one stands, `what` it is to who cannot see it."""
    height, room = LANE * len(LANES), WIDTH - 2 * LEFT
    bases = (_BASE.format(y, y) for y in range(LANE, height + 1, LANE))
    axis = (tick(x, name, 0, height) for x, name in named(events, zone))
    shown = (_drawn(one) for one in marks(events))
    ends = [events[0], TimelineEvent(0, at, "", ""), events[-1]] if events and at else []
    x = LEFT + (places(ends)[1] * room if ends else 0)
    lines, x = Markup("").join((*bases, *axis)), x / WIDTH * 100
    return _SVG.format(height + AXIS, what, lines, Markup("").join(shown), x, x, height)


def named(events: Sequence[TimelineEvent], zone: str) -> list[tuple[float, str]]:
    """What is named below the line: where, in percent of the width, and as what."""
    if not events:
        return []
    first, last = local(events[0].at, zone), local(events[-1].at, zone)
    length = (last - first).total_seconds()
    if length >= LONG:
        begins = datetime.combine(first.date() + timedelta(days=1), time(), first.tzinfo)
        days = some_of(begins.date(), last.date())
        found = [
            (begins + (one - begins.date()), day_name(one, first.date(), last.date()))
            for one in days
        ]
    else:
        count = NAMED if length > 0 else 1
        times = [first + nth * (last - first) / max(count - 1, 1) for nth in range(count)]
        names = {f"{one:%a %H:%M}": one for one in reversed(times)}  # each once, where it begins
        found = sorted((one, name) for name, one in names.items())
    room = (WIDTH - 2 * LEFT) / WIDTH * 100
    return [
        (LEFT / WIDTH * 100 + ((at - first).total_seconds() / length * room if length else 0), name)
        for at, name in found
    ]


def _drawn(mark: TimelineMark) -> Markup:
    kind, bottom = LANES[mark.lane][0], (mark.lane + 1) * LANE
    high = max(1.5, (LANE - 6) * mark.height)
    width = f"{mark.width / WIDTH:.2%}" if mark.width else str(DOT)
    return _MARK.format(kind, mark.x / WIDTH * 100, bottom - high, width, high, mark.text)

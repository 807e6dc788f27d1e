"""A life as a line: what happened to an agent, in order, and where its marks stand. Pure."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from adapters.text.common import lasting
from adapters.timetravel.logs_at import Past
from adapters.web.charts import tick
from domain.agent import wake_queue as a
from domain.agent.agent import AgentReported
from domain.changes import change_set as c
from domain.log.state import RecordedEvent
from domain.log.timestamps import seconds_between

LANE = 26  # how high a lane of the drawing is
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
    "client": "a client proposed",
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
# One step is one moment, however long the time between two of them: that is written in between.


class TimelineMark(NamedTuple):
    """A mark of a lane: where it stands, how wide and how high (up to 1) it is, for how many;
    across it is told in percent."""

    lane: int
    x: float
    width: float
    height: float
    events: int
    text: str


def places(events: Sequence[TimelineEvent]) -> list[float]:
    """Where each event stands from 0 to 1; those of one append stand at one place.

    >>> places([TimelineEvent(n, "", "", "") for n in (3, 5, 5, 90)])
    [0.0, 0.5, 0.5, 1.0]
    """
    steps = {n: nth for nth, n in enumerate(dict.fromkeys(one.n for one in events))}
    return [steps[one.n] / max(1, len(steps) - 1) for one in events]


def marks(events: Sequence[TimelineEvent]) -> list[TimelineMark]:
    """The marks of a line: one for each event, or, of many, one for all of a kind in some steps."""
    lanes = {kind: nth for nth, (kind, _) in enumerate(LANES)}
    where = zip(events, places(events), strict=True)
    if len(events) <= MARKS_MAX:
        return [TimelineMark(lanes[one.kind], x * 100, 0, 1, 1, one.text) for one, x in where]
    counts = Counter((lanes[one.kind], min(BINS - 1, int(x * BINS))) for one, x in where)
    most, step = max(counts.values()), 100 / BINS
    return [
        TimelineMark(lane, nth * step, step * 0.8, count / most, count, f"{count}")
        for (lane, nth), count in sorted(counts.items())
    ]


def gaps(moments: Sequence[TimelineEvent]) -> list[tuple[float, str]]:
    """The longest waits between two moments: where, in percent, and how long. Of those whose words
    would run into each other the longest."""
    step = 100 / max(1, len(moments) - 1)
    waits = [
        (seconds_between(one.at, after.at), (nth + 0.5) * step)
        for nth, (one, after) in enumerate(pairwise(moments))
    ]
    kept: dict[float, str] = {}
    for seconds, x in sorted(waits, reverse=True):
        if seconds < GAP_SECONDS or len(kept) == GAPS_MAX:
            break
        if all(abs(x - other) >= GAP_APART for other in kept):
            kept[x] = lasting(seconds)
    return sorted(kept.items())


AXIS = 22  # below the lanes: what lies between moments
GAP_SECONDS, GAPS_MAX, GAP_APART = 3600, 8, 8.0  # percent
_SVG = Markup(  # across in percent, down in pixels: words keep their shape
    '<svg class="life" height="{}" role="img" aria-label="{}"><g class="axes">{}</g>{}</svg>'
)
_MARK = Markup(
    '<rect class="is-{}" x="{:.2f}%" y="{:.1f}" width="{}" height="{:.1f}"><title>{}</title></rect>'
)
_BASE = Markup('<line class="base" x1="0" x2="100%" y1="{}" y2="{}"/>')


def drawn(life: Timeline, what: str) -> Markup:
    """The line as SVG; `what` it is to who cannot see it."""
    height = LANE * len(LANES)
    bases = (_BASE.format(y, y) for y in range(LANE, height + 1, LANE))
    axis = (tick(x, name, 0, height) for x, name in gaps(life.moments))
    shown = (_drawn(one) for one in marks(life.events))
    lines = Markup("").join((*bases, *axis))
    return _SVG.format(height + AXIS, what, lines, Markup("").join(shown))


def _drawn(mark: TimelineMark) -> Markup:
    kind, bottom = LANES[mark.lane][0], (mark.lane + 1) * LANE
    high = max(1.5, (LANE - 6) * mark.height)
    width = f"{mark.width:.2f}%" if mark.width else str(DOT)
    return _MARK.format(kind, mark.x, bottom - high, width, high, mark.text)

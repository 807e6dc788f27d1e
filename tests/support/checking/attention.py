"""Law 9 on agents' attention: every trigger ends in one wake's causes or one suppression, every
wake that was queued begins, is dropped or still waits, and one runs at a time."""

from collections import defaultdict
from collections.abc import Iterator

from tests.support.checking.keys import run_key
from tests.support.checking.logs import Append, Doc, Finding, Home, Row

TICKS_MAX = 100
FAILURES_MAX = 5
HOPS_MAX = 3
ASKED = ("manual", "user", "recovery")  # reasons of a trigger that wake an agent from its sleep


class _Queue:
    """The attention of one agent: what is queued and begun, and where its triggers are."""

    def __init__(self) -> None:
        self.queued = ""
        self.begun = ""
        self.is_running = False
        self.known: set[str] = set()  # run keys: each wake is queued once
        self.places: defaultdict[str, set[str]] = defaultdict(set)  # of each trigger: wakes
        self.suppressed: set[str] = set()
        self.dropped: dict[str, str] = {}  # superseded wakes, and by which
        self.asked: set[str] = set()  # wakes that a person asked for
        self.sleeps_until = self.ordered = ""  # as was said here, and as holds everywhere


def check(home: Home) -> Iterator[Finding]:
    """All alert streams of the agent log."""
    queues: defaultdict[str, _Queue] = defaultdict(_Queue)
    is_alone = len({row.replica for _, row in home.agents.rows}) == 1  # else an order may be new
    for one in home.agents.appends:
        for row in one.rows:
            if row.topic == "agent.slept.1" and is_alone:
                queue = queues[f"alert:{row.entity}@{row.replica}"]
                queue.ordered = row.data.get("until", "")
                queue.sleeps_until = "" if "over" in row.data else queue.sleeps_until
            if row.kind == "alert":
                queue = queues[row.stream]
                yield from (Finding(9, one.where, told) for told in _row(one, row, queue))
                yield from _bounds(one, row)
        yield from _ends(one)
    yield from _requests(home)
    for stream, queue in queues.items():
        yield from (Finding(9, stream, told) for told in _fates(queue))
        if home.is_settled and queue.is_running:
            yield Finding(9, stream, f"the wake {queue.begun} still runs")


def _row(one: Append, row: Row, queue: _Queue) -> Iterator[str]:
    data = row.data
    match row.topic:
        case "alert.wake_queued.1":
            yield from _queued(one, row, queue)
        case "alert.trigger_merged.1":
            if data["runKey"] != queue.queued:
                yield f"a trigger joins {data['runKey']}, which is not queued"
            for trigger in triggers(data):
                yield from _merged(one, row, queue, trigger)
        case "alert.trigger_suppressed.1":
            for trigger in triggers(data):
                name = run_key(row.entity, trigger)
                if name in queue.suppressed or name in queue.places:
                    yield f"the trigger {_named(trigger)} is suppressed and was noticed before"
                queue.suppressed.add(name)
        case "alert.wake_begun.1":
            yield from _begun(data["runKey"], one.at, queue)
        case "alert.slept.1":
            queue.sleeps_until = data.get("until", "")
        case "alert.wake_dropped.1":
            yield from _dropped(data, queue)
        case "alert.wake_backed_off.1":
            if data["runKey"] not in (queue.begun, queue.queued):
                yield f"{data['runKey']} waits, and is neither queued nor begun"
            queue.is_running = queue.is_running and data["runKey"] != queue.begun
        case "alert.settled.1":
            if data["runKey"] != queue.begun:
                yield f"{data['runKey']} is settled, and {queue.begun or 'nothing'} has begun"
            queue.begun, queue.is_running = "", False


def triggers(data: Doc) -> list[Doc]:
    """The triggers that a row of an alert stream notes: one, or a list of them."""
    found = [data["trigger"]] if "trigger" in data else []
    for value in data.values():
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, dict) and "reasonId" in one]
    return found


def _queued(one: Append, row: Row, queue: _Queue) -> Iterator[str]:
    """A first trigger makes a wake; where one is queued already, this one takes its place."""
    data = row.data
    named = data["runKey"]
    if named in queue.known:
        yield f"the wake {named} is queued twice"
    if queue.queued:
        drops = [drop.data for drop in one.of("alert.wake_dropped.1") if drop.stream == row.stream]
        if not any(d["runKey"] == queue.queued and d.get("by") == named for d in drops):
            yield f"{named} is queued beside {queue.queued}"
    queue.known.add(named)
    for trigger in triggers(data):
        name = run_key(row.entity, trigger)
        if name in queue.suppressed or name in queue.places:
            yield f"the trigger {_named(trigger)} was noticed before"
        queue.places[name].add(named)
        queue.asked |= {named} if trigger["reason"] in ASKED else set()
    queue.queued = named


def _merged(one: Append, row: Row, queue: _Queue, trigger: Doc) -> Iterator[str]:
    """A trigger is noted once; once more only by the wake that supersedes the one it was in."""
    name, wake = run_key(row.entity, trigger), row.data["runKey"]
    drops = [drop.data for drop in one.of("alert.wake_dropped.1") if drop.stream == row.stream]
    given = {drop["runKey"] for drop in drops if drop.get("by") == wake}
    is_inherited = bool(given & queue.places[name]) if name in queue.places else False
    is_known = name in queue.suppressed or bool(queue.places.get(name))
    if is_known and not is_inherited:
        yield f"the trigger {_named(trigger)} was noticed before"
    if wake in queue.places[name]:
        yield f"the trigger {_named(trigger)} stands twice in {wake}"
    queue.places[name].add(wake)
    queue.asked |= {wake} if trigger["reason"] in ASKED else set()


def _begun(named: str, at: str, queue: _Queue) -> Iterator[str]:
    if named == queue.begun:  # goes on after a wait, or was taken over
        queue.is_running = True
        return
    if queue.begun:
        yield f"{named} begins while {queue.begun} has not ended"
    if named != queue.queued:
        yield f"{named} begins and was not queued"
    until = max(queue.sleeps_until, queue.ordered)
    if at < until and named not in queue.asked:
        yield f"{named} begins at {at}, and its agent sleeps until {until}"
    queue.begun, queue.queued, queue.is_running = named, "", True


def _dropped(data: Doc, queue: _Queue) -> Iterator[str]:
    named, by = data["runKey"], data.get("by", "")
    if (data["code"] == "superseded") != bool(by):
        yield f"{named} is dropped as {data['code']}, by {by or 'nobody'}"
    if by:
        queue.dropped[named] = by
        queue.asked |= {by} if named in queue.asked else set()
    if by and queue.queued != by:
        yield f"{named} is superseded by {by}, which is not queued"
    if left_out := data.get("leftOut", 0):  # triggers that go on without a row of their own
        held = (places for places in queue.places.values() if named in places)
        unnamed = [places for places in held if by not in places]
        if len(unnamed) != left_out:
            yield f"{named} leaves {left_out} triggers to {by}, and has {len(unnamed)} more"
        for places in unnamed:
            places.add(by)
    if not by:
        if queue.queued != named:
            yield f"{named} is dropped and was not queued"
        queue.queued = ""


def _fates(queue: _Queue) -> Iterator[str]:
    """In the end each trigger is in one wake that was not superseded, or is suppressed."""
    lost = 0
    for name, wakes in queue.places.items():
        living = [wake for wake in wakes if wake not in queue.dropped]
        lost += not living
        if len(living) > 1 or (living and name in queue.suppressed):
            yield f"the trigger of {name} ended in {len(living)} wakes"
    if lost:
        yield f"{lost} triggers are in superseded wakes only"


def _requests(home: Home) -> Iterator[Finding]:
    """What a wake asked others comes to each as one trigger, in the append that completes it, and
    nowhere else first."""
    staged: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    handed: set[tuple[str, str]] = set()
    for one in home.agents.appends:
        for row in one.of("wake.request_staged.1"):
            staged[row.entity].add((row.data["agent"], row.data["about"]))
        came: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for row in [row for row in one.rows if row.kind == "alert"]:
            for trigger in [each for each in triggers(row.data) if each["reason"] == "request"]:
                came[trigger["reasonId"]].add((row.entity, trigger["about"]))
        for row in one.of("wake.finished.1"):
            wanted = staged[row.entity] if row.data["outcome"] == "completed" else set()
            if came[row.entity] != wanted:
                yield Finding(9, one.where, f"{row.entity} asks {wanted}: {came[row.entity]}")
            handed |= {(row.entity, agent) for agent, _ in wanted}
        for wake, asked in came.items():
            if not {(wake, agent) for agent, _ in asked} <= handed:
                yield Finding(9, one.where, f"{asked} are asked by {wake}, which did not")


def _ends(one: Append) -> Iterator[Finding]:
    """A wake that begins, is dropped or settled says so in its own stream, in the same append."""
    started = {row.entity for row in one.of("wake.started.1", "wake.model_asked.1")}
    started |= {row.entity for row in one.of("wake.tool_asked.1", "wake.finished.1")}
    ended = {row.entity for row in one.of("wake.finished.1")}
    for row in one.of("alert.wake_begun.1"):
        if row.data["runKey"] not in started:
            yield Finding(9, one.where, f"the wake {row.data['runKey']} begins without a start")
    settled = {row.data["runKey"] for row in one.of("alert.settled.1", "alert.wake_dropped.1")}
    if settled != ended and one.does != "propose":  # which is never queued
        told = f"ended are {sorted(ended)}, and settled or dropped {sorted(settled)}"
        yield Finding(9, one.where, told)


def _bounds(one: Append, row: Row) -> Iterator[Finding]:
    for trigger in triggers(row.data):
        if len(trigger.get("ticks", [])) > TICKS_MAX:
            yield Finding(10, one.where, f"a wake names {len(trigger['ticks'])} ticks")
        is_woken = row.topic != "alert.trigger_suppressed.1"
        if is_woken and trigger.get("hop", 0) > HOPS_MAX:
            yield Finding(10, one.where, f"{trigger['hop']} agents' writes led to a wake")
    if row.data.get("failures") == FAILURES_MAX and not any(one.of("agent.paused.1")):
        yield Finding(10, one.where, f"{FAILURES_MAX} failures, and the agent goes on")


def _named(trigger: Doc) -> str:
    """A trigger as a report names it."""
    if trigger["reason"] == "subscription":
        return f"journal:{trigger.get('replica')}:{trigger.get('position')}"
    return f"{trigger['reason']} {trigger['reasonId']}"

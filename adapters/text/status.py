"""The answer of `wakelog status`, in words."""

from collections.abc import Iterator

from adapters.documents import status as s
from adapters.home.clock import lag_text
from adapters.text.common import ID_SHOWN, local_time, safe
from adapters.text.notify import why_not_told
from adapters.text.policy import held
from adapters.text.sync import away_text
from adapters.text.task import span
from domain.log.timestamps import seconds_between

LINES_MAX = 10  # of each list; --json has all


def status_lines(status: s.StatusDetails, counted: s.StatusCounts, zone: str) -> Iterator[str]:
    """The status, line by line; `counted` says how many there are of what it lists in part."""
    journal, log = status.journal, status.agent_log
    yield f"home       {status.home}"
    yield f"journal    {journal.appends:,} appends, {journal.rows:,} rows"
    yield f"agent log  {log.appends:,} appends, {log.rows:,} rows"
    if status.clock_behind:
        told = f"the log is {lag_text(status.clock_behind)} ahead of this machine's clock"
        yield f"clock      {told}: times go on from the log's end"
    if status.lag:
        yield f"lag        {status.lag} journal appends that no agent has looked at"
    yield f"tasks      {status.tasks.open} open of {status.tasks.all}"
    yield from _list("timer", [_timer(one, status.at, zone) for one in status.timers])
    living, dormant = status.agents.living, status.agents.dormant
    paused = f", {dormant} of them paused" if dormant else ""
    off = "" if status.enabled else ", all switched off by agents.enabled"
    yield f"agents     {living}{paused}{off}; model {status.model}"
    if status.lead_away:
        yield f"lead       {away_text(status.lead_away)}"
    elif status.lead:
        yield f"lead       {safe(status.lead)}: there agents wake by themselves, here if you ask"
    yield f"proposals  {status.open_proposals} open"
    if status.conflicts:
        yield f"conflicts  {status.conflicts} between machines: see `wakelog conflicts`"
    yield from _list("runtime", [_runtime(one, zone) for one in status.runtimes])
    yield from _list(
        "running", [f"{one.name}, since {local_time(one.since, zone)}" for one in status.running]
    )
    yield from _list("queued", [_due(one, zone) for one in status.queued], counted.queued)
    yield from _list("held", [held(one) for one in status.held])
    yield from _list("told", [told for one in status.receivers if (told := why_not_told(one))])
    yield from _list("failing", [_failed(one) for one in status.agents.failing], counted.failing)
    yield from _list("in doubt", [_doubtful(one, zone) for one in status.in_doubt])
    yield _next(status, zone)


def _list(title: str, lines: list[str], count: int = 0) -> Iterator[str]:
    for nth, line in enumerate(lines[:LINES_MAX]):
        yield f"{title if nth == 0 else '':9}  {line}"
    if (count or len(lines)) > LINES_MAX:
        yield f"{'':9}  and {(count or len(lines)) - LINES_MAX} more"


def _runtime(one: s.RuntimeDetails, zone: str) -> str:
    if not one.alive:
        return f"process {one.pid} is gone, last heard of {local_time(one.beat, zone)}"
    working = f", {len(one.leases)} wakes" if one.leases else ""
    return f"process {one.pid}, since {local_time(one.since, zone)}{working}"


def _timer(one: s.RunningTimer, now: str, zone: str) -> str:
    spent = span(seconds_between(one.since, now) // 60)
    return f"{one.title}, since {local_time(one.since, zone)} ({spent})"


def _due(one: s.QueuedWake, zone: str) -> str:
    due = "due now" if one.is_due else f"due {local_time(one.due_at, zone)}"
    waits = f", waits for its {one.waits_for}" if one.waits_for else ""
    asleep = ", asleep" if one.asleep else ""
    return f"{one.name}: {one.reason}, {due}{waits}{asleep}"


def _failed(one: s.FailingAgent) -> str:
    code = f" ({one.last_code})" if one.last_code else ""
    paused = ", paused" if one.lifecycle == "dormant" else ""
    return f"{one.name}: {one.failures} failed in a row{code}{paused}"


def _doubtful(one: s.DoubtfulWake | s.DoubtfulOperation, zone: str) -> str:
    if isinstance(one, s.DoubtfulWake):
        return f"{one.name}: its wake began {local_time(one.since, zone)} and has no end"
    return f"item {one.item} of set {one.set_id[:ID_SHOWN]}: is being applied"


def _next(status: s.StatusDetails, zone: str) -> str:
    """What to do now."""
    if status.in_doubt:
        return "Finish what a crash left with `wakelog recover`."
    if commands := [one.command for one in status.held if one.command]:
        return f"See what would be sent, and agree to it, with `{commands[0]}`."
    if status.lag or any(one.is_due for one in status.queued):
        return "Wake all that are queued with `wakelog wake`."
    if status.open_proposals:
        return "See what agents propose with `wakelog inbox`."
    if status.next_due:
        return f"Next due {local_time(status.next_due, zone)}."
    if not status.tasks.all:
        return "Bring tasks in with `wakelog import TODO.md`."
    if not status.agents.living:
        return "Give tasks agents with `wakelog agent create --all`."
    return "Nothing waits."

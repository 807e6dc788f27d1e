"""A round of waking: what is queued runs, one failing agent never stops the others (SPEC 3, 9).

At most `agents.parallel` wakes run at once; with a clock set by hand strictly one after another,
so that two runs of the same commands write the same bytes (DESIGN 9).
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from adapters.clock import ManualClock
from adapters.runtime import performer, review, timers, watcher
from adapters.runtime.desk import Desk
from adapters.runtime.performer import Work
from adapters.runtime.seats import Seats, Taken, living
from domain.agent.alertness import ALERT, Alert, next_wake
from domain.errors import WakelogError
from domain.moments import seconds_between
from domain.wake.state import WAKE, Wake

POLL_SECONDS = 0.2
RUNS_ALREADY = "another wake of this agent is running"

Progress = Callable[[int, int, str], None]
"""``progress(nth, of, agent_id)``, as each wake of a round is about to run."""


class Ran(NamedTuple):
    """A wake of a round. `error`: why it could not run at all, with its code; else empty."""

    agent_id: str
    run_key: str
    error: WakelogError | str = ""
    code: str = ""


class Waiting(NamedTuple):
    """A wake that is left alone: it waits for its provider or a budget, or runs elsewhere."""

    agent_id: str
    run_key: str
    until: str
    reason: str  # "provider", "budget", "running"
    pid: int = 0  # of the process that runs it, if that is known


def prepare(desk: Desk, agent_ids: Sequence[str], expiring: Iterable[str] = ()) -> list[str]:
    """Catch up over the journal, fire the timers that are due, expire what nobody decided.

    Args:
        desk: Where.
        agent_ids: All agents.
        expiring: Change sets whose time has come.

    Returns:
        What went wrong with timers, one text each.
    """
    watcher.catch_up(desk)
    troubles = timers.fire(desk, agent_ids)
    for set_id in expiring:
        review.expire(desk, set_id)
    return troubles


def waiting(desk: Desk, agent_ids: Iterable[str]) -> list[Waiting]:
    """The wakes that a round leaves alone."""
    found: list[Waiting] = []
    now = desk.clock.now()
    pids = {lease.agent: lease.pid for lease in living(desk)}
    for agent_id in agent_ids:
        alert = _alert(desk, agent_id)
        if alert.running and not _is_abandoned(desk, alert):
            pid = pids.get(agent_id, 0)
            found.append(Waiting(agent_id, alert.running, "", "running", pid))
        wake = next_wake(alert)
        if wake is not None and wake.until > now:
            found.append(Waiting(agent_id, wake.run_key, wake.until, wake.waits_for))
    return found


def ready(
    desk: Desk, agent_ids: Sequence[str], lapsed: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """All that a round runs, as ``(agent, run key)`` in queue order: abandoned ones first, then
    every queued wake, due or not; one that waits for a provider or a budget only if it is due.
    Of `lapsed` agents it is known that the process of the wake that runs is gone."""
    now = desk.clock.now()
    alerts = {agent_id: _alert(desk, agent_id) for agent_id in agent_ids}
    left = [
        (one, alert.running)
        for one, alert in alerts.items()
        if one in lapsed or _is_abandoned(desk, alert)
    ]
    queued = performer.queued_wakes(desk, list(agent_ids))
    return left + [(agent_id, wake.run_key) for _, agent_id, wake in queued if wake.until <= now]


def run_ready(desk: Desk, agent_ids: Sequence[str], progress: Progress) -> list[Ran]:
    """Run all that is ready, and say what came of it, in queue order."""
    return asyncio.run(_run_all(desk, agent_ids, progress))


async def _run_all(desk: Desk, agent_ids: Sequence[str], progress: Progress) -> list[Ran]:
    is_manual = isinstance(desk.clock, ManualClock)
    slots = asyncio.Semaphore(1 if is_manual else desk.settings.agents.parallel)

    async def one(nth: int, agent_id: str, run_key: str) -> Ran | None:
        async with slots:
            is_left = agent_id in left
            came, told = await _seated(desk, seats, agent_id, run_key)
            if came != "taken":
                return Ran(agent_id, run_key, told, "agent_running") if told else None
            if not (is_left or is_manual or (agent_id, run_key) in ready(desk, [agent_id])):
                seats.give_back(agent_id)
                return None  # another process was faster
            progress(nth, len(wakes), agent_id)
            ran = await run_one(desk, agent_id, run_key, is_left=is_left)
            seats.give_back(agent_id)
            return ran

    async with Seats(desk) as seats:
        lapsed = [one for one in agent_ids if seats.is_lapsed(one, _alert(desk, one))]
        wakes = ready(desk, agent_ids, lapsed)
        left = {
            agent_id for agent_id, run_key in wakes if _alert(desk, agent_id).running == run_key
        }
        jobs = [one(nth, *wake) for nth, wake in enumerate(wakes, start=1)]
        return [ran for ran in await asyncio.gather(*jobs) if ran is not None]


async def _seated(desk: Desk, seats: Seats, agent_id: str, run_key: str) -> tuple[Taken, str]:
    """Take an agent's lease, waiting until there is room; what came of it, and what is to be
    told. Where another process is at the agent already, nothing is."""
    end = _time() + desk.settings.agents.lost_seconds
    while (came := seats.take(agent_id, run_key)) == "limit":
        if _time() > end:
            return came, f"{seats.told(agent_id)}; it stays queued"
        await asyncio.sleep(POLL_SECONDS)
    return came, ""


def run_requested(desk: Desk, agent_id: str, run_key: str, tell: Callable[[str], None]) -> Ran:
    """Run a wake that a person asked for, after what goes before it, and wait for it.

    It is left queued if the wake before it has to wait again.

    Args:
        desk: Where.
        agent_id: Whose wake.
        run_key: Which.
        tell: Is told once if another process has to be waited for.
    """
    return asyncio.run(run_asked(desk, agent_id, run_key, tell))


async def run_asked(desk: Desk, agent_id: str, run_key: str, tell: Callable[[str], None]) -> Ran:
    """See `run_requested`, of which it is the async part."""
    async with Seats(desk) as seats:
        return await _asked(desk, seats, Ran(agent_id, run_key), tell)


async def _asked(desk: Desk, seats: Seats, ran: Ran, tell: Callable[[str], None]) -> Ran:
    agent_id, run_key = ran.agent_id, ran.run_key
    told: set[str] = set()
    end = _time() + desk.settings.agents.lost_seconds
    while not ran.error:  # bounded: each time one wake ends, or it waits, until `end` at most
        alert = _alert(desk, agent_id)
        following = _following(desk, seats, alert)
        if _wake(desk, run_key).phase == "done" or _is_held(desk, alert) or following is None:
            return ran
        if following and seats.take(agent_id, following) == "taken":
            is_left = following == alert.running
            ran = await run_one(desk, agent_id, following, is_left=is_left)
            if not ran.code:
                seats.give_back(agent_id)
            ran, end = ran._replace(run_key=run_key), _time() + desk.settings.agents.lost_seconds
            continue
        why = seats.told(agent_id) if following else RUNS_ALREADY
        if why not in told:
            told.add(why)
            tell(f"{why}: waiting for it to end")
        if _time() > end:
            return ran._replace(error=f"{why}; it stays queued", code="agent_running")
        await asyncio.sleep(POLL_SECONDS)
    return ran


def _following(desk: Desk, seats: Seats, alert: Alert) -> str | None:
    """The wake of an agent that may be performed next; empty while another process runs one;
    None where there is none."""
    if alert.running:
        is_left = _is_abandoned(desk, alert) or seats.is_lapsed(alert.id, alert)
        return alert.running if is_left else ""
    ahead = next_wake(alert)
    return ahead.run_key if ahead else None


def _time() -> float:
    return asyncio.get_running_loop().time()


async def run_one(desk: Desk, agent_id: str, run_key: str, *, is_left: bool = False) -> Ran:
    """Run one wake, unless another process does. What goes wrong is recorded, never raised.

    Args:
        desk: Where.
        agent_id: Whose wake.
        run_key: Which.
        is_left: If it runs, the process that ran it is known to be gone.
    """
    work = Work(agent_id, run_key)
    wake = _perform(desk, work, is_left=is_left)
    try:
        fault = (await asyncio.gather(wake, return_exceptions=True))[0]
    except asyncio.CancelledError:
        _release(desk, work, "interrupted")
        raise
    match fault:
        case None | WakelogError(code="unknown_wake"):  # another process has begun it meanwhile
            return Ran(agent_id, run_key)
        case WakelogError():
            _release(desk, work, fault.code)
            return Ran(agent_id, run_key, fault, fault.code)
        case Exception():
            return Ran(agent_id, run_key, performer.fail(desk, work, fault), "internal")
        case _:
            raise fault


async def _perform(desk: Desk, work: Work, *, is_left: bool) -> None:
    with desk.agents.reading() as world:
        alert, wake = world.load(ALERT, work.agent_id), world.load(WAKE, work.run_key)
    if alert.running != work.run_key or is_left or _is_abandoned(desk, alert):
        await performer.run_wake(
            desk, work.agent_id, work.run_key, is_now=True, seen=wake, work=work
        )


def _release(desk: Desk, work: Work, reason: str) -> None:
    """Let a begun wake wait for its next turn at once, so that nobody takes it for running."""
    if _wake(desk, work.run_key).phase == "waiting":
        desk.note(work.defer(desk.clock.now(), reason))


def _is_abandoned(desk: Desk, alert: Alert) -> bool:
    """Whether the process of a running wake must be gone: a wake has a deadline, and with a
    clock set by hand nobody else is at work."""
    if not alert.running:
        return False
    if isinstance(desk.clock, ManualClock):
        return True
    running = seconds_between(alert.running_since, desk.clock.now())
    return running > desk.settings.agents.lost_seconds


def _is_held(desk: Desk, alert: Alert) -> bool:
    """Whether the wake that goes next must wait for its provider or a budget."""
    ahead = next_wake(alert)
    return ahead is not None and ahead.until > desk.clock.now()


def _alert(desk: Desk, agent_id: str) -> Alert:
    with desk.agents.reading() as world:
        return world.load(ALERT, agent_id)


def _wake(desk: Desk, run_key: str) -> Wake:
    with desk.agents.reading() as world:
        return world.load(WAKE, run_key)

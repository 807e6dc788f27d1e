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
from domain.agent.alertness import ALERT, Alert, next_wake
from domain.errors import WakelogError
from domain.moments import seconds_between
from domain.wake.commands import DeferWake, StopWake
from domain.wake.state import WAKE, Wake

POLL_SECONDS = 0.2
GRACE_SECONDS = 30  # after its deadline a wake that still runs has lost its process
MESSAGE_MAX = 300

Progress = Callable[[int, int, str], None]
"""``progress(nth, of, agent_id)``, as each wake of a round is about to run."""


class Ran(NamedTuple):
    """A wake of a round. `error`: why it could not run at all, with its code; else empty."""

    agent_id: str
    run_key: str
    error: str = ""
    code: str = ""


class Waiting(NamedTuple):
    """A wake that is left alone: it waits for its provider or a budget, or runs elsewhere."""

    agent_id: str
    run_key: str
    until: str
    reason: str  # "provider", "budget", "running"


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
    for agent_id in agent_ids:
        alert = _alert(desk, agent_id)
        if alert.running and not _is_abandoned(desk, alert):
            found.append(Waiting(agent_id, alert.running, "", "running"))
        wake = next_wake(alert)
        if wake is not None and wake.until > now:
            found.append(Waiting(agent_id, wake.run_key, wake.until, wake.waits_for))
    return found


def ready(desk: Desk, agent_ids: Sequence[str]) -> list[tuple[str, str]]:
    """All that a round runs, as ``(agent, run key)`` in queue order: abandoned ones first, then
    every queued wake, due or not; one that waits for a provider or a budget only if it is due."""
    now = desk.clock.now()
    alerts = {agent_id: _alert(desk, agent_id) for agent_id in agent_ids}
    left = [(one, alert.running) for one, alert in alerts.items() if _is_abandoned(desk, alert)]
    queued = performer.queued_wakes(desk, list(agent_ids))
    return left + [(agent_id, wake.run_key) for _, agent_id, wake in queued if wake.until <= now]


def run_ready(desk: Desk, agent_ids: Sequence[str], progress: Progress) -> list[Ran]:
    """Run all that is ready, and say what came of it, in queue order."""
    wakes = ready(desk, agent_ids)
    return asyncio.run(_run_all(desk, wakes, progress)) if wakes else []


async def _run_all(desk: Desk, wakes: Sequence[tuple[str, str]], progress: Progress) -> list[Ran]:
    is_manual = isinstance(desk.clock, ManualClock)
    slots = asyncio.Semaphore(1 if is_manual else desk.settings.agents.parallel)

    async def one(nth: int, agent_id: str, run_key: str) -> Ran:
        async with slots:
            progress(nth, len(wakes), agent_id)
            return await run_one(desk, agent_id, run_key)

    jobs = [one(nth, *wake) for nth, wake in enumerate(wakes, start=1)]
    return list(await asyncio.gather(*jobs))


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
    ran = Ran(agent_id, run_key)
    while not ran.error:  # bounded: each time one wake ends, or it returns; waits have deadlines
        alert = _alert(desk, agent_id)
        if _wake(desk, run_key).phase == "done" or _is_held(desk, alert):
            return ran
        ahead = next_wake(alert)
        if ahead is not None:
            ran = (await run_one(desk, agent_id, ahead.run_key))._replace(run_key=run_key)
        elif _is_abandoned(desk, alert):
            ran = (await run_one(desk, agent_id, alert.running))._replace(run_key=run_key)
        elif alert.running:
            tell("another wake of this agent is running: waiting for it to end")
            await _ended(desk, agent_id, alert.running)
        else:
            return ran  # it was dropped meanwhile
    return ran


async def _ended(desk: Desk, agent_id: str, run_key: str) -> None:
    """Wait until a wake does not run any more, or its process must be gone."""
    while (alert := _alert(desk, agent_id)).running == run_key:  # bounded by its deadline
        if _is_abandoned(desk, alert):
            return
        await asyncio.sleep(POLL_SECONDS)


async def run_one(desk: Desk, agent_id: str, run_key: str) -> Ran:
    """Run one wake, unless another process does. What goes wrong is recorded, never raised."""
    work = _perform(desk, agent_id, run_key)
    try:
        fault = (await asyncio.gather(work, return_exceptions=True))[0]
    except asyncio.CancelledError:
        _release(desk, agent_id, run_key, "interrupted")
        raise
    match fault:
        case None | WakelogError(code="unknown_wake"):  # another process has begun it meanwhile
            return Ran(agent_id, run_key)
        case WakelogError():
            _release(desk, agent_id, run_key, fault.code)
            return Ran(agent_id, run_key, str(fault), fault.code)
        case Exception():
            told = f"{type(fault).__name__}: {fault}"[:MESSAGE_MAX]
            if _wake(desk, run_key).phase not in ("absent", "done"):
                desk.note(StopWake(run_key, "internal", told))
            return Ran(agent_id, run_key, told, "internal")
        case _:
            raise fault


async def _perform(desk: Desk, agent_id: str, run_key: str) -> None:
    with desk.agents.reading() as world:
        alert, wake = world.load(ALERT, agent_id), world.load(WAKE, run_key)
    if alert.running != run_key or _is_abandoned(desk, alert):
        await performer.run_wake(desk, agent_id, run_key, is_now=True, seen=wake)


def _release(desk: Desk, agent_id: str, run_key: str, reason: str) -> None:
    """Let a begun wake wait for its next turn at once, so that nobody takes it for running."""
    if _wake(desk, run_key).phase == "waiting":
        desk.note(DeferWake(agent_id, run_key, desk.clock.now(), reason))


def _is_abandoned(desk: Desk, alert: Alert) -> bool:
    """Whether the process of a running wake must be gone: a wake has a deadline, and with a
    clock set by hand nobody else is at work."""
    if not alert.running:
        return False
    if isinstance(desk.clock, ManualClock):
        return True
    limit = desk.settings.agents.deadline_seconds + GRACE_SECONDS
    return seconds_between(alert.running_since, desk.clock.now()) > limit


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

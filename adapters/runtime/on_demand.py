"""Wakes on demand: a person asks for one, or for all that are queued, and waits (SPEC 3, 9).

What is to run is found once, at the beginning, due or not; the engine, which runs what is due for
as long as it is there, is the other one to choose. Both run a wake by `run_one`, under `RunLeases`.

At most `agents.parallel` wakes run at once; with a clock set by hand strictly one after another,
so that two runs of the same commands write the same bytes (DESIGN 9).

What goes wrong in one wake that this process runs reaches no other."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from adapters.runtime import effect_executor, gate, leadership, review, timers, watcher
from adapters.runtime.due_index import AgentSchedule, Schedules, WakeTurn, schedule_of, turns
from adapters.runtime.effect_executor import WakeExecution
from adapters.runtime.run_leases import RunLeases, is_lost, living
from adapters.runtime.services import Services
from domain.errors import WakelogError
from domain.wake.wake import WAKE


class RanWake(NamedTuple):
    """A wake that was run. `error`: why it could not run at all, with its code; else empty."""

    agent_id: str
    run_key: str
    error: WakelogError | str = ""
    code: str = ""


async def run_one(
    services: Services, agent_id: str, run_key: str, *, is_left: bool = False,
    hands_back: bool = True,
) -> RanWake:  # fmt: skip
    """Run one wake, due or not, unless another process does. What goes wrong is recorded, never
    raised. `is_left`: if it runs, the process that ran it is known to be gone. `hands_back`: where
    it cannot go on, it waits for its next turn; else it is left in doubt."""
    work = WakeExecution(agent_id, run_key)
    try:
        fault = await fault_of(_run_found(services, work, is_left=is_left))
    except asyncio.CancelledError:
        if hands_back:
            _hand_back(services, work, "interrupted")
        raise
    match fault:
        case None | WakelogError(code="unknown_wake"):  # another process has begun it meanwhile
            return RanWake(agent_id, run_key)
        case WakelogError():
            if hands_back:
                _hand_back(services, work, fault.code)
            return RanWake(agent_id, run_key, fault, fault.code)
        case _:
            told = effect_executor.fail(services, work, fault)
            return RanWake(agent_id, run_key, told, "internal")


async def fault_of(running: Coroutine[None, None, None]) -> Exception | None:
    """What ended a wake from outside, or the bug that was met in it, once it no longer runs."""
    fault = (await asyncio.gather(running, return_exceptions=True))[0]
    if fault is None or isinstance(fault, Exception):
        return fault
    raise fault


def _hand_back(services: Services, work: WakeExecution, reason: str) -> None:
    """Let a begun wake wait for its next turn at once, so that nobody takes it for running."""
    if services.wake(work.run_key).phase == "waiting":
        services.append_agent(work.defer(services.clock.now(), reason))


async def _run_found(services: Services, work: WakeExecution, *, is_left: bool) -> None:
    with services.agents.reading() as world:
        one, seen = schedule_of(world, work.agent_id), world.load(WAKE, work.run_key)
    if one is not None and one.running == work.run_key and not (is_left or is_lost(services, one)):
        return
    agent_id, run_key = work.agent_id, work.run_key
    await effect_executor.run_wake(services, agent_id, run_key, is_now=True, seen=seen, work=work)


# ---------------------------------------------------------------------------- all that is asked for

POLL_SECONDS = 0.2
RUNS_ALREADY = "another wake of this agent is running"

WakeProgress = Callable[[int, int, str], None]
"""``progress(nth, of, agent_id)``, as each wake of a round is about to run."""


class WaitingWake(NamedTuple):
    """A wake that is left alone: it waits for its provider or a budget, or runs elsewhere."""

    agent_id: str
    run_key: str
    until: str
    reason: str  # "provider", "budget", "running"
    pid: int = 0  # of the process that runs it, if that is known


def prepare(
    services: Services,
    ticking: Callable[[str], Iterable[str]],
    expiring: Iterable[str] = (),
    held: Iterable[str] = (),
) -> list[str]:
    """Catch up over the journal, fire the timers that are due, expire what nobody decided, and let
    go on what waited for what is given now; what went wrong with timers, one text each. `ticking`
    gives all agents with a timer that is due by a time; `expiring`: change sets whose time has
    come; `held`: agents with a wake that waits for a consent or a key. Others do no harm."""
    leadership.settle(services)
    watcher.catch_up(services)
    now = services.clock.now()
    troubles = timers.fire(services, ticking(now), now)
    for set_id in expiring:
        review.expire(services, set_id)
    gate.let_go(services, held)
    return troubles


def waiting(services: Services, agent_ids: Iterable[str]) -> list[WaitingWake]:
    """The wakes that a round leaves alone."""
    found: list[WaitingWake] = []
    now = services.clock.now()
    pids = {lease.agent: lease.pid for lease in living(services)}
    for one in _schedules(services, agent_ids):
        if one.running and not is_lost(services, one):
            pid = pids.get(one.agent, 0)
            found.append(WaitingWake(one.agent, one.running, "", "running", pid))
        if one.until > now:
            found.append(WaitingWake(one.agent, one.run_key, one.until, one.waits_for or "sleep"))
    return found


def ready(services: Services, agent_ids: Iterable[str]) -> list[WakeTurn]:
    """All that a round runs, due or not, in queue order."""
    return _turns(services, _schedules(services, agent_ids), partial(is_lost, services))


def _turns(
    services: Services, found: list[AgentSchedule], is_abandoned: Callable[[AgentSchedule], bool]
) -> list[WakeTurn]:
    return list(turns(Schedules(found, is_now=True), services.clock.now(), is_abandoned))


def run_ready(
    services: Services, agent_ids: Sequence[str], progress: WakeProgress
) -> list[RanWake]:
    """Run all that is ready, and say what came of it, in queue order."""
    return asyncio.run(_run_all(services, agent_ids, progress))


async def _run_all(
    services: Services, agent_ids: Sequence[str], progress: WakeProgress
) -> list[RanWake]:
    async def run(nth: int, turn: WakeTurn) -> RanWake | None:
        agent_id, run_key = turn.schedule.agent, turn.run_key
        async with slots:
            end = _time() + services.settings.agents.lost_seconds
            while (came := run_leases.take(agent_id, run_key)) == "limit":
                if _time() > end:
                    told = f"{run_leases.told(agent_id)}; it stays queued"
                    return RanWake(agent_id, run_key, told, "agent_running")
                await asyncio.sleep(POLL_SECONDS)
            again = [one.run_key for one in ready(services, [agent_id])]
            if came == "agent" or not (turn.is_left or run_key in again):
                run_leases.give_back(agent_id)
                return None  # another process was faster
            progress(nth, len(found), agent_id)
            return await _run(services, run_leases, turn)

    async with RunLeases(services) as run_leases:
        slots = asyncio.Semaphore(run_leases.limit)
        found = _turns(services, _schedules(services, agent_ids), run_leases.is_abandoned)
        jobs = [run(nth, turn) for nth, turn in enumerate(found, start=1)]
        return [ran for ran in await asyncio.gather(*jobs) if ran is not None]


async def _run(services: Services, run_leases: RunLeases, turn: WakeTurn) -> RanWake:
    agent_id = turn.schedule.agent
    ran = await run_one(services, agent_id, turn.run_key, is_left=turn.is_left)
    run_leases.give_back(agent_id)
    return ran


def run_requested(
    services: Services, agent_id: str, run_key: str, tell: Callable[[str], None]
) -> RanWake:
    """Run a wake that a person asked for, after what goes before it, and wait for it. It is left
    queued if the wake before it has to wait again. `tell` is told once if another process has to be
    waited for."""
    return asyncio.run(run_asked(services, agent_id, run_key, tell))


async def run_asked(
    services: Services, agent_id: str, run_key: str, tell: Callable[[str], None]
) -> RanWake:
    """See `run_requested`, of which it is the async part."""
    ran = RanWake(agent_id, run_key)
    told: set[str] = set()
    end = _time() + services.settings.agents.lost_seconds
    async with RunLeases(services) as run_leases:
        while not ran.error:  # bounded: each time one wake ends, or it waits, until `end` at most
            here = _schedules(services, [agent_id])
            found = _turns(services, here, run_leases.is_abandoned)
            is_running = any(one.running for one in here)
            if services.wake(run_key).phase == "done" or not (found or is_running):
                return ran
            if found and run_leases.take(agent_id, found[0].run_key) == "taken":
                ran = (await _run(services, run_leases, found[0]))._replace(run_key=run_key)
                end = _time() + services.settings.agents.lost_seconds
                continue
            why = run_leases.told(agent_id) if found else RUNS_ALREADY
            if why not in told:
                told.add(why)
                tell(f"{why}: waiting for it to end")
            if _time() > end:
                return ran._replace(error=f"{why}; it stays queued", code="agent_running")
            await asyncio.sleep(POLL_SECONDS)
    return ran


def _time() -> float:
    return asyncio.get_running_loop().time()


def _schedules(services: Services, agent_ids: Iterable[str]) -> list[AgentSchedule]:
    with services.agents.reading() as world:
        found = (schedule_of(world, agent_id) for agent_id in agent_ids)
        return [one for one in found if one is not None]

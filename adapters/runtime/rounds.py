"""A round of waking: what is queued runs, one failing agent never stops the others (SPEC 3, 9).

At most `agents.parallel` wakes run at once; with a clock set by hand strictly one after another,
so that two runs of the same commands write the same bytes (DESIGN 9).
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from adapters.home.clock import ManualClock
from adapters.runtime import performer, review, timers, watcher
from adapters.runtime.performer import Work
from adapters.runtime.run_leases import RunLeases, Taken, living
from adapters.runtime.services import Services
from domain.agent.wake_queue import WAKE_QUEUE, WakeQueue, next_wake
from domain.errors import WakelogError
from domain.timestamps import seconds_between
from domain.wake.state import WAKE, Wake

POLL_SECONDS = 0.2
RUNS_ALREADY = "another wake of this agent is running"

WakeProgress = Callable[[int, int, str], None]
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


def prepare(
    services: Services, agent_ids: Sequence[str], expiring: Iterable[str] = ()
) -> list[str]:
    """Catch up over the journal, fire the timers that are due, expire what nobody decided.

    Args:
        services: Where.
        agent_ids: All agents.
        expiring: Change sets whose time has come.

    Returns:
        What went wrong with timers, one text each.
    """
    watcher.catch_up(services)
    troubles = timers.fire(services, agent_ids)
    for set_id in expiring:
        review.expire(services, set_id)
    return troubles


def waiting(services: Services, agent_ids: Iterable[str]) -> list[Waiting]:
    """The wakes that a round leaves alone."""
    found: list[Waiting] = []
    now = services.clock.now()
    pids = {lease.agent: lease.pid for lease in living(services)}
    for agent_id in agent_ids:
        wake_queue = _wake_queue(services, agent_id)
        if wake_queue.running and not _is_abandoned(services, wake_queue):
            pid = pids.get(agent_id, 0)
            found.append(Waiting(agent_id, wake_queue.running, "", "running", pid))
        wake = next_wake(wake_queue)
        if wake is not None and wake.until > now:
            found.append(Waiting(agent_id, wake.run_key, wake.until, wake.waits_for))
    return found


def ready(
    services: Services, agent_ids: Sequence[str], lapsed: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """All that a round runs, as ``(agent, run key)`` in queue order: abandoned ones first, then
    every queued wake, due or not; one that waits for a provider or a budget only if it is due.
    Of `lapsed` agents it is known that the process of the wake that runs is gone."""
    now = services.clock.now()
    queue_facts = {agent_id: _wake_queue(services, agent_id) for agent_id in agent_ids}
    left = [
        (one, wake_queue.running)
        for one, wake_queue in queue_facts.items()
        if one in lapsed or _is_abandoned(services, wake_queue)
    ]
    queued = performer.queued_wakes(services, list(agent_ids))
    return left + [(agent_id, wake.run_key) for _, agent_id, wake in queued if wake.until <= now]


def run_ready(services: Services, agent_ids: Sequence[str], progress: WakeProgress) -> list[Ran]:
    """Run all that is ready, and say what came of it, in queue order."""
    return asyncio.run(_run_all(services, agent_ids, progress))


async def _run_all(
    services: Services, agent_ids: Sequence[str], progress: WakeProgress
) -> list[Ran]:
    is_manual = isinstance(services.clock, ManualClock)
    slots = asyncio.Semaphore(1 if is_manual else services.settings.agents.parallel)

    async def one(nth: int, agent_id: str, run_key: str) -> Ran | None:
        async with slots:
            is_left = agent_id in left
            came, told = await _seated(services, run_leases, agent_id, run_key)
            if came != "taken":
                return Ran(agent_id, run_key, told, "agent_running") if told else None
            if not (is_left or is_manual or (agent_id, run_key) in ready(services, [agent_id])):
                run_leases.give_back(agent_id)
                return None  # another process was faster
            progress(nth, len(wakes), agent_id)
            ran = await run_one(services, agent_id, run_key, is_left=is_left)
            run_leases.give_back(agent_id)
            return ran

    async with RunLeases(services) as run_leases:
        lapsed = [one for one in agent_ids if run_leases.is_lapsed(one, _wake_queue(services, one))]
        wakes = ready(services, agent_ids, lapsed)
        left = {
            agent_id
            for agent_id, run_key in wakes
            if _wake_queue(services, agent_id).running == run_key
        }
        jobs = [one(nth, *wake) for nth, wake in enumerate(wakes, start=1)]
        return [ran for ran in await asyncio.gather(*jobs) if ran is not None]


async def _seated(
    services: Services, run_leases: RunLeases, agent_id: str, run_key: str
) -> tuple[Taken, str]:
    """Take an agent's lease, waiting until there is room; what came of it, and what is to be
    told. Where another process is at the agent already, nothing is."""
    end = _time() + services.settings.agents.lost_seconds
    while (came := run_leases.take(agent_id, run_key)) == "limit":
        if _time() > end:
            return came, f"{run_leases.told(agent_id)}; it stays queued"
        await asyncio.sleep(POLL_SECONDS)
    return came, ""


def run_requested(
    services: Services, agent_id: str, run_key: str, tell: Callable[[str], None]
) -> Ran:
    """Run a wake that a person asked for, after what goes before it, and wait for it.

    It is left queued if the wake before it has to wait again.

    Args:
        services: Where.
        agent_id: Whose wake.
        run_key: Which.
        tell: Is told once if another process has to be waited for.
    """
    return asyncio.run(run_asked(services, agent_id, run_key, tell))


async def run_asked(
    services: Services, agent_id: str, run_key: str, tell: Callable[[str], None]
) -> Ran:
    """See `run_requested`, of which it is the async part."""
    async with RunLeases(services) as run_leases:
        return await _asked(services, run_leases, Ran(agent_id, run_key), tell)


async def _asked(
    services: Services, run_leases: RunLeases, ran: Ran, tell: Callable[[str], None]
) -> Ran:
    agent_id, run_key = ran.agent_id, ran.run_key
    told: set[str] = set()
    end = _time() + services.settings.agents.lost_seconds
    while not ran.error:  # bounded: each time one wake ends, or it waits, until `end` at most
        wake_queue = _wake_queue(services, agent_id)
        following = _following(services, run_leases, wake_queue)
        if (
            _wake(services, run_key).phase == "done"
            or _is_held(services, wake_queue)
            or following is None
        ):
            return ran
        if following and run_leases.take(agent_id, following) == "taken":
            is_left = following == wake_queue.running
            ran = await run_one(services, agent_id, following, is_left=is_left)
            if not ran.code:
                run_leases.give_back(agent_id)
            ran, end = (
                ran._replace(run_key=run_key),
                _time() + services.settings.agents.lost_seconds,
            )
            continue
        why = run_leases.told(agent_id) if following else RUNS_ALREADY
        if why not in told:
            told.add(why)
            tell(f"{why}: waiting for it to end")
        if _time() > end:
            return ran._replace(error=f"{why}; it stays queued", code="agent_running")
        await asyncio.sleep(POLL_SECONDS)
    return ran


def _following(services: Services, run_leases: RunLeases, wake_queue: WakeQueue) -> str | None:
    """The wake of an agent that may be performed next; empty while another process runs one;
    None where there is none."""
    if wake_queue.running:
        is_left = _is_abandoned(services, wake_queue) or run_leases.is_lapsed(
            wake_queue.id, wake_queue
        )
        return wake_queue.running if is_left else ""
    ahead = next_wake(wake_queue)
    return ahead.run_key if ahead else None


def _time() -> float:
    return asyncio.get_running_loop().time()


async def run_one(services: Services, agent_id: str, run_key: str, *, is_left: bool = False) -> Ran:
    """Run one wake, unless another process does. What goes wrong is recorded, never raised.

    Args:
        services: Where.
        agent_id: Whose wake.
        run_key: Which.
        is_left: If it runs, the process that ran it is known to be gone.
    """
    work = Work(agent_id, run_key)
    wake = _perform(services, work, is_left=is_left)
    try:
        fault = (await asyncio.gather(wake, return_exceptions=True))[0]
    except asyncio.CancelledError:
        _release(services, work, "interrupted")
        raise
    match fault:
        case None | WakelogError(code="unknown_wake"):  # another process has begun it meanwhile
            return Ran(agent_id, run_key)
        case WakelogError():
            _release(services, work, fault.code)
            return Ran(agent_id, run_key, fault, fault.code)
        case Exception():
            return Ran(agent_id, run_key, performer.fail(services, work, fault), "internal")
        case _:
            raise fault


async def _perform(services: Services, work: Work, *, is_left: bool) -> None:
    with services.agents.reading() as world:
        wake_queue, wake = world.load(WAKE_QUEUE, work.agent_id), world.load(WAKE, work.run_key)
    if wake_queue.running != work.run_key or is_left or _is_abandoned(services, wake_queue):
        await performer.run_wake(
            services, work.agent_id, work.run_key, is_now=True, seen=wake, work=work
        )


def _release(services: Services, work: Work, reason: str) -> None:
    """Let a begun wake wait for its next turn at once, so that nobody takes it for running."""
    if _wake(services, work.run_key).phase == "waiting":
        services.append_agent(work.defer(services.clock.now(), reason))


def _is_abandoned(services: Services, wake_queue: WakeQueue) -> bool:
    """Whether the process of a running wake must be gone: a wake has a deadline, and with a
    clock set by hand nobody else is at work."""
    if not wake_queue.running:
        return False
    if isinstance(services.clock, ManualClock):
        return True
    running = seconds_between(wake_queue.running_since, services.clock.now())
    return running > services.settings.agents.lost_seconds


def _is_held(services: Services, wake_queue: WakeQueue) -> bool:
    """Whether the wake that goes next must wait for its provider or a budget."""
    ahead = next_wake(wake_queue)
    return ahead is not None and ahead.until > services.clock.now()


def _wake_queue(services: Services, agent_id: str) -> WakeQueue:
    with services.agents.reading() as world:
        return world.load(WAKE_QUEUE, agent_id)


def _wake(services: Services, run_key: str) -> Wake:
    with services.agents.reading() as world:
        return world.load(WAKE, run_key)

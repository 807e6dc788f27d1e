"""A home is looked after until somebody stops it: wakes as tasks change and timers fire, and files
are followed."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from adapters.documents.agents import all_agents
from adapters.documents.inbox import expiring_sets, sets_under
from adapters.documents.results import RecoveredStep
from adapters.notify.notifier import Notifier, following
from adapters.runtime import gate, orphaned_effects
from adapters.runtime.due_index import KnownSchedules, schedule_from
from adapters.runtime.engine import Engine, Probe, Signal
from adapters.runtime.engine_options import EngineCounts, EngineOptions, EngineStart, Tell
from adapters.runtime.file_watch import FileWatcher
from adapters.runtime.recovery import RecoveryStep, recover
from adapters.runtime.run_leases import living
from adapters.store.leases import Leases
from adapters.text.common import ID_SHOWN
from adapters.text.remedies import in_words
from adapters.usecases.proposals import in_flight_sets
from projections.agents import VIEW as AGENTS
from projections.operations import VIEW as OPERATIONS

if TYPE_CHECKING:
    from adapters.wiring import Home


class EngineResult(NamedTuple):
    """What an engine did, and whether it left an effect in doubt."""

    counts: EngineCounts
    is_in_doubt: bool


def check_model(home: "Home") -> None:
    """Look before anything runs whether the model of the settings can be had. Raises Refused: it
    cannot."""
    gate.checked_model(home.services, home.settings.model)


def leases_of(home: "Home") -> Leases:
    return home.place.leases()


def found_in(home: "Home") -> EngineStart:
    """What there is to look after when an engine begins."""
    n = home.views.reached(AGENTS)  # first: what comes in meanwhile is looked at again
    agents = all_agents(home)
    schedules = [schedule_from(one.agent, one.wake_queue) for one in agents]
    return EngineStart(
        [one.id for one in agents],
        [one.id for one in sets_under(home, "waiting", "deferred")],
        in_flight_sets(home),
        KnownSchedules(n, [one for one in schedules if one is not None]),
    )


async def run(
    home: "Home",
    leases: Leases,
    files: FileWatcher,
    tell: Tell,
    options: EngineOptions,
    found: EngineStart,
    notifiers: Sequence[Notifier] = (),
) -> EngineResult:
    """Run an engine until it is idle, where that is wanted, or a signal ends it. Beside it files
    are followed, and receivers told what waits, see `notify.notifiers_of`; `found`: see `found_in`.
    """
    home.resume_states()
    probes = home.place.probes()
    looks: list[Probe] = [*probes, home.services.check_standing]  # replaced logs end it
    engine = Engine(home.services, leases, Signal(home.services.clock, looks), tell, options)
    in_doubt = [*found.in_flight, *failed_sets(home)]
    for set_id, item in orphaned_effects.confirm_done(home.services, in_doubt):
        tell("recovered", what="operation", set_id=set_id, item=item)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for one in notifiers:
            one.stop()
        engine.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        async with _followed(files), following(notifiers):
            await engine.run(found)
        for one in notifiers:  # unless it was stopped
            await one.finish(options.grace_seconds)
    finally:
        for probe in probes:
            probe.close()
    return EngineResult(engine.counts, engine.is_in_doubt)


@asynccontextmanager
async def _followed(files: FileWatcher) -> AsyncIterator[None]:
    follows = asyncio.create_task(files.follow())
    try:
        yield
    finally:
        follows.cancel()
        await asyncio.gather(follows, return_exceptions=True)


# ------------------------------------------------------------------------------------ after a crash


def recover_home(home: "Home", told: Callable[[RecoveryStep], None]) -> Sequence[RecoveryStep]:
    """Go on with wakes that began and did not end, drive changes that were being applied to their
    end, and expire proposals whose time has come; what a living process works at is left alone.
    `told`: is told of each step as it is done."""
    expiring = expiring_sets(home)
    busy = {lease.agent for lease in living(home.services)}
    ids = [one.id for one in all_agents(home) if one.id not in busy]
    sets = [*in_flight_sets(home), *failed_sets(home)]
    return recover(home.services, ids, sets, expiring, told)


def step_ref(step: RecoveryStep, ranked: dict[str, int]) -> str:
    """What a step is about, as commands name it; `ranked`: the numbers of sets."""
    if step.what == "wake":
        return step.about[:ID_SHOWN]
    name = str(ranked.get(step.about) or step.about[:ID_SHOWN])
    return f"{name}.{step.item}" if step.item else name


def step_document(step: RecoveryStep, ranked: dict[str, int]) -> RecoveredStep:
    """A step of the document of `recover`."""
    return RecoveredStep(
        step.what,
        step_ref(step, ranked),
        step.about,
        step.status or None,
        in_words(step.error) or None,
    )


def failed_sets(home: "Home") -> list[str]:
    """Of machines that share a home: the change sets in which something was asked for and failed.
    Another one may have done it."""
    if not home.services.agents.is_shared:
        return []
    done = (one for one in home.views.page(OPERATIONS, shelf="settled") if one.owner != one.run_key)
    return [one.owner for one in done if any(each.outcome == "error" for each in one.operations)]


__all__ = ["FileWatcher", "EngineStart", "Leases", "EngineOptions", "RecoveryStep"]

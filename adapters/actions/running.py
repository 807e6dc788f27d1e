"""A home is looked after until somebody stops it: wakes as tasks change and timers fire, and files
are followed."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from adapters.actions.recovering import failed_sets, in_flight_sets
from adapters.documents.agents import all_agents
from adapters.documents.inbox import sets_under
from adapters.notify.notifier import Notifier, following
from adapters.runtime import finishing, gate
from adapters.runtime.due_index import Known, schedule_from
from adapters.runtime.engine import Engine
from adapters.runtime.files import Files
from adapters.runtime.options import Counts, Found, Options, Tell
from adapters.runtime.signals import Probe, Signal
from adapters.store.leases import Leases
from projections.agents import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home

__all__ = [
    "Files",
    "Found",
    "Leases",
    "Options",
    "Ran",
    "check_model",
    "found_in",
    "leases_of",
    "run",
]


class Ran(NamedTuple):
    """What an engine did, and whether it left an effect in doubt."""

    counts: Counts
    is_in_doubt: bool


def check_model(home: "Home") -> None:
    """Look before anything runs whether the model of the settings can be had.

    Raises:
        Refused: It cannot.
    """
    gate.checked_model(home.services, home.settings.model)


def leases_of(home: "Home") -> Leases:
    """What this process says of what it runs, to be closed at the end."""
    return home.place.leases()


def found_in(home: "Home") -> Found:
    """What there is to look after when an engine begins."""
    n = home.views.reached(VIEW)  # first: what comes in meanwhile is looked at again
    agents = all_agents(home)
    schedules = [schedule_from(one.agent, one.wake_queue) for one in agents]
    return Found(
        [one.id for one in agents],
        [one.id for one in sets_under(home, "waiting", "deferred")],
        in_flight_sets(home),
        Known(n, [one for one in schedules if one is not None]),
    )


async def run(
    home: "Home",
    leases: Leases,
    files: Files,
    tell: Tell,
    options: Options,
    found: Found,
    notifiers: Sequence[Notifier] = (),
) -> Ran:
    """Run an engine until it is idle, where that is wanted, or a signal ends it.

    Args:
        home: Open to write.
        leases: See `leases_of`.
        files: Are followed beside it.
        tell: Is told what happens.
        options: How it runs.
        found: See `found_in`.
        notifiers: Tell receivers what waits, beside it, see `notifying.notifiers_of`.
    """
    probes = home.place.probes()
    looks: list[Probe] = [*probes, home.services.check_standing]  # replaced logs end it
    engine = Engine(home.services, leases, Signal(home.services.clock, looks), tell, options)
    in_doubt = [*found.in_flight, *failed_sets(home)]
    for set_id, item in finishing.confirm_done(home.services, in_doubt):
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
    return Ran(engine.counts, engine.is_in_doubt)


@asynccontextmanager
async def _followed(files: Files) -> AsyncIterator[None]:
    follows = asyncio.create_task(files.follow())
    try:
        yield
    finally:
        follows.cancel()
        await asyncio.gather(follows, return_exceptions=True)

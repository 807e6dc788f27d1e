"""The deeds of a cluster: work as one of its workers, and see how it stands."""

import asyncio
import socket
from collections.abc import Mapping

from adapters.actions.catalog import scope_labels
from adapters.cluster.clocks import check_clock
from adapters.cluster.worker import Worker, WorkerOptions
from adapters.documents.databases import WorkedHomes
from adapters.home.clock import VARIABLE
from adapters.home.place import DatabasePlace, homes_of
from adapters.runtime.options import Tell
from adapters.wiring import Home, open_home
from domain.errors import Refused, invalid


def work(
    environ: Mapping[str, str],
    options: WorkerOptions,
    tell: Tell,
    model: str = "",
    listening: socket.socket | None = None,
) -> tuple[WorkedHomes, bool]:
    """Tend the homes of a database that are due, until a signal ends it; and whether something
    was left in doubt.

    Args:
        environ: Environment variables.
        options: How it works.
        tell: Is told what happens, from any thread.
        model: What `--model` says.
        listening: Where it tells how it is, if it does.

    Raises:
        Refused: The database cannot be used, its clock differs, now or later, or it may lose what
            is committed.
        Damaged: It was not prepared.
    """
    if environ.get(VARIABLE, ""):
        because = f"{VARIABLE} is set, and a clock that is set by hand does not go on by itself"
        raise invalid(because, f"unset {VARIABLE}")
    homes = homes_of(environ)
    for name in options.only:
        homes.named(name)
    findings, _ = homes.database.trouble()
    if findings:
        instead = "see `wakelog database check`"
        raise Refused("invalid_value", because=findings[0], instead=instead)
    check_clock(homes.database)

    def opens(name: str) -> Home:
        place = DatabasePlace(homes, name, environ)
        home = open_home(place, environ, model=model, is_writing=True)
        scope_labels(home)
        return home

    async def run() -> Worker:
        worker = Worker(homes, opens, options, tell, environ)
        tell("working", worker=worker.owner)
        await worker.run(listening)
        return worker

    done = asyncio.run(run())
    counts = WorkedHomes(done.tended, done.wakes, done.failed, done.troubles)
    return counts, done.is_in_doubt

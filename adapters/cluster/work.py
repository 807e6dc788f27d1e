"""The deeds of a cluster: work as one of its workers, and see how it stands."""

import asyncio
import socket
from collections.abc import Mapping
from datetime import UTC, datetime

from adapters.cluster.worker import Worker, WorkerOptions
from adapters.documents.databases import WorkedHomes
from adapters.home.clock import VARIABLE
from adapters.home.place import DatabasePlace, homes_of
from adapters.runtime.options import Tell
from adapters.store.postgres.database import Database
from adapters.wiring import Home, open_home
from domain.errors import Refused, invalid

SKEW_MAX_SECONDS = 5


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
        Refused: The database cannot be used, its clock differs, or it may lose what is committed.
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
        return open_home(place, environ, model=model, is_writing=True)

    async def run() -> Worker:
        worker = Worker(homes, opens, options, tell, environ)
        tell("working", worker=worker.owner)
        await worker.run(listening)
        return worker

    done = asyncio.run(run())
    counts = WorkedHomes(done.tended, done.wakes, done.failed, done.troubles)
    return counts, done.is_in_doubt


def check_clock(database: Database) -> None:
    """Look whether this machine's clock is the server's. Raises Refused."""
    with database.connection() as connection:
        before = datetime.now(UTC)
        ((there,),) = connection.execute("SELECT clock_timestamp()").fetchall()
        after = datetime.now(UTC)
    ahead = max(before - there, there - after).total_seconds()
    if ahead > SKEW_MAX_SECONDS:
        because = f"this machine's clock and that of {database.name} are {ahead:.0f} seconds apart"
        raise invalid(because, "set both right, then start it again")

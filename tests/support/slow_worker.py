"""A worker whose models take their time: `python -m tests.support.slow_worker THINK LEASE HOMES
SLICE`, with what `wakelog worker` finds in its environment."""

import asyncio
import json
import os
import sys
from typing import Any

from adapters.cluster.worker import Worker, WorkerOptions
from adapters.home.home_location import DatabaseLocation, homes_of
from adapters.models.rules.model import RulesModel
from adapters.wiring import Home, open_home
from domain.ports import Reply, Request


class SlowModel(RulesModel):
    """The offline rules, as slow as a provider."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def reply(self, request: Request) -> Reply:
        await asyncio.sleep(self._seconds)
        return await super().reply(request)


def tell(event: str, level: str = "info", **fields: Any) -> None:
    line = {"event": event, "level": level, **fields}
    sys.stderr.write(json.dumps(line, default=str) + "\n")
    sys.stderr.flush()


async def main(think: float, lease: int, homes: int, slice_seconds: float) -> None:
    found = homes_of(os.environ)

    def opens(name: str) -> Home:
        home = open_home(DatabaseLocation(found, name, os.environ), os.environ, is_writing=True)
        home.services.model_for = lambda _: SlowModel(think)
        return home

    options = WorkerOptions(homes, 64, lease, slice_seconds, grace=2.0)
    await Worker(found, opens, options, tell, os.environ).run()


if __name__ == "__main__":
    given = sys.argv
    asyncio.run(main(float(given[1]), int(given[2]), int(given[3]), float(given[4])))

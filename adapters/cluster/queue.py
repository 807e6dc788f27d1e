"""The queue of homes that are due: Procrastinate, over a line that may break (ADR 68)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import procrastinate
import psycopg
import psycopg_pool
from procrastinate.exceptions import ConnectorException

from adapters.store.postgres.database import SETTINGS
from adapters.store.postgres.schema_runtime import QUEUE_OPTIONS

AGAIN_SECONDS = 0.25
POOL_MAX = 3
TEND = "tend"
_LOST = (psycopg.OperationalError, psycopg.InterfaceError, psycopg_pool.PoolTimeout)

for _name in ("procrastinate", "psycopg.pool"):  # a worker tells its own troubles
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class PatientConnector(procrastinate.PsycopgConnector):
    """Waits for a server that is away, instead of ending the worker and all that it tends.

    Where an answer was lost, the same is asked again: a job that was finished twice is finished,
    and one that was handed out to nobody is freed by the sweep.
    """

    def __init__(self, url: str) -> None:
        options = {**SETTINGS, "options": f"{SETTINGS['options']} {QUEUE_OPTIONS}"}
        super().__init__(conninfo=url, kwargs=options, min_size=0, max_size=POOL_MAX)
        self.is_stopping = False

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        try:
            await self._patiently(super().execute_query_async, query, arguments)
        except ConnectorException as error:
            if not isinstance(error.__cause__, psycopg.errors.RaiseException):
                raise  # else the job is no more: it was freed, or finished before the answer

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = await self._patiently(
            super().execute_query_one_async, query, arguments
        )
        return found

    async def _patiently(
        self, ask: Callable[..., Awaitable[Any]], query: Any, arguments: dict[str, Any]
    ) -> Any:
        while True:  # until the server answers, or the worker is to end
            try:
                return await ask(query, **arguments)
            except ConnectorException as error:
                if not isinstance(error.__cause__, _LOST) or self.is_stopping:
                    raise
            await asyncio.sleep(AGAIN_SECONDS)

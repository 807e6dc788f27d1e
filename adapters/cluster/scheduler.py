"""Which homes are due: the one look that fills the queue, and frees homes whose worker is gone.

The queue is a hint, the log decides: a home that is queued without need is looked at in vain, and
one that is tended twice is told apart by the attempts in its log."""

from contextlib import suppress
from typing import Any, NamedTuple

from adapters.store.postgres.schema import ALL

HOMES_MAX = 1_000  # that are queued at one look
DUE = f"""
WITH due AS (
    SELECT home FROM runtime.homes WHERE next_at <= now()
    UNION SELECT home FROM journal.heads WHERE is_news
    UNION SELECT home FROM agent.heads WHERE is_news)
SELECT home, one.name FROM due JOIN wakelog.homes AS one USING (home)
LEFT JOIN runtime.homes AS kept USING (home)
WHERE one.state = 'open' AND (kept.hold_until IS NULL OR kept.hold_until <= now())
    AND (%(only)s::text[] IS NULL OR one.name = ANY (%(only)s))
    AND NOT EXISTS (SELECT FROM queue.procrastinate_jobs
        WHERE queueing_lock = 'home:' || home AND status = 'todo')
    AND NOT EXISTS (SELECT FROM queue.procrastinate_jobs
        WHERE lock = 'home:' || home AND status = 'doing')
ORDER BY kept.next_at NULLS FIRST LIMIT {HOMES_MAX}"""
_WAITING = "SELECT EXISTS (SELECT FROM queue.procrastinate_jobs WHERE status = 'todo') AS waits"
STALLED = f"""
SELECT id FROM queue.procrastinate_jobs AS job WHERE status = 'doing'
    AND NOT EXISTS (SELECT FROM queue.procrastinate_events WHERE job_id = job.id
        AND type = 'started' AND at > now() - %(lease)s * interval '1 second')
    AND NOT EXISTS (SELECT FROM runtime.runtimes AS living WHERE living.home <> {ALL}
        AND living.home = (job.args ->> 'home')::integer
        AND living.is_tending AND living.lease_until > clock_timestamp())"""
"""The jobs that began over a lease ago, and for whose home no worker says that it lives: it was
killed, stopped or cut off; or it asked for a job and was never told the answer, which the library's
own list of stalled jobs does not show, as that worker lives."""


class DueHome(NamedTuple):
    home: int
    name: str


class Scheduler:
    def __init__(self, app: Any, only: tuple[str, ...] = ()) -> None:
        """`app`: an open `procrastinate.App`; `only`: the homes to look at, by name, else all."""
        self._app, self._only = app, list(only) or None
        self.is_waited = False  # whether a home is queued that nobody tends yet

    async def due(self) -> list[DueHome]:
        """The homes that are due and neither queued nor tended, those that wait longest first."""
        found = await self._rows(DUE, only=self._only)
        self.is_waited = bool((await self._rows(_WAITING))[0]["waits"])
        return [DueHome(one["home"], one["name"]) for one in found]

    async def free(self, lease: float) -> int:
        """End the jobs whose worker is gone; how many. What is due still is queued anew."""
        from procrastinate import exceptions, jobs

        end, freed = self._app.job_manager.finish_job_by_id_async, 0
        for one in await self._rows(STALLED, lease=lease):
            with suppress(exceptions.ConnectorException):  # another worker was faster
                await end(one["id"], jobs.Status.FAILED, delete_job=True)
                freed += 1
        return freed

    async def _rows(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        ask = self._app.connector.execute_query_all_async
        found: list[dict[str, Any]] = await ask(sql, **values)
        return found

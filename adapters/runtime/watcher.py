"""Turns journal appends into notices to agents, exactly once (DESIGN 5, SPEC 3).

The position is a fact of the agent log, so nothing is missed over a restart, and of two
watchers the slower one's part is trimmed by the handler.
"""

from collections.abc import Sequence
from itertools import islice

from adapters.runtime.desk import Desk
from adapters.schedules import next_local
from domain.agent.commands import TakeJournal
from domain.agent.matching import Batch
from domain.agent.watch import WATCH
from domain.journal.fold import TASK
from domain.journal.links import LINKS, Links
from domain.journal.task import Task
from domain.notices import batch
from domain.world import Recorded

APPENDS_MAX = 500  # of one TakeJournal


def catch_up(desk: Desk) -> int:
    """Take all journal appends that were not taken yet; how many."""
    taken = 0
    while count := _take(desk):  # bounded by the journal
        taken += count
    return taken


def lag(desk: Desk) -> int:
    """How many journal appends wait to be taken."""
    return max(0, desk.journal.tail().n - _position(desk))


def _position(desk: Desk) -> int:
    with desk.agents.reading() as world:
        return world.load(WATCH, "main").taken.get(desk.journal.replica, 0)


def _take(desk: Desk) -> int:
    after = _position(desk)
    appends = list(islice(desk.journal.appends(after), APPENDS_MAX))
    if not appends:
        return 0
    found = [_batch(desk, rows) for rows in appends]
    settings = desk.settings
    zone, at = settings.timezone, desk.clock.now()
    command = TakeJournal(
        replica=desk.journal.replica,
        first=after + 1,
        last=appends[-1][0].n,
        batches=tuple(one for one in found if one is not None),
        propagated_due=next_local(settings.agents.propagated_at, zone, at),
        is_enabled=desk.is_enabled,
        throttle_seconds=settings.agents.throttle,
    )
    desk.note(command)
    return len(appends)


def _batch(desk: Desk, rows: Sequence[Recorded]) -> Batch | None:
    """The append as a notification, read as the journal stood right after it."""
    world = desk.journal.world_at(rows[0].n)

    def links(task: str) -> Links:
        return world.load(LINKS, task)

    def task(task_id: str) -> Task:
        return world.load(TASK, task_id)

    return batch(rows, links, task)

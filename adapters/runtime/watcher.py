"""Turns journal appends into notices to agents, exactly once (DESIGN 5, SPEC 3).

The position is a fact of the agent log, so nothing is missed over a restart, and of two
watchers the slower one's part is trimmed by the handler.
"""

from collections.abc import Sequence
from itertools import islice

from adapters.runtime.desk import Desk
from adapters.runtime.past import Past
from adapters.schedules import next_local
from domain.agent.commands import TakeJournal
from domain.agent.matching import Batch
from domain.agent.watch import WATCH
from domain.notices import batch
from domain.world import MAIN, Recorded

APPENDS_MAX = 500  # of one TakeJournal


def catch_up(desk: Desk) -> int:
    """Take all journal appends that were not taken yet; how many."""
    taken = 0
    while count := take(desk):  # bounded by the journal
        taken += count
    return taken


def lag(desk: Desk) -> int:
    """How many journal appends wait to be taken."""
    return max(0, desk.journal.tail().n - position(desk))


def position(desk: Desk) -> int:
    """Up to which journal append all are taken."""
    with desk.agents.reading() as world:
        return world.load(WATCH, MAIN).taken.get(desk.journal.replica, 0)


def take(desk: Desk) -> int:
    """Take the next journal appends, `APPENDS_MAX` at most; how many."""
    command = following(desk)
    if command is None:
        return 0
    desk.note(command)
    return command.last - command.first + 1


def following(desk: Desk, count: int = APPENDS_MAX) -> TakeJournal | None:
    """What takes the next journal appends, at most so many; None if there is none."""
    after = position(desk)
    appends = list(islice(desk.journal.appends(after), count))
    if not appends:
        return None
    past, desk.past = desk.past, None
    if past is None or past.n != after:  # another watcher was here
        past = Past(desk.journal, after)
    found = [_batch(past, rows) for rows in appends]
    settings = desk.settings
    zone, at = settings.timezone, desk.clock.now()
    desk.past = past if past.is_kept else None
    return TakeJournal(
        replica=desk.journal.replica,
        first=after + 1,
        last=appends[-1][0].n,
        batches=tuple(one for one in found if one is not None),
        propagated_due=next_local(settings.agents.propagated_at, zone, at),
        is_enabled=desk.is_enabled,
        throttle_seconds=settings.agents.throttle,
        journal_digest=desk.journal.digest_at(appends[-1][0].n),
    )


def _batch(past: Past, rows: Sequence[Recorded]) -> Batch | None:
    """The append as a notification, read as the journal stood right after it."""
    past.go_on(rows)
    return batch(rows, past.links, past.task)

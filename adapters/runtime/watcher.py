"""Turns journal appends into notices to agents, exactly once (DESIGN 5, SPEC 3).

The position is a fact of the agent log, so nothing is missed over a restart, and of two
watchers the slower one's part is trimmed by the handler."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from adapters.runtime.services import Services
from adapters.store.log import Log
from domain.agent.commands import TakeJournal
from domain.agent.subscriptions import Batch, taken_of
from domain.append.causes import ReplicasImported
from domain.append.notification_batch import batch, brought, is_covered
from domain.log.state import RecordedEvent

if TYPE_CHECKING:
    from adapters.runtime.journal_cursor import JournalCursor

APPENDS_MAX = 500  # of one TakeJournal


def catch_up(services: Services) -> int:
    """Take all journal appends that were not taken yet; how many."""
    taken = 0
    while count := take(services):  # bounded by the journal
        taken += count
    return taken


def lag(services: Services) -> int:
    """How many journal appends wait to be taken; none where another machine takes them."""
    with services.agents.reading() as world:
        if services.lead_in(world) != world.replica:
            return 0
        return max(0, services.journal.tail().n - taken_of(world, services.journal.replica))


def position(services: Services) -> int:
    """Up to which journal append all are taken."""
    with services.agents.reading() as world:
        return taken_of(world, services.journal.replica)


def take(services: Services) -> int:
    """Take the next journal appends, `APPENDS_MAX` at most; how many."""
    command = following(services)
    if command is None:
        return 0
    from adapters.runtime.leadership import skip_already_seen  # `lag` needs none

    skip_already_seen(services, services.append_agent(command))
    return command.last - command.first + 1


def following(services: Services, count: int = APPENDS_MAX) -> TakeJournal | None:
    """What takes the next journal appends, at most so many; None if there is none, or if another
    machine of the home takes them."""
    from adapters.runtime.leadership import covered as covered_by  # `lag` needs none

    with services.agents.reading() as world:
        if services.lead_in(world) != world.replica:
            return None
        after = taken_of(world, services.journal.replica)
        covered = covered_by(services, world)
    appends = list(islice(services.journal.arrivals(after), count))
    if not appends:
        return None
    past, services.past = services.past, None
    if past is None or past.n != after:  # another watcher was here
        from adapters.runtime.journal_cursor import JournalCursor  # `lag` needs none

        past = JournalCursor(services.journal, after)
    found = [made for rows in appends for made in _batches(services.journal, past, rows)]
    left = [one for one in found if not is_covered(one, covered)]
    settings = services.settings
    zone, at = settings.timezone, services.clock.now()
    services.past = past if past.is_kept else None
    from adapters.home.schedules import next_local

    return TakeJournal(
        replica=services.journal.replica, first=after + 1, last=appends[-1][0].n,
        batches=tuple(left), propagated_due=next_local(settings.agents.propagated_at, zone, at),
        is_enabled=services.is_enabled, throttle_seconds=settings.agents.throttle,
        journal_digest=services.journal.digest_at(appends[-1][0].n),
        covered=covered if len(left) < len(found) else (),
    )  # fmt: skip


def _batches(journal: Log, past: "JournalCursor", rows: Sequence[RecordedEvent]) -> Iterator[Batch]:
    """The append as a notification, read as the journal stood right after it; a marker as those
    that it brought."""
    past.go_on(rows)
    own, n = journal.replica, rows[0].n
    if (made := batch(rows, past.links, past.task)) is not None:
        yield made
    for theirs in journal.brought(n) if isinstance(rows[0].fact, ReplicasImported) else ():
        if (made := batch(theirs, past.links, past.task)) is not None:
            yield brought(made, own, n)

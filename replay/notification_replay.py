"""What a watcher makes of the journal's appends, made again and compared (DESIGN 5)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from domain.agent.commands import TakeJournal
from domain.agent.subscriptions import Batch
from domain.agent.wake_queue import JournalTaken
from domain.append.causes import FAILURES, ReplicasImported
from domain.append.notification_batch import batch, brought, is_covered
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log.state import LogState
from domain.log.wire import Erased
from replay.appends import Append
from replay.causal_views import CausalViews
from replay.divergence import CHANGED, RowDifference, changed

ReadBetween = Callable[[str, int, int], Iterable[Append]]
"""``between(replica, above, last)``: a replica's appends above one, up to another, once more."""


MakeAgain = Callable[[str, int], None]
"""``again(replica, n)``: calls `make` for an append that a walk before this one has met."""


class NotificationReplay:
    """The notices of the journal's appends, until somebody has taken them.

    `watchers`: the replicas whose agents' log is here. What others write is told of with the marker
    by which one of these learnt of it. `again`: where the walk did not begin at the beginning."""

    def __init__(self, viewers: CausalViews, between: ReadBetween | None = None) -> None:
        """`between`: reads appends once more; without it all are kept."""
        self.watchers: set[str] = set()
        self.again: MakeAgain = lambda *_: None
        self._viewers, self._between = viewers, between
        self._made: dict[tuple[str, int], list[Batch] | Exception] = {}
        self._kept: defaultdict[str, list[Append]] = defaultdict(list)  # by replica

    def make(self, one: Append, world: LogState, *, is_damaged: bool) -> None:
        """Keep what a watcher makes of an append, in the world right after it."""
        if self._between is None:
            self._kept[one.replica].append(one)
        if one.replica not in self.watchers:
            return
        rows = (row for each in (one, *self._brought(one)) for row in each.facts)
        if any(type(row.fact) is Erased for row in rows):
            return  # of what was erased nobody can tell what a watcher made
        try:
            made = [*self._told(one, world)]
            if not world.lacks:
                self._made[one.replica, one.n] = made
        except FAILURES as error:  # pragma: no cover  # today's code is total; a broken one is not
            if not is_damaged:  # of a damaged append nothing can be told
                self._made[one.replica, one.n] = error

    def _told(self, one: Append, world: LogState) -> Iterator[Batch]:
        """An append as a notification, a marker of a shared log as those that it brought."""
        links, task = partial(world.load, LINKS), partial(world.load, TASK)
        if (made := batch(one.facts, links, task)) is not None:
            yield made
        for theirs in self._brought(one):
            if (made := batch(theirs.facts, links, task)) is not None:
                yield brought(made, one.replica, one.n)

    def _brought(self, one: Append) -> list[Append]:
        """The appends of others that came with a marker, in canonical order."""
        is_marker = isinstance(one.facts[0].fact, ReplicasImported)
        if not is_marker or one.n <= self._viewers.since.get(one.replica, one.n):
            return []
        found: list[Append] = []
        for name, (above, last) in self._viewers.horizons.brought(one.replica, one.n).items():
            if self._between is not None:
                found += self._between(name, above, last)
            else:
                found += [theirs for theirs in self._kept[name] if above < theirs.n <= last]
        telling = (theirs for theirs in found if not theirs.rows[0].stream.startswith("log:"))
        return sorted(telling, key=lambda theirs: (theirs.n, theirs.replica))

    def done(self, fact: JournalTaken) -> None:
        """Let go of what was taken."""
        for one in [*self._made]:
            if one[0] == fact.replica and one[1] <= fact.last:
                del self._made[one]

    def differs(self, cause: TakeJournal, first: int) -> Iterator[RowDifference]:
        """What differs in the notices that were taken from an append on."""
        today: list[Batch] = []
        known = defaultdict[int, list[Batch]](list)
        for taken in cause.batches:
            known[taken.n].append(taken)
        for n in range(first, cause.last + 1):
            if (cause.replica, n) not in self._made:
                self.again(cause.replica, n)
            if (cause.replica, n) not in self._made:
                today += known[n]  # of another replica, damaged or erased: told elsewhere
                continue
            made = self._made[cause.replica, n]
            if isinstance(made, Exception):  # pragma: no cover  # as in `make`
                fails = f"append {n} as a notification ({made!r})"
                yield RowDifference(0, CHANGED, "data.command.batches", fails, "")
                return
            today += [told for told in made if not is_covered(told, cause.covered)]
        was = [taken for taken in cause.batches if taken.n >= first]
        if was == today:
            return
        yield changed("data.command.batches", today, was)

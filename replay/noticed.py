"""What a watcher makes of the journal's appends, made again and compared (DESIGN 5)."""

from collections.abc import Iterator

from domain import canonical
from domain.agent.commands import TakeJournal
from domain.agent.matching import Batch
from domain.agent.wake_queue_events import JournalTaken
from domain.journal.fold import TASK
from domain.journal.links import LINKS, Links
from domain.journal.task import Task
from domain.notices import batch
from domain.world import World
from replay.appends import Append
from replay.divergence import CHANGED, Difference, path_within
from replay.streams import FAILURES


class Notices:
    """The notices of the journal's appends, until somebody has taken them."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int], Batch | Exception | None] = {}

    def left(self) -> tuple[int, ...]:
        """The appends of which nobody has taken the notice."""
        return tuple(n for _, n in self._made)

    def make(self, one: Append, world: World, *, is_damaged: bool) -> None:
        """Keep what a watcher makes of an append, in the world right after it."""

        def links(task: str) -> Links:
            return world.load(LINKS, task)

        def task(task_id: str) -> Task:
            return world.load(TASK, task_id)

        try:
            self._made[one.replica, one.n] = batch(one.facts, links, task)
        except FAILURES as error:  # pragma: no cover  # today's code is total; a broken one is not
            if not is_damaged:  # of a damaged append nothing can be told
                self._made[one.replica, one.n] = error

    def done(self, fact: JournalTaken) -> None:
        """Let go of what was taken."""
        for one in [*self._made]:
            if one[0] == fact.replica and one[1] <= fact.last:
                del self._made[one]

    def differs(self, cause: TakeJournal, first: int) -> Iterator[Difference]:
        """What differs in the notices that were taken from an append on."""
        today: list[Batch] = []
        known = {taken.n: taken for taken in cause.batches if taken.n >= first}
        for n in range(first, cause.last + 1):
            if (cause.replica, n) not in self._made:
                if taken := known.get(n):
                    today.append(taken)  # of another replica, or damaged: told elsewhere
                continue
            made = self._made[cause.replica, n]
            if isinstance(made, Exception):  # pragma: no cover  # as in `make`
                fails = f"append {n} as a notification ({made!r})"
                yield Difference(0, CHANGED, "data.command.batches", fails, "")
                return
            if made is not None:
                today.append(made)
        was = [taken for taken in cause.batches if taken.n >= first]
        if was == today:
            return
        expected, actual = canonical.encode(today), canonical.encode(was)
        where = path_within(canonical.read(expected), canonical.read(actual))
        path = f"data.command.batches{where}"
        yield Difference(0, CHANGED, path, expected.decode(), actual.decode())

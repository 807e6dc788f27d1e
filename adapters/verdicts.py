"""Another verdict in a branch: what came after it is done again, in the order of time.

What was recorded is handed to the branch cause by cause, the verdict as it is wanted instead of
the one that was given, and without what only that one led to. Names that are made of an append's
number, a run key for example, become others where the numbers do; they are learnt as they come.
"""

from collections.abc import Iterable, Iterator, Sequence

from adapters.clock import ManualClock
from adapters.moments import Past
from adapters.runtime import review
from adapters.runtime.desk import Desk
from adapters.store.log import Log
from domain import envelope
from domain.causes import EpochBegan, ReplicasImported
from domain.changes.change_set import Item
from domain.errors import Refused, WakelogError
from domain.wire import Payload, Stored
from domain.world import Recorded
from replay import fork
from replay.at import Where
from replay.fork import Verdict
from replay.payloads import named

DONE = {"confirm": "confirmed", "reject": "rejected"}


def payloads_of(source: Log, facts: Iterable[Stored]) -> list[Payload]:
    """The payloads that facts name, as far as they are there."""
    ids = dict.fromkeys(one for fact in facts for one in named(fact))
    read = ((one, source.payload(one)) for one in ids)
    return [Payload(one, data) for one, data in read if data is not None]


class Verdicts:
    """Other verdicts on items of earlier change sets.

    Afterwards `names` has what is called otherwise in the branch, by its recorded name, and
    `left_out` counts the causes that the branch's world does not allow.
    """

    def __init__(self, past: Past, replica: str, wanted: Sequence[Verdict]) -> None:
        self.names: dict[str, str] = {}
        self.left_out = 0
        self._past = past
        self._wanted = wanted
        self._rows = {
            one: past.agents.rows_of(f"changes:{one.changes}@{replica}") for one in wanted
        }

    def start(self, where: Where) -> tuple[int, int]:
        """Up to which append of the journal and of the agent log nothing is otherwise: where the
        fork is, or right before the first recorded verdict that is to be another one."""
        journal, agents = where.journal, where.agent
        for one, rows in self._rows.items():
            n = fork.decided_at(rows, one.item)
            if 0 < n <= agents:
                journal = min(journal, self._past.journal.until(self._past.agents.at(n)))
                agents = n - 1
        return journal, agents

    def go_on(self, desk: Desk, start: tuple[int, int], where: Where) -> None:
        """Do again in the branch what came after its start; what was never decided comes last.

        Raises:
            Refused: If a verdict is not possible there.
        """
        left = list(self._wanted)
        effects = {one: fork.operations(rows, one.item) for one, rows in self._rows.items()}
        for log, rows in self._between(start, where):
            cause, _ = envelope.cause_of(rows[0])
            given = [one for one in self._wanted if fork.is_verdict(cause, one)]
            for verdict in given:
                if verdict in left:
                    left.remove(verdict)
                    self._decide(desk, verdict, rows[0].at)
            if not given and not any(fork.is_consequence(cause, *one) for one in effects.items()):
                self._again(desk, log, rows)
        for verdict in left:
            self._decide(desk, verdict, where.at)

    def _between(
        self, start: tuple[int, int], where: Where
    ) -> Iterator[tuple[str, Sequence[Recorded]]]:
        """The recorded appends of both logs from the start to the fork, in order of time."""
        found: list[tuple[str, Sequence[Recorded]]] = []
        ends = (self._past.journal.log, where.journal), (self._past.agents.log, where.agent)
        for (log, end), after in zip(ends, start, strict=True):
            for rows in log.appends(after):
                if rows[0].n > end:
                    break
                found.append((log.name, rows))
        yield from sorted(found, key=lambda one: (one[1][0].at, one[0] == "agent"))

    def _again(self, desk: Desk, log: str, rows: Sequence[Recorded]) -> None:
        """Hand a recorded cause to the branch, and learn what it is called there."""
        first = rows[0]
        cause, key = envelope.cause_of(first)
        if isinstance(cause, EpochBegan | ReplicasImported):
            return
        source = self._past.journal.log if log == "journal" else self._past.agents.log
        target = desk.journal if log == "journal" else desk.agents
        brought = payloads_of(source, [first.fact])
        try:
            renamed = fork.renamed(cause, self.names)
            appended = target.append(renamed, first.at, key=key, payloads=brought)
        except WakelogError:
            self.left_out += 1
            return
        made = [envelope.read(row).data for row in appended.rows]
        fork.learn(self.names, [row.fact for row in rows], made)

    def _decide(self, desk: Desk, verdict: Verdict, at: str) -> None:
        """The person's other verdict, with all that it does to the task."""
        then = Desk(desk.journal, desk.agents, ManualClock(at), desk.settings, desk.model_for)
        changes = self.names.get(verdict.changes, verdict.changes)
        if verdict.verb == "confirm":
            item = review.confirm(then, changes, verdict.item)
        else:
            item = review.reject(then, changes, verdict.item, "")
        if item is None or item.status != DONE[verdict.verb]:
            raise _not_decided(verdict, item)


def _not_decided(verdict: Verdict, item: Item | None) -> Refused:
    why = item.error or f"it is {item.status}" if item else "the set has no such item then"
    return Refused(
        "decided",
        because=f"the item {verdict.item} cannot be {verdict.verb}ed in the fork: {why}",
        instead="look at the moment with `wakelog at`, or choose another verdict",
    )

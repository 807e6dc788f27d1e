"""Another verdict in a branch: what came after it is done again, in the order of time.

What was recorded is handed to the branch cause by cause, the verdict as it is wanted instead of
the one that was given, and without what only that one led to. Names that are made of an append's
number, a run key for example, become others where the numbers do; they are learnt as they come.
What was read from the logs is read there again: what a wake is shown or looks up, and what is news
to agents.
So a branch proves like any other home. The wakes between answer as they did, whatever they see."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, product

from msgspec.structs import replace

from adapters.home.clock import ManualClock
from adapters.runtime import review, wake_capture, watcher
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture, capture_for_client
from adapters.store.log import Log
from adapters.store.reader import read_append
from adapters.timetravel.logs_at import Past, within
from domain.agent.commands import CreateAgent, InheritWake, TakeJournal
from domain.append import envelope
from domain.append.causes import Cause, LogFact, Receipt, Replied
from domain.append.texts import payloads_named
from domain.changes import change_set as c
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, ReopenItem
from domain.errors import Refused, WakelogError
from domain.journal.commands import UndoDeed, UndoImport
from domain.lessons.commands import LearnVerdicts, PastVerdict
from domain.lessons.lessons import CATEGORY
from domain.log.keys import payload_id
from domain.log.state import RecordedEvent
from domain.log.wire import Payload, Stored, payload
from domain.wake.commands import Begins, BeginWake, ProposeChanges, SkipWake
from domain.wake.machine import pending
from domain.wake.reading import PromptOptions
from domain.wake.wake import ToolAsked, ToolReturned
from domain.wake.wake_inputs import given_by
from replay import fork
from replay.fork import ChangedVerdict
from replay.reads import is_read
from replay.references import asked_operations, last_named_position, position_named
from replay.world_at import LogMoment

TOLD_EVERY = 100  # appends
DONE = {"confirm": "confirmed", "reject": "rejected"}
_READ = """
    journal_position agent_position snapshot system user template template_version journal_digest
    seen moved_by
""".split()  # of BeginWake: what is read from the logs
_GIVEN = ("propagated_due", "is_enabled", "throttle_seconds")  # of TakeJournal: what is not

BranchProgress = Callable[[str, int], None]
"""``told(log, n)``: so far has a branch's log come."""


def payloads_of(source: Log, facts: Iterable[Stored]) -> list[Payload]:
    """The payloads that facts name, as far as they are there."""
    ids = dict.fromkeys(one for fact in facts for one in payloads_named(fact))
    read = ((one, source.payload(one)) for one in ids)
    return [Payload(one, data) for one, data in read if data is not None]


class Verdicts:
    """Other verdicts on items of earlier change sets. Afterwards `names` has what is called
    otherwise in the branch, by its recorded name, and `left_out` counts the causes that the
    branch's world does not allow."""

    def __init__(self, past: Past, replica: str, wanted: Sequence[ChangedVerdict]) -> None:
        self.names: dict[str, str] = {}
        self._tasks: dict[str, str] = {}  # those that are called otherwise
        self.left_out = 0
        self._past = past
        self._replica = replica
        self._wanted = wanted
        self._stands: dict[int, int] = {}  # the branch's append by the recorded one; 0: none
        self._reached: dict[int, int] = {}  # the branch's n of the journal by the recorded one
        self._lost: set[str] = set()  # operations that nobody asked for there
        self._asked: set[str] | None = None  # all that were, in a home of several machines

    def start(self, where: LogMoment) -> tuple[int, int]:
        """Up to which append of the journal and of the agent log nothing is otherwise: where the
        fork is, or right before the first recorded verdict that is to be another one."""
        journal, agents = where.journal, where.agent
        for one, rows in self._decided(where).items():
            row = fork.decision(rows, one.item)
            n = self._past.learnt("agent", self._replica, row) if row else 0
            if 0 < n <= agents:
                before = self._past.before("agent", n, self._replica)
                journal, agents = min(journal, before.journal), before.agent
            for effect in self._effects(where, rows, one.item):  # it may have come before that
                before = self._past.before("journal", effect, self._replica)
                journal, agents = min(journal, before.journal), min(agents, before.agent)
        return journal, agents

    def _effects(self, where: LogMoment, rows: Sequence[RecordedEvent], item: int) -> Iterator[int]:
        """The appends by which the wake's machine made, or learnt of, what the decisions on an item
        did, in a journal that is shared."""
        log = self._past.journal.log
        if not log.is_shared:
            return
        done = product(fork.operations(rows, item), log.known_to(self._replica, where.journal))
        streams = (f"receipt:{operation}@{one}" for operation, one in sorted(done))
        for row in chain.from_iterable(map(self._past.journal.rows_of, streams)):
            if 0 < (n := self._past.learnt("journal", self._replica, row)) <= where.journal:
                yield n

    def _decided(self, where: LogMoment) -> dict[ChangedVerdict, Sequence[RecordedEvent]]:
        """What is known there of the sets that are decided otherwise."""
        world = self._past.agents.world(where.agent, self._replica)
        return {one: world.history(c.CHANGES.name, one.changes) for one in self._wanted}

    def go_on(
        self, services: Services, start: tuple[int, int], where: LogMoment, told: BranchProgress
    ) -> None:
        """Do again in the branch what came after its start; what was never decided comes last.
        `told` hears how far it has come. Raises Refused if a verdict is not possible there."""
        if not self._wanted:
            return
        left = list(self._wanted)
        if services.agents.is_shared:
            found = (asked_operations(rows) for rows in services.agents.appends())
            self._asked = set().union(*found)
        decided = self._decided(where)
        effects = {one: fork.operations(rows, one.item) for one, rows in decided.items()}
        for log, rows in self._between(start, where):
            cause, _ = envelope.cause_of(rows[0])
            given = [one for one in self._wanted if fork.is_verdict(cause, one)]
            for verdict in given:
                if verdict in left:
                    left.remove(verdict)
                    self._decide(services, verdict, rows[0].at)
            if not given and not any(fork.is_consequence(cause, *one) for one in effects.items()):
                self._again(services, log, rows)
            if rows[0].n % TOLD_EVERY == 0:
                told(log, rows[0].n)
            if log == "journal":
                self._reached[rows[0].n] = services.journal.tail().n
                self._stands.setdefault(rows[0].n, 0)
        for verdict in left:
            self._decide(services, verdict, where.at)

    def _between(
        self, start: tuple[int, int], where: LogMoment
    ) -> Iterator[tuple[str, Sequence[RecordedEvent]]]:
        """The recorded appends of both logs from the start to the fork; what other machines wrote,
        if it was learnt of there."""
        logs = self._past.journal.log, self._past.agents.log
        journal, agents = (
            self._learnt(log, after, end)
            for log, after, end in zip(logs, start, (where.journal, where.agent), strict=True)
        )
        if not logs[0].is_shared:
            return fork.interleaved(journal, agents)
        known_to = cache(logs[0].known_to)

        def rests_on(agents: Sequence[RecordedEvent], journal: Sequence[RecordedEvent]) -> bool:
            writer, n = agents[0].replica, last_named_position(agents)
            return n > 0 and journal[0].n <= known_to(writer, n).get(journal[0].replica, 0)

        return fork.interleaved(journal, agents, rests_on)

    def _learnt(self, log: Log, after: int, end: int) -> Iterator[Sequence[RecordedEvent]]:
        """The appends that the wake's machine wrote, or learnt of, above its append `after`."""
        if not log.is_shared:
            yield from within(log.appends(after), end)
            return
        before, then = (log.known_to(self._replica, n) for n in (after, end))
        for rows in within(log.appends(min(before.get(one, 0) for one in then)), end):
            writer, n = rows[0].replica, rows[0].n
            if before.get(writer, 0) < n <= then.get(writer, 0):
                yield rows

    def _again(self, services: Services, log: str, rows: Sequence[RecordedEvent]) -> None:
        """Hand a recorded cause to the branch, and learn what it is called there."""
        first = rows[0]
        cause, key = envelope.cause_of(first)
        if isinstance(cause, LogFact):
            return
        source = self._past.of(log).log
        target = services.journal if log == "journal" else services.agents
        brought = [self._of_branch(one) for one in payloads_of(source, [first.fact])]
        made: list[RecordedEvent] = []
        if (operation := fork.carried_out(cause)) and self._is_lost(operation):
            self.left_out += 1
            return
        try:
            there, more = self._there(services, fork.with_branch_names(cause, self.names))
            if there is None:
                return  # no news there
            there, named = _seen(services, there), self.names.get(key, key)
            appended = target.append(there, first.at, key=named, payloads=[*brought, *more])
            made = [envelope.recorded(one, first.at, envelope.read(one)) for one in appended.rows]
        except WakelogError:
            self.left_out += 1
        fork.learn_names(self.names, rows, made)
        tasks = {row.entity for row in rows if row.of_kind == "task"} & self.names.keys()
        self._tasks |= {one: self.names[one] for one in tasks if self.names[one] != one}
        if self._asked is not None:
            self._asked |= asked_operations(made)
        if log == "journal":
            self._stands[first.n] = made[0].n if made else 0
        self._lost |= {
            one
            for one in asked_operations(rows)
            if self.names.get(one, one) not in asked_operations(made)
        }

    def _of_branch(self, one: Payload) -> Payload:
        """A payload under the id that it has in the branch, where its task is called otherwise."""
        for task, there in self._tasks.items():
            if payload_id(task, one.data) == one.id:
                named = payload(there, one.data)
                self.names[one.id] = named.id
                return named
        return one

    def _is_lost(self, operation: str) -> bool:
        """Whether nobody asked for it in the branch."""
        named = self.names.get(operation, operation)
        return operation in self._lost or (self._asked is not None and named not in self._asked)

    def _there(self, services: Services, cause: Cause) -> tuple[Cause | None, list[Payload]]:
        """A cause as it comes in the branch's world, and the payloads that this needs: what it
        tells of the logs is read there."""
        match cause:
            case BeginWake(agent=agent, run_key=run_key):
                given, is_now = given_by(cause), cause.is_now
                seen, kept = capture(services, agent, run_key, is_now=is_now, given=given)
                return replace(cause, **{name: getattr(seen, name) for name in _READ}), kept
            case ProposeChanges(session=session):
                given = given_by(cause)
                found = capture_for_client(services, cause.agent, given, lambda _: session)
                read = {name: getattr(found.command, name) for name in _READ}
                return replace(cause, begin=replace(cause.begin, **read)), found.payloads
            case SkipWake(agent=agent, run_key=run_key, moved_by=(_, *_)):
                return wake_capture.unchanged(services, agent, run_key, cause), []
            case TakeJournal(replica=services.journal.replica):
                count = self._position(services, cause.last) - watcher.position(services)
                news = watcher.following(services, max(0, count))
                told = {name: getattr(cause, name) for name in _GIVEN}
                return replace(news, **told) if news else None, []
            case UndoDeed(appends=appends) | UndoImport(reopens=True, appends=appends):
                there = tuple(filter(None, (self._stands.get(n, n) for n in appends)))
                if isinstance(cause, UndoDeed) and cause.of and there != appends:
                    cause = replace(cause, of=services.journal.replica)
                return (replace(cause, appends=there), []) if there else (None, [])
            case Replied(entity=run_key, fact=ToolReturned() as fact) if is_read(fact):
                wake = services.wake(run_key)
                asked = pending(wake)
                if isinstance(asked, ToolAsked):
                    answer, brought = wake_capture.answer_read(services, wake, asked)
                    return replace(cause, fact=answer), list(brought)
                return fork.with_moved_position(cause, partial(self._position, services)), []
            case ConfirmItem() | RejectItem() | DeferItem() if cause.category:
                position = self._position(services, cause.position)
                changes = review.changes_of(services, cause.changes)
                category = _category(services, changes, c.find(changes, cause.item), position)
                return replace(cause, position=position, category=category), []
            case TakeJournal() | InheritWake() if services.agents.is_shared:
                return None, []  # of another machine, whose watching is not the branch's
            case ReopenItem() if cause.category:
                changes = review.changes_of(services, cause.changes)
                item = c.find(changes, cause.item)
                category = _category(services, changes, item, item.position) if item else ""
                moved = fork.with_moved_position(cause, partial(self._position, services))
                return replace(moved, category=category), []
            case LearnVerdicts():
                held = tuple([one for one in cause.verdicts if _holds(services, cause.scope, one)])
                return replace(cause, verdicts=held) if held else None, []
            case Replied(entity=changes, fact=c.ItemConfirmed() | c.ItemUndone() as fact) if (
                services.journal.is_shared
            ):
                came = self._came(services, changes, fact)
                return replace(cause, fact=came) if came else None, []
            case _:
                return fork.with_moved_position(cause, partial(self._position, services)), []

    def _came(
        self, services: Services, set_id: str, fact: c.ItemConfirmed | c.ItemUndone
    ) -> c.ItemConfirmed | c.ItemFailed | c.ItemUndone | None:
        """What came of an item's operation in the branch; None: it was not tried there."""
        item = c.find(review.changes_of(services, set_id), fact.item)
        asked_for = item.asked.operation if item and item.asked else ""
        for row in services.journal.receipts(asked_for):
            if isinstance(row.fact, Receipt) and isinstance(fact, c.ItemUndone):
                code = row.fact.result.code
                return replace(fact, position=0 if code else row.n, code=code)
            if isinstance(row.fact, Receipt):
                return review.came(fact.item, fact.confirmation, row.fact.result, row.n)
        return None

    def _position(self, services: Services, n: int) -> int:
        """The branch's position of the journal for a recorded one."""
        return self._reached.get(n) or min(n, services.journal.tail().n)

    def _decide(self, services: Services, verdict: ChangedVerdict, at: str) -> None:
        """The person's other verdict, with all that it does to the task."""
        logs, clock = (services.journal, services.agents), ManualClock(at)
        then = Services(*logs, clock, services.settings, services.model_for)
        changes = self.names.get(verdict.changes, verdict.changes)
        if verdict.verb == "confirm":
            item = review.confirm(then, changes, verdict.item)
        else:
            item = review.reject(then, changes, verdict.item, "")
        if item is None or item.status != DONE[verdict.verb]:
            raise _not_decided(verdict, item)


def given_then(past: Past, first: RecordedEvent) -> PromptOptions | None:
    """What a wake was given that began with this row; None: it was skipped."""
    rows = read_append(past.agents.append(first.n, first.replica))
    cause, _ = envelope.cause_of(rows[0])
    return given_by(cause) if isinstance(cause, Begins) else None


def _seen(services: Services, cause: Cause) -> Cause:
    """A cause with what its position of the journal knows of each machine."""
    if isinstance(cause, CreateAgent | RejectItem | DeferItem):
        return replace(cause, seen=services.journal.horizon(position_named(cause)))
    return cause


def _holds(services: Services, scope: str, past: PastVerdict) -> bool:
    """Whether a verdict that was learnt was given in the branch, too, and in that category."""
    changes = review.changes_of(services, past.changes)
    item = c.find(changes, past.item)
    if item is None or item.status != past.verdict:
        return False
    if not scope.startswith(CATEGORY):
        return True
    return scope == CATEGORY + _category(services, changes, item, item.position)


def _category(
    services: Services, changes: c.ChangeSet, item: c.ChangeItem | None, position: int
) -> str:
    """The category, at a position of the journal, of the task that an item is about."""
    task = review.task_of(services, changes, item) if item else changes.task
    return review.category_at(services, task, position)


def _not_decided(verdict: ChangedVerdict, item: c.ChangeItem | None) -> Refused:
    why = item.error or f"it is {item.status}" if item else "the set has no such item then"
    because = f"the item {verdict.item} cannot be {verdict.verb}ed in the fork: {why}"
    instead = "look at the moment with `wakelog at`, or choose another verdict"
    return Refused("decided", because=because, instead=instead)

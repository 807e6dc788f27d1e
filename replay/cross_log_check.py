"""What one log says of the other, read there again (DESIGN 4, law 7).

Both logs are walked together: the journal as far as the agent log knows it. What a wake was
shown is rendered again at the positions that its cause names, what was taken of the journal is
taken again, and an effect on the journal needs its intent. Where a cause names a position that
the walk has left behind (two wakes at once), its world comes from the adapter."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from domain.agent.agent import AGENT, AgentCreated, AgentSettled
from domain.agent.commands import InheritWake, TakeJournal
from domain.agent.subscriptions import taken_of
from domain.agent.wake_queue import JournalTaken
from domain.append import envelope
from domain.append.causes import FAILURES, Cause, Replied
from domain.changes.change_set import CHANGES, ChangeItem, ChangeSet, find
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, ReopenItem
from domain.errors import Refused
from domain.journal.task import TASK
from domain.lessons.commands import LearnVerdicts
from domain.lessons.lessons import CATEGORY
from domain.log import canonical
from domain.log.keys import payload_id
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import PayloadId
from domain.retention import prompt_ids
from domain.tools import registry
from domain.wake.commands import Begins, BeginWake, ProposeChanges, SkipWake, begun_of
from domain.wake.task_search import SearchableTask, TaskSearchIndex
from domain.wake.unchanged import moved_by
from domain.wake.wake import WAKE, LateReply, ModelAnswered, SectionRef, ToolReturned
from domain.wake.wake_inputs import given_by, given_to, queued_of, rendered
from replay.appends import Append, AppendsAhead, appends
from replay.divergence import ALTERED, CHANGED, DICE, PROMPT, Divergence, RowDifference
from replay.effects import Effects, OperationOutcome, Place, misnamed, outcome_of, unrelated
from replay.leadership_handover import LeadershipHandover
from replay.log_pair import PairedLog, PairPosition
from replay.notification_replay import NotificationReplay
from replay.reads import is_read, misplaced_read, read_again, read_differences, read_intent
from replay.references import (
    horizon_differs,
    is_given_up,
    journal_position,
    operation_of,
    position_named,
)
from replay.replies import Decoders, ReplyDecoding

ReadBytes = Callable[[PayloadId], bytes | None]


def section_differences(
    part: str, task: str, today: Mapping[str, bytes], was: Iterable[SectionRef], payload: ReadBytes
) -> Iterator[RowDifference]:
    """What differs in a part of a prompt, and in the order of its sections."""
    known = {ref.name: ref.payload for ref in was}
    for name in dict.fromkeys((*today, *known)):
        data, named = today.get(name), known.get(name, "")
        if data is None or payload_id(task, data) != named:
            yield from byte_differences(f"{part}.{name}", PROMPT, data or b"", named, payload)
    if list(today) != list(known) and set(today) == set(known):
        yield RowDifference(0, PROMPT, part, " ".join(today), " ".join(known))


def byte_differences(
    path: str, kind_of: str, today: bytes, named: PayloadId, payload: ReadBytes
) -> Iterator[RowDifference]:
    """Bytes of today, and those under a name, where they differ."""
    was = payload(named) if named else b""
    if was is None or was == today:
        return  # a payload that is gone, or was altered: told where it is named
    expected, actual = (text.decode("utf-8", "replace") for text in (today, was))
    yield RowDifference(0, kind_of, path, expected, actual)


# --------------------------------------------- the categories that verdicts are learnt in (ADR 50)


class CategoryClaim(NamedTuple):
    """At a position of the journal a task was in a category; `path`: where in the row it stands."""

    task: str
    position: int
    category: str
    path: str


def category_claims(cause: Cause, before: LogState) -> Iterator[CategoryClaim]:
    """What a cause of the agent log, which was `before` it so far, says and the journal has to
    bear out."""
    path = "data.command.category"
    match cause:
        case ConfirmItem() | RejectItem() | DeferItem() if cause.category:
            changes = before.load(CHANGES, cause.changes)
            task = _task_of(before, changes, find(changes, cause.item))
            yield CategoryClaim(task, cause.position, cause.category, path)
        case ReopenItem() if cause.category:
            changes = before.load(CHANGES, cause.changes)
            if item := find(changes, cause.item):  # pragma: no branch  # it was reopened
                task = _task_of(before, changes, item)
                yield CategoryClaim(task, item.position, cause.category, path)
        case LearnVerdicts(scope=scope, verdicts=verdicts) if scope.startswith(CATEGORY):
            category = scope.removeprefix(CATEGORY)
            for nth, past in enumerate(verdicts):
                changes, path = before.load(CHANGES, past.changes), f"data.command.verdicts[{nth}]"
                if item := find(changes, past.item):  # pragma: no branch  # it was checked
                    task = _task_of(before, changes, item)
                    yield CategoryClaim(task, item.position, category, path)
        case _:
            pass


def _task_of(agents: LogState, changes: ChangeSet, item: ChangeItem | None) -> str:
    """The task that an item is about."""
    if changes.task or item is None:
        return changes.task
    return registry.task_of("", item.tool, agents.text(item.arguments))


# ---------------------------------------------------------------------------- the walk of both logs

AppendDigest = tuple[str, str]
"""The position of an append, and its digest."""

ANEW_MAX = 4_096  # texts that were rendered again and are kept for who reads them
DIGESTS_MAX = 4_096  # of the newest appends of the journal


class CrossLogCheck:
    """Proves both logs of a home in one walk."""

    def __init__(
        self, journal: PairedLog, agents: PairedLog, decoders: Decoders | None = None
    ) -> None:
        self.prompts = 0  # that were rendered again
        self.unasked_elsewhere = 0  # operations of machines that keep their agents' log
        self.left = PairPosition()  # when the agent log was walked
        self.replies = ReplyDecoding(decoders or {}, agents.payload)
        self._journal, self._agents = journal, agents
        self._left = AppendsAhead(appends(journal.rows))  # of the journal, that nobody has named
        self._reached = 0  # n up to which it was walked, of whatever replica
        self._is_ended = False
        self._known = 0  # the highest position of the journal that the agent log names
        self._known_of: dict[str, int] = {}  # the same of each replica
        self._digests: dict[int, dict[str, AppendDigest]] = {}  # by n and replica
        self._notices = NotificationReplay(journal.proof.streams.viewers, journal.between)
        self._lines = TaskSearchIndex()
        self._looked_at: list[LogState] = []  # for one append, and what was missing there
        self._missed: list[list[PayloadId]] = []
        self._changed: set[str] | None = None  # tasks, since `_lines` were made; None: never yet
        self._effects = Effects(journal.payload, agents.payload, journal.proof.streams.kept)
        horizons = journal.proof.streams.viewers.horizons
        self._handed = LeadershipHandover(agents.proof.streams, horizons)

    def resume(self, left: PairPosition, digests: Mapping[int, Mapping[str, AppendDigest]]) -> None:
        """Go on where a walk had come to the agent log's end; `digests`: as `_digests` was. What
        came since of other machines may be numbered before that: what it could know is behind."""
        self._reached = max(left.ends.values(), default=0)
        self._known, self._known_of = max(left.known.values(), default=0), dict(left.known)
        self._notices.watchers.update(self._agents.proof.last)
        self._notices.again = self._notice_again
        self._digests.update((n, dict(those)) for n, those in digests.items())
        self._effects.resume(left.effects, self._heard, is_shared=self._is_shared)
        self._journal.proof.streams.repeat(left.repeated)
        for replica, n in left.inherited:
            if (one := self._agents.read(n, replica)) is not None:  # pragma: no branch
                cause, _ = envelope.cause_of(one.facts[0])
                if isinstance(cause, InheritWake):  # pragma: no branch  # its bytes were looked at
                    self._handed.inherited(one, cause)

    def _notice_again(self, replica: str, n: int) -> None:
        """Make the notice of an append of the journal that the walk began behind."""
        is_behind = n <= self._journal.proof.start.last.get(replica, 0)
        one = self._journal.read(n, replica) if is_behind else None
        if one is not None and one.replica == replica and self._journal.at is not None:
            self._notices.make(one, self._journal.at(n, replica), is_damaged=False)

    def _heard(self, place: Place) -> tuple[Append, OperationOutcome] | None:
        """What an append of the agent log says of an operation."""
        replica, n = place
        one = self._agents.read(n, replica)
        if one is None or self._agents.at is None:
            return None
        cause, _ = envelope.cause_of(one.facts[0])
        said = outcome_of(one, cause, self._agents.at(n - 1, replica))
        return (one, said) if said else None

    def walk(self) -> Iterator[Divergence]:
        """Name all that differs in either log, and between them."""
        yield from self._advance(self._known)  # what has come since below what was walked
        for one in appends(self._agents.rows):
            self._notices.watchers.add(one.replica)
            named = max(map(self._position, one.facts), default=0)
            self._known_of[one.replica] = max(named, self._known_of.get(one.replica, 0))
            yield from self._advance(named)
            for row in one.facts:
                self._mind(row.fact, one.replica)
            self._render_dropped(one)
            yield from self._agents.proof.take(one, self._more)
            yield from self._beyond(one, named)
            for row in one.facts:
                self._done(row)
        yield from self._agents.proof.finish()
        ends = dict(self._journal.proof.last)
        self.left = PairPosition(ends, dict(self._known_of), self._effects.left())
        for one in self._left:
            yield from self._journal.proof.take(one, self._deed)
            self._effects.is_shared = self._is_shared
            self._effects.take(one)
        yield from self._journal.proof.finish()
        yield from self._unasked()
        for one, known in (*self._effects.unmet(), *self._handed.finish()):
            if not (known.path == "receipt" and self._journal.proof.gone):  # its receipt may be
                yield self._agents.proof.told(one, known)
        repeated = self._journal.proof.streams.viewers.repeated
        inherited = tuple(self._handed.undecided)
        self.left = replace(self.left, repeated=repeated, inherited=inherited)

    def _render_dropped(self, one: Append) -> None:
        """Give what a wake was shown, where that was dropped (ADR 109), to whoever reads it. What
        no retention covers is missing, even if an older wake was shown the same."""
        cause = envelope.cause_of(one.facts[0])[0] if one.facts else None
        if not isinstance(cause, Begins) or (begun := begun_of(cause)) is None:
            return
        named, anew = {*prompt_ids(begun)}, self._agents.proof.anew
        if one.first.at >= self._agents.proof.listed.retained["prompts"]:
            for name in named:
                anew.pop(name, None)
            return
        if not (missing := {name for name in named if self._agents.payload(name) is None}):
            return
        self._looked_at.clear()
        self._missed.clear()
        positions = begun.journal_position, begun.agent_position
        agents, journal, _ = self._worlds(one.replica, *positions, agent=begun.agent)
        if agents is None or journal is None:
            return
        with suppress(*FAILURES):  # told as a changed prompt, where it is named
            made = rendered(journal, agents, cause, self._task_lines)
            for name in named & made.keys():
                anew.pop(name, None)  # the newest last
                anew[name] = made[name]
            while len(anew) > ANEW_MAX:
                del anew[next(iter(anew))]
        if self._rests():  # what it was rendered from was erased: so is what was dropped of it
            self._agents.proof.listed.payloads |= missing - anew.keys()

    def _position(self, row: RecordedEvent) -> int:
        """The position of this journal that a row of the agent log names; else 0."""
        n = journal_position(row.fact)
        return 0 if is_given_up(self._journal.given_up, row.replica, n) else n

    # ------------------------------------------------------------------------- walking the journal

    def _advance(self, n: int) -> Iterator[Divergence]:
        """Walk the journal up to append n, of a shared one that of each replica."""
        self._known = max(self._known, n)
        while self._reached < n or self._is_shared_at(n):
            one = next(self._left, None)
            if one is None:
                self._is_ended = True
                return
            yield from self._journal.proof.take(one, self._deed)
            self._reached = max(self._reached, one.n)
            self._effects.is_shared = self._is_shared
            head = f"journal:{one.replica}"
            known = self._digests.setdefault(one.n, {})
            known[one.replica] = f"{head}:{one.n}", self._journal.proof.heads[head]
            if len(self._digests) > DIGESTS_MAX and one.n == self._reached:
                del self._digests[next(iter(self._digests))]
            self._noticed(one)

    @property
    def _is_shared(self) -> bool:
        return self._journal.proof.is_shared

    def _is_shared_at(self, n: int) -> bool:
        """Whether another replica of a shared journal has an append n, too."""
        return self._is_shared and self._left.n is not None and self._left.n <= n

    def _noticed(self, one: Append) -> None:
        """A journal append: its notice, and which operation it applied."""
        if not one.facts:
            return
        if self._changed is not None:
            self._changed.update(row.entity for row in one.facts if row.of_kind == "task")
        self._effects.take(one)
        proof = self._journal.proof
        right_after = proof.streams.world(one.replica, one.n + 1, [])
        self._notices.make(one, right_after, is_damaged=bool(proof.first_fault))

    def _mind(self, fact: object, replica: str) -> None:
        """Learn from the agent log which rows and operations will matter."""
        if isinstance(fact, AgentCreated):
            if fact.task:
                self._journal.proof.streams.mind(fact.task, replica)
        elif operation := operation_of(fact):
            self._effects.ask(operation, replica)

    def _done(self, row: RecordedEvent) -> None:
        """Let go of what nobody will ask for any more."""
        match row.fact:
            case AgentSettled(position=n):
                world = self._agents.proof.streams.world(row.replica, row.n + 1, [])
                if task := world.load(AGENT, row.entity).task:
                    self._journal.proof.streams.looked(task, row.replica, n)
            case JournalTaken() as fact:
                self._notices.done(fact)
            case _:
                pass

    # --------------------------------------------------------------------------- what is compared

    def _more(self, one: Append, cause: Cause) -> Iterator[RowDifference]:
        """What an append of the agent log says of the journal, read there again. Where the journal
        differs itself, that is what it comes of."""
        found: Iterable[RowDifference] = ()
        self._looked_at.clear()
        self._missed.clear()
        if is_given_up(self._journal.given_up, one.replica, position_named(cause)):
            return
        match cause:
            case BeginWake() | ProposeChanges() | SkipWake(moved_by=(_, *_)):
                rendered = self.prompts + 1
                found = self._twice(partial(self._begun, one, cause))
                self.prompts = min(self.prompts, rendered)
                if isinstance(cause, ProposeChanges):
                    found += self.replies.differs(cause.reply, cause.begin.model)
            case TakeJournal():
                found = [*self._taken(one, cause), *self._handed.taken(one, cause)]
            case InheritWake():
                self._handed.inherited(one, cause)
            case Replied(fact=ToolReturned() as fact) if is_read(fact):
                found = self._twice(partial(self._read, one, cause.entity, fact))
            case Replied(fact=ModelAnswered() as fact, entity=run_key):
                found = self._replied(one, fact, run_key)
            case _:
                found = [*self._learnt(one, cause), *self._outcome(one, cause)]
        fault, viewers = self._journal.proof.first_fault, self._journal.proof.streams.viewers
        yield from self._resting(one, cause, fault)
        for known in horizon_differs(cause, one.replica, viewers):
            yield replace(known, upstream=fault)
        found = [*misnamed(cause, self._before(self._agents, one)), *found]
        if found and self._rests():
            self._agents.proof.erased.resting += 1
            return
        yield from (replace(known, upstream=fault) for known in found)

    def _rests(self) -> bool:
        """Whether what was looked at for an append was erased in part."""
        sides = self._agents.proof, self._journal.proof
        missed = [one for some in self._missed for one in some]
        return any(proof.rests(*self._looked_at, missed=missed) for proof in sides)

    def _missing(self) -> list[PayloadId]:
        """What is to be told to a world that is looked at for an append."""
        self._missed.append([])
        return self._missed[-1]

    def _resting(self, one: Append, cause: Cause, fault: str) -> Iterator[RowDifference]:
        """The append of the journal that a cause rests on, by its digest, where it names one."""
        n, named = position_named(cause), getattr(cause, "journal_digest", "")
        known = self._digests.get(n, {})
        anyones = next(iter(known.values()), ("", "")) if not self._is_shared else ("", "")
        position, there = known.get(one.replica) or anyones
        if named and there and named != there:
            path = "data.command.journalDigest"
            yield RowDifference(0, ALTERED, path, there, named, upstream=fault or position)

    def _twice(self, look: Callable[[], Iterator[RowDifference]]) -> list[RowDifference]:
        """What differs in what a wake was shown; what a second look does not find as well is of
        code that differs from itself."""
        found = list(look())
        again = list(look()) if found else []
        return [known if known in again else replace(known, kind_of=DICE) for known in found]

    def _read(self, one: Append, run_key: str, fact: ToolReturned) -> Iterator[RowDifference]:
        """What a read is answered with otherwise, from both logs as they stood."""
        asked = read_intent(run_key, fact, self._before(self._agents, one))
        if asked is None:  # what nobody asked for is not taken
            return
        if found := [*misplaced_read(asked, fact, one.n)]:
            yield from found
            return
        agents, journal, missed = self._worlds(one.replica, fact.position, fact.agent_position)
        if agents is None or journal is None:
            return
        try:
            again = read_again(run_key, fact, journal, agents, self._task_lines)
        except FAILURES as error:
            if not missed:  # a payload that is gone is told where it is named
                told = f"{type(error).__name__}: {error}"
                yield RowDifference(0, PROMPT, f"turn {fact.turn}.{fact.tool}", told, "an answer")
            return
        if again is not None:  # pragma: no branch  # it is asked for in that world, too
            yield from read_differences(again, self._agents.payload)

    def _learnt(self, one: Append, cause: Cause) -> Iterator[RowDifference]:
        """The categories that verdicts are learnt in, where a task was in another one then."""
        for said in category_claims(cause, self._before(self._agents, one)):
            if is_given_up(self._journal.given_up, one.replica, said.position):
                continue
            _, journal, _ = self._worlds(one.replica, said.position, one.n - 1)
            there = journal.load(TASK, said.task).category if journal else said.category
            if there != said.category:
                yield RowDifference(0, CHANGED, said.path, there, said.category)

    def _replied(self, one: Append, fact: ModelAnswered, run_key: str) -> Iterator[RowDifference]:
        """A reply, decoded again; of one that came too late only the bytes were kept."""
        if not isinstance(one.facts[0].fact, LateReply):
            wake = self._before(self._agents, one).load(WAKE, run_key)
            yield from self.replies.differs(fact, wake.begun.model)

    def _outcome(self, one: Append, cause: Cause) -> Iterator[RowDifference]:
        """What came of an operation, as its receipt in the journal says it."""
        said = outcome_of(one, cause, self._before(self._agents, one))
        if said is None or self._is_ended:  # a journal that is cut off is told of
            return
        if (one.replica, said.n) in self._journal.proof.gone:
            return  # what it came to was erased there
        for past in self._journal.given_up:  # what names no position may be about another past
            is_past = past.after < said.n <= past.until if said.n else past.until >= self._known
            if past.replica == one.replica and is_past:
                return
        yield from self._effects.hear(one, said)

    def _deed(self, one: Append, cause: Cause) -> Iterator[RowDifference]:
        """What an append of the journal says of others there."""
        before = self._before(self._journal, one)
        found = [*unrelated(cause, before)]
        if not (found and self._journal.proof.rests(before)):
            yield from found

    def _task_lines(self, journal: LogState) -> Mapping[str, SearchableTask]:
        """The living tasks of a world; those of where the walk stands are kept."""
        journal.lacks |= self._journal.proof.streams.lacks()
        if journal.n != self._reached + 1 or self._is_shared:  # there a marker changes them
            return TaskSearchIndex().of(journal)
        lines = self._lines.of(journal, self._changed)
        self._changed = set()
        return lines

    def _begun(self, one: Append, said: Begins | SkipWake) -> Iterator[RowDifference]:
        """The prompt and the snapshot of a wake, and what had moved, from both logs as they stood;
        of one that asked nobody the last alone."""
        cause = said if isinstance(said, SkipWake) else begun_of(said)
        assert cause is not None, said
        positions = cause.journal_position, cause.agent_position
        agents, journal, missed = self._worlds(one.replica, *positions, agent=cause.agent)
        if agents is None or journal is None:
            return
        agent, given = agents.load(AGENT, cause.agent), given_by(said)
        with suppress(Refused):  # a scaffold that nobody knows: that differs elsewhere
            is_clients = isinstance(said, ProposeChanges)  # whom nothing that moved brings
            moved = () if is_clients else moved_by(journal, agents, agent, given)
            if moved != cause.moved_by:
                both = (" ".join(one) for one in (moved, cause.moved_by))
                yield RowDifference(0, CHANGED, "data.command.movedBy", *both)
        if isinstance(cause, SkipWake):
            return
        if (queued := queued_of(said, agents)) is None:
            told = f"{cause.run_key} is not queued"
            yield RowDifference(0, CHANGED, "cause", "a queued wake", told)
            return
        try:
            prompt, seen = given_to(
                journal, agents, agent, queued, given, cause.journal_position, self._task_lines
            )
        except FAILURES as error:
            if not missed:  # a payload that is gone is told where it is named
                told = f"{type(error).__name__}: {error}"
                yield RowDifference(0, PROMPT, "cause", told, f"{len(cause.user)} sections")
            return
        self.prompts += 1
        data = canonical.encode(seen)
        if payload_id(agent.unit, data) != cause.snapshot:
            compared = CHANGED, data, cause.snapshot, self._agents.payload
            yield from byte_differences("data.command.snapshot", *compared)
        parts = (("system", prompt.system, cause.system), ("user", prompt.user, cause.user))
        for part, today, was in parts:
            now = {section.name: section.text.encode() for section in today}
            yield from section_differences(part, agent.unit, now, was, self._agents.payload)
            units = {section.name: section.units for section in today}
            for ref in was:
                if (named := units.get(ref.name, ())) != ref.units:
                    sides = " ".join(named), " ".join(ref.units)
                    yield RowDifference(0, PROMPT, f"{part}.{ref.name}.units", *sides)

    def _worlds(
        self, replica: str, position: int, agent_position: int, agent: str = ""
    ) -> tuple[LogState | None, LogState | None, list[PayloadId]]:
        """Both logs at positions that a replica names; of the journal with no more rows of a task
        than what is new to an agent, if one is named."""
        missed = self._missing()
        streams = self._agents.proof.streams
        agents = journal = None
        if self._is_at(self._agents, replica, agent_position):
            agents = streams.world(replica, agent_position + 1, missed)
        elif self._agents.at is not None:
            agents = self._agents.at(agent_position, replica)
        if self._is_at(self._journal, replica, position):
            seen = (agents.load(AGENT, agent).position if agents else 0) if agent else None
            journal = self._journal.proof.streams.world(replica, position + 1, missed, seen=seen)
        elif self._journal.at is not None:
            journal = self._journal.at(position, replica)
        self._looked_at += [one for one in (agents, journal) if one is not None]
        return agents, journal, missed

    def _before(self, side: PairedLog, one: Append) -> LogState:
        """A log just before an append."""
        world = side.proof.streams.world(one.replica, one.n, self._missing())
        self._looked_at.append(world)
        return world

    def _is_at(self, side: PairedLog, replica: str, n: int) -> bool:
        """Whether the walk of a log stands right after append n, of a shared one a replica's."""
        if side.proof.is_shared:
            return side.proof.last.get(replica, 0) == n
        return n == (self._reached if side is self._journal else side.proof.streams.n)

    def _taken(self, one: Append, cause: TakeJournal) -> Iterator[RowDifference]:
        """The notices that a watcher made of journal appends."""
        taken = taken_of(self._before(self._agents, one), cause.replica)
        yield from self._notices.differs(cause, max(cause.first, taken + 1))

    # --------------------------------------------------------------------------------- at the end

    def _beyond(self, one: Append, named: int) -> Iterator[Divergence]:
        """The agent log knows of journal appends that are not there: the tail was cut off."""
        last = self._journal.proof.last
        there = last.get(one.replica, 0) if self._is_shared else self._reached
        if not self._is_ended or named <= there:
            return
        self._reached = named  # told once
        row, position = one.rows[0], f"agent:{one.replica}:{one.n}"
        told = f"journal append {named}", f"the journal ends at {max(last.values(), default=0)}"
        of = "journal", position, row.stream, row.version
        yield Divergence(*of, ALTERED, "position", *told)

    def _is_asker_gone(self, agent: str) -> bool:
        """Whether the intent of an effect was erased: with its agent; of one that names none, with
        any."""
        agents = self._agents.proof
        if not agent:
            return bool(agents.gone)
        return any(agents.streams.lacks(f"agent:{agent}@{name}") for name in agents.last)

    def _unasked(self) -> Iterator[Divergence]:
        """Effects on the journal that no intent of the agent log asked for. Those beyond what it
        knows of the journal may be younger than its last row: a backup copies it first."""
        for operation, one in self._effects.unasked():
            if self._is_asker_gone(one.agent):
                continue
            if one.n > (self._known_of.get(one.replica, 0) if self._is_shared else self._known):
                is_kept = one.replica not in self._agents.proof.last
                self.unasked_elsewhere += is_kept  # by agents of a machine that keeps their log
                continue
            place = f"journal:{one.replica}:{one.n}"
            of = "journal", place, one.stream, one.version
            told = ALTERED, "operation", "an intent in the agent log", operation
            cause = "command.apply_operation.1"
            yield Divergence(*of, *told, cause=cause, upstream=place)

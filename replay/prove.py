"""Replay: today's code, yesterday's causes (DESIGN 2, law 6).

There is no second interpreter. Each cause meets the world *as it was recorded*, so a difference
is reported once and does not spoil what follows; every byte of every row is compared, each
append with the digest that the next one carries, and each payload with its id."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import AGENT
from domain.agent.wake_queue import WakeQueued
from domain.append import envelope
from domain.append.causes import FAILURES, Cause, EpochBegan, Receipt, ReplicasImported
from domain.append.envelope import Row
from domain.changes.change_set import CHANGES
from domain.erasure import (
    Erase,
    ErasureList,
    ErasureMade,
    Listed,
    Place,
    digest_of,
    places_of,
    read_list,
    torn,
)
from domain.errors import Damaged
from domain.handlers.execute import execute
from domain.log.rules import RULES
from domain.log.state import LogState, ReadStream, RecordedEvent
from domain.log.wire import Erased, PayloadId, Stored, tag_of
from domain.retention import prompt_ids
from domain.wake.commands import ProposeChanges, begun_of
from domain.wake.wake import WAKE, ModelAnswered, WakeStarted, unwrapped
from replay import divergence as d
from replay.appends import Append, appends
from replay.divergence import ALTERED, CHANGED, MISSING, Divergence, RowDifference
from replay.fork import carried_out
from replay.payloads import PayloadCheck
from replay.streams import LIMITS, PayloadsNamed, Streams, Unfolded, WalkLimits, error_text

MoreChecks = Callable[[Append, Cause], Iterable[RowDifference]]
"""More checks of an append, in the world just before it."""


class ProofOptions(Struct, frozen=True):
    """How a log is proved. `since`: appends up to this `n` are folded, not executed again;
    `is_every_epoch`: execute those of other rules too; `anchors`: digests that are known from
    outside, by ``log:replica`` and n; `limits`: how much is remembered."""

    rules: int = RULES
    since: int = 0
    is_every_epoch: bool = False
    anchors: Mapping[str, Mapping[int, str]] = {}
    limits: WalkLimits = LIMITS


DEFAULT_OPTIONS = ProofOptions()


class ProofStart(Struct, frozen=True):
    """Where a walk of a log that was proved before goes on: the `heads` of its chains there, those
    of appends that say more than the log of itself, and, by replica, the `last` numbers and the
    `times`. `proved`: up to where each replica was executed before."""

    heads: Mapping[str, str] = {}
    telling: Mapping[str, str] = {}
    last: Mapping[str, int] = {}
    times: Mapping[str, str] = {}
    proved: Mapping[str, int] = {}


class ErasedCounts(Struct):
    """What was walked of what was erased: `rows` that are marks and the causes among them, which
    are `gone`; and of the causes that read something erased those that come out the `same` all the
    same, and those that do not, and rest on the chain alone."""

    rows: int = 0
    gone: int = 0
    same: int = 0
    resting: int = 0


class ReplicaCounts(Struct):
    """What was walked of one replica: rows, causes, and how many of these were not executed."""

    rows: int = 0
    causes: int = 0
    folded: int = 0


class LogProof:
    """Walks one log. After the walk: what was seen, and the log's part of the digest."""

    def __init__(
        self, log: str, payload: Callable[[PayloadId], bytes | None],
        options: ProofOptions = DEFAULT_OPTIONS, *, again: ReadStream | None = None,
        listed: Listed | None = None, anew: dict[PayloadId, bytes] | None = None,
    ) -> None:  # fmt: skip
        """Begin before the first append of ``journal`` or ``agent``. `again`: reads a stream's rows
        above a version once more; without it all are kept. `listed`: all that erasures list;
        `anew`: gets what was dropped and the walk has rendered; `payload` looks there first."""
        self.rows = self.causes = self.wakes = 0
        self.folded = 0  # causes not executed again: of newer wakes, other rules, before `since`
        self.of: dict[str, ReplicaCounts] = {}  # the same by replica
        self.heads: dict[str, str] = {}  # "log:replica" -> chain head
        self.telling: dict[str, str] = {}  # of appends that say more than the log of itself
        self.last: dict[str, int] = {}  # replica -> n
        self.streams = Streams(log, payload, again, options.limits)
        self._log, self._options, self._payload = log, options, payload
        self.listed = listed or Listed()
        self.dropped_replies = 0
        self.anew = {} if anew is None else anew
        self.erased = ErasedCounts()
        self.gone: set[tuple[str, int]] = set()  # replica and append, whose cause is a mark
        self._marks: dict[Place, RecordedEvent] = {}
        self._payloads = PayloadCheck(
            payload, self._task_of, options.limits, erased=self.listed.payloads, anew=self.anew
        )
        self._epoch: dict[str, int] = {}
        self._at: dict[str, str] = {}  # replica -> when its last append was made
        self._open: dict[str, list[Divergence]] = {}  # of each replica's last append
        self._origins: OrderedDict[str, str] = OrderedDict()  # run key -> position
        self._hole = ""  # the position of the newest append of which something is missing
        self.first_fault = ""  # position of the first append that differs
        self.newer: dict[str, int] = {}  # run key -> a scaffold that nobody here knows
        self._is_unread = False  # such a wake has rows that cannot be read: states lack them
        self.start = ProofStart()

    @property
    def is_shared(self) -> bool:
        """Whether several replicas share the log."""
        return bool(self.streams.viewers.since)

    def resume(self, start: ProofStart, again: ReadStream, named: PayloadsNamed) -> None:
        """Go on in a log that was proved before. `again` reads a stream's rows above a version,
        `named` gives the names of all streams of a kind."""
        self.start = start
        self.heads.update(start.heads)
        self.telling.update(start.telling)
        self.last.update(start.last)
        for row in self.streams.resume(start.last, again, named):
            if isinstance(row.fact, EpochBegan):
                self._epoch[row.replica] = row.fact.rules
        self._at.update(start.times)

    def walk(self, rows: Iterable[Row]) -> Iterator[Divergence]:
        """Name every byte that today's code would write differently."""
        for one in appends(rows):
            yield from self.take(one)
        yield from self.finish()

    def take(self, one: Append, more: MoreChecks | None = None) -> Iterator[Divergence]:
        """Prove one more append; told is what is wrong with the one before it: only the digest that
        the next one carries tells whether an append was altered."""
        self.rows += len(one.rows)
        self.causes += 1
        counts = self.of.setdefault(one.replica, ReplicaCounts())
        counts.rows += len(one.rows)
        counts.causes += 1
        self.wakes += [envelope.tag_then(row) for row in one.rows].count("wake.started.1")
        yield from self._chain(one)
        is_newer = self._is_newer(one)
        found = [*self._shape(one), *self._times(one), *self._erased(one)]
        found += self._unread(one) if not is_newer else ()
        is_whole = not (found or one.unread)
        if not (is_newer and self._is_unread):  # else nobody knows whose texts they are
            found += self._kept(one)
        found += self.streams.viewers.missed(one.facts, self.last)
        if self._hole:
            self.streams.fill(one.facts)
        if is_whole and one.facts and type(one.facts[0].fact) is not Erased:
            found += self._redone(one, more, is_newer=is_newer)
        unfolded, digest = self._remember(one)
        if not found and not is_newer:  # else what was found is why
            found += self._refused(one, unfolded)
        if self._is_unread:
            found = [known for known in found if known.kind_of in d.DAMAGE]
        self._is_unread |= is_newer and bool(one.unread)
        found += self._anchored(one, digest)
        if found and not self.first_fault:
            self.first_fault = f"{self._log}:{one.replica}:{one.n}"
        self._open[one.replica] = [self.told(one, difference) for difference in found]
        if not is_whole:
            self._hole = f"{self._log}:{one.replica}:{one.n}"

    def finish(self) -> Iterator[Divergence]:
        """What is left to say at the end of the log."""
        for left in self._open.values():
            yield from left
        self._open.clear()
        for head, known in sorted(self._options.anchors.items()):
            log, _, replica = head.partition(":")
            last = self.last.get(replica, 0)
            if log == self._log and known and max(known) > last:
                told = f"append {max(known)}", f"the log ends at {last}"
                yield Divergence(log, f"{head}:{last}", "", 0, ALTERED, "tail", *told)

    # ------------------------------------------------------------------------- what was erased

    def _erased(self, one: Append) -> Iterator[RowDifference]:
        """Whether what is marked is what an erasure lists, and each mark is one."""
        for row in one.facts:
            place, is_mark = (row.replica, row.n, row.row), type(row.fact) is Erased
            listed = self.listed.rows.get(place)
            if is_mark:
                self._marks[place] = row
                self.erased.rows += 1
            elif not listed:
                continue
            index, expected = _index_of(one, row), ""
            kept = one.rows[index]
            if listed is None:
                expected = "a row, as no erasure lists it"
            elif not listed.takes(row):
                expected = f"a row: an erasure of {listed.unit} may not take it"
            elif not is_mark:
                expected = "a mark: it was erased"
            elif kept != (made := envelope.mark(kept, one.places[index], row.fact)):
                expected = d.row_text(made)
            if expected:
                yield RowDifference(index, ALTERED, "erased", expected, d.row_text(kept))
        for row in torn(one.facts):
            index, expected = _index_of(one, row), "a mark, as of what the same wake did there"
            yield RowDifference(index, ALTERED, "erased", expected, d.row_text(one.rows[index]))
        if one.facts and type(one.facts[0].fact) is Erased:
            self.erased.gone += 1
            self.gone.add((one.replica, one.n))
        command = getattr(one.facts[0].fact, "command", None) if one.facts else None
        if isinstance(command, Erase) and (data := self._payload(command.listed)) is not None:
            yield from self._as_listed(one, read_list(data), command)

    def _as_listed(self, one: Append, listed: ErasureList, said: Erase) -> Iterator[RowDifference]:
        """Whether the marks of an erasure are those of then, with their tags and times, and all of
        what it takes whole."""
        places = [*places_of(listed)]
        if any(n <= self.start.last.get(replica, 0) for replica, n, _ in places):
            return  # of a walk that goes on all bytes of before were compared
        marks = [mark for place in places if (mark := self._marks.get(place)) is not None]
        today = digest_of(marks)
        if today != said.digest:
            yield RowDifference(0, ALTERED, "data.command.digest", today, said.digest)
        known = self.streams.world(one.replica, one.n, []).history
        made = ErasureMade(said.unit, said.what, said.listed, said.along)
        for row in made.spares(marks, known):
            expected = f"a list of all of {row.of_kind}:{row.entity}"
            actual = f"append {row.n} of {row.replica} stands"
            yield RowDifference(0, ALTERED, "data.command.listed", expected, actual)
            return

    def rests(self, *worlds: LogState, missed: Sequence[PayloadId] = ()) -> bool:
        """Whether what was read of these worlds was erased in part."""
        return any(one.lacks for one in worlds) or not self.listed.payloads.isdisjoint(missed)

    # --------------------------------------------------------------------------------- the chain

    def _chain(self, one: Append) -> Iterator[Divergence]:
        """The append's number and the digest it carries of the one before. Where that is another
        one, the one before was altered: what was found there is not today's code."""
        before, due = self._open.pop(one.replica, []), self._due(one)
        head, is_gap = self.heads.get(f"{self._log}:{one.replica}", ""), one.n != due
        if one.first.row == 0 and one.first.prev != head and not is_gap:
            yield from (replace(known, kind_of=d.as_altered(known.kind_of)) for known in before)
            if not before:
                yield self.told(one, RowDifference(0, ALTERED, "prev", head, one.first.prev))
            return
        yield from before
        if is_gap:
            yield self.told(one, RowDifference(0, ALTERED, "n", str(due), str(one.n)))
            self._hole = f"{self._log}:{one.replica}:{one.n}"

    def _due(self, one: Append) -> int:
        """The number that comes next; a marker's is above all that it brought or gave up."""
        markers = [row.fact for row in one.facts if isinstance(row.fact, ReplicasImported)]
        brought = [other.n for fact in markers for other in fact.replicas]
        brought += [other.until for fact in markers for other in fact.given_up]
        return max(self.last.get(one.replica, 0), *brought, 0) + 1

    def _shape(self, one: Append) -> Iterator[RowDifference]:
        """Whether all rows of the append are there, each once and in order."""
        numbers, count = [place.row for place in one.places], one.first.rows
        if numbers == list(range(count)):
            return
        for index, number in enumerate(numbers):
            if number in numbers[:index]:
                yield RowDifference(index, ALTERED, "row", "", d.row_text(one.rows[index]))
        wanted = range(max(count if numbers[0] == 0 else 0, max(numbers) + 1))
        missing = [str(number) for number in wanted if number not in numbers]
        if missing:
            told = f"row {', '.join(missing)} of append {one.n}"
            yield RowDifference(0, ALTERED, "rows", told, "")
        elif numbers != sorted(numbers):
            order = " ".join(map(str, numbers))
            yield RowDifference(0, ALTERED, "order", " ".join(map(str, sorted(numbers))), order)
        elif not count or max(numbers) >= count:
            yield RowDifference(0, ALTERED, "rows", str(count), str(len(numbers)))

    def _times(self, one: Append) -> Iterator[RowDifference]:
        """The times of a replica never go back: `append` takes the later one (DESIGN 4)."""
        before, at = self._at.get(one.replica, ""), one.first.at
        if at < before:
            yield RowDifference(0, ALTERED, "at", f"{before} or later", at)
        self._at[one.replica] = max(at, before)

    def _is_newer(self, one: Append) -> bool:
        """Whether an append is of a wake that a newer wakelog made: nobody here can judge it."""
        wake, _ = _wake_of(one, one.rows[0])
        number = max(map(envelope.newer_scaffold, one.rows))
        if number and wake:
            self.newer[wake] = number
        return bool(number) or wake in self.newer

    def _unread(self, one: Append) -> Iterator[RowDifference]:
        for index, error in one.unread:
            expected = f"a fact that is known here ({error})"
            yield RowDifference(index, d.FORMAT, "row", expected, d.row_text(one.rows[index]))

    def _kept(self, one: Append) -> Iterator[RowDifference]:
        """The payloads that the append names."""
        for fault in self._payloads.check(one.facts):
            row = _index_of(one, one.facts[fault.row])
            kind_of = ALTERED if fault.found else self._dropped(one.facts[fault.row], fault.id)
            if not kind_of:
                self.dropped_replies += 1
                continue
            yield RowDifference(row, kind_of, "payload", fault.id, fault.found)

    def _dropped(self, row: RecordedEvent, name: PayloadId) -> str:
        """What a payload is that is not there: of a prompt that a retention covers it was not
        rendered again; a reply that one covers is nothing, and empty."""
        said, retained = unwrapped(_command_of(row)), self.listed.retained
        answered = said.reply if isinstance(said, ProposeChanges) else said
        if isinstance(answered, ModelAnswered) and answered.reply == name:
            return MISSING if row.at >= retained["replies"] else ""
        begun = said if isinstance(said, WakeStarted) else begun_of(said)
        if begun is not None and name in prompt_ids(begun):
            return MISSING if row.at >= retained["prompts"] else d.PROMPT
        return MISSING

    def _refused(self, one: Append, unfolded: Iterable[Unfolded]) -> Iterator[RowDifference]:
        """The rows that today's folds fail on, whether a later cause reads them or not."""
        for row, error in unfolded:
            if self.streams.lacks(row.stream):
                continue
            index, expected = _index_of(one, row), f"a fact that folds ({error_text(error)})"
            yield RowDifference(index, CHANGED, "fold", expected, d.row_text(one.rows[index]))

    def _anchored(self, one: Append, digest: str) -> Iterator[RowDifference]:
        known = self._options.anchors.get(f"{self._log}:{one.replica}", {}).get(one.n, digest)
        if known != digest:
            yield RowDifference(0, ALTERED, "anchor", known, digest)

    # -------------------------------------------------------------------------------- re-execution

    def _redone(
        self, one: Append, more: MoreChecks | None, *, is_newer: bool
    ) -> Iterator[RowDifference]:
        """Hand the cause to today's code, and compare every row that it writes."""
        cause, given = envelope.cause_of(one.facts[0])
        if isinstance(cause, EpochBegan):
            self._epoch[one.replica] = cause.rules
            if not 0 < cause.rules <= self._options.rules:
                expected = f"rules from 1 to {self._options.rules}"
                yield RowDifference(0, ALTERED, "rules", expected, str(cause.rules))
            head = self.heads.get(f"{self._log}:{one.replica}", "")
            if cause.digest != head:
                yield RowDifference(0, ALTERED, "digest", head, cause.digest)
        rules = self._options.rules
        is_ours = self._options.is_every_epoch or self._epoch.get(one.replica, rules) == rules
        is_known = one.n <= max(self._options.since, self.start.proved.get(one.replica, 0))
        if is_newer or not is_ours or is_known:
            self.folded += 1
            self.of[one.replica].folded += 1
            return
        if (operation := carried_out(cause)) not in ("", given):  # its receipt stands under its id
            yield RowDifference(0, CHANGED, "stream", operation, given)
        differences, is_missing = self._composed(one, cause, given)
        if is_missing is None:
            self.erased.resting += bool(differences)
            self.erased.same += not differences
            if differences:
                return
        if differences and not is_missing:
            again, _ = self._composed(one, cause, given)
            if again != differences:
                differences = [replace(known, kind_of=d.DICE) for known in differences]
        yield from differences
        if more is not None and not differences:
            yield from more(one, cause)

    def _composed(
        self, one: Append, cause: Cause, given: str
    ) -> tuple[list[RowDifference], bool | None]:
        """What today's code does otherwise, and whether a payload it needs is missing; None: what
        it needs was erased, in part."""
        missed: list[PayloadId] = []
        world = self.streams.world(one.replica, one.n, missed)
        found, is_missing = self._decided(one, cause, given, world, missed)
        return found, None if self.rests(world, missed=missed) else is_missing

    def _decided(
        self, one: Append, cause: Cause, given: str, world: LogState, missed: list[PayloadId]
    ) -> tuple[list[RowDifference], bool]:
        try:
            who = envelope.who_of(one.facts[0])
            composed = execute(cause, given, one.first.at, one.first.prev, world, who)
        except Damaged as error:
            if not missed:  # pragma: no cover  # only payloads are told of as damaged
                return [_fails(one, error)], False
            if missed[-1] in self.listed.payloads:
                return [_fails(one, error)], True
            if missed[-1] in self._payloads.missing:
                return [], True
            self._payloads.missing.add(missed[-1])  # pragma: no cover  # gone since it was named
            return [RowDifference(0, MISSING, "payload", missed[-1], "")], True  # pragma: no cover
        except FAILURES as error:
            return [_fails(one, error)], False
        is_same = composed.rows == tuple(one.rows)
        return [] if is_same else d.compare_rows(one.rows, composed.rows), False

    def _task_of(self, kind: str, entity: str) -> str:
        """The unit of an agent, a wake or a change set that the walk has left behind."""
        for replica, n in self.last.items():  # whose newest world it is: its states are kept
            world = self.streams.world(replica, max(self.streams.n, n) + 1, [])
            if kind == "agent" and (agent := world.load(AGENT, entity)).lifecycle:
                return agent.unit
            if kind == "changes" and (changes := world.load(CHANGES, entity)).agent:
                return changes.unit
            if kind == "wake" and (wake := world.load(WAKE, entity)).started is not None:
                return wake.unit
        return ""

    def _remember(self, one: Append) -> tuple[list[Unfolded], str]:
        unfolded = self.streams.take(one.facts)
        for row in one.facts:
            if isinstance(row.fact, WakeQueued):
                self._led(row.fact, f"{self._log}:{one.replica}:{one.n}")
        self.last[one.replica] = one.n
        head = f"{self._log}:{one.replica}"
        self.heads[head] = digest = envelope.digest(one.rows)
        if not one.rows[0].stream.startswith("log:"):
            self.telling[head] = digest
        return unfolded, digest

    # ------------------------------------------------------------------------------------ telling

    def _led(self, fact: WakeQueued, here: str) -> None:
        trigger = fact.trigger
        there = f"journal:{trigger.replica}:{trigger.position}"
        self._origins[fact.run_key] = there if trigger.reason == "subscription" else here
        if len(self._origins) > self._options.limits.wakes:
            self._origins.popitem(last=False)

    def told(self, one: Append, known: RowDifference) -> Divergence:
        """A difference with all that is told of where it is."""
        position = f"{self._log}:{one.replica}:{one.n}"
        row = one.rows[min(known.row, len(one.rows) - 1)]
        wake, step = _wake_of(one, row)
        cause = tag_of(_command_of(one.facts[0])) if one.facts else ""
        return Divergence(
            self._log, position, row.stream, row.version, known.kind_of, known.path,
            d.shortened(known.expected), d.shortened(known.actual), wake, step, cause,
            known.upstream or self._hole or self._origins.get(wake, position),
        )  # fmt: skip


def _fails(one: Append, error: Exception) -> RowDifference:
    return RowDifference(0, CHANGED, "cause", error_text(error), f"{len(one.rows)} rows")


def _index_of(one: Append, fact: RecordedEvent) -> int:
    """Which row of its append a fact is; a row that could not be read has none."""
    wanted = (fact.stream, fact.version)
    return next(nth for nth, row in enumerate(one.rows) if row[:2] == wanted)


def _command_of(first: RecordedEvent) -> Stored:
    return first.fact.command if isinstance(first.fact, Receipt) else first.fact


def _wake_of(one: Append, row: Row) -> tuple[str, int]:
    """The wake that a row belongs to, and at which row of its stream."""
    if row.stream.startswith("wake:"):
        return row.stream.partition(":")[2].rpartition("@")[0], row.version
    for fact in one.facts:
        if fact.of_kind == "wake":
            return fact.entity, fact.version
    command = _command_of(one.facts[0]) if one.facts else None
    return str(getattr(command, "run_key", "")), 0


__all__ = ["Append", "Divergence", "ProofOptions", "LogProof"]

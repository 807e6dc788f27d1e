"""Whether a home's two logs are of one past (ADR 0021).

The agent log says up to where it knows the journal, and by which digest. A journal that was
restored alone ends before that, or has other appends there: its numbers would be given twice,
and what comes under them would be news to nobody."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import MsgspecError

from adapters.store.log import Log
from adapters.store.recorder import by_append, numbered
from domain.agent.subscriptions import WATCH
from domain.agent.wake_queue import JournalTaken
from domain.append import envelope
from domain.append.causes import GivenUp, Receipt, ReplicasImported
from domain.append.envelope import Row
from domain.errors import Refused, WakelogError
from domain.journal.commands import ApplyOperation
from domain.log.state import MAIN, RecordedEvent
from domain.log.wire import Stored
from replay import references

LAST_ROWS = 64  # of a log, which are looked at whenever it is opened


_TAKE_JOURNAL = b'"kind":"command.take_journal.1"'  # long ones; the newest is looked at as such
_APPLY_OPERATION = b'"kind":"command.apply_operation.1"'
_INTENTS = frozenset(str(one.__struct_config__.tag) for one in references.INTENTS)


class JournalClaim(NamedTuple):
    """That the agent log knows the journal up to `n`: which replica wrote so, and that append's
    digest, empty where older code wrote it."""

    replica: str
    n: int
    digest: str = ""


class PairingMismatch(NamedTuple):
    """A claim that the journal, which ends at `last`, does not bear out."""

    claim: JournalClaim
    last: int

    @property
    def because(self) -> str:
        n = self.claim.n
        if n > self.last:
            told = f"the journal ends at append {self.last}, and the agent log refers to {n}"
        else:
            told = f"append {n} of the journal is not the one that the agent log refers to"
        return f"{told}: the two files are of different times"

    @property
    def instead(self) -> str:
        return "restore both from one backup, or go on with `wakelog home adopt restored`"

    def refused(self) -> Refused:
        return Refused("other_past", because=self.because, instead=self.instead)


def newest_mismatch(journal: Log, agents: Log) -> PairingMismatch | None:
    """Whether the newest that the agent log knows of the journal is not there.

    It costs the same however long the logs are; older claims are not looked at: `all_mismatches`.
    """
    try:
        with agents.recorder.reading():
            claims = list(_newest_claims(agents))
        with journal.recorder.reading():
            return _first_mismatch(journal, claims)
    except (WakelogError, MsgspecError):  # damage, which is told where it is met
        return None


def all_mismatches(journal: Log, agents: Log) -> tuple[GivenUp, ...]:
    """All that the agent log says of the journal and that is not so; reads both logs whole.

    Of each replica from the last append that is proved to be the same: by its digest, or, where
    older code wrote none, by its number alone."""
    by_replica: defaultdict[str, list[JournalClaim]] = defaultdict(list)
    ranges = given_up(journal)
    for claim in _claims(agents.rows()):
        if not references.is_given_up(ranges, *claim[:2]):
            by_replica[claim.replica].append(claim)
    there = _claimed_digests(journal, [one for claims in by_replica.values() for one in claims])
    ends = ((claims, _journal_end(journal, replica)) for replica, claims in by_replica.items())
    found = (_replica_mismatch(claims, there, last) for claims, last in ends)
    return tuple(one for one in found if one is not None)


def given_up(journal: Log) -> tuple[GivenUp, ...]:
    """What of the agent log is known to be of another past of this journal."""
    left, seen = [journal.replica, journal.tail().replica], {""}
    found: list[RecordedEvent] = []
    while left:  # bounded by the replicas
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        with suppress(WakelogError):  # damage, which is told where it is met
            facts = journal.facts(f"log:{MAIN}@{name}")
            found += facts
            markers = (row.fact for row in facts if isinstance(row.fact, ReplicasImported))
            left += [one.replica for fact in markers for one in fact.replicas]
    return references.given_up(found)


def as_mismatch(found: GivenUp, last: int) -> PairingMismatch:
    """One of `all_mismatches` as it is told; `last`: where the journal ends."""
    return PairingMismatch(JournalClaim(found.replica, found.until), last)


def unrequested_effects(journal: Log, agents: Log) -> int:
    """How many effects on the journal no intent of the agent log asked for; reads both whole.
    What other machines did is asked for in their agent logs."""
    own = f"@{journal.replica}" if journal.is_shared else ""
    asked = {one for row in agents.rows() for one in _intended_operations(row)}
    rows = (row for row in journal.rows() if row.stream.endswith(own))
    return sum(one not in asked for row in rows for one in _applied_operations(row))


def new_unrequested_effects(journal: Log, agents: Log) -> int:
    """The same, where the newest rows of both logs give a reason to count; else 0.

    An agent log that was restored alone has not looked at the effects that it does not know of."""
    try:
        watched = agents.last_fact(_watch_stream(agents.replica))
        taken = watched.fact.last if watched and isinstance(watched.fact, JournalTaken) else 0
        fresh = [row for row in journal.newest(LAST_ROWS) if numbered(row.state).n > taken]
        applied = {one for row in fresh for one in _applied_operations(row)}
        asked = {one for row in agents.newest(LAST_ROWS) for one in _intended_operations(row)}
        return unrequested_effects(journal, agents) if applied - asked else 0
    except (WakelogError, MsgspecError):  # damage, which is told where it is met
        return 0


# ----------------------------------------------------------------------------------------- claims


def _newest_claims(agents: Log) -> Iterator[JournalClaim]:
    """What the watchers took last, and what the newest rows refer to."""
    for replica in sorted({agents.replica, agents.tail().replica} - {""}):
        watched = agents.last_fact(_watch_stream(replica))
        if watched is not None:
            yield from _claims(agents.append_at(watched.n, replica))
    yield from _claims(row for row in agents.newest(LAST_ROWS) if _TAKE_JOURNAL not in row.state)


def _watch_stream(replica: str) -> str:
    return f"{WATCH.name}:{MAIN}@{replica}"


def _claims(rows: Iterable[Row]) -> Iterator[JournalClaim]:
    for row in rows:
        fact = _readable_fact(row)
        if fact is not None and (n := references.journal_position(fact)):
            replica = row.stream.rpartition("@")[2]
            yield JournalClaim(replica, n, references.journal_digest(fact))


def _first_mismatch(journal: Log, claims: Iterable[JournalClaim]) -> PairingMismatch | None:
    """By number and, of each replica's newest one that names it, by digest. What this replica
    itself wrote is never given up: it would go on where it stood."""
    ranges = [one for one in given_up(journal) if one.replica != journal.replica]
    left = [one for one in claims if not references.is_given_up(ranges, one.replica, one.n)]
    left.sort(key=lambda one: one.n)
    newest = {one.replica: one for one in left}  # of a shared one, by each chain
    for one in newest.values() if journal.is_shared else [*newest.values()][-1:]:
        if one.n > (last := _journal_end(journal, one.replica)):
            return PairingMismatch(one, last)
    witnesses = {one.replica: one for one in left if one.digest}
    for one in witnesses.values():
        if journal.digest_at(one.n, one.replica) != one.digest:
            return PairingMismatch(one, _journal_end(journal, one.replica))
    return None


def _journal_end(journal: Log, replica: str) -> int:
    """Where the journal ends, of a shared one the chain of a replica."""
    order = journal.recorder.order()
    rows = order.last(replica) if order else ()
    return numbered(rows[0].state).n if rows else 0 if order else journal.tail().n


def _replica_mismatch(
    claims: list[JournalClaim], there: Mapping[JournalClaim, str], last: int
) -> GivenUp | None:
    """From where on the claims of one replica are of another past."""
    until = max(one.n for one in claims)
    others = [one.n for one in claims if one.digest and there.get(one, one.digest) != one.digest]
    if not others:
        return GivenUp(claims[0].replica, last, until) if until > last else None
    first = min(others)
    same = [one.n for one in claims if one.digest and one.n < first]
    return GivenUp(claims[0].replica, max(same, default=first - 1), until)


def _claimed_digests(journal: Log, claims: Sequence[JournalClaim]) -> dict[JournalClaim, str]:
    """The digests of the appends of the journal that are claimed, where they are there."""
    if journal.is_shared:  # of each replica its own
        found = {one: journal.digest_at(one.n, one.replica) for one in claims}
        return {one: digest for one, digest in found.items() if digest}
    wanted = {one.n for one in claims}
    appends = ((numbered(rows[0].state).n, rows) for rows in by_append(journal.rows()))
    digests = {n: envelope.digest(rows) for n, rows in appends if n in wanted}
    return {one: digests[one.n] for one in claims if one.n in digests}


# ---------------------------------------------------------------------------------------- effects


def _applied_operations(row: Row) -> Iterator[str]:
    """The operation whose receipt a row of the journal is."""
    fact = _readable_fact(row) if _APPLY_OPERATION in row.state else None
    if isinstance(fact, Receipt) and isinstance(fact.command, ApplyOperation):
        yield fact.command.operation


def _intended_operations(row: Row) -> Iterator[str]:
    """The operation that a row of the agent log asks for."""
    fact = _readable_fact(row) if row.topic in _INTENTS else None
    if operation := references.operation_of(fact):
        yield operation


def _readable_fact(row: Row) -> Stored | None:
    """What a row says; None where it cannot be read, which is told where it is met."""
    with suppress(WakelogError):
        return envelope.read(row).data
    return None

"""What a home takes in: appends of others in the order of their chains, each after all it rests on.

A chain is taken as far as it goes; what is left waits, and the next sync tries again."""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from adapters.documents.sync import IgnoredManifest, Waiting, WaitsFor
from adapters.store.log import ERASURE, Log
from adapters.store.log_copy import with_payloads
from adapters.store.reader import writer_of
from adapters.store.recorder import numbered
from adapters.store.remote_appends import RemoteAppend
from adapters.sync.manifest import NO_HEAD, ChainHead, Manifest
from adapters.sync.scan import FolderScan
from adapters.sync.segments import (
    ChainId,
    IncompleteSegment,
    SegmentHeader,
    decode_segment,
    parse_segment_name,
)
from adapters.sync.sync_folder import SyncFolder
from domain.append import envelope
from domain.append.causes import ReplicasImported
from domain.erasure import ErasureList, ErasureMade, Place, places_of, read_list
from domain.errors import Refused, UnknownFact
from domain.journal.task import PERSON
from domain.log.wire import Erased
from domain.replication.merge_rules import author
from replay.references import journal_position

BATCH_ROWS = 20_000  # that are taken in one transaction

RowsTaken = Callable[[int], None]
"""``told(rows)``: so many more rows were taken."""


class OfferedChain:
    """What is offered of one replica's chain behind what the log holds of it."""

    def __init__(
        self, place: ChainId, tip: ChainHead, found: FolderScan, shelf: SyncFolder
    ) -> None:
        self.place, self.tip, self._shelf = place, tip, shelf
        self.blocked: WaitsFor | None = None
        self.scaffold = 0  # of a wake that a newer wakelog made, where that blocks it
        self._files = found.of(place)
        self._told = max([0, *(one.head(*place).n for one in found.haves.values())])
        named = (parse_segment_name(name) for name in found.broken)
        self._broken = [one for one in named if one and one.place == place]
        self._next: list[RemoteAppend] = []  # of one file, the nearest last

    def peek(self) -> RemoteAppend | None:
        """The append after the tip, if it is here and may be taken."""
        if self.blocked:
            return None
        if not self._next:
            self._next = self._opened()
        return self._next[-1] if self._next else None

    def step(self) -> None:
        rows = self._next.pop().rows
        self.tip = ChainHead(numbered(rows[0].state).n, envelope.digest(rows))

    def waits_for(self) -> WaitsFor | None:
        """What it waits for, if more is offered or told of than was taken."""
        if self.blocked == "fork":
            return self.blocked
        n = self.tip.n
        ahead = [one for _, one in self._files if one.last > n]
        if not ahead and self._told <= n and all(one.last <= n for one in self._broken):
            return None
        if self.blocked:
            return self.blocked
        if any(one.is_newer for one in ahead):
            return "newer"
        return "gap" if ahead or not any(one.last > n for one in self._broken) else "cut short"

    def erasures(self) -> Iterator[tuple[ErasureMade, ErasureList]]:
        """Those that are offered, with what they list."""
        for one in self._offered_appends():
            data = {kept.id: kept.data for kept in one.payloads}
            with suppress(UnknownFact):  # which is told of where it would be taken
                facts = [envelope.read(row).data for row in one.rows if row.topic == ERASURE]
                made = (fact for fact in facts if isinstance(fact, ErasureMade))
                yield from [(fact, read_list(data.get(fact.listed))) for fact in made]

    def _offered_appends(self) -> Iterator[RemoteAppend]:
        for name, header in self._files:
            with suppress(IncompleteSegment):
                if not header.is_newer:
                    yield from decode_segment(self._shelf.read(name) or b"", name).appends

    def _opened(self) -> list[RemoteAppend]:
        for name, header in reversed(self._files):
            if header.after <= self.tip.n < header.last and not header.is_newer:
                try:
                    appends = decode_segment(self._shelf.read(name) or b"", name).appends
                except IncompleteSegment:  # it was, a moment ago
                    continue
                return self._behind_tip(header, appends)
        return []

    def _behind_tip(
        self, header: SegmentHeader, appends: tuple[RemoteAppend, ...]
    ) -> list[RemoteAppend]:
        prev = header.prev
        for nth, one in enumerate(appends):
            if numbered(one.rows[0].state).n > self.tip.n:
                if prev != self.tip.digest:
                    self.blocked = "fork"
                    return []
                return [*reversed(_whole(appends, nth))]
            prev = envelope.digest(one.rows)
        return []


def _whole(appends: tuple[RemoteAppend, ...], nth: int) -> list[RemoteAppend]:
    """Those from the nth on, with the texts that they name of those before: a file carries each
    once, and what was known here of them may be dropped (ADR 109)."""
    if not nth:
        return [*appends]
    data = {kept.id: kept.data for one in appends for kept in one.payloads}
    pages = with_payloads(
        lambda ids: [(one, data[one]) for one in ids if one in data],
        [one.rows for one in appends[nth:]],
    )
    return [RemoteAppend(tuple(rows), tuple(payloads)) for rows, payloads in pages]


class OfferedErasures(NamedTuple):
    """Rows that erasures list, here or where they are offered; units that are `held`, as a person
    wrote to them here since, and the rows that are `waiting` with them."""

    listed: set[Place]
    held: set[str]
    waiting: set[Place]


class LogImport:
    """Takes in what is offered of one log. `took`: rows by replica; `known`: replicas that were
    known before; `forked`: those of which two branches are known."""

    def __init__(
        self,
        log: Log,
        shelf: SyncFolder,
        found: FolderScan,
        hold: Collection[str] = (),
        rests_on: "LogImport | None" = None,
        *,
        accepts: bool = False,
    ) -> None:
        """Begin before the first is taken. `hold`: replicas of which nothing more is taken;
        `rests_on`: of the agent log: the journal, which its appends name positions of; `accepts`:
        what others erased is erased here, too, whatever was written to it since. Raises Refused,
        code ``forked_replica``: another wrote under this home's own name."""
        self.log, self._found, self._rests_on, self._accepts = log, found, rests_on, accepts
        self.took: dict[str, int] = {}
        self._heads = {name: ChainHead(one.n, one.digest) for name, one in log.heads().items()}
        self.known = {log.replica, *self._heads}
        forked = self._forked()
        if log.replica in forked:
            raise self._own_fork()
        others = [one for one in found.places(log.name) if one.replica != log.replica]
        tips = {one: self._heads.get(one.replica, NO_HEAD) for one in others}
        self._chains = [OfferedChain(one, tip, found, shelf) for one, tip in tips.items()]
        for chain in self._chains:
            if chain.place.replica in hold:
                chain.blocked = "held"
            elif chain.place.replica in forked:
                chain.blocked = "fork"

    @property
    def forked(self) -> set[str]:
        return {one.place.replica for one in self._chains if one.blocked == "fork"}

    def is_related(self) -> bool:
        """Whether some append is the same on both sides, or one side is empty. What is known here
        may be offered from further on, too: then it waits. Agents belong where the journal does."""
        if self._rests_on is not None:
            return True
        name, found = self.log.name, self._found
        if not self._chains and not found.of(ChainId(name, self.log.replica)):
            return True
        if not self.log.telling_heads():
            return True
        points = [*_told_in_files(name, found), *_told_in_manifests(name, found)]
        if any(self._holds(replica, head) for replica, head in points):
            return True
        known = [one for one in self._chains if one.place.replica in self._heads]
        return any(one.peek() is not None or not one.blocked for one in known)

    def take(self, now: str, told: RowsTaken, *, is_dry: bool = False) -> None:
        """Take in all that can be, in a few transactions."""
        batch, size = list[RemoteAppend](), 0
        for one in self._deliverable():
            batch.append(one)
            size += len(one.rows)
            if size >= BATCH_ROWS:
                self._bring(batch, now, told, is_dry=is_dry)
                batch, size = [], 0
        if batch:
            self._bring(batch, now, told, is_dry=is_dry)

    def reached(self, replica: str) -> int:
        """Up to which append a replica's chain is here, or is about to be taken."""
        return self._heads.get(replica, NO_HEAD).n

    def waiting(self) -> list[Waiting]:
        """What was left, and why."""
        return [
            Waiting(one.place.replica, one.place.log, reason, one.tip.n, one.scaffold or None)
            for one in self._chains
            if (reason := one.waits_for())
        ]

    def doubted(self) -> list[IgnoredManifest]:
        """Manifests that alone tell of another branch of a chain."""
        counted = _told_in_manifests(self.log.name, self._found)
        return [
            IgnoredManifest(writer, "alone", replica, head.n)
            for writer, have in self._found.haves.items()
            for replica, head in _manifest_heads(self.log.name, have)
            if counted[replica, head] == 1
            and replica not in self.forked
            and self._is_of_other_branch(replica, head)
        ]

    def _deliverable(self) -> Iterator[RemoteAppend]:
        moved = True
        while moved:  # bounded by what is offered
            moved = False
            for chain in self._chains:
                while (one := chain.peek()) and self._may_take(chain, one):
                    chain.step()
                    self._heads[chain.place.replica] = chain.tip
                    moved = True
                    yield one

    def _may_take(self, chain: OfferedChain, one: RemoteAppend) -> bool:
        """Whether this version can read it, and all that it knows is here."""
        chain.scaffold = max(map(envelope.newer_scaffold, one.rows))
        rows: list[envelope.Envelope] = []
        with suppress(UnknownFact):
            rows = [envelope.read(row) for row in one.rows]
        if chain.scaffold or not rows:  # what nobody here can prove is not taken either
            chain.blocked = "newer"
            return False
        if self._rests_on is not None:
            named = max(journal_position(row.data) for row in rows)
            if named > self._rests_on.reached(chain.place.replica):
                return False
        if not self._may_erase(chain, one, [row.data for row in rows]):
            return False
        first = rows[0].data
        if not isinstance(first, ReplicasImported):
            return True
        ahead = {one.replica for one in first.replicas if one.n > self.reached(one.replica)}
        if self.log.replica in ahead:
            raise self._own_fork()
        void = self._void_for(chain.place)
        if any(one.n > void.get(one.replica, one.n) for one in first.replicas):
            chain.blocked = "fork"
            return False
        return not ahead

    def _may_erase(self, chain: OfferedChain, one: RemoteAppend, facts: Sequence[object]) -> bool:
        """Whether marks come with what lists them, and nobody wrote here, since, to what is
        erased."""
        place = chain.place.replica, numbered(one.rows[0].state).n
        marks = {(*place, nth) for nth, fact in enumerate(facts) if isinstance(fact, Erased)}
        made = {fact.unit for fact in facts if isinstance(fact, ErasureMade)}
        if not (marks or made):
            return True
        offered = self._offered
        if made & offered.held or not marks.isdisjoint(offered.waiting):
            chain.blocked = "erasure"
        return chain.blocked is None and marks <= offered.listed

    @cached_property
    def _offered(self) -> "OfferedErasures":
        """What is erased here, and what is offered as erased."""
        found = OfferedErasures(set(self.log.erasures().rows), set(), set())
        for made, listed in (one for chain in self._chains for one in chain.erasures()):
            rows = {*places_of(listed)}
            if self._is_held(made, rows):
                found.held.add(made.unit)
                found.waiting.update(rows - found.listed)
            else:
                found.listed.update(rows)
        return found

    def _is_held(self, made: ErasureMade, listed: Container[Place]) -> bool:
        """Whether a person has written rows of what is erased here that its list does not hold; the
        agents' log goes by the journal."""
        if self._rests_on is not None:
            return made.unit in self._rests_on._offered.held
        return not self._accepts and any(
            (row.replica, row.n, row.row) not in listed
            and type(row.fact) is not Erased
            and author(row.fact) == PERSON
            and (not note or getattr(row.fact, "note", "") == note)
            for task, note in made.of_tasks
            for row in self.log.facts(f"task:{task}@{self.log.replica}")
        )

    def _void_for(self, writer: ChainId) -> Mapping[str, int]:
        """Behind which append of whom a writer knows another branch than this log, or may."""
        have = self._found.haves.get(writer.replica)
        heads = dict(_manifest_heads(self.log.name, have)) if have else {}
        lost = {one: 0 for one in self.forked & heads.keys() if not self._holds(one, heads[one])}
        return {**lost, **self._found.astray.get(writer, {})}

    def _bring(
        self, batch: Sequence[RemoteAppend], now: str, told: RowsTaken, *, is_dry: bool
    ) -> None:
        if not is_dry:
            self.log.bring(batch, now)
        for one in batch:
            replica = writer_of(one.rows)
            self.took[replica] = self.took.get(replica, 0) + len(one.rows)
        told(sum(len(one.rows) for one in batch))

    def _forked(self) -> set[str]:
        """Replicas of which the folder and the log hold two branches, as whole files tell, or two
        manifests alike: what one alone tells accuses nobody (ADR 87)."""
        forked, seen = set[str](), dict[tuple[str, int], str]()
        told = _told_in_manifests(self.log.name, self._found)
        alike = [point for point, count in told.items() if count > 1]
        for replica, head in [*_told_in_files(self.log.name, self._found), *alike]:
            is_other = self._is_of_other_branch(replica, head)
            if is_other or seen.setdefault((replica, head.n), head.digest) != head.digest:
                forked.add(replica)
        return forked

    def _is_of_other_branch(self, replica: str, head: ChainHead) -> bool:
        """Whether this log holds something else there; of its own chain also nothing."""
        if head.n > self._heads.get(replica, NO_HEAD).n:
            return replica == self.log.replica
        return not self._holds(replica, head)

    def _holds(self, replica: str, head: ChainHead) -> bool:
        if head == self._heads.get(replica):
            return True
        if self.log.is_shared:
            return self.log.digest_at(head.n, replica) == head.digest
        rows = next(self.log.appends_of(replica, head.n - 1), ())
        return bool(rows) and envelope.digest(rows) == head.digest

    def _own_fork(self) -> Refused:
        because = f"another home wrote under the name of this one, {self.log.replica}"
        instead = "run `wakelog replicas rescue` on the copied or restored one; nothing was changed"
        return Refused("forked_replica", because=because, instead=instead)


def _told_in_files(log: str, found: FolderScan) -> Iterator[tuple[str, ChainHead]]:
    """Places of chains whose digests whole files tell."""
    for one in found.whole.values():
        header = one.header
        if header.log == log:
            yield header.replica, ChainHead(header.last, header.head)
            if header.after:
                yield header.replica, ChainHead(header.after, header.prev)


def _told_in_manifests(log: str, found: FolderScan) -> Counter[tuple[str, ChainHead]]:
    """Places of chains whose digests manifests tell, and how many of them."""
    return Counter(one for have in found.haves.values() for one in _manifest_heads(log, have))


def _manifest_heads(log: str, have: Manifest) -> Iterator[tuple[str, ChainHead]]:
    """What a writer holds of a log, by replica."""
    for name, head in have.heads.items():
        if name.startswith(f"{log}:"):
            yield name.partition(":")[2], head

"""A log: decisions inside the write transaction, one append after another (DESIGN 4)."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from adapters.store.kept_states import KeptStates, StateCache
from adapters.store.reader import LogPosition, LogReader, read_append, tells, writer_of
from adapters.store.recorder import LogRecorder, Tail, tail_of
from adapters.store.remote_appends import RemoteAppend, check_next
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.store.sqlite_files import AGAIN
from adapters.version import package_version
from domain.append import causes, envelope
from domain.append.causes import Cause, Command, Result
from domain.append.envelope import Row
from domain.erasure import KINDS, Erase, ErasureList, ErasureMade, read_list
from domain.errors import Damaged, KeyReused, Refused
from domain.log import canonical
from domain.log.keys import key as key_of
from domain.log.rules import RULES
from domain.log.state import MAIN, LogState, RecordedEvent
from domain.log.wire import SHARED, Erased, Imported, Payload, PayloadId, payload, tag_of
from domain.retention import Retain, What

if TYPE_CHECKING:
    from domain.handlers.execute import Executed

ERASURE = tag_of(ErasureMade("", "", ""))
WHO: ContextVar[str] = ContextVar("who", default="")
"""Whose deeds are appended here and now, see `Receipt`: the page of a database says so."""
LogProgress = Callable[[str, int, int], None]
"""``progress(log, n, of)``: so far has a reader of a log come."""


class Appended(NamedTuple):
    """What an append came to. `rows` is empty where nothing was written; `n` is the append's
    number, or that of the receipt which answered a repeated key, or of the log's last append."""

    result: Result
    rows: tuple[Row, ...]
    n: int


class Erasing(NamedTuple):
    """What is to be erased of a log: the `rows`, as they are `listed` with the payloads that go,
    the `digest` of their marks, the tasks that go `along` with a category, and what the `lines` of
    files called them."""

    rows: tuple[Row, ...]
    listed: ErasureList
    digest: str
    along: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        return not (self.listed.rows or self.listed.payloads)


class Log(LogReader):
    """One of a home's two logs, ``journal`` or ``agent``."""

    def __init__(self, name: str, recorder: LogRecorder, replica: str) -> None:
        super().__init__(name, recorder, replica, StateCache())

    @classmethod
    def open(cls, name: str, path: Path, replica: str) -> "Log":
        """The log in a file, which is made if it is not there."""
        return cls(name, SQLiteLogRecorder(path), replica)

    @classmethod
    def read_only(cls, name: str, path: Path, replica: str) -> "Log":
        """The log in a file that may not be written."""
        return cls(name, SQLiteLogRecorder(path, is_read_only=True), replica)

    @classmethod
    def in_memory(cls, name: str, replica: str = "r1") -> "Log":
        """A log that lives as long as the process."""
        from adapters.store.memory import MemoryLogRecorder

        return cls(name, MemoryLogRecorder(), replica)

    @property
    def has_resumed(self) -> bool:
        """Whether `resume` was called."""
        return isinstance(self._states, KeptStates)

    def resume(self, kept: bytes | None) -> None:
        """Go on from folded states that were kept."""
        let_go = 0
        if kept:
            with self.recorder.reading():
                let_go = self._look().main.let_go
        main = f"log:{MAIN}@{self.replica}", let_go
        self._states = KeptStates(self.recorder.stream, self._count_all, kept, main)

    def _count_all(self, stream: str) -> int:
        if (
            not self._seen.main.replicas
        ):  # a state of a log that is alone ends where its stream does
            return self._states[stream].version
        names = (self.replica, *self._seen.main.replicas)
        begin = stream.rpartition("@")[0]
        return sum(self.recorder.last_version(f"{begin}@{one}") for one in names)

    def states_to_keep(self) -> bytes | None:
        """What `resume` takes, if it has grown."""
        states = self._states
        if not isinstance(states, KeptStates) or not states.long():
            return None
        with self.recorder.reading():  # what others brought or erased meanwhile lets states go
            return states.grown(self._look().main.let_go)

    def append(
        self, cause: Cause, now: str, *, key: str = "", payloads: Sequence[Payload] = ()
    ) -> Appended:
        """Decide and write in one transaction: log order is decision order. `cause`: a command, or
        a reply from outside; `now`: the append's time is never before the log's last; `key`: the
        caller's idempotency key; `payloads`: what the cause names by id, kept only if something is
        written.

        Raises Refused: the rules do not allow the command now, and nothing is written; KeyReused:
        `key` already stands for another command."""
        with self._writing():
            return self._decided(cause, now, key, payloads)

    def adopt(self, now: str, given_up: Sequence[causes.GivenUp] = ()) -> None:
        """Begin to write under a name that is new in the file, and own what others wrote there.
        `given_up`: of a journal: what is said of it elsewhere and is of another past."""
        with self._writing():
            self._in_epoch(now, self._marked(now, self._look(), tuple(given_up)))

    def share(self, now: str) -> None:
        """Let other machines share the log; nothing happens where they do. Raises Refused, code
        ``not_shared``: it is kept where that cannot be."""
        with self._writing():
            seen = self._began(now)
            if not seen.main.is_shared:
                self.recorder.keep_order()
                self._alone(causes.LogShared(), now, seen, prev=seen.tail.digest)

    def bring(self, appends: Sequence[RemoteAppend], now: str) -> int:
        """Take in what other replicas wrote, all or none, and say that it is known from here on;
        how many rows came. Those of each replica come in the order of its chain; what is here is
        passed over. Raises Refused, code ``forked_replica``: one follows none that is here."""
        with self._writing():
            seen = self._began(now)
            if not seen.main.is_shared:
                raise Refused("not_shared", because="this log is not shared", instead="share it")
            known, telling, count = dict(self._last_of_each()), dict[str, int](), 0
            for rows, payloads in appends:
                one = tail_of(rows)
                if self.digest_at(one.n, one.replica) == one.digest:
                    continue
                check_next(rows, one, known.get(one.replica, Tail()), self.replica)
                self.recorder.insert(rows, payloads)
                self._mark_erased(rows)
                known[one.replica] = one
                count += len(rows)
                if tells(rows):
                    telling[one.replica] = one.n
            if telling:
                named = tuple(Imported(*one) for one in sorted(telling.items()))
                self._alone(causes.ReplicasImported(named), now, seen, prev=seen.tail.digest)
            return count

    def erase(self, unit: str, what: str, found: Callable[[], Erasing], now: str) -> Erasing:
        """Mark rows, let texts go, and say so, in one transaction. `found`: asked in it, as nobody
        writes then; what it found is returned."""
        with self._writing():
            erasing = found()
            if erasing.is_nothing:
                return erasing
            self.recorder.erase([*map(envelope.erased, erasing.rows)], erasing.listed.payloads)
            self._states.clear()
            listed = payload(SHARED, canonical.encode(erasing.listed))
            said = Erase(unit, what, listed.id, erasing.digest, erasing.along, erasing.lines)
            self._decided(said, now, "", [listed])
            return erasing

    def retain(
        self, what: What, until: str, found: Callable[[], Sequence[PayloadId]], now: str
    ) -> Sequence[PayloadId]:
        """Let payloads go, and say so, in one transaction. `found`: as in `erase`."""
        with self._writing():
            if gone := found():
                self.recorder.erase((), gone)
                said = Retain(what, until, len(gone), key_of("retained", *gone))
                self._decided(said, now, "", ())
            return gone

    def _mark_erased(self, rows: Sequence[Row]) -> None:
        """Mark what an append of another replica says that it has erased: all of it is here. What
        it may not erase, or not alone, stays, and is told by prove."""
        facts = (envelope.read(row).data for row in rows if row.topic == ERASURE)
        for fact in (one for one in facts if isinstance(one, ErasureMade) and one.what in KINDS):
            listed = read_list(self.payload(fact.listed))
            last = {replica: n for replica, n, _ in sorted(listed.rows)}
            last |= {writer_of(rows): tail_of(rows).n}
            found = [
                (raw, row)
                for replica, n, nths in listed.rows
                for raw, row in self._read_both(n, replica)
                if row.row in nths and fact.takes(row)
            ]
            left = fact.spares((row for _, row in found), partial(self._up_to, last))
            spared = {(one.of_kind, one.entity) for one in left}
            gone = [raw for raw, row in found if (row.of_kind, row.entity) not in spared]
            self.recorder.erase([*map(envelope.erased, gone)], listed.payloads)

    def _read_both(self, n: int, replica: str) -> Iterator[tuple[Row, RecordedEvent]]:
        """The rows of an append as they are stored and as they are read."""
        stored = self.append_at(n, replica)
        return zip(stored, read_append(stored), strict=True)

    def _up_to(self, last: Mapping[str, int], kind: str, entity: str) -> Iterator[RecordedEvent]:
        """The rows of an entity up to an append of each replica."""
        every = (self.facts(f"{kind}:{entity}@{name}") for name in last)
        return (row for rows in every for row in rows if row.n <= last[row.replica])

    def answered(self, key: str, command: Command, said: Sequence[str] = ()) -> Result | None:
        """What `append` would answer a repeat with; None where the key is free, or empty. For
        whoever looks, before it appends, at what may have changed since. Only the fields that the
        caller said need to be right, see `is_repeat`. Raises KeyReused: `key` stands for another
        command."""
        with self.recorder.reading():
            known = self._receipt(key, self._look()) if key else None
        return _repeated(known, command, key, said).result if known else None

    def _decided(self, cause: Cause, now: str, key: str, payloads: Sequence[Payload]) -> Appended:
        seen = self._began(now)
        tail = seen.tail
        if key and (known := self._receipt(key, seen)):
            return _repeated(known, cause, key)
        world = self._world(seen)
        world.bring(payloads)
        composed = _compose(cause, key, max(now, tail.at), tail.digest, world)
        rows = composed.rows
        if not rows:
            return Appended(composed.result, (), tail.n)
        self.recorder.insert(rows, [*payloads, *composed.payloads])
        if tells(rows):
            self._seen = LogPosition(seen.rows + len(rows), tail_of(rows), seen.main)
            self._whole = self._seen.rows
        return Appended(composed.result, rows, tail.n + 1)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        before = self._seen.main
        try:
            with self.recorder.deciding():
                yield
        except BaseException:
            self._seen = LogPosition(main=before)  # some of it may be undone
            raise

    def _began(self, now: str) -> LogPosition:
        """What to append to, after what must come first: a marker of the rows that another
        replica wrote in this file, and the epoch of today's rules."""
        before, seen = self._seen, self._look()
        if seen.rows != before.rows:
            self._check_head(before.tail)
        self._check_last(seen)
        if seen.tail.n and seen.tail.replica != self.replica:
            seen = self._marked(now, seen)
        return self._in_epoch(now, seen)

    def _check_head(self, head: Tail) -> None:
        """Look whether what was seen last is still there: a log only grows. Raises Refused, code
        ``replaced``."""
        rows = self.append_at(head.n, head.replica) if head.n else ()
        if head.n and (not rows or envelope.digest(rows) != head.digest):
            because = f"the {self.name}'s log is another one than it was, by a restore perhaps"
            raise Refused("replaced", because=because, instead=AGAIN)

    def _marked(
        self, now: str, seen: LogPosition, given_up: tuple[causes.GivenUp, ...] = ()
    ) -> LogPosition:
        """Append a marker of the rows that other replicas wrote."""
        last = self._last_of_each()
        own = last.pop(self.replica, Tail())
        brought = tuple(Imported(name, one.n) for name, one in last.items())
        marker = causes.ReplicasImported(brought, given_up)
        if self.recorder.order():  # where several meet, another's clock pushes nobody's
            seen = LogPosition(seen.rows, own, seen.main)
        seen = self._alone(marker, now, seen, prev=own.digest)
        if self.recorder.order() and not seen.main.is_shared:  # it was, under another name
            seen = self._alone(causes.LogShared(), now, seen, prev=seen.tail.digest)
        return seen

    def _in_epoch(self, now: str, seen: LogPosition) -> LogPosition:
        """Append the epoch of today's rules, if it has not begun."""
        epoch = seen.main.rules
        if epoch > RULES:
            because = f"the log is in epoch {epoch}, and this wakelog knows rules {RULES}"
            instead = "use the newer wakelog that wrote it; nothing was changed"
            raise Damaged("newer_rules", because=because, instead=instead)
        if epoch < RULES:
            package, unicode = package_version() or "0", unicodedata.unidata_version
            began = causes.EpochBegan(RULES, package, unicode, seen.tail.digest)
            seen = self._alone(began, now, seen, prev=seen.tail.digest)
        return seen

    def _alone(self, fact: causes.LogFact, now: str, seen: LogPosition, prev: str) -> LogPosition:
        world = self._world(seen)
        if isinstance(fact, causes.ReplicasImported):
            above = [*(one.until for one in fact.given_up), *(one.n for one in fact.replicas)]
            world.n = max(world.n, *(n + 1 for n in above), 0)
        composed = _compose(fact, "", max(now, seen.tail.at), prev, world)
        self.recorder.insert(composed.rows, ())
        return self._look()


def _compose(cause: Cause, key: str, at: str, prev: str, world: LogState) -> "Executed":
    from domain.handlers.execute import execute  # what decides is loaded by who writes

    return execute(cause, key, at, prev, world, WHO.get())


def _repeated(known: RecordedEvent, cause: Cause, key: str, said: Sequence[str] = ()) -> Appended:
    """The stored result, if the cause is the command that the key stands for."""
    receipt = known.fact
    if isinstance(receipt, Erased):
        because = "what this key stands for was erased"
        raise Refused("erased", because=because, instead="use another key")
    if not isinstance(receipt, causes.Receipt):
        because = f"{known.stream} holds no receipt"
        raise Refused("not_a_log", because=because, instead="run `wakelog prove`")
    if not causes.is_repeat(receipt.command, cause, said):
        raise KeyReused(key)
    return Appended(receipt.result, (), known.n)

"""One log of one home in PostgreSQL (ADR 66).

An append takes two round trips: one that begins, takes the home's head and learns where the log
ends; one that writes rows, payloads and head and commits. What is read between them is read under
that lock. The server orders the appends of a home by its head, and of no two homes together."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

from adapters.store.postgres.database import Database, Lost
from adapters.store.postgres.known_rows import KnownRows
from adapters.store.postgres.session import Connection, Session
from adapters.store.postgres.statements import ENTER_ERASER, READ, ROLE, statements_of
from adapters.store.recorder import Onward, Tail, TimedRow, line_pages, numbered, tail_of
from domain.append.envelope import Row
from domain.errors import Refused
from domain.log.wire import Payload, PayloadId

_ANY = 2**62  # above every append
TOGETHER = {"task": ("links",), "agent": ("alert", "memory")}
"""Of an entity the kinds of streams that are read one after another."""
RECEIPT = "receipt:"
"""Of a receipt that nobody has read the key is made of its append: there is none yet, or the server
refuses a second row of its name and version."""
_BEYOND = "\U0010ffff"  # above every replica's name


class PostgresLogRecorder:
    """A `LogRecorder` of one home. Reading takes a connection from the pool for as long as it
    lasts, and none is held between."""

    is_file = False

    def __init__(
        self, database: Database, log: str, home: int, *, is_copying: bool = False
    ) -> None:
        """`is_copying`: it fills a home that nobody else may write yet."""
        self._database, self._home = database, home
        self._sql = statements_of(log)
        self._open: Connection | None = None
        self._reads = 0  # of a short command: nested in one another
        self._count, self._tail = 0, Tail()
        self._rows: list[tuple[Any, ...]] = []  # that wait to be written, and payloads
        self._kept: list[tuple[Any, ...]] = []
        self._log, self._known = log, KnownRows()
        if (opening := database.opening) is not None and opening.home[0] == home:
            self._know([opening.heads[log]])
            self._known.newest = opening.logs[log].newest
            for stream, rows in opening.logs[log].streams.items():
                self._known.put(stream, rows[0].row.version - 1 if rows else 0, rows)
        self._writes_when = ("open", "frozen") if is_copying else ("open",)

    @contextmanager
    def deciding(self) -> Iterator[None]:
        head = self._sql.lock, (self._home,)
        with self._database.begun(self._home, "BEGIN", head) as (connection, (found,)):
            self._open = connection
            try:
                state = self._check_state(self._know(found))
                before = self._tail.n
                yield
                self._commit(connection, before)
            except BaseException:
                self._known.clear()
                self._end(connection, "ROLLBACK")
                raise
            finally:
                self._open = None
                self._rows, self._kept = [], []
        if (session := self._session) is not None:
            session.heads[self._log] = (state, self._count, *self._tail)

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._open is not None:
            yield
        elif (session := self._session) is not None:
            self._look(session)
            self._reads += 1
            try:
                yield
            finally:
                self._reads -= 1
        else:
            head = self._sql.head, (self._home,)
            with self._database.begun(self._home, READ, head) as (connection, (found,)):
                self._know(found)
                self._open = connection
                try:
                    yield
                finally:
                    self._open = None
                    self._end(connection)

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        known = self._known.stream(stream, after, but) if self._is_known else None
        if known is not None:
            return known
        if self._is_known and not after:
            return self._read_together(stream, but)
        rows = _timed(
            self._found(self._sql.stream, self._home, stream, after, self._last, list(but))
        )
        if self._is_known and not but:
            self._known.put(stream, after, rows)
        return rows

    def _read_together(self, stream: str, but: Sequence[str]) -> Sequence[TimedRow]:
        """A stream from its beginning, and those that are asked for next."""
        kind, _, rest = stream.partition(":")
        names = [stream, *(f"{one}:{rest}" for one in TOGETHER.get(kind, ()))]
        found: dict[str, list[TimedRow]] = {one: [] for one in names}
        for row in _timed(self._found(self._sql.together, self._home, names, self._last)):
            found[row.row.stream].append(row)
        for name, rows in found.items():
            self._known.put(name, 0, rows)
        return [one for one in found[stream] if one.row.topic not in but]

    def present(self, streams: Sequence[str]) -> Sequence[str]:
        return [
            name
            for (name,) in self._found(self._sql.present, list(streams), self._home, self._last)
        ]

    def streams_of(self, kind: str) -> Sequence[str]:
        values = self._home, f"{kind}:", f"{kind};", self._last  # ; follows :
        found = self._found(self._sql.streams, *values)
        return [name for (name,) in found]

    def check_standing(self) -> None:
        """Nobody puts another one in its place."""

    def part(self, *, is_other_sure: bool = False) -> bool:  # noqa: ARG002  of files
        """Nor is there anything to part from."""
        return False

    def order(self) -> None:
        """None: rows stand in canonical order."""

    def keep_order(self) -> None:
        because = "a home in PostgreSQL cannot be shared in a folder"
        raise Refused("not_shared", because=because, instead="share one that is in a folder")

    def tail(self) -> Tail:
        self.count()
        return self._tail

    def append_at(self, n: int) -> Sequence[Row]:
        known = self._known.append_at(n) if self._is_known else None
        if known is not None:
            return known
        return [Row(*one) for one in self._found(self._sql.append, self._home, n)]

    def newest(self, count: int) -> Sequence[Row]:
        if self._is_known and len(self._known.newest) >= min(count, self._count):
            return self._known.newest[-count:]
        return [
            Row(*one) for one in self._found(self._sql.newest, self._home, self._last, count)[::-1]
        ]

    def last_version(self, stream: str) -> int:
        known = self._known.last_version(stream) if self._is_known else None
        if known is not None:
            return known
        if self._is_known and self._open is not None and stream.startswith(RECEIPT):
            return 0
        return int(self._found(self._sql.last_version, self._home, stream, self._last)[0][0] or 0)

    def rows(self, after: int) -> Iterator[Row]:
        known = self._known.after(after) if self._is_known else None
        if known is not None:
            yield from known
            return
        place, last = (after, _BEYOND, 0), self._last
        while page := self._found(self._sql.page, self._home, *place, last):  # bounded by the log
            yield from [Row(*one[3:]) for one in page]
            place = page[-1][:3]

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        return line_pages(self.rows(after), size)

    def count(self) -> int:
        if self._open is None and (session := self._session) is not None:
            if not self._reads:
                self._look(session)
        elif self._open is None:
            self._know(self._database.asked(self._home, self._sql.head, (self._home,)))
        return self._count

    def payload(self, payload_id: PayloadId) -> bytes | None:
        if self._is_known and (known := self._known.payload(payload_id)) is not None:
            return known
        found = self._found(self._sql.payload, self._home, payload_id)
        return found[0][0] if found else None

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        return self._found(self._sql.payloads, self._home, list(ids))

    def kept_payloads(self) -> Iterator[tuple[PayloadId, bytes]]:
        place: tuple[int, str] = (0, "")
        while page := self._found(self._sql.kept, self._home, *place):  # bounded by the log
            yield from [(name, data) for _, name, data in page]
            place = page[-1][:2]

    def onward(self) -> Onward:
        last = 0

        def read(wanted: PayloadId) -> Sequence[tuple[PayloadId, bytes]]:
            nonlocal last
            asked = {"home": self._home, "id": wanted, "last": last}
            found = self._asked(self._sql.onward, asked)
            last = max(last, *(n for n, _, _ in found)) if found else last
            return [(name, data) for _, name, data in found]

        return read

    def insert(self, rows: Sequence[Row], payloads: Sequence[Payload]) -> None:
        """Keep what is written with the commit; what is read before it sees it all the same."""
        self._tail = tail_of(rows)
        n, _, _, replica = self._tail
        for name, version, topic, state in rows:
            self._rows.append((n, numbered(state).row, version, replica, name, topic, state))
        self._kept += [(n, one.id, one.data) for one in payloads]
        self._count += len(rows)
        if self._is_brief:
            self._known.grow(rows, self._tail.at, payloads)

    def erase(self, marks: Sequence[Row], payloads: Sequence[PayloadId]) -> None:
        assert self._open is not None, "rows are marked in a transaction"
        columns = [list(column) for column in zip(*marks, strict=True)] or [[]] * len(Row._fields)
        self._known.clear()
        with self._database.told(), self._open.pipeline():
            self._flush(self._open)
            self._open.execute(ENTER_ERASER)
            self._open.execute(self._sql.mark.encode(), (*columns, self._home))
            self._open.execute(self._sql.drop.encode(), (self._home, list(payloads)))
            self._open.execute(ROLE)

    def compact(self, share: float = 0.0) -> None:
        """What is left of rows is the server's: `wakelog database scrub`."""

    def close(self) -> None:
        """Nothing to release: the pool is the process's."""

    def _check_state(self, state: str) -> str:
        """Look whether a home of this state may be written. Raises Refused."""
        if state not in self._writes_when:
            because = f"this home is {state}, and nobody writes in it"
            raise Refused(state, because=because, instead="see `wakelog home list`")
        return state

    @property
    def _last(self) -> int:
        """The last append that is read: nothing holds the log still for a short command."""
        return self._tail.n if self._open is None and self._is_brief else _ANY

    def _look(self, session: Session) -> None:
        """Learn where the log ends from what a short command knows."""
        heads = self._database.heads(session)
        self._know([heads[self._log]] if heads else [])

    @property
    def _session(self) -> Session | None:
        return self._database.session(self._home)

    @property
    def _is_brief(self) -> bool:
        """Whether a short command works here, which keeps what it knows of the log."""
        return self._database.is_command(self._home)

    @property
    def _is_known(self) -> bool:
        """Whether what is known of the log counts: it ends as it did then."""
        if not self._is_brief:
            return False
        if self._open is None:
            self.count()
        return True

    def _know(self, heads: list[Any]) -> str:
        """Where the log ends, from its head; the state of its home."""
        if not heads:
            because, instead = "this home is no more", "see `wakelog home list`"
            raise Refused("unknown_home", because=because, instead=instead)
        state, count, *tail = heads[0]
        if (self._count, self._tail) != (count, tail := Tail(*tail)):
            self._known.clear()
        self._count, self._tail = count, tail
        return str(state)

    def _commit(self, connection: Connection, before: int) -> None:
        """Write what waits and commit, in one round trip."""
        try:
            with connection.pipeline():
                self._flush(connection)
                connection.execute("COMMIT")
        except Lost as error:
            if self._tail.n > before and self._has(self._tail):
                return
            raise self._database.away(error) from None

    def _has(self, written: Tail) -> bool:
        """Whether an append, whose commit nobody answered, is in the log after all: its head is
        taken first, which waits for whatever the old connection still does."""
        head = self._sql.lock, (self._home,)
        with self._database.begun(self._home, "BEGIN", head) as (connection, _):
            self._open = connection
            try:
                return tail_of(self.append_at(written.n)) == written
            finally:
                self._open = None
                self._end(connection)

    def _flush(self, connection: Connection) -> None:
        """Write what waits, however many appends it is, by one statement."""
        if not self._rows:
            return
        rows = [list(column) for column in zip(*self._rows, strict=True)]
        kept = [[one[nth] for one in self._kept] for nth in range(3)]
        head = *self._tail, len(self._rows), self._home
        self._rows, self._kept = [], []
        values = self._home, *rows, self._home, *kept, *head
        connection.execute(self._sql.write.encode(), values)

    def _found(self, sql: str, *values: Any) -> list[Any]:
        return self._asked(sql, values)

    def _asked(self, sql: str, values: Any) -> list[Any]:
        connection = self._open
        if connection is None:
            return self._database.asked(self._home, sql, values)
        with self._database.told():
            self._flush(connection)
            return connection.execute(sql.encode(), values, binary=True).fetchall()

    @staticmethod
    def _end(connection: Connection, how: LiteralString = "COMMIT") -> None:
        """End what has only read by COMMIT: unlike ROLLBACK, it lets prepared statements live."""
        if not connection.closed and not connection.broken:
            connection.execute(how)


def _timed(found: list[Any]) -> list[TimedRow]:
    return [
        TimedRow(Row(name, version, topic, state), at.decode("utf-8", "replace"))
        for name, version, topic, state, at in found
    ]

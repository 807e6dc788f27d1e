"""One log of one home in PostgreSQL (ADR 66).

An append takes two round trips: one that begins, takes the home's head and learns where the log
ends; one that writes rows, payloads and head and commits. What is read between them is read under
that lock. The server orders the appends of a home by its head, and of no two homes together.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adapters.store.postgres.database import Connection, Database, Lost
from adapters.store.postgres.statements import ENTER, ENTER_ERASER, READ, ROLE, statements_of
from adapters.store.recorder import Onward, Tail, TimedRow, line_pages, numbered, tail_of
from domain.append.envelope import Row
from domain.errors import Refused
from domain.log.wire import Payload, PayloadId

_BEYOND = "\U0010ffff"  # above every replica's name


class PostgresLogRecorder:
    """A `LogRecorder` of one home. Reading takes a connection from the pool for as long as it
    lasts, and none is held between."""

    is_file = False

    def __init__(
        self, database: Database, log: str, home: int, *, is_copying: bool = False
    ) -> None:
        """`is_copying`: it fills a home that nobody else may write yet."""
        self._database = database
        self._home = home
        self._sql = statements_of(log)
        self._open: Connection | None = None
        self._count, self._tail = 0, Tail()
        self._rows: list[tuple[Any, ...]] = []  # that wait to be written, and payloads
        self._kept: list[tuple[Any, ...]] = []
        self._writes_when = ("open", "frozen") if is_copying else ("open",)

    @contextmanager
    def deciding(self) -> Iterator[None]:
        with self._database.connection() as connection:
            self._begin(connection, "BEGIN", self._sql.lock)
            before = self._tail.n
            try:
                yield
                self._commit(connection, before)
            except BaseException:
                self._roll_back(connection)
                raise
            finally:
                self._open = None
                self._rows, self._kept = [], []

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._open is not None:
            yield
            return
        with self._database.connection() as connection:
            self._begin(connection, READ, self._sql.head)
            try:
                yield
            finally:
                self._open = None
                self._end(connection)

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        found = self._found(self._sql.stream, self._home, stream, after, list(but))
        return [
            TimedRow(Row(name, version, topic, state), at.decode("utf-8", "replace"))
            for name, version, topic, state, at in found
        ]

    def present(self, streams: Sequence[str]) -> Sequence[str]:
        return [name for (name,) in self._found(self._sql.present, list(streams), self._home)]

    def streams_of(self, kind: str) -> Sequence[str]:
        found = self._found(self._sql.streams, self._home, f"{kind}:", f"{kind};")  # ; follows :
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
        return [Row(*one) for one in self._found(self._sql.append, self._home, n)]

    def newest(self, count: int) -> Sequence[Row]:
        return [Row(*one) for one in self._found(self._sql.newest, self._home, count)[::-1]]

    def last_version(self, stream: str) -> int:
        return int(self._found(self._sql.last_version, self._home, stream)[0][0] or 0)

    def rows(self, after: int) -> Iterator[Row]:
        place: tuple[int, str, int] = (after, _BEYOND, 0)
        while page := self._found(self._sql.page, self._home, *place):  # bounded by the log
            yield from [Row(*one[3:]) for one in page]
            place = page[-1][:3]

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        return line_pages(self.rows(after), size)

    def count(self) -> int:
        if self._open is None:
            self._know(self._database.asked(self._home, self._sql.head, (self._home,)))
        return self._count

    def payload(self, payload_id: PayloadId) -> bytes | None:
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
            place = n, numbered(state).row, version, replica
            self._rows.append((*place, name, topic, state))
        self._kept += [(n, one.id, one.data) for one in payloads]
        self._count += len(rows)

    def erase(self, marks: Sequence[Row], payloads: Sequence[PayloadId]) -> None:
        assert self._open is not None, "rows are marked in a transaction"
        columns = [list(column) for column in zip(*marks, strict=True)] or [[]] * len(Row._fields)
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

    def _begin(self, connection: Connection, begin: str, head: str) -> None:
        """Begin, and learn where the log ends, in one round trip."""
        with self._database.told(), connection.pipeline():
            connection.execute(begin.encode())
            connection.execute(ENTER, (str(self._home),))
            found = connection.execute(head.encode(), (self._home,))
        try:
            state = self._know(found.fetchall())
        except Refused:
            self._end(connection)
            raise
        if head == self._sql.lock and state not in self._writes_when:
            self._end(connection)
            because = f"this home is {state}, and nobody writes in it"
            raise Refused(state, because=because, instead="see `wakelog home list`")
        self._open = connection

    def _know(self, heads: list[Any]) -> str:
        """Where the log ends, from its head; the state of its home."""
        if not heads:
            because, instead = "this home is no more", "see `wakelog home list`"
            raise Refused("unknown_home", because=because, instead=instead)
        state, self._count, *tail = heads[0]
        self._tail = Tail(*tail)
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
        with self._database.connection() as connection:
            self._begin(connection, "BEGIN", self._sql.lock)
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
    def _end(connection: Connection) -> None:
        """End what has only read: unlike ROLLBACK, it lets prepared statements live."""
        if not connection.closed and not connection.broken:
            connection.execute("COMMIT")

    @staticmethod
    def _roll_back(connection: Connection) -> None:
        if not connection.closed and not connection.broken:
            connection.execute("ROLLBACK")

"""The log in a SQLite file: the `eventsourcing` library's tables, near the floor (DESIGN 10).

One autocommit connection of its own, so that reading the tail, deciding and inserting happen in
one `BEGIN IMMEDIATE`. WAL, `synchronous=FULL`. The library is loaded by who makes one."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from adapters.store import sqlite_files
from adapters.store.canonical_index import (
    HAS_INDEX,
    INDEX,
    KEEP,
    KEEP_NEXT,
    LINE,
    MAKE,
    FileCanonicalIndex,
    places_of,
    stored_bytes,
)
from adapters.store.recorder import Onward, Tail, TimedRow, numbered, tail_of
from domain.append.envelope import ERASED, Row
from domain.errors import Damaged, Refused
from domain.log.rules import FORMAT, FORMAT_MAX, SHARED_FORMAT
from domain.log.wire import Payload, PayloadId
from domain.retention import Retained

PAGE_ROWS = 2000
PAGE_PAYLOADS = 64  # that are read at once
AHEAD_MAX_BYTES = 65_536  # of a payload that nobody has asked for yet
NO_ROW = 2**63 - 1
KNOWN = f"{FORMAT} to {FORMAT_MAX}"
INSERT = "INSERT INTO stored_events VALUES (?,?,?,?)"
"""The library's own, which takes as long to load as an append does; a test compares them."""
_MARK = """
UPDATE stored_events SET topic = ?, state = ? WHERE originator_id = ? AND originator_version = ?
"""
_NEWER = {ERASED, str(Retained.__struct_config__.tag)}  # tags of rows that an older format has not
_DROP = "DELETE FROM payloads WHERE id = ?"
_KEEP = "INSERT INTO payloads VALUES (?, ?) ON CONFLICT DO NOTHING"
# An append's rows have consecutive rowids, and `at` is the first key of its first row's state.
_STREAM = """
SELECT one.originator_id, one.originator_version, one.topic, one.state, substr(first.state, 8, 27)
FROM stored_events AS one JOIN stored_events AS first
ON first.rowid = one.rowid - coalesce(json_extract(CAST(one.state AS TEXT), '$.row'), 0)
WHERE one.originator_id = ? AND one.originator_version > ? {but}
ORDER BY one.originator_version
"""
_ALL = _STREAM.format(but="")
_BUT = _STREAM.format(but="AND one.topic NOT IN (SELECT value FROM json_each(?))")
_PRESENT = """
SELECT value FROM json_each(?)
WHERE EXISTS (SELECT 1 FROM stored_events WHERE originator_id = value)
"""
_STREAMS = """
SELECT originator_id FROM stored_events
WHERE originator_id >= ? AND originator_id < ? AND originator_version = 1
"""
_LAST_VERSION = "SELECT max(originator_version) FROM stored_events WHERE originator_id = ?"
_PAGE = """
SELECT rowid, originator_id, originator_version, topic, state
FROM stored_events WHERE rowid >= ? ORDER BY rowid LIMIT ?
"""
# SQLite itself puts the lines together: a page costs Python little more than a row does. It ends
# before an append's first row, which alone begins with `at`.
_LINES = f"""
SELECT max(rowid), CAST(group_concat(line, char(10)) AS BLOB) FROM (
    SELECT rowid, {LINE} AS line
    FROM stored_events WHERE rowid >= ?1 AND rowid < coalesce((
        SELECT rowid FROM stored_events
        WHERE rowid >= ?1 + ?2 AND CAST(substr(state, 1, 7) AS TEXT) = '{{"at":"'
        ORDER BY rowid LIMIT 1), 9223372036854775807)
    ORDER BY rowid)
"""
# The one wanted, and those that were kept right after it where nobody has come so far yet.
_ONWARD = """
WITH wanted(first) AS (SELECT rowid FROM payloads WHERE id = ?1)
SELECT one.rowid, one.id, one.bytes FROM wanted CROSS JOIN payloads AS one
ON one.rowid BETWEEN first AND CASE WHEN first > ?2 THEN first + ?3 - 1 ELSE first END
WHERE one.rowid = first OR length(one.bytes) <= ?4 ORDER BY one.rowid
"""
_STATE = "SELECT state FROM stored_events WHERE rowid = ?"
_KEPT = "SELECT rowid, id, bytes FROM payloads WHERE rowid > ? ORDER BY rowid LIMIT ?"
_PAYLOADS = "SELECT id, bytes FROM payloads WHERE id IN (SELECT value FROM json_each(?))"


class SQLiteLogRecorder:
    """One write transaction around read, decide and insert; payloads in the same file."""

    is_file = True
    _is_read_only = _is_ordered = _is_indexed = False
    _standing: sqlite_files.OpenedFile | None = None

    def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
        """Open a log file, making it if it is not there. `is_read_only`: only read it, where it may
        not be written; it must be there then. Raises Damaged, code ``not_a_log`` or
        ``newer_format``; Refused, code ``read_only``: it cannot be made or written, or not even
        read."""
        sqlite_files.look(path)
        self._path, self._is_read_only = path, is_read_only
        with sqlite_files.told(path):
            self._connection = (
                sqlite_files.read_only(path) if is_read_only else sqlite_files.connected(str(path))
            )
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise
            self._standing = sqlite_files.OpenedFile(path, self._connection, self._state_of)

    def _prepare(self) -> None:
        """Look before anything is written: what is not ours stays as it is, byte for byte."""
        found = sqlite_files.whole(self._connection, self._path)
        tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        ours = "SELECT count(*) FROM sqlite_master WHERE name IN ('stored_events', 'payloads')"
        if (tables or found) and self._connection.execute(ours).fetchone()[0] != 2:
            raise sqlite_files.not_a_log(self._path, "it is another program's database")
        if found > FORMAT_MAX:
            because = f"{self._path} has format {found}, and this wakelog knows {KNOWN}"
            instead = "use the newer wakelog that wrote it; nothing was changed"
            raise Damaged("newer_format", because=because, instead=instead)
        if self._is_read_only and found:
            return
        sqlite_files.write_ahead(self._connection, sqlite_files.LOCK_TIMEOUT_SECONDS)
        self._connection.execute("PRAGMA synchronous=FULL")
        if found < FORMAT:
            self._make_tables()

    def _make_tables(self) -> None:
        from adapters.store.eventsourcing_recorder import LibraryRecorder

        library = LibraryRecorder()
        library.datastore.close()
        with self.deciding():
            for statement in library.create_table_statements:
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version={FORMAT}")

    @contextmanager
    def deciding(self) -> Iterator[None]:
        if self._is_read_only:
            may_write = os.access(self._path, os.W_OK) and os.access(self._path.parent, os.W_OK)
            why = "the disk is full" if may_write else "it may only be read"
            raise sqlite_files.unusable(self._path, why)
        with sqlite_files.told(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self.check_standing()
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._is_indexed = False
                self._roll_back()
                if self._standing is not None and self._standing.is_lost:
                    self.part()
                raise
            self.check_standing()

    def check_standing(self) -> None:
        if self._standing is None:  # it is being made
            return
        try:
            self._standing.check()
        except Refused:
            if not self._connection.in_transaction:
                self.part()
            raise

    def part(self, *, is_other_sure: bool = False) -> bool:
        return self._standing is not None and self._standing.part(is_other_sure=is_other_sure)

    def _state_of(self, rowid: int) -> bytes | None:
        found = self._found(_STATE, rowid)
        return found[0][0] if found else None

    def _roll_back(self) -> None:
        """Undo what is open; a full disk, for example, has undone it already."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._connection.in_transaction:
            yield
            return
        with sqlite_files.told(self._path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._roll_back()

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        tags = (msgspec.json.encode(but).decode(),) if but else ()
        found = self._found(_BUT if but else _ALL, stream, after, *tags)
        return [
            TimedRow(Row(name, version, topic, stored_bytes(state)), _time(at))
            for name, version, topic, state, at in found
        ]

    def present(self, streams: Sequence[str]) -> Sequence[str]:
        found = self._found(_PRESENT, msgspec.json.encode(streams).decode())
        return [name for (name,) in found]

    def streams_of(self, kind: str) -> Sequence[str]:
        return [name for (name,) in self._found(_STREAMS, f"{kind}:", f"{kind};")]  # ; follows :

    def order(self) -> FileCanonicalIndex | None:
        if not self._is_ordered:  # another process may have begun it
            format_of, shared = self._found("PRAGMA user_version")[0][0], SHARED_FORMAT
            is_newer = format_of > shared and bool(self._found(HAS_INDEX))
            self._is_ordered = format_of == shared or is_newer
        return FileCanonicalIndex(self._found) if self._is_ordered else None

    def keep_order(self) -> None:
        places = [*places_of(self.rows(0))]  # before the table is there, which tells where they are
        self._connection.execute(MAKE)
        self._connection.executemany(KEEP, places)
        self._connection.execute(INDEX)
        format_of = max(self._found("PRAGMA user_version")[0][0], SHARED_FORMAT)
        self._connection.execute(f"PRAGMA user_version={format_of}")

    def tail(self) -> Tail:
        try:
            return tail_of(self._last_append())
        except msgspec.MsgspecError as error:
            raise sqlite_files.not_a_log(self._path, f"its last row is none: {error}") from None

    def _last_append(self) -> Sequence[Row]:
        if order := self.order():
            return order.last()
        last = self._last_rowid()
        if not last:
            return ()
        first = last - numbered(self._page(last, 1)[0].state).row
        return self._page(first, last - first + 1)

    def append_at(self, n: int) -> Sequence[Row]:
        rowid = self._first_after(n - 1)
        page = self._page(rowid, 1)
        if not page or (place := numbered(page[0].state)).n != n:
            return ()
        return self._page(rowid, place.rows)

    def newest(self, count: int) -> Sequence[Row]:
        return self._page(self._last_rowid() - count + 1, count)

    def last_version(self, stream: str) -> int:
        return int(self._found(_LAST_VERSION, stream)[0][0] or 0)

    def rows(self, after: int) -> Iterator[Row]:
        if order := self.order():
            yield from order.rows(after)
            return
        rowid = self._first_after(after)
        while page := self._found(_PAGE, rowid, PAGE_ROWS):  # bounded by the file
            yield from _stored(page)
            rowid = page[-1][0] + 1

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        if order := self.order():
            yield from order.lines(after, size)
            return
        first = self._first_after(after)
        while True:  # bounded by the file
            ((last, lines),) = self._found(_LINES, first, size)
            if last is None:
                return
            yield lines
            first = last + 1

    def count(self) -> int:
        return self._last_rowid()

    def _last_rowid(self) -> int:
        return int(self._found("SELECT max(rowid) FROM stored_events")[0][0] or 0)

    def payload(self, payload_id: PayloadId) -> bytes | None:
        found = self._found("SELECT bytes FROM payloads WHERE id = ?", payload_id)
        return stored_bytes(found[0][0]) if found else None

    def kept_payloads(self) -> Iterator[tuple[PayloadId, bytes]]:
        last = 0
        while page := self._found(_KEPT, last, PAGE_PAYLOADS):  # bounded by the file
            yield from ((str(name), stored_bytes(data)) for _, name, data in page)
            last = page[-1][0]

    def onward(self) -> Onward:
        last = 0

        def read(wanted: PayloadId) -> Sequence[tuple[PayloadId, bytes]]:
            nonlocal last
            found = self._found(_ONWARD, wanted, last, PAGE_PAYLOADS, AHEAD_MAX_BYTES)
            last = max(last, found[-1][0]) if found else last
            return [(name, stored_bytes(data)) for _, name, data in found]

        return read

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        found = self._found(_PAYLOADS, msgspec.json.encode(ids).decode())
        return [(name, stored_bytes(data)) for name, data in found]

    def insert(self, rows: Sequence[Row], payloads: Sequence[Payload]) -> None:
        if self.order():
            if not self._is_indexed:  # a file of an earlier wakelog lacks it
                self._connection.execute(INDEX)
                self._is_indexed = True
            last = tail_of(rows)
            self._connection.execute(KEEP_NEXT, (last.n, last.replica, len(rows), last.digest))
        self._connection.executemany(INSERT, rows)
        if any(row.topic in _NEWER for row in rows):  # of a copy, or of another machine
            self._connection.execute(f"PRAGMA user_version={FORMAT_MAX}")
        if payloads:
            self._connection.executemany(_KEEP, [(kept.id, kept.data) for kept in payloads])

    def erase(self, marks: Sequence[Row], payloads: Sequence[PayloadId]) -> None:
        places = [(one.topic, one.state, one.stream, one.version) for one in marks]
        self._connection.executemany(_MARK, places)
        self._connection.executemany(_DROP, [(one,) for one in payloads])
        self._connection.execute(f"PRAGMA user_version={FORMAT_MAX}")

    def compact(self, share: float = 0.0) -> None:
        """Rows keep their rowids: SQLite copies a table that has an index with them, and without
        one they would be counted from 1 on again, as they stand. What pages hold beside their rows,
        from when these were split, goes with the old pages."""
        ((free,),), ((pages,),) = map(self._found, ("PRAGMA freelist_count", "PRAGMA page_count"))
        if free < share * pages:
            return
        with sqlite_files.told(self._path):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.check_standing()

    def close(self) -> None:
        if self._standing is None:
            self._connection.close()
        else:
            self._standing.close()

    def _page(self, rowid: int, limit: int) -> list[Row]:
        return _stored(self._found(_PAGE, rowid, limit))

    def _found(self, sql: str, *values: str | int) -> list[Any]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite_files.TROUBLE as error:
            raise sqlite_files.as_told(self._path, error) from None

    def _first_after(self, n: int) -> int:
        """The first rowid whose append number is above n; `n` grows with the rowid. Looked for
        from the end: most who ask know all but the newest rows."""
        if n <= 0:
            return 1
        low = high = self._last_rowid() + 1
        step = 1
        while low > 1 and self._n_of(low - 1) > n:  # bounded: the steps grow
            high = low - 1
            low, step = max(1, low - step), step * 2
        while low < high:
            middle = (low + high) // 2
            if self._n_of(middle) <= n:
                low = middle + 1
            else:
                high = middle
        return low

    def _n_of(self, rowid: int) -> int:
        """The append number of a row; above all others where there is none."""
        page = self._page(rowid, 1)
        return numbered(page[0].state).n if page else NO_ROW


def _stored(page: Sequence[Any]) -> list[Row]:
    """Rows of a page, which stand behind their rowids."""
    return [Row(name, n, topic, stored_bytes(state)) for _, name, n, topic, state in page]


def _time(at: bytes | str) -> str:
    return stored_bytes(at).decode("utf-8", "replace")

"""Where the appends of a shared log stand in its file: they come in in any order (ADR 70)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from adapters.store.recorder import by_append, tail_of
from domain.append.envelope import Row

PAGE_ROWS = 2000
_BEYOND = "\U0010ffff"  # above every replica's name
MAKE = """
CREATE TABLE appends (n INTEGER NOT NULL, replica TEXT NOT NULL, first INTEGER NOT NULL,
    rows INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (n, replica)) WITHOUT ROWID
"""
HAS_INDEX = "SELECT 1 FROM sqlite_master WHERE name = 'appends'"
# What one replica wrote is found without reading what the others wrote. It holds nothing of its
# own: a file that lacks it is read all the same, more slowly, until it is written to again.
INDEX = "CREATE INDEX IF NOT EXISTS appends_of_each ON appends (replica, n)"
KEEP = "INSERT INTO appends VALUES (?, ?, ?, ?, ?)"
KEEP_NEXT = """
INSERT INTO appends SELECT ?, ?, coalesce(max(rowid), 0) + 1, ?, ? FROM stored_events
"""
# A row as `LogRecorder.lines` has it; SQLite itself puts the lines together.
LINE = """'{"stream":' || json_quote(originator_id) || ',"version":' || originator_version
    || ',"tag":"' || topic || '","state":' || CAST(state AS TEXT) || '}'"""
_NEXT = """
SELECT n, replica, rows FROM appends WHERE (n, replica) > (?, ?) ORDER BY n, replica LIMIT ?
"""
_ROWS = """
SELECT originator_id, originator_version, topic, state FROM appends CROSS JOIN stored_events AS one
ON one.rowid BETWEEN first AND first + rows - 1
WHERE (n, replica) > (?, ?) AND (n, replica) <= (?, ?) ORDER BY n, replica, one.rowid
"""
_AT = _ROWS.replace("> (?, ?)", ">= (?, ?)")
_NEXT_OF = "SELECT n, rows FROM appends WHERE n > ? AND replica = ? ORDER BY n LIMIT ?"
_ROWS_OF = """
SELECT originator_id, originator_version, topic, state FROM appends CROSS JOIN stored_events AS one
ON one.rowid BETWEEN first AND first + rows - 1
WHERE n > ? AND n <= ? AND replica = ? ORDER BY n, one.rowid
"""
_LINES = f"SELECT CAST(group_concat({LINE}, char(10)) AS BLOB) FROM ({_ROWS})"
_LAST = """
SELECT n, replica FROM appends WHERE NOT (?1 AND (
    SELECT originator_id FROM stored_events WHERE stored_events.rowid = first) GLOB 'log:*')
{of} ORDER BY n DESC, replica DESC LIMIT 1
"""
_LAST_OF_ALL = _LAST.format(of="")
_LAST_OF = _LAST.format(of="AND replica = ?2")
# From one name to the next one, past all that each of them wrote.
_WRITERS = """
WITH RECURSIVE writers(name) AS (
    SELECT min(replica) FROM appends
    UNION ALL SELECT (SELECT min(replica) FROM appends WHERE replica > name) FROM writers
    WHERE name IS NOT NULL)
SELECT name FROM writers WHERE name IS NOT NULL
"""
_DIGEST = "SELECT digest FROM appends WHERE n = ? AND replica = ?"


class AppendPlace(NamedTuple):
    """Where an append stands: its rows are neighbours, from `first` on."""

    n: int
    replica: str
    first: int
    rows: int
    digest: str


def place_of(rows: Sequence[Row], first: int) -> AppendPlace:
    """The place of an append whose rows are kept from `first` on."""
    tail = tail_of(rows)
    return AppendPlace(tail.n, tail.replica, first, len(rows), tail.digest)


def places_of(rows: Iterable[Row]) -> Iterator[AppendPlace]:
    """The places of all rows, in the order in which they were kept, from 1 on."""
    first = 1
    for one in by_append(rows):
        yield place_of(one, first)
        first += len(one)


def stored_bytes(stored: bytes | str) -> bytes:
    """What a column holds: bytes, whatever another program may have put there."""
    return stored if type(stored) is bytes else str(stored).encode()


class FileCanonicalIndex:
    """What the table `appends` of a log file tells."""

    def __init__(self, found: Callable[..., list[Any]]) -> None:
        self._found = found

    def rows(self, after: int) -> Iterator[Row]:
        for pages in self._pages(after, PAGE_ROWS):
            yield from self._read(*pages)

    def rows_of(self, replica: str, after: int) -> Iterator[Row]:
        while found := self._found(_NEXT_OF, after, replica, PAGE_ROWS):  # bounded by the file
            last, count = after, 0
            for n, rows in found:
                last, count = n, count + rows
                if count >= PAGE_ROWS:
                    break
            yield from _stored(self._found(_ROWS_OF, after, last, replica))
            after = last

    def lines(self, after: int, size: int) -> Iterator[bytes]:
        for pages in self._pages(after, size):
            yield stored_bytes(self._found(_LINES, *pages)[0][0])

    def last(self, replica: str = "", *, is_telling: bool = False) -> Sequence[Row]:
        named = (_LAST_OF, int(is_telling), replica) if replica else (_LAST_OF_ALL, int(is_telling))
        found = self._found(*named)
        return self.at(*found[0]) if found else ()

    def at(self, n: int, replica: str) -> Sequence[Row]:
        return self._read(n, replica, n, replica, _AT)

    def digest(self, n: int, replica: str) -> str:
        found = self._found(_DIGEST, n, replica)
        return str(found[0][0]) if found else ""

    def writers(self) -> Sequence[str]:
        return [name for (name,) in self._found(_WRITERS)]

    def every(self) -> int:
        return int(self._found("SELECT count(*) FROM stored_events")[0][0])

    def _pages(self, after: int, size: int) -> Iterator[tuple[int, str, int, str]]:
        """From which append on, which is left out, up to which: so many rows or a few more."""
        begin = (after, _BEYOND)
        while found := self._found(_NEXT, *begin, size):  # bounded by the file
            end, count = begin, 0
            for n, replica, rows in found:
                end, count = (n, replica), count + rows
                if count >= size:
                    break
            yield (*begin, *end)
            begin = end

    def _read(self, n: int, after: str, last: int, until: str, sql: str = _ROWS) -> list[Row]:
        return _stored(self._found(sql, n, after, last, until))


def _stored(found: Iterable[Any]) -> list[Row]:
    return [Row(name, version, topic, stored_bytes(state)) for name, version, topic, state in found]

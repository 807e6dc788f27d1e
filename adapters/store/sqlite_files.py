"""Opens a SQLite file of a home, and tells what is wrong with it, by asking SQLite alone.

On POSIX, closing any descriptor of a file drops all locks that the process has on it. So nobody
opens such a file by hand, not to look at its header and not to copy it: another process would
believe that it is alone with the file, and take its ``-wal`` away (ADR 20)."""

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Protocol, TypeVar
from urllib.parse import quote

from domain.append.envelope import row_sha
from domain.errors import Damaged, Refused

LOCK_TIMEOUT_SECONDS = 30
_PAUSE_SECONDS = 0.01
HELD_SECONDS = 3_600
AGAIN = "start again; nothing of what was asked was kept"
_HAS_ROWS = "SELECT 1 FROM sqlite_master WHERE name = 'stored_events'"
_LAST_ROW = "SELECT rowid, state FROM stored_events ORDER BY rowid DESC LIMIT 1"
HEADER_BYTES = 100  # that every SQLite file begins with
_NO_SQLITE = "it is no SQLite file"
# What the disk or its owner forbids; anything else is the file's own fault.
_OUTSIDE = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
TROUBLE = (sqlite3.DatabaseError, OSError)


class OtherFile(sqlite3.DatabaseError):
    """In the place of a file that may be thrown away, or beside it, stands another one."""


def connected(name: str, *, is_uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        name,
        isolation_level=None,
        timeout=LOCK_TIMEOUT_SECONDS,
        check_same_thread=False,
        uri=is_uri,
    )


def prepared(path: Path | None, seconds: float, *statements: str) -> sqlite3.Connection:
    """A file that may be thrown away, or memory, once it took these statements."""
    connection = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=seconds)
    try:
        write_ahead(connection, seconds)
        for statement in statements:
            connection.execute(statement).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def write_ahead(connection: sqlite3.Connection, seconds: float) -> None:
    """Ask for a log written ahead. For this alone SQLite does not wait as for any lock: where two
    processes open a file that is new, one of them is told at once that it is in use."""
    end = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            if _code(error) not in _LOCKED or time.monotonic() >= end:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that only reads, on a medium that may not be written.

    A WAL file beside the log is read along where SQLite can do it. Without one, nothing is left
    to be read along, and the file is taken as it is."""
    uri = f"file:{quote(str(path))}?mode=ro"
    connection = connected(uri, is_uri=True)
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if _has_more(path):
            raise
        return connected(f"{uri}&immutable=1", is_uri=True)
    except sqlite3.DatabaseError:
        pass  # who reads on is told
    return connection


class OpenedFile:
    """Whether a log's file, in WAL mode, is still the one that was opened (ADR 81). It is looked at
    by its name, and asked for by SQLite alone: see above."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, state_of: Callable[[int], bytes | None]
    ) -> None:
        """Right after it was opened, by this connection. `state_of`: the bytes of the log's row of
        a number; None: there is none."""
        self._connection, self._state_of = connection, state_of
        self._path = str(path)
        self._beside = [f"{path}{more}" for more in ("-wal", "-shm")]
        self._file = node(self._path)
        self._files: list[tuple[int, int] | None] = [None, None]  # until they are held
        self._written = self._size = self._rows = 0
        self.is_lost = self._is_sure = self._is_held = False

    def check(self) -> None:
        """Look at it. What stands beside it is noted once it is held, in a transaction: before that
        another process, the last one that has it open, may take it away and make it anew.

        Raises Refused, code ``replaced``: it is another file, or it or its ``-wal`` is gone, or it
        is smaller than it was, or rows that stood in it do not, or others do."""
        if self._files[0] is None and self._connection.in_transaction:
            self._files = [node(one) for one in self._beside]
        try:
            found = os.stat(self._path)  # noqa: PTH116  at each append, so it is to cost little
        except OSError:
            raise self._lost() from None
        is_here = (found.st_dev, found.st_ino) == self._file
        if not is_here or self._files[0] not in (None, node(self._beside[0])):
            raise self._lost()
        is_smaller = found.st_size < self._size  # as one is that was compacted
        if self.is_lost or is_smaller or found.st_mtime_ns != self._written:
            is_other = self._is_other()
            self._is_sure |= is_other is True
            if self.is_lost or is_other or (is_smaller and is_other is None):
                raise self._lost()
            self._written = 0 if is_other is None else found.st_mtime_ns
        self._size = found.st_size

    def _is_other(self) -> bool | None:
        """Whether the file itself, without what stands beside it, is a whole one that holds other
        rows than those of the log, or fewer than before: SQLite moves pages over now and then, and
        takes no row away. None where it is not whole: pages or a copy are just coming in, or the
        disk was full, or a process died at it."""
        uri = f"file:{quote(self._path)}?mode=ro&immutable=1"
        try:
            with closing(connected(uri, is_uri=True)) as alone:
                has_any = alone.execute(_HAS_ROWS).fetchone() is not None
                found = alone.execute(_LAST_ROW).fetchone() if has_any else None
                rows, state = found or (0, None)
                if rows >= self._rows and (not rows or _is_same(self._state_of(rows), state)):
                    self._rows = rows
                    return False
                is_whole = alone.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        except sqlite3.Error:
            return None
        return True if is_whole else None

    def _lost(self) -> Refused:
        self.is_lost = True
        what = "was replaced" if node(self._path) else "is gone"
        because = f"{self._path} {what} while it was open, by a restore perhaps"
        return Refused("replaced", because=because, instead=AGAIN)

    def part(self, *, is_other_sure: bool) -> bool:
        """See to it that nothing of what was there gets into what is there now; whether it is sure
        that another file is there. `is_other_sure`: it is of the home's other log, so that a file
        written anew with the very rows that it held is a copy, too.

        What stood in the ``-wal`` goes where it belongs, if that was moved away; then it is taken
        away: SQLite would read it with any file of that name. The connection to a file that was
        written over is held until the process ends: closed, it would move pages over."""
        self.is_lost = True
        if node(self._path) != self._file:
            self._is_sure = True
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            self._is_sure |= is_other_sure and self._is_same_anew()
            if not self._is_held:
                Thread(target=_hold, args=(self._connection,), daemon=True).start()
            self._is_held = True
            if not self._is_sure:  # a copy that is just coming in, perhaps
                return False
        for path, was in zip(self._beside, self._files, strict=True):
            if was is not None and node(path) == was:
                Path(path).unlink(missing_ok=True)
        return True

    def _is_same_anew(self) -> bool:
        """Whether the file was written with just the rows that it held: pages that SQLite moves
        over bring more."""
        before, written = self._rows, os.stat(self._path).st_mtime_ns  # noqa: PTH116  as above
        is_anew = written != self._written and self._is_other() is False
        return is_anew and self._rows == before

    def close(self) -> None:
        """Close the connection, unless it is held."""
        if not self._is_held:
            self._connection.close()


def _is_same(now: bytes | None, then: bytes | None) -> bool:
    """Whether a row is the one it was, or a mark stands for it by now."""
    if now is None or then is None:
        return False
    return now == then or row_sha(now) == row_sha(then)


def _hold(connection: sqlite3.Connection) -> None:
    """Keep a connection as long as the process lives: of a daemon nothing is closed at its end."""
    while connection is not None:
        time.sleep(HELD_SECONDS)


def node(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  as above
    except OSError:
        return None
    return found.st_dev, found.st_ino


def look(path: Path) -> None:
    """Refuse what cannot be a log, without opening it: closing a file by hand would drop every
    lock that SQLite holds on it in this process, for all its connections (ADR 20)."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise unusable(path, error.strerror or str(error)) from None
    if stat.S_ISDIR(found.st_mode):
        raise unusable(path, os.strerror(errno.EISDIR))
    if not os.access(path, os.R_OK):
        raise unusable(path, os.strerror(errno.EACCES))
    if 0 < found.st_size < HEADER_BYTES:  # SQLite takes a single byte for none
        raise not_a_log(path, _NO_SQLITE)


def whole(connection: sqlite3.Connection, path: Path) -> int:
    """The format that a file names, once it is seen that none of it is gone. Raises Damaged, code
    ``not_a_log``: it is cut short."""
    try:  # for this one, of all that is in the file, SQLite looks at the header alone
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.DatabaseError as error:
        if _code(error) == sqlite3.SQLITE_CORRUPT:  # the header tells of pages that are gone
            raise _cut_short(path, "") from None
        raise
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    expected = pages * connection.execute("PRAGMA page_size").fetchone()[0]
    if path.stat().st_size < expected and not _has_more(path):  # the last page is not whole
        raise _cut_short(path, f" of {expected}")
    return version


def check_alone(path: Path) -> None:
    """Refuse to take a log away from whoever has it open, by asking for what SQLite does for nobody
    but the only one. It is for one that is thrown away: its ``-wal`` is no more then. Raises
    Refused, code ``read_only``: it is in use."""
    if not path.exists():
        return
    with told(path), closing(connected(str(path))) as connection:
        connection.execute("PRAGMA busy_timeout=0")
        try:
            connection.execute("PRAGMA journal_mode=DELETE").fetchone()
        except sqlite3.OperationalError:
            because = f"{path} is in use by another process"
            raise Refused("read_only", because=because, instead="end it, then repeat") from None


def _has_more(path: Path) -> bool:
    """Whether pages may still stand in the file beside it: another process is just moving them
    over, or died at it. Then SQLite knows better."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except OSError:
        return False


def not_a_log(path: Path, why: str) -> Damaged:
    because = f"{path} cannot be read as a log: {why}"
    instead = "restore it from a backup, or choose another home with --home; it was not changed"
    return Damaged("not_a_log", because=because, instead=instead)


def _cut_short(path: Path, of: str) -> Damaged:
    return not_a_log(path, f"it is cut short: {path.stat().st_size}{of} bytes are left")


def unusable(path: Path, why: str) -> Refused:
    instead = "free space or give write permission, then repeat; nothing was lost"
    return Refused("read_only", because=f"{path} cannot be written: {why}", instead=instead)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's errors as one clear line each; not those of another file that was read meanwhile."""
    try:
        yield
    except OtherFile:
        raise
    except TROUBLE as error:
        raise as_told(path, error) from None


def as_told(path: Path, error: sqlite3.DatabaseError | OSError) -> Exception:
    if isinstance(error, OSError):
        if error.errno in (errno.ENOSPC, errno.EROFS, errno.EACCES):
            return unusable(path, error.strerror or str(error))
        return error
    code = _code(error)
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_log(path, _NO_SQLITE)
    if code in _LOCKED:
        because = f"{path} is in use by another process for {LOCK_TIMEOUT_SECONDS} seconds"
        return Refused("read_only", because=because, instead="repeat when it has finished")
    return unusable(path, str(error)) if code in _OUTSIDE else not_a_log(path, str(error))


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


# --------------------------------------------------------- whether one was written, by a cheap look


class ChangeProbe(Protocol):
    """Gives another value once something has changed."""

    def __call__(self) -> object: ...

    def close(self) -> None: ...


class FileProbe:
    """Tells whether a SQLite file was written, by any process: one pragma, no query."""

    def __init__(self, path: Path) -> None:
        name = f"file:{quote(str(path))}?mode=ro"
        self._connection = sqlite3.connect(
            name, uri=True, isolation_level=None, check_same_thread=False
        )

    def __call__(self) -> object:
        try:
            return self._connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.OperationalError:  # it is being moved or locked: look again
            return None

    def close(self) -> None:
        self._connection.close()


# -------------------------------------------------------------------- files that may be thrown away
# SQLite files that may be thrown away at any time, because nothing in them is truth (ADR 20).
#
# Whoever meets one that is broken takes it away, with what stands beside it, and makes it anew. Who
# has it open still sees at its next look that another one stands there, and goes on in that.

T = TypeVar("T")
_OUT_OF_REACH = (*_LOCKED, *(one for one in _OUTSIDE if one != sqlite3.SQLITE_NOMEM))


class SidecarFiles:
    """Whether a file and what SQLite keeps beside it are still those that were opened. Where its
    ``-wal`` or ``-shm`` alone is gone, others read and write past who has the old one."""

    def __init__(self, path: Path | None) -> None:
        """Note what stands there, right after it was opened; None: a file in memory."""
        self._names = [f"{path}{more}" for more in ("", "-wal", "-shm")] if path else []
        self._nodes = [node(name) for name in self._names]

    @property
    def is_same(self) -> bool:
        found = [node(name) for name in self._names]
        pairs = list(zip(self._nodes, found, strict=True))
        self._nodes = [was or now for was, now in pairs]  # SQLite makes some of them late
        return all(was in (None, now) for was, now in pairs)

    def take_away(self) -> None:
        """Take them away, unless another file stands in its place by now. It is done before the
        old one is closed: then SQLite leaves alone what stands beside the new one."""
        if self._names and node(self._names[0]) == self._nodes[0]:
            take_away(Path(self._names[0]))


def take_away(path: Path) -> None:
    """Take a file away with what stands beside it, as far as that may be done."""
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def anew(path: Path, work: Callable[[], T]) -> T:
    """Do a piece of work with a file; where it is broken, once more in a new one."""
    try:
        return work()
    except sqlite3.Error as error:
        if not is_broken(error):
            raise
    take_away(path)
    return work()


def is_broken(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file itself is at fault."""
    return hasattr(error, "sqlite_errorcode") and not is_out_of_reach(error)


def is_out_of_reach(error: Exception) -> bool:
    """Whether SQLite says that its disk, its owner or a lock is at fault: it may be whole."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    is_short = code == sqlite3.SQLITE_IOERR_SHORT_READ  # its -wal is another one
    return code & 0xFF in _OUT_OF_REACH and not is_short

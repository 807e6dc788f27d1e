"""Opens a SQLite file of a home, and tells what is wrong with it, by asking SQLite alone.

On POSIX, closing any descriptor of a file drops all locks that the process has on it. So nobody
opens such a file by hand, not to look at its header and not to copy it: another process would
believe that it is alone with the file, and take its ``-wal`` away (ADR 20).
"""

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from domain.errors import Damaged, Refused

LOCK_TIMEOUT_SECONDS = 30
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
TROUBLE = (sqlite3.DatabaseError, OSError)


def connected(name: str, *, is_uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        name,
        isolation_level=None,
        timeout=LOCK_TIMEOUT_SECONDS,
        check_same_thread=False,
        uri=is_uri,
    )


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that only reads, on a medium that may not be written.

    A WAL file beside the log is read along where SQLite can do it. Without one, nothing is left
    to be read along, and the file is taken as it is.
    """
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
    """The format that a file names, once it is seen that none of it is gone.

    Raises:
        Damaged: Code ``not_a_log``: it is cut short.
    """
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
    """Refuse to take a log away from whoever has it open, by asking for what SQLite does for
    nobody but the only one. It is for one that is thrown away: its ``-wal`` is no more then.

    Raises:
        Refused: Code ``read_only``: it is in use.
    """
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
    return Damaged(
        "not_a_log",
        because=f"{path} cannot be read as a log: {why}",
        instead="restore it from a backup, or choose another home with --home; it was not changed",
    )


def _cut_short(path: Path, of: str) -> Damaged:
    return not_a_log(path, f"it is cut short: {path.stat().st_size}{of} bytes are left")


def unusable(path: Path, why: str) -> Refused:
    return Refused(
        "read_only",
        because=f"{path} cannot be written: {why}",
        instead="free space or give write permission, then repeat; nothing was lost",
    )


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's errors as one clear line each."""
    try:
        yield
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
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        because = f"{path} is in use by another process for {LOCK_TIMEOUT_SECONDS} seconds"
        return Refused("read_only", because=because, instead="repeat when it has finished")
    return unusable(path, str(error)) if code in _OUTSIDE else not_a_log(path, str(error))


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary code of an error."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF

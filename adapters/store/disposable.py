"""SQLite files that may be thrown away at any time, because nothing in them is truth (ADR 20).

Whoever meets one that is broken takes it away, with what stands beside it, and makes it anew. Who
has it open still sees at its next look that another one stands there, and goes on in that.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from adapters.store.opening import node

T = TypeVar("T")
_OUT_OF_REACH = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)


class Beside:
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

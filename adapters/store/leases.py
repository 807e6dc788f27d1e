"""Who works at which agent: it says when to try, and may be thrown away at any time (DESIGN 4).

A lease says only when to try: two processes that work at one wake all the same are told apart by
the attempts in the log. A lease holds until it expires or its process is gone; a heartbeat
renews it. At most so many leases are held at once, over all processes of a home. Where the file
was deleted, or broken and made anew, who lives says at the next heartbeat again what it holds; who
does not is gone."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from adapters.store.sqlite_files import SidecarFiles, anew, is_broken, prepared
from domain.errors import Refused
from domain.log.timestamps import later

LEASE_SECONDS = 30
BEATS_A_LEASE = 4
KEPT_SECONDS = 7 * 86_400  # how long a runtime that is gone is still listed
LOCK_TIMEOUT_SECONDS = 10
MAY_GO = "free space or give write permission; the file may also be deleted"
_PREPARE = (
    "PRAGMA synchronous=OFF",  # after a loss of power nobody holds a lease
    """
    CREATE TABLE IF NOT EXISTS runtimes (
        owner TEXT PRIMARY KEY, pid INTEGER, place TEXT, since TEXT, beat TEXT, expires TEXT
    ) WITHOUT ROWID""",
    """
    CREATE TABLE IF NOT EXISTS leases (
        agent TEXT PRIMARY KEY, run_key TEXT, owner TEXT, pid INTEGER, place TEXT,
        since TEXT, expires TEXT
    ) WITHOUT ROWID""",
)
_JOIN = "INSERT OR REPLACE INTO runtimes VALUES (?, ?, ?, ?, ?, ?)"
_LEASE = "INSERT OR IGNORE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?)"  # not where another took it

R = TypeVar("R")
LeaseState = Literal["none", "held", "lapsed"]


class Runtime(NamedTuple):
    """A process that works for a home; `is_alive`: as far as can be told."""

    owner: str
    pid: int
    place: str
    since: str
    beat: str
    is_alive: bool


class Lease(NamedTuple):
    """An agent that a process works for."""

    agent: str
    run_key: str
    owner: str
    pid: int
    since: str
    is_alive: bool


class Leases(Protocol):
    """The leases of a home, as one process takes and gives them. `seconds`: how long one holds
    without a heartbeat. `since`: when it was joined, or what is known began anew; empty before. All
    may raise Refused, code ``read_only``."""

    seconds: int
    pid: int
    since: str

    def join(self, now: str) -> None:
        """Say that this process works for the home; forget those that are long gone."""

    def beat(self, now: str) -> None:
        """Renew all that this process holds."""

    def leave(self, *, is_in_doubt: bool = False) -> None:
        """Say that this process is done; what it leaves in doubt may be taken over at once."""

    def runtimes(self, now: str) -> list[Runtime]:
        """All that are known, the oldest first."""

    def take(self, agent: str, run_key: str, now: str, limit: int) -> bool:
        """Take an agent's lease, unless it is held or as many as `limit` are; a lapsed one is taken
        over, whatever wake it was for."""

    def give_back(self, agent: str) -> None:
        """End a lease of this process."""

    def all(self, now: str) -> list[Lease]:
        """All leases, the oldest first."""

    def state(self, agent: str, run_key: str, now: str) -> LeaseState:
        """Whether an agent is worked for, as far as can be told here. A lease that lapsed says
        something of its own wake only."""

    def close(self) -> None: ...


class SqliteLeases:
    """The leases of a folder, in a file of it; or in memory."""

    def __init__(self, path: Path | None, *, seconds: int = LEASE_SECONDS) -> None:
        """Open ``runtime.db``, which is made if it is not there, and anew if it is none; None keeps
        it in memory, for one process alone. `seconds`: how long a lease holds without a heartbeat.
        Raises Refused, code ``read_only``."""
        self.seconds = seconds
        self.pid = os.getpid()
        self.place = place()
        self.owner = drawn_owner()
        self.since = ""  # when it was joined, or the file was made anew under it
        self._path = path
        self._joined: tuple[Any, ...] = ()
        self._held: dict[str, tuple[Any, ...]] = {}
        self._connection = _open(path)
        self._beside = SidecarFiles(path)

    # --------------------------------------------------------------------------------- a runtime

    def join(self, now: str) -> None:
        self._joined = (self.owner, self.pid, self.place, now, now, self._until(now))
        self._guarded(now, lambda: self._join(now))
        self.since = now

    def _join(self, now: str) -> None:
        with self._writing():
            gone = later(now, seconds=-KEPT_SECONDS)
            self._connection.execute("DELETE FROM runtimes WHERE beat < ?", (gone,))
            self._connection.execute(_JOIN, self._joined)

    def beat(self, now: str) -> None:
        self._guarded(now, lambda: self._beat(now))

    def _beat(self, now: str) -> None:
        if not self._beside.is_same:
            self._say_again(now)
        until, renew = self._until(now), "UPDATE leases SET expires = ? WHERE owner = ?"
        beat = "UPDATE runtimes SET beat = ?, expires = ? WHERE owner = ?"
        with self._writing():
            self._connection.execute(beat, (now, until, self.owner))
            self._connection.execute(renew, (until, self.owner))

    def _guarded(self, now: str, work: Callable[[], R]) -> R:
        """Do a piece of work; where the file is broken, once more in a new one."""
        with _told(self._path):
            try:
                return work()
            except sqlite3.Error as error:
                if self._path is None or not is_broken(error):
                    raise
            self._say_again(now)
            return work()

    def _say_again(self, now: str) -> None:
        """The file was deleted, is another one or is broken: go on in a new one, or in the one that
        stands there now."""
        self._beside.take_away()
        self._connection.close()
        self._connection, self._beside = _open(self._path), SidecarFiles(self._path)
        with self._writing():
            if self._joined:
                self._connection.execute(_JOIN, self._joined)
            self._connection.executemany(_LEASE, self._held.values())
        self.since = now

    def leave(self, *, is_in_doubt: bool = False) -> None:
        with self._dropping():
            self._connection.execute("DELETE FROM runtimes WHERE owner = ?", (self.owner,))
            sql = "UPDATE leases SET expires = ''" if is_in_doubt else "DELETE FROM leases"
            self._connection.execute(f"{sql} WHERE owner = ?", (self.owner,))

    def runtimes(self, now: str) -> list[Runtime]:
        sql = "SELECT owner, pid, place, since, beat, expires FROM runtimes ORDER BY since, owner"
        found = self._guarded(now, lambda: self._connection.execute(sql).fetchall())
        return [
            Runtime(owner, pid, place, since, beat, self._lives(pid, place, expires, now))
            for owner, pid, place, since, beat, expires in found
        ]

    # ---------------------------------------------------------------------------------- a lease

    def take(self, agent: str, run_key: str, now: str, limit: int) -> bool:
        return self._guarded(now, lambda: self._take(agent, run_key, now, limit))

    def _take(self, agent: str, run_key: str, now: str, limit: int) -> bool:
        row = (agent, run_key, self.owner, self.pid, self.place, now, self._until(now))
        with self._writing():
            held = [one for one in self._all(now) if one.is_alive]
            if len(held) >= limit or any(one.agent == agent for one in held):
                return False
            self._connection.execute("DELETE FROM leases WHERE agent = ?", (agent,))
            self._connection.execute(_LEASE, row)
        self._held[agent] = row
        return True

    def give_back(self, agent: str) -> None:
        self._held.pop(agent, None)
        sql = "DELETE FROM leases WHERE agent = ? AND owner = ?"
        with self._dropping():
            self._connection.execute(sql, (agent, self.owner))

    def all(self, now: str) -> list[Lease]:
        return self._guarded(now, lambda: self._all(now))

    def state(self, agent: str, run_key: str, now: str) -> LeaseState:
        found = [one for one in self.all(now) if one.agent == agent]
        if found and found[0].is_alive:
            return "held"
        return "lapsed" if found and found[0].run_key == run_key else "none"

    def close(self) -> None:
        self._connection.close()

    def _all(self, now: str) -> list[Lease]:
        sql = "SELECT agent, run_key, owner, pid, since, place, expires FROM leases"
        found = self._connection.execute(f"{sql} ORDER BY since, agent")
        return [
            Lease(agent, run_key, owner, pid, since, self._lives(pid, place, expires, now))
            for agent, run_key, owner, pid, since, place, expires in found
        ]

    def _lives(self, pid: int, place: str, expires: str, now: str) -> bool:
        return expires > now and not gone(pid, place, self.pid, self.place)

    def _until(self, now: str) -> str:
        return later(now, seconds=self.seconds)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _dropping(self) -> Iterator[None]:
        """A transaction that takes something back: in a broken file, nobody finds it anyway."""
        with _told(self._path):
            try:
                with self._writing():
                    yield
            except sqlite3.Error as error:
                if not is_broken(error):
                    raise


def drawn_owner() -> str:
    """A name for a process that holds leases; no other has it."""
    return f"{os.getpid()}-{secrets.token_hex(4)}"


def _open(path: Path | None) -> sqlite3.Connection:
    work = partial(prepared, path, LOCK_TIMEOUT_SECONDS, *_PREPARE)
    with _told(path):
        return work() if path is None else anew(path, work)


@contextmanager
def _told(path: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        because = f"{path} cannot be written: {error}"
        raise Refused("read_only", because=because, instead=MAY_GO) from None


def place() -> str:
    """Where process ids mean something: a machine, and on it a namespace since the last start."""
    import socket  # which takes long to load, and only who holds a lease needs it

    found = [socket.gethostname()]
    with suppress(OSError):
        found.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        found.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(found)


def gone(pid: int, there: str, own_pid: int, own_place: str) -> bool:
    """Whether a process is known to be no more: one of this place that is not running."""
    return there == own_place and pid != own_pid and not is_running(pid)


def is_running(pid: int) -> bool:
    """Whether a process of this place is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another person's
        return True
    return True

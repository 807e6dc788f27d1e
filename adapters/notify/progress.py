"""Up to where each receiver of notices was told, in `runtime.db` (ADR 44).

A row is there once a person has allowed the receiver on this machine, and goes with the file: then
nobody is told of anything before it is allowed again, from that moment on.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from os import getpid
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.store.leases import LOCK_TIMEOUT_SECONDS, is_running, place
from domain.errors import Refused
from domain.timestamps import later

CLAIM_SECONDS = 60  # more than all tries of one delivery take
_SCHEMA = "CREATE TABLE IF NOT EXISTS notify (name TEXT PRIMARY KEY, state BLOB) WITHOUT ROWID"


class Progress(Struct, frozen=True, omit_defaults=True):
    """Where a receiver stands. `allowed`: what was allowed, see `channels.identity`; `n`, `digest`:
    the append of the agent log that was told last; `until`: where the delivery under way ends,
    under its `id`; `pid`, `place`, `expires`: who is at it."""

    allowed: str
    n: int
    digest: str
    until: int = 0
    until_digest: str = ""
    id: str = ""
    pid: int = 0
    place: str = ""
    expires: str = ""
    delivered_at: str = ""
    delivered_id: str = ""
    failed_at: str = ""
    failure: str = ""

    def is_claimed(self, now: str) -> bool:
        """Whether another process that lives is delivering."""
        if not self.pid or self.expires <= now:
            return False
        return self.place != place() or (self.pid != getpid() and is_running(self.pid))


class ProgressFile:
    """The rows of all receivers; each use opens the file anew, so it may be deleted at any time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, name: str) -> Progress | None:
        """How far a receiver was told; None where it was never allowed here."""
        if not self._path.exists():
            return None
        with self._open(is_writing=False) as connection:
            return _read(connection, name)

    def allowed(self, name: str, identity: str) -> Progress | None:
        """How far a receiver was told that is allowed as it is now; else None."""
        known = self.load(name)
        return known if known is not None and known.allowed == identity else None

    def save(self, name: str, progress: Progress) -> None:
        """Begin anew, as a receiver is allowed, or the log is another one."""
        with self._open() as connection:
            _write(connection, name, progress)

    def forget(self, name: str) -> bool:
        """Take back that a receiver is allowed; whether it was."""
        if not self._path.exists():
            return False
        with self._open() as connection:
            return connection.execute("DELETE FROM notify WHERE name = ?", (name,)).rowcount > 0

    def move(self, name: str, seen: Progress, n: int, digest: str) -> None:
        """Nothing up to append n is to be told; not where another process has gone on."""
        with self._open() as connection:
            if _read(connection, name) == seen:
                _write(connection, name, replace(seen, n=n, digest=digest))

    def claim(self, name: str, seen: Progress, wanted: Progress, now: str) -> Progress | None:
        """Take what comes next for delivery; None where another process was faster.

        A delivery that was begun and never ended, as its process is gone, is begun again: the same
        appends, under the same id.
        """
        with self._open() as connection:
            known = _read(connection, name)
            if known is None or known != seen or known.is_claimed(now):
                return None
            span = known if known.until else wanted
            made = replace(
                span, pid=getpid(), place=place(), expires=later(now, seconds=CLAIM_SECONDS)
            )
            _write(connection, name, made)
            return made

    def delivered(self, name: str, claimed: Progress, now: str) -> None:
        """The receiver answered, or nothing of it waited any more (`now` is empty)."""
        done = replace(
            _freed(claimed), n=claimed.until, digest=claimed.until_digest, until=0, id=""
        )
        done = replace(done, until_digest="", failed_at="", failure="")
        if now:
            done = replace(done, delivered_at=now, delivered_id=claimed.id)
        self._end(name, claimed, done)

    def failed(self, name: str, claimed: Progress, now: str, failure: str) -> None:
        """No try was answered; it is kept, for the next round."""
        self._end(name, claimed, replace(_freed(claimed), failed_at=now, failure=failure))

    def _end(self, name: str, claimed: Progress, done: Progress) -> None:
        with self._open() as connection:
            if _read(connection, name) == claimed:  # not withdrawn, nor taken over, meanwhile
                _write(connection, name, done)

    @contextmanager
    def _open(self, *, is_writing: bool = True) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connected()) as connection:
                if is_writing:
                    connection.execute("BEGIN IMMEDIATE")
                yield connection
                if is_writing:
                    connection.execute("COMMIT")
        except (sqlite3.Error, msgspec.DecodeError) as error:
            raise Refused(
                "read_only",
                because=f"{self._path} cannot be used: {error}",
                instead="free space or give write permission; the file may also be deleted",
            ) from None

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=LOCK_TIMEOUT_SECONDS)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection


def _freed(claimed: Progress) -> Progress:
    return replace(claimed, pid=0, place="", expires="")


def _read(connection: sqlite3.Connection, name: str) -> Progress | None:
    found = connection.execute("SELECT state FROM notify WHERE name = ?", (name,)).fetchone()
    return msgspec.json.decode(found[0], type=Progress) if found else None


def _write(connection: sqlite3.Connection, name: str, progress: Progress) -> None:
    state = msgspec.json.encode(progress)
    connection.execute("INSERT OR REPLACE INTO notify VALUES (?, ?)", (name, state))

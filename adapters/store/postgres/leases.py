"""Who works at which agent of a home in PostgreSQL, over all machines (ADR 68).

As in a folder, a lease says only when to try. It lapses by the server's clock; a process of this
place that is gone is known at once.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Semaphore
from typing import Any

from adapters.store.leases import (
    KEPT_SECONDS,
    LEASE_SECONDS,
    Lease,
    LeaseState,
    Runtime,
    drawn_owner,
    gone,
    place,
)
from adapters.store.postgres.database import Connection, Database
from adapters.store.postgres.schema import ALL
from adapters.store.postgres.statements import ENTER

_UNTIL = "clock_timestamp() + %s * interval '1 second'"
# nobody works for a home that was deleted
_JOIN = f"""
INSERT INTO runtime.runtimes
SELECT %s, %s, %s, %s, %s, %s, %s, {_UNTIL}
WHERE %s = {ALL} OR EXISTS (SELECT FROM wakelog.homes WHERE home = %s)
ON CONFLICT (home, owner) DO UPDATE SET beat = excluded.beat, lease_until = excluded.lease_until"""
_FORGET = f"""
DELETE FROM runtime.runtimes
WHERE home = %s AND lease_until < clock_timestamp() - interval '{KEPT_SECONDS} seconds'"""
_RENEW = f"UPDATE runtime.leases SET lease_until = {_UNTIL} WHERE home = %s AND owner = %s"
_TAKE = f"""
INSERT INTO runtime.leases VALUES (%s, %s, %s, %s, %s, %s, %s, {_UNTIL})
ON CONFLICT (home, agent) DO UPDATE SET run_key = excluded.run_key, owner = excluded.owner,
    pid = excluded.pid, place = excluded.place, since = excluded.since,
    lease_until = excluded.lease_until"""
_ALL = """
SELECT agent, run_key, owner, pid, since, place, lease_until > clock_timestamp()
FROM runtime.leases WHERE home = %s ORDER BY since, agent"""
_RUNTIMES = f"""
SELECT owner, pid, place, since, beat, lease_until > clock_timestamp()
FROM runtime.runtimes AS one WHERE home = %s OR %s AND home = {ALL}
    AND lease_until > clock_timestamp() AND NOT EXISTS (
        SELECT FROM runtime.runtimes AS own WHERE own.home = %s AND own.owner = one.owner)
ORDER BY since, owner"""


class HomeLeases:
    """The `Leases` of one home of a database.

    Who was given the home by the queue (`is_tending`) knows that nobody else tends it: a wake that
    runs there, and for which nobody has a lease, has lost its process.
    """

    def __init__(
        self,
        database: Database,
        home: int,
        *,
        seconds: int = LEASE_SECONDS,
        owner: str = "",
        slots: Semaphore | None = None,
        is_tending: bool = False,
        is_looking: bool = False,
    ) -> None:
        """Args:
        database: Where.
        home: Its number.
        seconds: How long a lease holds without a heartbeat.
        owner: The process; else a name is drawn.
        slots: As many wakes run at once in this process, over all homes; None: without a bound.
        is_tending: It holds the home itself.
        is_looking: Workers that could tend the home are told, too: it may be asleep.
        """
        self.seconds = seconds
        self.pid = os.getpid()
        self.place = place()
        self.owner = owner or drawn_owner()
        self.since = ""
        self._database = database
        self._home = home
        self._slots = slots
        self._is_tending = is_tending
        self._is_looking = is_looking
        self._held: dict[str, tuple[str, str]] = {}  # agent: run key and since when

    def join(self, now: str) -> None:
        with self._line() as connection:
            connection.execute(_FORGET.encode(), (self._home,))
            self._join(connection, now)
        self.since = now

    def beat(self, now: str) -> None:
        """Renew all that this process holds, and say again what is not known any more."""
        with self._line() as connection:
            if self.since:
                self._join(connection, now)
            values = self.seconds, self._home, self.owner
            renewed = connection.execute(_RENEW.encode(), values).rowcount
            if renewed < len(self._held):
                self._say_again(connection)

    def leave(self, *, is_in_doubt: bool = False) -> None:
        mine = self._home, self.owner
        where = "WHERE home = %s AND owner = %s"
        left = "UPDATE runtime.leases SET lease_until = '-infinity'"
        sql = left if is_in_doubt else "DELETE FROM runtime.leases"
        with self._line() as connection:
            connection.execute(f"DELETE FROM runtime.runtimes {where}".encode(), mine)
            connection.execute(f"{sql} {where}".encode(), mine)

    def runtimes(self, now: str) -> list[Runtime]:  # noqa: ARG002  the server's time counts
        return [
            Runtime(owner, pid, place, since, beat, self._lives(pid, place, holds=holds))
            for owner, pid, place, since, beat, holds in self._rows()
        ]

    def take(self, agent: str, run_key: str, now: str, limit: int) -> bool:
        if self._slots is not None and not self._slots.acquire(blocking=False):
            return False
        is_taken = False
        try:
            is_taken = self._take(agent, run_key, now, limit)
        finally:
            if not is_taken:
                self._free()
        return is_taken

    def give_back(self, agent: str) -> None:
        if self._held.pop(agent, None) is not None:
            self._free()
        sql = "DELETE FROM runtime.leases WHERE home = %s AND agent = %s AND owner = %s"
        with self._line() as connection:
            connection.execute(sql, (self._home, agent, self.owner))

    def all(self, now: str) -> list[Lease]:  # noqa: ARG002  the server's time counts
        with self._line() as connection:
            return self._all(connection)

    def state(self, agent: str, run_key: str, now: str) -> LeaseState:
        found = next((one for one in self.all(now) if one.agent == agent), None)
        if found is not None and found.is_alive:
            return "held"
        is_lapsed = self._is_tending or (found is not None and found.run_key == run_key)
        return "lapsed" if is_lapsed else "none"

    def close(self) -> None:
        """Free what this process had of its slots; what it holds lapses by itself."""
        while self._held:  # bounded by what it held
            self._held.popitem()
            self._free()

    def _take(self, agent: str, run_key: str, now: str, limit: int) -> bool:
        with self._locked() as connection:
            held = [one for one in self._all(connection) if one.is_alive]
            if len(held) >= limit or any(one.agent == agent for one in held):
                return False
            row = self._home, agent, run_key, self.owner, self.pid, self.place, now, self.seconds
            connection.execute(_TAKE.encode(), row)
        self._held[agent] = run_key, now
        return True

    @contextmanager
    def _line(self) -> Iterator[Connection]:
        """A transaction that sees the home's rows alone; a worker's own rows are of no home."""
        with self._database.connection() as connection, connection.transaction():
            if self._home != ALL:
                connection.execute(ENTER, (str(self._home),))
            yield connection

    @contextmanager
    def _locked(self) -> Iterator[Connection]:
        """One at a time counts the leases of a home."""
        lock = "SELECT pg_advisory_xact_lock(hashtext('wakelog leases'), %s)"
        with self._line() as connection:
            connection.execute(lock, (self._home,))
            yield connection

    def _say_again(self, connection: Connection) -> None:
        known = {one.agent for one in self._all(connection)}
        for agent, (run_key, since) in self._held.items():
            if agent not in known:  # where another took it, it is theirs
                row = self._home, agent, run_key, self.owner, self.pid, self.place
                connection.execute(_TAKE.encode(), (*row, since, self.seconds))

    def _join(self, connection: Connection, now: str) -> None:
        since = self.since or now
        row = self._home, self.owner, self.pid, self.place, since, now, self._is_tending
        connection.execute(_JOIN.encode(), (*row, self.seconds, self._home, self._home))

    def _free(self) -> None:
        if self._slots is not None:
            self._slots.release()

    def _all(self, connection: Connection) -> list[Lease]:
        return [
            Lease(agent, run_key, owner, pid, since, self._lives(pid, place, holds=holds))
            for agent, run_key, owner, pid, since, place, holds in connection.execute(
                _ALL.encode(), (self._home,)
            ).fetchall()
        ]

    def _lives(self, pid: int, place: str, *, holds: bool) -> bool:
        return holds and not gone(pid, place, self.pid, self.place)

    def _rows(self) -> list[Any]:
        values = self._home, self._is_looking, self._home
        with self._line() as connection:
            return connection.execute(_RUNTIMES.encode(), values).fetchall()

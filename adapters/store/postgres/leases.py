"""Who works at which agent of a home in PostgreSQL, over all machines (ADR 68).

As in a folder, a lease says only when to try. It lapses by the server's clock; a process of this
place that is gone is known at once."""

import os
from threading import Semaphore
from typing import Any

import psycopg

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
from adapters.store.postgres.database import Database
from adapters.store.postgres.schema import ALL

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
_VALUES = f"%s, %s, %s, %s, %s, %s, %s, {_UNTIL}"
_PUT = """
ON CONFLICT (home, agent) DO UPDATE SET run_key = excluded.run_key, owner = excluded.owner,
    pid = excluded.pid, place = excluded.place, since = excluded.since,
    lease_until = excluded.lease_until"""
_TAKE = f"INSERT INTO runtime.leases VALUES ({_VALUES}) {_PUT}"
# where no lease of a process that is gone is in the way: that only who lives beside it can tell
_HOLDS = "FROM runtime.leases WHERE home = %s AND lease_until > clock_timestamp()"
_TAKE_FREE = f"""
INSERT INTO runtime.leases SELECT {_VALUES}
WHERE (SELECT count(*) {_HOLDS}) < %s AND NOT EXISTS (SELECT {_HOLDS} AND agent = %s) {_PUT}"""
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
    runs there, and for which nobody has a lease, has lost its process."""

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
        """`home`: its number; `seconds`: how long a lease holds without a heartbeat; `owner`: the
        process, else a name is drawn; `slots`: as many wakes run at once in this process, over all
        homes, None: without a bound; `is_tending`: it holds the home itself; `is_looking`: workers
        that could tend the home are told, too: it may be asleep."""
        self.seconds = seconds
        self.pid = os.getpid()
        self.place = place()
        self.owner = owner or drawn_owner()
        self.since = ""
        self._database, self._home, self._slots = database, home, slots
        self._is_tending, self._is_looking = is_tending, is_looking
        self._held: dict[str, tuple[str, str]] = {}  # agent: run key and since when

    def join(self, now: str) -> None:
        self._do((_FORGET, (self._home,)), self._joining(now))
        self.since = now

    def beat(self, now: str) -> None:
        """Renew all that this process holds, and say again what is not known any more."""
        renew = _RENEW, (self.seconds, self._home, self.owner)
        renewed = self._do(*([self._joining(now)] if self.since else []), renew)[-1].rowcount
        if renewed < len(self._held):
            self._say_again(now)

    def leave(self, *, is_in_doubt: bool = False) -> None:
        mine = self._home, self.owner
        where = "WHERE home = %s AND owner = %s"
        left = "UPDATE runtime.leases SET lease_until = '-infinity'"
        sql = left if is_in_doubt else "DELETE FROM runtime.leases"
        self._do((f"DELETE FROM runtime.runtimes {where}", mine), (f"{sql} {where}", mine))

    def runtimes(self, now: str) -> list[Runtime]:  # noqa: ARG002  the server's time counts
        values = self._home, self._is_looking, self._home
        rows = self._do((_RUNTIMES, values))[0].fetchall()
        return [
            Runtime(owner, pid, place, since, beat, self._lives(pid, place, holds=holds))
            for owner, pid, place, since, beat, holds in rows
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
        self._do((sql, (self._home, agent, self.owner)))

    def all(self, now: str) -> list[Lease]:  # noqa: ARG002  the server's time counts
        return self._read(self._do((_ALL, (self._home,)))[0].fetchall())

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
        mine = self._taking(agent, run_key, now)
        lock = "SELECT pg_advisory_xact_lock(hashtext('wakelog leases'), %s)", (self._home,)
        listed = _ALL, (self._home,)  # one at a time counts the leases of a home
        if self._do(lock, (_TAKE_FREE, (*mine, self._home, limit, self._home, agent)))[1].rowcount:
            self._held[agent] = run_key, now
            return True
        with self._database.begun(self._home, "BEGIN", lock, listed) as (connection, (_, rows)):
            held = [one for one in self._read(rows) if one.is_alive]
            is_free = len(held) < limit and all(one.agent != agent for one in held)
            with connection.pipeline():
                if is_free:
                    connection.execute(_TAKE.encode(), mine)
                connection.execute("COMMIT")
        if is_free:
            self._held[agent] = run_key, now
        return is_free

    def _do(self, *statements: tuple[str, Any]) -> list[psycopg.Cursor[Any]]:
        """Statements in a transaction that sees the home's rows alone; a worker's own are of no
        home."""
        return self._database.done(self._home, *statements)

    def _say_again(self, now: str) -> None:
        known = {one.agent for one in self.all(now)}
        gone = [(one, *held) for one, held in self._held.items() if one not in known]
        if gone:  # where another took it, it is theirs
            self._do(*((_TAKE, self._taking(*one)) for one in gone))

    def _taking(self, agent: str, run_key: str, since: str) -> tuple[object, ...]:
        mine = self.owner, self.pid, self.place
        return self._home, agent, run_key, *mine, since, self.seconds

    def _joining(self, now: str) -> tuple[str, Any]:
        since = self.since or now
        row = self._home, self.owner, self.pid, self.place, since, now, self._is_tending
        return _JOIN, (*row, self.seconds, self._home, self._home)

    def _free(self) -> None:
        if self._slots is not None:
            self._slots.release()

    def _read(self, rows: list[Any]) -> list[Lease]:
        return [
            Lease(agent, run_key, owner, pid, since, self._lives(pid, place, holds=holds))
            for agent, run_key, owner, pid, since, place, holds in rows
        ]

    def _lives(self, pid: int, place: str, *, holds: bool) -> bool:
        return holds and not gone(pid, place, self.pid, self.place)

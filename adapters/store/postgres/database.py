"""One PostgreSQL database: connections from one pool a process, and its faults in one line."""

import hashlib
import logging
import select
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from adapters.store.postgres import schema
from adapters.store.postgres.schema import ROLES, base_script
from adapters.store.postgres.statements import ENTER
from domain.errors import Damaged, Refused
from domain.log.rules import FORMAT

CONNECT_SECONDS = 10
LOCK_SECONDS = 30
SILENT_SECONDS = 30  # that the other side may leave what was sent to it unconfirmed
POOL_MAX = 8
LATER = (schema.views_script, schema.people_script, schema.settings_script)
BATCHES_MAX = POOL_MAX // 2  # each reads its log by another connection meanwhile
_OPTIONS = (
    f"-c lock_timeout={LOCK_SECONDS}s -c idle_in_transaction_session_timeout={LOCK_SECONDS}s"
    " -c client_min_messages=warning"
)
SETTINGS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": 1,
    "options": _OPTIONS,
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": SILENT_SECONDS * 1_000,
}

logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # what it says is told by us, once

Connection = psycopg.Connection[tuple[Any, ...]]
Lost = (psycopg.OperationalError, psycopg.InterfaceError)
"""What is raised where the server went away, or never was there."""


class Database:
    """A database in which homes are, or may be made."""

    def __init__(self, url: str) -> None:
        """`url`: ``postgresql://...`` or ``service=...``; it is never part of a message."""
        self.name, self.id = _name(url)
        self.url = url
        self.batches = BoundedSemaphore(BATCHES_MAX)
        self._pool = ConnectionPool(
            url,
            min_size=0,
            max_size=POOL_MAX,
            open=False,
            timeout=CONNECT_SECONDS,
            reconnect_timeout=CONNECT_SECONDS,
            kwargs=SETTINGS,
            check=_check,
        )

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection, outside of a transaction.

        Raises:
            Refused: Code ``read_only``: the server cannot be reached, or says no.
        """
        with self.told():
            self._pool.open()
            with self._pool.connection() as found:
                yield found

    def asked(self, home: int, sql: str, values: Any) -> list[Any]:
        """One question of a home, in one round trip: what a pipeline sends at once outside of a
        transaction is one of its own. Raises Refused, see `connection`."""
        with self.connection() as connection:
            with connection.pipeline():
                connection.execute(ENTER, (str(home),))
                found = connection.execute(sql.encode(), values, binary=True)
            return found.fetchall()

    @contextmanager
    def told(self) -> Iterator[None]:
        """PostgreSQL's errors as one clear line each."""
        try:
            yield
        except psycopg.errors.LockNotAvailable:
            because = f"{self.name} is in use by another process for {LOCK_SECONDS} seconds"
            raise Refused(
                "read_only", because=because, instead="repeat when it has ended"
            ) from None
        except (PoolTimeout, *Lost) as error:
            raise self.away(error) from None
        except psycopg.errors.InsufficientPrivilege as error:
            raise Refused(
                "read_only",
                because=f"{self.name} refuses this login: {_first_line(error)}",
                instead="run `wakelog database check` as this login, and do what it says",
            ) from None
        except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
            raise self._unmade("lacks tables that this wakelog needs") from None

    def away(self, error: Exception) -> Refused:
        """That the server cannot be reached, or lets this login not in."""
        where, is_answered, why = _first_line(error).rpartition("FATAL:")
        said = f"says no: {why.strip()}" if is_answered else f"cannot be reached: {where}{why}"
        return Refused(
            "read_only",
            because=f"{self.name} {said}",
            instead="look at the server and at WAKELOG_DATABASE, then repeat; nothing was lost",
        )

    def make(self) -> bool:
        """Make the tables; whether they were not there. Raises Refused, Damaged."""
        with self._at_once() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('wakelog'))")
            is_new = not self._format(connection)
            if is_new:
                connection.execute(base_script().encode())
                connection.execute("INSERT INTO wakelog.meta VALUES (%s)", (FORMAT,))
            there = connection.execute("SELECT to_regclass('runtime.homes')").fetchall()[0][0]
            if there is None:
                connection.execute(schema.runtime_script().encode())
            for later in LATER:  # of a database that is older than they are
                connection.execute(later().encode())
        return is_new or there is None

    def make_runtime(self) -> None:
        """Make the tables of workers anew: every home is due. Raises Refused."""
        with self.connection() as connection, connection.transaction():
            connection.execute(schema.runtime_script().encode())

    def look(self) -> None:
        """See that the tables are there, and of a format that is known.

        Raises:
            Refused: Code ``read_only``.
            Damaged: Code ``newer_format`` or ``not_a_log``: nothing was made here yet.
        """
        with self._at_once() as connection:
            found = self._format(connection)
        if not found:
            raise self._unmade()
        if found > FORMAT:
            raise Damaged(
                "newer_format",
                because=f"{self.name} has format {found}, and this wakelog knows {FORMAT}",
                instead="use the newer wakelog that made it; nothing was changed",
            )

    def trouble(self) -> tuple[list[str], list[str]]:
        """What keeps homes from being kept safely by this login, and what is only to be known."""
        findings, notes = [], []
        with self.connection() as connection:
            for role in ROLES[:1]:
                sql = "SELECT pg_has_role(current_user, %s, 'MEMBER')"
                if not connection.execute(sql, (role,)).fetchall()[0][0]:
                    findings.append(f"this login may not take the role {role}: GRANT it")
            asked = "SELECT current_setting('synchronous_commit'), current_setting('is_superuser')"
            ((commit, is_super),) = connection.execute(asked).fetchall()
        if commit == "off":
            findings.append("synchronous_commit is off: a crash loses appends; set it to on")
        if is_super == "on":
            notes.append("this login is a superuser: fences between homes do not bind it")
        return findings, notes

    def identity(self) -> tuple[str, str]:
        """What tells it from a copy of it on another server. Raises Refused."""
        sql = (
            "SELECT system_identifier::text, oid::text FROM pg_control_system(), pg_database"
            " WHERE datname = current_database()"
        )
        with self.connection() as connection:
            ((server, number),) = connection.execute(sql).fetchall()
        return server, number

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def _at_once(self) -> Iterator[Connection]:
        """A connection beside the pool, which would ask a server that says no again and again."""
        with self.told(), psycopg.connect(self.url, **SETTINGS) as connection:
            yield connection

    def _unmade(self, what: str = "has no tables of wakelog") -> Damaged:
        return Damaged(
            "not_a_log",
            because=f"{self.name} {what}",
            instead="make them with `wakelog database init`",
        )

    @staticmethod
    def _format(connection: Connection) -> int:
        sql = "SELECT to_regclass('wakelog.meta') IS NOT NULL"
        if not connection.execute(sql).fetchall()[0][0]:
            return 0
        return int(str(connection.execute("SELECT format FROM wakelog.meta").fetchall()[0][0]))


def _check(connection: Connection) -> None:
    """Look whether the server has ended a connection that waited in the pool, as one does that
    starts again; then it is given to nobody. While the server is silent it is not asked."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        ConnectionPool.check_connection(connection)


def _name(url: str) -> tuple[str, str]:
    """What a database is called in messages: where it is, without user and password; and a name
    for files about it."""
    try:
        found = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise Refused(
            "invalid_value",
            because="WAKELOG_DATABASE is no address of a PostgreSQL database",
            instead="write postgresql://HOST/DATABASE or service=NAME",
        ) from None
    where = [str(found.get(one) or "") for one in ("service", "host", "port", "dbname")]
    number = hashlib.sha256("\0".join(where).encode()).hexdigest()[:16]
    if found.get("service"):
        return f"the database of service {found['service']}", number
    host = found.get("host") or "this machine"
    return f"the database {found.get('dbname') or ''} on {host}".replace("  ", " "), number


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no answer"])[0]

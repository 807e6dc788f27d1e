"""One PostgreSQL database: connections from one pool a process, and its faults in one line."""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, local
from typing import Any, NamedTuple

import psycopg
from psycopg.sql import SQL, Identifier, Literal
from psycopg_pool import ConnectionPool, PoolTimeout

from adapters.store.postgres import schema
from adapters.store.postgres.schema import ERASER, HERE, LOGINS, OPERATOR, ROLES, TEXTS
from adapters.store.postgres.session import Connection, Opening, Session, has_news
from adapters.store.postgres.statements import ENTER, ENTER_NAMED
from domain.errors import Damaged, Refused, invalid

CONNECT_SECONDS = 10
LOCK_SECONDS = 30
SILENT_SECONDS = 30  # that the other side may leave what was sent to it unconfirmed
POOL_MAX = 8
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

_READ_ONLY = "default_transaction_read_only"
# of a database of an older wakelog it is not known
_META = f"""
    SELECT format, (known ->> 'server', known ->> 'number') <> (server, number)
    FROM (SELECT format, to_jsonb(meta) AS known FROM wakelog.meta) AS one, ({HERE}) AS here"""
_FOR = {
    "page": "this login is a page's: it works in one home at a time, and makes none",
    "worker": "this login is a worker's: it works in all homes, and makes none",
}
STATISTICS = "pg_catalog.pg_statistic"  # frequent values of all columns, titles too
Lost = (psycopg.OperationalError, psycopg.InterfaceError)
"""What is raised where the server went away, or never was there."""


class _OfThread(local):
    """`session`: a thread's own, if it is a short command's."""

    session: Session | None = None


class Scrubbed(NamedTuple):
    """A table that was written anew: its bytes before and after, and how many dead rows it keeps,
    as a transaction that is open still sees them."""

    table: str
    before: int
    after: int
    held: int


class Database:
    """A database in which homes are, or may be made."""

    def __init__(self, url: str) -> None:
        """`url`: ``postgresql://...`` or ``service=...``; it is never part of a message."""
        self.name, self.id = _name(url)
        self.url = url
        self.batches = BoundedSemaphore(BATCHES_MAX)
        self._is_elsewhere = False  # than where it was made; known once it was looked at
        self._of_thread = _OfThread()
        self._pool = ConnectionPool(
            url,
            min_size=0,
            max_size=POOL_MAX,
            open=False,
            timeout=CONNECT_SECONDS,
            reconnect_timeout=CONNECT_SECONDS,
            kwargs=SETTINGS,
            check=self._check,
        )

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection, outside of a transaction. Raises Refused, code ``read_only``: the server
        cannot be reached, or says no."""
        with self._line() as found:
            if (session := self._session()) is not None:
                session.opening = None  # what it said may be changed now
            yield found

    @contextmanager
    def begun(
        self, home: int, begin: str, *asked: tuple[str, Any]
    ) -> Iterator[tuple[Connection, list[list[Any]]]]:
        """A transaction of a home and the answers to its first questions, in one round trip; who
        has it ends it. Raises Refused, see `connection`."""
        with self._line() as connection:
            with connection.pipeline():
                connection.execute(begin.encode())
                connection.execute(ENTER, (str(home),))
                found = [connection.execute(sql.encode(), values) for sql, values in asked]
            yield connection, [one.fetchall() if one.description else [] for one in found]

    def asked(self, home: int | str, sql: str, values: Any) -> list[Any]:
        """One question of a home, by number or name, in one round trip: what a pipeline sends at
        once outside of a transaction is one of its own. Raises Refused, see `connection`."""
        if (session := self.session(home)) is not None:
            with self.told():
                return session.ask(sql, values)
        with self._line() as connection:
            with connection.pipeline():
                enter = ENTER_NAMED if isinstance(home, str) else ENTER
                connection.execute(enter, (str(home),))
                found = connection.execute(sql.encode(), values, binary=True)
            return found.fetchall()

    def done(self, home: int, *statements: tuple[str, Any]) -> list[psycopg.Cursor[Any]]:
        """Some statements of a home, or of none (0), all or none of them, in one round trip. Raises
        Refused, see `connection`."""
        with self._line() as connection, connection.pipeline():
            if home:
                connection.execute(ENTER, (str(home),))
            return [connection.execute(sql.encode(), values) for sql, values in statements]

    def begin_command(self, home: str) -> bool:
        """Let this thread work in one home, by one connection, until `end_command`; whether it can.
        Raises Refused, see `connection`; Damaged, code ``newer_format``."""
        self.end_command()
        with self.told():
            line = psycopg.connect(self.url, **SETTINGS | {"prepare_threshold": None})
        try:
            self._of_thread.session = made = Session(line, _META, home)
            found, self._is_elsewhere = made.opening_meta
            self._check_known(found)
            if found == schema.NEWEST:
                if self._is_elsewhere:
                    self._check(line)
                return True
        except (psycopg.Error, LookupError):
            pass  # `look` says what is the matter
        except BaseException:
            line.close()
            raise
        line.close()
        self._of_thread.session = None
        return False

    def end_command(self) -> None:
        """Give the connection of `begin_command` back, one that the server has ended, too."""
        if (found := self._of_thread.session) is not None:
            found.close()
        self._of_thread.session = None

    def session(self, home: int | str) -> Session | None:
        """What this thread reads a home by, if it is a short command's and can be read now."""
        found = self._session()
        return found if found is not None and found.can_read(home) else None

    def is_command(self, home: int) -> bool:
        """Whether this thread is a short command's in that home."""
        found = self._of_thread.session
        return found is not None and found.number == home

    def heads(self, session: Session) -> dict[str, tuple[Any, ...]]:
        """Where a home's logs end. Raises Refused, see `connection`."""
        with self.told():
            session.know()
        return session.heads

    @property
    def opening(self) -> Opening | None:
        """What this thread's short command opened its home with, if it has changed none of it."""
        return None if (found := self._session()) is None else found.opening

    def _session(self) -> Session | None:
        found = self._of_thread.session
        if found is not None and found.is_lost:
            self.end_command()
            return None
        return found

    @contextmanager
    def _line(self) -> Iterator[Connection]:
        """A connection on which nothing is under way."""
        session = self._session()
        with self.told():
            if session is not None and not session.is_taken:
                with session.writing() as own:
                    yield own
                return
            self._pool.open()
            with self._pool.connection() as found:
                yield found

    @contextmanager
    def told(self) -> Iterator[None]:
        """PostgreSQL's errors as one clear line each."""
        try:
            yield
        except psycopg.errors.LockNotAvailable:
            because = f"{self.name} is in use by another process for {LOCK_SECONDS} seconds"
            instead = "repeat when it has ended"
            raise Refused("read_only", because=because, instead=instead) from None
        except (PoolTimeout, *Lost) as error:
            raise self.away(error) from None
        except psycopg.errors.InsufficientPrivilege as error:
            because = f"{self.name} refuses this login: {_first_line(error)}"
            instead = "use one that may; `wakelog database check` says what this one is for"
            raise Refused("read_only", because=because, instead=instead) from None
        except psycopg.errors.ReadOnlySqlTransaction:
            self.check_place()
            raise
        except psycopg.errors.ForeignKeyViolation:
            because, instead = "this home is no more", "see `wakelog home list`"
            raise Refused("unknown_home", because=because, instead=instead) from None
        except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
            raise self._unmade("lacks tables that this wakelog needs") from None

    def away(self, error: Exception) -> Refused:
        """That the server cannot be reached, or lets this login not in."""
        where, is_answered, why = _first_line(error).rpartition("FATAL:")
        said = f"says no: {why.strip()}" if is_answered else f"cannot be reached: {where}{why}"
        instead = "look at the server and at WAKELOG_DATABASE, then repeat; nothing was lost"
        return Refused("read_only", because=f"{self.name} {said}", instead=instead)

    def make(self) -> list[str]:
        """Make the tables, or bring them up to date; the scripts that ran. Raises Refused,
        Damaged."""
        with self._at_once() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('wakelog'))")
            found = self._known_format(connection)
            ran = [one for one in schema.MIGRATIONS if one.number > found]
            names = [one.name for one in ran]
            if not found:
                connection.execute(ran.pop(0).script().encode())
                connection.execute("INSERT INTO wakelog.meta VALUES (%s)", (schema.NEWEST,))
            there = connection.execute("SELECT to_regclass('runtime.homes')").fetchall()[0][0]
            if there is None:
                connection.execute(schema.runtime_script().encode())
                names.append("runtime")
            for one in ran:
                connection.execute(one.script().encode())
            connection.execute("UPDATE wakelog.meta SET format = %s", (schema.NEWEST,))
        return names

    def make_login(self, kind: str, name: str, password: str) -> None:
        """Let a login be of a kind of `LOGINS`, and nothing else here; it is made where there is
        none. `password`: the login's from now on; empty: it stays as it is. Raises Refused, code
        ``invalid_value``: fences would not bind it; ``read_only``."""
        with self._at_once() as connection, connection.transaction():
            asked = "SELECT rolsuper, rolname = current_user FROM pg_roles WHERE rolname = %s"
            found = connection.execute(asked, (name,)).fetchall()
            if name in (*ROLES, OPERATOR) or any(map(any, found)):
                because = f"{name!r} owns {self.name} or is above its fences"
                raise invalid(because, f"name a login that is for the {kind} alone")
            login = Identifier(name)
            if not found:
                connection.execute(SQL("CREATE ROLE {} LOGIN").format(login))
            if password:
                hashed = connection.pgconn.encrypt_password(password.encode(), name.encode())
                keep = SQL("ALTER ROLE {} PASSWORD {}")
                connection.execute(keep.format(login, Literal(hashed.decode())))
            every = *ROLES, OPERATOR
            for change, roles in (("REVOKE {} FROM {}", every), ("GRANT {} TO {}", LOGINS[kind])):
                listed = SQL(", ").join(map(Identifier, roles))
                connection.execute(SQL(change).format(listed, login))

    def make_runtime(self) -> None:
        """Make the tables of workers anew: every home is due. Raises Refused."""
        with self.connection() as connection, connection.transaction():
            connection.execute(schema.runtime_script().encode())

    def check_place(self) -> None:
        """Look whether this is where the database was made, as `look` has found it. Raises Refused,
        code ``moved_database``: it is a copy of that one, or was moved."""
        if self._is_elsewhere:
            raise self._moved()

    @contextmanager
    def adopting(self) -> Iterator[Connection]:
        """A transaction from whose end on the database stands here; what workers went by is made
        anew. Raises Refused, code ``nothing_to_adopt``: it did before."""
        with self._at_once() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('wakelog'))")
            self._known_format(connection)
            if not self._is_elsewhere:
                because = f"{self.name} is where it was made"
                raise Refused("nothing_to_adopt", because=because, instead="work in it as it is")
            yield connection
            connection.execute(schema.runtime_script().encode())
            connection.execute(schema.STAND_HERE.encode())
        self._is_elsewhere = False

    def look(self) -> None:
        """See that the tables are there, and of a format that is known. Where the database is not
        where it was made, nothing but views is written in it from then on. Raises Refused, code
        ``read_only``; Damaged, code ``newer_format`` or ``not_a_log``: nothing was made here
        yet."""
        with self._at_once() as connection:
            found = self._known_format(connection)
        if not found:
            raise self._unmade()
        if found < schema.NEWEST:
            raise self._unmade("has the tables of an older wakelog", "bring them up to date")

    def reach(self) -> None:
        """See that the database answers, of whatever format, and at once. Raises Refused."""
        with self._at_once() as connection:
            connection.execute("SELECT 1")

    def login(self) -> str:
        """What this login is for: ``owner``, ``worker``, ``page`` or nothing. Raises Refused;
        Damaged: nothing was made here yet."""
        asked = (
            "SELECT pg_has_role(nspowner, 'USAGE'), pg_has_role(%s, 'USAGE'), pg_has_role(%s,"
            " 'USAGE') FROM pg_namespace WHERE nspname = 'wakelog'"
        )
        with self._at_once() as connection:
            found = connection.execute(asked, (schema.WORKER, schema.APP)).fetchall()
        if not found:
            raise self._unmade()
        kinds = zip(("owner", "worker", "page"), found[0], strict=True)
        return next((kind for kind, may in kinds if may), "")

    def may_erase(self) -> bool:
        """Whether this login may take words out of a home for good. Raises Refused."""
        return self._may_be(ERASER)

    def may_operate(self) -> bool:
        """Whether this login sees all homes and may freeze them. Raises Refused."""
        return self._may_be(OPERATOR)

    def _may_be(self, role: str) -> bool:
        with self.connection() as connection:
            found = connection.execute("SELECT pg_has_role(%s, 'MEMBER')", (role,)).fetchall()
        return bool(found[0][0])

    def tables_with(self, home: int, wanted: Iterable[bytes]) -> list[str]:
        """The tables in which a row of a home holds one of these texts. Raises Refused."""
        among = "unnest(%s::bytea[]) AS wanted (text) WHERE position(wanted.text in {}) > 0"
        sql = "SELECT FROM {} WHERE home = %s AND EXISTS (SELECT FROM " + among + ") LIMIT 1"
        values, asked = (home, sorted(set(wanted))), TEXTS.items()
        return [one for one, said in asked if self.asked(home, sql.format(one, said), values)]

    def scrub(self) -> Iterator[Scrubbed]:
        """Write the tables that hold words anew, one after another, and what the server knows of
        their values, if this login owns the database: nothing is left of rows that were marked or
        deleted. Each is locked meanwhile. Raises Refused."""
        with self._at_once() as connection:
            connection.execute("SET client_min_messages = info")
            told: list[str] = []
            connection.add_notice_handler(lambda one: told.append(one.message_detail or ""))
            owns = "SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = %s"
            is_all = connection.execute(owns, (connection.info.dbname,)).fetchall()[0][0]
            for table in (*TEXTS, STATISTICS) if is_all else TEXTS:
                told.clear()
                before = _size(connection, table)
                # what it knows of values is of the newest rows then
                connection.execute(f"VACUUM (FULL, ANALYZE, VERBOSE) {table}".encode())
                held = sum(int(one[0]) for one in map(re.compile(r"\d+").match, told) if one)
                yield Scrubbed(table, before, _size(connection, table), held)

    def trouble(self, wanted: str = "page") -> tuple[list[str], list[str]]:
        """What keeps homes from being kept safely by this login, and what is only to be known.
        `wanted`: what it is to be at least, ``page`` or ``worker``. Raises Refused."""
        findings, notes = [], []
        login = self.login()
        if not login or (wanted, login) == ("worker", "page"):
            role = LOGINS[wanted][-1]
            make = f"as the owner: `wakelog database init --login {wanted}=NAME`"
            findings.append(f"this login may not take the role {role}: GRANT it, or, {make}")
        with self.connection() as connection:
            asked = "SELECT current_setting('synchronous_commit'), current_setting('is_superuser')"
            ((commit, is_super),) = connection.execute(asked).fetchall()
        if self._is_elsewhere:
            findings.append(f"{(moved := self._moved()).because}: {moved.instead}")
        if commit == "off":
            findings.append("synchronous_commit is off: a crash loses appends; set it to on")
        if login in _FOR:
            notes.append(_FOR[login])
        if is_super == "on":
            notes.append("this login is a superuser: fences between homes do not bind it")
        return findings, notes

    def identity(self) -> tuple[str, str]:
        """What tells it from a copy of it on another server. Raises Refused."""
        with self.connection() as connection:
            ((server, number),) = connection.execute(HERE.encode()).fetchall()
        return server, number

    def pool_stats(self) -> dict[str, int]:
        """What the pool counts, as psycopg names it."""
        return self._pool.get_stats()

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def _at_once(self) -> Iterator[Connection]:
        """A connection beside the pool, which would ask a server that says no again and again."""
        with self.told(), psycopg.connect(self.url, **SETTINGS) as connection:
            yield connection

    def _unmade(self, what: str = "has no tables of wakelog", do: str = "make them") -> Damaged:
        instead = f"{do} with `wakelog database init`"
        return Damaged("not_a_log", because=f"{self.name} {what}", instead=instead)

    def _moved(self) -> Refused:
        because = f"{self.name} is not where it was made: it was moved, restored or copied"
        instead = (
            "as its owner say `wakelog database adopt moved` if this is the database now,"
            " `wakelog database adopt copy` if it stands beside the original"
        )
        return Refused("moved_database", because=because, instead=instead)

    def _known_format(self, connection: Connection) -> int:
        """The newest script that ran; 0: none did. Raises Damaged: it is not known here."""
        return self._check_known(self._format(connection))

    def _check_known(self, found: int) -> int:
        if found > schema.NEWEST:
            because = f"{self.name} has format {found}, and this wakelog knows {schema.NEWEST}"
            instead = "use the newer wakelog that made it; nothing was changed"
            raise Damaged("newer_format", because=because, instead=instead)
        return found

    def _format(self, connection: Connection) -> int:
        """The same, of whatever wakelog; and whether the database is where it was made."""
        sql = "SELECT to_regclass('wakelog.meta') IS NOT NULL"
        if not connection.execute(sql).fetchall()[0][0]:
            return 0
        ((found, is_elsewhere),) = connection.execute(_META.encode()).fetchall()
        self._is_elsewhere = bool(is_elsewhere)
        return int(found)

    def _check(self, connection: Connection) -> None:
        """Look whether the server has ended a connection that waited in the pool, as one does that
        starts again; then it is given to nobody. While the server is silent it is not asked."""
        if has_news(connection):
            ConnectionPool.check_connection(connection)
        is_read_only = connection.info.parameter_status(_READ_ONLY) == "on"
        if is_read_only != self._is_elsewhere:
            change = "SET {} = on" if self._is_elsewhere else "RESET {}"
            connection.execute(change.format(_READ_ONLY).encode())


def _size(connection: Connection, table: str) -> int:
    asked = "SELECT pg_total_relation_size(%s::regclass)"
    return int(str(connection.execute(asked, (table,)).fetchall()[0][0]))


def _name(url: str) -> tuple[str, str]:
    """What a database is called in messages: where it is, without user and password; and a name
    for files about it."""
    try:
        found = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        because = "WAKELOG_DATABASE is no address of a PostgreSQL database"
        raise invalid(because, "write postgresql://HOST/DATABASE or service=NAME") from None
    where = [str(found.get(one) or "") for one in ("service", "host", "port", "dbname")]
    number = hashlib.sha256("\0".join(where).encode()).hexdigest()[:16]
    if found.get("service"):
        return f"the database of service {found['service']}", number
    host = found.get("host") or "this machine"
    return f"the database {found.get('dbname') or ''} on {host}".replace("  ", " "), number


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no answer"])[0]

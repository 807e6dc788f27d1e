"""What a database login sees and may do: one home at a time, each table and function gone through.

The tables and functions are found in the catalog, so that a new one is not forgotten.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adapters.store.leases import LEASE_SECONDS
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import HomeRow, Homes
from adapters.store.postgres.leases import HomeLeases
from adapters.store.postgres.notice_rows import PostgresNoticeRows
from adapters.store.postgres.people import People
from adapters.store.postgres.schema import ALL, MIGRATIONS, NEWEST, QUEUE_OPTIONS
from adapters.store.postgres.session import Connection
from domain.errors import Damaged
from tests.support.cli import done, refused, run, told
from tests.support.postgres import database

pytestmark = pytest.mark.slow
OLD = Path(__file__).parents[1] / "data" / "database_1.sql"
MARK = "annas-secret"  # stands in whatever is kept of her home
AT = "2031-03-03T03:03:03.000000Z"  # and of her alone
PASSWORDS = {"WAKELOG_PAGE_PASSWORD": "p", "WAKELOG_WORKER_PASSWORD": "w"}
_OURS = "NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'public')"
_TABLES = f"""
SELECT c.oid::regclass::text, EXISTS (SELECT FROM pg_attribute
    WHERE attrelid = c.oid AND attname = 'home' AND NOT attisdropped)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname {_OURS} ORDER BY 1"""
_FUNCTIONS = f"""
SELECT p.oid::regproc::text, array(SELECT one::regtype::text FROM unnest(proargtypes) one)
FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
WHERE nspname {_OURS} AND prorettype <> 'trigger'::regtype ORDER BY 1"""
_REFUSED = psycopg.errors.InsufficientPrivilege, psycopg.errors.GeneratedAlways


class Fenced:
    """Homes of Anna and Bert, and the logins `page` and `worker`."""

    def __init__(self, homes: Homes, folder: Path) -> None:
        self.homes = homes
        self.url = homes.database.url
        self.env = {"WAKELOG_DATABASE": self.url, "XDG_CACHE_HOME": str(folder)}
        logins = ["--login", "page=page", "--login", "worker=worker"]
        done(["database", "init", *logins], "-", env={**self.env, **PASSWORDS})
        self.anna = self._lived("anna", MARK, AT)
        self.bert = self._lived("bert", "plain", "2027-01-01T09:00:00.000000Z")

    def as_(self, login: str) -> dict[str, str]:
        """The environment of a process that has this login."""
        key = {"page": "page:p", "worker": "worker:w", "owner": "owner"}[login]
        return {**self.env, "WAKELOG_DATABASE": self.url.replace("owner@", f"{key}@")}

    def asked(self, sql: str, login: str = "owner") -> list[tuple[Any, ...]]:
        """What a login is told that named Bert's home; what it writes is taken back."""
        with psycopg.connect(self.as_(login)["WAKELOG_DATABASE"]) as line:
            if login != "owner":
                enter = "SELECT set_config('role', 'wakelog_app', true), set_config('wakelog.home',"
                line.execute(f"{enter} '{self.bert.number}', true)".encode())
            cursor = line.execute(sql.encode())
            found = cursor.fetchall() if cursor.description else [(cursor.rowcount,)]
            line.rollback()
        return found

    def tables(self) -> dict[str, bool]:
        """All tables and views, and whether their rows are of homes."""
        return dict(self.asked(_TABLES))

    def _lived(self, name: str, mark: str, at: str) -> HomeRow:
        """A home of which something stands in each table."""
        env, there = {**self.env, "WAKELOG_NOW": at, "WAKELOG_REPLICA": "r1"}, f"pg:{name}"
        done(["home", "create", name], "-", env=env)
        row = self.homes.named(name)
        self.homes.edit_settings(row, lambda text: f"# {mark}\n{text}")
        done(["task", "add", mark], there, env=env)
        done(["task", "note", mark, f"{mark} " * 1_000], there, env=env)
        done(["agent", "create", "--all"], there, env=env)
        done(["wake"], there, env=env)
        done(["token", "create", name, "--for", mark], there, env=env)
        People(self.homes.database).admitted("", mark, ())  # who enters is named in its log
        leases = HomeLeases(self.homes.database, row.number, seconds=LEASE_SECONDS, owner=mark)
        leases.join(at)
        assert leases.take(mark, mark, at, 1)
        with PostgresNoticeRows(self.homes.database, row.number).transaction() as rows:
            rows.put(mark, mark.encode())
        queued = "INSERT INTO procrastinate_jobs (queue_name, task_name, args, lock)"
        with psycopg.connect(self.url, options=QUEUE_OPTIONS) as line:
            line.execute(f"{queued} VALUES (%s, 'tend', '{{}}', %s)".encode(), (mark, mark))
            remembered = "INSERT INTO views.remembered VALUES (%s, %s, %s)"
            line.execute(remembered, (row.number, mark, mark.encode()))
        return row


@pytest.fixture(scope="module")
def fenced(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fenced]:
    with database(postgres) as url, closing(Database(url)) as opened:
        yield Fenced(Homes(opened), tmp_path_factory.mktemp("cache"))
        with psycopg.connect(url, autocommit=True) as line:
            for login in ("page", "worker"):
                line.execute(f"DROP OWNED BY {login}; DROP ROLE {login}".encode())


def says(rows: list[tuple[Any, ...]], number: int) -> bool:
    """Whether something of Anna's stands in rows, as text or as the bytes of a text."""
    text = repr(rows)
    marks = MARK, AT[:10], MARK.encode().hex(), AT[:10].encode().hex(), f"home={number}"
    return any(one in text for one in marks)


# ----------------------------------------------------------------------------- tables and functions


@pytest.mark.parametrize("login", ["page", "worker"])
def test_who_names_a_home_sees_no_byte_of_another_in_any_table(fenced: Fenced, login: str) -> None:
    tables, number = fenced.tables(), fenced.anna.number
    seen = set()
    for table, is_of_homes in tables.items():
        sql = f"SELECT row_to_json(one)::text FROM {table} AS one"
        of_home = f"{sql} WHERE home = {number}"
        if is_of_homes:
            assert fenced.asked(of_home), f"{table} is empty: write something of Anna's into it"
        for asked in (sql, *([of_home] if is_of_homes else [])):
            try:
                found = fenced.asked(asked, login)
            except psycopg.errors.InsufficientPrivilege:
                continue
            seen.add(table)
            assert not says(found, number), table
            assert asked == sql or found == [], table
    assert {"journal.heads", "wakelog.homes", "runtime.leases", "views.documents"} <= seen
    hidden = {"wakelog.tokens", "wakelog.members", "runtime.homes", "queue.procrastinate_jobs"}
    assert not hidden & seen


@pytest.mark.parametrize("login", ["page", "worker"])
def test_who_names_a_home_changes_no_row_of_another_in_any_table(
    fenced: Fenced, login: str
) -> None:
    number = fenced.anna.number
    for table in (one for one, is_of_homes in fenced.tables().items() if is_of_homes):
        for sql in (f"DELETE FROM {table}", f"UPDATE {table} SET home = home"):
            with suppress(*_REFUSED):
                assert fenced.asked(f"{sql} WHERE home = {number}", login) == [(0,)], sql
        ((row,),) = fenced.asked(f"SELECT one::text FROM {table} one WHERE home={number} LIMIT 1")
        quoted = row.replace("'", "''")
        with pytest.raises(_REFUSED):
            fenced.asked(f"INSERT INTO {table} SELECT ('{quoted}'::{table}).*", login)


@pytest.mark.parametrize("login", ["page", "worker"])
def test_what_is_written_stays_as_it_is_in_its_own_home_too(fenced: Fenced, login: str) -> None:
    for log in ("journal", "agent"):
        for sql in (f"DELETE FROM {log}.events", f"UPDATE {log}.payloads SET bytes = ''"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                fenced.asked(sql, login)


@pytest.mark.parametrize("login", ["page", "worker"])
def test_no_function_tells_of_a_home_that_was_not_named(fenced: Fenced, login: str) -> None:
    given = {"text": "'anna'", "integer": str(fenced.anna.number), "bytea[]": "'{}'"}
    called = set()
    for name, types in fenced.asked(_FUNCTIONS):
        values = ", ".join(given.get(one, f"NULL::{one}") for one in types)
        try:
            found = fenced.asked(f"SELECT one::text FROM {name}({values}) AS one", login)
        except psycopg.errors.InsufficientPrivilege:
            continue
        called.add(name)
        assert not says(found, fenced.anna.number), name
    assert called == {
        "wakelog.admitted",
        "wakelog.entered",
        "wakelog.entries",
        "wakelog.keep_session",
        "wakelog.names",
        "wakelog.session_of",
        "wakelog.home",
        "wakelog.home_named",
        "wakelog.home_number",
    }


def test_who_names_no_home_is_told_so_and_a_worker_sees_which_homes_there_are(
    fenced: Fenced,
) -> None:
    def count(login: str, table: str) -> Any:
        with psycopg.connect(fenced.as_(login)["WAKELOG_DATABASE"]) as line:
            return line.execute(f"SELECT count(*) FROM {table}".encode()).fetchall()[0][0]

    for table in ("journal.heads", "wakelog.homes", "runtime.leases", "runtime.runtimes"):
        assert count("worker", table) >= 2, table
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="one home at a time"):
            count("page", table)
    for table in ("journal.events", "agent.payloads", "views.documents", "wakelog.notices"):
        for login in ("page", "worker"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="one home at a time"):
                count(login, table)


def test_a_page_cannot_say_that_it_is_a_worker(fenced: Fenced) -> None:
    page = Database(fenced.as_("page")["WAKELOG_DATABASE"])
    fake = "INSERT INTO runtime.runtimes SELECT 0, 'x', 1, 'x', 'x', 'x', true, now() RETURNING 1"
    with pytest.raises(Exception, match="row-level security"):
        page.asked(ALL, fake, ())
    page.close()


# ------------------------------------------------------------------------------------------- logins

WORKS = {
    "page": ["database check", "task list", "task add x", "wake", "status", "prove", "doctor"],
    "worker": ["database check", "home list", "cluster", "task list", "task add x", "wake"],
}
REFUSES: Mapping[str, Mapping[str, str]] = {
    "page": {
        "home list": "sees one home at a time",
        "cluster": "sees one home at a time",
        "home create carl": "permission denied for table homes",
        "settings set currency EUR": "sees one home at a time",
        "token list bert": "permission denied for table tokens",
        "database init": "permission denied for table meta",
        "database check --runtime": "must be owner of table spent",
        "worker": "database init --login worker=NAME",
    },
    "worker": {
        "home create carl": "permission denied for table homes",
        "settings set currency EUR": "permission denied for table homes",
        "token list bert": "permission denied for table tokens",
        "database init": "permission denied for table meta",
        "database check --runtime": "must be owner of table spent",
    },
}


@pytest.mark.parametrize("login", ["page", "worker"])
def test_a_login_does_what_it_is_for_and_is_told_what_it_may_not(
    fenced: Fenced, login: str
) -> None:
    env = {**fenced.as_(login), "WAKELOG_NOW": ""}
    found = told(["database", "check"], "-", env=env)
    assert (found["login"], found["findings"]) == (login, [])
    assert found["homes"] == (None if login == "page" else 2)
    for command in WORKS[login]:
        done(command.split(), "pg:bert", env=env)
    for command, because in REFUSES[login].items():
        said = refused(command.split(), "pg:bert", env=env)
        assert because in said, command
        assert "wakelog database check" in said, command


def test_a_login_is_made_with_its_roles_alone_and_none_that_fences_do_not_bind(
    fenced: Fenced,
) -> None:
    init = ["database", "init", "--login"]
    assert "is a page's login" in done([*init, "page=worker"], "-", env=fenced.env)
    as_page = fenced.as_("worker")
    assert told(["database", "check"], "-", env=as_page)["login"] == "page"
    for given in ("page", "owner=x", "worker="):
        assert "write page=NAME or worker=NAME" in refused([*init, given], "-", env=fenced.env)
    for name in ("owner", "wakelog_worker"):
        said = refused([*init, f"worker={name}"], "-", env=fenced.env)
        assert "name a login that is for the worker alone" in said
    with psycopg.connect(fenced.url, autocommit=True) as line:
        line.execute("REVOKE wakelog_app FROM worker")
    found = run(["--json", "database", "check"], "-", env=as_page)
    assert found.exit_code == 1
    assert "database init --login page=NAME" in found.stdout
    done([*init, "worker=worker"], "-", env=fenced.env)


# ------------------------------------------------------------------------------------------ scripts


def test_a_database_of_an_older_wakelog_is_refused_and_brought_up_to_date(
    postgres_homes: Homes, tmp_path: Path
) -> None:
    with postgres_homes.database.connection() as line:
        line.execute("CREATE DATABASE older")
    url = f"{postgres_homes.database.url.rpartition('/')[0]}/older"
    try:
        with psycopg.connect(url, autocommit=True) as line:
            line.execute(OLD.read_bytes())
        env = {"WAKELOG_DATABASE": url, "XDG_CACHE_HOME": str(tmp_path)}
        assert "has the tables of an older wakelog; bring them up to date with `wakelog data" in (
            refused(["task", "list"], "pg:anna", env=env)
        )
        said = done(["database", "init"], "-", env=env)
        ran = "views, people, settings, fences, eraser, place, who, limits, limited, operator"
        assert said.endswith(f"up to date: {ran}.\n")
        assert done(["database", "init"], "-", env=env).startswith("Nothing to do in")
        (task,) = told(["task", "list"], "pg:anna", env=env)
        assert task["title"] == "Mend the fence"
        done(["task", "add", "it goes on"], "pg:anna", env=env)
        assert told(["prove"], "pg:anna", env=env)["ok"]
        with psycopg.connect(url) as line:
            assert line.execute("SELECT format FROM wakelog.meta").fetchall() == [(NEWEST,)]
            assert fences_of(line) == fences_of_new(postgres_homes)
    finally:
        with postgres_homes.database.connection() as line:
            line.execute("DROP DATABASE older WITH (FORCE)")


def fences_of(line: Connection) -> list[tuple[Any, ...]]:
    """Who sees what in which table: policies, and whether they bind the owner, too."""
    policies = "SELECT schemaname, tablename, policyname, roles, cmd, qual FROM pg_policies"
    forced = """SELECT oid::regclass::text, relrowsecurity, relforcerowsecurity FROM pg_class
        WHERE relrowsecurity ORDER BY 1"""
    found = line.execute(f"{policies} ORDER BY 1, 2, 3".encode()).fetchall()
    return found + line.execute(forced).fetchall()


def fences_of_new(homes: Homes) -> list[tuple[Any, ...]]:
    with homes.database.connection() as line:
        return fences_of(line)


def test_scripts_are_numbered_without_a_gap_and_a_newer_one_is_left_alone(
    postgres_homes: Homes,
) -> None:
    assert [one.number for one in MIGRATIONS] == list(range(1, NEWEST + 1))
    with postgres_homes.database.connection() as line:
        line.execute("UPDATE wakelog.meta SET format = 99")
    for deed in (postgres_homes.database.make, postgres_homes.database.look):
        with pytest.raises(Damaged, match=f"format 99, and this wakelog knows {NEWEST}") as told_so:
            deed()
        assert told_so.value.code == "newer_format"

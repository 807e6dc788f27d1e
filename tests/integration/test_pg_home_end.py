"""A home in a database ends by its name, and a database that was copied or moved knows it: nobody
writes in it, and no agent wakes, until a person says which it is (ADR 108)."""

import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from adapters.home.home_location import location_of
from adapters.home.write_guard import WriteGuard
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.leases import HomeLeases
from adapters.store.postgres.people import People
from adapters.store.postgres.schema import QUEUE_OPTIONS, ROLES
from adapters.upkeep.home_copy import copy_home
from adapters.web.auth import Guesses, guard_of
from adapters.web.homes import OpenSites, make_homes_app
from adapters.wiring import open_home
from domain.errors import Refused
from domain.journal.commands import CreateTask
from tests.integration.test_pg_backup import tool
from tests.integration.test_pg_copy import contents
from tests.support.cli import FIXED, done, refused, run, told
from tests.support.pages import ORIGIN
from tests.support.terminal import on_terminal

pytestmark = pytest.mark.slow
AT = "2027-01-01T00:00:00.000000Z"
MOVED = "is not where it was made: it was moved, restored or copied"
_TABLES = """
    SELECT format('%I.%I', table_schema, table_name) FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE column_name = 'home' AND table_type = 'BASE TABLE' ORDER BY 1"""


@pytest.fixture
def environ(postgres_homes: Homes, tmp_path: Path) -> dict[str, str]:
    return {
        **FIXED,
        "WAKELOG_DATABASE": postgres_homes.database.url,
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def lived(name: str, environ: dict[str, str]) -> str:
    """A home in which an agent woke, and which somebody may enter: the token."""
    done(["home", "create", name], "-", env=environ)
    done(["task", "add", "Fix the sink"], f"pg:{name}", env=environ)
    done(["task", "note", "sink", "Takes about 2 hours."], f"pg:{name}", env=environ)
    done(["agent", "create", "--all"], f"pg:{name}", env=environ)
    done(["wake"], f"pg:{name}", env=environ)
    return str(told(["token", "create", name], "-", env=environ)["token"])


def rows(url: str, *numbers: int) -> dict[str, list[Any]]:
    """All rows of homes, by the tables in which there are any."""
    found = {}
    with psycopg.connect(url) as connection:  # a superuser: no fence binds it
        for (table,) in connection.execute(_TABLES).fetchall():
            sql = f"SELECT one::text FROM {table} AS one WHERE home = ANY (%s) ORDER BY 1"
            if kept := connection.execute(sql.encode(), (list(numbers),)).fetchall():
                found[table] = kept
    return found


def served(homes: Homes, environ: dict[str, str]) -> tuple[OpenSites, TestClient]:
    sites = OpenSites(homes, environ)
    app = make_homes_app(sites, People(homes.database), Guesses(lambda: 0.0))
    return sites, TestClient(app, base_url=ORIGIN, follow_redirects=False)


def status(client: TestClient, path: str, token: str) -> int:
    return client.get(path, headers={"authorization": f"Bearer {token}"}).status_code


# ------------------------------------------------------------------------------------- home delete


def test_a_home_that_is_deleted_leaves_no_row_and_no_byte_of_others_changes(
    postgres_homes: Homes, environ: dict[str, str]
) -> None:
    url, anna, ben = environ["WAKELOG_DATABASE"], lived("anna", environ), lived("ben", environ)
    number, other = (postgres_homes.named(one).number for one in ("anna", "ben"))
    with psycopg.connect(url, options=QUEUE_OPTIONS) as connection:
        connection.execute(
            "INSERT INTO queue.procrastinate_jobs (queue_name, task_name, args) VALUES"
            " ('anna', 'tend', jsonb_build_object('home', %s::integer)),"
            " ('ben', 'tend', jsonb_build_object('home', %s::integer))",
            (number, other),
        )
    sites, client = served(postgres_homes, environ)
    assert status(client, "/h/anna/tasks", anna) == 200  # it is open there to the end
    assert status(client, "/h/anna/tasks", ben) == 404  # who enters is named in ben's log
    before = rows(url, other)
    assert rows(url, number).keys() >= before.keys()

    line = refused(["home", "delete", "anna", "--sure", "anna"], "-", env=environ)
    assert "say `wakelog home freeze anna` first [home_open]" in line
    done(["home", "freeze", "anna"], "-", env=environ)
    line = refused(["home", "delete", "anna"], "-", env=environ)
    assert "what is deleted cannot be brought back; say --sure pg:anna [not_sure]" in line
    line = run(["home", "delete", "anna", "--sure", "ben"], "-", env=environ).stderr
    assert "'ben' is not its name; nothing was deleted [not_sure]" in line
    ends = {one["name"]: one for one in told(["home", "list"], "-", env=environ)}["anna"]
    said = done(["home", "delete", "anna", "--sure", "anna"], "-", env=environ)
    assert "pg:anna: " in said
    assert "1 member, 1 token." in said
    assert f"The journal ends at append {ends['journal']}  " in said
    assert said.endswith("Deleted pg:anna.\n")

    assert status(client, "/h/anna/tasks", anna) == 401
    assert status(client, "/h/anna/tasks", ben) == 404
    sites.close()  # what it had open it keeps nowhere
    assert rows(url, number) == {}
    assert rows(url, other) == before
    with psycopg.connect(url) as connection:
        jobs = connection.execute("SELECT queue_name FROM queue.procrastinate_jobs").fetchall()
    assert jobs == [("ben",)]
    line = refused(["home", "delete", "anna", "--sure", "anna"], "-", env=environ)
    assert "there is no home 'anna'" in line
    done(["home", "create", "anna"], "-", env=environ)
    assert postgres_homes.named("anna").number > other > number
    assert told(["task", "list"], "pg:anna", env=environ) == []
    assert refused(["home", "delete", "./anna"], "-", env=environ).count("remove the folder") == 1


def test_on_a_terminal_the_name_is_typed_and_no_other_one_deletes(environ: dict[str, str]) -> None:
    lived("anna", environ)
    done(["home", "freeze", "anna"], "-", env=environ)
    at = Path(environ["HOME"]) / "folder"
    for typed, status in (("ann\n", 2), ("anna\n", 0)):
        with on_terminal(at, "home", "delete", "anna", env=environ) as terminal:
            shown = terminal.until("Type its name")
            terminal.press(typed)
            ended, said = terminal.ended()
        assert "1 token." in shown
        assert (ended, "nothing was deleted" in said) == (status, bool(status))
    assert "anna" not in done(["home", "list"], "-", env=environ)


def test_on_a_terminal_a_move_is_asked_about(tmp_path: Path, environ: dict[str, str]) -> None:
    home = tmp_path / "here"
    done(["add", "Fix the sink"], home, env=environ)
    for typed, status in (("n\n", 130), ("y\n", 0)):
        with on_terminal(home, "move", str(home), "pg:anna", env=environ) as terminal:
            assert "is only read from then on" in terminal.until("Move it?")
            terminal.press(typed)
            assert terminal.ended()[0] == status
        found = run(["add", "Another one"], home, env=environ)
        assert (found.exit_code == 0) == bool(status), found.output
    assert "Fix the sink" in done(["list"], "pg:anna", env=environ)


def test_a_home_that_has_moved_is_deleted_at_once_and_as_json(
    postgres_homes: Homes, environ: dict[str, str], tmp_path: Path
) -> None:
    lived("anna", environ)
    done(["move", "pg:anna", str(tmp_path / "out"), "--sure"], "-", env=environ)
    number = postgres_homes.named("anna").number
    counts = postgres_homes.contents(postgres_homes.named("anna"))
    gone = told(["home", "delete", "pg:anna", "--sure", "pg:anna"], "-", env=environ)
    assert gone == {"home": "pg:anna", **counts._asdict()}
    assert gone["rows"] >= 10 <= gone["texts"]
    assert rows(environ["WAKELOG_DATABASE"], number) == {}
    assert told(["prove"], tmp_path / "out", env=environ)["ok"]


def test_only_its_owner_deletes_a_home_and_none_in_which_an_agent_works(
    postgres_homes: Homes, environ: dict[str, str]
) -> None:
    lived("anna", environ)
    logins = ["--login", "page=page", "--login", "worker=worker"]
    passwords = {"WAKELOG_PAGE_PASSWORD": "p", "WAKELOG_WORKER_PASSWORD": "w"}
    done(["database", "init", *logins], "-", env={**environ, **passwords})
    leases = HomeLeases(postgres_homes.database, postgres_homes.named("anna").number)
    leases.join(AT)
    assert leases.take("a", "run", AT, 5)
    done(["home", "freeze", "anna"], "-", env=environ)
    delete = ["home", "delete", "anna", "--sure", "anna"]
    assert "repeat when it has ended [agent_running]" in refused(delete, "-", env=environ)
    leases.give_back("a")
    url = environ["WAKELOG_DATABASE"]
    for login in ("page:p", "worker:w"):
        theirs = {**environ, "WAKELOG_DATABASE": url.replace("owner@", f"{login}@")}
        assert "refuses this login" in refused(delete, "-", env=theirs)
    number = postgres_homes.named("anna").number
    done(delete, "-", env=environ)
    leases.beat(AT)  # of a process that has it open still
    with pytest.raises(Refused, match="this home is no more"):
        leases.take("a", "run", AT, 5)
    assert rows(url, number) == {}


_DELETING = """
import os, sys
from adapters.store.postgres import homes
from adapters.store.postgres.database import Database
found = homes.Homes(Database(os.environ["WAKELOG_DATABASE"]))
row = found.named("anna")
class Slow(tuple):
    def __iter__(self):
        for nth, one in enumerate(tuple.__iter__(self)):
            if nth == int(sys.argv[1]):
                print("now", flush=True)
                sys.stdin.read()
            yield one
homes._OF_A_HOME = Slow(homes._OF_A_HOME)
found.delete(row)
print("done", flush=True)
"""


@pytest.mark.parametrize("step", [0, 7, 15])
def test_a_deletion_that_is_killed_has_deleted_nothing(
    postgres_homes: Homes, environ: dict[str, str], step: int
) -> None:
    lived("anna", environ)
    done(["home", "freeze", "anna"], "-", env=environ)
    number, url = postgres_homes.named("anna").number, environ["WAKELOG_DATABASE"]
    before = rows(url, number)
    command = [sys.executable, "-c", _DELETING, str(step)]
    env = {**environ, "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as deleting:
        assert deleting.stdout is not None
        assert deleting.stdout.readline() == "now\n"
        deleting.send_signal(signal.SIGKILL)
    assert rows(url, number) == before
    done(["home", "delete", "anna", "--sure", "anna"], "-", env=environ)
    assert rows(url, number) == {}


# ------------------------------------------------------------------------- a database knows itself


@pytest.fixture
def beside(postgres: str, environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The environment of a dump that was restored beside its original, in which news wait."""
    lived("anna", environ)
    done(["home", "create", "ben"], "-", env=environ)
    done(["task", "note", "sink", "Wait for Meyer."], "pg:anna", env=environ)  # no agent heard
    dump, name = str(tmp_path / "dump"), f"{environ['WAKELOG_DATABASE'].rpartition('/')[2]}_beside"
    with psycopg.connect(f"{postgres}postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    for program, *args in (
        ("pg_dump", "-Fc", "-f", dump, environ["WAKELOG_DATABASE"]),
        ("pg_restore", "-d", f"{postgres}{name}", dump),
    ):
        subprocess.run([tool(program), *args], check=True, capture_output=True)
    return {**environ, "WAKELOG_DATABASE": f"{postgres}{name}"}


def by_the_wall(environ: dict[str, str]) -> dict[str, str]:
    return {**environ, "WAKELOG_NOW": ""}


def logs(environ: dict[str, str]) -> list[Any]:
    return contents("pg:anna", environ)


def test_a_dump_beside_its_original_is_read_and_nobody_writes_in_it(
    beside: dict[str, str], tmp_path: Path
) -> None:
    before = logs(beside)
    assert told(["prove"], "pg:anna", env=beside)["ok"]
    assert [one["title"] for one in told(["task", "list"], "pg:anna", env=beside)]
    done(["rebuild"], "pg:anna", env=beside)
    for args in (["status"], ["inbox"], ["home", "show"], ["backup", str(tmp_path / "backup")]):
        done(args, "pg:anna", env=beside)
    for home, args in (
        ("pg:anna", ["task", "note", "sink", "x"]),
        ("pg:anna", ["wake"]),
        ("pg:anna", ["run", "--until-idle"]),
        ("pg:anna", ["settings", "set", "agents.parallel", "3"]),
        ("pg:anna", ["home", "thaw"]),
        ("-", ["worker"]),
        ("-", ["home", "create", "carl"]),
        ("-", ["home", "freeze", "anna"]),
        ("-", ["home", "rename", "anna", "anne"]),
        ("-", ["token", "create", "anna"]),
        ("-", ["settings", "--defaults", "set", "agents.parallel", "3"]),
    ):
        ended = run(args, home, env=by_the_wall(beside))
        assert (ended.exit_code, ended.stdout) == (2, ""), args
        line = ended.stderr
        assert MOVED in line, args
        assert "[moved_database]" in line, args
        assert "`wakelog database adopt moved` if this is the database now" in line
    checked = run(["database", "check"], "-", env=beside)
    assert (checked.exit_code, MOVED in checked.output) == (1, True)
    assert logs(beside) == before


def test_the_page_of_a_copied_database_shows_homes_and_takes_no_form(
    environ: dict[str, str], beside: dict[str, str]
) -> None:
    database = Database(beside["WAKELOG_DATABASE"])
    database.look()
    token = told(["token", "create", "anna"], "-", env=environ)["token"]
    with psycopg.connect(environ["WAKELOG_DATABASE"]) as connection:
        kept = connection.execute("SELECT * FROM wakelog.tokens").fetchall()[-1]
    with psycopg.connect(beside["WAKELOG_DATABASE"]) as connection:
        connection.execute("INSERT INTO wakelog.tokens VALUES (%s,%s,%s,%s,%s,%s,%s,%s)", kept)
    sites, client = served(Homes(database), beside)
    assert status(client, "/h/anna/tasks", token) == 200
    data = {"csrf": guard_of(token).csrf, "nonce": "12345678", "title": "x", "name": "x"}
    headers = {"authorization": f"Bearer {token}", "origin": ORIGIN}
    before = logs(beside)
    for path in ("/tasks", "/catalog/categories"):
        answer = client.post(f"/h/anna{path}", data=data, headers=headers)
        shown = client.get(answer.headers.get("location", "/"), headers=headers)
        assert MOVED in answer.text + shown.text, (path, answer.status_code, answer.text[-300:])
    assert logs(beside) == before
    sites.close()
    database.close()


def test_what_is_adopted_as_a_copy_writes_under_new_names_and_sleeps_until_it_is_thawed(
    environ: dict[str, str], beside: dict[str, str]
) -> None:
    original = logs(environ)
    names = {one["replica"] for one in told(["home", "list"], "-", env=environ)}
    adopted = told(["database", "adopt", "copy"], "-", env=beside)
    assert (adopted["how"], adopted["renamed"]) == ("copy", 2)
    listed = told(["home", "list"], "-", env=beside)
    assert {one["state"] for one in listed} == {"frozen"}
    assert not names & {one["replica"] for one in listed}
    line = refused(["wake"], "pg:anna", env=beside)
    assert "whoever runs it says `wakelog --home pg:anna home thaw` [frozen]" in line
    tended_for_a_moment(beside)
    assert logs(beside) == original
    done(["home", "thaw"], "pg:anna", env=beside)
    assert told(["wake"], "pg:anna", env=beside)[0]["outcome"] == "completed"
    for (now, _), (before, _) in zip(logs(beside), original, strict=True):
        new = [one.stream for one in now if one not in before]
        assert new
        assert not any(one.endswith(f"@{name}") for one in new for name in names)
    assert told(["prove"], "pg:anna", env=beside)["ok"]
    assert logs(environ) == original
    line = refused(["database", "adopt", "copy"], "-", env=beside)
    assert "is where it was made; work in it as it is [nothing_to_adopt]" in line


def tended_for_a_moment(environ: dict[str, str]) -> None:
    """A worker looks at its homes, which would be due."""
    command = [sys.executable, "-m", "adapters.cli.main", "--json", "worker"]
    with subprocess.Popen(
        command,
        env={**by_the_wall(environ), "PYTHONPATH": ":".join(sys.path)},
        stderr=subprocess.PIPE,
    ) as worker:
        assert worker.stderr is not None
        assert b'"working"' in worker.stderr.readline()
        time.sleep(1.5)  # in which it looks six times
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0


def test_what_is_adopted_as_moved_goes_on_as_it_was(beside: dict[str, str]) -> None:
    names = [one["replica"] for one in told(["home", "list"], "-", env=beside)]
    said = done(["database", "adopt", "moved"], "-", env=beside)
    assert said.endswith(" goes on here.\n")
    done(["task", "note", "sink", "It goes on"], "pg:anna", env=beside)
    assert told(["wake"], "pg:anna", env=beside)[0]["outcome"] == "completed"
    assert [one["replica"] for one in told(["home", "list"], "-", env=beside)] == names
    assert "FIND" not in run(["database", "check"], "-", env=beside).output


def test_a_copy_made_by_the_server_itself_is_one(postgres: str, environ: dict[str, str]) -> None:
    source = environ["WAKELOG_DATABASE"].rpartition("/")[2]
    with psycopg.connect(f"{postgres}postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {source}_twin TEMPLATE {source}".encode())
    for name, is_one in ((source, False), (f"{source}_twin", True)):
        database = Database(f"{postgres}{name}")
        database.look()
        with pytest.raises(Refused, match=MOVED) if is_one else nullcontext():
            database.check_place()


def test_an_owner_whom_fences_bind_adopts_a_copy_and_deletes_a_home_whole(
    postgres: str, environ: dict[str, str]
) -> None:
    with psycopg.connect(f"{postgres}postgres", autocommit=True) as connection:
        connection.execute("CREATE ROLE plain LOGIN CREATEROLE")
        connection.execute("CREATE DATABASE plain OWNER plain")
        for role in ROLES:
            connection.execute(f"GRANT {role} TO plain WITH ADMIN OPTION".encode())
    owners = {**environ, "WAKELOG_DATABASE": f"{postgres.replace('owner@', 'plain@')}plain"}
    done(["database", "init"], "-", env=owners)
    for name in ("anna", "ben"):
        lived(name, owners)
    with psycopg.connect(f"{postgres}postgres", autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'plain'"
        )
        connection.execute("CREATE DATABASE plain_twin TEMPLATE plain OWNER plain")
    twins = {**owners, "WAKELOG_DATABASE": f"{owners['WAKELOG_DATABASE']}_twin"}
    assert MOVED in refused(["task", "add", "x"], "pg:anna", env=twins)
    assert "2 homes with a new name" in done(["database", "adopt", "copy"], "-", env=twins)
    before = rows(f"{postgres}plain_twin", 2)
    done(["home", "delete", "anna", "--sure", "anna"], "-", env=twins)
    assert rows(f"{postgres}plain_twin", 1) == {}
    assert rows(f"{postgres}plain_twin", 2) == before
    done(["home", "thaw"], "pg:ben", env=twins)
    done(["task", "add", "It goes on"], "pg:ben", env=twins)


def test_an_owners_read_only_setting_of_the_database_is_left_alone(
    postgres_homes: Homes,
) -> None:
    url = postgres_homes.database.url
    with psycopg.connect(url, autocommit=True) as connection:
        name = url.rpartition("/")[2]
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())
    other = Database(url)
    other.look()
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        Homes(other).create("anna", "r1")
    other.close()


# ---------------------------------------------------------------------------- out of it, and back


def test_a_home_that_moved_out_goes_back_with_what_was_done_there(
    postgres_homes: Homes, environ: dict[str, str], tmp_path: Path
) -> None:
    token, out = lived("anna", environ), tmp_path / "out"
    number = postgres_homes.named("anna").number
    line = refused(["move", "pg:anna", str(out)], "-", env=environ)
    assert "pg:anna is only read from then on; say --sure [not_sure]" in line
    done(["move", "pg:anna", str(out), "--sure"], "-", env=environ)
    done(["task", "note", "sink", "シンクを直す: waiting for Meyer."], out, env=environ)
    assert told(["wake"], out, env=environ)[0]["outcome"] == "completed"
    done(["settings", "set", "agents.parallel", "7"], out, env=environ)
    there = contents(out, environ)
    moved = told(["move", str(out), "pg:anna", "--sure"], "-", env=environ)
    assert (moved["source"], moved["target"]) == (str(out), "pg:anna")
    assert contents("pg:anna", environ) == there
    assert postgres_homes.named("anna").number == number
    assert "parallel = 7" in done(["settings", "show"], "pg:anna", env=environ)
    _, client = served(postgres_homes, environ)
    assert status(client, "/h/anna/tasks", token) == 200
    done(["task", "note", "sink", "It goes on"], "pg:anna", env=environ)
    assert told(["wake"], "pg:anna", env=environ)[0]["outcome"] == "completed"
    assert told(["prove"], "pg:anna", env=environ)["ok"]
    assert "has moved to pg:anna" in refused(["task", "add", "x"], out, env=environ)


def test_a_move_that_is_cut_off_anywhere_is_ended_by_the_same_command(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """What is left when it is killed: before what is new is in, and before its last step."""
    lived("anna", environ)
    out, move = tmp_path / "out", ["move", str(tmp_path / "out"), "pg:anna", "--sure"]
    done(["move", "pg:anna", str(out), "--sure"], "-", env=environ)
    done(["task", "note", "sink", "From outside."], out, env=environ)
    there = contents(out, environ)
    folder, home = location_of(str(out), environ), location_of("pg:anna", environ)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_home(folder, home, environ, killed)
    assert "cut off" in refused(["task", "add", "x"], "pg:anna", env=environ)
    folder.keep_hold(WriteGuard("frozen", "to pg:anna"))  # as where it could not take that back
    done(move, "-", env=environ)
    home.keep_hold(WriteGuard("frozen", f"from {out}"))
    assert "has moved to pg:anna" in refused(["task", "add", "x"], out, env=environ)
    done(move, "-", env=environ)
    assert contents("pg:anna", environ) == there
    done(["task", "add", "It goes on"], "pg:anna", env=environ)
    assert "has moved" in refused(move, "-", env=environ)


def test_a_folder_of_another_past_does_not_go_back_and_changes_nothing(
    environ: dict[str, str], tmp_path: Path
) -> None:
    lived("anna", environ)
    out = tmp_path / "out"
    done(["move", "pg:anna", str(out), "--sure"], "-", env=environ)
    before = contents("pg:anna", environ)
    for name in ("journal.db", "agent.db"):
        (out / name).unlink()
    with open_home(out, {**environ, "WAKELOG_REPLICA": "r9"}, is_writing=True) as opened:
        opened.services.journal.append(CreateTask("Another past"), AT)
    other = contents(out, environ)
    line = refused(["move", str(out), "pg:anna", "--sure"], "-", env=environ)
    assert "is no beginning of the one here" in line
    assert "[other_past]" in line
    assert (contents("pg:anna", environ), contents(out, environ)) == (before, other)
    assert f"has moved to {out}" in refused(["task", "add", "x"], "pg:anna", env=environ)
    done(["task", "add", "x"], out, env=environ)
    line = refused(["move", str(tmp_path / "else"), "pg:anna", "--sure"], "-", env=environ)
    assert "there is no home at" in line

"""A home in a database is backed up alone, while it is worked in, and comes back under a new name,
in a database or a folder; `pg_dump` and the roles are a backup of all homes, on any server, as
deploy/README.md says."""

import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest

from adapters.home.home_location import location_of
from adapters.store import log_copy
from adapters.store.postgres.homes import Homes
from adapters.sync.restore import restore
from adapters.upkeep.backup import back_up
from adapters.wiring import open_home
from domain.journal.commands import CreateTask
from tests.integration.test_pg_copy import AT, contents
from tests.support.cli import done, refused, told
from tests.support.machines import pair
from tests.support.postgres import binaries, server

pytestmark = pytest.mark.slow


def tool(program: str) -> str:
    """A program of PostgreSQL's, beside the server's or on the path."""
    servers = binaries()
    assert servers is not None
    path = f"{(servers / 'initdb').resolve().parent}:{servers}"
    return shutil.which(program, path=path) or shutil.which(program) or pytest.skip(f"no {program}")


def test_roles_and_a_dump_are_all_homes_on_another_server(
    postgres_homes: Homes, tmp_path: Path
) -> None:
    dump, source = str(tmp_path / "all.dump"), postgres_homes.database.url

    def call(program: str, *args: str, said: str = "") -> "subprocess.CompletedProcess[str]":
        command = [tool(program), *args]
        return subprocess.run(command, input=said, capture_output=True, text=True, check=False)

    environ = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    here = {**environ, "WAKELOG_DATABASE": source}
    done(["home", "create", "anna"], "-", env=here)
    done(["task", "add", "Fix the sink"], "pg:anna", env=here)
    digest = told(["prove"], "pg:anna", env=here)["digest"]
    assert call("pg_dump", "-Fc", "-f", dump, source).returncode == 0
    roles = call("pg_dumpall", "--roles-only", "-d", source).stdout
    with server() as other:
        target = f"{other}restored"
        with psycopg.connect(f"{other}postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE restored")
        alone = call("pg_restore", "--exit-on-error", "-d", target, dump)
        assert 'role "wakelog_worker" does not exist' in alone.stderr
        call("psql", "-d", f"{other}postgres", said=roles)  # it says who is there already
        restored = call("pg_restore", "--clean", "--if-exists", "-d", target, dump)
        assert restored.returncode == 0, restored.stderr
        there = {**environ, "WAKELOG_DATABASE": target}
        done(["database", "init"], "-", env=there)
        done(["database", "adopt", "moved"], "-", env=there)
        assert told(["prove"], "pg:anna", env=there)["digest"] == digest
        done(["task", "add", "It goes on"], "pg:anna", env=there)


@pytest.fixture
def environ(postgres_homes: Homes, tmp_path: Path) -> dict[str, str]:
    return {
        "WAKELOG_DATABASE": postgres_homes.database.url,
        "WAKELOG_REPLICA": "",
        "WAKELOG_TIMEZONE": "UTC",
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def worked_in(environ: dict[str, str]) -> str:
    """A home in which an agent woke."""
    done(["home", "create", "anna"], "-", env=environ)
    done(["task", "add", "Fix the sink"], "pg:anna", env=environ)
    done(["agent", "create", "--all"], "pg:anna", env=environ)
    done(["wake"], "pg:anna", env=environ)
    done(["settings", "set", "agents.parallel", "7"], "pg:anna", env=environ)
    return "pg:anna"


def test_a_home_in_a_database_is_backed_up_and_comes_back_in_another_and_in_a_folder(
    environ: dict[str, str], tmp_path: Path
) -> None:
    home, backup, folder = worked_in(environ), tmp_path / "backup", tmp_path / "home"
    made = told(["backup", str(backup)], home, env=environ)
    assert made["files"] == ["agent.db", "journal.db", "settings.toml", "backup.json"]
    assert sorted(one.name for one in backup.iterdir()) == sorted(made["files"])
    assert {one.stat().st_mode & 0o777 for one in backup.iterdir()} == {0o600}
    before, proof = contents(home, environ), told(["prove"], home, env=environ)
    assert contents(backup, environ) == before
    assert told(["prove"], backup, env=environ)["digest"] == proof["digest"]
    done(["task", "add", "It goes on"], home, env=environ)
    was = told(["home", "show"], home, env=environ)["replica"]
    for back in ("pg:ben", str(folder)):
        did = told(["restore", str(backup)], back, env=environ)
        assert (did["folder"], did["was"], did["proved"]) == (back, was, True)
        assert did["replica"] == told(["home", "show"], back, env=environ)["replica"] != was
        assert contents(back, environ) == before
        assert "parallel = 7" in done(["settings", "show"], back, env=environ)
        done(["task", "note", "sink", "Takes about 2 hours."], back, env=environ)
        assert told(["wake"], back, env=environ)[0]["outcome"] == "completed"
        assert told(["prove"], back, env=environ)["ok"]
    assert len(told(["task", "list"], home, env=environ)) == 2
    line = refused(["restore", str(backup)], home, env=environ)
    assert "there is a home pg:anna, and a copy overwrites nothing" in line


def test_what_is_written_while_a_backup_is_made_does_no_harm(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """After the first page of either log a note is added, and the agent wakes."""
    home, backup, asked = worked_in(environ), tmp_path / "backup", list[str]()

    def written(log: str, _n: int, _of: int) -> None:
        if log not in asked:
            asked.append(log)
            done(["task", "note", "sink", f"Note beside the {log}."], home, env=environ)
            done(["wake"], home, env=environ)

    back_up(location_of(home, environ), backup, written)
    assert asked == ["agent", "journal"]
    assert told(["prove"], backup, env=environ)["ok"]
    notes = told(["task", "show", "sink"], backup, env=environ)["notes"]
    assert [one["text"] for one in notes] == ["Note beside the agent."], "the journal comes last"
    assert told(["restore", str(backup)], "pg:ben", env=environ)["proved"]
    assert told(["wake"], "pg:ben", env=environ)[0]["outcome"] == "completed"


def test_a_restore_into_a_database_that_is_cut_off_goes_on_where_it_was(
    environ: dict[str, str], tmp_path: Path
) -> None:
    home, backup = tmp_path / "home", tmp_path / "backup"
    with open_home(home, {"WAKELOG_REPLICA": "r1"}, is_writing=True) as opened:
        for nth in range(log_copy.APPENDS_A_PAGE + 10):
            opened.services.journal.append(CreateTask(f"{nth}"), AT)
    done(["backup", str(backup)], home, env=environ)

    def cut(_log: str, _n: int, _of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore(backup, location_of("pg:ben", environ), environ, told=cut)
    line = refused(["task", "add", "x"], "pg:ben", env=environ)
    assert f"is being copied from {backup}, or that was cut off" in line
    name = told(["home", "show"], "pg:ben", env=environ)["replica"]
    assert told(["restore", str(backup)], "pg:ben", env=environ)["replica"] == name
    assert contents("pg:ben", environ) == contents(home, environ)


def test_a_home_that_machines_share_does_not_come_back_in_a_database(
    environ: dict[str, str], tmp_path: Path
) -> None:
    desk, _ = pair(tmp_path)
    desk.said("add", "Fix the tap")
    desk.sync()
    desk.said("backup", str(tmp_path / "backup"))
    line = refused(["restore", str(tmp_path / "backup"), "--lost"], "pg:ben", env=environ)
    assert "restore it into a folder [not_shared]" in line
    assert told(["home", "list"], "-", env=environ) == []

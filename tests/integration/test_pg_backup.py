"""`pg_dump` and the roles are a backup of all homes, on any server, as deploy/README.md says."""

import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest

from adapters.store.postgres.homes import Homes
from tests.support.cli import done, told
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
        assert told(["prove"], "pg:anna", env=there)["digest"] == digest
        done(["task", "add", "It goes on"], "pg:anna", env=there)

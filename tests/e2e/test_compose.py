"""`deploy/compose.yaml` tells the truth: its commands are started as plain processes, without
docker, with their environment, against a private server."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml

from adapters.cli.main import COMMANDS
from tests.support import postgres
from tests.support.cli import told
from tests.support.process import until
from tests.support.serving import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
COMPOSE = Path(__file__).parents[2] / "deploy" / "compose.yaml"
OWNER = COMPOSE.parent / "owner.sh"
LOGINS = {"init": "wakelog", "worker": "worker", "serve": "page"}
PASSWORDS = ("POSTGRES_PASSWORD", *(f"WAKELOG_{one}PASSWORD" for one in ("", "PAGE_", "WORKER_")))
GIVEN = {one: f"secret-{nth}" for nth, one in enumerate(PASSWORDS)}
SECONDS = 60
HEALTH = "8766"
_VARIABLE = re.compile(r"\$\{(\w+)(?::[-?]([^}]*))?\}")


def service(name: str) -> Any:
    return yaml.safe_load(COMPOSE.read_text("utf-8"))["services"][name]


def environment(name: str, server: str, cache: Path) -> dict[str, str]:
    """A service's variables, with the private server and a folder of this machine in them."""
    asked = service(name)["environment"]
    known = {one: _VARIABLE.sub(lambda at: GIVEN.get(at[1], at[2]), asked[one]) for one in asked}
    host = server.removeprefix("postgresql://owner@").rstrip("/")
    database = known["WAKELOG_DATABASE"].replace("@db/", f"@{host}/")
    inherited = {one: os.environ[one] for one in ("PATH", "HOME", "LANG") if one in os.environ}
    return {**inherited, **known, "WAKELOG_DATABASE": database, "XDG_CACHE_HOME": str(cache)}


def command(name: str, port: int, health: int = 0) -> list[str]:
    """A service's command, by this Python; on ports that are free."""
    program, *rest = service(name)["command"]
    assert program == "wakelog"
    changed = {"8765": str(port), HEALTH: str(health), "0.0.0.0": "127.0.0.1"}
    return [sys.executable, "-m", "adapters.cli.main", *(changed.get(one, one) for one in rest)]


def is_healthy(name: str, port: int) -> bool:
    """What a service's health check says, by this Python."""
    kind, program, *rest = service(name)["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "python")
    asked = [sys.executable, *(one.replace(HEALTH, str(port)) for one in rest)]
    return not subprocess.run(asked, check=False, stderr=subprocess.DEVNULL).returncode


@pytest.fixture
def server() -> Iterator[str]:
    """What the service `db` makes on an empty disk: `owner.sh` is run as its superuser."""
    pytest.importorskip("psycopg_pool", reason="the extra `cluster` is not installed")
    if postgres.binaries() is None:
        pytest.skip("PostgreSQL is not installed: `make debian`")
    made = service("db")
    assert f"./{OWNER.name}:/docker-entrypoint-initdb.d/{OWNER.name}:ro" in made["volumes"]
    assert made["environment"]["WAKELOG_PASSWORD"].startswith("${WAKELOG_PASSWORD:?")
    with postgres.server() as address:
        where = urlsplit(address)
        reached = {"PGHOST": str(where.hostname), "PGPORT": str(where.port)}
        env = {**os.environ, **reached, **GIVEN, "POSTGRES_USER": "owner"}
        subprocess.run(["sh", str(OWNER)], check=True, env=env)
        yield address


@contextmanager
def started(args: list[str], env: Mapping[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """A process that ends in peace when it is told to."""
    running = subprocess.Popen(args, env=env, stdout=subprocess.PIPE, text=True)
    try:
        yield running
        assert running.poll() is None, "it ended by itself"
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=SECONDS)
    assert running.returncode == 0


def got(address: str, token: str = "") -> tuple[int, str]:
    asked = urllib.request.Request(address, headers={"authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, ""


def test_the_services_of_the_compose_file_start_and_a_home_is_made_and_opened(
    server: str, tmp_path: Path
) -> None:
    port, health, of_page = free_port(), free_port(), free_port()
    env = {one: environment(one, server, tmp_path) for one in ("init", "worker", "serve")}
    for said in ("Prepared", "Nothing to do in"):  # it is repeated at each start
        ran = subprocess.run(
            command("init", port), env=env["init"], check=True, capture_output=True, text=True
        )
        assert ran.stdout.startswith(said)

    def wakelog(*args: str, by: str = "init") -> Any:
        return told([*args], "-", env={"WAKELOG_NOW": "", "WAKELOG_REPLICA": "", **env[by]})

    with psycopg.connect(f"{server}postgres") as connection:
        sql = "SELECT rolname FROM pg_roles WHERE rolsuper AND rolname = ANY (%s)"
        assert connection.execute(sql, (list(LOGINS.values()),)).fetchall() == []
    for one, login in LOGINS.items():
        assert urlsplit(env[one]["WAKELOG_DATABASE"]).username == login
    for one, kind in (("init", "owner"), ("worker", "worker"), ("serve", "page")):
        found = wakelog("database", "check", by=one)
        assert (found["login"], found["findings"]) == (kind, [])

    assert not is_healthy("serve", of_page)
    with started(command("serve", port, of_page), env["serve"]) as page:
        assert page.stdout is not None
        until(lambda: is_healthy("serve", of_page), SECONDS)
        address = page.stdout.readline().strip()
        todo = tmp_path / "TODO.md"
        todo.write_text("- [ ] Call the plumber\n", encoding="utf-8")
        assert wakelog("home", "create", "anna", "--import", str(todo))["home"] == "pg:anna"
        token = wakelog("token", "create", "anna")["token"]
        assert got(f"{address}h/anna/tasks")[0] == 401
        status, text = got(f"{address}h/anna/tasks", token)
        assert status == 200
        assert "Call the plumber" in text
        if "worker" in COMMANDS:
            wakelog("--home", "pg:anna", "agent", "create", "--all")
            assert not is_healthy("worker", health)
            with started(command("worker", 0, health), env["worker"]):
                until(lambda: is_healthy("worker", health), SECONDS)
                until(lambda: wakelog("cluster")["workers"], SECONDS)
                until(lambda: wakelog("--home", "pg:anna", "wakes"), SECONDS)
            assert got(f"{address}h/anna/wakes", token)[0] == 200
        assert wakelog("--home", "pg:anna", "prove")["ok"]

"""A private PostgreSQL server for tests: found, started once a process, thrown away at the end."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from adapters.store.postgres.database import Database
from adapters.store.postgres.schema import STAND_HERE

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_SECONDS = 30
ASKED = "locked,wakelog,page,worker"  # the logins that are asked for a password
_NAMES = count(1)


def binaries() -> Path | None:
    """The folder of `initdb` and `postgres`, if they are installed."""
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else next(iter(_PLACES), None)


def _owner() -> str | None:
    """Who runs it: root may not."""
    if os.geteuid():
        return None
    known = {one.pw_name for one in pwd.getpwall()}
    return next(one for one in ("postgres", "nobody") if one in known)


@contextmanager
def server() -> Iterator[str]:
    """A running server's address, up to the database's name; nothing of it stays."""
    folder, found, owner = Path(tempfile.mkdtemp(prefix="pg-")), binaries(), _owner()
    assert found is not None
    if owner:
        shutil.chown(folder, owner, pwd.getpwnam(owner).pw_gid)
    data, log = folder / "data", folder / "log"
    begin = [str(found / "initdb"), "-A", "trust", "-U", "owner", "--no-sync", "-E", "UTF8"]
    begin += ["--wal-segsize=1", "--no-instructions"]  # less is written: a fifth of its time
    as_owner: dict[str, Any] = {"user": owner, "cwd": folder} if owner else {"cwd": folder}
    subprocess.run([*begin, str(data)], check=True, capture_output=True, **as_owner)
    trusted = (data / "pg_hba.conf").read_text("utf-8")
    asked = f"host all {ASKED} 127.0.0.1/32 scram-sha-256\n"
    (data / "pg_hba.conf").write_text(asked + trusted, "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"port={port}", "listen_addresses=127.0.0.1", "fsync=off", "max_connections=100"]
    options += [f"unix_socket_directories={folder}", "shared_buffers=32MB"]
    command = [str(found / "postgres"), "-D", str(data), *(f"--{one}" for one in options)]
    with log.open("w") as told:
        running = subprocess.Popen(command, stdout=told, stderr=told, **as_owner)
    try:
        address = f"postgresql://owner@127.0.0.1:{port}/"
        _wait(f"{address}postgres", running, log)
        yield address
    finally:
        running.send_signal(signal.SIGQUIT)
        running.wait(_SECONDS)
        shutil.rmtree(folder)


def control(address: str, *deed: str) -> None:
    """What an operator does with a running server: ``restart`` or ``stop``."""
    found, owner = binaries(), _owner()
    assert found is not None
    with psycopg.connect(f"{address}postgres") as connection:
        folder = connection.execute("SHOW data_directory").fetchall()[0][0]
    as_owner: dict[str, Any] = {"user": owner, "cwd": folder} if owner else {"cwd": folder}
    command = [str(found / "pg_ctl"), "-D", folder, "-w", "-l", f"{folder}/restarted", *deed]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **as_owner)


def begin_again(folder: str, options: str) -> None:
    """Start a server that was killed on its folder, with the options that it had."""
    found, owner = binaries(), _owner()
    assert found is not None
    as_owner: dict[str, Any] = {"user": owner, "cwd": folder} if owner else {"cwd": folder}
    command = [str(found / "pg_ctl"), "-D", folder, "-w", "-l", f"{folder}/restarted", "start"]
    command += ["-o", options.replace('"', "'")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **as_owner)


def _wait(address: str, running: "subprocess.Popen[Any]", log: Path) -> None:
    ends = time.monotonic() + _SECONDS
    while True:  # bounded by the time
        try:
            psycopg.connect(address, connect_timeout=1).close()
        except psycopg.OperationalError:
            assert running.poll() is None, log.read_text()
            assert time.monotonic() < ends, log.read_text()
            time.sleep(0.05)
        else:
            return


@contextmanager
def database(address: str, of: str = "") -> Iterator[str]:
    """A new database's address, with the tables of wakelog in it; dropped at the end. `of`: see
    `made_database`."""
    url = made_database(address, of)
    yield url
    name = url.rpartition("/")[2]
    with psycopg.connect(f"{address}postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def made_database(address: str, of: str = "") -> str:
    """The same, which ends with its server: a copy of one that was made for it, or that is named
    `of`, in which nobody works then."""
    pattern = of or _pattern(address)
    name = f"t{next(_NAMES)}"
    with psycopg.connect(f"{address}postgres", autocommit=True) as connection:
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        connection.execute(ended, (of,))
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {pattern}".encode())
    with psycopg.connect(f"{address}{name}", autocommit=True) as connection:
        connection.execute(STAND_HERE.encode())  # it is no copy of anything
    return f"{address}{name}"


@cache
def _pattern(address: str) -> str:
    """A database of a server with the tables of wakelog, which nobody writes to."""
    with psycopg.connect(f"{address}postgres", autocommit=True) as connection:
        connection.execute(b"CREATE DATABASE pattern")
    made = Database(f"{address}pattern")
    made.make()
    made.close()
    return "pattern"

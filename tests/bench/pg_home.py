"""A whole home in PostgreSQL over the same in a folder: to prove it cold, to copy it, to open it.

python tests/bench/pg_home.py [--agents 100]
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.home_location import DatabaseLocation, FolderLocation, HomeLocation
from adapters.proof.prove import prove_home
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.schema import LOGS
from adapters.upkeep.home_copy import copy_home
from adapters.wiring import open_home
from tests.bench.common import machine, table
from tests.support import postgres
from tests.support.cli import done

TABLES = [f"{log}.{table}" for log in LOGS for table in ("events", "payloads")]


def seconds(deed: Callable[[], object]) -> float:
    start = time.perf_counter()
    deed()
    return time.perf_counter() - start


def by_copy(url: str) -> float:
    """Seconds that COPY takes for the same rows, into tables with the same indexes."""
    taken = 0.0
    with psycopg.connect(url) as connection:
        for name in TABLES:
            with connection.cursor().copy(f"COPY {name} TO STDOUT".encode()) as source:
                kept = b"".join(bytes(one) for one in source)
            connection.execute(f"CREATE TABLE again (LIKE {name} INCLUDING ALL)".encode())
            start = time.perf_counter()
            with connection.cursor().copy(b"COPY again FROM STDIN") as target:
                target.write(kept)
            taken += time.perf_counter() - start
            connection.execute("DROP TABLE again")
    return taken


def proved(place: HomeLocation) -> None:
    with open_home(place, os.environ) as home:
        assert prove_home(home).ok


def statements(url: str, place: HomeLocation) -> int:
    """How many statements the server is sent to open a home whose views are made."""
    with psycopg.connect(url, autocommit=True) as connection:
        folder = connection.execute("SHOW data_directory").fetchall()[0][0]
        log = Path(folder).parent / "log"
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
        connection.execute("SELECT pg_reload_conf()")
        time.sleep(0.5)
        before = log.stat().st_size
        with open_home(place, os.environ) as home:
            home.views.catch_up()
        time.sleep(0.2)
        lines = log.read_bytes()[before:].decode("utf-8", "replace").splitlines()
        connection.execute("ALTER SYSTEM RESET log_statement")
        connection.execute("SELECT pg_reload_conf()")
    return sum(" LOG:  statement: " in one or " LOG:  execute " in one for one in lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=100)
    agents = parser.parse_args().agents
    print(machine())
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres.server() as address,
        postgres.database(address) as url,
    ):
        here, back = FolderLocation(Path(folder, "home")), FolderLocation(Path(folder, "back"))
        done(["demo-data", "--agents", str(agents), "--months", "1"], here.folder)
        homes = Homes(Database(url))
        there = DatabaseLocation(homes, "anna", {**os.environ, "WAKELOG_DATABASE": url})
        out = seconds(lambda: copy_home(here, there, os.environ, lambda *_: None))
        bare = by_copy(url)
        file, server = seconds(lambda: proved(here)), seconds(lambda: proved(there))
        with open_home(there, os.environ) as home:
            home.views.catch_up()
            rows = sum(log.count() for log in (home.services.journal, home.services.agents))
        asked = statements(url, there)
        home_again = seconds(lambda: copy_home(there, back, os.environ, lambda *_: None))
        homes.database.close()
    print(f"{agents} agents, {rows:,} rows")
    table(
        ("", "found", "ratio", "aim"),
        [
            ("prove on PostgreSQL over SQLite, cold", f"{server:.1f} s, {file:.1f} s",
             f"{server / file:.2f}", "1.5"),
            ("copy into PostgreSQL, speed over COPY's", f"{out:.1f} s, {bare:.1f} s",
             f"{bare / out:.2f}", "0.25"),
            ("copy back into a folder", f"{home_again:.1f} s", "", ""),
            ("statements to open it, views made", str(asked), "", "8"),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()

"""How many statements a deed sends to the server: each waits for a network where there is one."""

import os
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from adapters.home.home_location import location_of
from adapters.store.postgres.homes import Homes
from adapters.wiring import open_home
from tests.support.cli import done

pytestmark = pytest.mark.slow
HOME = "pg:anna"


def test_a_deed_sends_no_more_statements_than_it_needs(
    postgres_homes: Homes, tmp_path: Path
) -> None:
    environ = {
        "WAKELOG_DATABASE": postgres_homes.database.url,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    log = told_all(postgres_homes)

    def sent(deed: Callable[[], object]) -> int:
        before = log.stat().st_size
        deed()
        lines = log.read_bytes()[before:].splitlines()
        return sum(b" LOG:  statement: " in one or b" LOG:  execute " in one for one in lines)

    def opened() -> None:
        with open_home(location_of(HOME, environ), {**os.environ, **environ}) as home:
            home.views.catch_up()

    done(["home", "create", "anna"], "-", env=environ)
    done(["task", "add", "Mend the fence", "--item", "Buy boards"], HOME, env=environ)
    done(["agent", "create", "--task", "fence"], HOME, env=environ)
    assert 0 < sent(lambda: done(["task", "show", "fence"], HOME, env=environ)) <= 56
    assert 0 < sent(lambda: done(["task", "add", "Milk"], HOME, env=environ)) <= 92
    assert 0 < sent(lambda: done(["wake", "fence"], HOME, env=environ)) <= 400
    assert 0 < sent(opened) <= 30


def told_all(homes: Homes) -> Path:
    """The server's log, in which new connections to this database tell what they are sent."""
    with psycopg.connect(homes.database.url, autocommit=True) as line:
        name, folder = line.execute(
            "SELECT current_database(), current_setting('data_directory')"
        ).fetchall()[0]
        line.execute(f"ALTER DATABASE {name} SET log_statement = 'all'".encode())
    return Path(folder).parent / "log"

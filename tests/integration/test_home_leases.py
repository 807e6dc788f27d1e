"""Leases of a home in PostgreSQL: as those of a folder, by the server's clock, and for a worker."""

import time
from collections.abc import Mapping
from pathlib import Path
from threading import Semaphore

import pytest

from adapters.store.postgres.homes import Homes
from adapters.store.postgres.leases import HomeLeases
from tests.support.cli import done, refused, told
from tests.support.services import START

pytestmark = pytest.mark.slow
LIMIT = 3


def test_leases_of_a_home_are_those_of_a_folder(postgres_homes: Homes) -> None:
    number = postgres_homes.create("anna", "r1").number
    other_home = postgres_homes.create("ben", "r1").number
    one, two = (HomeLeases(postgres_homes.database, number, seconds=1) for _ in range(2))
    ben = HomeLeases(postgres_homes.database, other_home, seconds=1)
    for each in (one, two, ben):
        each.join(START)
    assert [each.owner for each in two.runtimes(START)] == sorted([one.owner, two.owner])
    assert one.take("agent", "wake", START, LIMIT)
    assert not two.take("agent", "wake", START, LIMIT)
    assert ben.take("agent", "wake", START, LIMIT)  # another home's agent of that name
    assert two.state("agent", "wake", START) == "held"
    assert two.state("other", "wake", START) == "none"
    assert not two.take("other", "wake", START, 1)  # as many as may are held
    two.give_back("agent")  # is not its own
    assert not two.take("agent", "wake", START, LIMIT)
    one.give_back("agent")
    assert two.take("agent", "later", START, LIMIT)
    two.leave(is_in_doubt=True)
    assert one.state("agent", "later", START) == "lapsed"
    assert one.state("agent", "another", START) == "none"
    assert one.take("agent", "later", START, LIMIT)
    time.sleep(1.1)  # without a heartbeat
    assert two.state("agent", "later", START) == "lapsed"
    one.beat(START)
    assert two.state("agent", "later", START) == "held"


def test_what_was_thrown_away_is_said_again(postgres_homes: Homes) -> None:
    number = postgres_homes.create("anna", "r1").number
    one, two = (HomeLeases(postgres_homes.database, number) for _ in range(2))
    one.join(START)
    assert one.take("agent", "wake", START, LIMIT)
    postgres_homes.database.make_runtime()
    assert two.state("agent", "wake", START) == "none"
    one.beat(START)
    assert two.state("agent", "wake", START) == "held"
    assert [each.owner for each in two.runtimes(START)] == [one.owner]


def test_a_worker_knows_what_has_no_lease_and_bounds_all_its_wakes(postgres_homes: Homes) -> None:
    numbers = [postgres_homes.create(name, "r1").number for name in ("anna", "ben")]
    slots = Semaphore(1)
    anna, ben = (
        HomeLeases(postgres_homes.database, number, slots=slots, is_tending=True)
        for number in numbers
    )
    assert anna.state("agent", "wake", START) == "lapsed"  # nobody else was handed the home
    assert anna.take("agent", "wake", START, LIMIT)
    assert not ben.take("agent", "wake", START, LIMIT)
    anna.give_back("agent")
    assert ben.take("agent", "wake", START, LIMIT)
    ben.close()
    assert anna.take("agent", "wake", START, LIMIT)


def cluster_told(environ: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = told(["cluster"], "-", env=environ)
    return found


def test_the_cluster_says_what_waits_and_is_made_again(
    postgres_homes: Homes, tmp_path: Path
) -> None:
    environ = {"WAKELOG_DATABASE": postgres_homes.database.url, "XDG_CACHE_HOME": str(tmp_path)}
    done(["home", "create", "anna"], "-", env=environ)
    found = cluster_told(environ)
    assert found["workers"] == []
    assert found["homes"] == {"open": 1, "due": 1, "held": 0, "frozen": 0, "limited": 0}
    with postgres_homes.database.connection() as connection:
        connection.execute("UPDATE runtime.homes SET next_at = 'infinity'")
    assert cluster_told(environ)["oldest_due_seconds"] is None
    done(["task", "add", "Mend the fence"], "pg:anna", env=environ)
    assert cluster_told(environ)["homes"] == {
        "open": 1,
        "due": 1,
        "held": 0,
        "frozen": 0,
        "limited": 0,
    }
    with postgres_homes.database.connection() as connection:
        connection.execute("UPDATE runtime.homes SET hold_until = now() + interval '1 minute'")
    assert cluster_told(environ)["held_off"] == ["anna"]
    assert "held off   pg:anna" in done(["cluster"], "-", env=environ)
    with postgres_homes.database.connection() as connection:
        connection.execute("DROP SCHEMA runtime, queue CASCADE")
    assert "wakelog database init" in refused(["cluster"], "-", env=environ)
    done(["database", "check", "--runtime"], "-", env=environ)
    assert cluster_told(environ)["held_off"] == []
    assert told(["prove"], "pg:anna", env=environ)["ok"]


def test_a_worker_that_cannot_be_trusted_does_not_start(postgres_homes: Homes) -> None:
    environ = {"WAKELOG_DATABASE": postgres_homes.database.url}
    assert "is set by hand" in refused(["worker"], "-", env=environ)
    by_clock = {**environ, "WAKELOG_NOW": ""}
    assert "there is no home 'nobody'" in refused(["worker", "--only", "nobody"], "-", env=by_clock)
    name = postgres_homes.database.url.rpartition("/")[2]
    with postgres_homes.database.connection() as connection:
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off".encode())
    anew = {**by_clock, "WAKELOG_DATABASE": f"{postgres_homes.database.url}?application_name=new"}
    assert "synchronous_commit is off" in refused(["worker"], "-", env=anew)

"""Limits over all homes of a database: shared by its workers, and no home's waits hold another."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from adapters.cluster.limits import WAIT_LEAST, Limits, SharedLimits
from adapters.home.prices import WHOLE
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from tests.support.clusters import Cluster, cluster
from tests.support.postgres import database

pytestmark = pytest.mark.slow


@pytest.fixture
def made(postgres: str) -> Iterator[Cluster]:
    with database(postgres) as url, cluster(url) as found:
        yield found


def asked(homes: Homes, sql: str) -> None:
    with psycopg.connect(homes.database.url) as line:
        line.execute(sql.encode())


def test_workers_share_a_bucket_and_the_database_s_clock_refills_it(postgres_homes: Homes) -> None:
    limits = Limits(requests=6)
    one, other = (
        SharedLimits(postgres_homes.database, limits),
        Database(postgres_homes.database.url),
    )
    two = SharedLimits(other, limits)
    with ThreadPoolExecutor(4) as threads:
        waits = list(threads.map(lambda nth: (one, two)[nth % 2].wait(nth), range(12)))
    assert waits.count(0) == 6
    assert min(one for one in waits if one) >= WAIT_LEAST
    asked(postgres_homes, "UPDATE runtime.buckets SET at = at - interval '10 seconds'")
    assert [two.wait(1), one.wait(2)][0] == 0
    assert one.wait(2) > 0
    asked(postgres_homes, "UPDATE runtime.buckets SET at = at - interval '1 day'")
    assert [one.wait(1) for _ in range(7)].count(0) == 6  # no more than a minute's is saved
    other.close()


def test_a_home_at_its_limit_takes_nothing_of_the_others(postgres_homes: Homes) -> None:
    found = SharedLimits(postgres_homes.database, Limits(requests=5, home_requests=2))
    assert [found.wait(1) == 0 for _ in range(4)] == [True, True, False, False]
    assert [found.wait(2) == 0 for _ in range(3)] == [True, True, False]
    assert [found.wait(3) == 0 for _ in range(2)] == [True, False]  # five in all


def test_what_a_day_cost_is_counted_over_all_homes_until_the_next(postgres_homes: Homes) -> None:
    found = SharedLimits(postgres_homes.database, Limits(cost=0.5))
    found.spend("EUR", WHOLE // 4)
    found.spend("USD", WHOLE // 4)
    assert found.wait(1) == 0
    found.spend("EUR", WHOLE // 4)
    assert WAIT_LEAST <= found.wait(2) <= 86_400
    asked(postgres_homes, "UPDATE runtime.spent SET day = day - 1")
    assert found.wait(1) == 0
    assert SharedLimits(postgres_homes.database, Limits()).wait(1) == 0


def test_a_home_at_its_limit_waits_and_the_others_wake(made: Cluster) -> None:
    made.make("busy", 5)
    made.make("calm", 1)
    number = made.homes.named("busy").number
    level = f"INSERT INTO runtime.buckets VALUES ('home {number}', 2, clock_timestamp())"
    asked(made.homes, level)  # two at once, then one a second
    made.begin("--home-requests", "60")
    made.until_ended("calm", 1)
    made.until_ended("busy", 5)
    made.until_quiet()
    with psycopg.connect(made.url) as line:
        waits = f"home = {number} AND topic = 'wake.deferred.1'"
        found = line.execute(f"SELECT count(*) FROM agent.events WHERE {waits}".encode())
        assert found.fetchall()[0][0] >= 1
        waits = f"home <> {number} AND topic = 'wake.deferred.1'"
        found = line.execute(f"SELECT count(*) FROM agent.events WHERE {waits}".encode())
        assert found.fetchall() == [(0,)]
    assert all(one.faults == [] for one in made.tallies().values())
    made.stop()

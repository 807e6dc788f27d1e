"""Limits over all homes of a database: shared by its workers, and no home's waits hold another."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import psycopg
import pytest

from adapters.cluster.limits import WAIT_LEAST, HomeAllowance, Limits, SharedLimits
from adapters.home.prices import WHOLE
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from tests.support.cli import told
from tests.support.clusters import Cluster, cluster
from tests.support.postgres import database

pytestmark = pytest.mark.slow


@pytest.fixture
def made(postgres: str) -> Iterator[Cluster]:
    with database(postgres) as url, cluster(url) as found:
        yield found


def found(made: Cluster, sql: str) -> int:
    with psycopg.connect(made.url) as line:
        return int(line.execute(sql.encode()).fetchall()[0][0])


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


def test_what_was_allowed_and_not_asked_is_given_back(postgres_homes: Homes) -> None:
    found = SharedLimits(postgres_homes.database, Limits(requests=2, home_requests=1))
    allowed = HomeAllowance(found, 1)
    assert (allowed.take(), allowed.take() > 0) == (0, True)
    allowed.give_back(1)
    assert [allowed.take() == 0, found.wait(2) == 0, found.wait(3) == 0] == [True, True, False]


def test_homes_that_wait_for_all_look_again_one_after_another(postgres_homes: Homes) -> None:
    homes = [postgres_homes.create(name, f"r{name}", "") for name in "abc"]
    found = SharedLimits(postgres_homes.database, Limits(requests=6))
    assert [found.wait(0) for _ in range(6)] == [0] * 6
    waits = [found.wait(one.number) for one in homes]
    assert [later - sooner for sooner, later in pairwise(waits)] == [10, 10]
    assert found.wait(homes[-1].number) <= waits[-1]  # itself is not waited for


def test_what_a_day_cost_outlives_queue_and_leases_that_are_made_anew(
    postgres_homes: Homes,
) -> None:
    found = SharedLimits(postgres_homes.database, Limits(requests=1, cost=1.0))
    found.spend("EUR", 2 * WHOLE)
    for _ in range(2):
        postgres_homes.database.make_runtime()
    assert found.wait(1) > 0


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


def test_a_home_at_its_limit_grows_by_nothing_however_often_it_is_looked_at(made: Cluster) -> None:
    made.make("busy", 3)
    number = made.homes.named("busy").number
    level = f"INSERT INTO runtime.buckets VALUES ('home {number}', -3600, clock_timestamp())"
    asked(made.homes, level)
    rows = f"SELECT count(*) FROM agent.events WHERE home = {number}"
    waits = f"SELECT EXISTS (SELECT FROM runtime.homes WHERE home = {number}"
    waits += " AND limited_until > now() AND next_at > now())"
    made.begin("--home-requests", "60")
    made.until(waits)
    before = found(made, rows)  # the first look may have noted how far the journal was read
    for _ in range(3):
        made.until(waits)
        asked(made.homes, "UPDATE runtime.homes SET next_at = now(), limited_until = '-infinity'")
    made.until(waits)
    assert found(made, rows) == before
    assert told(["cluster"], "-", env=made.environ())["limited"] == ["busy"]
    asked(made.homes, "UPDATE runtime.buckets SET level = 60")
    asked(made.homes, "UPDATE runtime.homes SET next_at = now()")
    made.until_ended("busy", 3)
    assert made.stop() == [0]
    assert made.tallies()["busy"].faults == []


def test_a_home_at_its_limit_waits_and_the_others_wake(made: Cluster) -> None:
    made.make("busy", 3)
    made.make("calm", 1)
    number = made.homes.named("busy").number
    level = f"INSERT INTO runtime.buckets VALUES ('home {number}', 2, clock_timestamp())"
    asked(made.homes, level)  # two at once, then one a second
    made.begin("--home-requests", "60")
    made.until_ended("calm", 1)
    made.until_ended("busy", 3)
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

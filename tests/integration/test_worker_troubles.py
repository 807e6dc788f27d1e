"""What befalls workers: homes that cannot be tended, a crowd, signals, odd clocks, silence."""

import signal
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import psycopg
import pytest

from adapters.cluster import worker_loop
from adapters.cluster.worker import WorkerOptions
from adapters.home.clock import SystemClock
from adapters.store.postgres.schema import LOGS
from adapters.wiring import Home
from domain.append import envelope
from domain.errors import Refused
from tests.support import whole
from tests.support.cli import done, told
from tests.support.clusters import Cluster, cluster
from tests.support.cutting import PLAINLY, line_to
from tests.support.openai_server import serving
from tests.support.postgres import database
from tests.support.scripted_server import Answer

pytestmark = pytest.mark.slow
ENDED = "(SELECT count(*) FROM agent.events WHERE topic = 'wake.finished.1') >= {}"
FAULTS = "SELECT name, faults FROM runtime.homes JOIN wakelog.homes USING (home) ORDER BY name"

LONGER = "UPDATE runtime.homes SET hold_until = now() + '1 h' WHERE hold_until > '-infinity'"
"""Homes that were held off are, however slow the test is."""


@pytest.fixture
def made(postgres: str) -> Iterator[Cluster]:
    with database(postgres) as url, cluster(url) as found:
        yield found


@pytest.fixture
def owner(made: Cluster) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Whoever runs the database, and may do anything in it."""
    with psycopg.connect(made.url, autocommit=True) as connection:
        yield connection


def test_homes_that_cannot_be_tended_are_held_off_and_harm_no_other(
    made: Cluster, owner: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    for name in ("anna", "ben", "carl"):
        made.make(name, 2)
    damaged = f"home = {made.homes.named('anna').number} AND n = 1 AND row = 0"
    state = owner.execute(f"SELECT state FROM agent.events WHERE {damaged}".encode()).fetchall()
    change = f"UPDATE agent.events SET state = %s WHERE {damaged}".encode()
    tried: Counter[str] = Counter()
    faulty = {"carl"}

    def opens(name: str) -> Home:
        tried[name] += 1
        if name in faulty:
            raise ZeroDivisionError(name)
        return made.opened(name)

    owner.execute(change, (b"x",))
    options = WorkerOptions(homes=2)
    for _ in range(2):
        most = max(tried["anna"], tried["carl"])
        more = f"2 = (SELECT count(*) FROM runtime.homes WHERE faults > {most})"
        said = made.work(f"SELECT {ENDED.format(2)} AND {more}", opens, options)
        assert {fields["home"] for event, fields in said if event == "trouble"} == {"anna", "carl"}
        owner.execute(LONGER)
        assert told(["cluster"], "-", env=made.environ())["held_off"] == ["anna", "carl"]
        faults = [("anna", tried["anna"]), ("ben", 0), ("carl", tried["carl"])]
        assert owner.execute(FAULTS).fetchall() == faults, "it was tried as often as it was held"
        owner.execute("UPDATE runtime.homes SET hold_until = now() WHERE faults > 0")
    owner.execute(change, state[0])
    faulty.clear()
    made.work(f"SELECT {ENDED.format(6)}", opens, options)
    assert owner.execute(FAULTS).fetchall() == [("anna", 0), ("ben", 0), ("carl", 0)]
    assert [one.faults for one in made.tallies().values()] == [[], [], []]


def test_a_home_in_trouble_is_held_off_twice_as_long_each_time_and_five_minutes_at_most(
    made: Cluster, owner: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    done(["home", "create", "anna"], "-", env=made.environ())
    number = made.homes.named("anna").number
    ends = []
    for _ in range(10):
        worker_loop.hold_off(made.homes.database, number)
        asked = "SELECT extract(epoch FROM hold_until)::float8, hold_until <= now() + '300 s'"
        ((end, is_bounded),) = owner.execute(f"{asked} FROM runtime.homes".encode()).fetchall()
        assert is_bounded
        ends.append(float(str(end)))
    grown = [later - one for one, later in pairwise(ends)][:7]
    assert [more >= 2 ** (nth + 1) for nth, more in enumerate(grown)] == [True] * 7


def test_a_second_signal_ends_a_worker_at_once_and_others_go_on_with_its_wakes(
    made: Cluster,
) -> None:
    with serving(*[Answer(seconds=600)] * 4) as provider:
        provider.key = ""
        made.make("anna", 2)
        done(["policy", "allow", provider.model], "pg:anna", env=made.environ())
        patient = ("--grace", "3600", "--lease", "3600")
        worker = made.begin(*patient, WAKELOG_MODEL=provider.model)
        made.until_asking(2)
        worker.send_signal(signal.SIGTERM)
        made.until_said("draining")
        worker.send_signal(signal.SIGINT)
        assert worker.wait(60) == 130
        made.workers.clear()
        assert told(["cluster"], "-", env=made.environ())["workers"] == []
        other = made.begin(*patient, WAKELOG_MODEL=provider.model)
        made.until_asked_again()  # within a minute of that hour
        made.kill(other)
    assert told(["prove"], "pg:anna", env=made.environ())["ok"]


def test_no_home_is_tended_twice_while_another_waits_for_its_first_turn(made: Cluster) -> None:
    made.make("crowd", 30)
    made.make("single", 1)
    names = {"crowd", "single", *(f"home-{nth:02}" for nth in range(20))}
    for name in names - {"crowd", "single"}:
        made.homes.create(name, "r1")
    opened: list[str] = []

    def opens(name: str) -> Home:
        opened.append(name)
        return made.opened(name)

    options = WorkerOptions(homes=1, slice=0.0)
    said = made.work(lambda: opened.count("crowd") > 1, opens, options)
    assert sorted(opened[: len(names)]) == sorted(names)
    ended = Counter(fields["home"] for event, fields in said if event == "ended")
    assert ended["single"] == 1
    assert 0 < ended["crowd"] < 30


AHEAD, BEHIND = timedelta(hours=1), timedelta(hours=-1)


@pytest.mark.parametrize("off", [AHEAD, BEHIND], ids=["ahead", "behind"])
def test_where_a_worker_runs_an_hour_off_nothing_is_taken_early_and_no_time_goes_back(
    off: timedelta, made: Cluster, owner: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    for name in ("anna", "ben"):
        made.make(name, 1)
    later = "UPDATE runtime.homes SET next_at = now() + interval '30 minutes' WHERE home = {}"
    news = "UPDATE {}.heads SET is_news = false WHERE home = {}"
    number = made.homes.named("ben").number
    for sql in (later.format(number), *(news.format(one, number) for one in LOGS)):
        owner.execute(sql.encode())
    opened = []

    def clock() -> datetime:
        return datetime.now(UTC) + off

    def opens(name: str) -> Home:
        opened.append(name)
        home = made.opened(name)
        home.services.clock = SystemClock(home.services.agents.tail().at, wall=clock)
        return home

    until = f"SELECT {ENDED.format(1)} AND NOT EXISTS (SELECT FROM queue.procrastinate_jobs)"
    made.work(until, opens, WorkerOptions(lease=3600), clock)  # it looks at its clock with a beat
    with pytest.raises(Refused, match="are 3600 seconds apart"):
        made.work("", opens, WorkerOptions(lease=2), clock)
    assert set(opened) == {"anna"}
    with made.opened("anna") as home:
        made.ask("anna")
        for log in (home.services.journal, home.services.agents):
            times = [at for row in log.rows() if (at := envelope.read(row).at)]
            assert times == sorted(times)
        assert whole.faults(home.services) == []


def test_a_worker_whose_line_falls_silent_is_replaced_and_overwrites_nothing_afterwards(
    made: Cluster,
) -> None:
    for name in ("anna", "ben"):
        made.make(name, 3)
    with line_to(int(made.url.rpartition(":")[2].partition("/")[0])) as line:
        name = made.url.rpartition("/")[2]
        url = f"postgresql://owner@127.0.0.1:{line.port}/{name}?{PLAINLY}"
        silent = made.start(think=2.0, url=url)
        made.until_asking()
        line.fall_silent()
        made.until_said("lost")  # though no connection has ended
        assert "does not answer" in made.log()
        made.start(think=2.0)
        made.until_asked_again()
        line.flow()
        made.until_quiet()
        line.fall_silent()
        for word in ("draining", "interrupted"):
            silent.send_signal(signal.SIGTERM)
            made.until_said(word)
        assert silent.wait(60) == 130
        made.workers.remove(silent)
        line.flow()
        assert made.stop() == [0]
    found = made.tallies()
    assert [one.faults for one in found.values()] == [[], []]
    assert sum(one.retaken for one in found.values()) >= 1
    assert sum(one.late for one in found.values()) >= 1

"""Workers tend the homes of a database: killed, stopped, cut off, each wake ends once."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.clusters import Cluster, cluster
from tests.support.cutting import PLAINLY, line_to
from tests.support.postgres import control, database, made_database, server

pytestmark = pytest.mark.slow


@pytest.fixture
def made(postgres: str) -> Iterator[Cluster]:
    with database(postgres) as url, cluster(url) as found:
        yield found


def looked_through(made: Cluster) -> tuple[int, int]:
    """How many wakes were taken over and how many replies came late; everything ended once."""
    found = made.tallies()
    for name, one in found.items():
        assert one.faults == [], name
    return sum(one.retaken for one in found.values()), sum(one.late for one in found.values())


def test_a_worker_that_is_killed_while_models_are_asked_loses_no_wake(made: Cluster) -> None:
    names = [f"home-{nth}" for nth in range(4)]
    for name in names:
        made.make(name, 3)
    first, _ = made.start(think=0.8, homes=2), made.start(think=0.8, homes=2)
    for victim in (first, None):
        made.until_asking()
        made.kill(victim or made.workers[0])
        made.start()
        for name in names:
            made.ask(name)
    made.until_quiet()
    assert made.stop() == [0, 0]
    retaken, _ = looked_through(made)
    assert retaken >= 1


def test_a_worker_that_stands_still_beyond_its_lease_loses_its_homes_and_harms_none(
    made: Cluster,
) -> None:
    for name in ("anna", "ben"):
        made.make(name, 3)
    stopped = made.start(think=1.0)
    made.until_asking()
    stopped.send_signal(signal.SIGSTOP)
    made.start(think=3.0)
    made.until_asked_again()
    stopped.send_signal(signal.SIGCONT)
    made.until_quiet()
    assert made.stop() == [0, 0]
    retaken, late = looked_through(made)
    assert retaken >= 1
    assert late >= 1
    assert '"lost"' in made.log()


def test_workers_that_are_told_to_end_as_they_begin_end(made: Cluster) -> None:
    made.make("anna", 2)
    for _ in range(4):
        made.start()
    assert made.stop() == [0, 0, 0, 0]  # each as soon as it is known to have begun


def test_a_worker_without_a_network_is_replaced_and_comes_back(made: Cluster) -> None:
    for name in ("anna", "ben"):
        made.make(name, 3)
    with line_to(int(made.url.rpartition(":")[2].partition("/")[0])) as line:
        name = made.url.rpartition("/")[2]
        url = f"postgresql://owner@127.0.0.1:{line.port}/{name}?{PLAINLY}"
        made.start(think=1.0, url=url)
        made.until_asking()
        line.take_down()
        made.start()
        made.until_asked_again()
        made.until_logged("cannot be reached")
        line.put_up()
        for name in ("anna", "ben"):
            made.ask(name)
        made.until_quiet()
        assert made.stop() == [0, 0]
    retaken, _ = looked_through(made)
    assert retaken >= 1


def test_a_server_that_starts_again_loses_no_wake_and_ends_no_worker() -> None:
    with server() as address, cluster(made_database(address)) as made:
        for name in ("anna", "ben"):
            made.make(name, 3)
        made.start(think=1.5), made.start(think=1.5)
        made.until_working(2)
        made.until_asking()
        with ExitStack() as stack:  # all of them wait in this process's pool afterwards
            for _ in range(3):
                stack.enter_context(made.homes.database.connection())
        control(address, "restart", "-m", "fast")
        for name in ("anna", "ben"):  # nobody is told of connections that ended meanwhile
            made.ask(name)
        made.until_quiet()
        assert made.stop() == [0, 0]
        looked_through(made)
        control(address, "stop", "-m", "immediate")  # it is no child of this process any more

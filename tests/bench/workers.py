"""What a second worker brings, how long a due wake waits, and how long until a killed one is
replaced. Of many homes: `cluster_load.py`.

python tests/bench/workers.py [--homes 24] [--agents 4] [--think 0.3] [--lease 4]
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.clock import SystemClock
from tests.bench.worker_kill import made_homes, running
from tests.support import clusters, whole
from tests.support.clusters import Cluster

ENDED = "SELECT count(*) FROM agent.events WHERE topic = 'wake.finished.1'"
COMMITS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
WAITS = """
WITH at AS (
    SELECT home, n, min(substr(convert_from(state, 'UTF8'), 8, 27)) AS at
    FROM agent.events WHERE row = 0 GROUP BY home, n
    HAVING min(substr(convert_from(state, 'UTF8'), 8, 27)) >= %s),
seen AS (
    SELECT one.home, topic, convert_from(state, 'UTF8')::jsonb -> 'data' ->> 'runKey' AS key, at.at
    FROM agent.events AS one JOIN at USING (home, n)
    WHERE topic IN ('alert.wake_queued.1', 'alert.wake_begun.1'))
SELECT extract(epoch FROM min(begun.at)::timestamptz - min(queued.at)::timestamptz)::float8
    AS waited
FROM seen AS queued JOIN seen AS begun USING (home, key)
WHERE queued.topic = 'alert.wake_queued.1' AND begun.topic = 'alert.wake_begun.1'
GROUP BY home, key ORDER BY waited"""


def asked(made: Cluster, sql: str, *values: str) -> list[tuple[float, ...]]:
    with psycopg.connect(made.url) as connection:
        return connection.execute(sql.encode(), values).fetchall()


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 1_200
    while not what():
        assert time.monotonic() < end, "it does not settle"
        time.sleep(0.05)


def rate(made: Cluster, names: list[str], agents: int, workers: int, think: float) -> float:
    """Wakes a second, from the first that ends to the last, with so many workers of two homes
    each: so few that models set the pace, not the processor."""
    for _ in range(workers):
        made.start(think, homes=2)
    until(lambda: asked(made, "SELECT count(*) FROM runtime.runtimes")[0][0] >= workers)
    before = asked(made, ENDED)[0][0]
    for name in names:
        made.ask(name)
    until(lambda: asked(made, ENDED)[0][0] > before)
    start, first = time.monotonic(), asked(made, ENDED)[0][0]
    until(lambda: asked(made, ENDED)[0][0] >= before + len(names) * agents)
    found = (before + len(names) * agents - first) / (time.monotonic() - start)
    made.until_quiet()
    made.stop()
    return found


def waits(made: Cluster, name: str, times: int) -> list[float]:
    """Seconds from an agent's request to its wake, where nothing else runs."""
    since = SystemClock().now()
    made.start(0.01)
    until(lambda: asked(made, "SELECT count(*) FROM runtime.runtimes")[0][0] >= 1)
    for _ in range(times):
        made.until_quiet()
        with made.opened(name) as home:
            agent = whole.agents_of(home.services)[0]
            home.services.append_agent(home.services.request(agent))
    made.until_quiet()
    made.stop()
    return [one[0] for one in asked(made, WAITS, since)]


def takeover(made: Cluster, name: str, lease: int) -> float:
    """Seconds from a kill until the wakes go on in another worker."""
    victim = made.start(think=2.0, lease=lease, homes=1)
    made.ask(name)
    made.until_asking(1)
    made.start(think=0.1, lease=lease, homes=1)
    until(lambda: asked(made, "SELECT count(*) FROM runtime.runtimes WHERE home = 0")[0][0] >= 2)
    made.ask(name)
    made.until_asking(1)
    start = time.monotonic()
    made.kill(victim)
    made.until_asked_again()
    return time.monotonic() - start


def spread(waited: list[float]) -> None:
    if waited:
        half, most = (waited[int(len(waited) * part)] for part in (0.5, 0.95))
        print(f"wait of a due wake: p50 {half:.2f} s, p95 {most:.2f} s, of {len(waited)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--homes", type=int, default=24)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--think", type=float, default=0.3)
    parser.add_argument("--lease", type=int, default=4)
    given = parser.parse_args()
    clusters.PATIENCE_SECONDS = 1_200.0
    with running() as made:
        names = made_homes(made, given.homes, given.agents)
        rate(made, names, given.agents, 2, given.think)  # first wakes; the pages are warm
        one, two = (rate(made, names, given.agents, workers, given.think) for workers in (1, 2))
        print(f"wakes a second: {one:.1f} by one worker, {two:.1f} by two: {two / one:.2f} times")
        spread(waits(made, names[0], 10))
        found = takeover(made, names[0], given.lease)
        print(f"taken over after {found:.1f} s, {found / given.lease:.2f} leases")
        made.stop()


if __name__ == "__main__":
    main()

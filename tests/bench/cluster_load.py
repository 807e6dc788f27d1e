"""Many homes on few workers: wakes, waits, commits, connections, memory, and who has the processor.

python tests/bench/cluster_load.py [--homes 1000] [--agents 20] [--seconds 600] [--asks 4]

One home is made by commands, its first wakes end, and its rows are copied into all others within
the database. Then wakes are asked for at random, so many a second, on two workers.
"""

import argparse
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.clock import SystemClock
from adapters.store.postgres.schema import LOGS, VIEW_TABLES
from domain.agent.commands import RequestWake
from tests.bench.common import machine
from tests.bench.worker_kill import made_homes, running
from tests.support import clusters, whole
from tests.support.clusters import Cluster

TICKS = os.sysconf("SC_CLK_TCK")
WORKERS = 2
DUE = """
SELECT count(*) FROM runtime.homes AS one WHERE next_at <= now() OR EXISTS (
    SELECT FROM agent.heads WHERE is_news AND home = one.home)"""
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
COPIED = ["runtime.homes", *(f"views.{one}" for one in VIEW_TABLES)]
COPIED += [f"{log}.{table}" for log in LOGS for table in ("heads", "events", "payloads")]


def asked(made: Cluster, sql: str, *values: str) -> list[tuple[float, ...]]:
    with psycopg.connect(made.url) as connection:
        return connection.execute(sql.encode(), values).fetchall()


def multiplied(made: Cluster, homes: int) -> None:
    """Copy the one home there is, with its views, until there are so many."""
    with psycopg.connect(made.url) as connection:
        connection.execute(
            "INSERT INTO wakelog.homes (name, replica, settings) SELECT 'home-' || one, replica,"
            " settings FROM wakelog.homes, generate_series(1, %s) AS one WHERE home = 1",
            (homes - 1,),
        )
        for table in COPIED:
            asks = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            found = connection.execute(asks.encode(), (table,)).fetchall()
            columns = [f'"{name}"' for (name,) in found if name != "home"]
            values = ", ".join(f"one.{name}" for name in columns)
            connection.execute(
                f"INSERT INTO {table} (home, {', '.join(columns)}) SELECT other.home, {values}"
                f" FROM {table} AS one, wakelog.homes AS other"
                " WHERE one.home = 1 AND other.home > 1 ORDER BY other.home".encode()
            )
    with psycopg.connect(made.url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


@contextmanager
def loaded(made: Cluster, commands: list[RequestWake], asks: float) -> Iterator[list[int]]:
    """Wakes are asked for at random, from a thread; how often, and in which homes, is told."""
    ends, dice, clock = threading.Event(), random.Random(7), SystemClock()
    logs = [made.homes.log(one, "agent") for one in made.homes.all()]
    told: list[int] = []

    def ask() -> None:
        due = time.monotonic()
        while not ends.wait(max(0.0, due - time.monotonic())):
            nth = dice.randrange(len(logs))
            logs[nth].append(dice.choice(commands), clock.now())
            told.append(nth)
            due += 1 / asks

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield told
    finally:
        ends.set()
        thread.join()


def used(pids: list[int]) -> float:
    """Processor seconds of some processes, and of their children that have ended."""
    total = 0.0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:  # it has ended
            continue
        total += sum(map(int, text.rpartition(")")[2].split()[11:15])) / TICKS
    return total


def server_pids(made: Cluster) -> list[int]:
    """The server and its processes."""
    sql = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::float8"
    first = int(asked(made, sql)[0][0])
    children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii")
    return [first, *map(int, children.split())]


def resident(pid: int) -> int:
    """Kilobytes of a process that are in memory."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(text.partition("VmRSS:")[2].split()[0])


def load(made: Cluster, commands: list[RequestWake], given: argparse.Namespace) -> None:
    """Put it under load, and tell what came of it."""
    workers = [made.start(given.think, lease=30, homes=32).pid for _ in range(WORKERS)]
    time.sleep(5)
    since, cores = SystemClock().now(), os.cpu_count() or 1
    ended, commits = asked(made, ENDED)[0][0], asked(made, COMMITS)[0][0]
    server, start = used(server_pids(made)), time.monotonic()
    at_work, mine = used(workers), time.process_time()
    sizes, lines, due, loads = [0], [0.0], 0.0, []
    with loaded(made, commands, given.asks) as told:
        while time.monotonic() < start + given.seconds:
            time.sleep(5)
            sizes += [resident(one) for one in workers]
            lines.append(asked(made, OTHERS)[0][0])
            loads.append(os.getloadavg()[0])
            passed = time.monotonic() - start
            due = asked(made, DUE)[0][0]
            print(f"{passed:.0f} s: {len(told)} asked, {due:.0f} homes due", flush=True)
    passed = time.monotonic() - start
    commits = asked(made, COMMITS)[0][0] - commits
    parts = {
        "workers": used(workers) - at_work,
        "PostgreSQL": used(server_pids(made)) - server,
        "who asks": time.process_time() - mine,
    }
    ended = asked(made, ENDED)[0][0] - ended
    print(f"{len(told)} wakes asked in {len(set(told))} homes; at the end {due:.0f} homes are due")
    print(
        f"{ended:.0f} ended in {passed:.0f} s: {ended / passed:.2f}/s; {commits / passed:.0f}",
        end="",
    )
    print(" commits/s")
    print(f"{max(lines):.0f} connections; memory of a worker {max(sizes) / 1024:.0f} MB")
    spread([one[0] for one in asked(made, WAITS, since)])
    print(f"processor of {cores} cores, seconds a second:", end=" ")
    print(", ".join(f"{name} {spent / passed:.2f}" for name, spent in parts.items()))
    each = {name: 1_000 * spent / max(ended, 1) for name, spent in parts.items()}
    print("milliseconds a wake:", ", ".join(f"{name} {one:.0f}" for name, one in each.items()))
    print(f"load of the machine {min(loads):.1f} to {max(loads):.1f}")
    is_busy = sum(parts.values()) > 0.7 * passed * cores
    print("the limit:", "the processor" if is_busy else "what is asked, or what others use")
    made.stop()


def spread(waited: list[float]) -> None:
    if waited:
        half, most = (waited[int(len(waited) * part)] for part in (0.5, 0.95))
        print(f"wait of a due wake: p50 {half:.2f} s, p95 {most:.2f} s, of {len(waited)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--homes", type=int, default=1_000)
    parser.add_argument("--agents", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--asks", type=float, default=4)
    parser.add_argument("--think", type=float, default=0.3)
    given = parser.parse_args()
    clusters.PATIENCE_SECONDS = 1_200.0
    print(machine(), flush=True)
    with running() as made:
        begun = time.monotonic()
        (name,) = made_homes(made, 1, given.agents)
        made.start(0.01)
        made.until_quiet()
        made.stop()
        with made.opened(name) as home:
            commands = [home.services.request(one) for one in whole.agents_of(home.services)]
        multiplied(made, given.homes)
        print(f"{given.homes} homes made in {time.monotonic() - begun:.0f} s", flush=True)
        load(made, commands, given)


if __name__ == "__main__":
    main()

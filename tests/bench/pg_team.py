"""A team's homes on three workers, which are killed with -9 as the server is: every wake once, and
small homes are served beside one with thousands of due wakes.

python tests/bench/pg_team.py [--homes 300] [--agents 2] [--crowd 2000] [--kills 6] [--think 0.2]

One small home is made by commands, with its first wakes queued, and copied within the database; one
of a crowd stands beside them. While three workers go on, one of them is killed again and again, and
the server once, all its processes at once. What came of it is counted by SQL of its own, over the
rows as they are stored: nothing of the program is asked.
"""

import argparse
import os
import random
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.cluster_load import multiplied
from tests.bench.common import machine
from tests.bench.worker_kill import running
from tests.support import clusters
from tests.support.clusters import Cluster
from tests.support.postgres import begin_again, control

WORKERS, LEASE = 3, 4
DICE = random.Random(11)
_SEEN = """
WITH at AS (
    SELECT home, n, convert_from(state, 'UTF8')::jsonb ->> 'at' AS at
    FROM agent.events WHERE row = 0),
seen AS (
    SELECT one.home, topic, at.at::timestamptz AS at, coalesce(
        convert_from(state, 'UTF8')::jsonb #>> '{data,runKey}',
        split_part(split_part(stream, ':', 2), '@', 1)) AS key
    FROM agent.events AS one JOIN at USING (home, n)
    WHERE topic IN ('alert.wake_queued.1', 'wake.started.1', 'wake.finished.1')),
wakes AS (
    SELECT home, key, count(*) FILTER (WHERE topic = 'alert.wake_queued.1') AS queued,
        count(*) FILTER (WHERE topic = 'wake.started.1') AS started,
        count(*) FILTER (WHERE topic = 'wake.finished.1') AS ended,
        max(at) FILTER (WHERE topic = 'wake.finished.1') AS ended_at
    FROM seen GROUP BY home, key)"""
COUNTED = f"""{_SEEN}
SELECT count(*), count(*) FILTER (WHERE ended = 0), count(*) FILTER (WHERE ended > 1),
    count(*) FILTER (WHERE started > 1), count(*) FILTER (WHERE queued <> 1) FROM wakes"""
WAITED = f"""{_SEEN}, first AS (SELECT %s::timestamptz AS begun)
SELECT wakes.home = (SELECT home FROM wakelog.homes WHERE name = 'crowd') AS is_crowd,
    percentile_cont(ARRAY[0.5, 0.95, 1]) WITHIN GROUP
        (ORDER BY extract(epoch FROM ended_at - begun))
FROM wakes, first GROUP BY 1 ORDER BY 1"""
"""Until wakes of small homes ended, and until those of the crowd did: seconds."""
BROKEN = """
SELECT count(*) FROM (
    SELECT home, count(DISTINCT n) AS appends, max(n) AS newest FROM {log}.events GROUP BY home
) AS one JOIN {log}.heads USING (home)
WHERE appends <> newest OR newest <> heads.n"""
AGAIN = """
SELECT count(*) FROM agent.events WHERE topic = 'wake.model_asked.1'
    AND (convert_from(state, 'UTF8')::jsonb #>> '{data,attempt}')::int > 1"""


def asked(made: Cluster, sql: str, *values: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(made.url) as line:
        return line.execute(sql.encode(), values).fetchall()


def kill_server(made: Cluster) -> None:
    """Kill the server and all its processes with -9, and start it again."""
    ((folder, first),) = asked(
        made,
        "SELECT current_setting('data_directory'),"
        " split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int",
    )
    children = Path(f"/proc/{first}/task/{first}/children").read_text("ascii").split()
    for pid in (first, *map(int, children)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os.waitpid(first, 0)  # it is a child of this very process
    options = Path(folder, "postmaster.opts").read_text("utf-8").partition(" ")[2].strip()
    begin_again(folder, options)


def killed(made: Cluster, given: argparse.Namespace) -> None:
    """Kill workers again and again, and the server in the middle."""
    for nth in range(given.kills):
        made.until_asking(1)
        time.sleep(1 + 3 * DICE.random())
        if nth == given.kills // 2:
            kill_server(made)
            print(f"{time.monotonic() - given.begun:.0f} s: the server was killed", flush=True)
        made.kill(DICE.choice(made.workers))
        made.start(given.think, LEASE, homes=32, slice_seconds=5)
        print(f"{time.monotonic() - given.begun:.0f} s: a worker was killed", flush=True)


def told(made: Cluster, since: str) -> bool:
    """Print what the rows say; whether all is well."""
    ((wakes, *wrong),) = asked(made, COUNTED)
    names = ("lost", "ended twice", "begun twice", "queued twice or never")
    said = ", ".join(f"{count} {name}" for name, count in zip(names, wrong, strict=True))
    broken = [asked(made, BROKEN.format(log=log))[0][0] for log in ("journal", "agent")]
    again = asked(made, AGAIN)[0][0]
    print(f"{wakes} wakes: {said}; {again} questions asked again after a kill")
    print(f"{broken[0]} journals and {broken[1]} agent logs with a gap")
    for is_crowd, waits in asked(made, WAITED, since):
        half, most, last = waits
        name = "the crowd" if is_crowd else "small homes"
        print(f"{name}: half ended within {half:.1f} s, 95 % {most:.1f} s, all {last:.1f} s")
    return not any((*wrong, *broken))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--homes", type=int, default=300)
    parser.add_argument("--agents", type=int, default=2)
    parser.add_argument("--crowd", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--think", type=float, default=0.2)
    given = parser.parse_args()
    clusters.PATIENCE_SECONDS = 1_800.0
    given.begun = time.monotonic()
    print(machine())
    with running() as made:
        made.make("home-0", given.agents)
        multiplied(made, given.homes)
        if given.crowd:
            made.make("crowd", given.crowd)
        print(f"{time.monotonic() - given.begun:.0f} s: made", flush=True)
        ((since,),) = asked(made, "SELECT clock_timestamp()::text")
        given.begun = time.monotonic()
        for _ in range(WORKERS):
            made.start(given.think, LEASE, homes=32, slice_seconds=5)
        made.until_working(WORKERS)
        killed(made, given)
        made.until_quiet()
        print(f"{time.monotonic() - given.begun:.0f} s: quiet")
        is_well = told(made, str(since))
        print("workers ended with", made.stop())
        control(made.url.rpartition("/")[0] + "/", "stop", "-m", "immediate")
    raise SystemExit(0 if is_well else 1)


if __name__ == "__main__":
    main()

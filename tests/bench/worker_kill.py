"""Workers on homes in PostgreSQL, killed again and again while models are asked: nothing lost.

python tests/bench/worker_kill.py [--rounds 20] [--homes 12] [--agents 6] [--pauses 5]

In each round all agents are asked for a wake, a worker drawn by lot is killed with -9 once models
are being asked, and a new one is started. Then workers are stopped for over two leases, and let go
on. At the end each home is looked through: wakes queued and ended, replies that came late,
operations done twice, and what does not prove.
"""

import argparse
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support import clusters
from tests.support.clusters import Cluster, Tally, cluster
from tests.support.postgres import database, server

LEASE = 3
WORKERS = 3


@contextmanager
def running() -> Iterator[Cluster]:
    """A server with a database and nothing in it."""
    with server() as address, database(address) as url, cluster(url) as made:
        yield made


def made_homes(made: Cluster, homes: int, agents: int) -> list[str]:
    names = [f"home-{nth}" for nth in range(homes)]
    for name in names:
        made.make(name, agents)
    return names


def told(found: dict[str, Tally]) -> None:
    """Print what came of it."""
    wrong = [f"{name}: {fault}" for name, one in found.items() for fault in one.faults]
    ended, late, retaken = (
        sum(getattr(one, name) for one in found.values()) for name in ("ended", "late", "retaken")
    )
    print(f"{ended} wakes ended, {retaken} calls asked again, {late} late replies")
    print(f"{sum(not one.faults for one in found.values())} of {len(found)} homes are whole")
    print(*wrong[:20], sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--homes", type=int, default=12)
    parser.add_argument("--agents", type=int, default=6)
    parser.add_argument("--pauses", type=int, default=5)
    given = parser.parse_args()
    dice = random.Random(7)
    clusters.PATIENCE_SECONDS = 600.0
    with running() as made:
        names = made_homes(made, given.homes, given.agents)
        for _ in range(WORKERS):
            made.start(lease=LEASE)
        for _ in range(given.rounds):
            ask(made, names)
            made.until_asking()
            made.kill(dice.choice(made.workers))
            made.start(lease=LEASE)
        for _ in range(given.pauses):
            ask(made, names)
            made.until_asking()
            stopped = dice.choice(made.workers)
            stopped.send_signal(signal.SIGSTOP)
            time.sleep(2.2 * LEASE)
            stopped.send_signal(signal.SIGCONT)
        made.until_quiet()
        print("workers ended with", made.stop())
        told(made.tallies())


def ask(made: Cluster, names: list[str]) -> None:
    for name in names:
        made.ask(name)


if __name__ == "__main__":
    main()

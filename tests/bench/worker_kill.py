"""Workers on homes in PostgreSQL, killed again and again while models are asked: nothing lost.

python tests/bench/worker_kill.py [--rounds 20] [--homes 12] [--agents 6] [--pauses 5]

In each round all agents are asked for a wake, each task gets a note that leads to a proposal, and
another process confirms what is proposed. A worker drawn by lot is killed with -9 once models are
being asked, and who confirms as well, with operations in flight; both are started anew. Then
workers are stopped for over two leases and let go on; the server is restarted; and a worker loses
its network for two leases. At the end each home is looked through: wakes queued and ended, how many
of these ended unbegun (superseded: who asks for a wake while another one is queued gets one that
takes its triggers over, so nothing is lost), replies that came late, operations done twice, and
what does not prove.
"""

import argparse
import multiprocessing
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.runtime import review
from adapters.wiring import Home
from domain.agent.agent import AgentCreated
from domain.append.causes import Receipt
from domain.changes.change_set import ItemConfirmed, ItemConfirming
from domain.errors import Refused
from domain.journal.commands import AddNote, ApplyOperation
from domain.log.wire import Words
from tests.support import clusters, whole
from tests.support.clusters import Cluster, Tally, cluster
from tests.support.cutting import line_to
from tests.support.postgres import control, made_database, server

LEASE = 3
WORKERS = 3
DICE = random.Random(7)
SPAWN = multiprocessing.get_context("spawn")


class Confirming:
    """A process that confirms what is proposed, and is killed as workers are."""

    def __init__(self, made: Cluster, names: list[str]) -> None:
        self._given = made.url, str(made.folder), names
        self._start()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def again(self) -> None:
        self.kill()
        self._start()

    def _start(self) -> None:
        self._process = SPAWN.Process(target=confirm_all, args=self._given, daemon=True)
        self._process.start()


def confirm_all(url: str, folder: str, names: list[str]) -> None:
    made, dice = Cluster(url, Path(folder)), random.Random()
    while True:  # until it is killed
        with suppress(Refused), made.opened(dice.choice(names)) as home:
            confirm_open(home)
        time.sleep(0.05)


def confirm_open(home: Home) -> None:
    services = home.services
    found = [
        (one, item.number)
        for one in whole.sets_of(services)
        for item in review.changes_of(services, one).items
        if item.status == "pending"
    ]
    for one, number in found:
        with suppress(Refused):
            review.confirm(services, one, number, is_anyway=True)


def operations(home: Home) -> dict[str, int]:
    """What the logs say of operations, by the rows alone."""
    journal = [one.fact for one in whole.rows_of(home.services.journal)]
    agent = [one.fact for one in whole.rows_of(home.services.agents)]
    keys = [
        one.command.operation
        for one in journal
        if isinstance(one, Receipt)
        and isinstance(one.command, ApplyOperation)
        and one.result.status == "applied"
    ]
    begun = sum(isinstance(one, ItemConfirming) for one in agent)
    ended = sum(isinstance(one, ItemConfirmed) for one in agent)
    return {"begun": begun, "confirmed": ended, "doubled": len(keys) - len(set(keys))}


@contextmanager
def running() -> Iterator[Cluster]:
    """A server with a database and nothing in it."""
    with server() as address, cluster(made_database(address)) as made:
        yield made


def made_homes(made: Cluster, homes: int, agents: int) -> list[str]:
    names = [f"home-{nth}" for nth in range(homes)]
    for name in names:
        made.make(name, agents)
    return names


def without_network(made: Cluster, names: list[str]) -> None:
    """A worker behind a line that is cut for over two leases."""
    with line_to(int(made.url.rpartition(":")[2].partition("/")[0])) as line:
        url = f"postgresql://owner@127.0.0.1:{line.port}/{made.url.rpartition('/')[2]}"
        cut = made.start(lease=LEASE, url=url)
        ask(made, names)
        made.until_asking()
        line.take_down()
        time.sleep(2.2 * LEASE)
        line.put_up()
        made.until_quiet()
        made.kill(cut)


def told(found: dict[str, Tally]) -> None:
    """Print what came of it."""
    wrong = [f"{name}: {fault}" for name, one in found.items() for fault in one.faults]
    for name in ("queued", "ended", "superseded", "retaken", "late"):
        print(f"{name}: {sum(getattr(one, name) for one in found.values())}")
    print(f"{sum(not one.faults for one in found.values())} of {len(found)} homes are whole")
    print(*wrong[:20], sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--homes", type=int, default=12)
    parser.add_argument("--agents", type=int, default=6)
    parser.add_argument("--pauses", type=int, default=5)
    given = parser.parse_args()
    clusters.PATIENCE_SECONDS = 600.0
    with running() as made:
        names = made_homes(made, given.homes, given.agents)
        for _ in range(WORKERS):
            made.start(lease=LEASE)
        confirming = Confirming(made, names)
        for _ in range(given.rounds):
            ask(made, names)
            made.until_asking()
            time.sleep(DICE.random())
            confirming.again()
            made.kill(DICE.choice(made.workers))
            made.start(lease=LEASE)
        for _ in range(given.pauses):
            ask(made, names)
            made.until_asking()
            stopped = DICE.choice(made.workers)
            stopped.send_signal(signal.SIGSTOP)
            time.sleep(2.2 * LEASE)
            stopped.send_signal(signal.SIGCONT)
        ask(made, names)
        made.until_asking()
        control(made.url.rpartition("/")[0] + "/", "restart", "-m", "fast")
        without_network(made, names)
        confirming.kill()
        made.until_quiet()
        print("workers ended with", made.stop())
        told(made.tallies())
        for name in names:
            with made.opened(name) as home:
                print(name, operations(home))
        control(made.url.rpartition("/")[0] + "/", "stop", "-m", "immediate")


def ask(made: Cluster, names: list[str]) -> None:
    """A wake of each agent, and a note on each task that leads to a proposal."""
    for name in names:
        with made.opened(name) as home:
            services = home.services
            facts = [row.fact for row in whole.rows_of(services.agents)]
            for task in [one.task for one in facts if isinstance(one, AgentCreated)]:
                note = AddNote(task, "note", Words(f"It takes {DICE.randint(1, 9)} hours."))
                services.journal.append(note, services.clock.now())
        made.ask(name)


if __name__ == "__main__":
    main()

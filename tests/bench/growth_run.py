"""What `wakelog run` costs where every agent is due: until the first wake, and for each one.

    .venv/bin/python tests/bench/growth_run.py [--large] [--wakes 200] [--rounds 1]
        [--base PYTHON] [--cache DIR]

On copies of the homes of `growth.py`: every task gets a note, and a watcher has taken the notes
before the runtime starts, so that all agents are due a second later. What counts is the
processor's time of the whole process, by what it tells; of several rounds the least.

`--base PYTHON` is the interpreter of another revision's environment: both sides take turns, each
writes the notes and wakes the agents of a copy of its own by its own code.
"""

import argparse
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home import files
from tests.bench.common import machine, table
from tests.bench.growth import LARGE, SIZES, Cost, spent
from tests.bench.growth_homes import REPLICA, SETTINGS, Made, cache_folder, made
from tests.support.process import ROOT, environ

WAKES = 200
THROTTLE = "\n[agents]\nthrottle_seconds = 1\n"
ENVIRON = {files.REPLICA_VARIABLE: REPLICA}
# Of a home that other code has made the views are folded anew first: they list the agents.
CHANGE = """\
import os, sys
from pathlib import Path
from adapters.actions import tasks
from adapters.documents.agents import all_agents
from adapters.runtime import watcher
from adapters.wiring import open_home
TEXT = "Todo: buy a pipe, {0}. It has to be done by 2027-04-{1:02}. It takes about {2} hours."
with open_home(Path(sys.argv[1]), os.environ, is_writing=True) as found:
    found.views.catch_up()
    agents = all_agents(found)
    for nth, one in enumerate(agents):
        tasks.add_note(found, one.task_id, TEXT.format(nth, nth % 28 + 1, nth % 5 + 8))
    watcher.catch_up(found.services)
    found.views.catch_up()
sys.exit(0 if agents else "the home has no agents")
"""


class Ran(NamedTuple):
    """Seconds on the clock until the first wake began, and what that cost; seconds of the
    processor for all wakes, milliseconds for each of their second half; the rows that each
    wrote; the most memory that was held."""

    clock: float
    first: Cost
    wakes: float
    each: float
    rows: float
    megabytes: float


class Side:
    """A revision: its interpreter, and what its processes need."""

    def __init__(self, python: str, path: str) -> None:
        self._python, self._path = python, path

    def changed(self, at: Made, home: Path) -> None:
        """A copy of a home in which every agent has something to wake for."""
        shutil.copytree(at.home, home)
        (home / files.SETTINGS).write_text(SETTINGS + THROTTLE, encoding="utf-8")
        line = [self._python, "-c", CHANGE, str(home)]
        subprocess.run(line, cwd=home.parent, env=self._environ(home), check=True)

    def ran(self, home: Path, wakes: int) -> Ran:
        """Run it until so many wakes have ended."""
        before, begun = _rows(home), time.perf_counter()
        process = subprocess.Popen(
            [self._python, "-m", "adapters.cli.main", "run", "--json"],
            cwd=home.parent,
            env=self._environ(home),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        clock, costs = 0.0, list[Cost]()
        assert process.stderr is not None
        for line in process.stderr:  # until it ends
            event = msgspec.json.decode(line)["event"]
            if event == "waking" and not costs:
                clock = time.perf_counter() - begun
            if event != "ended" and (event != "waking" or costs):
                continue
            costs.append(spent(process.pid))
            if len(costs) == wakes + 1:  # once: a second interrupt would be told in other words
                process.send_signal(signal.SIGINT)
        process.wait()
        first, half, last = costs[0], costs[wakes // 2], costs[wakes]
        each = (last.seconds - half.seconds) / (wakes - wakes // 2) * 1e3
        rows = (_rows(home) - before) / (len(costs) - 1)
        return Ran(clock, first, last.seconds - first.seconds, each, rows, last.megabytes)

    def _environ(self, home: Path) -> dict[str, str]:
        return environ(home, more={**ENVIRON, "PYTHONPATH": self._path})


def _rows(home: Path) -> int:
    with closing(sqlite3.connect(home / files.AGENT)) as connection:
        return int(connection.execute("SELECT count(*) FROM stored_events").fetchone()[0])


def _round(side: Side, at: Made, wakes: int) -> Ran:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        side.changed(at, home)
        return side.ran(home, min(wakes, at.tasks))


def _row(at: Made, name: str, rounds: list[Ran], wakes: int) -> tuple[str, ...]:
    found = min(rounds, key=lambda one: one.wakes)
    return (
        f"{at.tasks:,}",
        name,
        f"{min(wakes, at.tasks):,}",
        f"{found.clock:.1f}",
        f"{found.first.seconds:.2f}",
        f"{found.wakes:.2f}",
        f"{found.each:.1f}",
        f"{found.rows:.1f}",
        f"{found.megabytes:.0f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="10,000 tasks, too")
    parser.add_argument("--wakes", type=int, default=WAKES, help="that are run in each home")
    parser.add_argument("--rounds", type=int, default=1, help="of which the least counts")
    parser.add_argument("--base", type=Path, help="the interpreter of another revision")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where homes are kept")
    given = parser.parse_args()
    sides = {"present": Side(sys.executable, str(ROOT))}
    if given.base:
        sides = {"base": Side(str(given.base.absolute()), ""), **sides}
    rows = []
    for size in (*SIZES, *((LARGE,) if given.large else ())):
        at = made(given.cache.absolute(), size)
        found: dict[str, list[Ran]] = {name: [] for name in sides}
        for _ in range(given.rounds):
            for name, side in sides.items():
                found[name].append(_round(side, at, given.wakes))
                print(size, name, found[name][-1], file=sys.stderr, flush=True)
        rows += [_row(at, name, ran, given.wakes) for name, ran in found.items()]
    print(f"{machine()}\n")
    heads = "agents, all due", "side", "wakes", "first wake: s", "processor s"
    table((*heads, "all wakes: s", "ms a wake", "rows a wake", "peak MB"), rows)


if __name__ == "__main__":
    main()

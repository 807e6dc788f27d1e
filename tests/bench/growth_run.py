"""What `wakelog run` costs where every agent is due: until the first wake, and for each one.

    .venv/bin/python tests/bench/growth_run.py [--large] [--wakes 200] [--cache DIR]

On copies of the homes of `growth.py`: every task is changed, and a watcher has taken the changes
before the runtime starts, so that all agents are due a second later. What counts is the
processor's time of the whole process, by what it tells.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.documents.agents import all_agents
from adapters.home import files
from adapters.runtime import watcher
from adapters.wiring import open_home
from domain.journal.commands import EditTask
from tests.bench.common import machine, table
from tests.bench.growth import LARGE, SIZES, Cost, spent
from tests.bench.growth_homes import REPLICA, SETTINGS, Made, cache_folder, made
from tests.support.process import command, environ

WAKES = 200
THROTTLE = "\n[agents]\nthrottle_seconds = 1\n"
ENVIRON = {files.REPLICA_VARIABLE: REPLICA}


class Ran(NamedTuple):
    """Seconds on the clock until the first wake began, and what that cost; milliseconds of the
    processor for each later wake; the most memory that was held."""

    clock: float
    first: Cost
    each: float
    megabytes: float


def changed(at: Made, home: Path) -> None:
    """A copy of a home in which every agent has something to wake for."""
    shutil.copytree(at.home, home)
    (home / files.SETTINGS).write_text(SETTINGS + THROTTLE, encoding="utf-8")
    with open_home(home, ENVIRON, is_writing=True) as found:
        for one in all_agents(found):
            found.services.append_journal(EditTask(one.task_id, title=f"Task {one.task_id}"))
        watcher.catch_up(found.services)
        found.views.catch_up()


def ran(home: Path, wakes: int) -> Ran:
    """Run it until so many wakes have ended; the first half of them is not counted."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        command("run", "--json"),
        cwd=home.parent,
        env=environ(home, more=ENVIRON),
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
        if event == "ended" or (event == "waking" and not costs):
            costs.append(spent(process.pid))
        if len(costs) == wakes + 1:
            process.send_signal(signal.SIGINT)
    process.wait()
    half, last = costs[wakes // 2], costs[wakes]
    each = (last.seconds - half.seconds) / (wakes - wakes // 2) * 1e3
    return Ran(clock, costs[0], each, last.megabytes)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="10,000 tasks, too")
    parser.add_argument("--wakes", type=int, default=WAKES, help="that are run in each home")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where homes are kept")
    given = parser.parse_args()
    rows = []
    for size in (*SIZES, *((LARGE,) if given.large else ())):
        at = made(given.cache.absolute(), size)
        with tempfile.TemporaryDirectory() as folder:
            changed(at, Path(folder, "home"))
            found = ran(Path(folder, "home"), min(given.wakes, size // 2))
        rows.append(
            (
                f"{size:,}",
                f"{found.clock:.1f}",
                f"{found.first.seconds:.2f}",
                f"{found.each:.1f}",
                f"{found.megabytes:.0f}",
            )
        )
    print(f"{machine()}\n")
    heads = ("agents, all due", "first wake: s", "processor s", "ms a wake", "peak MB")
    table(heads, rows)


if __name__ == "__main__":
    main()

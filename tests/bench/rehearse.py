"""What a rehearsed wake costs in a small home and in a large one.

    .venv/bin/python tests/bench/rehearse.py [--tasks 10 400] [--cache DIR]

Homes as `growth.py` makes and keeps them, where agents are as old in each. Their newest wakes run
again on what was recorded; what counts is the processor's time a wake, the least of three rounds.
"""

import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.usecases.rehearse import Rehearsal, RehearsalRequest
from adapters.wiring import open_home
from tests.bench.common import machine, table
from tests.bench.growth import ENVIRON, cache_folder, made

ROUNDS = 3


def milliseconds(folder: Path, wakes: int) -> tuple[int, float]:
    """How many wakes are rehearsed, and what one takes of the processor."""
    with open_home(folder, {**os.environ, **ENVIRON}) as home:
        home.views.catch_up()
        begun = time.process_time()
        rehearsal = Rehearsal(home, RehearsalRequest(wakes=wakes, is_all=True))
        rehearsal.run(lambda *_: None, 0, 1)
        found = rehearsal.details("", is_showing=False)
        assert (found.left_out, found.arms[0].lost, found.arms[0].avoided) == ({}, 0, 0)
        count = found.wakes + found.quiet
        return count, (time.process_time() - begun) * 1_000 / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, nargs="*", default=[10, 400])
    parser.add_argument("--wakes", type=int, default=15)
    parser.add_argument("--cache", type=Path, default=cache_folder())
    given = parser.parse_args()
    homes = [made(given.cache, count) for count in given.tasks]
    cells, least = list[tuple[str, ...]](), list[float]()
    for one in homes:
        rounds = [milliseconds(one.home, given.wakes) for _ in range(ROUNDS)]
        least.append(min(each for _, each in rounds))
        cells.append((f"{one.rows:,}", f"{rounds[0][0]}", f"{least[-1]:.1f}"))
    print(machine())
    table(("rows", "wakes", "ms a wake"), cells)
    print(f"the largest costs {least[-1] / least[0]:.2f} of the smallest")


if __name__ == "__main__":
    main()

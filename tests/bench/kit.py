"""What a step of `wakelog.testing.HomeMachine` costs, beside one that does nothing.

    .venv/bin/python tests/bench/kit.py [--examples 50] [--rounds 3]

Processor time of a machine of 20 steps in memory, with the proof and the laws at its end; the floor
is the same machine, whose steps are drawn and not done: what Hypothesis takes. Both take turns.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from hypothesis import settings

from tests.bench.common import machine, table
from wakelog.testing import HomeMachine, Step

AIM = 10
"""Milliseconds a step, on average."""


class Counted(HomeMachine):
    """Counts its steps, over all its runs."""

    steps = 0

    def does(self, step: Step) -> Any:
        Counted.steps += 1
        return super().does(step)


class Idle(Counted):
    """Draws steps, and does none."""

    def does(self, step: Step) -> Any:
        Counted.steps += 1

    def teardown(self) -> None:
        self.home.close()


def milliseconds(played: type[Counted], examples: int) -> float:
    """Of processor time, for each step."""
    played.TestCase.settings = settings(
        max_examples=examples,
        stateful_step_count=20,
        deadline=None,
        derandomize=True,
        database=None,
    )
    Counted.steps, begun = 0, time.process_time()
    played.TestCase("runTest").runTest()
    return (time.process_time() - begun) * 1_000 / Counted.steps


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    print(machine())
    sides = {"a step that is done and proved": Counted, "the floor: one that is drawn": Idle}
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(asked.rounds + 1):  # the first one warms up
        for name, played in sides.items():
            found[name].append(milliseconds(played, asked.examples))
    rows = [(name, f"{median(each[1:]):.1f}", f"{AIM}") for name, each in found.items()]
    table(("`HomeMachine`, in memory", "ms a step", "aim, less than"), rows)


if __name__ == "__main__":
    main()

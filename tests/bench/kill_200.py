"""Kills a busy process 200 times at random moments, recovers each time, and counts what was lost.

    .venv/bin/python tests/bench/kill_200.py [KILLS [SEED]]

A driver imports, writes, wakes and decides on one home; it is killed with -9 some time between
its first command and a second later. Then `wakelog recover` runs, and both logs are looked
through: nothing lost, nothing done twice, every wake ended, every byte proved.
"""

import platform
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.support import killing  # noqa: E402  the path to it is set above
from tests.support.driver import prepare  # noqa: E402  the same

SECONDS_MAX = 0.6
MINUTES_MAX = 20
A_HOME_KILLS = 20  # then a fresh one, so that each check stays quick


def _is_over(begun: float) -> bool:
    """Whether the time for all is used up; then that is printed."""
    if time.monotonic() - begun <= 60 * MINUTES_MAX:
        return False
    print(f"stopped after {MINUTES_MAX} minutes")
    return True


def _told(nth: int, faults: list[str]) -> int:
    """Print what a kill broke; how much that was."""
    for fault in faults:
        print(f"  kill {nth}: {fault}")
    return len(faults)


def main(kills: int = 200, seed: int = 2027) -> int:
    """Run; how many faults were found."""
    print(f"{kills} kills, seed {seed}; {platform.platform()}, Python {platform.python_version()}")
    dice = random.Random(seed)
    begun = time.monotonic()
    faults, done, doubts = 0, 0, 0
    totals: dict[str, int] = {}
    for first in range(0, kills, A_HOME_KILLS):
        if _is_over(begun):
            return faults + 1
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            prepare(home)
            rounds = range(first, min(first + A_HOME_KILLS, kills))
            found, taken_up = _killed(home, rounds, dice)
            counts = killing.counted(home)
        faults, doubts, done = faults + found, doubts + taken_up, done + len(rounds)
        totals = {name: totals.get(name, 0) + count for name, count in counts.items()}
        seconds = time.monotonic() - begun
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        print(f"{done:4} kills, {faults} faults, {seconds:5.0f} s: {told}", flush=True)
    told = ", ".join(f"{count:,} {name}" for name, count in totals.items())
    print(f"{done} kills, {doubts} found something to recover, {faults} faults; {told}")
    return faults


def _killed(home: Path, rounds: range, dice: random.Random) -> tuple[int, int]:
    """Kill once a round; how many faults that showed, and how often something was recovered."""
    notes: list[str] = []
    faults, doubts = 0, 0
    for nth in rounds:
        killed = killing.kill_once(home, f"k{nth}", dice, SECONDS_MAX)
        notes += killed.notes
        doubts += killed.recovered > 0
        faults += _told(nth, [*killed.errors, *killing.checked(home, notes)])
    return faults, doubts


if __name__ == "__main__":
    raise SystemExit(1 if main(*(int(one) for one in sys.argv[1:])) else 0)

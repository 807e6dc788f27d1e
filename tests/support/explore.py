"""Looks for examples that nobody thought of, for some minutes: `make explore MINUTES=10`.

For three quarters of the time the files of property and stateful tests run under the profile
`explore`, two at once, round after round in an order that the day gives, and with seeds of it; for
the rest `wakelog simulate` plays homes of one machine and of three with seeds of it. What failed is
kept in a folder, of a test what it said, of a simulation its history too, and the status is 1. A
file that time cuts off has found nothing so far.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).parents[2]
FOLDERS = ("property", "stateful")
SHARE = 0.75  # of the time, for tests
EACH = 0.2  # of the time, for one file at most
WAKES = 300  # of a simulation
AT_ONCE = 2
OK, NOTHING_RUN = 0, 5  # of pytest


def tests_of(day: str) -> Iterator[list[str]]:
    """Commands of pytest, round after round."""
    files = sorted(one for name in FOLDERS for one in (ROOT / "tests" / name).glob("test_*.py"))
    for nth in count(1):
        for file in random.Random(f"{day}/{nth}").sample(files, len(files)):
            seed = random.Random(f"{day}/{nth}/{file.name}").getrandbits(32)
            name = str(file.relative_to(ROOT))
            yield ["-m", "pytest", "-q", f"--hypothesis-seed={seed}", name]


def simulations_of(day: str, keep: Path) -> Iterator[list[str]]:
    """Commands that simulate homes of one machine, and of three."""
    for nth in count(1):
        machines = 1 if nth % 2 else 3
        history = keep / f"{day}-{nth}.jsonl"
        wanted = ["--seed", f"{day}/{nth}", "--wakes", str(WAKES), "--replicas", str(machines)]
        yield ["-m", "adapters.cli.main", "simulate", *wanted, "--keep", str(history)]


def ran(command: list[str], seconds: float, keep: Path) -> bool | None:
    """Whether a command went well; None: there was no time for all of it. What it said when it did
    not is kept and told."""
    environ = {**os.environ, "HYPOTHESIS_PROFILE": "explore"}
    try:
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=environ, capture_output=True, text=True,
            timeout=max(seconds, 1), check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        say(f"{' '.join(command[1:])}: cut off")
        return None
    told, what = done.stdout + done.stderr, " ".join(command[1:])
    if done.returncode not in (OK, NOTHING_RUN):
        file = keep / f"{Path(command[-1]).stem}.txt"
        with file.open("a", encoding="utf-8") as out:
            out.write(f"{what}\n\n{told}\n")
        say(f"FAILED {what}\n{told[-3_000:]}\nAll of it is in {file}.")
        return False
    say(f"{what}: {told.strip().splitlines()[-1] if told.strip() else 'well'}")
    return True


def explored(
    commands: Iterator[list[str]], end: float, most: float, keep: Path
) -> list[bool | None]:
    """What came of all commands that were begun in time. `most`: seconds of one."""

    def each(_: int) -> list[bool | None]:
        found = list[bool | None]()
        while time.monotonic() < end:
            with one_at_a_time:
                command = next(commands)
            found.append(ran(command, min(end - time.monotonic(), most), keep))
        return found

    one_at_a_time = Lock()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [*chain.from_iterable(pool.map(each, range(AT_ONCE)))]


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--day", default=f"{datetime.now(UTC):%Y-%m-%d}")
    parser.add_argument("--keep", type=Path, default=ROOT / "found")
    asked = parser.parse_args()
    asked.keep.mkdir(exist_ok=True)
    begun, seconds = time.monotonic(), asked.minutes * 60
    most, keep = EACH * seconds, asked.keep
    tests = explored(tests_of(asked.day), begun + SHARE * seconds, most, keep)
    homes = explored(simulations_of(asked.day, keep), begun + seconds, most, keep)
    for what, found in (("files of tests", tests), ("simulations", homes)):
        cut = f", {found.count(None)} cut off" if None in found else ""
        say(f"{len(found)} {what}: {found.count(False)} failed{cut}")
    sys.exit(int(False in tests + homes))


if __name__ == "__main__":
    main()

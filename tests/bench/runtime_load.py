"""Many agents, many changes in bursts, one runtime: every trigger once, memory flat.

python tests/bench/runtime_load.py [--agents 500] [--changes 20000] [--burst 500]
"""

import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.wiring import open_home
from domain.journal.commands import EditTask
from tests.bench import accounts
from tests.support.process import begun

TIMEOUT = 3_600
ENVIRON = {"WAKELOG_REPLICA": "r1"}


def write(home: Path, tasks: list[str], changes: int, burst: int, pause: float) -> None:
    """Change random tasks in bursts with pauses between them; no task grows by it, so a runtime
    that does leaks."""
    dice = random.Random(7)
    with open_home(home, ENVIRON, is_writing=True) as found:
        for done in range(0, changes, burst):
            for nth in range(done, min(done + burst, changes)):
                found.services.append_journal(
                    EditTask(dice.choice(tasks), title=f"Task, change {nth:6}")
                )
            time.sleep(pause)


def settled(home: Path, process: "subprocess.Popen[bytes]") -> accounts.Books:
    """Wait until every change has its fate and every wake its end."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        assert process.poll() is None, "the runtime has ended"
        found = accounts.books(home)
        if not found.missing and not found.open_wakes:
            return found
        time.sleep(max(1.0, found.wakes / 2_000))  # to look takes a while, too
    raise AssertionError("it did not settle")


def told(found: accounts.Books, sizes: accounts.Sizes, rows: int) -> None:
    """Print what came of it."""
    print(f"{found.wakes} wakes in {found.seconds:.1f} s, {found.wakes / found.seconds:.0f}/s")
    share, each = sizes.cpu / found.seconds, 1000 * sizes.cpu / found.wakes
    print(f"the runtime had {share:.2f} of a core: {each:.0f} ms of it for each wake")
    print(f"{found.triggers} triggers, {found.double} twice, {found.missing} missing")
    print(f"{found.overlaps} overlaps, {found.late} late replies; {rows} rows proved")
    half, most = accounts.nth(found.latency, 0.5), accounts.nth(found.latency, 0.95)
    print(f"latency from due to begun: p50 {half:.2f} s, p95 {most:.2f} s")
    quarters = ", ".join(f"{size:.1f}" for size in sizes.quarters())
    print(f"memory of the runtime, MB, median of each quarter: {quarters}")


def main(arguments: list[str] | None = None) -> accounts.Books:
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=500)
    parser.add_argument("--changes", type=int, default=20_000)
    parser.add_argument("--burst", type=int, default=500)
    parser.add_argument("--pause", type=float, default=5.0, help="seconds between two bursts")
    parser.add_argument("--throttle", type=int, default=2)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tasks = accounts.make(home, given.agents, given.throttle, ENVIRON)
        log = Path(folder) / "run.log"
        process = begun(home, "--json", "--quiet", "run", log=log)
        with accounts.watched(process.pid) as sizes:
            try:
                start = time.monotonic()
                write(home, tasks, given.changes, given.burst, given.pause)
                wrote = time.monotonic() - start
                found = settled(home, process)
            finally:
                process.terminate()
                process.wait(60)
        rows = accounts.proved(home)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    print(f"{given.agents} agents, {given.changes} changes written in {wrote:.1f} s")
    told(found, sizes, rows)
    assert (found.double, found.missing, found.overlaps, found.late) == (0, 0, 0, 0)
    return found


if __name__ == "__main__":
    main()

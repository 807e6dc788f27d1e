"""Two runtimes on one home, one of them killed again and again: nothing lost, nothing twice.

python tests/bench/runtime_kill.py [--times 100] [--agents 50] [--changes 20]
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.wiring import Home, open_home
from domain.journal.commands import AddNote
from domain.wire import Words
from tests.bench import accounts
from tests.bench.runtime_load import ENVIRON, is_idle
from tests.support.process import begun

TIMEOUT = 600


def _write(home: Home, tasks: list[str], dice: random.Random, nth: int, changes: int) -> None:
    """A burst of changes of random tasks."""
    for one in range(changes):
        said = Words(f"change {nth}.{one}")
        home.desk.keep(AddNote(dice.choice(tasks), "note", said))
        time.sleep(0.01)


def main(arguments: list[str] | None = None) -> accounts.Books:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--changes", type=int, default=20, help="between two kills")
    given = parser.parse_args(arguments)
    dice = random.Random(11)
    recoveries: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tasks = accounts.make(home, given.agents, 1, ENVIRON)
        log = Path(folder) / "run.log"
        both = [begun(home, "--json", "run", log=log) for _ in range(2)]
        with open_home(home, ENVIRON, is_writing=True) as found:
            for nth in range(given.times):
                _write(found, tasks, dice, nth, given.changes)
                time.sleep(dice.random())
                victim = both[nth % 2]
                victim.kill()
                victim.wait()
                both[nth % 2] = begun(home, "--json", "run", log=log)
        start = time.monotonic()
        try:
            while not is_idle(home) or accounts.books(home).missing:
                assert time.monotonic() < start + TIMEOUT, "it did not settle"
                assert all(one.poll() is None for one in both), "a runtime has ended"
                time.sleep(0.5)
            recoveries.append(time.monotonic() - start)
        finally:
            for process in both:
                process.terminate()
                process.wait(60)
        result = accounts.books(home)
        rows = accounts.proved(home)
        taken_over = log.read_text(encoding="utf-8").count('"taken_over"')
    print(f"{given.times} times kill -9 of one of two runtimes, {given.agents} agents")
    print(f"{result.triggers} triggers, {result.double} twice, {result.missing} missing")
    print(f"{result.wakes} wakes, {result.overlaps} overlaps, {result.open_wakes} open")
    print(f"{taken_over} wakes taken over; settled {recoveries[0]:.1f} s after the last kill")
    print(f"{rows} rows proved")
    bad = (result.double, result.missing, result.overlaps, result.open_wakes)
    assert bad == (0, 0, 0, 0), bad
    return result


if __name__ == "__main__":
    main()

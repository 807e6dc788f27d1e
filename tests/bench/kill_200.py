"""Kills a busy process 200 times at random moments, recovers each time, and counts what was lost.

    .venv/bin/python tests/bench/kill_200.py [KILLS [SEED]] [--without-serve] [--keep DIR]

A driver imports, writes, wakes and decides on one home; it is killed with -9 some time between
its first command and a second later, or so. Beside it a person imports, asks SQL and makes
backups, half of them killed, too, and a served page is visited: notes, figures, "Wake now",
"Prove"; it is killed now and then. Then `wakelog recover` runs, and both logs are looked through,
by our own checks and by those of `tests.support.checker`: nothing lost that was acknowledged,
nothing done twice, every wake ended, every byte proved, every backup whole.
"""

import argparse
import platform
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from domain.errors import WakelogError  # noqa: E402  the path to it is set above
from tests.support import checker, killing  # noqa: E402  the same
from tests.support.company import Company  # noqa: E402  the same
from tests.support.driver import homed, prepare  # noqa: E402  the same

SECONDS_MAX = 1.2
MINUTES_MAX = 30
A_HOME_KILLS = 20  # then a fresh one, so that each check stays quick


def main(arguments: list[str] | None = None) -> int:
    """Run; how many faults were found."""
    given = _given(arguments)
    kills = given.kills
    system = f"{platform.platform()}, Python {platform.python_version()}"
    print(f"{kills} kills, seed {given.seed}; {system}")
    dice = random.Random(given.seed)
    begun = time.monotonic()
    faults, totals = 0, Counter[str]()
    for first in range(0, kills, A_HOME_KILLS):
        if time.monotonic() - begun > 60 * MINUTES_MAX:
            print(f"stopped after {MINUTES_MAX} minutes")
            return faults + 1
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            prepare(home)
            rounds = range(first, min(first + A_HOME_KILLS, kills))
            counts = _Rounds(home, dice, given).run(rounds)
            if given.keep and counts["faults"]:
                shutil.copytree(home, given.keep / f"home-{first}")
        faults, totals = faults + counts["faults"], totals + counts
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        print(f"{rounds[-1] + 1:4} kills, {time.monotonic() - begun:5.0f} s: {told}", flush=True)
    told = ", ".join(f"{count:,} {name}" for name, count in totals.items() if name != "faults")
    print(f"{kills} kills, {faults} faults; {told}")
    return faults


def _given(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int, nargs="?", default=200)
    parser.add_argument("seed", type=int, nargs="?", default=2027)
    parser.add_argument("--without-serve", action="store_true")
    parser.add_argument("--keep", type=Path, help="where homes with faults are copied to")
    return parser.parse_args(arguments)


class _Rounds:
    """The kills of one home."""

    def __init__(self, home: Path, dice: random.Random, given: argparse.Namespace) -> None:
        self._home, self._dice = home, dice
        self._is_served = not given.without_serve
        self._company = Company(home, dice, homed(home))
        self._notes: list[str] = []
        self._known: set[str] = set()
        self._faults = 0

    def run(self, rounds: range) -> Counter[str]:
        """Kill once a round; then let everything end, and look once more."""
        counts = Counter[str]()
        if self._is_served:
            self._company.open()
        for nth in rounds:
            counts["in doubt"] += self._round(nth)
        self._tell("end", self._company.close())
        recovered = killing.wakelog(self._home, "recover")
        self._tell("end", [recovered.stderr] if recovered.returncode else [])
        self._look("end", is_finished=True)
        with suppress(WakelogError):  # of a home that is destroyed: told above
            counts.update(killing.counted(self._home))
        company = self._company
        counts.update({"visits": company.visits, "acknowledged": len(self._all())})
        counts.update({"others killed": company.kills, **company.person.counts})
        counts["faults"] = self._faults
        return counts

    def _round(self, nth: int) -> int:
        name = f"k{nth}"
        beside = partial(self._company.beside, name)
        killed = killing.kill_once(self._home, name, self._dice, SECONDS_MAX, beside)
        self._notes += killed.notes
        self._tell(name, killed.errors)
        self._look(name, is_finished=not self._is_served)
        return int(killed.recovered > 0)

    def _look(self, name: str, *, is_finished: bool) -> None:
        self._tell(name, killing.checked(self._home, self._all(), is_finished=is_finished))
        for copy in self._company.person.copies:
            found = checker.findings(copy, is_backup=True)
            self._tell(name, [f"{copy.name}: {one}" for one in found])
            shutil.rmtree(copy)
        self._company.person.copies.clear()
        if self._company.server is not None:
            self._tell(name, self._company.server.deleted())

    def _all(self) -> list[str]:
        """All that was acknowledged."""
        return [*self._notes, *self._company.notes, *self._company.person.imported]

    def _tell(self, name: str, found: list[str]) -> None:
        """Print what a kill broke, each thing once."""
        for fault in found:
            if fault not in self._known:
                print(f"  {name}: {fault}", flush=True)
                self._faults += 1
        self._known.update(found)


if __name__ == "__main__":
    raise SystemExit(1 if main() else 0)

"""What a home costs that a second machine shares, after a sync that brought something.

    .venv/bin/python tests/bench/shared_home.py [--tasks 1000] [--base PYTHON] [--rounds 3]

A home of `growth.py` is shared with a laptop, which notes something in each round; then both sync.
Processor time of `confirm`, twice, `wake`, and `prove --since last`, of which each side remembers
its own. `--base PYTHON` is the interpreter of another revision's environment: both sides take
turns, on homes of their own. The floor is the import of click, msgspec and sqlite3.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.common import machine, table
from tests.bench.growth import FLOOR, Cost, Made, Side, cache_folder, made, title

LAPTOP = "laptop"


class Shared(Side):
    """A revision, and a home of its own that a laptop shares."""

    def __init__(self, name: str, python: str, at: Made, folder: Path) -> None:
        folder.mkdir()
        super().__init__(name, python, at, folder / "home")
        self._folder = folder
        self._environ |= {"WAKELOG_NOW": "2027-02-01T08:00:00Z", "XDG_CACHE_HOME": str(folder)}
        self._did("sync", "shelf")
        (folder / LAPTOP).mkdir()
        self.met("first")
        self._did("wake", title(0))  # the timers of a month fire
        self._did("prove", "--since", "last")

    def met(self, text: str) -> None:
        """The laptop notes something, and both machines sync."""
        self._on_laptop("sync", "shelf")
        self._on_laptop("note", title(0), text)
        self._on_laptop("sync", "shelf")
        self._did("sync", "shelf")

    def costs(self, nth: int) -> list[Cost]:
        self.met(f"One more, {nth}.")
        first, second = self.items[2 * nth : 2 * nth + 2]
        confirm = [["confirm", one, "--anyway"] for one in (first, second)]
        commands = [[], *confirm, ["wake", title(1 + nth)], ["prove", "--since", "last"]]
        return [self.cost("", one) for one in commands]

    def _did(self, *arguments: str) -> None:
        process = self.start(*arguments)
        _, errors = process.communicate()
        if process.returncode:
            sys.exit(f"{' '.join(arguments)} ended with {process.returncode}: {errors}")

    def _on_laptop(self, *arguments: str) -> None:
        mine = self._home, self._environ
        self._home = self._folder / LAPTOP
        self._environ = self._environ | {"WAKELOG_REPLICA": LAPTOP}
        try:
            self._did(*arguments)
        finally:
            self._home, self._environ = mine


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--base", type=Path, help="the interpreter of another revision")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where homes are kept")
    given = parser.parse_args()
    at = made(given.cache.absolute(), given.tasks)
    pythons = {"base": str(given.base.absolute())} if given.base else {}
    with tempfile.TemporaryDirectory() as folder:
        sides = [
            Shared(name, python, at, Path(folder, name))
            for name, python in {**pythons, "present": sys.executable}.items()
        ]
        rounds = [[side.costs(nth) for side in sides] for nth in range(given.rounds)]
    print(f"{machine()}; {at.tasks:,} tasks, {at.rows:,} rows\n")
    rows = []
    for side, found in zip(sides, zip(*rounds, strict=True), strict=True):
        least = [min(one.seconds for one in costs) for costs in zip(*found, strict=True)]
        rows.append([side.name, *(f"{one * 1e3:,.0f}" for one in least)])
    table(("ms", FLOOR, "confirm", "another", "wake", "prove --since last"), rows)


if __name__ == "__main__":
    main()

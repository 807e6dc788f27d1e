"""What importing a file of 2,000 lines again costs, against an earlier revision in the same run.

    .venv/bin/python tests/bench/import_cost.py [REVISION]

REVISION: one of this clone; else the last before lines were aligned. Processor seconds of whole
commands, the least of five, and the ratio; at most 1.15 is wanted. Needs git.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parents[2]
BEFORE = "fbc28b1d"
LINES = 2_000
TIMES = 5
RUN = "import sys; sys.argv[0] = 'wakelog'; from adapters.cli.main import cli; cli()"


class Revision:
    """The commands of a checkout, in a home and with a file of its own."""

    def __init__(self, root: Path, folder: Path) -> None:
        kept = {one: value for one, value in os.environ.items() if not one.startswith("WAKELOG")}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        self.env = {**kept, "PYTHONPATH": str(root), "WAKELOG_HOME": str(folder / "home")}
        self.file = folder / "TODO.md"
        self.count = 0
        self.lines = [
            f"- [ ] Do thing {nth} of {nth % 37} due:2027-0{nth % 9 + 1}-11 #l{nth % 7}\n"
            f"  - [ ] step {nth}\n"
            for nth in range(LINES)
        ]
        self.save()

    def save(self) -> None:
        self.file.write_text("".join(self.lines), "utf-8")

    def cost(self, *args: str) -> float:
        """Processor seconds of a command."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", RUN, *args]
        subprocess.run(command, env=self.env, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def unchanged(self) -> float:
        return self.cost("import", str(self.file))

    def read_again(self) -> float:
        self.cost("task", "add", "Something")
        return self.unchanged()

    def changed(self) -> float:
        self.count += 1
        self.lines[1000] = f"- [ ] Do thing 1000 of 1 due:2027-01-{self.count + 10}\n"
        self.save()
        return self.unchanged()

    def longer(self) -> float:
        self.count += 1
        self.lines.insert(500, f"- [ ] Brand new {self.count}\n")
        self.save()
        return self.unchanged()


DEEDS: dict[str, tuple[int, Callable[[Revision], float]]] = {
    "for the first time": (1, Revision.unchanged),
    "unchanged": (TIMES, Revision.unchanged),
    "unchanged, the home not": (TIMES, Revision.read_again),
    "a day changed": (TIMES, Revision.changed),
    "a line more": (TIMES, Revision.longer),
}


def main(revision: str = BEFORE) -> None:
    """Print a line for each deed."""
    with TemporaryDirectory() as there, TemporaryDirectory() as one, TemporaryDirectory() as two:
        archive = ["git", "archive", revision]
        packed = subprocess.run(archive, cwd=HERE, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", there], input=packed, check=True)
        then, now = Revision(Path(there), Path(one)), Revision(HERE, Path(two))
        for name, (times, deed) in DEEDS.items():
            was, took = (min(deed(each) for _ in range(times)) for each in (then, now))
            sys.stdout.write(f"{name:24} {was:.3f} s  {took:.3f} s  {took / was:.2f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

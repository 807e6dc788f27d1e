"""What a person does on one task costs the same in every home: commands and pages, by size.

    .venv/bin/python tests/bench/growth.py [--large] [--only NAME] [--base PYTHON] [--json FILE]

Homes of 100 and 1,000 tasks, with `--large` of 10,000, are made once and kept (see
`growth_homes.py`; `--cache DIR`). Each command is a process of its own on a copy of the home, each
page a request to one server. What counts is the processor's time, the least of three, and the most
memory that the process held. The exponent is that of the size, for what a command costs above the
import of click, msgspec and sqlite3: 0 does not grow, 1 grows as the home does; `!` marks those
over 0.1.

`--base PYTHON` is the interpreter of another revision's environment. Both sides take turns, each on
copies of its own of the same homes, and a last table says how the present code compares.
"""

import argparse
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import msgspec

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home import files
from tests.bench.common import machine, table
from tests.bench.growth_homes import REPLICA, Made, cache_folder, made, title

SIZES, LARGE = (100, 1000), 10_000
PATIENCE = 10.0  # seconds of the processor: what takes longer is run once
LEAST = 0.002  # seconds above the floor: less tells nothing
EXPONENT_MAX = 0.1
ROUNDS = 3
FLOOR = "import click, msgspec, sqlite3"
WAKELOG = "import sys; sys.argv[0] = 'wakelog'; from adapters.cli.main import main; main()"
# A process begins with the peak memory of the one that starts it, so a small one does.
STARTER = """\
import os, sys
_, status, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))
"""
SQL = "SELECT count(*) FROM wakes"
SQL_FIRST = "sql, first time"
MAY_TELL = ("health", "diff RUN RUN")  # what they find is told by exit status 1
PAGES = (
    "/",
    "/inbox",
    "/tasks",
    "/tasks/TASK",
    "/agents/AGENT",
    "/wakes/RUN",
    "/health",
    "/templates",
    "/lessons",
)
ID_OF = {"TASK": "task_id", "AGENT": "agent_id", "RUN": "run_key"}  # where a wake names it


class Cost(NamedTuple):
    """Seconds of the processor, and the most memory that was held."""

    seconds: float
    megabytes: float


Costs = dict[str, dict[int, Cost]]
"""By command or page, by size."""


class Side:
    """A revision, and its own copy of a home."""

    def __init__(self, name: str, python: str, at: Made, home: Path) -> None:
        shutil.copytree(at.home, home)
        self.name, self.at, self._home, self._python = name, at, home, python
        self._environ = {
            name: value
            for name, value in os.environ.items()
            if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("WAKELOG_")
        }
        self._environ |= {"WAKELOG_NOW": at.end, files.REPLICA_VARIABLE: REPLICA}
        self.wakes = self._told("wakes", title(at.tasks // 2), "--limit", "2")
        sets = [
            [str(item["ref"]) for item in one["items"] if item["status"] == "pending"]
            for one in self._told("inbox")
        ]
        self.items = [refs[0] for refs in sets if refs]

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """A command, in a folder where no revision's modules lie."""
        return self._start([self._python, *self._line(arguments)])

    def cost(self, name: str, arguments: Sequence[str]) -> Cost:
        """What a command costs; without arguments, what the floor does. Exits where it fails."""
        if name == SQL_FIRST:
            (self._home / files.ANALYTICS).unlink(missing_ok=True)
        line = self._line(arguments) if arguments else ["-c", FLOOR]
        process = self._start([sys.executable, "-ISc", STARTER, self._python, *line])
        output, errors = process.communicate()
        seconds, megabytes, status = output.rsplit(None, 3)[-3:]
        if int(status) not in ((0, 1) if name in MAY_TELL else (0,)):
            sys.exit(f"{name} ended with {status}: {errors}")
        return Cost(float(seconds), float(megabytes))

    def _line(self, arguments: Sequence[str]) -> list[str]:
        return ["-c", WAKELOG, "--home", str(self._home), *arguments]

    def _start(self, line: Sequence[str]) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen(
            line, cwd=self._home.parent, env=self._environ, stdout=pipe, stderr=pipe, text=True
        )

    def _told(self, *arguments: str) -> list[dict[str, Any]]:
        process = self.start(*arguments, "--json")
        output, errors = process.communicate()
        if process.returncode:
            sys.exit(f"{' '.join(arguments)} ended with {process.returncode}: {errors}")
        return list(msgspec.json.decode(output))


# --------------------------------------------------------------------------------- the commands


def commands(side: Side, nth: int) -> dict[str, list[str]]:
    """What a person does, in the nth round: to the task in the middle, or to all."""
    task, other = title(side.at.tasks // 2), title(side.at.tasks // 2 + 1)
    runs = [str(one["run_key"]) for one in side.wakes]
    return {
        FLOOR: [],
        "task list": ["task", "list"],
        "task list --limit 20": ["task", "list", "--limit", "20"],
        "task show TASK": ["task", "show", task],
        "task set TASK": ["task", "set", task, "--estimate", f"{77 + nth}m"],
        "task note TASK": ["task", "note", task, f"One more, {nth}."],
        "agent list": ["agent", "list"],
        "agent show TASK": ["agent", "show", task],
        "report TASK": ["report", task],
        "wakes --limit 20": ["wakes", "--limit", "20"],
        "show RUN": ["show", runs[0]],
        "inbox": ["inbox"],
        "status": ["status"],
        "health": ["health"],
        "wake TASK": ["wake", other],
        "confirm ITEM": ["confirm", side.items[nth], "--anyway"],
        "reject ITEM": ["reject", side.items[-1 - nth]],
        "why TASK": ["why", task],
        "why journal:N": ["why", f"journal:{side.at.journal}"],
        "import, unchanged": ["import", str(side.at.file)],
        SQL_FIRST: ["sql", SQL],
        "sql, again": ["sql", SQL],
        "metrics": ["metrics"],
        "at RUN": ["at", runs[0]],
        "diff RUN RUN": ["diff", *runs],
        "prove --no-views": ["prove", "--no-views"],
        "prove": ["prove"],
    }


def measure_command(sides: Sequence[Side], which: str) -> list[Cost]:
    """What a command costs each side; they take turns."""
    found: list[list[Cost]] = [[] for _ in sides]
    for nth in range(ROUNDS):
        for costs, side in zip(found, sides, strict=True):
            if not costs or costs[0].seconds < PATIENCE:
                costs.append(side.cost(which, commands(side, nth)[which]))
    return [min(costs) for costs in found]


# ------------------------------------------------------------------------------------- the pages


@contextmanager
def serving(side: Side) -> Iterator[tuple[str, int]]:
    """The address of a server, and its process."""
    process = side.start("serve", "--port", "0")
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip().rstrip("/"), process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def measure_page(
    sides: Sequence[Side], servers: Sequence[tuple[str, int]], page: str
) -> list[Cost]:
    """What a page costs each side, in turns; of the memory, what the server has held so far."""
    found: list[list[Cost]] = [[] for _ in sides]
    for nth in range(ROUNDS + 1):  # the first one loads modules and compiles its template
        for costs, side, server in zip(found, sides, servers, strict=True):
            *before, last = page.split("/")
            named = str(side.wakes[0][ID_OF[last]]) if last in ID_OF else last
            cost = _requested(*server, "/".join([*before, named]))
            if nth:
                costs.append(cost)
    return [min(costs) for costs in found]


def _requested(address: str, pid: int, path: str) -> Cost:
    before = spent(pid)
    with urlopen(address + path) as answer:
        answer.read()
    after = spent(pid)
    return Cost(after.seconds - before.seconds, after.megabytes)


def spent(pid: int) -> Cost:
    """What another process that runs has cost so far: Linux has a clock of each."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    peak = next(line for line in status if line.startswith("VmHWM:"))
    return Cost(time.clock_gettime((~pid << 3) | 2), int(peak.split()[1]) / 1024)


# ------------------------------------------------------------------------------------ the tables


def exponent(costs: Mapping[int, Cost], floor: float) -> float:
    """Of the size, from the smallest home to the largest, for what is above the floor."""
    first, last = min(costs), max(costs)
    few, many = (max(LEAST, costs[one].seconds - floor) for one in (first, last))
    return math.log(many / few) / math.log(last / first)


def told(name: str, costs: Costs) -> None:
    """Print the table of a side."""
    sizes = list(costs[FLOOR])
    floor = min(one.seconds for one in costs[FLOOR].values())
    print(f"\n{name}:\n")
    rows = []
    for which, by_size in costs.items():
        row = [which]
        for one in by_size.values():
            row += [f"{one.seconds * 1e3:,.0f}", f"{one.megabytes:.0f}"]
        grown = exponent(by_size, 0 if which.startswith("/") else floor)
        mark = "!" if grown > EXPONENT_MAX else " "
        rows.append([*row, "" if which == FLOOR else f"{grown:.2f} {mark}"])
    heads = [head for size in sizes for head in (f"{size:,}: ms", "MB")]
    table(("processor time", *heads, "exponent  "), rows)


def compared(base: Costs, present: Costs) -> None:
    """Print how many times as fast the present code is."""
    sizes = list(base[FLOOR])
    print("\nBase by present, of the processor's time (2: twice as fast now):\n")
    table(
        ("", *(f"{size:,}" for size in sizes)),
        [
            [which, *(f"{by_size[n].seconds / present[which][n].seconds:.2f}" for n in sizes)]
            for which, by_size in base.items()
        ],
    )


def measured(sides: Sequence[Side], is_wanted: Callable[[str], bool]) -> dict[str, Costs]:
    """All costs, by the sides' names."""
    found: dict[str, Costs] = {side.name: {} for side in sides}

    def keep(which: str, costs: Sequence[Cost]) -> None:
        for side, cost in zip(sides, costs, strict=True):
            found[side.name].setdefault(which, {})[side.at.tasks] = cost
        print(which, *(f"{one.seconds * 1e3:,.0f} ms" for one in costs), file=sys.stderr)

    for which in commands(sides[0], 0):
        if which == FLOOR or is_wanted(which):
            keep(which, measure_command(sides, which))
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(side)) for side in sides]
        for page in filter(is_wanted, PAGES):
            keep(page, measure_page(sides, servers, page))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="10,000 tasks, too")
    parser.add_argument("--only", action="append", default=[], help="commands with this in them")
    parser.add_argument("--base", type=Path, help="the interpreter of another revision")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where homes are kept")
    parser.add_argument("--json", type=Path, help="write the costs to this file, too")
    given = parser.parse_args()
    only: list[str] = given.only
    cache = given.cache.absolute()  # the processes are not where we are
    homes = [made(cache, size) for size in (*SIZES, *((LARGE,) if given.large else ()))]
    pythons = {"base": str(given.base.absolute())} if given.base else {}
    with tempfile.TemporaryDirectory() as folder:
        sides = [
            Side(name, python, at, Path(folder, f"{name}-{at.tasks}"))
            for at in homes
            for name, python in {**pythons, "present": sys.executable}.items()
        ]
        costs = measured(sides, lambda which: not only or any(one in which for one in only))
    print(machine())
    for one in homes:
        print(f"{one.tasks:,} tasks: {one.wakes:,} wakes, {one.rows:,} rows of both logs")
    for name, by_command in costs.items():
        told(name, by_command)
    if given.base:
        compared(costs["base"], costs["present"])
    if given.json:
        given.json.write_bytes(msgspec.json.format(msgspec.json.encode(costs)))


if __name__ == "__main__":
    main()

"""What `prove --since last` takes beside reading and hashing the same bytes.

    .venv/bin/python tests/bench/prove_remembered.py HOME... [--cache FOLDER]

Each home is proved once, unless FOLDER remembers it, then three times since then, and its rows
and payloads are read and hashed three times: each in a process of its own, the best is told. The
homes are only read; take copies of those that are at work.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.store.log import Log
from tests.bench.common import machine, table

TIMES = 3
MAIN = "from adapters.cli.main import main; main()"
ROOT = Path(__file__).parents[2]


class Taken(NamedTuple):
    """Seconds of the processor, and the peak in MB."""

    seconds: float
    peak: int


def hashed(home: Path) -> int:
    """The floor: every row and payload read and hashed; how many rows."""
    rows = 0
    for name, file in (("journal", "journal.db"), ("agent", "agent.db")):
        log = Log.read_only(name, home / file, "r1")
        digest = hashlib.sha256()
        for row in log.rows():
            rows += 1
            digest.update(row.state)
        for _, data in log.kept_payloads():
            digest.update(data)
        log.close()
    return rows


def taken(*arguments: str, cache: str) -> Taken:
    """What a process takes."""
    environ = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, *arguments], env=environ, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return Taken(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("homes", nargs="+", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--floor", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.floor:
        hashed(given.homes[0])
        return
    print(machine())
    with tempfile.TemporaryDirectory(prefix="wakelog-bench-") as folder:
        cache = str(given.cache or folder)
        rows = [_row(home, cache) for home in given.homes]
    names = "rows", "first s", "since last s", "floor s", "of the floor", "peak MB", "floor's MB"
    table(names, rows)


def _row(home: Path, cache: str) -> tuple[str, ...]:
    prove = "-c", MAIN, "--home", str(home), "prove", "--since", "last"
    first = taken(*prove, cache=cache)
    again = min(taken(*prove, cache=cache) for _ in range(TIMES))
    floor = min(taken(__file__, "--floor", str(home), cache=cache) for _ in range(TIMES))
    ratio = f"{again.seconds / floor.seconds:.1f}"
    told = f"{first.seconds:.1f}", f"{again.seconds:.2f}", f"{floor.seconds:.2f}", ratio
    return f"{hashed(home):,}", *told, str(again.peak), str(floor.peak)


if __name__ == "__main__":
    main()

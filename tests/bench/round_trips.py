"""How often commands wait for a database, and how long they take where it is 50 ms away each way.

python tests/bench/round_trips.py
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.bench.common import machine, table
from tests.support.postgres import made_database, server
from tests.support.round_trips import wire

SECONDS = 0.05
BEFORE = {  # of revision fdf001c6, on the same machine
    "task list": (37, 4.41),
    "task show fence": (52, 6.35),
    "status": (110, 12.45),
    "inbox": (65, 7.97),
    "task add Milk": (72, 8.30),
    "done Milk": (90, 11.82),
    "wake fence": (267, 30.39),
}
READY = ("task add fence", "task add Bread", "agent create --task fence", "wake fence")


def main() -> None:
    print(machine())
    with server() as address, tempfile.TemporaryDirectory() as cache:
        url = made_database(address)
        for deed in ("home create anna", *READY):
            _do(url, cache, deed)
        rows = []
        for deed, (trips, seconds) in BEFORE.items():
            with wire(url, SECONDS) as line:
                begun = time.perf_counter()
                _do(line.url, cache, deed)
                took = time.perf_counter() - begun
            now = str(len(line.trips)), f"{took:.2f}"
            rows.append((deed, str(trips), now[0], f"{seconds:.2f}", now[1]))
    table(("command", "round trips before", "now", "seconds before", "now"), rows)


def _do(url: str, cache: str, deed: str) -> None:
    environ = {**os.environ, "WAKELOG_DATABASE": url, "XDG_CACHE_HOME": cache}
    home = () if deed.startswith("home ") else ("--home", "pg:anna")
    command = [sys.executable, "-m", "adapters.cli.main", *home, *deed.split()]
    subprocess.run(command, env=environ, check=True, capture_output=True)


if __name__ == "__main__":
    main()

"""Simulates many wakes twice with one seed: both runs must write the same bytes and keep the laws.

    .venv/bin/python tests/bench/simulate.py [--wakes 100000] [--seed bench] [--replicas 3]

Without --wakes it is 2,000. The second run is another process under another hash seed; both run at
once.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from time import perf_counter

WAKELOG = Path(sys.executable).parent / "wakelog"


def begun(wakes: int, seed: str, replicas: int, hash_seed: str) -> "subprocess.Popen[bytes]":
    command = [str(WAKELOG), "--json", "simulate", "--wakes", str(wakes), "--seed", seed]
    command += ["--replicas", str(replicas)]
    environ = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environ)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wakes", type=int, default=int(os.environ.get("WAKES", "2000")))
    parser.add_argument("--seed", default="bench")
    parser.add_argument("--replicas", type=int, default=1, help="machines of each home")
    given = parser.parse_args()
    start = perf_counter()
    runs = [begun(given.wakes, given.seed, given.replicas, hash_seed) for hash_seed in ("1", "2")]
    told = [json.loads(run.communicate()[0]) for run in runs]
    seconds = perf_counter() - start
    first, second = told
    print(f"{platform.machine()} Python {platform.python_version()}")
    print(
        f"{first['wakes']:,} wakes in {first['episodes']} homes, {first['rows']:,} rows,"
        f" {first['crashes']} accidents, {seconds:.0f} s: {first['wakes'] / seconds:.0f} wakes/s"
    )
    print(f"digests {first['digest']} {second['digest']}")
    for one in told:
        for fault in one["faults"]:
            print(f"    {fault}")
    is_same = first == second
    print("byte-identical" if is_same else "THEY DIFFER")
    sys.exit(0 if is_same and first["ok"] else 1)


if __name__ == "__main__":
    main()

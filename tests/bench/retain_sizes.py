"""What `wakelog retain` gives back of a home that was lived in for years, and what it takes (ADR
109).

    .venv/bin/python tests/bench/retain_sizes.py [--years 10] [--agents 8] [--home FOLDER]

Makes a home of demo data, which FOLDER keeps for the next time; of a copy of it prompts go that are
older than 90 days, then replies older than a year. Beside each size stands how much of the bytes
before that is; the floor has no prompt and no reply at all, and could show or prove none. `prove`
and the prompt of the oldest wake are asked for before and after, each in a process of its own.
"""

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.demo.generator import REPLICA, make_demo_home
from adapters.home import files
from tests.bench.common import machine, table

ROOT = Path(__file__).parents[2]
MONTHS = 12
STEPS = ((), ("--prompts", "90"), ("--replies", "365"))


def asked(home: Path, now: str, *words: str) -> tuple[Any, float]:
    """What a command says in JSON, and its seconds."""
    environ = {**os.environ, files.REPLICA_VARIABLE: REPLICA, "WAKELOG_NOW": now}
    command = [sys.executable, "-m", "adapters.cli.main", "--home", str(home), *words, "--json"]
    begun = time.perf_counter()
    said = subprocess.run(
        command, env={**environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True
    )
    return json.loads(said.stdout), time.perf_counter() - begun


def floor_of(home: Path) -> int:
    """Bytes of the agents' log without payloads."""
    with closing(sqlite3.connect(home / files.AGENT)) as log:
        log.execute("DELETE FROM payloads")
        log.commit()
        log.execute("VACUUM")
    return (home / files.AGENT).stat().st_size


def rows(home: Path, now: str) -> Iterator[tuple[str, ...]]:
    """A row each step: what went, the file's bytes, and what proving and showing say."""
    with closing(sqlite3.connect(home / files.AGENT)) as log:
        sql = "SELECT originator_id FROM stored_events WHERE topic = 'wake.started.1' LIMIT 1"
        oldest = log.execute(sql).fetchone()[0].removeprefix("wake:").partition("@")[0]
    first = 0
    for step in STEPS:
        done, seconds = asked(home, now, "retain", *step, "--compact") if step else ({}, 0.0)
        size = (home / files.AGENT).stat().st_size
        first = first or size
        proved, proving = asked(home, now, "prove")
        shown, _ = asked(home, now, "show", oldest, "--prompt")
        assert proved["ok"], "what is dropped renders again"
        gone = f"{done.get('prompts', 0):,}", f"{done.get('replies', 0):,}"
        sizes = f"{size / 1e6:.1f}", f"{size / first:.2f}", f"{seconds:.0f}", f"{proving:.0f}"
        yield " ".join(step) or "before", *gone, *sizes, str(shown["rendered_anew"]).lower()
    size = floor_of(home)
    yield "the floor: no payload", "", "", f"{size / 1e6:.1f}", f"{size / first:.2f}", "", "", ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--years", type=float, default=10)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--home", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = given.home or Path(folder) / "lived"
        if not (kept / files.AGENT).exists():
            kept.mkdir(parents=True, exist_ok=True)
            months = round(given.years * MONTHS)
            make_demo_home(kept, seed="years", agents_count=given.agents, months=months)
        home = Path(shutil.copytree(kept, Path(folder) / "home"))
        with closing(sqlite3.connect(home / files.AGENT)) as log:
            last = log.execute("SELECT state FROM stored_events ORDER BY rowid DESC LIMIT 1")
            n = json.loads(last.fetchone()[0])["n"]
            states = log.execute("SELECT state FROM stored_events ORDER BY rowid DESC LIMIT 100")
            now = max(json.loads(one).get("at", "") for (one,) in states)
        print(f"{machine()}; {n:,} appends of agents in {given.years:g} years\n")
        heads = "", "prompts", "replies", "MB", "of before", "s", "`prove`, s", "rendered anew"
        table(heads, rows(home, now))


if __name__ == "__main__":
    main()

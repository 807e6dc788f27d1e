"""Two runtimes on one home under load, killed again and again: nothing lost, nothing twice.

python tests/bench/runtime_kill.py [--times 100] [--agents 500] [--changes 200]

After each kill the runtime is started anew, and changes go on being written. Every tenth time
both are killed; every fifth time a new one is killed before it has done anything. At the end a
stranger looks the home through (`tests.support.checker`).
"""

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.wiring import Home, open_home
from domain.journal.commands import EditTask
from domain.log.timestamps import instant, moment
from tests.bench.runtime_load import ENVIRON, Books, books, make, proved, quantile, settled
from tests.support import checker
from tests.support.process import begun

FIRST_SECONDS_MAX = 120.0
GOES_ON = {"waking", "resumed", "taken_over"}
AFTER = """
SELECT min(CAST(first.state AS TEXT) ->> '$.at')
FROM stored_events AS one JOIN stored_events AS first
ON first.rowid = one.rowid - coalesce(CAST(one.state AS TEXT) ->> '$.row', 0)
WHERE one.originator_id = ? AND CAST(first.state AS TEXT) ->> '$.at' > ?
"""
IS_DONE = "SELECT count(*) FROM stored_events WHERE originator_id = ? AND topic LIKE 'wake.fin%'"


class Runtime:
    """A runtime in a process of its own."""

    def __init__(self, home: Path, nth: int) -> None:
        self.log = home.parent / f"run-{nth}.log"
        self.since = now()
        self.process: subprocess.Popen[bytes] = begun(home, "--json", "run", log=self.log)

    def first(self) -> str:
        """When its first wake began or went on; empty if none has."""
        for text in self.log.read_text(encoding="utf-8").splitlines():
            line = json.loads(text) if text.endswith("}") else {}
            if line.get("event") in GOES_ON:
                return str(line["at"])
        return ""


class Killed(NamedTuple):
    """A kill: when, and the wakes that the killed one was at."""

    at: str
    run_keys: list[str]


def now() -> str:
    return moment(datetime.now(UTC))


def killed(home: Path, victim: Runtime) -> Killed:
    victim.process.kill()
    victim.process.wait()
    at = now()
    with closing(sqlite3.connect(home / "runtime.db")) as leases:
        if not leases.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return Killed(at, [])  # it had not even begun
        sql = "SELECT run_key FROM leases WHERE pid = ?"
        keys = [key for (key,) in leases.execute(sql, (victim.process.pid,))]
    with closing(sqlite3.connect(home / "agent.db")) as log:
        open_keys = [
            key for key in keys if not log.execute(IS_DONE, (f"wake:{key}@r1",)).fetchone()[0]
        ]
    return Killed(at, open_keys)


def recovered(home: Path, kills: list[Killed]) -> list[float]:
    """Of each kill that left wakes behind: seconds until all of them had gone on."""
    found = []
    with closing(sqlite3.connect(home / "agent.db")) as log:
        for at, run_keys in kills:
            next_rows = [
                log.execute(AFTER, (f"wake:{key}@r1", at)).fetchone()[0] for key in run_keys
            ]
            if any(next_rows):
                found.append(seconds(at, max(filter(None, next_rows))))
    return found


def seconds(start: str, end: str) -> float:
    return (instant(end) - instant(start)).total_seconds()


def write(home: Home, tasks: list[str], dice: random.Random, nth: int, changes: int) -> None:
    """A burst of changes of random tasks."""
    for one in range(changes):
        home.services.append_journal(
            EditTask(dice.choice(tasks), title=f"Task, change {nth}.{one}")
        )


def waited(home: Path, runtime: Runtime) -> list[float]:
    """Wait until a new runtime's first wake; seconds from its start. None where there is nothing
    left for it to do."""
    end = time.monotonic() + FIRST_SECONDS_MAX
    while not (first := runtime.first()):
        assert time.monotonic() < end, "a new runtime has begun nothing"
        assert runtime.process.poll() is None, "a runtime has ended"
        if "started" in runtime.log.read_text(encoding="utf-8") and is_idle(home):
            return []
        time.sleep(0.05)
    return [seconds(runtime.since, first)]


def is_idle(home: Path) -> bool:
    found = books(home)
    return not found.missing and not found.open_wakes


class Kills:
    """Two runtimes, and what killing them came to."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._numbers = count()
        self.both = [Runtime(home, next(self._numbers)) for _ in range(2)]
        self.kills: list[Killed] = []
        self.firsts: list[float] = []

    def kill_all(self, times: int, tasks: list[str], dice: random.Random, changes: int) -> None:
        """All of the kills."""
        with open_home(self.home, ENVIRON, is_writing=True) as found:
            for nth in range(times):
                self.kill(nth, partial(write, found, tasks, dice, nth, changes), dice)

    def kill(self, nth: int, changed: Callable[[], None], dice: random.Random) -> None:
        """The n-th kill, and what is looked at after it."""
        victims = [0, 1] if nth % 10 == 9 else [nth % 2]
        for victim in victims:
            self.kills.append(killed(self.home, self.both[victim]))
        for victim in victims:
            self.both[victim] = Runtime(self.home, next(self._numbers))
        changed()
        if nth % 5 == 4:
            time.sleep(dice.random())
            return
        for victim in victims:
            self.firsts += waited(self.home, self.both[victim])
        time.sleep(dice.random())


def main(arguments: list[str] | None = None) -> Books:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--agents", type=int, default=500)
    parser.add_argument("--changes", type=int, default=200, help="after each kill")
    given = parser.parse_args(arguments)
    dice = random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tasks = make(home, given.agents, 1)
        run = Kills(home)
        try:
            run.kill_all(given.times, tasks, dice, given.changes)
            last = time.monotonic()
            result = settled(home, run.both[0].process)
            took = time.monotonic() - last
        finally:
            for one in run.both:
                one.process.terminate()
                one.process.wait(60)
        rows = proved(home)
        found = checker.findings(home, is_settled=True)
        doubts = recovered(home, run.kills)
        logs = [one.read_text(encoding="utf-8") for one in home.parent.glob("run-*.log")]
    told(given, run, result, doubts)
    taken_over = sum(text.count('"taken_over"') for text in logs)
    print(f"{taken_over} wakes taken over; settled {took:.1f} s after the last kill")
    print(f"{rows} rows proved; {len(found)} findings of a stranger: {found[:5]}")
    bad = (result.double, result.missing, result.overlaps, result.late, result.open_wakes)
    assert (bad, found) == ((0, 0, 0, 0, 0), []), (bad, found)
    return result


def told(given: argparse.Namespace, run: Kills, result: Books, doubts: list[float]) -> None:
    """Print what came of it."""
    print(f"{given.times} times kill -9, {len(run.kills)} runtimes, {given.agents} agents")
    print(f"{result.triggers} triggers, {result.double} twice, {result.missing} missing")
    print(f"{result.wakes} wakes, {result.overlaps} overlaps, {result.late} late replies")
    for what, found in (("start to first wake", run.firsts), ("kill to none in doubt", doubts)):
        half, most = quantile(found, 0.5), max(found, default=0.0)
        print(f"{what}: p50 {half:.2f} s, max {most:.2f} s, of {len(found)}")
        print(f"  each: {' '.join(f'{one:.2f}' for one in found)}")


if __name__ == "__main__":
    main()

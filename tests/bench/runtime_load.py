"""Many agents, many changes in bursts, one runtime: every trigger once, memory flat.

python tests/bench/runtime_load.py [--agents 500] [--changes 20000] [--burst 500]

The books are kept in SQL, for `runtime_kill.py`, too: every journal change of an agent's task must
stand in exactly one wake's causes or in one suppression, no two wakes of one agent may overlap, and
no two processes may work at one wake.
"""

import argparse
import os
import platform
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.store.log import Log
from adapters.wiring import open_home
from domain.agent.commands import CreateAgent
from domain.journal.commands import CreateTask, EditTask
from domain.journal.task import TASK
from domain.log.timestamps import instant
from replay.prove import LogProof
from tests.support.process import begun

TIMEOUT = 3_600
ENVIRON = {"WAKELOG_REPLICA": "r1"}
CHANGES = """
WITH changes AS (
    SELECT DISTINCT CAST(state AS TEXT) ->> '$.n' AS n FROM journal.stored_events
    WHERE originator_id LIKE 'task:%' AND topic <> 'task.created.1'
), fates AS (
    SELECT CAST(state AS TEXT) ->> '$.data.trigger.position' AS n, count(*) AS times
    FROM stored_events
    WHERE topic IN ('alert.wake_queued.1', 'alert.trigger_merged.1', 'alert.trigger_suppressed.1')
    GROUP BY 1
)
SELECT count(*), count(*) FILTER (WHERE times > 1), count(*) FILTER (WHERE times IS NULL)
FROM changes LEFT JOIN fates USING (n)
"""
"""Changes of tasks; those with more than one fate; those with none."""

TURNS = """
WITH turns AS (
    SELECT topic, CAST(state AS TEXT) ->> '$.data.runKey' AS run_key,
        lag(topic) OVER agent AS topic_before,
        lag(CAST(state AS TEXT) ->> '$.data.runKey') OVER agent AS run_before
    FROM stored_events
    WHERE topic IN ('alert.wake_begun.1', 'alert.settled.1', 'alert.wake_backed_off.1')
    WINDOW agent AS (PARTITION BY originator_id ORDER BY originator_version)
)
SELECT count(*) FROM turns
WHERE topic_before = 'alert.wake_begun.1' AND run_key <> run_before
    OR topic = 'alert.settled.1' AND topic_before IS NOT 'alert.wake_begun.1'
"""
"""Where a wake of an agent began or ended while another one of it ran."""

WAKES = """
WITH facts AS (
    SELECT CAST(one.state AS TEXT) ->> '$.data.runKey' AS run_key, one.topic,
        CAST(one.state AS TEXT) ->> '$.data.dueAt' AS due,
        CAST(first.state AS TEXT) ->> '$.at' AS at
    FROM stored_events AS one JOIN stored_events AS first
    ON first.rowid = one.rowid - coalesce(CAST(one.state AS TEXT) ->> '$.row', 0)
    WHERE one.topic IN ('alert.wake_queued.1', 'alert.wake_begun.1', 'alert.settled.1',
        'alert.wake_dropped.1')
)
SELECT run_key, max(due), min(at) FILTER (WHERE topic = 'alert.wake_begun.1'),
    max(at) FILTER (WHERE topic IN ('alert.settled.1', 'alert.wake_dropped.1'))
FROM facts GROUP BY run_key
"""
"""Each wake: when it was due, began and ended."""

LATE = "SELECT count(*) FROM stored_events WHERE topic = 'wake.late_reply.1'"


class Books(NamedTuple):
    """What the log says. `latency` is from due to begun, in seconds, of each wake; `late`: how
    many replies came from a process that another one had taken over from; `seconds`: from the
    first wake's begin to the last one's end."""

    triggers: int
    double: int
    missing: int
    overlaps: int
    late: int
    open_wakes: int
    wakes: int
    seconds: float
    latency: list[float]


def make(home: Path, agents: int, throttle: int) -> list[str]:
    """A home with so many tasks, each with an agent; the ids of the tasks."""
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text(f"[agents]\nthrottle_seconds = {throttle}\n")
    tasks = []
    with open_home(home, ENVIRON, is_writing=True) as found:
        services = found.services
        for nth in range(agents):
            task = services.append_journal(CreateTask(f"Task {nth}")).result.ids[0]
            tasks.append(task)
        with services.journal.reading() as world:
            category = world.load(TASK, tasks[0]).category
        position = services.journal.tail().n
        for nth, task in enumerate(tasks):
            make_agent = CreateAgent(task, f"Task {nth}", category, position, "autonomous",
                                     is_enabled=True)  # fmt: skip
            services.append_agent(make_agent)
    return tasks


def books(home: Path) -> Books:
    """Read the logs back, by SQL, and add up."""
    with closing(sqlite3.connect(home / "agent.db")) as log:
        log.execute("ATTACH ? AS journal", (str(home / "journal.db"),))
        changes = log.execute(CHANGES).fetchone()
        overlaps, late = log.execute(TURNS).fetchone()[0], log.execute(LATE).fetchone()[0]
        wakes = log.execute(WAKES).fetchall()
    latency = [_seconds(begun) - _seconds(due) for _, due, begun, _ in wakes if due and begun]
    ends = [_seconds(ended) for *_, begun, ended in wakes if begun and ended]
    begins = [_seconds(begun) for *_, begun, _ in wakes if begun]
    is_open = sum(not ended for *_, ended in wakes)
    took = max(ends, default=0.0) - min(begins, default=0.0)
    return Books(
        triggers=changes[0],
        double=changes[1],
        missing=changes[2],
        overlaps=overlaps,
        late=late,
        open_wakes=is_open,
        wakes=len(ends),
        seconds=took,
        latency=sorted(latency),
    )


def proved(home: Path) -> int:
    """Prove both logs; how many rows they have."""
    count = 0
    for name in ("journal", "agent"):
        log = Log.open(name, home / f"{name}.db", "r1")
        proof = LogProof(name, log.payload)
        assert list(proof.walk(log.rows())) == [], name
        count += proof.rows
        log.close()
    return count


def _seconds(at: str) -> float:
    return instant(at).timestamp()


def quantile(values: list[float], share: float) -> float:
    """The value below which a share of them lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


# ----------------------------------------------------------------------------------------- memory


class Sizes:
    """The resident memory of a process, in MB, looked at twice a second; `cpu` in seconds."""

    def __init__(self) -> None:
        self.found: list[float] = []
        self.cpu = 0.0

    def quarters(self) -> list[float]:
        """The median of each quarter of the time; empty where it was too short."""
        size = len(self.found) // 4
        return [quantile(self.found[at * size : (at + 1) * size], 0.5) for at in range(4) if size]


@contextmanager
def watched(pid: int) -> Iterator[Sizes]:
    """Look at a process's memory for as long as this is open."""
    sizes, done = Sizes(), threading.Event()

    def look() -> None:
        while not done.wait(0.5):
            if size := memory(pid):
                sizes.found.append(size)
                sizes.cpu = cpu(pid) or sizes.cpu

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield sizes
    finally:
        done.set()
        thread.join()


def memory(pid: int) -> float:
    """Resident memory in MB; 0 for a process that is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = [line for line in text.splitlines() if line.startswith("VmRSS")]
    return int(found[0].split()[1]) / 1024 if found else 0.0


def cpu(pid: int) -> float:
    """Seconds of processor time so far; 0 for a process that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ----------------------------------------------------------------------------------------- the load


def write(home: Path, tasks: list[str], changes: int, burst: int, pause: float) -> None:
    """Change random tasks in bursts with pauses between them; no task grows by it, so a runtime
    that does leaks."""
    dice = random.Random(7)
    with open_home(home, ENVIRON, is_writing=True) as found:
        for done in range(0, changes, burst):
            for nth in range(done, min(done + burst, changes)):
                found.services.append_journal(
                    EditTask(dice.choice(tasks), title=f"Task, change {nth:6}")
                )
            time.sleep(pause)


def settled(home: Path, process: "subprocess.Popen[bytes]") -> Books:
    """Wait until every change has its fate and every wake its end."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        assert process.poll() is None, "the runtime has ended"
        found = books(home)
        if not found.missing and not found.open_wakes:
            return found
        time.sleep(max(1.0, found.wakes / 2_000))  # to look takes a while, too
    raise AssertionError("it did not settle")


def told(found: Books, sizes: Sizes, rows: int) -> None:
    """Print what came of it."""
    print(f"{found.wakes} wakes in {found.seconds:.1f} s, {found.wakes / found.seconds:.0f}/s")
    share, each = sizes.cpu / found.seconds, 1000 * sizes.cpu / found.wakes
    print(f"the runtime had {share:.2f} of a core: {each:.0f} ms of it for each wake")
    print(f"{found.triggers} triggers, {found.double} twice, {found.missing} missing")
    print(f"{found.overlaps} overlaps, {found.late} late replies; {rows} rows proved")
    half, most = quantile(found.latency, 0.5), quantile(found.latency, 0.95)
    print(f"latency from due to begun: p50 {half:.2f} s, p95 {most:.2f} s")
    quarters = ", ".join(f"{size:.1f}" for size in sizes.quarters())
    print(f"memory of the runtime, MB, median of each quarter: {quarters}")


def main(arguments: list[str] | None = None) -> Books:
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=500)
    parser.add_argument("--changes", type=int, default=20_000)
    parser.add_argument("--burst", type=int, default=500)
    parser.add_argument("--pause", type=float, default=5.0, help="seconds between two bursts")
    parser.add_argument("--throttle", type=int, default=2)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tasks = make(home, given.agents, given.throttle)
        log = Path(folder) / "run.log"
        process = begun(home, "--json", "--quiet", "run", log=log)
        with watched(process.pid) as sizes:
            try:
                start = time.monotonic()
                write(home, tasks, given.changes, given.burst, given.pause)
                wrote = time.monotonic() - start
                found = settled(home, process)
            finally:
                process.terminate()
                process.wait(60)
        rows = proved(home)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    print(f"{given.agents} agents, {given.changes} changes written in {wrote:.1f} s")
    told(found, sizes, rows)
    assert (found.double, found.missing, found.overlaps, found.late) == (0, 0, 0, 0)
    return found


if __name__ == "__main__":
    main()

"""Many agents, many changes in bursts, one runtime: every trigger once, memory flat.

python tests/bench/runtime_load.py [--agents 500] [--changes 20000] [--burst 500]
"""

import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.wiring import open_home
from domain.journal.commands import AddNote
from domain.wire import Words
from tests.bench import accounts
from tests.support.process import begun

TIMEOUT = 1_800
ENVIRON = {"WAKELOG_REPLICA": "r1"}


def memory(pid: int) -> float:
    """Resident memory in MB."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (line,) = [line for line in text.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def write(home: Path, tasks: list[str], changes: int, burst: int, process: int) -> list[float]:
    """Change tasks in bursts with pauses between them; memory of the runtime, by burst."""
    dice = random.Random(7)
    sizes = []
    with open_home(home, ENVIRON, is_writing=True) as found:
        for done in range(0, changes, burst):
            for nth in range(done, min(done + burst, changes)):
                said = Words(f"change {nth}")
                found.desk.keep(AddNote(dice.choice(tasks), "note", said))
            sizes.append(memory(process))
            time.sleep(0.2)
    return sizes


def settled(home: Path, process: "subprocess.Popen[bytes]", changes: int) -> accounts.Books:
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        assert process.poll() is None, "the runtime has ended"
        found = accounts.books(home)
        if not found.missing and not found.open_wakes and is_idle(home):
            return found
        time.sleep(1)
    raise AssertionError("it did not settle")


def is_idle(home: Path) -> bool:
    from domain.agent.alertness import ALERT, next_wake
    from projections.agents import VIEW

    with open_home(home, ENVIRON) as found:
        found.views.catch_up()
        with found.desk.agents.reading() as world:
            alerts = [world.load(ALERT, one.id) for one in found.views.all(VIEW)]
    return not any(one.begun or next_wake(one) for one in alerts)


def main(arguments: list[str] | None = None) -> accounts.Books:
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=500)
    parser.add_argument("--changes", type=int, default=20_000)
    parser.add_argument("--burst", type=int, default=500)
    parser.add_argument("--throttle", type=int, default=2)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tasks = accounts.make(home, given.agents, given.throttle, ENVIRON)
        log = Path(folder) / "run.log"
        process = begun(home, "--json", "--quiet", "run", log=log)
        try:
            start = time.monotonic()
            sizes = write(home, tasks, given.changes, given.burst, process.pid)
            wrote = time.monotonic() - start
            found = settled(home, process, given.changes)
            took = time.monotonic() - start
            sizes.append(memory(process.pid))
        finally:
            process.terminate()
            process.wait(60)
        rows = accounts.proved(home)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    print(f"{given.agents} agents, {given.changes} changes written in {wrote:.1f} s")
    print(f"all settled after {took:.1f} s: {found.wakes} wakes, {found.wakes / took:.0f}/s")
    print(f"{found.triggers} triggers, {found.double} twice, {found.missing} missing")
    print(f"{found.overlaps} overlaps; {rows} rows proved")
    half, most = accounts.nth(found.latency, 0.5), accounts.nth(found.latency, 0.99)
    print(f"latency from due to begun: median {half:.2f} s, 99 % {most:.2f} s")
    shown = ", ".join(f"{one:.0f}" for one in sizes[:: max(1, len(sizes) // 8)])
    print(f"memory of the runtime, MB: {shown}")
    assert (found.double, found.missing, found.overlaps) == (0, 0, 0)
    return found


if __name__ == "__main__":
    main()

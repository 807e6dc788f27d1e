"""`at`, `bisect`, `diff` and `fork` on a long log: how long a person waits.

    .venv/bin/python tests/bench/at_bisect.py [--wakes 10000] [--agents 1] [--home DIR]

It makes a home in which some agents have woken so often (one of them by default, the hardest
case), then runs the real command line in processes of its own and prints wall time and memory.
"""

import argparse
import asyncio
import os
import platform
import resource
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.models.tape import TapeModel
from adapters.runtime import effect_executor
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.wiring import open_home
from domain.agent.agent import AGENT
from domain.agent.commands import CreateAgent, RequestWake
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.journal.commands import AddNote, CreateTask
from domain.journal.task import TASK
from domain.log.wire import Words
from domain.ports import Call, Reply
from projections.wakes import VIEW

NOTE_EVERY = 20  # wakes


def reply(nth: int) -> Reply:
    """A whole wake in one turn: an observation and a report."""
    observed = f'{{"observations": ["Seen {nth}."]}}'
    report = f'{{"content": "Wake {nth}.", "tldr": "At {nth}.", "oneLiner": "Nth {nth}"}}'
    calls = (Call("c1", "record_observations", observed), Call("c2", "update_report", report))
    return Reply(b"", "", calls)


def live(home: Path, wakes: int, agents: int) -> None:
    """Make the home: its logs as the real services writes them, on a tape."""
    home.mkdir(parents=True)
    (home / "replica").write_text("r1", encoding="ascii")
    replies = [one for nth in range(1, wakes + 1) for one in (reply(nth), Reply(b"", "Done."))]
    tape = TapeModel("tape", replies)
    journal, agent_log = (
        Log.open(name, home / f"{name}.db", "r1") for name in ("journal", "agent")
    )
    clock = ManualClock("2027-01-01T00:00:00.000000Z", step_ms=1000)
    services = Services(journal, agent_log, clock, Settings(), lambda _: tape)
    for log in (services.journal, services.agents):  # this log may be lost
        recorder: Any = log.recorder
        recorder._connection.execute("PRAGMA synchronous=OFF")
    made = [_agent(services, nth) for nth in range(agents)]
    for nth in range(wakes):
        task, agent = made[nth % agents]
        if nth % NOTE_EVERY == 0:
            services.append_journal(AddNote(task, "note", Words(f"Note {nth}.")))
        asyncio.run(
            effect_executor.run_wake(services, agent, _requested(services, agent), is_now=True)
        )
    services.close()


def _agent(services: Services, nth: int) -> tuple[str, str]:
    task = services.append_journal(CreateTask(f"Task {nth}")).result.ids[0]
    with services.journal.reading() as world:
        category = world.load(TASK, task).category
    position = services.journal.tail().n
    create = CreateAgent(task, f"Task {nth}", category, position, "hybrid", is_enabled=True)
    return task, services.append_agent(create).result.ids[0]


def _requested(services: Services, agent: str) -> str:
    with services.agents.reading() as world:
        waiting = next_wake(world.load(WAKE_QUEUE, agent))
        assert world.load(AGENT, agent).lifecycle
    if waiting is not None:
        return waiting.run_key
    return services.append_agent(RequestWake(agent, "manual", is_enabled=True)).result.ids[1]


def measure(home: Path, *args: str) -> None:
    """Run one command in a process of its own, and print what it took."""
    script = "import sys; from adapters.cli.main import main; sys.argv[0] = 'wakelog'; main()"
    command = [sys.executable, "-c", script, "--home", str(home), "--json", *args]
    begun = perf_counter()
    done = subprocess.run(command, capture_output=True, check=False, env={**os.environ})
    seconds = perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    told = " ".join(args)[:70]
    print(f"{seconds:7.2f} s  exit {done.returncode}  peak so far {peak:4d} MB  {told}")
    if done.returncode == 2:
        print(done.stderr.decode())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--wakes", type=int, default=10_000)
    parser.add_argument("--agents", type=int, default=1)
    parser.add_argument("--home", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(given.home or f"{folder}/home")
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        if not home.exists():
            begun = perf_counter()
            live(home, given.wakes, given.agents)
            print(f"{perf_counter() - begun:7.2f} s  to make {given.wakes:,} wakes")
        with open_home(home, {}) as opened:
            begun = perf_counter()
            opened.views.catch_up()
            print(f"{perf_counter() - begun:7.2f} s  to make the views, once")
            found = opened.views.page(VIEW)
            rows = opened.services.journal.count() + opened.services.agents.count()
        runs = [one.run_key for one in found if one.started_at]
        print(f"{rows:,} rows, {len(runs):,} wakes")
        middle, last = runs[len(runs) // 2], runs[-1]
        spots = list(islice((one.ended_at for one in found if one.run_key == middle), 1))
        measure(home, "wakes", "--limit", "1")
        measure(home, "at", middle)
        measure(home, "at", last, "--prompt")
        measure(home, "at", spots[0])
        measure(home, "replay", middle)
        measure(home, "diff", middle, last)
        measure(home, "bisect", "Task 0", "--python", f"agent.wakes >= {len(runs) // 3}")
        measure(home, "bisect", "Task 0", "--sql", "SELECT wakes > 700 FROM agents")
        measure(home, "bisect", "Task 0", "--text", "at 1")
        measure(home, "fork", middle, "--out", f"{folder}/fork")


if __name__ == "__main__":
    main()

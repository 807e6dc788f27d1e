"""How fast prove is beside the bare decoding and folding of the same rows, beside temporalio's
Replayer, and what it keeps; and what `prove --since last` takes beside hashing the same bytes.

    .venv/bin/python tests/bench/prove_speed.py [--rows 100000] [--home FOLDER] [--peers FOLDER]

Makes a home of about so many rows in SQLite files (lives of many agents; in FOLDER it is kept and
taken again the next time), then reads it three times: both logs proved together, every prompt
rendered again; each log by itself; rows decoded and folded by stream. The Replayer replays
histories of ten steps, before and after. All rates are of CPU time, so one core's; memory is the
process's own peak, told after each. Then the home is proved as a person does it, and three times
since then, and its rows and payloads are read and hashed three times: each in a process of its own,
the best is told.
"""

import argparse
import asyncio
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.proof.prove import prove_logs
from adapters.runtime import review, watcher
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.store.log import Log
from domain.agent.commands import RequestWake
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.append import envelope
from domain.append.envelope import STREAM_TYPES
from domain.journal.commands import AddItems, AddNote, EditTask
from domain.log import canonical
from domain.log.state import RecordedEvent
from domain.log.wire import Words
from domain.ports import Call, Reply, Request, Usage
from replay.prove import LogProof
from tests.bench.common import machine, table
from tests.bench.environments import CACHE, environments, said
from tests.support.services import task_with_agent

START = "2027-01-01T00:00:00.000000Z"
WAKES_OF_AN_AGENT = 60
TIMES = 3
ROOT = Path(__file__).parents[2]
MAIN = "from adapters.cli.main import main; main()"
STEPS = 10  # of a replayed workflow
EVENTS = 10_000  # that are replayed a turn


class Busy:
    """Calls tools in nine turns, and says in the tenth that it is done."""

    name = "tape:busy"

    def __init__(self) -> None:
        self._nth = count(1)
        self._turn = 0

    async def reply(self, request: Request) -> Reply:
        self._turn = len(request.exchanges)
        nth = next(self._nth)
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("record_observations", {"observations": [f"The person wrote note {nth}."]}),
            ("update_task_estimate", {"minutes": 1 + nth % 1000}),
        )
        if self._turn == 3:
            says = f"Report {nth}"
            calls = (("update_report", {"content": says, "tldr": says, "oneLiner": says}),)
        made = tuple(
            Call(f"c{index}", tool, canonical.text(given))
            for index, (tool, given) in enumerate(calls)
        )
        if self._turn >= 4:
            made = ()
        raw = canonical.encode([nth, [one.arguments for one in made]])
        return Reply(raw, f"Turn {nth}", made, Usage(900, 60))


def opened(folder: Path) -> Services:
    """Services over the two log files of a folder."""
    journal = Log.open("journal", folder / "journal.db", "r1")
    agents = Log.open("agent", folder / "agent.db", "r1")
    model = Busy()
    return Services(journal, agents, ManualClock(START), Settings(), lambda _: model)


def generated(folder: Path, rows: int) -> Services:
    """A home of about so many rows."""
    services = opened(folder)
    for log in (services.journal, services.agents):  # it is thrown away: the disk need not sync
        recorder: Any = log.recorder
        recorder._connection.execute("PRAGMA synchronous=OFF")
    with asyncio.Runner() as runner:
        for nth in count(1):
            _life(services, nth, rows, runner)
            if services.journal.count() + services.agents.count() >= rows:
                break
    return services


def _life(services: Services, nth: int, rows: int, runner: asyncio.Runner) -> None:
    """One agent, and what its task goes through."""
    task, agent = task_with_agent(services, f"Task {nth}")
    for wake in range(WAKES_OF_AN_AGENT):
        services.append_journal(AddNote(task, "note", Words(f"Note {wake}: " + "word " * 20)))
        services.append_journal(AddItems(task, (f"Step {wake}",)))
        services.append_journal(EditTask(task, priority=f"P{wake % 4}"))
        watcher.catch_up(services)
        services.append_agent(RequestWake(agent, "manual", is_enabled=True))
        _run(services, agent, runner)
        for set_id in services.agent(agent).sets[-1:]:
            found = review.changes_of(services, set_id).items
            for number in [item.number for item in found if item.status == "pending"]:
                review.reject(services, set_id, number, "no")
        if services.journal.count() + services.agents.count() >= rows:
            return


def _run(services: Services, agent: str, runner: asyncio.Runner) -> None:
    with services.agents.reading() as world:
        wake = next_wake(world.load(WAKE_QUEUE, agent))
    if wake is not None:
        runner.run(run_wake(services, agent, wake.run_key, is_now=True))


def folded(services: Services) -> int:
    """The floor: every row decoded, every stream folded, nothing kept but states."""
    rows = 0
    for log in (services.journal, services.agents):
        states: dict[str, Any] = {}
        at = ""
        for row in log.rows():
            rows += 1
            one = envelope.read(row)
            at = one.at or at
            recorded = envelope.recorded(row, at, one)
            kind = STREAM_TYPES.get(recorded.of_kind)
            if kind is not None:
                state = states.get(row.stream) or kind.initial(recorded.entity)
                states[row.stream] = kind.evolve(state, recorded)
    return rows


def alone(services: Services) -> int:
    """Each log by itself: every cause re-executed, every byte compared; prompts are not."""
    rows = 0
    for log in (services.journal, services.agents):

        def again(stream: str, after: int, log: Log = log) -> list[RecordedEvent]:
            return [row for row in log.facts(stream) if row.version > after]

        proof = LogProof(log.name, log.payload, again=again)
        assert list(proof.walk(log.rows())) == []
        rows += proof.rows
    return rows


def together(services: Services) -> int:
    """Both logs, prompts, snapshots and notices included."""
    proved = prove_logs(services.journal, services.agents)
    assert proved.ok, proved.divergences[:3]
    assert proved.prompts == proved.wakes
    return proved.rows


def measured(work: Callable[[Services], int], services: Services) -> tuple[float, int]:
    """Rows a second of CPU time, and the peak so far in MB."""
    begun = process_time()
    rows = work(services)
    seconds = process_time() - begun
    return rows / seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# ------------------------------------------------------------------------- what a proof remembers


def hashed(home: Path) -> None:
    """The floor of a proof that remembers: every row and payload read and hashed."""
    for name in ("journal", "agent"):
        log, digest = Log.read_only(name, home / f"{name}.db", "r1"), hashlib.sha256()
        for row in log.rows():
            digest.update(row.state)
        for _, data in log.kept_payloads():
            digest.update(data)
        log.close()


def taken(cache: Path, *arguments: str) -> tuple[float, int]:
    """What a process takes: seconds of the processor, and the peak in MB."""
    environ = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, *arguments], env=environ, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def remembered(home: Path, cache: Path) -> list[Sequence[str]]:
    """The first proof, those since then, and their floor."""
    prove = "-c", MAIN, "--home", str(home), "prove", "--since", "last"
    first = taken(cache, *prove)
    again = min(taken(cache, *prove) for _ in range(TIMES))
    floor = min(taken(cache, __file__, "--home", str(home), "--floor") for _ in range(TIMES))
    found = {"the first time": first, "--since last": again, "rows and texts hashed": floor}
    return [
        (name, f"{seconds:.2f}", f"{seconds / floor[0]:.1f}", f"{peak}")
        for name, (seconds, peak) in found.items()
    ]


def replayed(python: Path, folder: Path, turn: int) -> dict[str, float]:
    """Events a second of temporalio's Replayer, by how the workflow is run."""
    there = folder / f"replayer {turn}"
    told = said(python, "temporal_replay.py", there, str(STEPS), str(EVENTS))
    return {name: events / seconds for name, (events, seconds) in told.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--home", type=Path, help="keeps the generated home, or takes it again")
    parser.add_argument("--peers", type=Path, default=CACHE)
    parser.add_argument("--floor", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.floor:
        hashed(given.home)
        return
    pythons = environments(given.peers, "temporalio")
    print(machine())
    with tempfile.TemporaryDirectory(prefix="wakelog-bench-") as folder:
        home = given.home or Path(folder, "home")
        home.mkdir(exist_ok=True, parents=True)
        if not (home / "agent.db").exists():
            generated(home, given.rows).close()
        turns = [replayed(python, Path(folder), 1) for python in pythons.values()]
        services = opened(home)
        rates = {what: measured(work, services) for what, work in WORKS.items()}
        size = sum(file.stat().st_size for file in home.iterdir()) // 2**20
        print(f"{services.journal.count() + services.agents.count():,} rows, {size} MB")
        services.close()
        since = remembered(home, Path(folder, "cache"))
        turns += [replayed(python, Path(folder), 2) for python in pythons.values()]
    peers = {f"Replayer, {name}": max(one[name] for one in turns) for one in turns for name in one}
    floor = rates[FLOOR][0]
    default = max((one["sandboxed"] for one in turns), default=0.0)
    rows = [(what, rate, f"{peak}") for what, (rate, peak) in rates.items()]
    rows += [(what, rate, "") for what, rate in peers.items()]
    table(
        ("prove", "rows or events/s", "of decode + fold", "of the Replayer", "peak MB"),
        [
            (
                what,
                f"{rate:,.0f}",
                f"{rate / floor:.2f}",
                f"{rate / default:.1f}" if default else "-",
                peak,
            )
            for what, rate, peak in rows
        ],
    )
    table(("prove as a process", "seconds", "of the floor", "peak MB"), since)


FLOOR = "decode and fold"
WORKS = {"both, with prompts": together, "one by one": alone, FLOOR: folded}


if __name__ == "__main__":
    main()

"""A wake of twenty steps on the tape model, beside two engines that record twenty steps.

    .venv/bin/python tests/bench/steps.py [--wakes 10] [--rounds 3] [--peers FOLDER]

One step here is one turn of the model with one call of a tool, answered and recorded; a second
shape makes five calls a turn, which are recorded together, as nothing outside happens between
them. The peers run a workflow of twenty steps that each return a text of the same size; all
three wait for the disk at every append. `dbos` and `langgraph` with SqliteSaver live in
environments of their own, made once in the cache folder; where they cannot be installed, they
are left out, with the reason. The sides take turns, round by round. On the disk the time that
passes is taken, in memory the processor's, of all threads, which a busy machine changes little.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import msgspec

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.models.tape import TapeModel
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.store.log import Log
from domain.agent.agent import AGENT
from domain.agent.commands import ConfigureAgent, CreateAgent, RequestWake
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.journal.commands import CreateTask
from domain.journal.task import TASK
from domain.ports import Call, Reply, Usage
from tests.bench.common import NOW, disks, machine, table, timed
from tests.bench.environments import CACHE, environments, said, version

STEPS = 20
PEERS = ("dbos", "langgraph")
TEXT = "The plumber named a price, and the seal is in stock at the shop in the next street; step {}"


def one_a_turn(nth: int) -> list[Reply]:
    turns = [answer(observed(TEXT.format(f"{nth}.{one}"))) for one in range(STEPS - 1)]
    return [*turns, answer(report(nth))]


def five_a_turn(nth: int) -> list[Reply]:
    looked = [observed(TEXT.format(f"{nth}.{one}")) for one in range(STEPS - 1)]
    calls = [*looked, report(nth)]
    return [answer(*calls[first : first + 5]) for first in range(0, STEPS, 5)]


SHAPES = {  # what a wake looks like: its turns, and the answers of its model
    "wakelog, a call a turn": (STEPS, one_a_turn),
    "wakelog, five calls a turn": (STEPS // 5, five_a_turn),
}


def ours(
    turns: int, shape: Callable[[int], list[Reply]], wakes: int, folder: Path, clock: str
) -> list[float]:
    """Seconds of each wake, each of another agent."""
    folder.mkdir()
    at = services(folder, [reply for nth in range(wakes + 1) for reply in shape(nth)])
    agents = [with_agent(at, f"Task {nth}", turns)[1] for nth in range(wakes + 1)]
    keys = [queued(at, agent) for agent in agents]
    read: Callable[[], float] = getattr(time, clock)
    seconds = [timed(partial(wake, at, *one), read) for one in zip(agents, keys, strict=True)]
    at.close()
    return seconds[1:]  # the first one warms up, as the peers' does


def services(folder: Path, replies: Sequence[Reply]) -> Services:
    """Services on two files, whose model answers from a tape."""
    tape = TapeModel("tape", replies)
    logs = [Log.open(name, folder / f"{name}.db", "r1") for name in ("journal", "agent")]
    return Services(logs[0], logs[1], ManualClock(NOW, step_ms=1000), Settings(), lambda _: tape)


def with_agent(at: Services, title: str, turns: int) -> tuple[str, str]:
    """A task, and its agent with so many turns a wake."""
    task = at.append_journal(CreateTask(title)).result.ids[0]
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    make = CreateAgent(task, title, category, at.journal.tail().n, "hybrid", is_enabled=True)
    agent = at.append_agent(make).result.ids[0]
    at.append_agent(ConfigureAgent(agent, AgentSettings(turn_max=turns)))
    return task, agent


def queued(at: Services, agent: str) -> str:
    """The run key of the agent's next wake, which is asked for where none waits."""
    with at.agents.reading() as world:
        assert world.load(AGENT, agent).lifecycle == "active"
        waiting = next_wake(world.load(WAKE_QUEUE, agent))
    if waiting is not None:
        return waiting.run_key
    return at.append_agent(RequestWake(agent, "manual", is_enabled=True)).result.ids[1]


def wake(at: Services, agent: str, run_key: str) -> None:
    asyncio.run(run_wake(at, agent, run_key, is_now=True))


def answer(*calls: tuple[str, str], text: str = "") -> Reply:
    """A model's answer: calls as ``(tool, arguments)``."""
    made = tuple(Call(f"c{nth}", *call) for nth, call in enumerate(calls, start=1))
    return Reply(b"", text, made, Usage(900, 60))


def observed(*texts: str) -> tuple[str, str]:
    return "record_observations", msgspec.json.encode({"observations": texts}).decode()


def report(nth: int) -> tuple[str, str]:
    said = {
        "content": f"The sink leaks at the seal; a plumber is asked, wake {nth}.",
        "tldr": "A seal is needed, and a plumber is asked.",
        "oneLiner": "Waiting for the plumber",
    }
    return "update_report", msgspec.json.encode(said).decode()


# --------------------------------------------------------------------------------------- the peers


def theirs(python: Path, name: str, runs: int, folder: Path, clock: str) -> list[float]:
    """Seconds of each run of a peer."""
    seconds: list[float] = said(
        python, f"{name}_steps.py", folder, str(runs), str(STEPS), TEXT.format(0), clock
    )
    return seconds


# ------------------------------------------------------------------------------------- one figure


def measured(pythons: dict[str, Path], wakes: int, rounds: int, where: str, disk: str) -> None:
    seconds: dict[str, list[float]] = {}
    clock = "perf_counter" if where == "on the disk" else "process_time"
    with tempfile.TemporaryDirectory(dir=disk) as folder:
        for nth in range(rounds):
            for name, (turns, shape) in SHAPES.items():
                there = Path(folder, f"{name} {nth}")
                seconds.setdefault(name, []).extend(ours(turns, shape, wakes, there, clock))
            for name, python in pythons.items():
                there = Path(folder, f"{name}-{nth}")
                seconds.setdefault(name, []).extend(theirs(python, name, wakes, there, clock))
    rates = {name: STEPS / median(one) for name, one in seconds.items()}
    fastest = max((rate for name, rate in rates.items() if name in PEERS), default=0.0)
    rows = [
        (
            f"{name} {version(pythons[name], name)}" if name in PEERS else name,
            f"{rate:,.0f}",
            f"{rate / fastest:.1f}" if fastest else "-",
        )
        for name, rate in rates.items()
    ]
    table((f"{STEPS} steps, {where}", "steps/s", "of the faster peer"), rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--wakes", type=int, default=10, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", type=Path, default=CACHE)
    given = parser.parse_args()
    pythons = environments(given.peers, *PEERS)
    print(machine())
    for where, disk in disks().items():
        measured(pythons, given.wakes, given.rounds, where, disk)


if __name__ == "__main__":
    main()

"""A wake of an agent of 10,000 observations against one of 20: processor time, and the prompt.

    .venv/bin/python tests/bench/memory_age.py [--notes 10000] [--wakes 20]

Both homes are files, made by the handlers themselves, twenty observations a wake. Then their wakes
take turns, each with one more observation, so the younger one makes no digest and the older one
makes what is due. Wanted: a ratio of at most 1.3.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.agent.memory import MEMORY
from domain.wake.commands import BeginWake
from tests.bench.common import machine, services, table, with_agent
from tests.support.scripted_wakes import call, ended, woken

PRIORITIES = ("routine",) * 14 + ("notable",) * 5 + ("critical",)
WANTED = 1.3
RESOLVED = 2  # of the critical ones, the oldest, in each wake


def noted(at: Services, agent: str, nth: int, count: int) -> None:
    """A wake that notes so much, and settles what became old."""
    notes = [
        {"text": f"Note {nth}.{one} on what was seen and said.", "priority": PRIORITIES[one % 20]}
        for one in range(count)
    ]
    with at.agents.reading() as world:
        critical = world.load(AGENT, agent).critical
    old = [one.position.partition("@")[0] for one in critical[:-20][:RESOLVED]]
    recorded = call("record_observations", observations=notes, resolves=old)
    woken(at, agent, *ended(recorded))


def lived(folder: Path, count: int) -> tuple[Services, str]:
    folder.mkdir()
    at = services(folder, is_durable=False)
    _, agent = with_agent(at, "Fix the sink", 5)
    for nth in range(count // 20):
        noted(at, agent, nth, 20)
    return at, agent


def prompt_bytes(at: Services) -> int:
    """Of the newest wake's user part."""
    rows = (row for append in at.agents.appends(at.agents.tail().n - 20) for row in append)
    commands = [getattr(row.fact, "command", None) for row in rows]
    begun = [one for one in commands if isinstance(one, BeginWake)][-1]
    with at.agents.reading() as world:
        return sum(len(world.payload(one.payload)) for one in begun.user)


def remembered(at: Services, agent: str) -> tuple[str, str, str]:
    """Observations, digests at the top, and bytes of those."""
    with at.agents.reading() as world:
        top = world.load(MEMORY, agent).top
        size = sum(len(world.text(one.words).encode()) for one in top)
        return f"{world.load(AGENT, agent).noted:,}", str(len(top)), f"{size:,}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--wakes", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        homes = [lived(Path(folder) / str(count), count) for count in (20, options.notes)]
        spent: list[list[float]] = [[], []]
        for nth in range(options.wakes):
            for (at, agent), times in zip(homes, spent, strict=True):
                begun = time.process_time()
                noted(at, agent, nth, 1)
                times.append(time.process_time() - begun)
        told = [
            (
                *remembered(at, agent),
                f"{prompt_bytes(at):,}",
                f"{median(times) * 1000:.1f} ms",
                f"{sum(times) / len(times) * 1000:.1f} ms",
            )
            for (at, agent), times in zip(homes, spent, strict=True)
        ]
        for at, _ in homes:
            at.close()
    print(machine())
    head = ("observations", "digests", "their bytes", "prompt", "a wake (median)", "(mean)")
    table(head, told)
    print(
        f"ratio of medians {median(spent[1]) / median(spent[0]):.2f}, "
        f"of means {sum(spent[1]) / sum(spent[0]):.2f}; wanted: at most {WANTED}"
    )


if __name__ == "__main__":
    main()

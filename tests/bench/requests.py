"""What recorded wakes would be sent under each scaffold: bytes by part, and what two wakes in a row
of an agent begin with alike, which a provider's cache holds.

    .venv/bin/python tests/bench/requests.py [--home DIR] [--wakes 5] [--scaffolds 2 3]

Without a home one of demo data is made. The wakes are the last ones of as many agents; each is
rendered from both logs as they stood, and nothing is asked.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.demo.generator import make_demo_home
from adapters.timetravel.logs_at import LogHistory
from adapters.wiring import Home, open_home
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append import envelope
from domain.log import canonical
from domain.policy.scrub import scrub
from domain.tools import registry
from domain.wake.commands import BeginWake
from domain.wake.wake_inputs import given_by, given_to, tools_of
from replay.appends import appends
from tests.bench.common import table

PARTS = ("tools", "role", "task", "others")


def begun(home: Home) -> dict[str, list[BeginWake]]:
    """The commands that began wakes, by agent, oldest first."""
    found: dict[str, list[BeginWake]] = {}
    for one in appends(home.services.agents.recorder.rows(0)):
        cause, _ = envelope.cause_of(one.facts[0])
        if isinstance(cause, BeginWake):
            found.setdefault(cause.agent, []).append(cause)
    return found


def texts(past: tuple[LogHistory, LogHistory], cause: BeginWake, scaffold: int) -> dict[str, bytes]:
    """What the first question of a wake would hold, by part, in the order in which it is sent."""
    journal, agents = past[0].world(cause.journal_position), past[1].world(cause.agent_position)
    agent, queued = agents.load(AGENT, cause.agent), agents.load(WAKE_QUEUE, cause.agent).queued
    assert queued is not None
    given = replace(given_by(cause), scaffold=scaffold)
    prompt, seen = given_to(journal, agents, agent, queued, given, cause.journal_position)
    names = tools_of(agents, agent, queued.reason, scaffold, seen)
    tools = canonical.encode(registry.specs(names, given.features))
    return {"tools": tools} | {
        one.name: scrub(one.text).text.encode() for one in (*prompt.system, *prompt.user)
    }


def sizes(found: dict[str, bytes]) -> Iterator[int]:
    for part in PARTS[:-1]:
        yield len(found.get(part, b""))
    yield sum(len(data) for name, data in found.items() if name not in PARTS)


def alike(one: dict[str, bytes], other: dict[str, bytes]) -> int:
    first, second = (b"\0".join(found.values()) for found in (one, other))
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--wakes", type=int, default=5)
    parser.add_argument("--scaffolds", type=int, nargs="*", default=[2, 3])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = given.home or Path(folder)
        if given.home is None:
            make_demo_home(place, seed="wakelog", agents_count=10, months=1)
        with open_home(place, os.environ) as home:
            services = home.services
            past = LogHistory(services.journal), LogHistory(services.agents)
            pairs = [one[-2:] for one in begun(home).values() if len(one) > 1][: given.wakes]
            cells = []
            for scaffold in given.scaffolds:
                made = [[texts(past, one, scaffold) for one in pair] for pair in pairs]
                last = [[*sizes(pair[1])] for pair in made]
                means = [sum(column) // len(last) for column in zip(*last, strict=True)]
                shared = sum(alike(*pair) for pair in made) // len(made)
                total = sum(means)
                told = (*means, total, shared, total - shared)
                cells.append((f"scaffold {scaffold}", *(f"{one:,}" for one in told)))
    print(f"{len(pairs)} wakes; bytes of the first question, the mean")
    table(("", *PARTS, "in all", "as the wake before", "new"), cells)


if __name__ == "__main__":
    main()

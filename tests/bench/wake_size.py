"""What a wake of ten turns writes: rows, appends, and bytes beyond its payloads.

    .venv/bin/python tests/bench/wake_size.py [--turns 10]

It observes, changes the language at once, proposes three fields and three items, and reports.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.store.log import Log
from adapters.store.recorder import numbered
from domain.append.envelope import Row
from tests.bench.common import machine, queued, services, table, ten_turns, wake, with_agent

AIM = 35, 12, 13_000
BROUGHT = {  # what a wake says and does; all other rows are its course
    "agent.observed.1",
    "agent.proposed.1",
    "agent.reported.1",
    "changes.item_proposed.1",
    "changes.opened.1",
    "wake.report_drafted.1",
    "wake.tool_asked.1",
}


def written(rows: Sequence[Row]) -> tuple[str, str, str]:
    """Rows, appends, and bytes of all columns."""
    size = sum(len(row.stream) + len(row.topic) + len(row.state) for row in rows)
    appends = len({numbered(row.state).n for row in rows})
    return f"{len(rows):,}", f"{appends:,}", f"{size:,}"


def payload_bytes(log: Log) -> int:
    recorder: Any = log.recorder
    sql = "SELECT coalesce(sum(length(bytes) + length(id)), 0) FROM payloads"
    return int(recorder._connection.execute(sql).fetchone()[0])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=10)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        replies = ten_turns(1)
        at = services(Path(folder), [*replies[:1] * (turns - 10), *replies[-turns:]])
        _, agent = with_agent(at, "Fix the sink", turns)
        run_key = queued(at, agent)
        before = at.journal.tail().n, at.agents.tail().n
        kept = payload_bytes(at.agents)
        wake(at, agent, run_key)
        agents, journal = list(at.agents.rows(before[1])), list(at.journal.rows(before[0]))
        kept = payload_bytes(at.agents) - kept
        at.close()
    course = [row for row in agents if row.topic not in BROUGHT]
    brought = [row for row in agents if row.topic in BROUGHT]
    topics = Counter(row.topic for row in agents)
    print(machine())
    table(
        (f"a wake of {turns} turns", "rows", "appends", "bytes beyond payloads", "payloads"),
        [
            ("its course", *written(course), ""),
            ("what it brought", *written(brought), ""),
            ("all in the agent log", *written(agents), f"{kept:,}"),
            ("aim", *(f"{one:,}" for one in AIM), ""),
            ("journal, one immediate tool", *written(journal), ""),
        ],
    )
    print(", ".join(f"{count} {topic}" for topic, count in topics.most_common()))


if __name__ == "__main__":
    main()

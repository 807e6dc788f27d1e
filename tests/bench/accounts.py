"""What the benches of the runtime share: a home with many agents, and its books kept in SQL.

Every journal change of an agent's task must stand in exactly one wake's causes or in one
suppression, and no two wakes of one agent may overlap.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from adapters.store.log import Log
from adapters.wiring import open_home
from domain.agent.commands import CreateAgent
from domain.journal.commands import CreateTask
from domain.journal.fold import TASK
from replay.prove import Proof

FIRST = {"alert.wake_queued.1", "alert.trigger_suppressed.1"}
ROWS = "SELECT originator_id, topic, CAST(state AS TEXT) FROM stored_events ORDER BY rowid"


class Books(NamedTuple):
    """What the log says. `latency` is from due to begun, in seconds, of each wake."""

    triggers: int
    double: int
    missing: int
    overlaps: int
    open_wakes: int
    wakes: int
    latency: list[float]


def make(home: Path, agents: int, throttle: int, environ: dict[str, str]) -> list[str]:
    """A home with so many tasks, each with an agent; the ids of the tasks."""
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text(f"[agents]\nthrottle_seconds = {throttle}\n")
    tasks = []
    with open_home(home, environ, is_writing=True) as found:
        desk = found.desk
        for nth in range(agents):
            task = desk.keep(CreateTask(f"Task {nth}")).result.ids[0]
            tasks.append(task)
        with desk.journal.reading() as world:
            category = world.load(TASK, tasks[0]).category
        position = desk.journal.tail().n
        for nth, task in enumerate(tasks):
            make_agent = CreateAgent(task, f"Task {nth}", category, position, "autonomous",
                                     is_enabled=True)  # fmt: skip
            desk.note(make_agent)
    return tasks


def books(home: Path) -> Books:
    """Read the logs back, by SQL, and add up."""
    with closing(sqlite3.connect(home / "journal.db")) as journal:
        written = {
            (state["n"])
            for name, topic, text in journal.execute(ROWS)
            if name.startswith("task:") and topic != "task.created.1"
            for state in [json.loads(text)]
        }
    first: dict[int, int] = {}
    at = due = ""
    dues: dict[str, str] = {}
    begun: dict[str, str] = {}
    running: dict[str, str] = {}
    overlaps = wakes = 0
    latency: list[float] = []
    with closing(sqlite3.connect(home / "agent.db")) as agents:
        rows = agents.execute(ROWS).fetchall()
    for name, topic, text in rows:
        state = json.loads(text)
        at = state.get("at", at)
        fact, agent = state["data"], name.partition(":")[2].rpartition("@")[0]
        if topic in FIRST or topic == "alert.trigger_merged.1":
            position = fact["trigger"].get("position", 0)
            first[position] = first.get(position, 0) + bool(position)
        match topic:
            case "alert.wake_queued.1":
                dues[fact["runKey"]] = fact["dueAt"]
            case "alert.wake_begun.1":
                overlaps += running.get(agent, fact["runKey"]) != fact["runKey"]
                running[agent] = fact["runKey"]
                due = dues.get(fact["runKey"], "")
                if fact["runKey"] not in begun and due:
                    latency.append(_seconds(at) - _seconds(due))
                begun[fact["runKey"]] = at
            case "alert.settled.1":
                overlaps += running.pop(agent, "") != fact["runKey"]
                wakes += 1
    double = sum(count > 1 for position, count in first.items() if position)
    missing = len(written - first.keys())
    return Books(len(written), double, missing, overlaps, len(running), wakes, sorted(latency))


def proved(home: Path) -> int:
    """Prove both logs; how many rows they have."""
    count = 0
    for name in ("journal", "agent"):
        log = Log.open(name, home / f"{name}.db", "r1")
        proof = Proof(name, log.payload)
        assert list(proof.walk(log.rows())) == [], name
        count += proof.rows
        log.close()
    return count


def _seconds(at: str) -> float:
    from domain.moments import instant

    return instant(at).timestamp()


def nth(values: list[float], share: float) -> float:
    """The value below which a share of them lies."""
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0

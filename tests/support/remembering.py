"""Homes whose agents noted so much that it became digests."""

from collections.abc import Sequence
from pathlib import Path

from tests.support.cli import NOW, done, told
from tests.support.waking import at, reply, tape

SEEN = (
    "The tap drips at night more than by day",
    "Mara prefers mornings for calls",
    "The washer in the drawer is a size too small",
    "Brandt & Sons come only with two days' notice",
)
HURTS = {"text": "The drip ruins the cabinet", "priority": "critical", "category": "grievance"}


def remembering(home: Path, task: str, times: Sequence[str] = (NOW,) * 3, more: str = "") -> str:
    """A task whose agent notes twenty things in a wake at each of these times; the agent's id."""
    done(["task", "add", task], home, env=at(times[0]))
    agent = str(told(["agent", "create", task], home, env=at(times[0]))["id"])
    for nth, time in enumerate(times, start=1):
        env = at(time)
        if nth > 1:
            done(["task", "note", task, f"Seen once more: {nth}"], home, env=env)
        notes = [
            {"text": f"{SEEN[one % len(SEEN)]}, seen {nth}.{one}{more}", "priority": priority}
            for one, priority in enumerate(("routine",) * 14 + ("notable",) * 5)
        ]
        noted = ("record_observations", {"observations": [*notes, HURTS]})
        model = tape(home / "notes.jsonl", reply(noted), reply(text="Noted."))
        done(["--model", model, "wake", agent], home, env=env)
    return agent

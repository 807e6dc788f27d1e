"""Some twenty reports of the offline model, to be read as their person would read them.

    .venv/bin/python tests/bench/reports_twenty.py [FOLDER]

The demo's tasks after their first wakes; then ten days later, when half of what was proposed has
been decided, some items are ticked and every task has one more note.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.cli import done, told

FIRST, LATER = ({"WAKELOG_NOW": f"2026-{day}T11:00:00Z"} for day in ("11-28", "12-08"))
NOTES = (
    "Called them, they ring back tomorrow. Is the invoice paid already?",
    "Alles läuft. Muss noch die Quittung einscannen.",
    "Waiting for an answer from Priya.",
    "It has to be done by 2026-12-18.",
    "Can go on: the parts are here.",
)


def main() -> None:
    asked = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(asked[0] if asked else folder) / "home"
        done(["demo", "--home", str(home)], home, env=FIRST)
        _print_reports(home)
        tasks = [one for one in told(["task", "list", "--all"], home) if one["agent_id"]]
        for n, task in enumerate(tasks):
            _live_on(home, task["id"], n)
        done(["wake"], home, env=LATER)
        _print_reports(home)


def _live_on(home: Path, task: str, n: int) -> None:
    for item in told(["inbox", task], home, env=LATER) if n % 2 else ():
        done(["confirm", "--all", "--yes", item["id"]], home, env=LATER)
    done(["task", "note", task, NOTES[n % len(NOTES)]], home, env=LATER)


def _print_reports(home: Path) -> None:
    agents: Sequence[dict[str, str]] = told(["agent", "list"], home)
    for agent in agents:
        print("=" * 100)
        print(done(["report", agent["id"]], home))


if __name__ == "__main__":
    main()

"""How many rejections of a home's past could have been foreseen, by the scope that is counted in.

    .venv/bin/python tests/bench/lessons_foreseen.py [HOME]

Without a home it makes the one of `demo-data`, which takes most of a minute.
A proposal is flagged where at least 5 verdicts on its tool stood in the scope before it was made,
and at least 60 % of them were rejections. The fold is the one that prompts are made of.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from adapters.wiring import Home, open_home
from domain.changes.change_set import CHANGES
from domain.lessons.lessons import CATEGORY, LESSONS, LessonDecided, Lessons, count
from domain.log.state import RecordedEvent

DECIDED_LEAST = 5
REJECTED_LEAST = 0.6


class Decided(NamedTuple):
    """A verdict that stands at last: confirmed or rejected."""

    proposed_at: str
    decided_at: str
    agent: str
    category: str
    fact: LessonDecided


def decided(at: Home) -> Iterator[Decided]:
    """All of a home, each of its last verdict; what was only put off is left out."""
    rows = [row for rows in at.services.agents.appends() for row in rows]
    begun_at = {row.entity: row.at for row in rows if row.of_kind == "wake" and row.version == 1}
    last: dict[tuple[str, int], Decided] = {}
    for row in rows:
        fact = row.fact
        if isinstance(fact, LessonDecided) and row.entity.startswith(CATEGORY):
            with at.services.agents.reading() as world:
                changes = world.load(CHANGES, fact.changes)
            made_at, given_at = begun_at[changes.run_key], fact.at or row.at
            last[fact.changes, fact.item] = Decided(
                made_at, given_at, changes.agent, row.entity, fact
            )
    return (one for one in last.values() if one.fact.verdict != "deferred")


def flagged(lessons: Lessons, tool: str) -> bool:
    """Whether the tool's proposals were mostly declined in a scope."""
    known = lessons.tools.get(tool, ())
    no, yes = count(known, "rejected"), count(known, "confirmed")
    return no + yes >= DECIDED_LEAST and no >= REJECTED_LEAST * (no + yes)


def foreseen(verdicts: list[Decided], kind: str) -> tuple[int, int]:
    """How many rejected and how many confirmed proposals were flagged, counted by a scope."""
    no = yes = 0
    events = sorted(
        [(one.proposed_at, 0, one) for one in verdicts]
        + [(one.decided_at, 1, one) for one in verdicts],
        key=lambda event: event[:2],
    )
    folds: dict[str, Lessons] = {}
    for _, is_verdict, one in events:
        scope = getattr(one, kind) if kind else ""
        lessons = folds.get(scope, LESSONS.initial(scope))
        if is_verdict:
            row = RecordedEvent("", 0, "", 0, 0, one.decided_at, one.fact)
            folds[scope] = LESSONS.evolve(lessons, row)
        elif flagged(lessons, one.fact.tool):
            no += one.fact.verdict == "rejected"
            yes += one.fact.verdict == "confirmed"
    return no, yes


def made(path: Path) -> Path:
    """The home of `demo-data`."""
    wakelog = str(Path(sys.executable).with_name("wakelog"))
    subprocess.run([wakelog, "demo-data", "--home", str(path)], check=True, capture_output=True)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, nargs="?")
    with TemporaryDirectory() as folder:
        path = parser.parse_args().home or made(Path(folder) / "home")
        with closing(open_home(path, {})) as home:
            verdicts = list(decided(home))
    rejected = sum(one.fact.verdict == "rejected" for one in verdicts)
    print(f"{len(verdicts)} decided proposals, {rejected} of them rejected\n")
    print("| scope of the count | rejections foreseen | of flagged, rejected |\n|---|---|---|")
    for what, kind in (
        ("the agent's own verdicts", "agent"),
        ("tool in the task's category", "category"),
        ("tool in the whole home", ""),
    ):
        no, yes = foreseen(verdicts, kind)
        share = f"{no} of {rejected} ({no / max(1, rejected):.0%})"
        print(f"| {what} | {share} | {no / max(1, no + yes):.0%} ({yes} good ones flagged) |")


if __name__ == "__main__":
    main()

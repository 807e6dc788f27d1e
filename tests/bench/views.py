"""Views catch up: how many rows a second become documents.

    .venv/bin/python tests/bench/views.py [--wakes 60] [--notes 20]

The floor decodes every row and does nothing with it. A rebuild makes all documents of all views
anew in a file; the tail is one note more, as after each command of a person.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.views import Views
from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.journal.commands import AddNote
from domain.log.wire import Words
from projections.agents import VIEW
from tests.bench.common import Piece, in_turns, lived, machine, table


def decode(at: Services) -> None:
    for log in (at.journal, at.agents):
        for _ in log.appends():
            pass


def anew(at: Services, folder: Path, rounds: int) -> Iterator[Piece]:
    for nth in range(rounds):
        views = Views(folder / f"views{nth}.db", {"journal": at.journal, "agent": at.agents})
        yield views.catch_up
        views.close()


def tails(at: Services, views: Views, task: str, rounds: int) -> Iterator[Piece]:
    for nth in range(rounds):
        at.append_journal(AddNote(task, "note", Words(f"One more, {nth}.")))
        yield views.catch_up


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--wakes", type=int, default=60)
    parser.add_argument("--notes", type=int, default=20, help="before each wake")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        at = lived(folder, given.wakes, given.notes)
        rows = at.journal.count() + at.agents.count()
        floor, whole = in_turns(
            iter([partial(decode, at)] * given.rounds), anew(at, folder, given.rounds)
        )
        views = Views(folder / "views.db", {"journal": at.journal, "agent": at.agents})
        views.catch_up()
        with at.agents.reading() as world:
            task = world.load(AGENT, views.all(VIEW)[0].id).task
        (tail,) = in_turns(tails(at, views, task, 10 * given.rounds))
        (idle,) = in_turns(iter([views.catch_up] * 50))
        views.close()
        at.close()
    print(machine())
    table(
        ("views", "rows", "rows/s", "milliseconds", "of the floor"),
        [
            ("all of them anew", f"{rows:,}", f"{rows / whole:,.0f}", f"{whole * 1e3:,.0f}",
             f"{floor / whole:.2f}"),
            ("bare decode", f"{rows:,}", f"{rows / floor:,.0f}", f"{floor * 1e3:,.0f}", "1"),
            ("one note more", "2", "", f"{tail * 1e3:.1f}", ""),
            ("nothing new", "0", "", f"{idle * 1e3:.2f}", ""),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()

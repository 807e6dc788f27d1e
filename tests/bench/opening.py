"""What it costs at each opening to see whether two logs belong together, short logs and long.

    .venv/bin/python tests/bench/opening.py [--appends 10000] [--rounds 40]

Every tenth note all are taken; in a second pair of homes the last hundred wait to be. What is read
are the newest rows of both logs: long ones, of hundreds of appends taken at once, cost more.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.clock import ManualClock
from adapters.home.log_pairing import newest_mismatch
from adapters.home.settings import Settings
from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.sqlite import SQLiteLogRecorder
from domain.errors import Refused
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words
from domain.ports import Model
from tests.bench.common import NOW, Piece, in_turns, machine, table

SHORT = 10
WAITING = 100
EACH = 10


def nobody(name: str) -> Model:
    raise Refused("model_unavailable", because=f"{name} is not asked here", instead="ask another")


@contextmanager
def opened(home: Path) -> Iterator[Services]:
    journal, agents = (Log.open(one, home / f"{one}.db", "r1") for one in ("journal", "agent"))
    with closing(Services(journal, agents, ManualClock(NOW), Settings(), nobody)) as services:
        yield services


def made(home: Path, appends: int, waiting: int) -> Path:
    """A home of so many notes, of which the last ones nobody has taken."""
    home.mkdir()
    with opened(home) as services:
        task = services.append_journal(CreateTask("Fix the sink")).result.ids[0]
        for nth in range(appends):
            if nth % EACH == 0 and nth <= appends - waiting:
                watcher.catch_up(services)
            services.append_journal(AddNote(task, "note", Words(f"Note {nth}")))
        if not waiting:
            watcher.catch_up(services)
    return home


def looked(home: Path) -> None:
    with opened(home) as services:
        assert newest_mismatch(services.journal, services.agents) is None


def statements(home: Path) -> int:
    """How many statements SQLite is asked for it, in both files."""
    found: list[str] = []
    with opened(home) as services:
        for log in (services.journal, services.agents):
            recorder = log.recorder
            assert isinstance(recorder, SQLiteLogRecorder)
            recorder._connection.set_trace_callback(found.append)
        newest_mismatch(services.journal, services.agents)
    return len(found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--appends", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        homes = {
            f"{appends:,} appends, {waiting} wait": made(
                Path(folder, f"{appends}-{waiting}"), appends, waiting
            )
            for appends, waiting in (
                (SHORT, 0),
                (options.appends, 0),
                (SHORT + WAITING, WAITING),
                (options.appends, WAITING),
            )
        }
        counts = [statements(home) for home in homes.values()]
        pieces: list[Iterator[Piece]] = [
            iter([partial(looked, home)] * options.rounds) for home in homes.values()
        ]
        seconds = in_turns(*pieces)
    print(machine())
    table(
        ("opening both logs", "milliseconds", "statements to look"),
        [
            (name, f"{one * 1e3:.2f}", str(count))
            for name, one, count in zip(homes, seconds, counts, strict=True)
        ],
    )


if __name__ == "__main__":
    main()

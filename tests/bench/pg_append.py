"""What an append costs the client in PostgreSQL, over the same in a file.

    .venv/bin/python tests/bench/pg_append.py [--appends 400]

A private server (tests/support/postgres.py) and a SQLite file take the same commands in turns;
processor time of this process alone, and the time that passes. Then 8 threads write to one home
and to homes of their own: what one order for all would cost.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.store.log import Log
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words
from tests.bench.common import NOW, machine, table
from tests.support import postgres

AIM = 2.0
WRITERS = 8


def with_task(log: Log) -> str:
    return log.append(CreateTask("A task"), NOW).result.ids[0]


def note(log: Log, task: str, nth: int) -> None:
    log.append(AddNote(task, "note", Words(f"Note {nth}: the plumber comes on Tuesday.")), NOW)


def in_turns(logs: list[Log], count: int) -> list[tuple[float, float]]:
    """Processor and passed seconds of one append in each log."""
    tasks = [with_task(log) for log in logs]
    spent = [[0.0, 0.0] for _ in logs]
    for nth in range(count):
        for log, task, sums in zip(logs, tasks, spent, strict=True):
            processor, passed = time.process_time(), time.perf_counter()
            note(log, task, nth)
            sums[0] += time.process_time() - processor
            sums[1] += time.perf_counter() - passed
    return [(one[0] / count, one[1] / count) for one in spent]


def together(log_of: Callable[[int], Log], count: int) -> float:
    """Appends a second of all writers."""
    tasks = [with_task(log_of(nth)) for nth in range(WRITERS)]
    logs = [log_of(nth) for nth in range(WRITERS)]

    def write(nth: int) -> None:
        for one in range(count):
            note(logs[nth], tasks[nth], one)

    threads = [threading.Thread(target=write, args=(nth,)) for nth in range(WRITERS)]
    began = time.perf_counter()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return WRITERS * count / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--appends", type=int, default=400)
    count = parser.parse_args().appends
    print(machine())
    with (
        postgres.server() as address,
        postgres.database(address) as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        homes = Homes(Database(url))
        file = Log.open("journal", Path(folder, "journal.db"), "r1")
        there = homes.log(homes.create("anna", "r1"), "journal")
        (here, here_passed), (cost, passed) = in_turns([file, there], count)
        of_all = homes.create("all", "r1")
        one = together(lambda _: homes.log(of_all, "journal"), count // WRITERS)
        each = [homes.create(f"own{nth}", "r1") for nth in range(WRITERS)]
        own = together(lambda nth: homes.log(each[nth], "journal"), count // WRITERS)
        homes.database.close()
    table(
        ("one append", "processor, us", "passed, us", "ratio", "aim"),
        [
            ("SQLite", f"{here * 1e6:,.0f}", f"{here_passed * 1e6:,.0f}", "1", ""),
            ("PostgreSQL", f"{cost * 1e6:,.0f}", f"{passed * 1e6:,.0f}", f"{cost / here:.2f}",
             f"{AIM}"),
        ],
    )  # fmt: skip
    table(
        (f"{WRITERS} threads of one process", "appends a second", "ratio"),
        [
            ("all into one home", f"{one:,.0f}", "1"),
            ("each into its own", f"{own:,.0f}", f"{own / one:.2f}"),
        ],
    )


if __name__ == "__main__":
    main()

"""Import in batches: tasks that were read from a file, 200 in each durable append.

    .venv/bin/python tests/bench/import_batch.py [--tasks 5000]

The floor writes the very same rows and payloads with sqlite3 and msgspec, in the same batches,
and decides nothing. Both begin with parsed tasks. The two take turns batch by batch. On the disk
the time that passes is taken, in memory the processor's, which a busy machine changes little.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.importers import markdown
from adapters.store.log import Log
from adapters.usecases.import_tasks import TASKS_MAX
from domain.journal.commands import ImportedRef, ImportTasks
from domain.journal.imported import ImportedTask
from domain.log import canonical
from domain.log.wire import payload
from tests.bench.common import NOW, Floor, Piece, decoded, disks, in_turns, machine, table

AIM = 0.4
SOURCE = "todo.md"


def parsed(count: int) -> Sequence[ImportedTask]:
    """Tasks as people write them: some with an estimate, a date, a label, boxes, a note."""
    lines = []
    for nth in range(count):
        marks = ("", " ~2h", " !p1 #home", f" due:2027-02-{nth % 28 + 1:02}")[nth % 4]
        lines.append(f"- [ ] Paint door {nth}{marks}")
        lines += [f"  - [{'x' if box else ' '}] Step {box} of {nth}" for box in range(nth % 3)]
        if nth % 5 == 0:
            lines.append(f"  The colour of door {nth} is green.")
    return markdown.read("\n".join(lines).encode(), source=SOURCE).tasks


def append(log: Log, tasks: Sequence[ImportedTask]) -> None:
    """As `wakelog import` does it: each task's document is a payload, named by the command."""
    kept = [payload(task.task_id, canonical.encode(task)) for task in tasks]
    refs = [ImportedRef(task.task_id, one.id) for task, one in zip(tasks, kept, strict=True)]
    log.append(ImportTasks(SOURCE, tuple(refs)), NOW, payloads=kept)


def batches(log: Log, tasks: Sequence[ImportedTask]) -> Iterator[Piece]:
    for first in range(0, len(tasks), TASKS_MAX):
        yield partial(append, log, tasks[first : first + TASKS_MAX])


def measured(tasks: Sequence[ImportedTask], where: str, disk: str) -> None:
    clock = time.perf_counter if where == "on the disk" else time.thread_time
    with tempfile.TemporaryDirectory(dir=disk) as folder:
        before = Log.open("journal", Path(folder, "before.db"), "r1")  # what the rows will be
        for piece in batches(before, tasks):
            piece()
        kept = [
            [payload(task.task_id, canonical.encode(task)) for task in tasks[at : at + TASKS_MAX]]
            for at in range(0, len(tasks), TASKS_MAX)
        ]
        appends = decoded(before.rows())
        floor = Floor(Path(folder, "floor.db"))
        floor.write(appends.pop(0))  # the epoch, which ours writes with its first batch
        log = Log.open("journal", Path(folder, "journal.db"), "r1")
        ours, raw = in_turns(
            batches(log, tasks),
            (partial(floor.write, *batch) for batch in zip(appends, kept, strict=True)),
            clock=clock,
        )
        same = [tuple(row) for row in log.rows()] == floor.rows()
        count = log.count()
    assert same, "the floor wrote other rows"
    rows = count / len(appends)
    table(
        (f"batched import, {where}", "tasks/s", "rows/s", "of the floor", "aim"),
        [
            (f"ImportTasks of {TASKS_MAX}", f"{TASKS_MAX / ours:,.0f}", f"{rows / ours:,.0f}",
             f"{raw / ours:.2f}", f"{AIM}"),
            ("sqlite3 + msgspec", f"{TASKS_MAX / raw:,.0f}", f"{rows / raw:,.0f}", "1", ""),
        ],
    )  # fmt: skip
    print(f"{len(tasks):,} tasks, {count:,} rows, {len(appends)} batches.")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=5000)
    tasks = parsed(parser.parse_args().tasks)
    print(machine())
    for where, disk in disks().items():
        measured(tasks, where, disk)


if __name__ == "__main__":
    main()

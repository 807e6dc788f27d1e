"""What a follower costs the writer of a log: an append with one and without, in turns.

    .venv/bin/python tests/bench/followed.py [--appends 200] [--rounds 10]

A process of its own follows the journal by `wakelog.events` into a view on the same disk; between
rounds it is told to start and to end. The writer adds notes to a task, as fast as it can and then a
hundred a second, which is still many times what persons and agents write.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.store.log import Log
from adapters.wiring import open_home
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words
from tests.bench.common import NOW, disks, machine, table, timed
from tests.support.follower import following
from wakelog.events import JournalLog

AIM = 1.1
PACES = {"as fast as it can": 0.0, "a hundred a second": 0.01}


def follow(home: str, view: str) -> None:
    """Follow from one line of the input to the next, and say when it begins and has ended."""
    for _ in sys.stdin:
        with following(Path(home), Path(view), JournalLog) as runner:
            runner.wait(runner.app.recorder.max_notification_id(), timeout=600)
            print("on", flush=True)
            sys.stdin.readline()
        print("off", flush=True)


@contextmanager
def follower(home: Path, view: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, __file__, "--follow", str(home), str(view)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, encoding="utf-8") as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def switched(process: "subprocess.Popen[str]") -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def appended(log: Log, task: str, count: int, pause: float) -> Iterator[float]:
    """The seconds that each append takes."""
    for nth in range(count):
        said = Words(f"Note {nth}: the plumber comes on Tuesday and brings the seal.")
        yield timed(partial(log.append, AddNote(task, "note", said), NOW))
        time.sleep(pause)


def measured(count: int, rounds: int, pause: float, folder: Path) -> tuple[float, float]:
    """The median seconds of an append without a follower, and with one."""
    home, alone, followed = folder / "home", list[float](), list[float]()
    opening = open_home(home, {"WAKELOG_REPLICA": "r1"}, is_writing=True)
    with opening as opened, follower(home, folder / "view.db") as process:
        journal = opened.services.journal
        task = journal.append(CreateTask("Fix the tap"), NOW).result.ids[0]
        for _ in range(rounds):
            alone += appended(journal, task, count, pause)
            assert switched(process) == "on"
            followed += appended(journal, task, count, pause)
            assert switched(process) == "off"
    return median(alone), median(followed)


def row_of(count: int, rounds: int, disk: tuple[str, str], pace: str) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory(dir=disk[1]) as folder:
        alone, followed = measured(count, rounds, PACES[pace], Path(folder))
    figures = f"{alone * 1e6:,.0f}", f"{followed * 1e6:,.0f}", f"{followed / alone:.2f}"
    return (f"{disk[0]}, {pace}", *figures, f"{AIM}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--appends", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--follow", nargs=2, metavar=("HOME", "VIEW"))
    asked = parser.parse_args()
    if asked.follow:
        follow(*asked.follow)
        return
    print(machine())
    each = [(disk, pace) for disk in disks().items() for pace in PACES]
    heads = ("median append", "alone, us", "followed, us", "ratio", "aim")
    table(heads, [row_of(asked.appends, asked.rounds, *one) for one in each])


if __name__ == "__main__":
    main()

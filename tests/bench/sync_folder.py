"""The folder where machines meet: what nothing new costs, how large it is, and what a join needs.

    .venv/bin/python tests/bench/sync_folder.py [--rows 40000] [--rounds 7] [--files 400]

Ratios of one run: a sync without news over the start of a command, and the segments it opens; the
folder over the databases that it came from; the memory of a first join of so many rows and of twice
as many, and by the slope between both what a million rows need. Each command is a process of its
own, its memory the most that the system counts for it.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.home_location import FolderLocation
from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_home
from adapters.wiring import open_home
from domain.journal.commands import AddItems, AddNote, CreateTask, EditTask
from domain.log.wire import Words, payload
from tests.bench.common import Piece, in_turns, machine, table
from tests.support.process import command, environ, ran

WORDS = Path(__file__).read_text(encoding="utf-8").split()
MIB = 1024 * 1024
MILLION = 1_000_000
LONG_EVERY = 20  # tasks; their note is kept as a payload


class Counting(LocalSyncFolder):
    """Counts the segments that are opened."""

    opened = 0

    def read(self, name: str) -> bytes | None:
        self.opened += name.endswith(".gz")
        return super().read(name)


class Desk:
    """A home that is lived in."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.more = {"WAKELOG_REPLICA": home.name, "WAKELOG_TIMEZONE": "UTC"}
        self._chance = random.Random(1)

    def live(self, rows: int) -> None:
        """Add tasks with a note, an item and an edit, until there are so many rows."""
        with open_home(self.home, self.more, is_writing=True) as home:
            services, journal = home.services, home.services.journal
            while journal.count() < rows:
                task = services.append_journal(CreateTask(self._text(6))).result.ids[0]
                services.append_journal(AddItems(task, (self._text(4),)))
                services.append_journal(EditTask(task, description=Words(text=self._text(15))))
                kept = payload(task, self._text(600).encode())
                if self._chance.random() * LONG_EVERY < 1:
                    note = AddNote(task, "note", Words(payload=kept.id))
                    services.append_journal(note, payloads=[kept])
                else:
                    services.append_journal(AddNote(task, "note", Words(text=self._text(20))))

    def note(self, text: str) -> None:
        with open_home(self.home, self.more, is_writing=True) as home:
            home.services.append_journal(CreateTask(text))

    def sync(self, folder: Path) -> None:
        ran(self.home, "sync", str(folder), more=self.more)

    def rows(self) -> int:
        with open_home(self.home, self.more) as home:
            return home.services.journal.count()

    def _text(self, count: int) -> str:
        return " ".join(self._chance.choice(WORDS) for _ in range(count))


def most_memory(desk: Desk, *words: str) -> tuple[float, float]:
    """MiB that a command needs at most, and its seconds."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        command(*words),
        env=environ(desk.home, desk.more),
        cwd=desk.home.parent,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss / 1024, time.perf_counter() - begun


def size(folder: Path, pattern: str) -> int:
    return sum(one.stat().st_size for one in folder.glob(pattern) if one.is_file())


def started(desk: Desk, *words: str) -> None:
    subprocess.run(
        command(*words), env=environ(desk.home, desk.more), capture_output=True, check=True
    )


def opened_by(desk: Desk, folder: Path) -> int:
    """How many segments a sync without news opens."""
    shelf = Counting(folder)
    with open_home(FolderLocation(desk.home), desk.more, is_writing=True) as home:
        report = sync_home(home, shelf)
    assert not report.took
    assert not report.gave
    return shelf.opened


def no_news(desk: Desk, folder: Path, files: int, rounds: int) -> tuple[float, float, int]:
    """A sync without news over a command that looks at the home, and over one that does not; and
    the segments that it opens, where another left so many files."""
    one = Desk(folder.parent / "small")
    for nth in range(files):
        one.note(f"task {nth}")
        if nth == 0:
            one.sync(folder)
        else:
            with open_home(one.home, one.more, is_writing=True) as home:
                sync_home(home, LocalSyncFolder(folder))
    for _ in range(3):
        desk.sync(folder)
        one.sync(folder)
    commands = ("--help",), ("status",), ("sync", str(folder))
    pieces: list[list[Piece]] = [[partial(started, desk, *one)] * rounds for one in commands]
    help_only, start, sync = in_turns(*map(iter, pieces))
    return sync / start, sync / help_only, opened_by(desk, folder)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=30)
    given = parser.parse_args()
    print(machine())
    lines = list[tuple[str, str, str]]()
    with tempfile.TemporaryDirectory() as there:
        at = Path(there)
        many = at / "many"
        many.mkdir()
        of_start, of_help, opened = no_news(Desk(at / "joined"), many, given.files, given.rounds)
        lines.append(("nothing new: segments opened", str(opened), "0"))
        lines.append(("nothing new: of `status`", f"{of_start:.2f}", "2"))
        lines.append(("nothing new: of `--help`", f"{of_help:.2f}", ""))
        desk, memory = Desk(at / "desk"), list[float]()
        folder = at / "folder"
        folder.mkdir()
        start_memory, _ = most_memory(desk, "--help")
        for count in (given.rows, 2 * given.rows):
            desk.live(count)
            desk.sync(folder)
            joins = Desk(at / f"join{count}")
            need, seconds = most_memory(joins, "sync", str(folder))
            memory.append(need)
            told = f"{need:.0f} MiB, {joins.rows() / seconds:.0f} rows/s"
            lines.append((f"join of {desk.rows()} rows", told, ""))
            shutil.rmtree(folder / joins.home.name)
        databases = size(desk.home, "journal.db*")
        lines.append(("folder of the database", f"{size(folder, '*/*') / databases:.3f}", "0.2"))
        slope = max(memory[1] - memory[0], 0) / given.rows
        scaled = memory[1] + slope * (MILLION - 2 * given.rows)
        lines.append(("join of 1,000,000 rows, by the slope", f"{scaled:.0f} MiB", "191 MiB"))
        lines.append(("a command that does nothing", f"{start_memory:.0f} MiB", ""))
    table(("what", "found", "aim"), lines)


if __name__ == "__main__":
    main()

"""What a rescue of a forked home costs, over doing the same commands.

    .venv/bin/python tests/bench/sync_rescue.py [--causes 1000] [--past 1000] [--times 3]

A desk and its image write on apart: the desk a little, the image so many commands, one append each,
synced to disk. Then the image is rescued: copied, made anew, done again, synced with the folder.
Aim: at most 3 times the time in which the commands were done, in the same run.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from shutil import copytree
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.documents.syncing import RescueReport
from adapters.home.place import FolderPlace
from adapters.sync.home import sync_home
from adapters.sync.rescue import rescue
from adapters.sync.shelf import DirectoryShelf
from adapters.wiring import open_home
from domain.journal.commands import AddNote, CreateTask, EditTask
from domain.timestamps import later
from domain.wire import Words
from tests.bench.common import NOW, disks, machine, table

AIM = 3.0


def do(home: Path, name: str, causes: int, synced: Path | None = None) -> float:
    """Seconds in which so many commands were done: a task, its due date, three notes, and again."""
    with open_home(home, {"WAKELOG_REPLICA": name}, is_writing=True) as opened:
        journal, task = opened.services.journal, ""
        began = time.perf_counter()
        for nth in range(causes):
            at = later(NOW, seconds=nth)
            if nth % 5 == 0:
                task = journal.append(CreateTask(f"Task {nth} of the {home.name}"), at).result.ids[
                    0
                ]
            elif nth % 5 == 1:
                journal.append(EditTask(task, due="2027-02-01"), at)
            else:
                journal.append(AddNote(task, "note", Words(f"Note {nth}: it takes a while.")), at)
        spent = time.perf_counter() - began
        if synced:
            sync_home(opened, DirectoryShelf(synced))
    return spent


def once(folder: Path, past: int, causes: int) -> tuple[float, float, RescueReport]:
    """Seconds of doing, and of the rescue."""
    desk, image, shelf = folder / "desk", folder / "image", folder / "shelf"
    shelf.mkdir()
    do(desk, "desk", past, shelf)
    copytree(desk, image)
    do(desk, "desk", max(causes // 10, 1), shelf)
    doing = do(image, "desk", causes)
    began = time.perf_counter()
    report = rescue(FolderPlace(image), {"WAKELOG_REPLICA": "image"}, str(shelf))
    return doing, time.perf_counter() - began, report


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--causes", type=int, default=1000)
    parser.add_argument("--past", type=int, default=1000)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    print(machine())
    rows: list[tuple[str, ...]] = []
    for name, where in disks().items():
        found: list[tuple[float, float]] = []
        for _ in range(given.times):
            with tempfile.TemporaryDirectory(dir=where) as folder:
                doing, rescued, report = once(Path(folder), given.past, given.causes)
            if report.redone != given.causes or report.sync_refused:
                raise SystemExit(f"{report.redone} of {given.causes} were done again")
            found.append((doing, rescued))
        one, other = (median(side) for side in zip(*found, strict=True))
        ratio = median(rescued / doing for doing, rescued in found)
        rows.append((name, f"{one:.2f}", f"{other:.2f}", f"{ratio:.2f}", f"{AIM}"))
    heads = (f"{given.causes} commands", "doing them, s", "rescuing them, s", "ratio", "aim")
    table(heads, rows)


if __name__ == "__main__":
    main()

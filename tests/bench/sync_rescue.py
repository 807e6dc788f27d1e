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
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.documents.sync import RescueReport
from adapters.home.home_location import FolderLocation
from adapters.sync.rescue import rescue
from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_home
from adapters.wiring import open_home
from domain.journal.commands import AddNote, CreateTask, EditTask
from domain.log.timestamps import later
from domain.log.wire import Words
from tests.bench.common import NOW, disks, machine, table

AIM = 3.0


class Spent(NamedTuple):
    """Seconds: of doing the commands, of their rescue with all, and up to its last sync, which
    makes the views anew."""

    doing: float
    rescue: float
    until_sync: float


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
            sync_home(opened, LocalSyncFolder(synced))
    return spent


def once(folder: Path, past: int, causes: int) -> tuple[Spent, RescueReport]:
    """What doing took, and the rescue."""
    desk, image, shelf = folder / "desk", folder / "image", folder / "shelf"
    shelf.mkdir()
    do(desk, "desk", past, shelf)
    copytree(desk, image)
    do(desk, "desk", max(causes // 10, 1), shelf)
    doing = do(image, "desk", causes)
    steps: dict[str, float] = {}
    began = time.perf_counter()
    report = rescue(
        FolderLocation(image),
        {"WAKELOG_REPLICA": "image"},
        str(shelf),
        step=lambda name: steps.update({name: time.perf_counter()}),
    )
    return Spent(doing, time.perf_counter() - began, steps["sync"] - began), report


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--causes", type=int, default=1000)
    parser.add_argument("--past", type=int, default=1000)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    print(machine())
    rows: list[tuple[str, ...]] = []
    for name, where in disks().items():
        found: list[Spent] = []
        for _ in range(given.times):
            with tempfile.TemporaryDirectory(dir=where) as folder:
                spent, report = once(Path(folder), given.past, given.causes)
            if report.redone != given.causes or report.sync_refused:
                raise SystemExit(f"{report.redone} of {given.causes} were done again")
            found.append(spent)
        for what, of in (("rescue", [one.rescue for one in found]),
                         ("up to its sync", [one.until_sync for one in found])):  # fmt: skip
            doing = median(one.doing for one in found)
            ratio = median(each / one.doing for each, one in zip(of, found, strict=True))
            cells = f"{doing:.2f}", f"{median(of):.2f}", f"{ratio:.2f}", f"{AIM}"
            rows.append((f"{name}: {what}", *cells))
    heads = (f"{given.causes} commands", "doing them, s", "this, s", "ratio", "aim")
    table(heads, rows)


if __name__ == "__main__":
    main()

"""What the benches of claims share: the machine, the disks, pieces that take turns, a table.

The machine may be busy, so the two sides of a ratio take turns in small pieces, and what counts
is the median piece of each.
"""

import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median

NOW = "2027-01-01T00:00:00.000000Z"

Piece = Callable[[], object]


def machine() -> str:
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python"
        f" {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def disks() -> dict[str, str]:
    """Where files are put: on the disk, and where the machine has one, on a disk in memory. Only
    there does a busy disk not hide what the code costs."""
    found = {"on the disk": tempfile.gettempdir()}
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        found["in memory"] = str(memory)
    return found


def timed(work: Piece, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that a piece of work takes; with `time.thread_time` those of the processor alone,
    whatever else the machine is doing."""
    begun = clock()
    work()
    return clock() - begun


def in_turns(
    *sides: Iterable[Piece], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Let the sides take turns, piece by piece; the median seconds of each one's pieces."""
    seconds: list[list[float]] = [[] for _ in sides]
    for pieces in zip(*sides, strict=True):
        for side, piece in zip(seconds, pieces, strict=True):
            side.append(timed(piece, clock))
    return [median(side) for side in seconds]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table: the first column to the left, the others to the right."""
    cells = [tuple(heads), *(tuple(row) for row in rows)]
    wide = [max(len(row[nth]) for row in cells) for nth in range(len(heads))]
    lines = [
        " | ".join(
            cell.rjust(width) if nth else cell.ljust(width)
            for nth, (cell, width) in enumerate(zip(row, wide, strict=True))
        )
        for row in cells
    ]
    rule = "|".join("-" * (width + 1) + (":" if nth else "-") for nth, width in enumerate(wide))
    print(f"| {lines[0]} |\n|{rule}|")
    for line in lines[1:]:
        print(f"| {line} |")

"""Kills a busy process at a random moment, recovers its home with the real command, and looks
whether anything was lost."""

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from adapters.runtime import watcher
from adapters.runtime.desk import Desk
from adapters.wiring import open_home
from domain.journal.task import NoteAdded
from tests.support import whole

ROOT = Path(__file__).parents[2]
REPLICA = {"WAKELOG_REPLICA": "r1"}


def environ(home: Path) -> dict[str, str]:
    """The environment of a process that works on a home."""
    return {**os.environ, **REPLICA, "WAKELOG_HOME": str(home), "PYTHONPATH": str(ROOT)}


def driver(home: Path, name: str, seconds: float) -> "subprocess.Popen[str]":
    """A busy process; see `tests.support.driver`."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.driver", str(home), name, str(seconds)],
        cwd=ROOT,
        env=environ(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def wakelog(home: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    """The real command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "adapters.cli.main", *args],
        cwd=ROOT,
        env=environ(home),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


class Killed(NamedTuple):
    """What a killed process had said it has done, and what recovering found to do."""

    notes: list[str]
    recovered: int  # wakes and operations that were in doubt
    errors: list[str]


def kill_once(home: Path, name: str, dice: random.Random, seconds_max: float) -> Killed:
    """Start a driver, kill it within so many seconds, and recover."""
    process = driver(home, name, 60)
    assert process.stdout is not None
    ready = process.stdout.readline()
    try:
        told, errors = process.communicate(timeout=dice.uniform(0.0, seconds_max))
    except subprocess.TimeoutExpired:
        process.kill()
        told, errors = process.communicate()
    found = [] if ready == "ready\n" and not errors else [f"{name}: {errors or ready}"]
    recovered = wakelog(home, "--json", "recover")
    if recovered.returncode or recovered.stderr:
        found.append(f"{name}: recover: {recovered.stderr}{recovered.stdout}")
    notes = [line.removeprefix("note ") for line in told.splitlines() if line.endswith(")")]
    return Killed(notes, recovered.stdout.count('"what"'), found)


def checked(home: Path, notes: list[str]) -> list[str]:
    """All that is wrong with a home after its recovery, `notes` being what was said to be in it."""
    with open_home(home, REPLICA, is_writing=True) as opened:
        desk = opened.desk
        watcher.catch_up(desk)
        return [*whole.faults(desk), *lost(desk, notes)]


def lost(desk: Desk, notes: list[str]) -> list[str]:
    """Notes that are not there though they were told, and those that are there twice."""
    kept: Counter[str] = Counter()
    for row in whole.rows_of(desk.journal):
        if isinstance(row.fact, NoteAdded):
            kept[row.fact.words.text] += 1
    doubled = [f"twice: {text}" for text, count in kept.items() if count > 1]
    return doubled + [f"lost: {text}" for text in notes if not kept[text]]


def counted(home: Path) -> Mapping[str, int]:
    """How much there is in a home."""
    with open_home(home, REPLICA, is_writing=True) as opened:
        desk = opened.desk
        facts = Counter(type(row.fact).__name__ for row in whole.rows_of(desk.agents))
        return {
            "journal rows": desk.journal.count(),
            "agent rows": desk.agents.count(),
            "wakes": facts["WakeStarted"],
            "confirmed": facts["ItemConfirmed"],
            "take-overs": whole.retaken(desk),
            "late replies": whole.late_replies(desk),
        }

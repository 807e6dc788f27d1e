"""Kills a busy process at a random moment, recovers its home with the real command, and looks
whether anything was lost."""

import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.wiring import open_home
from domain.errors import WakelogError
from domain.journal.task import ItemAdded, NoteAdded
from tests.support import checker, whole

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
    threading.Timer(dice.uniform(0.0, seconds_max), process.kill).start()
    told, errors = process.communicate()
    found = []
    if ready != "ready\n" or errors:
        found.append(f"{name}: {errors or ready}")
    recovered = wakelog(home, "--json", "recover")
    if recovered.stderr or (recovered.returncode and not _has_settled(recovered.stdout)):
        found.append(f"{name}: recover: {recovered.stderr}{recovered.stdout}")
    notes = [line.removeprefix("note ") for line in told.splitlines() if line.endswith(")")]
    return Killed(notes, recovered.stdout.count('"what"'), found)


def _has_settled(told: str) -> bool:
    """Whether all that a recovery could not do is operations that were refused: their items wait
    for the person once more, who is told why."""
    steps = json.loads(told)["steps"] if told else [{"error": "it said nothing"}]
    return all(one["status"] == "pending" for one in steps if one["error"])


def checked(home: Path, notes: list[str]) -> list[str]:
    """All that is wrong with a home after its recovery, `notes` being what was said to be in it;
    by our own eyes and by those of a stranger."""
    try:
        with open_home(home, REPLICA, is_writing=True) as opened:
            services = opened.services
            watcher.catch_up(services)
            found = [*whole.faults(services), *lost(services, notes)]
    except WakelogError as error:
        found = [str(error)]
    return found + [str(one) for one in checker.findings(home, is_settled=True)]


def lost(services: Services, notes: list[str]) -> list[str]:
    """Notes and boxes that are not there though they were told, and those that are there twice."""
    kept: Counter[str] = Counter()
    for row in whole.rows_of(services.journal):
        if isinstance(row.fact, NoteAdded):
            kept[row.fact.words.text] += 1
        elif isinstance(row.fact, ItemAdded) and row.fact.title.startswith("brought in"):
            kept[row.fact.title] += 1
    doubled = [f"twice: {text}" for text, count in kept.items() if count > 1]
    return doubled + [f"lost: {text}" for text in notes if not kept[text]]


def counted(home: Path) -> Mapping[str, int]:
    """How much there is in a home."""
    with open_home(home, REPLICA, is_writing=True) as opened:
        services = opened.services
        facts = Counter(type(row.fact).__name__ for row in whole.rows_of(services.agents))
        return {
            "journal rows": services.journal.count(),
            "agent rows": services.agents.count(),
            "wakes": facts["WakeStarted"],
            "confirmed": facts["ItemConfirmed"],
            "take-overs": whole.retaken(services),
            "late replies": whole.late_replies(services),
        }

"""Machines that share a home erase, write, link and sync in any order: at the end all hold the
same, all prove, and no word of what was erased stands anywhere (ADR 107)."""

import random
from pathlib import Path

import pytest

from tests.integration.test_cli_erase import holding
from tests.support import cli
from tests.support.checking import sharing
from tests.support.machines import Machine

pytestmark = pytest.mark.slow

SEEDS = 12
STEPS = 36
NAMES = ("desk", "laptop", "phone")


@pytest.mark.parametrize("seed", range(SEEDS))
def test_in_any_order_all_hold_the_same_and_no_word_is_left(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    (tmp_path / "folder").mkdir()
    machines = [Machine(tmp_path / name, tmp_path / "folder") for name in NAMES[: 2 + seed % 2]]
    tasks = [f"Task Number{word}" for word in ("Alpha", "Bravo", "Charlie", "Delta")]
    for task in tasks:
        machines[0].said("add", task, "--item", f"Item of {task.split()[1]}")
    machines[0].said("agent", "create", "--all")
    machines[0].said("wake")
    for one in machines:
        one.sync()
    erased = set[str]()
    for nth in range(STEPS):
        stepped(dice, dice.choice(machines), tasks, erased, nth)
    for one in machines * 4:
        one.told("sync", str(one.folder), "--accept-erasures")
    words = tuple(task.split()[1] for task in sorted(erased))
    assert {word: files for word, files in holding(tmp_path, words).items() if files} == {}
    proofs = [one.told("prove") for one in machines]
    assert [one["ok"] for one in proofs] == [True] * len(machines)
    assert len({one["shared"] for one in proofs}) == 1
    titles = [one.titles() for one in machines]
    assert titles == [set(tasks) - erased] * len(machines)
    assert sharing.main(tmp_path / "folder", [one.home for one in machines]) == 0


def stepped(dice: random.Random, at: Machine, tasks: list[str], erased: set[str], nth: int) -> None:
    """One deed on one machine, on a task that it has."""
    have = sorted(at.titles())
    task, other = dice.choice(tasks), dice.choice(tasks)
    deed = dice.choice(("note", "edit", "link", "wake", "sync", "sync", "sync", "erase"))
    if deed == "sync":
        more = ["--accept-erasures"] * (dice.random() < 0.7)
        with_status(at, "sync", str(at.folder), *more)
    elif task not in have:
        return
    elif deed == "note":
        at.said("note", task, f"Note {nth} says {task.split()[1]}")
    elif deed == "edit":
        at.said("edit", task, "--description", f"About {task.split()[1]}, {nth}")
    elif deed == "link" and other in have and other != task:
        with_status(at, "task", "link", task, "relates_to", other)
    elif deed == "wake":
        with_status(at, "wake", task)
    elif deed == "erase" and len(erased | {task}) <= 2:
        at.told("erase", "task", task, "--sure")
        erased.add(task)


def with_status(at: Machine, *words: str) -> None:
    """A command that may be refused: it waits, another machine leads, or it is so already."""
    cli.run([*words], at.home, env=at.more)

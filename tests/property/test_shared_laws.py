"""Three machines write one journal, meet in a folder by half, late and twice, and end up with the
same: T1 and S2 of the laws of shared logs, one effect per operation (S4), and that it ends (S7)."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.store.log import Log
from domain.causes import ReplicasImported
from domain.horizons import Horizons
from domain.journal.fold import TASK
from domain.journal.task import EstimateSet
from domain.merging import place
from domain.world import MAIN, Recorded
from tests.support.machines import NAMES, Machines, state

SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 9)]


def rows_of(log: Log) -> list[Recorded]:
    return [row for rows in log.appends() for row in rows if row.of_kind != "log"]


def horizons_of(log: Log) -> Horizons:
    found = Horizons()
    markers = [row for name in NAMES for row in log.facts(f"log:{MAIN}@{name}")]
    for row in sorted(markers, key=place):
        if isinstance(row.fact, ReplicasImported):
            found.took(row.replica, row.n, row.fact)
    return found


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 9))]
)
def test_in_the_end_all_hold_the_same_and_nothing_more_is_written(seed: int) -> None:
    machines = Machines(seed)
    machines.live(90)
    machines.rounds()
    first, *others = machines.logs
    counts = [one.count() for one in machines.logs]
    assert machines.rounds() == 0
    assert [one.count() for one in machines.logs] == counts
    want = state(first, machines.tasks)
    for one in others:
        assert one.telling_heads() == first.telling_heads()
        assert rows_of(one) == rows_of(first)
        assert state(one, machines.tasks) == want
    for one in machines.logs:
        anew = Log("journal", one.recorder, one.replica)
        assert state(anew, machines.tasks) == want
    assert_each_operation_counts_once(first, machines.tasks)


def assert_each_operation_counts_once(log: Log, tasks: Sequence[str]) -> None:
    asked = {(row.replica, row.n): row.entity for row in rows_of(log) if row.of_kind == "receipt"}
    with log.reading() as world:
        rows = [row for one in tasks for row in world.rows(TASK, one)]
    done = {(row.replica, row.n) for row in rows if isinstance(row.fact, EstimateSet)}
    operations = [asked[one] for one in done]
    assert len(operations) == len(set(operations))


@pytest.mark.parametrize("seed", [9, SLOW[0]])
def test_what_was_known_is_what_was_there_and_no_row_stands_before_one_that_it_knows(
    seed: int,
) -> None:
    machines = Machines(seed)
    machines.live(90)
    machines.rounds()
    knows = horizons_of(machines.logs[0]).knows
    rows = {(row.replica, row.n): row for row in rows_of(machines.logs[0])}
    assert rows.keys() == machines.knew.keys()
    for one, a in rows.items():
        assert {name for name, b in rows.items() if knows(a, b)} == machines.knew[one]
    ordered = list(rows.values())
    assert ordered == sorted(ordered, key=place)
    assert not any(knows(a, b) for nth, a in enumerate(ordered) for b in ordered[nth + 1 :])


@pytest.mark.slow
def test_in_files_stands_the_same(tmp_path: Path) -> None:
    files = Machines(2, lambda name: Log.open("journal", tmp_path / f"{name}.db", name))
    memory = Machines(2)
    for one in files, memory:
        one.live(60)
        one.rounds()
    for file, other in zip(files.logs, memory.logs, strict=True):
        assert list(file.rows()) == list(other.rows())
        assert (file.heads(), file.tail()) == (other.heads(), other.tail())
        assert state(file, files.tasks) == state(other, memory.tasks)
    assert files.shelf.held == memory.shelf.held

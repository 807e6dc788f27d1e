"""The analytics tables of a home that machines share say of a task what its pages say."""

from typing import Any

import pytest

from adapters.store.log import Log
from domain.journal.task import TASK
from tests.property.test_shared_laws import Machines
from tests.support.analysed import Tables

COLUMNS = "task_id, title, priority, estimate_minutes, category_id, is_deleted"


def of_pages(log: Log, tasks: list[str]) -> list[tuple[Any, ...]]:
    with log.reading() as world:
        states = [world.load(TASK, one) for one in sorted(tasks)]
    return [
        (one.id, one.title, one.priority, one.estimate or None, one.category, one.is_deleted)
        for one in states
        if one.exists or one.is_deleted
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_that_lost_make_no_part_of_a_task_in_the_tables(seed: int) -> None:
    machines = Machines(seed)
    machines.live(150)
    for log in machines.logs:
        told = Tables(Log.in_memory("agent"), log).ask(f"SELECT {COLUMNS} FROM tasks ORDER BY ALL")
        assert told == of_pages(log, machines.tasks)
    machines.rounds()
    tables = [Tables(Log.in_memory("agent"), log) for log in machines.logs]
    for log, one in zip(machines.logs, tables, strict=True):
        assert one.ask(f"SELECT {COLUMNS} FROM tasks ORDER BY ALL") == of_pages(log, machines.tasks)
    first, *others = [one.ask("FROM tasks ORDER BY ALL") for one in tables]
    assert all(one == first for one in others)

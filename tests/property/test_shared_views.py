"""Views of a shared log that are brought up to date in place are those that are made anew."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.home.views import Views
from adapters.store.log import Log
from adapters.store.sqlite_documents import SqliteDocumentStore
from domain.journal import commands as do
from domain.log.wire import Words
from projections.tasks import VIEW
from projections.view import View
from tests.property.test_shared_laws import INBOX, JOURNALS, Machines


class Counted(SqliteDocumentStore):
    """Documents in a file, and how often some were thrown away."""

    def __init__(self, path: Path, views: Sequence[View[Any]] = JOURNALS) -> None:
        super().__init__(path, views)
        self.path = path
        self.forgotten: list[str] = []

    def forget(self, views: Sequence[View[Any]]) -> None:
        self.forgotten += [one.name for one in views]
        super().forget(views)


def stored(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as opened:
        return opened.execute("SELECT * FROM documents ORDER BY view, key").fetchall()


def anew(log: Log, path: Path) -> list[tuple[Any, ...]]:
    path.unlink(missing_ok=True)
    views = Views(path, {"journal": log}, JOURNALS)
    views.catch_up()
    views.close()
    return stored(path)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 7))]
)
def test_after_each_bring_the_documents_are_those_of_a_new_file(seed: int, tmp_path: Path) -> None:
    machines = Machines(seed)
    stores = [Counted(tmp_path / f"{log.replica}.db") for log in machines.logs]
    kept = [
        Views(store, {"journal": log}, JOURNALS, batch_appends=batch)
        for store, log, batch in zip(stores, machines.logs, (1000, 1000, 3), strict=True)
    ]
    for views in kept:
        views.catch_up()
    begun = [len(store.forgotten) for store in stores]
    for _ in range(25 if seed == 0 else 60):
        machines.live(2)
        for store, views, log in zip(stores, kept, machines.logs, strict=True):
            if machines.chance.random() < 0.7:
                views.catch_up()
                assert stored(store.path) == anew(log, tmp_path / "anew.db")
    machines.rounds()
    for store, views, log in zip(stores, kept, machines.logs, strict=True):
        views.catch_up()
        assert stored(store.path) == anew(log, tmp_path / "anew.db")
    assert [len(store.forgotten) for store in stores] == begun
    assert kept[0].all(VIEW)


def test_a_row_that_counts_no_longer_leaves_the_document_of_a_task_that_was_not_brought(
    tmp_path: Path,
) -> None:
    machines = Machines(0)
    desk, laptop, _ = machines.logs
    mine, theirs, *_ = machines.tasks
    store = Counted(tmp_path / "desk.db")
    views = Views(store, {"journal": desk}, JOURNALS)
    for name in "red", "green":  # so that the laptop's operation stands before the desk's
        machines.write(desk, do.AddLabel(name))
    for log, task in (laptop, theirs), (desk, mine):
        minutes = Words('{"minutes":5}')
        applied = do.ApplyOperation(
            "once", "a1", task, "update_task_estimate", minutes, categories=(INBOX,)
        )
        machines.write(log, applied)
    views.catch_up()
    before = views.get(VIEW, mine)
    machines.sync(laptop, machines.shelf)
    machines.sync(desk, machines.shelf)
    views.catch_up()
    assert stored(store.path) == anew(desk, tmp_path / "anew.db")
    assert views.get(VIEW, mine) != before

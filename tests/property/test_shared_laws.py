"""Three machines write one journal, meet in a folder by half, late and twice, and end up with the
same: T1 and S2 of the laws of shared logs, one effect per operation (S4), and that it ends (S7)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from adapters.home.views import Views
from adapters.store.log import Log
from adapters.store.recorder import by_append
from adapters.sync.sync_folder import MemorySyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from domain.append import envelope
from domain.append.causes import ReplicasImported
from domain.errors import WakelogError
from domain.journal import commands as do
from domain.journal.catalog import CATALOG, category_id
from domain.journal.links import LINKS
from domain.journal.task import TASK, EstimateSet
from domain.journal.timer import TIMER
from domain.log.state import MAIN, RecordedEvent
from domain.log.timestamps import later
from domain.log.wire import Words
from domain.replication.merge import canonical_position
from domain.replication.version_vectors import VersionVectors
from projections.all_views import VIEWS
from tests.support.services import START
from tests.support.sharing import Machine

INBOX = category_id("Inbox")
JOURNALS = [view for view in VIEWS if view.log == "journal"]
Place = tuple[str, int]
SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5)]
NAMES = ("desk", "laptop", "phone")
CLOCKS = {"desk": 0, "laptop": -3600, "phone": 5000}  # seconds by which they are wrong


class Machines:
    """Three of them, and what each append's writer held then: the judge of what it knew."""

    def __init__(self, seed: int, opened: Callable[[str], Log] = Machine) -> None:
        self.chance = Random(seed)
        self.logs = [opened(name) for name in NAMES]
        self.shelf = MemorySyncFolder()
        self.tasks: list[str] = []
        self.knew: dict[Place, set[Place]] = {}
        self._seconds = 0
        self.views = views_of(self.logs[0], batch_appends=3)
        for name in "one", "two", "three":
            self.write(self.logs[0], do.CreateTask(name))
        for one in self.logs:
            self.sync(one, self.shelf)

    def live(self, steps: int) -> None:
        for _ in range(steps):
            one = self.chance.choice(self.logs)
            if self.chance.random() < 0.15:
                self.views.catch_up()
            if self.chance.random() < 0.3:
                self.sync(one, self.by_half())
            else:
                self.write(one)

    def by_half(self) -> MemorySyncFolder:
        """The folder as it came so far: files are missing, and some are there twice."""
        seen = MemorySyncFolder()
        for name in sorted(self.shelf.held):
            if self.chance.random() < 0.6 or name.endswith("have.json"):
                seen.held[name] = self.shelf.held[name]
            if self.chance.random() < 0.2:
                seen.held[f"copy/{name.replace('/', ' ')} (1)"] = self.shelf.held[name]
        return seen

    def write(self, log: Log, command: do.JournalCommand | None = None) -> None:
        self._seconds += 60
        now = later(START, seconds=self._seconds + CLOCKS[log.replica])
        command = command or self._command(log)
        key = command.operation if isinstance(command, do.ApplyOperation) else self._key()
        before = log.tail().n
        try:
            made = log.append(command, now, key=key)
        except WakelogError:
            return
        if isinstance(command, do.CreateTask):
            self.tasks.append(made.result.ids[0])
        if log.tail().n > before:
            self.knew[log.replica, log.tail().n] = {
                (one[0].stream.rpartition("@")[2], envelope.read(one[0]).n)
                for one in by_append(log.rows())
                if not one[0].stream.startswith("log:")
            }

    def _key(self) -> str:
        return self.chance.choice(("",) * 8 + ("k1", "k2"))

    def _command(self, log: Log) -> do.JournalCommand:
        with log.reading() as world:
            known = [one for one in self.tasks if world.load(TASK, one).exists]
        chance, task = self.chance, self.chance.choice(known[:2] + known[-2:])
        word = chance.choice(("a", "b", "c"))
        operation = f"operation-{chance.randrange(4)}"
        estimate = Words(f'{{"minutes":{chance.randrange(1, 9)}}}')
        asked = do.ApplyOperation(
            operation, "a1", task, "update_task_estimate", estimate, categories=(INBOX,)
        )
        return chance.choice(
            (
                do.CreateTask(f"{word} {len(self.tasks)}"),
                do.EditTask(task, title=word),
                do.EditTask(task, priority=chance.choice(("P0", "P1"))),
                do.AddItems(task, (word,)),
                do.AddNote(task, "note", Words(word)),
                do.DeleteTask(task),
                do.RestoreTask(task),
                do.StartTimer(task),
                do.StopTimer(),
                do.AddLabel(word),
                do.LinkTask(task, "blocks", known[0]),
                asked,
                asked,
            )
        )

    def sync(self, log: Log, shelf: MemorySyncFolder) -> None:
        sync_logs([log], shelf, START, SyncState())
        own = {name: data for name, data in shelf.held.items() if name.startswith(log.replica)}
        self.shelf.held |= own

    def rounds(self) -> int:
        """Sync all in turn until the folder stays as it is; how many rounds that took."""
        for count in range(12):
            before = dict(self.shelf.held)
            for one in self.logs:
                self.sync(one, self.shelf)
            if before == self.shelf.held:
                return count
        raise AssertionError("it never ends")


def state(log: Log, tasks: Sequence[str]) -> list[object]:
    with log.reading() as world:
        linked = [world.load(LINKS, one) for one in tasks]
        one_each = [world.load(TASK, one) for one in tasks]
        return [*one_each, *linked, world.load(CATALOG, MAIN), world.load(TIMER, MAIN)]


def rows_of(log: Log) -> list[RecordedEvent]:
    return [row for rows in log.appends() for row in rows if row.of_kind != "log"]


def horizons_of(log: Log) -> VersionVectors:
    found = VersionVectors()
    markers = [row for name in NAMES for row in log.facts(f"log:{MAIN}@{name}")]
    for row in sorted(markers, key=canonical_position):
        if isinstance(row.fact, ReplicasImported):
            found.took(row.replica, row.n, row.fact)
    return found


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 9))]
)
def test_in_the_end_all_hold_the_same_and_nothing_more_is_written(seed: int) -> None:
    machines = Machines(seed)
    machines.live(70)
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
    documents = documents_of(machines.views)
    assert documents_of(views_of(others[0])) == documents
    assert_each_operation_counts_once(first, machines.tasks)
    assert_tasks_are_shown_as_they_are(documents, want[: len(machines.tasks)])


def views_of(log: Log, batch_appends: int = 1000) -> Views:
    return Views(None, {"journal": log}, JOURNALS, batch_appends=batch_appends)


def documents_of(views: Views) -> dict[str, list[Any]]:
    views.catch_up()
    return {view.name: views.all(view) for view in JOURNALS}


def assert_tasks_are_shown_as_they_are(
    documents: dict[str, list[Any]], tasks: Sequence[Any]
) -> None:
    shown = [one.task for one in documents["tasks"]]
    told = {one.id: (one.title, one.is_deleted, one.estimate, one.items) for one in shown}
    assert told == {one.id: (one.title, one.is_deleted, one.estimate, one.items) for one in tasks}


def assert_each_operation_counts_once(log: Log, tasks: Sequence[str]) -> None:
    asked = {(row.replica, row.n): row.entity for row in rows_of(log) if row.of_kind == "receipt"}
    with log.reading() as world:
        rows = [row for one in tasks for row in world.rows(TASK, one)]
    done = {(row.replica, row.n) for row in rows if isinstance(row.fact, EstimateSet)}
    operations = [asked[one] for one in done]
    assert len(operations) == len(set(operations))


@pytest.mark.parametrize("seed", [5, SLOW[0]])
def test_what_was_known_is_what_was_there_and_no_row_stands_before_one_that_it_knows(
    seed: int,
) -> None:
    machines = Machines(seed)
    machines.live(70)
    machines.rounds()
    knows = horizons_of(machines.logs[0]).knows
    rows = {(row.replica, row.n): row for row in rows_of(machines.logs[0])}
    assert rows.keys() == machines.knew.keys()
    for one, a in rows.items():
        assert {name for name, b in rows.items() if knows(a, b)} == machines.knew[one]
    ordered = list(rows.values())
    assert ordered == sorted(ordered, key=canonical_position)
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

"""Three machines that write one journal and meet in a folder by half, late and twice."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from adapters.store.log import Log
from adapters.store.recorder import by_append
from adapters.sync.memory import Kept
from adapters.sync.shelf import MemoryShelf
from adapters.sync.syncing import sync
from domain import envelope
from domain.errors import WakelogError
from domain.journal import commands as do
from domain.journal.catalog import CATALOG, category_id
from domain.journal.fold import TASK
from domain.journal.links import LINKS
from domain.journal.timer import TIMER
from domain.timestamps import later
from domain.wire import Words
from domain.world import MAIN, Kind
from tests.support.services import START
from tests.support.sharing import Machine

INBOX = category_id("Inbox")
Place = tuple[str, int]
NAMES = ("desk", "laptop", "phone")
CLOCKS = {"desk": 0, "laptop": -3600, "phone": 5000}  # seconds by which they are wrong


class Machines:
    """Three of them, and what each append's writer held then: the judge of what it knew."""

    def __init__(self, seed: int, opened: Callable[[str], Log] = Machine) -> None:
        self.chance = Random(seed)
        self.logs = [opened(name) for name in NAMES]
        self.shelf = MemoryShelf()
        self.tasks: list[str] = []
        self.knew: dict[Place, set[Place]] = {}
        self._seconds = 0
        for name in "one", "two", "three":
            self.write(self.logs[0], do.CreateTask(name))
        for one in self.logs:
            self.sync(one, self.shelf)

    def live(self, steps: int) -> None:
        for _ in range(steps):
            one = self.chance.choice(self.logs)
            if self.chance.random() < 0.3:
                self.sync(one, self.by_half())
            else:
                self.write(one)

    def by_half(self) -> MemoryShelf:
        """The folder as it came so far: files are missing, and some are there twice."""
        seen = MemoryShelf()
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

    def sync(self, log: Log, shelf: MemoryShelf) -> None:
        sync([log], shelf, START, Kept())
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


def state(log: Log, tasks: Sequence[str]) -> list[Any]:
    """What a machine's tasks, links, catalog and timer have come to."""
    with log.reading() as world:
        kinds: tuple[Kind[Any], ...] = (TASK, LINKS)
        one_each = [world.load(kind, one) for kind in kinds for one in tasks]
        return [*one_each, world.load(CATALOG, MAIN), world.load(TIMER, MAIN)]

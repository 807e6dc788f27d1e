"""What a home costs that machines share: ratios in one run, by processor time.

    .venv/bin/python tests/bench/sync_speed.py [--rows 20000] [--agents 100] [--rounds 5]

The smallest of several pieces counts: the machine may be busy. `--rows` is how large the home is
that 20 rows are synced into, `--agents` how many there are of which one wakes elsewhere; what that
costs must not grow with them.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.home.views import Views
from adapters.proof.prove import prove_logs
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.remote_appends import RemoteAppend
from adapters.sync.sync_folder import MemorySyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from domain.agent.commands import CreateAgent
from domain.journal.commands import AddItems, CreateTask, EditTask
from domain.journal.task import TASK
from projections.all_views import VIEWS
from tests.bench.common import NOW, disks, machine, table
from tests.support.large import Observant, ask, wake

LOGS = ("journal", "agent")
JOURNALS = [view for view in VIEWS if view.log == "journal"]
PIECE_APPENDS = 100
LATELY = 10  # appends of two rows


def smallest(pieces: Iterable[Callable[[], object]]) -> float:
    found: list[float] = []
    for piece in pieces:
        began = time.process_time()
        piece()
        found.append(time.process_time() - began)
    return min(found)


def filled(log: Log, rows: int, share: bool) -> str:
    """A task of it; the others have items, so that some appends are long."""
    task = log.append(CreateTask("First"), NOW).result.ids[0]
    while log.count() < rows:
        one = log.append(CreateTask("Trip"), NOW).result.ids[0]
        log.append(AddItems(one, tuple(f"thing {nth}" for nth in range(8))), NOW)
        log.append(EditTask(one, title="Trip to the lake"), NOW)
    if share:
        log.share(NOW)
    return task


def handed(log: Log) -> list[RemoteAppend]:
    return [RemoteAppend(tuple(rows), ()) for rows in log.appends_of(log.replica, 0)]


def edits(log: Log, count: int) -> Callable[[], None]:
    def piece() -> None:
        for _ in range(count):
            task = log.append(CreateTask("One more"), NOW).result.ids[0]
            log.append(EditTask(task, title="One more, later"), NOW)

    return piece


def meet(log: Log, shelf: MemorySyncFolder, held: dict[str, SyncState]) -> None:
    held[log.replica] = sync_logs([log], shelf, NOW, held[log.replica]).kept


def appending(folder: Path, rounds: int) -> tuple[float, float]:
    """Seconds alone and on a home of two machines."""
    alone = Log.open("journal", folder / "alone.db", "alone")
    filled(alone, 1000, share=False)
    desk = Log.open("journal", folder / "desk.db", "desk")
    filled(desk, 500, share=True)
    laptop = Log.open("journal", folder / "laptop.db", "laptop")
    filled(laptop, 500, share=True)
    desk.bring(handed(laptop), NOW)
    seconds = [
        (smallest([edits(alone, PIECE_APPENDS)]), smallest([edits(desk, PIECE_APPENDS)]))
        for _ in range(rounds)
    ]
    return min(one for one, _ in seconds), min(two for _, two in seconds)


def bringing(folder: Path, rows: int, rounds: int) -> float:
    """Rows a second that are checked and stored."""
    laptop = Log.open("journal", folder / "from.db", "laptop")
    filled(laptop, rows, share=True)
    appends = handed(laptop)

    def piece(nth: int) -> Callable[[], object]:
        desk = Log.open("journal", folder / f"into{nth}.db", "desk")
        desk.share(NOW)
        return lambda: desk.bring(appends, NOW)

    return laptop.count() / smallest(piece(nth) for nth in range(rounds))


def syncing(folder: Path, rows: int, rounds: int) -> tuple[float, float]:
    """Seconds to append twenty rows with their views, and to take twenty in with theirs."""
    desk = Log.open("journal", folder / "large.db", "desk")
    filled(desk, rows, share=False)
    laptop = Log.open("journal", folder / "small.db", "laptop")
    shelf, held = MemorySyncFolder(), {desk.replica: SyncState(), laptop.replica: SyncState()}
    views = Views(folder / "views.db", {"journal": desk}, JOURNALS)
    for _ in range(2):
        meet(desk, shelf, held)
        meet(laptop, shelf, held)
    meet(desk, shelf, held)
    views.catch_up()

    def taken() -> None:
        meet(desk, shelf, held)
        views.catch_up()

    def added() -> None:
        edits(desk, LATELY // 2)()
        views.catch_up()

    own, theirs = list[float](), list[float]()
    for _ in range(rounds):
        edits(laptop, LATELY // 2)()
        meet(laptop, shelf, held)
        theirs.append(smallest([taken]))
        own.append(smallest([added]))
    return min(own), min(theirs)


class Waking:
    """A machine with both logs and views of all."""

    def __init__(self, folder: Path, name: str) -> None:
        self.logs = [Log.open(log, folder / f"{name}-{log}.db", name) for log in LOGS]
        self.model = Observant()
        journal, agents = self.logs
        self.services = Services(
            journal, agents, ManualClock(NOW), Settings(), lambda _: self.model
        )
        self.views = Views(folder / f"{name}.views", {log.name: log for log in self.logs})
        self.kept = SyncState()

    def agent(self) -> str:
        """One that has woken once."""
        task = self.services.append_journal(CreateTask("Trip")).result.ids[0]
        with self.logs[0].reading() as world:
            named = task, "Trip", world.load(TASK, task).category, world.n - 1
        made = CreateAgent(*named, "hybrid", is_enabled=True)
        agent = self.services.append_agent(made).result.ids[0]
        wake(self.services, agent)
        return agent

    def wake(self, agent: str) -> None:
        self.model.left = 4
        ask(self.services, agent)
        wake(self.services, agent)

    def meet(self, shelf: MemorySyncFolder) -> None:
        self.kept = sync_logs(self.logs, shelf, NOW, self.kept).kept


def waking(folder: Path, agents: int, rounds: int) -> tuple[float, float]:
    """Seconds to wake an agent with its views, and to take in such a wake with theirs."""
    desk, laptop, shelf = Waking(folder, "desk"), Waking(folder, "laptop"), MemorySyncFolder()
    every = [desk.agent() for _ in range(agents)]
    for one in (desk, laptop, desk):
        one.meet(shelf)
    desk.views.catch_up()

    def taken() -> None:
        desk.meet(shelf)
        desk.views.catch_up()

    def woken() -> None:
        desk.wake(every[0])
        desk.views.catch_up()

    own, theirs = list[float](), list[float]()
    for _ in range(rounds):
        laptop.wake(every[0])
        laptop.meet(shelf)
        theirs.append(smallest([taken]))
        own.append(smallest([woken]))
        desk.meet(shelf)
        laptop.meet(shelf)
    return min(own), min(theirs)


def proving(folder: Path, rows: int, rounds: int) -> tuple[float, float]:
    """Seconds to prove a home of one machine, and one of three, for each row."""
    one = Log.open("journal", folder / "one.db", "one")
    filled(one, rows, share=False)
    three = [Log.open("journal", folder / f"{name}.db", name) for name in ("a", "b", "c")]
    shelf, held = MemorySyncFolder(), {log.replica: SyncState() for log in three}
    filled(three[0], 2, share=False)
    for log in three:  # who joins is empty
        meet(log, shelf, held)
    for _ in range(4):
        for log in three:
            filled(log, log.count() + rows // 12, share=False)
            meet(log, shelf, held)
    for log in three:
        meet(log, shelf, held)
    seconds: list[tuple[float, float]] = []
    for _ in range(rounds):
        each = [smallest([partial(prove, log)]) for log in (one, three[0])]
        seconds.append((each[0] / one.count(), each[1] / three[0].count()))
    return min(first for first, _ in seconds), min(second for _, second in seconds)


def prove(log: Log) -> None:
    found = prove_logs(log, Log.in_memory("agent", log.replica))
    assert not found.divergences, found.divergences


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--agents", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    where = disks()
    with tempfile.TemporaryDirectory(dir=where.get("in memory")) as name:
        folder = Path(name)
        alone, shared = appending(folder, given.rounds)
        rate = bringing(folder, min(given.rows, 20_000), given.rounds)
        own, theirs = syncing(folder, given.rows, given.rounds)
        woken, heard = waking(folder, given.agents, given.rounds)
        one, three = proving(folder, min(given.rows, 6000), given.rounds)
    print(machine())
    table(
        ("what", "measured", "aim"),
        [
            ("append, home of two / alone (speed)", f"{alone / shared:.2f}", ">= 0.9"),
            ("rows a second brought", f"{rate:,.0f}", ">= 30,000"),
            (
                f"sync of 20 rows into {given.rows:,} with views / appending them",
                f"{theirs / own:.2f} ({theirs * 1000:.0f} ms)",
                "<= 3",
            ),
            (
                f"sync of a wake into {given.agents:,} agents with views / waking one",
                f"{heard / woken:.2f} ({heard * 1000:.0f} ms)",
                "<= 3",
            ),
            ("prove a row of three machines / of one", f"{three / one:.2f}", "<= 1.5"),
        ],
    )


if __name__ == "__main__":
    main()

"""What each opening costs to see whether two logs belong together: homes of so many notes, and the
statements that SQLite is asked."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from adapters.home.clock import ManualClock
from adapters.home.log_pairing import newest_mismatch
from adapters.home.settings import Settings
from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.sqlite import SQLiteLogRecorder
from domain.errors import Refused
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words
from domain.ports import Model

NOW = "2027-01-01T00:00:00.000000Z"
EACH = 10  # notes, and then all are taken


def nobody(name: str) -> Model:
    raise Refused("model_unavailable", because=f"{name} is not asked here", instead="ask another")


@contextmanager
def opened(home: Path) -> Iterator[Services]:
    journal, agents = (Log.open(one, home / f"{one}.db", "r1") for one in ("journal", "agent"))
    with closing(Services(journal, agents, ManualClock(NOW), Settings(), nobody)) as services:
        yield services


def made(home: Path, appends: int, waiting: int) -> Path:
    """A home of so many notes, of which the last ones nobody has taken."""
    home.mkdir()
    with opened(home) as services:
        task = services.append_journal(CreateTask("Fix the sink")).result.ids[0]
        for nth in range(appends):
            if nth % EACH == 0 and nth <= appends - waiting:
                watcher.catch_up(services)
            services.append_journal(AddNote(task, "note", Words(f"Note {nth}")))
        if not waiting:
            watcher.catch_up(services)
    return home


def statements(home: Path) -> int:
    """How many statements SQLite is asked for it, in both files."""
    found: list[str] = []
    with opened(home) as services:
        for log in (services.journal, services.agents):
            recorder = log.recorder
            assert isinstance(recorder, SQLiteLogRecorder)
            recorder._connection.set_trace_callback(found.append)
        newest_mismatch(services.journal, services.agents)
    return len(found)

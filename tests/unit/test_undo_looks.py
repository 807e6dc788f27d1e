"""How far back `undo` looks: as far as it must, and each append once."""

from collections.abc import Iterator
from pathlib import Path

from adapters.actions import undoing
from adapters.actions.tasks import edit_task
from adapters.home.place import FolderPlace
from adapters.home.settings import Settings
from adapters.home.views import Views
from adapters.models.rules import RulesModel
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.wiring import Home
from domain.envelope import Row
from domain.journal.commands import CreateTask
from tests.support.services import TickingClock

EDITS = 150


class RowsCounted(MemoryLogRecorder):
    """Counts the rows that are read in order."""

    read_in_order = 0

    def rows(self, after: int) -> Iterator[Row]:
        for row in super().rows(after):
            self.read_in_order += 1
            yield row


def test_undo_finds_the_newest_deeds_and_a_verdict_asks_for_the_last_appends_alone() -> None:
    recorder = RowsCounted()
    journal, agents = Log("journal", recorder, "r1"), Log.in_memory("agent", "r1")
    at = Services(journal, agents, TickingClock(), Settings(), lambda _: RulesModel())
    views = Views(None, {"journal": journal, "agent": agents})
    home = Home(FolderPlace(Path("nowhere")), at, views, exists=True)
    (task,) = at.append_journal(CreateTask("Fix the tap")).result.ids
    for nth in range(EDITS):
        edit_task(home, task, {"estimate": nth + 1}, key=f"edit {nth}")
    found, newest = undoing.deeds(home), journal.tail().n
    assert [one.ref for one in found] == [f"j{newest - nth}" for nth in range(20)]
    assert [one.state for one in found[:2]] == ["open", "moved"]
    recorder.read_in_order = 0
    last = undoing.deed_under(home, f"edit {EDITS - 1}")
    assert last is not None
    assert last.ref == found[0].ref
    assert recorder.read_in_order <= 3 * undoing.LOOK_FIRST
    recorder.read_in_order = 0
    undoing.deeds(home)
    assert recorder.read_in_order <= journal.count() * 2

"""How far back `undo` looks: as far as it must, and each append once."""

from collections.abc import Iterator
from pathlib import Path

from adapters.home.home_location import FolderLocation
from adapters.home.settings import Settings
from adapters.home.views import Views
from adapters.models.rules.model import RulesModel
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.usecases import undoing
from adapters.usecases.tasks import edit_task
from adapters.wiring import Home
from domain.append.envelope import Row
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


def home_of(edits: int) -> tuple[Home, RowsCounted, str]:
    """A home in memory in which a task was edited so often."""
    recorder = RowsCounted()
    journal, agents = Log("journal", recorder, "r1"), Log.in_memory("agent", "r1")
    at = Services(journal, agents, TickingClock(), Settings(), lambda _: RulesModel())
    views = Views(None, {"journal": journal, "agent": agents})
    home = Home(FolderLocation(Path("nowhere")), at, views, exists=False)
    (task,) = at.append_journal(CreateTask("Fix the tap")).result.ids
    for nth in range(edits):
        edit_task(home, task, {"estimate": nth + 1}, key=f"edit {nth}")
    return home, recorder, task


def test_undo_finds_the_newest_deeds_and_a_verdict_asks_for_the_last_appends_alone() -> None:
    home, recorder, _ = home_of(EDITS)
    journal = home.services.journal
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


def test_the_newest_deed_is_found_without_reading_what_is_older() -> None:
    home, recorder, task = home_of(EDITS)
    recorder.read_in_order = 0
    assert undoing.newest(home).deed.facts
    assert recorder.read_in_order <= 3 * undoing.LOOK_FIRST
    assert task


def test_a_large_deed_is_whole_wherever_its_parts_end_and_is_judged_in_part() -> None:
    home, _, _ = home_of(1)
    ids = [home.services.append_journal(CreateTask(f"T{nth}")).result.ids[0] for nth in range(200)]
    for nth, one in enumerate(ids, start=1):  # as `done` does, under the key of a caller
        edit_task(home, one, {"status": "DONE"}, key=f"all:{nth}" if nth > 1 else "all")
    choice = undoing.newest(home)
    assert (len(choice.deed.tasks), choice.is_large) == (200, True)
    assert len(choice.deed.facts) == undoing.JUDGED_MAX
    assert choice.deed.left == 200 - undoing.JUDGED_MAX
    undone = undoing.undo(home, choice.deed.ref)
    assert undone.deed.tasks == choice.deed.tasks
    assert undoing.listed(home)[0].state == "undone"

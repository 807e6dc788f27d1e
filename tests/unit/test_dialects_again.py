"""A better reader changes no task of a file that nobody edited; a dry run counts as the import."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.documents.tasks import ImportReport
from adapters.home.home_location import FolderLocation
from adapters.home.settings import Settings
from adapters.importers.markdown import read
from adapters.models.rules.model import RulesModel
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.usecases.import_sources import ParsedFile
from adapters.usecases.import_tasks import Importing, dry_run
from adapters.usecases.tasks import edit_task
from adapters.wiring import Home
from projections.tasks import VIEW, TaskDocument
from tests.support.counting import CountingRecorder, CountingViews
from tests.support.services import TickingClock

SHED = "- [ ] Paint the shed ⏫ 🛫 2027-02-08 📅 2027-02-12 2027-01-01"
RENT = "- [ ] Pay the rent ✅ 2027-02-01\n- [ ] Pay the rent 🔁 every month"
TEXT = f"# Week 7\n{SHED}\n{RENT}\n- [ ] Plain ~2h #home\n"


class Desk:
    """A home, and what a file says to it."""

    def __init__(self) -> None:
        journal, agents = Log("journal", CountingRecorder(), "r1"), Log.in_memory("agent", "r1")
        at = Services(journal, agents, TickingClock(), Settings(), lambda _: RulesModel())
        views = CountingViews(None, {"journal": journal, "agent": agents})
        self.home = Home(FolderLocation(Path("nowhere")), at, views, exists=True)

    def take(self, text: str, **options: Any) -> ImportReport:
        """Try an import, do it, and compare both."""
        found = ParsedFile(read(text.encode(), source="s.md"))
        prefer, gone = options.get("prefer"), options.get("gone")
        plan = dry_run(self.home, "s.md", found, prefer, gone)
        report = Importing("", prefer, gone).take(self.home, "s.md", found)
        self.home.views.catch_up()
        assert _counts(plan) == _counts(report)
        return report

    def take_as_before(self, text: str) -> None:
        """Import as an older version did."""
        file = read(text.encode(), source="s.md")
        earlier = {one.task_id: one for one in file.earlier}
        tasks = tuple(earlier.get(one.task_id, one) for one in file.tasks)
        Importing().take(self.home, "s.md", ParsedFile(replace(file, tasks=tasks, earlier=())))
        self.home.views.catch_up()

    @property
    def tasks(self) -> dict[str, TaskDocument]:
        return {one.title: one for one in self.home.views.all(VIEW)}

    def edit(self, name: str, /, **fields: Any) -> None:
        edit_task(self.home, self.tasks[name].id, fields)
        self.home.views.catch_up()


def _counts(report: ImportReport) -> list[object]:
    conflicts = [(one.task, one.field, one.values[1].value) for one in report.conflicts]
    counts = [report.created, report.changed, report.unchanged, report.settled]
    rest = [report.gone, report.gone_settled, report.retitled, report.unreadable, conflicts]
    return [*counts, *rest]


@pytest.fixture
def desk() -> Desk:
    """What an older version imported: words of other programs are in the titles."""
    made = Desk()
    made.take_as_before(TEXT)
    return made


def test_an_unchanged_file_of_an_older_reader_writes_no_row(desk: Desk) -> None:
    before = dict(desk.tasks)
    assert [desk.take(TEXT).events for _ in range(2)] == [0, 0]
    assert desk.tasks == before
    assert "Paint the shed ⏫ 🛫 2027-02-08 2027-01-01" in before


def test_an_edited_line_is_read_anew_and_stays_the_same_task(desk: Desk) -> None:
    before = {one.id for one in desk.tasks.values()}
    report = desk.take(TEXT.replace("📅 2027-02-12", "📅 2027-02-13"))
    assert (report.created, report.changed, report.unchanged) == (0, 1, 3)
    shed = desk.tasks["Paint the shed 2027-01-01"]
    assert (shed.task.priority, shed.task.due) == ("P1", "2027-02-13")
    assert {one.id for one in desk.tasks.values()} == before
    assert desk.take(TEXT.replace("📅 2027-02-12", "📅 2027-02-13")).events == 0


def test_a_box_that_was_moved_before_is_known_by_what_it_said(desk: Desk) -> None:
    moved = TEXT.replace("# Week 7", "# Week 8")
    desk.take_as_before(moved)
    assert len(desk.tasks) == 4
    assert desk.take(moved).events == 0


def test_ticking_with_a_day_keeps_the_task() -> None:
    desk = Desk()
    desk.take("- [ ] Paint ⏫ 📅 2027-02-12\n- [ ] Plan 📅 2027-02-13")
    report = desk.take("- [x] Paint ⏫ 📅 2027-02-12 ✅ 2027-02-11\n- [ ] Plan 📅 2027-02-13")
    assert (report.created, report.changed) == (0, 1)
    done = desk.tasks["Paint"].task
    assert (done.status, done.status_reason) == ("DONE", "completed on 2027-02-11")


@pytest.mark.parametrize("prefer", [None, "file", "mine"])
@pytest.mark.parametrize("gone", [None, "reject", "delete"])
def test_a_dry_run_counts_as_the_import_does(prefer: str | None, gone: str | None) -> None:
    desk = Desk()
    desk.take(
        "# A\n- [ ] Paint due:2027-02-01\n- [ ] Plan ~1h\n- [ ] Buy !p1\n- [ ] Sell\n- [ ] Go\n"
    )
    desk.edit("Paint", due="2027-03-01", priority="P0")
    desk.edit("Plan", estimate=60)  # as the file has it: no conflict
    desk.edit("Buy", title="Buy it")
    desk.edit("Go", priority="P3")
    options = {name: one for name, one in (("prefer", prefer), ("gone", gone)) if one}
    text = (
        "# A\n- [ ] Paint due:2027-02-05 !p2\n- [x] Plan ~2h\n- [ ] Buy !p2 #x\n- [ ] Go\n- [ ] New"
    )
    first, again = desk.take(text, **options), desk.take(text, **options)
    assert (first.created, first.changed, first.unchanged) == (1, 3, 1)
    assert (len(first.conflicts), first.settled) == ((2, 0) if prefer is None else (0, 2))
    assert len(first.gone_settled) == (1 if gone else 0)
    assert (again.created, again.changed, again.events) == (0, 0, 0)

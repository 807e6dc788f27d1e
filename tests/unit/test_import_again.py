"""A file that is imported again costs what changed in it, and is told of again (ADR 54)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from adapters.documents.tasks import ImportReport
from adapters.home.home_location import FolderLocation
from adapters.home.settings import PolicySettings, Settings
from adapters.importers.formats import READERS
from adapters.importers.markdown import read
from adapters.models.rules.model import RulesModel
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.usecases.import_sources import FileInput, ParsedFile, given_file, read_file
from adapters.usecases.import_tasks import Importing, dry_run, keep_report, kept_report, made_of
from adapters.usecases.tasks import edit_task
from adapters.wiring import Home
from domain.journal.commands import AddCategory
from projections.tasks import VIEW, TaskDocument
from tests.support.counting import CountingRecorder, CountingViews
from tests.support.services import TickingClock

# ----------------------------------------------------------------------- what was kept of an import


NAME = "import TODO.md"
KEY = "AIza-0123456789abcdef"


class Importer:
    """A home, and a file of so many tasks."""

    def __init__(self, folder: Path, count: int) -> None:
        self.recorder, self.count = CountingRecorder(), count
        journal, agents = Log("journal", self.recorder, "r1"), Log.in_memory("agent", "r1")
        at = Services(journal, agents, TickingClock(), Settings(), lambda _: RulesModel())
        self.views = CountingViews(None, {"journal": journal, "agent": agents})
        self.home = Home(FolderLocation(Path("nowhere")), at, self.views, exists=True)
        self.file = folder / "TODO.md"
        self.write([f"- [ ] Fix tap {nth}" for nth in range(count)])

    def write(self, lines: list[str]) -> None:
        self.file.write_text("\n".join([*lines, "- [~] Half a box"]) + "\n")

    def given(self) -> FileInput:
        return given_file(str(self.file), "TODO.md")

    def take(self, key: str = "") -> ImportReport:
        seen = made_of(self.home, self.given(), {})
        found = read_file(self.home, self.given(), {})
        report = Importing(key).take(self.home, str(self.file), found)
        self.views.catch_up()
        keep_report(self.home, self.given(), seen, report)
        return report

    def told(self, given: FileInput | None = None, **environ: str) -> ImportReport | None:
        given = given or self.given()
        return kept_report(self.home, given, made_of(self.home, given, environ))


@pytest.fixture
def importer(tmp_path: Path) -> Importer:
    """What changed nothing when it was imported last: a task is gone, and a box is odd."""
    made = Importer(tmp_path, 3)
    made.take()
    made.write(["- [ ] Fix tap 0", "- [ ] Fix tap 1"])
    made.take()
    return made


def test_a_file_that_changed_nothing_is_told_of_without_reading_its_tasks(tmp_path: Path) -> None:
    for count in (5, 50):
        (folder := tmp_path / str(count)).mkdir()
        at = Importer(folder, count)
        at.take()
        again = at.take()
        assert (again.unchanged, again.events) == (count + 1, 0)
        before = at.recorder.streams, at.views.documents
        assert at.told() == again
        assert (at.recorder.streams, at.views.documents) == before


def test_a_change_in_a_file_reads_the_tasks_that_it_changes(tmp_path: Path) -> None:
    found = []
    for count in (5, 50):
        (folder := tmp_path / str(count)).mkdir()
        at = Importer(folder, count)
        at.take()
        at.write(["- [x] Fix tap 0", *(f"- [ ] Fix tap {nth}" for nth in range(1, count))])
        before = at.recorder.streams
        report = at.take()
        assert (report.changed, report.unchanged) == (1, count)
        found.append(at.recorder.streams - before)
    small, large = found
    assert small == large


def test_what_is_gone_and_what_is_odd_is_told_each_time(importer: Importer) -> None:
    report = importer.take()
    assert (len(report.gone), len(report.remarks), report.unchanged) == (1, 1, 3)
    assert importer.told() == report
    found = read_file(importer.home, importer.given(), {})
    assert dry_run(importer.home, report.file, found) == report
    assert importer.take() == report


def test_what_an_import_changed_is_not_taken_for_what_the_next_one_tells(
    importer: Importer,
) -> None:
    importer.write(["- [ ] Fix tap 0", "- [x] Fix tap 1"])
    assert importer.take().changed
    assert importer.told() is None
    importer.take()
    assert importer.told() is not None


def told_by_readers_of(importer: Importer, version: int) -> ImportReport | None:
    """What is told where other readers kept it."""
    parts, report = msgspec.json.decode(importer.views.remembered(NAME) or b"").values()
    parts[2] = str(version)
    importer.views.remember(NAME, msgspec.json.encode({"made_of": parts, "report": report}))
    return importer.told()


def told_by_scrubbing(importer: Importer) -> ImportReport | None:
    importer.home.services.settings = Settings(policy=PolicySettings(scrub_entry=True))
    return importer.told()


def told_of(**other: Any) -> Callable[[Importer], ImportReport | None]:
    """What is told of a file or options that differ in this."""
    return lambda importer: importer.told(importer.given()._replace(**other))


@pytest.mark.parametrize(
    "told",
    [
        lambda importer: importer.told(
            importer.given()._replace(data=importer.given().data + b"\n")
        ),
        told_of(file="TODO.md.txt"),
        told_of(source="other.md"),
        told_of(form="todotxt"),
        told_of(by_heading=True),
        lambda importer: importer.told(GEMINI_API_KEY=KEY),
        told_by_scrubbing,
        lambda importer: told_by_readers_of(importer, READERS + 1),
    ],
    ids=[
        *("a byte more", "another name", "another source", "another format", "another option"),
        *("a key in the environment", "another setting of what is kept", "other readers"),
    ],
)
def test_what_was_told_otherwise_is_read_anew(
    importer: Importer, told: Callable[[Importer], ImportReport | None]
) -> None:
    importer.take()
    assert told_by_readers_of(importer, READERS) is not None
    assert told(importer) is None


def test_what_came_in_while_a_file_was_imported_is_looked_at(importer: Importer) -> None:
    seen = made_of(importer.home, importer.given(), {})
    report = importer.take()
    importer.home.services.append_journal(AddCategory("House", "en"))
    keep_report(importer.home, importer.given(), seen, report)
    assert importer.told() is None


def test_whatever_the_journal_takes_in_is_looked_at(importer: Importer) -> None:
    importer.take()
    importer.home.services.append_journal(AddCategory("House", "en"))
    assert importer.told() is None


@pytest.mark.parametrize("kept", [b"", b"{}", b'{"made_of":["1"],"report":{"file":""}}'])
def test_what_was_kept_otherwise_or_is_lost_is_found_out_again(
    importer: Importer, kept: bytes
) -> None:
    report = importer.take()
    importer.views.remember(NAME, kept)
    assert importer.told() is None
    assert importer.take() == report


def test_a_file_with_lines_that_cannot_be_read_is_read_each_time(importer: Importer) -> None:
    importer.write(["- [ ] Fix tap 0", "- [ ] Call Ann due:2027-02-30"])
    reports = [importer.take() for _ in range(3)]
    assert all(report.unreadable for report in reports)
    assert importer.told() is None


# ---------------------------------------------------------------------------------- a better reader


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
        assert counted(plan) == counted(report)
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


def counted(report: ImportReport) -> list[object]:
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

"""A file that is imported again costs what changed in it, and everything is told of it again."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from adapters.documents.tasks import ImportReport
from adapters.home.home_location import FolderLocation
from adapters.home.settings import PolicySettings, Settings
from adapters.importers.formats import READERS
from adapters.models.rules.model import RulesModel
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.usecases.import_sources import FileInput, given_file, read_file
from adapters.usecases.import_tasks import Importing, dry_run, keep_report, kept_report, made_of
from adapters.wiring import Home
from domain.journal.commands import AddCategory
from tests.support.counting import CountingRecorder, CountingViews
from tests.support.services import TickingClock

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


@pytest.mark.parametrize(
    "other",
    [
        lambda given: given._replace(data=given.data + b"\n"),
        lambda given: given._replace(file=given.file + ".txt"),
        lambda given: given._replace(source="other.md"),
        lambda given: given._replace(form="todotxt"),
        lambda given: given._replace(by_heading=True),
    ],
)
def test_another_file_or_option_is_read_anew(
    importer: Importer, other: Callable[[FileInput], FileInput]
) -> None:
    importer.take()
    assert importer.told() is not None
    assert importer.told(other(importer.given())) is None


def test_a_key_in_the_environment_is_looked_for_anew(importer: Importer) -> None:
    importer.take()
    assert importer.told(GEMINI_API_KEY=KEY) is None


def test_another_setting_of_what_is_kept_reads_anew(importer: Importer) -> None:
    importer.take()
    assert importer.told() is not None
    importer.home.services.settings = Settings(policy=PolicySettings(scrub_entry=True))
    assert importer.told() is None


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


def test_another_version_of_the_readers_reads_anew(importer: Importer) -> None:
    importer.take()
    parts, report = msgspec.json.decode(importer.views.remembered(NAME) or b"").values()
    for version in (READERS, READERS + 1):
        parts[2] = str(version)
        kept = msgspec.json.encode({"made_of": parts, "report": report})
        importer.views.remember(NAME, kept)
        assert (importer.told() is not None) == (version == READERS)


def test_a_file_with_lines_that_cannot_be_read_is_read_each_time(importer: Importer) -> None:
    importer.write(["- [ ] Fix tap 0", "- [ ] Call Ann due:2027-02-30"])
    reports = [importer.take() for _ in range(3)]
    assert all(report.unreadable for report in reports)
    assert importer.told() is None

"""One TODO.md that two machines of a home watch: one file, or a copy each that some tool carries.
Only who leads writes into it by itself, and nothing is doubled (ADR 76)."""

from pathlib import Path

import pytest

from tests.support.machines import Machine

TODO = "- [ ] Buy milk\n- [ ] Call Ann\n  - [ ] Find the number\n"


class Watching(Machine):
    """A machine that watches a file."""

    def __init__(self, home: Path, folder: Path, file: Path) -> None:
        super().__init__(home, folder)
        self.file = file

    def begin(self) -> None:
        self.said("settings", "set", "import.write_back", "true")

    def run(self) -> None:
        self.said("run", "--watch", str(self.file), "--until-idle")

    @property
    def rows(self) -> int:
        return int(self.told("status")["journal"]["rows"])

    def tasks(self) -> dict[str, str]:
        return {one["title"]: one["status"] for one in self.told("task", "list", "--all")}


def two(tmp_path: Path, *files: Path) -> list[Watching]:
    folder = tmp_path / "folder"
    folder.mkdir()
    names = ("desk", "laptop")
    found = [Watching(tmp_path / one, folder, at) for one, at in zip(names, files, strict=True)]
    for file in files:
        file.write_text(TODO)
    for one in found:
        one.begin()
    desk, laptop = found
    desk.run()
    meet(desk, laptop)
    laptop.run()
    meet(desk, laptop)
    return found


def meet(*machines: Watching) -> None:
    for one in machines * 2:
        one.sync()


@pytest.fixture
def copies(tmp_path: Path) -> list[Watching]:
    """Two machines with a copy each."""
    files = [tmp_path / one / "TODO.md" for one in ("here", "there")]
    for one in files:
        one.parent.mkdir()
    return two(tmp_path, *files)


def carry(of: Watching, to: Watching) -> None:
    to.file.write_bytes(of.file.read_bytes())


def test_one_file_that_both_watch_is_written_by_who_leads(tmp_path: Path) -> None:
    desk, laptop = two(tmp_path, *[tmp_path / "TODO.md"] * 2)
    assert desk.tasks() == laptop.tasks() == {"Buy milk": "OPEN", "Call Ann": "OPEN"}
    laptop.said("task", "set", "Buy milk", "--status", "done")
    laptop.run()
    assert desk.file.read_text() == TODO
    meet(laptop, desk)
    desk.run()
    assert desk.file.read_text() == TODO.replace("[ ] Buy", "[x] Buy")
    laptop.run()
    meet(laptop, desk)
    rows = [one.rows for one in (desk, laptop)]
    for one in desk, laptop:
        one.run()
        one.sync()
        assert one.tasks() == {"Buy milk": "DONE", "Call Ann": "OPEN"}
        assert one.told("conflicts") == []
        one.said("prove")
    assert [one.rows for one in (desk, laptop)] == rows


def test_what_a_person_asks_for_is_written_anywhere(copies: list[Watching]) -> None:
    _, laptop = copies
    laptop.said("task", "set", "Buy milk", "--status", "done")
    laptop.run()
    assert laptop.file.read_text() == TODO
    laptop.said("write-back", str(laptop.file))
    assert laptop.file.read_text() == TODO.replace("[ ] Buy", "[x] Buy")
    rows = laptop.rows
    laptop.run()
    assert laptop.rows == rows


def test_a_file_that_comes_before_the_journal_doubles_nothing(copies: list[Watching]) -> None:
    desk, laptop = copies
    desk.said("task", "set", "Buy milk", "--status", "done")
    desk.said("task", "item", "add", "Call Ann", "Ask for the key")
    desk.run()
    carry(desk, laptop)
    laptop.run()
    meet(desk, laptop)
    for one in desk, laptop:
        one.run()
        one.sync()
        assert one.tasks() == {"Buy milk": "DONE", "Call Ann": "OPEN"}
        items = [each["title"] for each in one.told("task", "show", "Call Ann")["items"]]
        assert items == ["Find the number", "Ask for the key"]
        assert one.told("conflicts") == []
    assert desk.file.read_text() == laptop.file.read_text()


def test_a_copy_that_is_behind_takes_nothing_back(copies: list[Watching]) -> None:
    desk, laptop = copies
    desk.said("task", "set", "Buy milk", "--status", "done")
    desk.run()
    meet(desk, laptop)
    rows = laptop.rows
    laptop.run()
    assert (laptop.rows, laptop.tasks()["Buy milk"]) == (rows, "DONE")
    (laptop.home / "views.db").unlink()  # what it remembers is lost
    laptop.run()
    assert laptop.tasks()["Buy milk"] == "DONE"
    carry(desk, laptop)
    laptop.run()
    assert laptop.rows == rows


def test_what_a_person_takes_back_in_the_file_is_taken_back(copies: list[Watching]) -> None:
    desk, laptop = copies
    desk.said("task", "set", "Buy milk", "--status", "done")
    desk.run()
    meet(desk, laptop)
    carry(desk, laptop)
    laptop.run()
    laptop.file.write_text(TODO)
    laptop.run()
    assert laptop.tasks()["Buy milk"] == "OPEN"
    meet(laptop, desk)
    desk.run()
    assert desk.tasks()["Buy milk"] == "OPEN"
    carry(laptop, desk)
    desk.run()
    assert (desk.tasks()["Buy milk"], desk.file.read_text()) == ("OPEN", TODO)


def test_who_takes_the_lead_writes_from_then_on(copies: list[Watching]) -> None:
    desk, laptop = copies
    laptop.said("replicas", "lead")
    laptop.said("task", "set", "Buy milk", "--status", "done")
    laptop.run()
    assert "[x] Buy" in laptop.file.read_text()
    meet(laptop, desk)
    desk.said("task", "set", "Call Ann", "--status", "done")
    desk.run()
    assert desk.file.read_text() == TODO

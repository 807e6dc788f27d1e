"""A week of a person with a list: the file is written by hand and by wakelog, and nothing is lost.

The file is read at the end by this test's own few lines, not by the importers.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from adapters.cli.main import cli
from tests.support.cli import FIXED, run

pytestmark = pytest.mark.slow

TODO = """\
# Haus

- [ ] Küche streichen 📅 2027-01-08 ⏫
  - [ ] Farbe kaufen
    - [ ] Farbton mit Änne absprechen
  - [x] Wände abkleben

  Änne möchte, dass es bis zum 2027-01-15 fertig ist. Dauert etwa 3 Stunden.
- [ ] Fix the kitchen tap !p2 #home
  - [ ] Turn off the water
  - [x] Buy a seal

  The landlord wants it done by 2027-02-12. It takes about 2 hours.
  Need to call the plumber. Waiting for the quote from Meyer.
- [ ] 東京への出張を予約する ⏳ 2027-01-05 📅 2027-01-10

## Papiere

- [ ] Renew the passport due:2027-03-01
- [/] Steuererklärung 2026 ~4h
- [x] Parkausweis verlängern ✅ 2026-12-30
"""
MINE = ("TODO.md", "todo.txt", "tw.json")
BY_HAND = "- [ ] Zahnarzt anrufen 📅 2027-01-07\n"
TASKWARRIOR = {
    "uuid": "a1b2c3d4-0000-4000-8000-000000000001",
    "description": "Rasen mähen",
    "status": "pending",
    "project": "Garten",
    "priority": "H",
    "estimate": "2h",
}


class Person:
    """Types commands, each a minute after the one before, and edits files by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        self.day = self.minutes = 0

    def types(self, *words: str, status: int = 0, home: str = "home") -> str:
        """What a command says, on both channels; it must end with that status."""
        self.minutes += 1
        hour, minute = divmod(self.minutes, 60)
        now = f"2027-01-{3 + self.day:02}T{9 + hour:02}:{minute:02}:00+01:00"
        where = self.folder / home
        result = run([*words], where, env={**FIXED, "WAKELOG_NOW": now})
        assert result.exit_code == status, (words, result.output)
        return result.output

    def asks(self, *words: str, home: str = "home") -> Any:
        env = {**FIXED, "WAKELOG_HOME": str(self.folder / home)}
        result = CliRunner().invoke(cli, ["--json", *words], env=env)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def edits(self, was: str, now: str) -> None:
        text = (self.folder / "TODO.md").read_text()
        assert text.count(was) == 1, was
        (self.folder / "TODO.md").write_text(text.replace(was, now))


def lived(person: Person) -> None:
    """Seven days."""
    days = (_monday, _tuesday, _wednesday, _thursday, _friday, _saturday, _sunday)
    for nth, one in enumerate(days, start=1):
        person.day, person.minutes = nth, 0
        one(person)


def _monday(person: Person) -> None:
    said = person.types("init", "--zone", "Europe/Berlin", "--import", "TODO.md", "--agents")
    assert "6 created" in said
    assert "Made 5 agents" in said
    person.types("wake")
    inbox = person.types("inbox")
    assert all(ref in inbox for ref in ("1.1", "2.1", "2.2", "2.3", "2.4"))


def _tuesday(person: Person) -> None:
    person.types("confirm", "1.1", "2.1", "2.2")
    person.types("reject", "2.3", "--reason", "the quote is here")
    person.types("defer", "2.4", "--until", "friday")
    assert "3 written, 0 left out" in person.types("write-back")
    person.edits("[ ] Farbe", "[x] Farbe")
    person.edits("kitchen tap", "kitchen tap for good")
    (person.folder / "TODO.md").write_text(_text(person) + BY_HAND)
    assert "1 created, 1 given an agent, 2 changed" in person.types("import", "TODO.md", "--agents")
    for near in ("pasport", "tpa"):
        assert "the nearest" in person.types("done", near, status=2)
    assert "`wakelog task check`" in person.types("tick", "Milk", status=2)


def _wednesday(person: Person) -> None:
    person.types("done", "zahnarzt")
    person.types("done", "tap")
    assert "Undone" in person.types("undo")
    person.types("task", "set", "passport", "--due", "friday")
    person.edits("due:2027-03-01", "due:2027-02-15")
    said = person.types("import", "TODO.md")
    assert "1 in conflict" in said
    assert '"2027-02-15" in TODO.md (the file, ' in person.types("conflicts")
    person.types("settle", "passport", "due", "--keep", "mine")
    person.types("settle", "passport", "due", "--keep", "file", status=2)


def _thursday(person: Person) -> None:
    assert "2 written" in person.types("write-back")
    assert "0 written" in person.types("write-back")
    person.types("task", "note", "tap", "Meyer kommt am Freitag.")
    person.types("task", "item", "add", "küche", "Pinsel auswaschen")
    person.types("task", "check", "tap", "1")
    person.types("task", "set", "steuer", "--status", "on-hold", "--reason", "wartet auf Bescheid")
    said = person.types("write-back")
    assert "2 written, 1 left out" in said
    assert "Steuererklärung 2026: status cannot be said in the file" in said


def _friday(person: Person) -> None:
    (person.folder / "tw.json").write_text(json.dumps([TASKWARRIOR]))
    (person.folder / "todo.txt").write_text("(A) Äpfel kaufen +Einkauf due:2027-01-09\nBrot\n")
    assert "`estimate` has no place here" in person.types("import", "tw.json")
    person.types("import", "todo.txt")
    person.types("done", "äpfel")
    assert "todo.txt: 1 written" in person.types("write-back")
    person.types("confirm", "2.4")
    person.types("undo")


def _saturday(person: Person) -> None:
    person.edits("- [ ] Zahn" if "- [ ] Zahn" in _text(person) else "- [x] Zahn", "- [x] Zahn")
    person.types("export", "--markdown", "all.md")
    person.types("export", "--markdown", "all.md", status=2)
    person.types("import", "all.md", home="second")


def _sunday(person: Person) -> None:
    person.types("wake")
    for words in (["task", "list"], ["status"], ["wakes"], ["lessons"], ["undo", "--list"]):
        person.types(*words)
    person.types("write-back")
    for name in MINE:
        assert "changed" not in person.types("import", name).replace("unchanged", "")


def _text(person: Person) -> str:
    return (person.folder / "TODO.md").read_text()


def test_after_a_week_nothing_of_the_persons_or_the_files_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TODO.md").write_text(TODO)
    person = Person(tmp_path)
    lived(person)
    tasks = {one["title"]: one for one in person.asks("task", "list", "--all")}
    fields = {name: (one["status"], one["due_date"]) for name, one in tasks.items()}
    assert fields == {
        "Küche streichen": ("OPEN", "2027-01-08"),
        "Fix the kitchen tap for good": ("OPEN", "2027-02-12"),
        "東京への出張を予約する": ("OPEN", "2027-01-10"),
        "Renew the passport": ("OPEN", "2027-01-08"),
        "Steuererklärung 2026": ("ON HOLD", None),
        "Parkausweis verlängern": ("DONE", None),
        "Zahnarzt anrufen": ("DONE", "2027-01-07"),
        "Rasen mähen": ("OPEN", None),
        "Äpfel kaufen": ("DONE", "2027-01-09"),
        "Brot": ("OPEN", None),
    }
    boxes = re.findall(
        r"(?m)^ *- \[(.)\] ([^~!📅⏳✅\n]+?)(?: [~!📅⏳✅].*| due:.*)?$", _text(person)
    )
    assert boxes == [
        (" ", "Küche streichen"),
        ("x", "Farbe kaufen"),
        (" ", "Farbton mit Änne absprechen"),
        ("x", "Wände abkleben"),
        (" ", "Pinsel auswaschen"),
        (" ", "Fix the kitchen tap for good"),
        ("x", "Turn off the water"),
        ("x", "Buy a seal"),
        (" ", "東京への出張を予約する"),
        (" ", "Renew the passport"),
        ("/", "Steuererklärung 2026"),
        ("x", "Parkausweis verlängern"),
        ("x", "Zahnarzt anrufen"),
    ]
    typed = [line for line in TODO.splitlines() if "- [" not in line]  # words, headings, blanks
    assert [line for line in _text(person).splitlines() if "- [" not in line] == typed
    second = person.asks("task", "list", "--all", home="second")
    assert {one["title"]: one["status"] for one in second} == {
        name: one["status"] for name, one in tasks.items()
    }
    assert person.asks("prove")["ok"]
    assert person.asks("prove", home="second")["ok"]

"""File and person both edit, whatever they like: nothing is lost, and what was written back is no
news to the next import."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.documents.import_conflicts import conflicts
from adapters.documents.tasks import ImportReport
from adapters.usecases import tasks
from adapters.usecases.import_sources import ParsedFile, given_file, read_file
from adapters.usecases.import_tasks import Importing
from adapters.usecases.write_back import WrittenBack, write_back
from adapters.wiring import Home, open_home
from domain.errors import Refused
from domain.journal.task import TASK, Task
from projections.tasks import VIEW
from tests.support.cli import FIXED

FILES = {
    "TODO.md": (
        "# Home\n\nSome words, and `- [ ] code`.\n"
        "- [ ] Paint the door ~2h due:2027-02-12 #green\n  - [ ] Sand it\n  - [x] Buy paint\n\n"
        "  Ann prefers green.\n* [ ] Fix the tap !p1\n\n> - [ ] Quoted\n\n# Work\n1. [/] Report"
    ),
    "days.md": (
        "- [x] Fix the tap ✅ 2026-12-24\n- [ ] Paint the door 📅 2027-02-12 ^a1b2\n"
        "  - [ ] Sand it\n"
        "- [ ] Report ⏫ 🛫 2027-01-01\n1. [-] Ann ❌ 2026-12-01"
    ),
    "days.txt": (
        "(A) 2026-11-01 Paint the door +Home due:2027-02-12\n"
        "x 2026-12-24 2026-12-01 Fix the tap pri:C\n"
        "2026-12-01 Report\nx (D) Ann\nx 2027-01-01 Rest"
    ),
    "todo.txt": "(A) Paint the door +Home @green due:2027-02-12\nx Fix the tap\nReport week:3\n",
}
ODD = [
    "Paint it",
    "Fix [x] #1 ~3h",
    "A *bold* one",
    "due:2027-01-01",
    "`tick`",
    "- [ ] box",
    "Ω (x)",
    "[ ] Sand it",
    "[[Sand]] *it* #one, due:2027-09-09 📅 2027-08-08",
    "Sand it",
    "buy PAINT",
]
STATUSES = ["OPEN", "DONE", "REJECTED", "IN PROGRESS", "GROOMED"]
EDITS = st.one_of(
    st.tuples(st.just("status"), st.sampled_from(STATUSES)),
    st.tuples(st.just("due"), st.sampled_from(["", "2027-03-01", "2027-04-01"])),
    st.tuples(st.just("priority"), st.sampled_from(["P0", "P2", "P3"])),
    st.tuples(st.just("estimate"), st.sampled_from([0, 30, 90])),
    st.tuples(st.just("title"), st.sampled_from(ODD)),
    st.tuples(st.just("item"), st.sampled_from(ODD)),
    st.tuples(st.just("tick"), st.integers(0, 3)),
    st.tuples(st.just("item title"), st.sampled_from(ODD)),
)
FILE_EDITS = st.tuples(
    st.sampled_from(
        [
            ("[ ]", "[x]"),
            ("door", "doors"),
            ("02-12", "02-20"),
            ("Report", "Text"),
            ("Ann", "Bob"),
            ("Fix the tap", ""),
            ("\n", "\r\n"),
            ("# Home", "# House"),
        ]
    ),
)
TURNS = st.lists(
    st.one_of(
        st.tuples(st.just("person"), st.integers(0, 4), EDITS),
        st.tuples(st.just("file"), st.just(0), FILE_EDITS),
        st.just(("back", 0, ("", ""))),
    ),
    max_size=8,
)


def imported(home: Home, file: Path) -> ImportReport:
    home.views.catch_up()
    found = read_file(home, given_file(str(file), file.name), {})
    return Importing().take(home, file.name, ParsedFile(found.file))


def back(home: Home, file: Path) -> WrittenBack:
    return write_back(home, str(file), file.name, FIXED)


def states(home: Home) -> list[Task]:
    """All tasks, but for when something happened, and what files said of them."""
    home.views.catch_up()
    with home.services.journal.reading() as world:
        found = sorted(home.views.all(VIEW), key=lambda one: one.place)
        return [world.load(TASK, one.id) for one in found]


def said(task: Task) -> Any:
    items = [(one.id, one.title, one.is_checked) for one in task.items]
    notes = [one.words for one in task.notes]
    fields = task.title, task.status, task.due, task.priority, task.estimate, task.category
    return (*fields, task.labels, items, notes)


def both_sides(home: Home) -> Any:
    """What is open, but for when the file said so: it says it again with each import."""
    found = conflicts(home)
    return [(one.task, one.field, [side.value for side in one.values]) for one in found]


def edit(home: Home, task: Task, field: str, value: Any) -> None:
    if field == "item":
        tasks.add_items(home, task.id, [value])
    elif field == "item title":
        for item in task.items[:1]:
            tasks.rename_item(home, task.id, item.id, value)
    elif field != "tick":
        tasks.edit_task(home, task.id, {field: value})
    elif task.items:
        item = task.items[value % len(task.items)]
        tasks.mark_items(home, task.id, [item.id], is_checked=not item.is_checked)


@example("TODO.md", [("person", 0, ("due", "2027-03-01")), ("file", 0, (("02-12", "02-20"),))])
@settings(max_examples=20, deadline=None)
@given(st.sampled_from(sorted(FILES)), TURNS)
def test_what_was_written_back_is_no_news_and_nothing_is_lost(name: str, turns: Any) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(FILES[name].encode())
        home = open_home(Path(folder) / "home", FIXED, is_writing=True)
        try:
            imported(home, file)
            for turn in (*turns, ("back", 0, ("", ""))):
                _take(home, file, *turn)
        finally:
            home.close()


def _take(home: Home, file: Path, who: str, nth: int, did: Any) -> None:
    if who == "person":
        there = states(home)
        edit(home, there[nth % len(there)], *did)
    elif who == "file":
        before, after = (one.encode() for one in did[0])
        file.write_bytes(file.read_bytes().replace(before, after, 1))
        _import_and_lose_nothing(home, file)
    else:
        _back_and_change_nothing(home, file)


def _import_and_lose_nothing(home: Home, file: Path) -> None:
    """A field that the person holds changes only where no import held it before."""
    before = {task.id: task for task in states(home)}
    imported(home, file)
    open_fields = {(one.task, one.field) for one in conflicts(home)}
    for task in states(home):
        was = before.get(task.id)
        for field in ("title", "status", "due", "priority", "estimate"):
            if was is None or getattr(was, field) == getattr(task, field):
                continue
            assert (task.id, field) not in open_fields
            assert task.touched[field].by.startswith("import:")


def _back_and_change_nothing(home: Home, file: Path) -> None:
    before = [said(task) for task in states(home)]
    still_open = both_sides(home)
    lines = file.read_bytes().splitlines()
    done = back(home, file)
    assert [said(task) for task in states(home)] == before
    assert both_sides(home) == still_open
    again = imported(home, file)
    assert (again.events, again.created, again.changed) == (0, 0, 0)
    assert back(home, file).written == ()
    now = file.read_bytes().splitlines()
    tasks_changed = {one.task for one in done.written}
    count = sum(one.field != "item" for one in done.written)
    added = len(now) - len(lines)
    assert added == len(done.written) - count
    assert len(set(lines) - set(now)) <= count
    assert bool(tasks_changed) == (lines != now)


def test_a_file_that_was_not_imported_as_it_is_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text(FILES["TODO.md"])
    home = open_home(tmp_path / "home", FIXED, is_writing=True)
    imported(home, file)
    tasks.edit_task(home, states(home)[0].id, {"status": "DONE"})
    file.write_text(FILES["TODO.md"].replace("Report", "Report to Ann"))
    with pytest.raises(Refused, match="import it first"):
        back(home, file)
    assert "Report to Ann" in file.read_text()
    assert "[x] Paint" not in file.read_text()
    home.close()

"""What stands in a line besides its title is read, and leaves the title (SPEC 1, Importers)."""

import pytest

from adapters.importers.markdown import read
from adapters.importers.marks import read_marks
from domain.journal.imported import ImportedFile, ImportedItem, ImportedTask
from domain.log.keys import key


def read_text(text: str) -> ImportedFile:
    return read(text.encode(), source="todo.md")


def problems(text: str) -> list[tuple[int, str]]:
    return [(found.line, found.reason) for found in read_text(text).unreadable]


@pytest.mark.parametrize(
    ("line", "title", "due", "estimate", "priority", "labels"),
    [
        ("Pay rent due:2027-02-12", "Pay rent", "2027-02-12", 0, "", ()),
        ("Pay rent 2027-02-12 early", "Pay rent early", "2027-02-12", 0, "", ()),
        ("Pay by 2027-02-12, then call", "Pay by, then call", "2027-02-12", 0, "", ()),
        ("Pay (2027-02-12)", "Pay", "2027-02-12", 0, "", ()),
        ("Pay 📅 2027-02-12", "Pay", "2027-02-12", 0, "", ()),
        ("Pay due: 2027-02-12", "Pay", "2027-02-12", 0, "", ()),
        ("Pay ✅ 2027-02-12", "Pay", "", 0, "", ()),
        ("Pay 2027-02-30", "Pay 2027-02-30", "", 0, "", ()),
        ("Pay 2027-02-01 2027-02-02", "Pay 2027-02-02", "2027-02-01", 0, "", ()),
        ("Pay 2027-02-01 due:2027-02-02", "Pay 2027-02-01", "2027-02-02", 0, "", ()),
        ("Pay due: tomorrow", "Pay due: tomorrow", "", 0, "", ()),
        ("Paint ~2h", "Paint", "", 120, "", ()),
        ("Paint ~90m", "Paint", "", 90, "", ()),
        ("Paint ~3d", "Paint", "", 1440, "", ()),
        ("Paint ~1h30m", "Paint", "", 90, "", ()),
        ("Paint ~1.5h", "Paint", "", 90, "", ()),
        ("Paint ~1,5H", "Paint", "", 90, "", ()),
        ("Paint ~20min", "Paint", "", 20, "", ()),
        ("Paint ~5 walls ~~red~~ ~2km", "Paint ~5 walls red ~2km", "", 0, "", ()),
        ("#a Buy #b, #B #c/d milk #e.", "Buy, milk.", "", 0, "", ("a", "b", "c/d", "e")),
        ("Buy milk (see #a, #b)", "Buy milk (see)", "", 0, "", ("a", "b")),
        ("Fix #123, C#, #c++ and #größe", "Fix #123, C#, #c++ and", "", 0, "", ("größe",)),
        ("Fix it !p0", "Fix it", "", 0, "P0", ()),
        ("Fix it !P3!", "Fix it!", "", 0, "P3", ()),
        ("Fix it !pls", "Fix it !pls", "", 0, "", ()),
        ("**Fix** _this_ snake_case_name", "Fix this snake_case_name", "", 0, "", ()),
        ("**!p1** *due:2027-02-12*", "", "2027-02-12", 0, "P1", ()),
        ("Run `#a ~2h` and ``!p1 ` x``", "Run `#a ~2h` and ``!p1 ` x``", "", 0, "", ()),
        ("Half `open #a", "Half `open", "", 0, "", ("a",)),
        ("See https://x.org/#a_b_ and <https://x.org/#b>",
         "See https://x.org/#a_b_ and https://x.org/#b", "", 0, "", ()),
        ("Read [[Notes #a]] \\#b AT&amp;T", "Read [[Notes #a]] #b AT&T", "", 0, "", ()),
        ("a * b <span title='x #y'>", "a * b <span title='x #y'>", "", 0, "", ()),
    ],
)  # fmt: skip
def test_marks_are_read_and_leave_the_title(
    line: str, title: str, due: str, estimate: int, priority: str, labels: tuple[str, ...]
) -> None:
    marked = read_marks(line)
    assert marked[:5] == (title, due, estimate, priority, labels)
    assert marked.problems == ()


@pytest.mark.parametrize(
    ("mark", "reason"),
    [
        ("due:2027-02-30", "is no date"),
        ("due:tomorrow", "is no date"),
        ("~0m", "is not 1 to 1440 minutes"),
        ("~99d", "is not 1 to 1440 minutes"),
        ("!p7", "is no priority of !p0 to !p3"),
        (f"#{'a' * 101}", "is over 100 long"),
    ],
)
def test_a_mark_outside_its_limits_is_left_out_and_reported(mark: str, reason: str) -> None:
    text = f"\n- [ ] Pay rent {mark}"
    assert read_text(text).tasks[0] == ImportedTask(
        key("task", "todo.md", "[]", "pay rent", "0"), title="Pay rent"
    )
    assert [(found.line, found.reason) for found in read_text(text).unreadable] == [
        (2, f"{mark} {reason}; it was left out")
    ]


def test_of_two_marks_of_a_sort_the_first_stands() -> None:
    text = "- [ ] Pay ~1h ~2h !p1 !p2 due:2027-02-01 due:2027-02-02"
    task = read_text(text).tasks[0]
    assert (task.title, task.estimate, task.priority, task.due) == ("Pay", 60, "P1", "2027-02-01")
    assert [reason.split()[0] for _, reason in problems(text)] == [
        "~2h",
        "!p2",
        "due:2027-02-02",
    ]


def test_marks_stay_in_the_title_of_an_item_which_has_no_place_for_them() -> None:
    assert read_text("- [ ] a\n  - [ ] b ~2h #c").tasks[0].items == (ImportedItem("b ~2h #c"),)

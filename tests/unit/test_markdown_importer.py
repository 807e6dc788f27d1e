"""What a person writes in Markdown arrives as the tasks that they meant (SPEC 1, Importers)."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from adapters.importers.common import UNREADABLE_MAX
from adapters.importers.github import read as read_issues
from adapters.importers.markdown import read
from adapters.importers.marks import read_marks
from domain.journal.imported import ImportedFile, ImportedItem, ImportedNote, ImportedTask
from domain.journal.imports import numbered
from domain.log.canonical import encode
from domain.log.keys import key
from tests.support.counting_boxes import counted
from tests.support.counting_boxes import found as real_files

DATA = Path(__file__).parents[1] / "data/markdown"
THEIRS = Path(__file__).parents[2].parent / "shared/data/markdown"
has_plans = pytest.mark.skipif(not THEIRS.is_dir(), reason=f"the sample plans are not in {THEIRS}")


# -------------------------------------------------------------------------------------------- boxes


BEFORE: dict[str, dict[str, list[str]]] = json.loads((DATA / "read_by_0_1_0.json").read_bytes())


def read_text(text: str, *, by_heading: bool = False) -> ImportedFile:
    return read(text.encode(), source="todo.md", headings_are_tasks=by_heading)


class Read(NamedTuple):
    """What is to come of a text: titles, lines that are remarked, lines that are left out."""

    titles: list[str]
    remarks: list[int]
    left_out: list[int]


def what_came(text: str) -> Read:
    file = read_text(text)
    titles = [title for task in file.tasks for title in [task.title, *items(task)]]
    remarks = [one.line for one in file.remarks]
    return Read(titles, remarks, [one.line for one in file.unreadable])


def items(task: ImportedTask) -> list[str]:
    return [item.title for item in task.items]


SAYS = {
    "x": ("DONE", ""),
    "X": ("DONE", ""),
    "-": ("REJECTED", ""),
    "/": ("IN PROGRESS", ""),
    ">": ("ON HOLD", ""),
    "!": ("", "P1"),
}
"""What a mark says of the status and of the priority."""
EMPTY = ("", " ", "\u00a0", "\u3000")
ODD = [
    *"<?i1_*`\\✅",
    "✔\ufe0f",  # with its selector
    "👍🏽",  # with a tone of skin
    "👩\u200d💻",  # joined
    "🇩🇪",
    "1\ufe0f\u20e3",  # a key
    "e\u0301",  # a letter and its accent
]
"""Marks that say nothing here: the box is read as an open one, and named."""


BULLETS = "- ", "* ", "+ ", "12. ", "1) ", "-", "+", "1.", "> - "


@pytest.mark.parametrize("mark", [*EMPTY, *SAYS, *ODD])
def test_any_one_character_is_a_mark_after_any_bullet(mark: str) -> None:
    file = read_text("\n\nA text.\n\n".join(f"{bullet}[{mark}] Buy milk" for bullet in BULLETS))
    seen = [(one.title, one.category, one.status, one.priority) for one in file.tasks]
    assert seen == [("Buy milk", "", *SAYS.get(mark, ("", "")))] * len(BULLETS)
    named = len(BULLETS) if mark in ODD else 0
    assert (len(file.remarks), file.boxes_as_open, file.unreadable) == (named, named, ())


def test_what_is_on_hold_says_where_it_is_marked() -> None:
    (task,) = read_text("- [>] Buy milk").tasks
    assert task.status_reason == "marked [>] in todo.md"


def test_a_priority_that_is_written_goes_before_the_mark() -> None:
    assert [task.priority for task in read_text("- [!] a !p0\n- [!] b").tasks] == ["P0", "P1"]


def test_a_mark_that_says_nothing_of_an_item_is_remarked() -> None:
    file = read_text("- [ ] a\n  - [>] b\n  - [!] c\n  - [/] d\n  - [i] e")
    assert items(file.tasks[0]) == ["b", "c", "d", "e"]
    assert [(one.line, one.reason) for one in file.remarks] == [
        (2, "the box [>] was read as [ ]"),
        (3, "the box [!] was read as [ ]"),
        (5, "the box [i] was read as [ ]"),
    ]


CASES: dict[str, Read] = {
    # no boxes, and nobody would think so
    "- Buy milk": Read([], [], []),
    "~~~\n- [ ] a fence that never ends": Read([], [], []),
    "<!--\n\n- [ ] a comment\n-->": Read([], [], []),
    "- [x](https://example.org) is a link": Read([], [], []),
    "- [x][1] is a link": Read([], [], []),
    "- [x]: https://example.org": Read([], [], []),
    "- [[x]] is a page": Read([], [], []),
    "- [[A page]] of a vault": Read([], [], []),
    "- [^1] is a footnote": Read([], [], []),
    "- [a](url) and [ ](url)": Read([], [], []),
    "- [ab] two letters": Read([], [], []),
    "- [xx](https://example.org) is a link": Read([], [], []),
    "- [xxxx] is a word": Read([], [], []),
    "- [TODO] a word": Read([], [], []),
    "- []string is a type": Read([], [], []),
    "- `[ ]` in code": Read([], [], []),
    "\\- [ ] escaped": Read([], [], []),
    "- \\[ ] escaped": Read([], [], []),
    "[1] Smith, 2020": Read([], [], []),
    "[a] as the editor says": Read([], [], []),
    "*[x] as the editor says*": Read([], [], []),
    "> [!note] A callout": Read([], [], []),
    "> [!] A callout": Read([], [], []),
    "| [ ] | a table |\n|-----|---------|\n| [x] | a table |": Read([], [], []),
    "```\n- [ ] a fence\n-[ ] a fence\n```": Read([], [], []),
    "> ~~~\n> - [ ] a fence in a quote\n> ~~~": Read([], [], []),
    "<!--\n- [ ] a comment\n-->": Read([], [], []),
    "<pre>\n- [ ] code\n</pre>": Read([], [], []),
    # boxes
    "- [x] (see https://example.org)": Read(["(see https://example.org)"], [], []),
    "- [1] a number": Read(["a number"], [1], []),
    "-[ ] a\n-[i] b": Read(["a", "b"], [2], []),
    "Text above:\n-[ ] a\n  text below": Read(["a"], [], []),
    "- plain\n-[ ] a": Read(["a"], [], []),
    "- [ ] a\n-[ ] b\n- [ ] c": Read(["a", "b", "c"], [], []),
    "- [ ] a\n  -[ ] below": Read(["a", "below"], [], []),
    "> - [ ] a\n>   - [ ] below": Read(["a", "below"], [], []),
    "> [!todo]\n> - [ ] a": Read(["a"], [], []),
    "> > 1. [x] a": Read(["a"], [], []),
    "> -[ ] a": Read(["a"], [], []),
    "- plain\n  > - [ ] a": Read(["a"], [], []),
    # left out, and named
    "- [ ]": Read([], [], [1]),
    "- [i]": Read([], [], [1]),
    "- [ ] a\n  - [i]": Read(["a"], [], [2]),
    "> - [ ]": Read([], [], [1]),
    "-[ ]": Read([], [], [1]),
    "[ ] Buy milk": Read([], [], [1]),
    "Text\n[x] Buy milk": Read([], [], [2]),
    "- [ ]Buy milk": Read([], [], [1]),
    "- [x]Buy milk": Read([], [], [1]),
    "- [  ] Buy milk": Read([], [], [1]),
    "- [ x ] Buy milk": Read([], [], [1]),
    "- [xx] Buy milk": Read([], [], [1]),
    "- [xX] Buy milk": Read([], [], [1]),
    "- [--] Buy milk": Read([], [], [1]),
    "- [ -] Buy milk": Read([], [], [1]),
    "- [- ] Buy milk": Read([], [], [1]),
    "- [ ] a\n  - [x-] Buy milk": Read(["a"], [], [2]),
    "- \uff3b \uff3d Buy milk": Read([], [], [1]),
    "- [ ] a\n  2. [ ] Buy milk": Read(["a"], [], [2]),
    "-     [ ] Buy milk": Read([], [], [1]),
    "Text\n\n    - [ ] Buy milk": Read([], [], [3]),
    "- [ ] a\n\n          - [i] Buy milk": Read(["a"], [], [3]),
    "<details>\n- [ ] Buy milk\n</details>": Read([], [], [2]),
    "-[ ] Buy milk\n---": Read([], [], [1]),
    f"{'>' * 21} - [ ] Buy milk": Read([], [], [1]),
}


@pytest.mark.parametrize("text", CASES)
def test_a_box_is_read_or_named_and_what_is_none_is_not(text: str) -> None:
    came = what_came(text)
    assert came == CASES[text]
    assert read_text(text).boxes_left_out == len(came.left_out)


def test_quoted_boxes_have_their_notes_without_the_signs_of_the_quote() -> None:
    lines = "- [ ] a|  - plain||  A note|  of two lines.||  ```|  b||  c".split("|")
    file = read_text("\n".join(f"> {line}".rstrip() for line in lines))
    (task,) = file.tasks
    assert [note.text for note in task.notes] == [
        "- plain",
        "A note\nof two lines.",
        "```\nb\n\nc",
    ]


def test_tight_boxes_are_nested_by_their_columns() -> None:
    file = read_text("  -[ ] a\n    -[x] a1\n\t  text\n  -[ ] b\n      -[ ] b1\n    -[ ] b2")
    assert [(task.title, items(task)) for task in file.tasks] == [
        ("a", ["a1"]),
        ("b", ["b1", "b2"]),
    ]


@pytest.mark.parametrize("name", BEFORE)
def test_what_0_1_0_read_of_a_file_keeps_its_ids_and_all_it_said(name: str) -> None:
    file_name = name.removesuffix(" by heading")
    found = next((one for one in (DATA / file_name, THEIRS / file_name) if one.exists()), None)
    if found is None:
        pytest.skip(f"{file_name} is not in {THEIRS}")
    data, by_heading = found.read_bytes(), file_name != name
    file = read(data, source=file_name, headings_are_tasks=by_heading)
    earlier = {task.task_id: task for task in file.earlier}  # before other programs' words
    tasks = {task.task_id[:10]: earlier.get(task.task_id, task) for task in file.tasks}
    assert len(tasks) == len(file.tasks)
    assert [one for one in tasks if one in BEFORE[name]] == list(BEFORE[name])
    for task_id, (digest, status, priority, items_before) in BEFORE[name].items():
        task = tasks[task_id]
        now = {f"{one[:8]}{'x' if ticked else ''}" for one, ticked in numbered(task).items()}
        assert set(items_before.split()) <= now
        rest = replace(task, task_id="", items=(), status="", status_reason="", priority="")
        assert key("test", encode(rest).decode())[:8] == digest
        marked = task.status == "ON HOLD", task.priority == "P1"  # [>] and [!] were open ones
        assert (task.status, task.priority) == (
            "ON HOLD" if marked[0] else status,
            "P1" if marked[1] else priority,
        )


def test_a_box_that_was_text_before_is_numbered_after_its_equals() -> None:
    before = read_text("- [ ] a\n  - [ ] b\n\n- [x] a")
    after = read_text("> - [x] a\n\n- [ ] a\n  - [i] b\n  - [ ] b\n\n- [x] a\n\n-[ ] a")
    assert len(after.tasks) == 4
    first, second = after.tasks[1:3]
    assert [task.task_id for task in before.tasks] == [first.task_id, second.task_id]
    ids = {item: key("item", first.task_id, "b", nth) for item, nth in (("old", "0"), ("new", "1"))}
    assert list(numbered(first)) == list(ids.values())
    assert list(numbered(before.tasks[0])) == [ids["old"]]


def test_a_box_that_was_text_before_stays_in_the_notes_and_is_an_item_too() -> None:
    (task,) = read_text("- [ ] Bake\n  > Grandma said:\n  > - [ ] Buy flour\n\n  - [i] Rest").tasks
    assert items(task) == ["Buy flour", "Rest"]
    assert [note.text for note in task.notes] == [
        "> Grandma said:\n> - [ ] Buy flour",
        "- [i] Rest",
    ]


def test_a_task_stays_one_below_a_box_that_was_text_before() -> None:
    file = read_text("- [i] Trip\n  - [b] Read\n  - [ ] Pack")
    assert [(task.title, items(task)) for task in file.tasks] == [("Trip", ["Read"]), ("Pack", [])]


def test_a_heading_with_boxes_that_were_text_before_is_a_task_too() -> None:
    file = read_text("# A\n- [i] a\n# A\n- [ ] b", by_heading=True)
    first, second = file.tasks
    assert [items(first), items(second)] == [["a"], ["b"]]
    assert first.notes == ()
    assert second.task_id == read_text("# A\n- [ ] b", by_heading=True).tasks[0].task_id


def test_boxes_in_quotes_of_an_issue_are_items_and_stay_in_its_description() -> None:
    body = "> - [ ] b\n\n- [x] b\n- [i] c\n\n-[ ] d"
    issue = encode({"number": 1, "title": "t", "body": body})
    (task,) = read_issues(issue, source="issues.json").tasks
    assert [(item.title, item.is_checked) for item in task.items] == [
        ("b", True),
        ("b", False),
        ("d", False),
    ]
    assert task.description == "> - [ ] b\n\n- [i] c\n\n-[ ] d"


# ----------------------------------------------------------------------------- headings, notes, ids


def only_task(text: str) -> ImportedTask:
    (task,) = read_text(text).tasks
    return task


def titles(file: ImportedFile) -> list[str]:
    return [task.title for task in file.tasks]


def notes(task: ImportedTask) -> list[str]:
    return [note.text for note in task.notes]


def problems(text: str) -> list[tuple[int, str]]:
    return [(found.line, found.reason) for found in read_text(text).unreadable]


def test_boxes_of_any_depth_are_the_checklist_in_their_order() -> None:
    task = only_task(
        "- [ ] Move\n  - [x] Rent a van\n    1. [ ] Compare\n  - rooms\n    - [/] Hall"
    )
    assert task.items == (
        ImportedItem("Rent a van", is_checked=True),
        ImportedItem("Compare"),
        ImportedItem("Hall"),
    )
    assert notes(task) == ["- rooms"]


@pytest.mark.parametrize("line", ["  2. [ ] Van", "          - [x] Van", "   7) [] Van"])
def test_a_box_that_markdown_takes_for_text_stays_text_and_is_reported(line: str) -> None:
    task = only_task(f"- [ ] Move\n{line}")
    assert (task.items, notes(task)) == ((), [line.strip()])
    assert problems(f"- [ ] Move\n{line}") == [
        (2, "the box is part of the text above; indent it as a list")
    ]


def test_a_box_below_a_plain_bullet_is_a_task_of_its_own() -> None:
    file = read_text("- kitchen\n  - [ ] Buy tiles\n    - [ ] Measure\n- - [ ] Buy paint")
    assert titles(file) == ["Buy tiles", "Buy paint"]
    assert file.tasks[0].items == (ImportedItem("Measure"),)


def test_a_struck_out_item_is_no_item_but_stays_readable() -> None:
    task = only_task("- [ ] Move\n  - [-] Rent a van\n  - [ ] Ask Jo")
    assert (task.items, notes(task)) == ((ImportedItem("Ask Jo"),), ["- [-] Rent a van"])


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("# Home\n## **Garden** `x`\n- [ ] t", "Garden `x`"),
        ("Home\n====\n- [ ] t", "Home"),
        ("# Home\n## Garden\n# Work\n- [ ] t", "Work"),
        ("# Home #\n> # Quoted\n\n- [ ] t", "Home"),
        ("- [ ] t\n\n# Home", ""),
        (f"# {'long ' * 40}\n- [ ] t", "long " * 19 + "long…"),
    ],
)
def test_the_nearest_heading_is_the_category(text: str, category: str) -> None:
    assert only_task(text).category == category


def test_text_below_a_task_is_its_notes_one_for_each_block() -> None:
    task = only_task(
        "- [ ] Move\n  to the new flat\n\n  Jo has keys.\n  - [ ] Van\n    white\n\n"
        "  - plain\n    - deeper\n\n  ---\n  ```sh\n  make\n\n    - [ ] no box\n  ```\n"
        "  > quoted\n\nNot indented."
    )
    assert notes(task) == [
        "to the new flat",
        "Jo has keys.",
        "white",
        "- plain\n  - deeper",
        "```sh\nmake\n\n  - [ ] no box\n```\n> quoted",
    ]


def test_a_link_becomes_its_text_and_its_address_a_note() -> None:
    task = only_task("- [ ] Read [the lease](https://example.org/l_1_(a)#due:2027-01-01 'x') #flat")
    assert (task.title, task.due, task.labels) == ("Read the lease", "", ("flat",))
    assert notes(task) == ["the lease: https://example.org/l_1_(a)#due:2027-01-01"]


def test_an_over_long_title_is_cut_at_a_word_and_kept_whole_as_the_first_note() -> None:
    whole = " ".join(["word"] * 60)
    task = only_task(f"- [ ] {whole} ~2h\n  - [ ] {whole} {whole}\n\n  later")
    assert task.title == " ".join(["word"] * 39) + " word…"
    assert len(task.title) <= 200
    assert len(task.items[0].title) <= 400
    assert notes(task) == [whole, f"{whole} {whole}", "later"]


@pytest.mark.parametrize(
    "text", ["- [ ]", "- [x] \n", "- [ ] #only due:2027-02-12", "- [ ] &nbsp;"]
)
def test_a_box_without_a_title_is_reported(text: str) -> None:
    assert read_text(text).tasks == ()
    assert problems(text) == [(1, "the box has no title; write what is to be done after it")]


def test_boxes_below_an_empty_box_are_not_lost() -> None:
    file = read_text("- [ ]\n  - [ ] Buy milk\n- [ ] Move\n  - [ ]\n  - [ ] Van")
    assert titles(file) == ["Buy milk", "Move"]
    assert file.tasks[1].items == (ImportedItem("Van"),)
    assert [found.line for found in file.unreadable] == [1, 4]


def test_the_report_is_bounded_and_says_how_many_more_there_are() -> None:
    found = problems("- [ ]\n" * (UNREADABLE_MAX + 7))
    assert len(found) == UNREADABLE_MAX + 1
    assert found[-1] == (UNREADABLE_MAX + 1, "7 more from here on could not be read")


@pytest.mark.parametrize("depth", [40, 99, 150, 2000])
def test_what_is_nested_hopelessly_deep_is_an_item_or_reported_and_harms_nothing_else(
    depth: int,
) -> None:
    boxes = "".join("  " * level + f"- [ ] b{level}\n" for level in range(depth))
    file = read_text(
        f"{boxes}\n# After\n{'>' * depth} - [ ] q\n\n{'+ ' * depth}[ ] d\n\n- [ ] last"
    )
    assert file.tasks[-1].title == "last"
    items = len(file.tasks[0].items) + 1
    reported = [found for found in file.unreadable if "nested too deeply" in found.reason]
    assert items >= min(depth, 99)
    assert items + len(reported) >= min(depth, UNREADABLE_MAX)


def test_an_id_is_made_of_source_headings_title_and_place_among_equals() -> None:
    text = (
        "# Home\n## Garden\n- [ ] Mow  the LAWN ~2h\n- [x] mow the lawn\n# Work\n- [ ] Mow the lawn"
    )
    path = '["Home","Garden"]'
    assert [task.task_id for task in read_text(text).tasks] == [
        key("task", "todo.md", path, "mow the lawn", "0"),
        key("task", "todo.md", path, "mow the lawn", "1"),
        key("task", "todo.md", '["Work"]', "mow the lawn", "0"),
    ]


def test_marks_notes_items_and_ticks_do_not_change_an_id() -> None:
    before = only_task("# A\n- [ ] **Mow** the lawn")
    after = only_task(
        "# A\n\ntext\n\n* [x] Mow the lawn #a ~2h !p1 2027-01-01\n  - [ ] b\n\n  note"
    )
    assert before.task_id == after.task_id


def test_titles_that_differ_only_after_the_cut_have_their_own_ids() -> None:
    long = "word " * 50
    file = read_text(f"- [ ] {long} one\n- [ ] {long} two")
    assert len({task.title for task in file.tasks}) == 1
    assert [task.task_id for task in file.tasks] == [
        key("task", "todo.md", "[]", f"{long.strip()} {end}", "0") for end in ("one", "two")
    ]


SECTIONS = """\
- [ ] Before any heading
# Flat
Nothing to tick here.
## Kitchen due:2027-02-12 #home
Tiles are in the cellar.

- [x] Measure
  - [ ] twice
- plain
### Details
* [-] Ask for a discount
## Empty
"""


def test_with_headings_as_tasks_boxes_are_items_and_the_parent_is_the_category() -> None:
    first, kitchen, details = read_text(SECTIONS, by_heading=True).tasks
    assert (first.title, first.category) == ("Before any heading", "")
    assert (kitchen.title, kitchen.category, kitchen.due) == ("Kitchen", "Flat", "2027-02-12")
    assert kitchen.items == (ImportedItem("Measure", is_checked=True), ImportedItem("twice"))
    assert (notes(kitchen), kitchen.status) == (["Tiles are in the cellar.", "- plain"], "")
    assert kitchen.task_id == key("task", "todo.md", '["Flat"]', "kitchen", "0")
    assert (details.title, details.category, details.items) == ("Details", "Kitchen", ())
    assert notes(details) == ["* [-] Ask for a discount"]


def test_a_heading_may_carry_a_box_and_equal_headings_are_counted() -> None:
    file = read_text("# [/] A\n- [ ] a\n# A\n- [ ] b\n#\n- [ ] c", by_heading=True)
    assert [(task.title, task.status) for task in file.tasks] == [
        ("A", "IN PROGRESS"),
        ("A", ""),
        ("c", ""),
    ]
    assert len({task.task_id for task in file.tasks}) == 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("front", ["", "---\ntitle: x\n# - [ ]\n---\n", "---\na: b\n...\n"])
def test_line_ends_byte_order_marks_and_front_matter_change_nothing(
    end: str, start: str, front: str
) -> None:
    text = "# A\n\n- [ ] b #c\n  d\n  - [x] e\n\n  f\n"
    assert read_text(start + (front + text).replace("\n", end)).tasks == read_text(text).tasks


def test_lines_are_counted_in_the_file_with_its_front_matter() -> None:
    assert problems("---\ntitle: x\n---\n\n- [ ]")[0][0] == 5


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert titles(read_text("---\n\n- [ ] a\n\n---\n- [ ] b")) == ["a", "b"]
    assert titles(read_text("---\nNote: see below\n- [ ] a\n\n---\n- [ ] b")) == ["a", "b"]
    assert titles(read_text("---\ntitle: x\n- [ ] never closed")) == ["never closed"]


def test_broken_bytes_are_replaced_and_reported_once() -> None:
    file = read((DATA / "broken_bytes.md").read_bytes(), source="s")
    assert titles(file) == ["Pay the caf\ufffd bill", "NUL\ufffdhere", "Call back"]
    assert file.tasks[0].category == "Caf\ufffd"
    assert [found.line for found in file.unreadable] == [1, 5, 6, 6, 6]
    assert file.unreadable[0].reason == "this is not UTF-8; what could not be read is now \ufffd"


def test_a_lone_surrogate_in_the_source_name_is_stored_as_a_replacement() -> None:
    assert read(b"- [ ] a", source="a\udcff.md").source == "a\ufffd.md"


# ---------------------------------------------------------------------------------- marks in a line


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
        ("~0m", "is not 1 to 60000 minutes"),
        ("~126d", "is not 1 to 60000 minutes"),
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


# -------------------------------------------------------------------------- words of other programs


DIALECTS = read((DATA / "dialects.md").read_bytes(), source="dialects.md")
BY_TITLE = {task.title: task for task in DIALECTS.tasks}


def test_every_field_of_other_programs_is_taken_and_leaves_the_title() -> None:
    shown = [
        (one.title, one.due, one.priority, one.status, one.status_reason) for one in DIALECTS.tasks
    ]
    assert shown == [
        ("Paint the shed", "2027-02-12", "P1", "", ""),
        ("Water the beds", "2027-02-14", "", "", ""),
        ("Buy paint", "", "P0", "DONE", "completed on 2027-02-05"),
        ("Rent a ladder", "", "P3", "REJECTED", "cancelled on 2027-02-06"),
        ("Measure the wall", "", "", "", ""),
        ("Order the boards", "", "P2", "BLOCKED", "waiting for: Measure the wall"),
        ("Hang the door", "", "", "BLOCKED", "waiting for: Measure the wall"),
        ("Sow the peas [mood:: good]", "2027-03-01", "P1", "", ""),
        ("Call the smith, he knows @errand(town)", "2027-02-15", "", "", ""),
        ("Pay the rent", "", "", "DONE", "completed on 2027-02-01"),
        ("Look up `📅 2027-01-01` in the manual", "", "", "", ""),
        ("then plan the week", "2027-02-20", "", "", ""),
        ("Trip to Rome 2027-05-01", "2027-04-01", "", "", ""),
        ("⏫", "", "", "", ""),
    ]
    assert BY_TITLE["Paint the shed"].labels == ("task",)
    assert DIALECTS.unreadable == ()


def test_dates_that_have_no_field_are_a_note() -> None:
    assert {one.title: one.notes for one in DIALECTS.tasks if one.notes} == {
        "Paint the shed": (
            dates("scheduled for 2027-02-10, created 2027-01-30"),
        ),
        "Call the smith, he knows @errand(town)": (dates("due 2027-02-15 09:30"),),
    }  # fmt: skip


def test_how_a_line_repeats_and_when_it_starts_are_fields() -> None:
    assert {one.title: (one.repeat, one.wait_until) for one in DIALECTS.tasks if one.repeat} == {
        "Water the beds": ("FREQ=WEEKLY;FROM=DONE", "")
    }
    assert BY_TITLE["Paint the shed"].wait_until == "2027-02-08"
    assert BY_TITLE["Sow the peas [mood:: good]"].wait_until == "2027-02-20"


@pytest.mark.parametrize(
    ("line", "title", "repeat"),
    [
        ("Pay 🔁every month on the 31st due:2027-01-31 ~2h", "Pay", "FREQ=MONTHLY;BYMONTHDAY=31"),
        ("Pay [repeat:: every 2 weeks on Mon, Thu]", "Pay", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH"),
        ("Pay 🔁 every last friday of the month", "Pay 🔁 every last friday of the month", ""),
        ("Pay 🔁 every week the rent", "Pay 🔁 every week the rent", ""),
        ("🔁 every week", "🔁 every week", ""),
        ("Pay `🔁 every week`", "Pay `🔁 every week`", ""),
    ],
)
def test_a_rule_is_read_or_stays_and_older_readers_had_it_in_the_title(
    line: str, title: str, repeat: str
) -> None:
    marked = read_marks(line)
    assert (marked.title, marked.said.repeat) == (title, repeat)
    assert bool(marked.before) == bool(repeat)


def test_what_has_no_place_is_named_once_with_its_line() -> None:
    assert [(one.line, one.reason.split(" has ")[0]) for one in DIALECTS.named] == [
        (13, "⛔ nowhere is no task of this file; it was left out"),
        (14, "mood::"),
        (16, "@errand()"),
    ]
    twice = read(b"- [ ] a [x:: 1]\n- [ ] b [X:: 2]\n- [ ] c `[y:: 3]` (std::vector)", source="s")
    assert [one.line for one in twice.named] == [1]


def test_an_older_readers_ids_and_documents_are_the_same() -> None:
    kept = json.loads((DATA / "dialects_read_by_6bf4415.json").read_bytes())
    earlier = {one.task_id: one for one in DIALECTS.earlier}
    found = [earlier.get(one.task_id, one) for one in DIALECTS.tasks]
    assert [shown_as_before(one) for one in found] == kept


@pytest.mark.parametrize(
    ("line", "title", "problem"),
    [
        ("a 📅 2027-02-30", "a", "📅 2027-02-30 is no date; it was left out"),
        ("a ✅ 2027-02-30", "a ✅ 2027-02-30", ""),
        (
            "a [priority:: low] ⏫",
            "a",
            "⏫ is the second of its sort in this line; it was left out",
        ),
        ("a 📅 2027-02-01 due:2027-02-02", "a", "due:2027-02-02 is the second"),
        ("a [start:: soon]", "a [start:: soon]", ""),
        ("write to ann@due(2027-02-01)", "write to ann@due(2027-02-01)", ""),
        ("x ^2 grows ^a1b2", "x ^2 grows", ""),
    ],
)
def test_what_cannot_be_taken_is_reported_or_stays(line: str, title: str, problem: str) -> None:
    marked = read_marks(line)
    assert marked.title == title
    assert [told[: len(problem)] for told in marked.problems] == ([problem] if problem else [])


def dates(text: str) -> ImportedNote:
    return ImportedNote(text, key="dates")


def shown_as_before(task: ImportedTask) -> list[object]:
    notes = [note.text for note in task.notes]
    items = [item.title for item in task.items]
    fields = [task.title, task.category, task.status, task.priority, task.due]
    return [task.task_id, *fields, list(task.labels), items, notes]


# --------------------------------------------------------------------------------------- real files


@pytest.mark.parametrize("path", real_files(), ids=lambda path: path.name)
def test_every_box_of_a_file_is_accounted_for(path: Path) -> None:
    one = counted(path)
    where = one.tasks, one.items, one.in_notes, one.left_out
    assert one.boxes == sum(where), where


def test_a_daily_note_is_read_as_its_author_means_it() -> None:
    file = read((DATA / "daily_note.md").read_bytes(), source="daily_note.md")
    assert [(task.title, task.category, task.status, task.due) for task in file.tasks] == [
        ("Ring the plumber", "Monday", "", "2027-02-09"),
        ("Post the parcel", "Monday", "DONE", ""),
        ("Tax papers", "Carried over", "ON HOLD", ""),
        ("Sort photos (not before)", "Carried over", "", "2027-03-01"),
        ("typed in a hurry", "Carried over", "", ""),
        ("Buy bulbs, soon", "Carried over", "", "2027-02-10"),
        ("Read the report", "Carried over", "IN PROGRESS", ""),
    ]
    assert [told.line for told in file.unreadable] == [18, 27]
    assert file.tasks[-1].estimate == 90


PLANS = ("agent-sync-plan.md", "daily-os-plan.md")


def read_plan(name: str, *, headings_are_tasks: bool = False) -> ImportedFile:
    return read((THEIRS / name).read_bytes(), source=name, headings_are_tasks=headings_are_tasks)


def boxes_by_section(name: str) -> list[tuple[str, list[tuple[str, bool, str]]]]:
    """Headings with their boxes (indent, ticked, title), found line by line, without a parser."""
    found: list[tuple[str, list[tuple[str, bool, str]]]] = [("", [])]
    in_fence = False
    for line in (THEIRS / name).read_text(encoding="utf-8").splitlines():
        in_fence ^= line.lstrip().startswith("```")
        if not in_fence and (heading := re.match(r"#{1,6} (.*)", line)):
            found.append((heading[1], []))
        elif not in_fence and (box := re.match(r"( *)- \[([ x])\] (.*)", line)):
            found[-1][1].append((box[1], box[2] == "x", box[3]))
    return [(heading, boxes) for heading, boxes in found if boxes]


@has_plans
@pytest.mark.parametrize(("name", "tasks", "items"), [(PLANS[0], 30, 0), (PLANS[1], 95, 6)])
def test_every_box_is_a_task_or_an_item_under_its_heading(
    name: str, tasks: int, items: int
) -> None:
    file = read_plan(name)
    boxes = [(heading, *box) for heading, found in boxes_by_section(name) for box in found]
    top = [box for box in boxes if not box[1]]
    assert [(task.category, task.status == "DONE") for task in file.tasks] == [
        (heading.replace("**", ""), ticked) for heading, _, ticked, _ in top
    ]
    assert (len(top), len(boxes) - len(top)) == (tasks, items)
    assert sum(len(task.items) for task in file.tasks) == items
    assert len({task.task_id for task in file.tasks}) == tasks
    assert file.unreadable == ()


@has_plans
@pytest.mark.parametrize(("name", "tasks", "items"), [(PLANS[0], 8, 30), (PLANS[1], 18, 101)])
def test_with_headings_as_tasks_every_box_is_an_item(name: str, tasks: int, items: int) -> None:
    file = read_plan(name, headings_are_tasks=True)
    found = boxes_by_section(name)
    assert [(task.title, [item.is_checked for item in task.items]) for task in file.tasks] == [
        (heading, [ticked for _, ticked, _ in boxes]) for heading, boxes in found
    ]
    assert (len(file.tasks), sum(len(task.items) for task in file.tasks)) == (tasks, items)
    assert file.unreadable == ()

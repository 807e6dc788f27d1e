"""What a person writes in Markdown arrives as the tasks that they meant (SPEC 1, Importers)."""

from pathlib import Path

import pytest

from adapters.importers.common import UNREADABLE_MAX
from adapters.importers.markdown import read
from domain.journal.imported import ImportedFile, ImportedItem, ImportedTask
from domain.log.keys import key

DATA = Path(__file__).parents[1] / "data/markdown"


def read_text(text: str, *, headings_are_tasks: bool = False) -> ImportedFile:
    return read(text.encode(), source="todo.md", headings_are_tasks=headings_are_tasks)


def only_task(text: str) -> ImportedTask:
    (task,) = read_text(text).tasks
    return task


def titles(file: ImportedFile) -> list[str]:
    return [task.title for task in file.tasks]


def notes(task: ImportedTask) -> list[str]:
    return [note.text for note in task.notes]


def problems(text: str) -> list[tuple[int, str]]:
    return [(found.line, found.reason) for found in read_text(text).unreadable]


# ---------------------------------------------------------------------------- boxes and headings


@pytest.mark.parametrize("bullet", ["-", "*", "+", "1.", "12)"])
@pytest.mark.parametrize(
    ("box", "status"),
    [
        ("[ ]", ""),
        ("[]", ""),
        ("[x]", "DONE"),
        ("[X]", "DONE"),
        ("[/]", "IN PROGRESS"),
        ("[-]", "REJECTED"),
    ],
)
def test_a_box_after_any_bullet_is_a_task(bullet: str, box: str, status: str) -> None:
    task = only_task(f"{bullet} {box} Buy milk")
    assert (task.title, task.status, task.category) == ("Buy milk", status, "")


@pytest.mark.parametrize(
    "text",
    [
        "- Buy milk",
        "- [x](https://example.org) is a link",
        "```\n- [ ] a fence\n```",
        "~~~\n- [ ] a fence that never ends",
        "<!--\n\n- [ ] a comment\n-->",
        "| [ ] | a table |\n|-----|---------|\n| [x] | a table |",
        "\\- [ ] escaped",
    ],
)
def test_what_only_looks_like_a_box_is_no_task(text: str) -> None:
    assert read_text(text) == ImportedFile("markdown", "todo.md")


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


# ---------------------------------------------------------------------------------------- notes


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


# --------------------------------------------------------------------------- what is not readable


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


def test_an_unknown_mark_in_a_box_is_read_as_open_and_remarked() -> None:
    assert only_task("- [?] Buy milk").status == ""
    remarks = read_text("- [?] Buy milk").remarks
    assert [(found.line, found.reason) for found in remarks] == [(1, "the box [?] was read as [ ]")]
    assert problems("- [?] Buy milk") == []


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


# -------------------------------------------------------------------------------------- identity


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


# ----------------------------------------------------------------------------- headings as tasks

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
    first, kitchen, details = read_text(SECTIONS, headings_are_tasks=True).tasks
    assert (first.title, first.category) == ("Before any heading", "")
    assert (kitchen.title, kitchen.category, kitchen.due) == ("Kitchen", "Flat", "2027-02-12")
    assert kitchen.items == (ImportedItem("Measure", is_checked=True), ImportedItem("twice"))
    assert (notes(kitchen), kitchen.status) == (["Tiles are in the cellar.", "- plain"], "")
    assert kitchen.task_id == key("task", "todo.md", '["Flat"]', "kitchen", "0")
    assert (details.title, details.category, details.items) == ("Details", "Kitchen", ())
    assert notes(details) == ["* [-] Ask for a discount"]


def test_a_heading_may_carry_a_box_and_equal_headings_are_counted() -> None:
    file = read_text("# [/] A\n- [ ] a\n# A\n- [ ] b\n#\n- [ ] c", headings_are_tasks=True)
    assert [(task.title, task.status) for task in file.tasks] == [
        ("A", "IN PROGRESS"),
        ("A", ""),
        ("c", ""),
    ]
    assert len({task.task_id for task in file.tasks}) == 3


# ----------------------------------------------------------------------------------- messy files


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


def test_tabs_and_windows_line_ends() -> None:
    file = read((DATA / "tabs_crlf_bom.md").read_bytes(), source="s")
    first, second = file.tasks
    assert (first.title, first.category) == ("Regenrinne reinigen", "Haus & Garten")
    assert (first.estimate, first.labels) == (90, ("garten",))
    assert [item.title for item in first.items] == ["Leiter leihen", "Handschuhe kaufen"]
    assert notes(first) == ["Die Leiter steht bei Familie Öztürk."]
    assert (second.title, second.status, second.due) == (
        "Hecke schneiden",
        "IN PROGRESS",
        "2027-02-28",
    )


def test_line_ends_of_old_computers() -> None:
    file = read((DATA / "lone_cr.md").read_bytes(), source="s")
    assert [(task.title, task.category) for task in file.tasks] == [
        ("Back up the disk", "Old Mac"),
        ("Sell the printer", "Old Mac"),
    ]


def test_emoji_quotes_code_and_tables() -> None:
    file = read((DATA / "emoji_quotes_code.md").read_bytes(), source="s")
    assert [(task.title, task.category, task.status) for task in file.tasks] == [
        ("Bake 🍞 for everyone", "Weekend 🧺", ""),
        ("Read “Middlemarch”, finally", "Weekend 🧺", "DONE"),
        ("wash up", "Weekend 🧺", ""),
        ("Post office: ask for parcel `#4711`", "Errands", ""),
        ("Return the lamp", "Errands", "REJECTED"),
        ("Ask about the lease", "Errands", ""),
        ("Water the plants", "Errands", ""),
    ]
    bake = file.tasks[0]
    assert (bake.due, bake.labels) == ("2027-03-06", ("kitchen",))
    assert notes(bake) == ["> Grandma said:\n> > - [ ] buy raisins"]
    assert bake.items == (
        ImportedItem("buy raisins"),
        ImportedItem("🧂 salt", is_checked=True),
    )
    assert [found.line for found in file.unreadable] == [20, 23]


def test_broken_bytes_are_replaced_and_reported_once() -> None:
    file = read((DATA / "broken_bytes.md").read_bytes(), source="s")
    assert titles(file) == ["Pay the caf\ufffd bill", "NUL\ufffdhere", "Call back"]
    assert file.tasks[0].category == "Caf\ufffd"
    assert [found.line for found in file.unreadable] == [1, 5, 6, 6, 6]
    assert file.unreadable[0].reason == "this is not UTF-8; what could not be read is now \ufffd"


def test_a_lone_surrogate_in_the_source_name_is_stored_as_a_replacement() -> None:
    assert read(b"- [ ] a", source="a\udcff.md").source == "a\ufffd.md"

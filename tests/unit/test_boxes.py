"""Every box counts: each is read, or named with its line (SPEC 1, Importers; ADR 0026)."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from adapters.importers.github import read as read_issues
from adapters.importers.markdown import read
from domain.journal.imported import ImportedFile, ImportedTask
from domain.journal.imports import numbered
from domain.log.canonical import encode
from domain.log.keys import key

HERE = Path(__file__).parents[1] / "data/markdown"
THEIRS = Path(__file__).parents[2].parent / "shared/data/markdown"
BEFORE: dict[str, dict[str, list[str]]] = json.loads((HERE / "read_by_0_1_0.json").read_bytes())


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


# ------------------------------------------------------------------------------------------- marks


@pytest.mark.parametrize(
    ("mark", "status", "priority", "remarks"),
    [
        ("", "", "", 0),
        (" ", "", "", 0),
        ("\u00a0", "", "", 0),
        ("\u3000", "", "", 0),
        ("x", "DONE", "", 0),
        ("X", "DONE", "", 0),
        ("-", "REJECTED", "", 0),
        ("/", "IN PROGRESS", "", 0),
        (">", "ON HOLD", "", 0),
        ("!", "", "P1", 0),
        ("<", "", "", 1),
        ("?", "", "", 1),
        ("i", "", "", 1),
        ("1", "", "", 1),
        ("_", "", "", 1),
        ("*", "", "", 1),
        ("`", "", "", 1),
        ("\\", "", "", 1),
        ("✅", "", "", 1),
        ("✔\ufe0f", "", "", 1),  # with its selector
        ("👍🏽", "", "", 1),  # with a tone of skin
        ("👩\u200d💻", "", "", 1),  # joined
        ("🇩🇪", "", "", 1),
        ("1\ufe0f\u20e3", "", "", 1),  # a key
        ("e\u0301", "", "", 1),  # a letter and its accent
    ],
)
@pytest.mark.parametrize("bullet", ["- ", "* ", "+ ", "12. ", "1) ", "-", "+", "1.", "> - "])
def test_any_one_character_is_a_mark(
    bullet: str, mark: str, status: str, priority: str, remarks: int
) -> None:
    file = read_text(f"{bullet}[{mark}] Buy milk")
    (task,) = file.tasks
    assert (task.title, task.status, task.priority) == ("Buy milk", status, priority)
    assert (len(file.remarks), file.boxes_as_open, file.unreadable) == (remarks, remarks, ())


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


# ------------------------------------------------------------------------------------------- cases

CASES: dict[str, Read] = {
    # no boxes, and nobody would think so
    "- Buy milk": Read([], [], []),
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


# ---------------------------------------------------------------------------- what was read before


@pytest.mark.parametrize("name", BEFORE)
def test_what_0_1_0_read_of_a_file_keeps_its_ids_and_all_it_said(name: str) -> None:
    file_name = name.removesuffix(" by heading")
    found = next((one for one in (HERE / file_name, THEIRS / file_name) if one.exists()), None)
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


# -------------------------------------------------------------------------------- issues of GitHub


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

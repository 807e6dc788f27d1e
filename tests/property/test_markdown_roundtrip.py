"""What is written as Markdown is read back, whatever it says; and no bytes ever raise.

The renderer below is the test's own: it knows the rules of SPEC 1, not the importer.
"""

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from adapters.importers.markdown import read
from adapters.importers.markdown_line import plain
from adapters.importers.marks import read_marks
from domain.journal.imported import ImportedFile, ImportedItem, ImportedNote, ImportedTask
from domain.log.canonical import encode
from domain.log.keys import key
from domain.text import fold

BOXES = {"": " ", "DONE": "x", "IN PROGRESS": "/", "REJECTED": "-"}

words = st.text("abcdefghijklmnopqrstuvwxyzABCXYZäöüßéñ日本語🙂", min_size=1, max_size=9)
titles = st.lists(words, min_size=1, max_size=6).map(" ".join)
labels = st.text("abcxyzäöü", min_size=1, max_size=8)
items = st.lists(st.tuples(titles, st.booleans(), st.integers(0, 3)), max_size=5)


class Told(NamedTuple):
    """A task as a person thinks of it."""

    title: str
    status: str
    due: str
    estimate: int
    priority: str
    labels: list[str]
    items: list[tuple[str, bool, int]]  # title, ticked, and how deep it stands
    notes: list[str]
    marks_at: int  # before which word the marks stand


tasks = st.builds(
    Told,
    title=titles,
    status=st.sampled_from(sorted(BOXES)),
    due=st.just("") | st.dates(min_value=date(1000, 1, 1)).map(date.isoformat),
    estimate=st.integers(0, 1440),
    priority=st.sampled_from(["", "P0", "P1", "P2", "P3"]),
    labels=st.lists(labels, max_size=3, unique_by=fold),
    items=items,
    notes=st.lists(st.lists(titles, min_size=1, max_size=3).map("\n".join), max_size=3),
    marks_at=st.integers(0, 6),
)
sections = st.lists(st.tuples(titles, st.lists(tasks, min_size=1, max_size=4)), max_size=4)


def render(section: Iterable[tuple[str, list[Told]]], bullet: str) -> str:
    lines: list[str] = []
    for category, told in section:
        lines += [f"# {category}", ""]
        for task in told:
            lines += render_task(task, bullet)
    return "\n".join(lines)


def render_task(task: Told, bullet: str) -> list[str]:
    marks = [f"#{label}" for label in task.labels]
    marks += [f"due:{task.due}"] if task.due else []
    marks += [f"~{task.estimate // 60}h{task.estimate % 60}m"] if task.estimate else []
    marks += [f"!{task.priority.lower()}"] if task.priority else []
    parts = task.title.split(" ")
    line = " ".join([*parts[: task.marks_at], *marks, *parts[task.marks_at :]])
    indent = " " * (len(bullet) + 1)
    lines, depth_before = [f"{bullet} [{BOXES[task.status]}] {line}"], -1
    for title, ticked, wished in task.items:
        depth_before = depth = min(wished, depth_before + 1)
        lines.append(f"{indent * (depth + 1)}{bullet} [{'x' if ticked else ' '}] {title}")
    for note in task.notes:
        lines += ["", *(indent + part for part in note.split("\n"))]
    return [*lines, ""]


def expected(section: Iterable[tuple[str, list[Told]]], source: str) -> list[ImportedTask]:
    seen: list[tuple[str, str]] = []
    found = []
    for category, told in section:
        for task in told:
            name = encode([category]).decode(), fold(task.title)
            found.append(
                ImportedTask(
                    key("task", source, *name, str(seen.count(name))),
                    task.title,
                    category=category,
                    status=task.status,
                    priority=task.priority,
                    estimate=task.estimate,
                    due=task.due,
                    labels=tuple(task.labels),
                    items=tuple(ImportedItem(title, ticked) for title, ticked, _ in task.items),
                    notes=tuple(map(ImportedNote, task.notes)),
                )
            )
            seen.append(name)
    return found


@given(section=sections, bullet=st.sampled_from(["-", "*", "+", "1.", "1)"]))
def test_tasks_written_as_markdown_are_read_back(
    section: list[tuple[str, list[Told]]], bullet: str
) -> None:
    file = read(render(section, bullet).encode(), source="s")
    assert list(file.tasks) == expected(section, "s")
    assert file.unreadable == ()


@given(section=sections)
def test_windows_line_ends_and_a_byte_order_mark_change_nothing(
    section: list[tuple[str, list[Told]]],
) -> None:
    text = render(section, "-")
    windows = ("\ufeff" + text.replace("\n", "\r\n")).encode()
    assert read(windows, source="s") == read(text.encode(), source="s")


scraps = st.sampled_from(
    "\n|\r|\r\n|\t|    |  |- [ ] |- [x] |* [/]|1. [-] |- |> |# |```|~~~|---|===|<div>|<!--|-->|"
    "due:|2027-02-12|~2h|~99999999999d|#a|!p1|!p9|**|_|~~|`|[|](|)|\\|&amp;|&#0;|\0|\ufeff|\x85|"
    "\u2028|\xa0|a|ß|🙂|:|.|(|[[|]]|https://|title: x|+ |[>]| ".split("|")
)
messes = st.lists(scraps, max_size=60).map("".join).map(str.encode) | st.binary(max_size=200)


@given(data=messes, by_heading=st.booleans())
@example(data=b"- [ ] a\n  - [ ]\n" * 3 + b"\xff", by_heading=True)
@example(data="- [ ] &#0;\u2028x".encode(), by_heading=False)
def test_no_bytes_raise_and_the_same_bytes_give_the_same_file(
    data: bytes, by_heading: bool
) -> None:
    file = read(data, source="s", headings_are_tasks=by_heading)
    again = read(data, source="s", headings_are_tasks=by_heading)
    assert encode(file) == encode(again)
    hold_the_limits(file, lines=data.count(b"\n") + data.count(b"\r") + 1)


def hold_the_limits(file: ImportedFile, lines: int) -> None:
    assert len({task.task_id for task in file.tasks}) == len(file.tasks)
    for task in file.tasks:
        assert 1 <= len(task.title) <= 200
        assert 0 <= task.estimate <= 1440
        assert len(task.category) <= 100
        assert all(1 <= len(item.title) <= 400 for item in task.items)
        assert all(note.text.strip() and "\0" not in note.text for note in task.notes)
        assert "\0" not in task.title
    assert all(1 <= found.line <= lines for found in file.unreadable)


@given(line=st.lists(scraps, max_size=30).map("".join))
def test_text_and_mask_are_of_one_length_and_marks_never_raise(line: str) -> None:
    words = plain(line)
    assert len(words.text) == len(words.mask)
    assert "\0" not in words.text
    assert "\0" not in "".join(read_marks(line).problems)

"""Tasks from a Markdown file (SPEC 1, Importers): a pure function of its bytes.

A top-level box is a task, the boxes below it its checklist, other text below it its notes, and
the nearest heading its category. A box under a plain bullet is a top-level box. With
``headings_are_tasks`` a heading with boxes is a task and the heading above it the category.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

from adapters.importers.inline import plain
from adapters.importers.marks import Marked, read_marks
from adapters.importers.outline import (
    COLUMNS_MAX,
    Block,
    Box,
    Heading,
    Rule,
    Solid,
    Swallowed,
    outline,
    read_box,
)
from adapters.importers.texts import (
    CATEGORY_LENGTH_MAX,
    ITEM_LENGTH_MAX,
    TITLE_LENGTH_MAX,
    bounded,
    decoded,
    extra_notes,
)
from domain import canonical
from domain.journal.imported import (
    ImportedFile,
    ImportedItem,
    ImportedNote,
    ImportedTask,
    Unreadable,
)
from domain.keys import key
from domain.text import cut, fold, squeeze

_STATUS = {"x": "DONE", "/": "IN PROGRESS", "-": "REJECTED"}
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n(?=[\w\"'][^\n:]*:\s|---|\.\.\.)(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|$)"
)
_ANY_BOX = re.compile(r"(?m)^[ \t]*[-*+][ \t]+\[.?\]\s")


def read(data: bytes, *, source: str, headings_are_tasks: bool = False) -> ImportedFile:
    """Read a file whole; nothing raises, what cannot be taken over is reported.

    Args:
        data: The file's bytes, UTF-8; other bytes are replaced and reported once.
        source: Name of the source; ids are derived from it.
        headings_are_tasks: A heading with boxes is a task, its boxes the checklist.

    >>> file = read(b"# Home\\n- [/] Paint the door ~2h\\n  - [x] Buy paint", source="todo.md")
    >>> [(task.title, task.category, task.status, task.estimate) for task in file.tasks]
    [('Paint the door', 'Home', 'IN PROGRESS', 120)]
    """
    problems: list[Unreadable] = []
    text = _without_front_matter(decoded(data, problems))
    blocks, too_deep = outline(text)
    reason = f"a box further right than column {COLUMNS_MAX} is nested too deeply to read"
    problems += (Unreadable(line + 1, reason) for line in too_deep)
    source = canonical.clean(source)
    reader = _Reader(text.split("\n"), source, headings_are_tasks, problems)
    return ImportedFile("markdown", source, reader.tasks(blocks), bounded(problems))


@dataclass(slots=True)
class _Draft:
    """A task while its lines are read; lines count from 0."""

    line: int  # of the title
    start: int  # of what stands below it
    end: int
    path: tuple[str, ...]  # the headings above it
    marked: Marked
    status: str
    is_task: bool = True  # a heading is one once a box follows
    items: list[ImportedItem] = field(default_factory=list)
    notes_at: dict[int, list[str]] = field(default_factory=dict)  # lines read, and their notes
    solid: set[int] = field(default_factory=set)  # lines of code and HTML


class _Reader:
    def __init__(
        self, lines: Sequence[str], source: str, by_heading: bool, problems: list[Unreadable]
    ) -> None:
        self._lines = lines
        self._source = source
        self._by_heading = by_heading
        self._problems = problems
        self._headings: list[tuple[int, str]] = []  # level and title of those above
        self._draft: _Draft | None = None
        self._seen: Counter[tuple[str, str]] = Counter()
        self._tasks: list[ImportedTask] = []

    def tasks(self, blocks: Iterable[Block]) -> tuple[ImportedTask, ...]:
        """The tasks of the file, in its order."""
        for block in blocks:
            if self._draft and (isinstance(block, Heading) or block.line >= self._draft.end):
                self._finish(self._draft, block.line)
            match block, self._draft:
                case Heading(), _:
                    self._begin_section(block)
                case Box(), None:
                    self._begin_task(block)
                case Box(), _Draft() as draft:
                    self._add_item(draft, block)
                case Solid(line, end), _Draft(solid=solid):
                    solid.update(range(line, end))
                case Swallowed(line), _:
                    self._report(line, "the box is part of the text above; indent it as a list")
                case Rule(line, end), _Draft(notes_at=notes_at):
                    notes_at.update((number, []) for number in range(line, end))
        if self._draft:
            self._finish(self._draft, len(self._lines))
        return tuple(self._tasks)

    def _begin_section(self, heading: Heading) -> None:
        while self._headings and self._headings[-1][0] >= heading.level:
            self._headings.pop()
        title = squeeze(plain(heading.title).text)
        if self._by_heading:
            mark, text = read_box(heading.title) or (" ", heading.title)
            title = (marked := read_marks(text)).title
            if title:
                ends = heading.end, len(self._lines)
                self._draft = self._new(heading.line, *ends, marked, mark, is_task=False)
        self._headings.append((heading.level, title))

    def _begin_task(self, box: Box) -> None:
        marked = read_marks(box.title)
        if marked.title:
            self._draft = self._new(box.line, box.line + 1, box.end, marked, box.mark)
        else:
            self._report(box.line, "the box has no title; write what is to be done after it")

    def _new(
        self, line: int, start: int, end: int, marked: Marked, mark: str, *, is_task: bool = True
    ) -> _Draft:
        path = tuple(title for _, title in self._headings)
        return _Draft(line, start, end, path, marked, self._known(line, mark), is_task)

    def _add_item(self, draft: _Draft, box: Box) -> None:
        """A box below a task is an item; a struck out one stays what it is, a line of a note."""
        draft.is_task = True
        mark = self._known(box.line, box.mark)
        if mark == "-":
            return
        words = plain(box.title)
        title = squeeze(words.text)
        notes = extra_notes(title, ITEM_LENGTH_MAX, words.links)
        draft.notes_at.update((number, []) for number in range(box.start, box.line))
        draft.notes_at[box.line] = notes
        if title:
            draft.items.append(ImportedItem(cut(title, length_max=ITEM_LENGTH_MAX), mark == "x"))
        else:
            self._report(box.line, "the box has no title; write what is to be done after it")

    def _finish(self, draft: _Draft, line: int) -> None:
        """Make a task of a draft that ends before this line, at the latest."""
        self._draft = None
        if not draft.is_task:
            return
        marked, path = draft.marked, canonical.text(list(draft.path))
        for problem in marked.problems:
            self._report(draft.line, problem)
        identity = path, fold(marked.title)
        nth = self._seen[identity]
        self._seen[identity] += 1
        notes = extra_notes(marked.title, TITLE_LENGTH_MAX, marked.links)
        notes += _notes(self._lines, draft, min(draft.end, line))
        category = draft.path[-1] if draft.path else ""
        self._tasks.append(
            ImportedTask(
                key("task", self._source, *identity, str(nth)),
                cut(marked.title, length_max=TITLE_LENGTH_MAX),
                category=cut(category, length_max=CATEGORY_LENGTH_MAX),
                status=_STATUS.get(draft.status, ""),
                priority=marked.priority,
                estimate=marked.estimate,
                due=marked.due,
                labels=marked.labels,
                items=tuple(draft.items),
                notes=tuple(map(ImportedNote, notes)),
            )
        )

    def _known(self, line: int, mark: str) -> str:
        if mark in (" ", *_STATUS):
            return mark
        self._report(line, f"the box [{mark}] is not one of [ ] [x] [/] [-]; it was read as [ ]")
        return " "

    def _report(self, line: int, reason: str) -> None:
        self._problems.append(Unreadable(line + 1, reason))


def _notes(lines: Sequence[str], draft: _Draft, end: int) -> list[str]:
    """One note for each run of lines below the title without a box or a blank line between."""
    notes: list[str] = []
    block: list[str] = []
    for number in range(draft.start, end):
        is_text = number not in draft.notes_at
        if is_text and (lines[number].strip() or (block and number in draft.solid)):
            block.append(lines[number])
        else:
            notes += _note(block)
            notes += draft.notes_at.get(number, ())
            block = []
    return notes + _note(block)


def _note(block: Sequence[str]) -> list[str]:
    return [dedent("\n".join(block)).rstrip()] if block else []


def _without_front_matter(text: str) -> str:
    """The text with blank lines for what a YAML block at its top says, unless it holds boxes."""
    front = _FRONT_MATTER.match(text)
    if front and not _ANY_BOX.search(front[0]):
        text = "\n" * front[0].count("\n") + text[front.end() :]
    return text

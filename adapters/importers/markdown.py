"""Tasks from a Markdown file (SPEC 1, Importers): a pure function of its bytes.

A top-level box is a task, the boxes below it its checklist, other text below it its notes, and
the nearest heading its category. A box under a plain bullet is a top-level box. With
``headings_are_tasks`` a heading with boxes is a task and the heading above it the category.

Boxes that revision 9c15a36 took for text (ADR 0026) come after the others: they end no task that it
read, are numbered after their equals, and stay in the notes where they stood.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

from adapters.importers import exported
from adapters.importers.boxes import is_of_0_1_0, nths, read_box
from adapters.importers.inline import plain
from adapters.importers.marks import Marked, read_marks
from adapters.importers.needs import NEEDS, blocked, needed, unknown
from adapters.importers.outline import (
    COLUMNS_MAX,
    Block,
    Box,
    Heading,
    LeftOut,
    Rule,
    Solid,
    outline,
)
from adapters.importers.texts import (
    CATEGORY_LENGTH_MAX,
    DATES_KEY,
    ITEM_LENGTH_MAX,
    REASON_LENGTH_MAX,
    STAYS,
    TITLE_LENGTH_MAX,
    bounded,
    decoded,
    extra_notes,
    file_order,
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

_STATUS = {"x": "DONE", "/": "IN PROGRESS", "-": "REJECTED", ">": "ON HOLD"}
_OF_TASKS = (" ", "!", *_STATUS)
_OF_ITEMS = (" ", "x", "/", "-")
_PRIORITY = {"!": "P1"}
_QUOTE = re.compile(r"[ \t]*>[ ]?")
_NO_TITLE = "the box has no title; write what is to be done after it"
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
    source = canonical.clean(source)
    reader = _Reader(text.split("\n"), source, headings_are_tasks, problems)
    reader.is_exported = text.startswith(exported.FIRST)
    for line in too_deep:
        reader.leave_out(line, reason)
    tasks = reader.tasks(blocks)
    return ImportedFile(
        "markdown",
        source,
        tasks,
        bounded(problems),
        remarks=bounded(reader.remarks, "were read as [ ]"),
        named=bounded([*reader.named.values()], "have no place here"),
        earlier=reader.earlier,
        boxes_as_open=len(reader.remarks),
        boxes_left_out=reader.left_out,
        lines=reader.lines,
        links=reader.links(tasks),
        anchors=reader.anchors,
        formulas=reader.formulas,
    )


@dataclass(slots=True)
class _Draft:
    """A task while its lines are read; lines count from 0."""

    line: int  # of the title
    start: int  # of what stands below it
    end: int
    path: tuple[str, ...]  # the headings above it
    marked: Marked
    mark: str
    column: int = 0  # of its bullet
    is_heading: bool = False
    is_late: bool = False  # no box of it was read by revision 9c15a36
    quotes: int = 0  # that its lines stand in
    is_task: bool = True  # a heading is one once a box follows
    items: list[tuple[ImportedItem, bool]] = field(default_factory=list)  # and whether it is late
    notes_at: dict[int, list[str]] = field(default_factory=dict)  # lines read, and their notes
    late_at: dict[int, list[str]] = field(default_factory=dict)  # the same of late boxes
    solid: set[int] = field(default_factory=set)  # lines of code and HTML
    own: exported.Own | None = None  # of a file that wakelog wrote
    body: exported.Body = field(default_factory=exported.Body)


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
        self._aside: _Draft | None = None  # one whose lines Markdown takes for the other one's
        self._drafts: list[tuple[_Draft, list[str]]] = []  # those that are tasks, with their notes
        self.remarks: list[Unreadable] = []
        self.named: dict[str, Unreadable] = {}  # what means nothing here, once for the file
        self.earlier: tuple[ImportedTask, ...] = ()
        self.formulas: tuple[tuple[str, ...], ...] = ()
        self.left_out = 0
        self.is_exported = False

    @property
    def lines(self) -> tuple[int, ...]:
        """Where the titles of the tasks stand."""
        return tuple(draft.line for draft, _ in self._drafts)

    @property
    def anchors(self) -> tuple[str, ...]:
        """What the tasks are called in the file."""
        return tuple(
            f"~{draft.own.anchor}" if draft.own and draft.own.anchor else draft.marked.said.anchor
            for draft, _ in self._drafts
        )

    def links(self, tasks: Sequence[ImportedTask]) -> tuple[tuple[str, str, str], ...]:
        """Links between these tasks, as the file names them."""
        drafts = [draft for draft, _ in self._drafts]
        named = {
            draft.own.anchor: task.task_id
            for draft, task in zip(drafts, tasks, strict=True)
            if draft.own
        }
        own = (
            (task.task_id, relation, named[anchor])
            for draft, task in zip(drafts, tasks, strict=True)
            for relation, anchor in draft.body.links
            if anchor in named
        )
        found = needed(tasks, [draft.marked.said for draft in drafts])
        return (*own, *((task.task_id, NEEDS, other.task_id) for task, other in found))

    def tasks(self, blocks: Iterable[Block]) -> tuple[ImportedTask, ...]:
        """The tasks of the file, in its order."""
        for block in blocks:
            if self._aside and _ends(self._aside, block):
                self._finish(self._aside, block.line)
            if self._draft and _ends(self._draft, block):
                self._finish(self._draft, block.line)
            match block, self._draft:
                case Heading(), _:
                    self._begin_section(block)
                case Box(), None:
                    self._draft = self._task_of(block)
                case Box(), _Draft() as draft:
                    self._add_box(draft, block)
                case Solid(line, end), _Draft(solid=solid):
                    solid.update(range(line, end))
                case LeftOut(line, reason), _:
                    self.leave_out(line, reason)
                case Rule(line, end), _Draft(notes_at=notes_at):
                    notes_at.update((number, []) for number in range(line, end))
        if self._aside:
            self._finish(self._aside, len(self._lines))
        if self._draft:
            self._finish(self._draft, len(self._lines))
        return self._numbered()

    def leave_out(self, line: int, reason: str) -> None:
        """Report a box that is not read."""
        self.left_out += 1
        self._report(line, reason)

    def _begin_section(self, heading: Heading) -> None:
        while self._headings and self._headings[-1][0] >= heading.level:
            self._headings.pop()
        title = squeeze(plain(heading.title).text)
        if self._by_heading:
            found = read_box(heading.title)
            is_marked = found is not None and is_of_0_1_0(found.mark)
            mark, text = found if found and is_marked else (" ", heading.title)
            title = (marked := read_marks(text)).name
            if title:
                ends = heading.end, len(self._lines)
                draft = self._draft = self._new(heading.line, *ends, marked, mark)
                draft.is_heading, draft.is_late, draft.is_task = True, True, False
        self._headings.append((heading.level, title))

    def _task_of(self, box: Box) -> _Draft | None:
        own = exported.read_own(box.title) if self.is_exported else None
        marked = own.marked if own else read_marks(box.title)
        if not marked.title:
            self.leave_out(box.line, _NO_TITLE)
            return None
        draft = self._new(box.line, box.line + 1, box.end, marked, box.mark)
        draft.own = own
        draft.column, draft.is_late, draft.quotes = box.column, box.is_late, box.quotes
        return draft

    def _new(self, line: int, start: int, end: int, marked: Marked, mark: str) -> _Draft:
        path = tuple(title for _, title in self._headings)
        mark = self._known(line, mark, _OF_TASKS)
        return _Draft(line, start, end, path, marked, mark)

    def _add_box(self, draft: _Draft, box: Box) -> None:
        """A box below a task is an item of it, unless it stands beside it: a tight box ends no
        item for Markdown, but does for who reads it."""
        if self._aside:
            self._add_item(self._aside, box)
        elif box.is_tight and not draft.is_heading and box.column <= draft.column:
            draft.late_at.update((number, []) for number in range(box.line, box.end))
            self._aside = self._task_of(box)
        else:
            self._add_item(draft, box)

    def _add_item(self, draft: _Draft, box: Box) -> None:
        """A box below a task is an item; a struck out one stays what it is, a line of a note."""
        draft.is_task = True
        draft.is_late &= box.is_late
        if box.mark == "-":
            return
        words = plain(box.title)
        title = squeeze(words.text)
        taken = draft.late_at if box.is_late else draft.notes_at
        taken.update((number, []) for number in range(box.start, box.line))
        taken[box.line] = extra_notes(title, ITEM_LENGTH_MAX, words.links)
        if title:
            is_done = self._known(box.line, box.mark, _OF_ITEMS) == "x"
            item = ImportedItem(cut(title, length_max=ITEM_LENGTH_MAX), is_done)
            draft.items.append((item, box.is_late))
        else:
            self.leave_out(box.line, _NO_TITLE)

    def _finish(self, draft: _Draft, line: int) -> None:
        """Keep a draft that ends before this line, at the latest, if it is a task."""
        if draft is self._aside:
            self._aside = None
        else:
            self._draft = None
        if not draft.is_task:
            return
        for problem in draft.marked.problems:
            self._report(draft.line, problem)
        for name in draft.marked.said.named:
            self.named.setdefault(fold(name), Unreadable(draft.line + 1, STAYS.format(name)))
        if draft.is_late:
            draft.notes_at |= draft.late_at
        below = _notes(self._lines, draft, min(draft.end, line))
        if draft.own:
            draft.body = exported.read_body(below)
            below = [*draft.body.notes]
        self._drafts.append((draft, below))

    def _numbered(self) -> tuple[ImportedTask, ...]:
        """The tasks, their ids made of headings, title, and place among their equals."""
        self._drafts.sort(key=lambda found: found[0].line)
        names = [
            (canonical.text(list(draft.path)), fold(draft.marked.name)) for draft, _ in self._drafts
        ]
        late = [draft.is_late for draft, _ in self._drafts]
        found = zip(self._drafts, names, nths(list(zip(names, late, strict=True))), strict=True)
        self.formulas = tuple(("task", self._source, *name) for name in names)
        ids = [key("task", self._source, *name, str(nth)) for _, name, nth in found]
        drafts = list(zip(self._drafts, ids, strict=True))
        self.earlier = tuple(
            self._task(draft, draft.marked.earlier, task_id, notes)
            for (draft, notes), task_id in drafts
            if draft.marked.earlier
        )
        tasks = [
            self._task(draft, draft.marked, task_id, notes) for (draft, notes), task_id in drafts
        ]
        said = [draft.marked.said for draft, _ in self._drafts]
        for nth, name in unknown(said):
            told = f"⛔ {name} is no task of this file; it was left out"
            self.named.setdefault(told, Unreadable(self.lines[nth] + 1, told))
        return blocked(tasks, said)

    def _task(
        self, draft: _Draft, marked: Marked, task_id: str, below: Sequence[str]
    ) -> ImportedTask:
        category = draft.path[-1] if draft.path else ""
        status = _STATUS.get(draft.mark, "")
        held = f"marked [>] in {self._source}" if draft.mark == ">" else marked.said.reason(status)
        if draft.own and draft.own.status and not status:
            status = draft.own.status
            held = "" if status == "GROOMED" else f"marked status: in {self._source}"
        notes = extra_notes(marked.title, TITLE_LENGTH_MAX, marked.links)
        dates = marked.said.note(status)
        return ImportedTask(
            task_id,
            cut(marked.title, length_max=TITLE_LENGTH_MAX),
            category=cut(category, length_max=CATEGORY_LENGTH_MAX),
            status=status,
            status_reason=cut(draft.body.reason or held, length_max=REASON_LENGTH_MAX),
            priority=marked.priority or _PRIORITY.get(draft.mark, ""),
            estimate=marked.estimate,
            due=marked.due,
            labels=marked.labels,
            description=draft.body.description,
            items=file_order(draft.items),
            notes=(
                *map(ImportedNote, [*notes, *below]),
                *([ImportedNote(dates, key=DATES_KEY)] if dates else ()),
            ),
        )

    def _known(self, line: int, mark: str, known: Sequence[str]) -> str:
        if mark in known:
            return mark
        reason = f"the box [{mark}] was read as [ ]"
        self.remarks.append(Unreadable(line + 1, reason))
        return " "

    def _report(self, line: int, reason: str) -> None:
        self._problems.append(Unreadable(line + 1, reason))


def _ends(draft: _Draft, block: Block) -> bool:
    """Whether a task ends before a block. What is read late ends nothing that was read before."""
    is_older = isinstance(block, Box) and not block.is_late
    is_parted = is_older and draft.is_late and not draft.is_heading
    return isinstance(block, Heading) or block.line >= draft.end or is_parted


def _notes(lines: Sequence[str], draft: _Draft, end: int) -> list[str]:
    """One note for each run of lines below the title without a box or a blank line between."""
    notes: list[str] = []
    block: list[str] = []
    for number in range(draft.start, end):
        line = _unquoted(lines[number], draft.quotes)
        is_text = number not in draft.notes_at
        if is_text and (line.strip() or (block and number in draft.solid)):
            block.append(line)
        else:
            notes += _note(block)
            notes += draft.notes_at.get(number, ())
            block = []
    return notes + _note(block)


def _unquoted(line: str, quotes: int) -> str:
    """A line without the signs of the quotes that its task stands in, too."""
    for _ in range(quotes):
        line = _QUOTE.sub("", line, count=1)
    return line


def _note(block: Sequence[str]) -> list[str]:
    return [dedent("\n".join(block)).rstrip()] if block else []


def _without_front_matter(text: str) -> str:
    """The text with blank lines for what a YAML block at its top says, unless it holds boxes."""
    front = _FRONT_MATTER.match(text)
    if front and not _ANY_BOX.search(front[0]):
        text = "\n" * front[0].count("\n") + text[front.end() :]
    return text

"""Tasks from a Markdown file (SPEC 1, Importers): a pure function of its bytes.

A top-level box is a task, the boxes below it its checklist, other text below it its notes, and
the nearest heading its category. A box under a plain bullet is a top-level box. With
``headings_are_tasks`` a heading with boxes is a task and the heading above it the category.

Boxes that revision 9c15a36 took for text (ADR 0026) come after the others: they end no task that it
read, are numbered after their equals, and stay in the notes where they stood.

The outline comes first: which lines are headings, boxes and code. The block parser decides what is
structure; its tokens are read as they come and not kept, so a long file costs no more memory than
its lines."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import dedent
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.importers import common, writing
from adapters.importers.markdown_line import (
    box_fault,
    is_listed,
    is_of_0_1_0,
    nths,
    plain,
    read_box,
    read_tight,
)
from adapters.importers.marks import Marked, read_marks
from domain.journal.imported import (
    ImportedFile,
    ImportedItem,
    ImportedNote,
    ImportedTask,
    Unreadable,
)
from domain.log import canonical
from domain.log.keys import key
from domain.text import cut, fold, squeeze

COLUMNS_MAX = 200
"""A list or quote that begins further right is not read: it would exhaust the parser."""

QUOTES_MAX = 20

_PARSER = MarkdownIt("commonmark", {"maxNesting": 250}).disable(["reference"])

_BULLET_BEFORE = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])[ \t]+$")
_CROWDED = re.compile(r"(?m)^(?=[ \t>+*\-0-9.)]{21})")
_NO_TEXT = re.compile(r"(?i)\s*<(?:!--|(?:pre|script|style|textarea)\b)")
_PREFIX = re.compile(r"(?:[ \t>]|[-+*](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))*+")


@dataclass(slots=True)
class Box:
    """A box of a list; its lines are ``start`` up to before ``end``."""

    start: int
    line: int  # where the box itself stands; lines count from 0
    end: int
    mark: str  # " ", "x", or any other character
    title: str
    column: int  # of its bullet
    is_tight: bool = False  # it follows its bullet without a blank
    quotes: int = 0  # how many it stands in

    @property
    def is_late(self) -> bool:
        """Whether revision 9c15a36 took it for text: ids of what it read must not move."""
        return self.is_tight or self.quotes > 0 or not is_of_0_1_0(self.mark)


class Heading(NamedTuple):
    """A heading of the file itself, not of a quote or a list item."""

    line: int
    end: int
    level: int
    title: str


class Solid(NamedTuple):
    """Code or HTML: its blank lines part nothing."""

    line: int
    end: int


class Rule(NamedTuple):
    """A horizontal rule: it parts notes and says nothing."""

    line: int
    end: int


class LeftOut(NamedTuple):
    """A line that looks like a box and is none."""

    line: int
    reason: str


Block = Box | Heading | Solid | Rule | LeftOut


def outline(text: str) -> tuple[list[Block], list[int]]:
    """Blocks of a text in the order of their lines, and lines nested too deeply to read.

    Lines end with a line feed. Boxes in code and HTML are none."""
    text, too_deep = _without_the_too_deep(text)
    reader = _OutlineReader(text.split("\n"))
    _PARSER.block.parse(text, _PARSER, {}, reader)
    return reader.finished(), too_deep


class _OutlineReader(list[Token]):
    """The list that the parser fills. It stays empty: each token is read when the next one
    arrives, because the parser still writes to the one it has just pushed."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines
        self.blocks: list[Block] = []
        self._newest: Token | None = None
        self._quotes = 0
        self._items: list[tuple[Token, Box | None]] = []
        self._fresh = False  # an item has begun and its first words are still to come
        self._heading: Token | None = None

    def append(self, token: Token) -> None:
        if self._newest is not None:
            self._read(self._newest)
        self._newest = token

    def finished(self) -> list[Block]:
        """All blocks, after the last token."""
        if self._newest is not None:
            self._read(self._newest)
        return self.blocks

    def _read(self, token: Token) -> None:
        self._quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        match token.type:
            case "inline":
                self._words(token)
            case "list_item_open":
                self._items.append((token, None))
                self._fresh = True
            case "list_item_close":
                self._fresh = False
                opened, box = self._items.pop()
                if box:
                    box.end = _token_lines(opened)[1]
            case "heading_open":
                self._heading = token
            case kind if kind != "paragraph_open":
                fresh, self._fresh = self._fresh, False
                self._opaque(kind, token, is_item=fresh)

    def _words(self, token: Token) -> None:
        heading, self._heading = self._heading, None
        fresh, self._fresh = self._fresh, False
        line, _ = _token_lines(token)
        texts = token.content.split("\n")
        if heading is not None and not self._items and not self._quotes:
            level, end = int(heading.tag[1]), _token_lines(heading)[1]
            self.blocks.append(Heading(line, end, level, " ".join(texts)))
            self._left_out(line, texts if heading.markup in "=-" else [])
        elif fresh and (found := read_box(texts[0])):
            opened, _ = self._items[-1]
            column = self._column(line, texts[0])
            box = Box(_token_lines(opened)[0], line, line + 1, *found, column, quotes=self._quotes)
            self._items[-1] = opened, box
            self.blocks.append(box)
            self._text(line + 1, texts[1:])
        else:
            self._text(line, texts, is_item=fresh)

    def _text(self, first: int, texts: Sequence[str], *, is_item: bool = False) -> None:
        """The lines of a paragraph: tight boxes, each with the lines below it that are further
        right, and what looks like a box and is none."""
        above: list[Box] = []  # each further right than the one before
        for number, text in enumerate(texts, first):
            if found := read_tight(text):
                column = self._column(number, text)
                while above and above[-1].column >= column:
                    above.pop().end = number
                above.append(Box(number, number, number, *found, column, True, self._quotes))
                self.blocks.append(above[-1])
            else:
                self._left_out(number, [text], is_item=is_item and number == first)
        for box in above:
            box.end = first + len(texts)

    def _left_out(self, first: int, texts: Sequence[str], *, is_item: bool = False) -> None:
        for number, text in enumerate(texts, first):
            if reason := box_fault(text, is_item=is_item):
                self.blocks.append(LeftOut(number, reason))

    def _column(self, number: int, text: str) -> int:
        """Where a text of a line begins, or the bullet before it."""
        line = self._lines[number].rstrip()
        before = line[: len(line) - len(text.strip())]
        bullet = _BULLET_BEFORE.search(before)
        return len(before[: bullet.start() if bullet else None].expandtabs(4))

    def _opaque(self, kind: str, token: Token, *, is_item: bool) -> None:
        first, end = _token_lines(token)
        if kind in ("fence", "code_block", "html_block"):
            self.blocks.append(Solid(first, end))
        elif kind == "hr" and not self._quotes:
            self.blocks.append(Rule(first, end))
        if kind == "code_block":
            self._hidden(token, "the box is indented so far that it is code", is_item=is_item)
        elif kind == "html_block" and not _NO_TEXT.match(token.content):
            self._hidden(token, "the box is part of HTML; put a blank line before it")

    def _hidden(self, token: Token, reason: str, *, is_item: bool = False) -> None:
        """Boxes that were hardly meant as what Markdown takes them for."""
        first, _ = _token_lines(token)
        for number, text in enumerate(token.content.split("\n"), first):
            if is_listed(text) or (is_item and number == first and read_box(text)):
                self.blocks.append(LeftOut(number, reason))


def _token_lines(token: Token) -> tuple[int, int]:
    first, end = token.map or (0, 0)
    return first, end


def _without_the_too_deep(text: str) -> tuple[str, list[int]]:
    """The text with hopelessly nested lines blank, and which of them held a box."""
    if not _CROWDED.search(text):
        return text, []
    lines, boxes = text.split("\n"), []
    for number, line in enumerate(lines):
        prefix = _PREFIX.match(line)
        start = prefix[0] if prefix else ""
        wide = len(start.expandtabs(4)) > COLUMNS_MAX and start.strip()
        if wide or start.count(">") > QUOTES_MAX:
            lines[number] = ""
            if read_box(line[len(start) :]):
                boxes.append(number)
    return "\n".join(lines), boxes


# -------------------------------------------------------------------------------------------- tasks

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
    """Read a file whole, see `formats.read`.

    >>> file = read(b"# Home\\n- [/] Paint the door ~2h\\n  - [x] Buy paint", source="todo.md")
    >>> [(task.title, task.category, task.status, task.estimate) for task in file.tasks]
    [('Paint the door', 'Home', 'IN PROGRESS', 120)]
    """
    problems: list[Unreadable] = []
    text = common.decoded(data, problems)
    front = _FRONT_MATTER.match(text)
    if front and not _ANY_BOX.search(front[0]):  # a YAML block; its lines are counted all the same
        text = "\n" * front[0].count("\n") + text[front.end() :]
    blocks, too_deep = outline(text)
    source = canonical.clean(source)
    reader = _TaskReader(text.split("\n"), source, headings_are_tasks, problems)
    reader.is_exported = text.startswith(writing.FIRST)
    for line in too_deep:
        told = f"a box further right than column {COLUMNS_MAX} is nested too deeply to read"
        reader.leave_out(line, told)
    tasks = reader.tasks(blocks)
    return ImportedFile(
        "markdown",
        source,
        tasks,
        common.bounded(problems),
        remarks=common.bounded(reader.remarks, "were read as [ ]"),
        named=common.bounded([*reader.named.values()], "have no place here"),
        earlier=reader.earlier,
        boxes_as_open=len(reader.remarks),
        boxes_left_out=reader.left_out,
        lines=reader.lines,
        links=reader.links(tasks),
        anchors=reader.anchors,
        formulas=reader.formulas,
    )


@dataclass(slots=True)
class _DraftTask:
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
    own: writing.Own | None = None  # of a file that wakelog wrote
    body: writing.Body = field(default_factory=writing.Body)
    notes: Sequence[str] = ()  # once it is whole


class _TaskReader:
    def __init__(
        self, lines: Sequence[str], source: str, by_heading: bool, problems: list[Unreadable]
    ) -> None:
        self._lines, self._source = lines, source
        self._by_heading, self._problems = by_heading, problems
        self._headings: list[tuple[int, str]] = []  # level and title of those above
        self._draft: _DraftTask | None = None
        self._aside: _DraftTask | None = None  # one whose lines Markdown takes for the other one's
        self._drafts: list[_DraftTask] = []  # those that are tasks, whole
        self.remarks: list[Unreadable] = []
        self.named: dict[str, Unreadable] = {}  # what means nothing here, once for the file
        self.earlier: tuple[ImportedTask, ...] = ()
        self.formulas: tuple[tuple[str, ...], ...] = ()
        self.left_out = 0
        self.is_exported = False

    @property
    def lines(self) -> tuple[int, ...]:
        """Where the titles of the tasks stand."""
        return tuple(draft.line for draft in self._drafts)

    @property
    def anchors(self) -> tuple[str, ...]:
        """What the tasks are called in the file."""
        own = ((one.own.anchor if one.own else "", one.marked.said.anchor) for one in self._drafts)
        return tuple(f"~{name}" if name else anchor for name, anchor in own)

    def links(self, tasks: Sequence[ImportedTask]) -> tuple[tuple[str, str, str], ...]:
        """Links between these tasks, as the file names them."""
        pairs = list(zip(self._drafts, tasks, strict=True))
        named = {draft.own.anchor: task.task_id for draft, task in pairs if draft.own}
        said = [(task.task_id, *link) for draft, task in pairs for link in draft.body.links]
        own = ((one, relation, named[to]) for one, relation, to in said if to in named)
        found = common.needed_tasks(tasks, [draft.marked.said for draft in self._drafts])
        return (*own, *((task.task_id, common.NEEDS, other.task_id) for task, other in found))

    def tasks(self, blocks: Iterable[Block]) -> tuple[ImportedTask, ...]:
        for block in blocks:
            for draft in (self._aside, self._draft):
                if draft and _ends(draft, block):
                    self._finish(draft, block.line)
            match block, self._draft:
                case Heading(), _:
                    self._begin_section(block)
                case Box(), None:
                    self._draft = self._task_of(block)
                case Box(), _DraftTask() as draft:
                    self._add_box(draft, block)
                case Solid(line, end), _DraftTask(solid=solid):
                    solid.update(range(line, end))
                case LeftOut(line, reason), _:
                    self.leave_out(line, reason)
                case Rule(line, end), _DraftTask(notes_at=notes_at):
                    notes_at.update((number, []) for number in range(line, end))
        for draft in (self._aside, self._draft):
            if draft:
                self._finish(draft, len(self._lines))
        return self._numbered()

    def leave_out(self, line: int, reason: str) -> None:
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

    def _task_of(self, box: Box) -> _DraftTask | None:
        own = writing.read_own(box.title) if self.is_exported else None
        marked = own.marked if own else read_marks(box.title)
        if not marked.title:
            self.leave_out(box.line, _NO_TITLE)
            return None
        draft = self._new(box.line, box.line + 1, box.end, marked, box.mark)
        draft.own = own
        draft.column, draft.is_late, draft.quotes = box.column, box.is_late, box.quotes
        return draft

    def _new(self, line: int, start: int, end: int, marked: Marked, mark: str) -> _DraftTask:
        path = tuple(title for _, title in self._headings)
        mark = self._known(line, mark, _OF_TASKS)
        return _DraftTask(line, start, end, path, marked, mark)

    def _add_box(self, draft: _DraftTask, box: Box) -> None:
        """A box below a task is an item of it, unless it stands beside it: a tight box ends no
        item for Markdown, but does for who reads it."""
        if self._aside:
            self._add_item(self._aside, box)
        elif box.is_tight and not draft.is_heading and box.column <= draft.column:
            draft.late_at.update((number, []) for number in range(box.line, box.end))
            self._aside = self._task_of(box)
        else:
            self._add_item(draft, box)

    def _add_item(self, draft: _DraftTask, box: Box) -> None:
        """A box below a task is an item; a struck out one stays what it is, a line of a note."""
        draft.is_task = True
        draft.is_late &= box.is_late
        if box.mark == "-":
            return
        words = plain(box.title)
        title = squeeze(words.text)
        taken = draft.late_at if box.is_late else draft.notes_at
        taken.update((number, []) for number in range(box.start, box.line))
        taken[box.line] = common.extra_notes(title, common.ITEM_LENGTH_MAX, words.links)
        if title:
            is_done = self._known(box.line, box.mark, _OF_ITEMS) == "x"
            item = ImportedItem(cut(title, length_max=common.ITEM_LENGTH_MAX), is_done)
            draft.items.append((item, box.is_late))
        else:
            self.leave_out(box.line, _NO_TITLE)

    def _finish(self, draft: _DraftTask, line: int) -> None:
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
            self.named.setdefault(fold(name), Unreadable(draft.line + 1, common.STAYS.format(name)))
        if draft.is_late:
            draft.notes_at |= draft.late_at
        below = _notes(self._lines, draft, min(draft.end, line))
        if draft.own:
            draft.body = writing.read_body(below)
        draft.notes = draft.body.notes if draft.own else below
        self._drafts.append(draft)

    def _numbered(self) -> tuple[ImportedTask, ...]:
        """The tasks, their ids made of headings, title, and place among their equals."""
        self._drafts.sort(key=lambda draft: draft.line)
        self.formulas = tuple(
            ("task", self._source, canonical.text(list(draft.path)), fold(draft.marked.name))
            for draft in self._drafts
        )
        late = [draft.is_late for draft in self._drafts]
        places = nths(list(zip(self.formulas, late, strict=True)))
        ids = (key(*one, str(nth)) for one, nth in zip(self.formulas, places, strict=True))
        drafts = list(zip(self._drafts, ids, strict=True))
        before = [(draft, one, task_id) for draft, task_id in drafts for one in draft.marked.before]
        self.earlier = tuple(self._task(*one) for one in before)
        tasks = [self._task(draft, draft.marked, task_id) for draft, task_id in drafts]
        said = [draft.marked.said for draft in self._drafts]
        for nth, name in common.unknown_needs(said):
            told = f"⛔ {name} is no task of this file; it was left out"
            self.named.setdefault(told, Unreadable(self.lines[nth] + 1, told))
        return common.with_blocked(tasks, said)

    def _task(self, draft: _DraftTask, marked: Marked, task_id: str) -> ImportedTask:
        category = draft.path[-1] if draft.path else ""
        status = _STATUS.get(draft.mark, "")
        held = f"marked [>] in {self._source}" if draft.mark == ">" else marked.said.reason(status)
        if draft.own and draft.own.status and not status:
            status = draft.own.status
            held = "" if status == "GROOMED" else f"marked status: in {self._source}"
        notes = common.extra_notes(marked.title, common.TITLE_LENGTH_MAX, marked.links)
        kept = [*map(ImportedNote, [*notes, *draft.notes])]
        if dates := marked.said.note(status):
            kept.append(ImportedNote(dates, key=common.DATES_KEY))
        return ImportedTask(
            task_id,
            cut(marked.title, length_max=common.TITLE_LENGTH_MAX),
            category=cut(category, length_max=common.CATEGORY_LENGTH_MAX),
            status=status,
            status_reason=cut(draft.body.reason or held, length_max=common.REASON_LENGTH_MAX),
            priority=marked.priority or _PRIORITY.get(draft.mark, ""),
            estimate=marked.estimate,
            due=marked.due,
            labels=marked.labels,
            description=draft.body.description,
            repeat=marked.said.repeat,
            wait_until=marked.said.wait_until,
            items=common.file_order(draft.items),
            notes=tuple(kept),
        )

    def _known(self, line: int, mark: str, known: Sequence[str]) -> str:
        if mark in known:
            return mark
        self.remarks.append(Unreadable(line + 1, f"the box [{mark}] was read as [ ]"))
        return " "

    def _report(self, line: int, reason: str) -> None:
        self._problems.append(Unreadable(line + 1, reason))


def _ends(draft: _DraftTask, block: Block) -> bool:
    """Whether a task ends before a block. What is read late ends nothing that was read before."""
    is_older = isinstance(block, Box) and not block.is_late
    is_parted = is_older and draft.is_late and not draft.is_heading
    return isinstance(block, Heading) or block.line >= draft.end or is_parted


def _notes(lines: Sequence[str], draft: _DraftTask, end: int) -> list[str]:
    """One note for each run of lines below the title without a box or a blank line between."""
    notes: list[str] = []
    block: list[str] = []
    for number in range(draft.start, end):
        line = lines[number]
        for _ in range(draft.quotes):  # its signs are no text of the task
            line = _QUOTE.sub("", line, count=1)
        is_text = number not in draft.notes_at
        if is_text and (line.strip() or (block and number in draft.solid)):
            block.append(line)
        else:
            notes += _note(block)
            notes += draft.notes_at.get(number, ())
            block = []
    return notes + _note(block)


def _note(block: Sequence[str]) -> list[str]:
    return [dedent("\n".join(block)).rstrip()] if block else []

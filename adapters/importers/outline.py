"""Which lines of a Markdown text are headings, boxes and code (SPEC 1, Importers).

The block parser decides what is structure; its tokens are read as they come and not kept,
so a long file costs no more memory than its lines.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.importers.boxes import fault, is_listed, is_of_0_1_0, read_box, read_tight

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

    Lines end with a line feed. Boxes in code and HTML are none.
    """
    text, too_deep = _without_the_too_deep(text)
    reader = _Reader(text.split("\n"))
    _PARSER.block.parse(text, _PARSER, {}, reader)
    return reader.finished(), too_deep


class _Reader(list[Token]):
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
                self._close_item()
            case "heading_open":
                self._heading = token
            case "paragraph_open":
                pass
            case kind:
                fresh, self._fresh = self._fresh, False
                self._opaque(kind, token, is_item=fresh)

    def _words(self, token: Token) -> None:
        heading, self._heading = self._heading, None
        fresh, self._fresh = self._fresh, False
        line, _ = _lines(token)
        texts = token.content.split("\n")
        if heading is not None and not self._items and not self._quotes:
            level, end = int(heading.tag[1]), _lines(heading)[1]
            self.blocks.append(Heading(line, end, level, " ".join(texts)))
            self._left_out(line, texts if heading.markup in "=-" else [])
        elif fresh and (found := read_box(texts[0])):
            opened, _ = self._items[-1]
            column = self._column(line, texts[0])
            box = Box(_lines(opened)[0], line, line + 1, *found, column, quotes=self._quotes)
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
            if reason := fault(text, is_item=is_item):
                self.blocks.append(LeftOut(number, reason))

    def _column(self, number: int, text: str) -> int:
        """Where a text of a line begins, or the bullet before it."""
        line = self._lines[number].rstrip()
        before = line[: len(line) - len(text.strip())]
        bullet = _BULLET_BEFORE.search(before)
        return len(before[: bullet.start() if bullet else None].expandtabs(4))

    def _close_item(self) -> None:
        self._fresh = False
        opened, box = self._items.pop()
        if box:
            box.end = _lines(opened)[1]

    def _opaque(self, kind: str, token: Token, *, is_item: bool) -> None:
        first, end = _lines(token)
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
        first, _ = _lines(token)
        for number, text in enumerate(token.content.split("\n"), first):
            if is_listed(text) or (is_item and number == first and read_box(text)):
                self.blocks.append(LeftOut(number, reason))


def _lines(token: Token) -> tuple[int, int]:
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

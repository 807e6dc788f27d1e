"""Which lines of a Markdown text are headings, boxes and code (SPEC 1, Importers).

The block parser decides what is structure; its tokens are read as they come and not kept,
so a long file costs no more memory than its lines.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

COLUMNS_MAX = 200
"""A list or quote that begins further right is not read: it would exhaust the parser."""

QUOTES_MAX = 20

_PARSER = MarkdownIt("commonmark", {"maxNesting": 250}).disable(["reference"])

_BOX = re.compile(r"\[(.?)\](?:\s+(.*))?$")
_SWALLOWED = re.compile(r"[ \t]*(?:[-+*]|[0-9]{1,9}[.)])[ \t]+\[[ xX/-]?\]\s")
_MARKS = {" ": " ", "": " ", "x": "x", "X": "x", "/": "/", "-": "-"}
_CROWDED = re.compile(r"(?m)^(?=[ \t>+*\-0-9.)]{21})")
_PREFIX = re.compile(r"(?:[ \t>]|[-+*](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))*+")


@dataclass(slots=True)
class Box:
    """A list item that begins with a box; its lines are ``start`` up to before ``end``."""

    start: int
    line: int  # where the box itself stands; lines count from 0
    end: int
    mark: str  # " ", "x", "/", "-", or an unknown character
    title: str


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


class Swallowed(NamedTuple):
    """A line that looks like a box and is part of the paragraph above it."""

    line: int


Block = Box | Heading | Solid | Rule | Swallowed


def read_box(text: str) -> tuple[str, str] | None:
    """The mark and the rest of a text that begins with a box; None if it does not.

    >>> read_box("[X] Buy milk"), read_box("[] Buy milk"), read_box("[1] Buy milk")
    (('x', 'Buy milk'), (' ', 'Buy milk'), None)
    """
    if not (match := _BOX.match(text)):
        return None
    mark = " " if match[1].isspace() else _MARKS.get(match[1], match[1])
    if mark in "[]" or (mark != "x" and (mark.isalnum() or mark == "_")):
        return None
    return mark, (match[2] or "").strip()


def outline(text: str) -> tuple[list[Block], list[int]]:
    """Blocks of a text in the order of their lines, and lines nested too deeply to read.

    Lines end with a line feed. Boxes in code, HTML and quotes are none.
    """
    text, too_deep = _without_the_too_deep(text)
    reader = _Reader()
    _PARSER.block.parse(text, _PARSER, {}, reader)
    return reader.finished(), too_deep


class _Reader(list[Token]):
    """The list that the parser fills. It stays empty: each token is read when the next one
    arrives, because the parser still writes to the one it has just pushed."""

    def __init__(self) -> None:
        super().__init__()
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
        if self._quotes:
            self._fresh = False
            return
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
                self._fresh = False
                self._opaque(kind, token)

    def _words(self, token: Token) -> None:
        heading, self._heading = self._heading, None
        fresh, self._fresh = self._fresh, False
        line, _ = _lines(token)
        title, _, below = token.content.partition("\n")
        if heading is not None and not self._items:
            whole = " ".join(token.content.split("\n"))
            self.blocks.append(Heading(line, _lines(heading)[1], int(heading.tag[1]), whole))
        elif fresh and (found := read_box(title)):
            opened, _ = self._items[-1]
            box = Box(_lines(opened)[0], line, line + 1, *found)
            self._items[-1] = opened, box
            self.blocks.append(box)
        for number, text in enumerate(below.split("\n") if below else (), line + 1):
            if _SWALLOWED.match(text):
                self.blocks.append(Swallowed(number))

    def _close_item(self) -> None:
        self._fresh = False
        opened, box = self._items.pop()
        if box:
            box.end = _lines(opened)[1]

    def _opaque(self, kind: str, token: Token) -> None:
        if kind in ("fence", "code_block", "html_block"):
            self.blocks.append(Solid(*_lines(token)))
        elif kind == "hr":
            self.blocks.append(Rule(*_lines(token)))


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
            if ">" not in start and read_box(line[len(start) :]):
                boxes.append(number)
    return "\n".join(lines), boxes

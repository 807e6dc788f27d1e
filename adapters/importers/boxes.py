"""What is a box, and what only looks like one (SPEC 1, Importers; ADR 0026).

Any one character between brackets is a mark: people's themes and plugins have dozens of them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

MARK_LENGTH_MAX = 16  # code points; an emoji of a family has eleven

_BOX = re.compile(rf"\[([^\[\]]{{0,{MARK_LENGTH_MAX}}})\](?:\s+(.*))?$")
_BULLET = r"[ \t]*(?:(?P<sign>[-+*])|[0-9]{1,9}[.)])"
_TIGHT = re.compile(rf"{_BULLET}(?=\[)")
_LISTED = re.compile(rf"{_BULLET}[ \t]+")
_BARE = re.compile(r"\[[\sxX]\]\s+\S")
_CROWDED = re.compile(r"\[\s\][^\s(\[:]|\[[xX]\]\w")
_NOT_ONE = re.compile(r"\[(?:\s{2,}|\s+[xX-]\s*|[xX-]\s+|[xX-]{2,3})\](?:\s|$)")
_FULL_WIDTH = re.compile(r"\uff3b[\sxX]?\uff3d")
_JOINED = re.compile("\u200d.|[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


class Found(NamedTuple):
    """A box as it stands in a line. `mark` is " " for an open and "x" for a ticked one."""

    mark: str
    title: str


def read_box(text: str) -> Found | None:
    """The mark and the rest of a text that begins with a box; None if it does not.

    >>> read_box("[X] Buy milk"), read_box("[] Buy milk")
    (Found(mark='x', title='Buy milk'), Found(mark=' ', title='Buy milk'))
    >>> read_box("[i] Idea"), read_box("[x](https://example.org)"), read_box("[^1] Note")
    (Found(mark='i', title='Idea'), None, None)
    """
    match = _BOX.match(text)
    if not match or not _is_one(match[1]):
        return None
    mark = " " if not match[1] or match[1].isspace() else match[1]
    return Found("x" if mark == "X" else mark, (match[2] or "").strip())


def is_of_0_1_0(mark: str) -> bool:
    """Whether a box with this mark was read before any character was a mark."""
    return mark == "x" or (len(mark) == 1 and not (mark.isalnum() or mark == "_"))


def read_tight(text: str) -> Found | None:
    """A box that follows its bullet without a blank, which Markdown takes for text.

    >>> read_tight("  -[ ] Buy milk"), read_tight("*[x] as the editor says*")
    (Found(mark=' ', title='Buy milk'), None)
    """
    bullet = _tight(text)
    return read_box(text[bullet.end() :].rstrip()) if bullet else None


def fault(text: str, *, is_item: bool = False) -> str:
    """Why a line of text that looks like a box is none; empty: it does not look like one.

    Args:
        text: A line that is no box.
        is_item: It is the first one of a list item, its bullet taken off.

    >>> fault("[ ]Buy milk", is_item=True), fault("- [x](https://example.org)")
    ('there is no blank after the box', '')
    """
    bullet = _LISTED.match(text) or _tight(text)
    rest = text[bullet.end() :] if bullet else text.lstrip()
    if is_listed(text):
        return "the box is part of the text above; indent it as a list"
    if not bullet and not is_item:
        return "the box has no bullet; write `- [ ]`" if _BARE.match(rest) else ""
    if _CROWDED.match(rest):
        return "there is no blank after the box"
    if _NOT_ONE.match(rest):
        return "a box holds one character"
    return "a box is written with [ and ]" if _FULL_WIDTH.match(rest) else ""


def is_listed(text: str) -> bool:
    """Whether a line of code or HTML would be a box as a line of its own."""
    bullet = _LISTED.match(text) or _tight(text)
    return bool(bullet and read_box(text[bullet.end() :].rstrip()))


def nths(found: Sequence[tuple[Hashable, bool]]) -> list[int]:
    """The place of each among its equals, those that are late counted after the others.

    >>> nths([("a", True), ("a", False), ("b", False), ("a", False)])
    [2, 0, 0, 1]
    """
    counts: Counter[Hashable] = Counter()
    places = [0] * len(found)
    for at in sorted(range(len(found)), key=lambda at: found[at][1]):
        places[at] = counts[found[at][0]]
        counts[found[at][0]] += 1
    return places


def _tight(text: str) -> re.Match[str] | None:
    """A bullet right before a bracket, unless it is the sign of words in italics."""
    bullet = _TIGHT.match(text)
    is_italic = bullet and bullet["sign"] == "*" and text.rstrip().endswith("*")
    return None if is_italic else bullet


def _is_one(mark: str) -> bool:
    """Whether a person sees at most one character, with all that is joined to it."""
    if len(mark) <= 1:
        return True
    bare = "".join(c for c in _JOINED.sub("", mark) if unicodedata.category(c)[0] != "M")
    return len(bare) == 1 or bool(_FLAGS.fullmatch(bare))

"""One line of Markdown as a person reads it (SPEC 1, Importers). Linear in its length.

Emphasis loses its signs, a link becomes its text, code keeps its backticks. What is code,
link or escaped is masked: whoever looks for marks does not look there."""

import re
import string
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Sequence
from html import unescape
from typing import NamedTuple

MASKED = "\0"

_SPECIAL = re.compile(r"[`\\&<\[*_]|~~|://")
_FIRST = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|(?P<ticks>`+)"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
)
_LINK = re.compile(
    r"""!?\[(?P<text>[^\[\]]*+)\]\(\s*+
            (?:<(?P<angled>[^<>]*+)>|(?P<url>[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+))
            (?:\s++(?:"[^"]{0,300}+"|'[^']{0,300}+'|\([^()]{0,300}+\)))?\s*+\)
      | \[\[[^\[\]]*+\]\]
      | <(?P<auto>[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*+)>
      | </?[A-Za-z][^<>]*+> | <!--[^<>]*+>
      | https?://[^\s<]++""",
    re.VERBOSE,
)
_RUN = re.compile(r"\*+|_+|(?<!~)~~(?!~)")


class Plain(NamedTuple):
    """`mask` is as long as `text` and holds NUL where the text is no prose."""

    text: str
    mask: str
    links: tuple[tuple[str, str], ...] = ()  # text and address


def plain(line: str) -> Plain:
    """Read a line of Markdown.

    >>> plain("**Call** [Ann](https://example.org/ann) about `x * y`").text
    'Call Ann about `x * y`'
    """
    line = line.replace(MASKED, "\ufffd")
    if not _SPECIAL.search(line):
        return Plain(line, line)
    links: list[tuple[str, str]] = []
    text, mask = _without_links(*_without_code(line), links)
    return Plain(*_without_emphasis(text, mask), tuple(links))


def _without_code(line: str) -> tuple[str, str]:
    """Code spans masked as they stand, escaped characters and entities as what they mean."""
    texts, masks, position = list[str](), list[str](), 0
    closers: dict[int, list[int]] = {}  # where runs of backticks start, by their length
    for run in re.finditer("`+", line):
        closers.setdefault(len(run[0]), []).append(run.start())
    while match := _FIRST.search(line, position):
        before = line[position : match.start()]
        position = match.end()
        if ticks := match["ticks"]:
            starts = closers.get(len(ticks), [])
            found = bisect_right(starts, match.start())
            position = starts[found] + len(ticks) if found < len(starts) else position
            meant = line[match.start() : position]
            masked = found < len(starts)
        else:
            meant = match["escaped"] or unescape(match["entity"]).replace(MASKED, "\ufffd")
            masked = True
        texts += before, meant
        masks += before, MASKED * len(meant) if masked else meant
    return "".join([*texts, line[position:]]), "".join([*masks, line[position:]])


def _without_links(text: str, mask: str, links: list[tuple[str, str]]) -> tuple[str, str]:
    """Links as their texts, masked; their addresses are added to `links`."""
    texts, masks, position = list[str](), list[str](), 0
    for match in _LINK.finditer(mask):
        shown, url = text[match.start() : match.end()], ""
        if match["text"] is not None:
            words, address = match.span("text"), match.span("angled" if match["angled"] else "url")
            shown, _ = _without_emphasis(text[slice(*words)], mask[slice(*words)])
            url = text[slice(*address)].strip() if address[0] >= 0 else ""
        elif match["auto"] is not None:
            shown = text[slice(*match.span("auto"))]
        if url and shown.strip():
            links.append((shown.strip(), url))
        before = slice(position, match.start())
        texts += text[before], shown or url
        masks += mask[before], MASKED * len(shown or url)
        position = match.end()
    return "".join([*texts, text[position:]]), "".join([*masks, mask[position:]])


def _without_emphasis(text: str, mask: str) -> tuple[str, str]:
    """Text and mask without the signs of bold, italic and struck out words."""
    openers: dict[str, list[list[int]]] = {"*": [], "_": [], "~": []}  # [start, length]
    dropped: set[int] = set()
    for match in _RUN.finditer(mask):
        waiting = openers[match[0][0]]
        start, end = match.span()
        opens, closes = _flanks(mask, start, end)
        while closes and waiting and start < end:
            opener = waiting[-1]
            size = min(opener[1], end - start)
            opener[1] -= size
            dropped.update(range(opener[0] + opener[1], opener[0] + opener[1] + size))
            dropped.update(range(start, start + size))
            start += size
            if not opener[1]:
                waiting.pop()
        if opens and start < end:
            waiting.append([start, end - start])
    if not dropped:
        return text, mask
    kept = [place for place in range(len(text)) if place not in dropped]
    return "".join(text[place] for place in kept), "".join(mask[place] for place in kept)


def _flanks(mask: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether a run may open and may close emphasis, by CommonMark's rule."""
    before, after = mask[start - 1 : start] or " ", mask[end : end + 1] or " "
    sign_before, sign_after = _is_sign(before), _is_sign(after)
    left = not after.isspace() and (not sign_after or before.isspace() or sign_before)
    right = not before.isspace() and (not sign_before or after.isspace() or sign_after)
    if mask[start] == "_":
        return left and (not right or sign_before), right and (not left or sign_after)
    return left, right


def _is_sign(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character)[0] in "PS"


# -------------------------------------------------------------------------------------------- boxes
# Any one character between brackets is a mark: people's themes and plugins have dozens of them
# (ADR 0026).

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


class MarkedBox(NamedTuple):
    """A box as it stands in a line. `mark` is " " for an open and "x" for a ticked one."""

    mark: str
    title: str


def read_box(text: str) -> MarkedBox | None:
    """The mark and the rest of a text that begins with a box; None if it does not.

    >>> read_box("[X] Buy milk"), read_box("[] Buy milk")
    (MarkedBox(mark='x', title='Buy milk'), MarkedBox(mark=' ', title='Buy milk'))
    >>> read_box("[i] Idea"), read_box("[x](https://example.org)"), read_box("[^1] Note")
    (MarkedBox(mark='i', title='Idea'), None, None)
    """
    match = _BOX.match(text)
    if not match or not _is_one(match[1]):
        return None
    mark = " " if not match[1] or match[1].isspace() else match[1]
    return MarkedBox("x" if mark == "X" else mark, (match[2] or "").strip())


def is_of_0_1_0(mark: str) -> bool:
    """Whether a box with this mark was read before any character was a mark."""
    return mark == "x" or (len(mark) == 1 and not (mark.isalnum() or mark == "_"))


def read_tight(text: str) -> MarkedBox | None:
    """A box that follows its bullet without a blank, which Markdown takes for text.

    >>> read_tight("  -[ ] Buy milk"), read_tight("*[x] as the editor says*")
    (MarkedBox(mark=' ', title='Buy milk'), None)
    """
    bullet = _tight(text)
    return read_box(text[bullet.end() :].rstrip()) if bullet else None


def box_fault(text: str, *, is_item: bool = False) -> str:
    """Why a line of text that is no box looks like one; empty: it does not. `is_item`: it is the
    first one of a list item, its bullet taken off.

    >>> box_fault("[ ]Buy milk", is_item=True), box_fault("- [x](https://example.org)")
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

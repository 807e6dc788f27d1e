"""One line of Markdown as a person reads it (SPEC 1, Importers). Linear in its length.

Emphasis loses its signs, a link becomes its text, code keeps its backticks. What is code,
link or escaped is masked: whoever looks for marks does not look there.
"""

import re
import string
import unicodedata
from bisect import bisect_right
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
    texts: list[str] = []
    masks: list[str] = []
    position = 0
    closers = _closers(line)
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


def _closers(line: str) -> dict[int, list[int]]:
    """Where runs of backticks start, by their length."""
    starts: dict[int, list[int]] = {}
    for run in re.finditer("`+", line):
        starts.setdefault(len(run[0]), []).append(run.start())
    return starts


def _without_links(text: str, mask: str, links: list[tuple[str, str]]) -> tuple[str, str]:
    """Links as their texts, masked; their addresses are added to `links`."""
    texts: list[str] = []
    masks: list[str] = []
    position = 0
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

"""Texts as sentences, and the helpers that all phrase rules share.

Patterns are ASCII and case-insensitive with the German letters spelled out, so they match the
same text under every Python; every repetition in them is bounded. Code blocks and quotes are
not read: they are somebody else's words.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from adapters.models.offline.phrasing import LETTERS, grammar, meanings, says, vocabulary
from domain.text import cut, fold, squeeze

QUOTE_LENGTH_MAX = 160
CONTEXT_CHARS_MAX = 120
WRAPPED_MIN = 60
"""A shorter line was broken by the person."""

NEGATIVE, CONDITIONAL = vocabulary("negative"), vocabulary("conditional")
SELF = vocabulary("self")
"""Who writes: "I", "we"."""

_LEAD = re.compile("^([^:]{1,60}): ")
_NAME = rf"[A-ZÄÖÜ][{LETTERS}.]{{1,20}}"
_SPEAKER = re.compile(rf"^(?:{_NAME} )?{_NAME}(?: \([^)]{{1,20}}\))?: (?P<said>.*)")
OWN_HEADS = vocabulary("own_lead", "topics")
"""Words before a colon that name nobody."""
_BULLET = re.compile(
    r"(?P<mark>(?:[-*+•–]|[a-h]\)|(?P<nth>\d{1,3})[.)]) )?"
    r"(?:\[(?P<box>[ xX])\] |(?P<tick>[✓✔✅]) ?)?"
)
_STOP = re.compile(r"[.!?…]{1,8}(?= |$)")
_HEADED = re.compile("[^:]{1,20}: ?")
_LAST_WORD = re.compile(rf"[{LETTERS}0-9]{{1,20}}$")
_WORD = re.compile(rf"[{LETTERS}0-9']{{1,40}}")
_CLAUSE = re.compile(r"[,;:(]")
_SMALL = re.compile(" [a-zà-öø-ÿ]")


class TextLine(Struct, frozen=True):
    """A line of text without its list mark."""

    text: str
    is_bullet: bool = False
    box: str = ""  # "", " " (open) or "x"


def lines(text: str) -> Iterator[TextLine]:
    """The lines outside code blocks and quotes, up to a mail below; a blank one is empty."""
    is_code = False
    for raw in _unwrapped(text):
        line = squeeze(raw)
        if line.startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not line.startswith((">", "|")):
            if grammar("mail_below").fullmatch(line):
                return
            yield _line(line)


def _unwrapped(text: str) -> Iterator[str]:
    """The lines as they were before a mail program broke them."""
    kept = ""
    least = WRAPPED_MIN if text != text.lower() else len(text)  # else all lines begin like that
    for line in text.splitlines():
        is_broken = len(kept) >= least and kept[-1:] not in ".!?:" and line[:1].islower()
        if is_broken and not _HEADED.match(line):
            kept += " " + line
            continue
        if kept:
            yield kept
        kept = line
        if not line:
            yield line
    if kept:
        yield kept


def sentences(text: str) -> Iterator[str]:
    """The sentences of one line, each with its full stop.

    >>> list(sentences("Dauert ca. 2 h. Bis 4. Dezember fertig!"))
    ['Dauert ca. 2 h.', 'Bis 4. Dezember fertig!']
    """
    start = 0
    for stop in _STOP.finditer(text):
        if not _is_abbreviation(text, stop):
            yield text[start : stop.end()]
            start = stop.end() + 1
    if start < len(text):
        yield text[start:]


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of all lines of a text."""
    for line in lines(text):
        yield from sentences(line.text)


def is_question(sentence: str) -> bool:
    """Whether the sentence asks."""
    return "?" in sentence[-8:]


def is_hearsay(sentence: str, position: int) -> bool:
    """Whether what begins at a position is somebody else's speech, as far as that can be told."""
    lead = _LEAD.match(sentence)
    if lead and lead.end() <= position and not vocabulary("own_lead").issuperset(words(lead[1])):
        return True
    return is_quoted(sentence, position) or says(words(sentence), "speech")


def is_quoted(sentence: str, position: int) -> bool:
    """Whether what begins at a position stands in quotes, or after who says it: "Anna: I ..."."""
    head = sentence[:position]
    if head.count('"') % 2 == 1 or head.count("„") > head.count("“") + head.count("”"):
        return True
    lead = _SPEAKER.match(sentence)
    if lead is None or lead.start("said") > position or not _speaks(lead["said"]):
        return False
    return OWN_HEADS.isdisjoint(words(sentence[: lead.start("said")]))


def words(text: str) -> list[str]:
    """The words of a text, folded."""
    return _WORD.findall(fold(text))


def clause_before(sentence: str, position: int) -> frozenset[str]:
    """The folded words of the clause before a position; "don't forget" denies nothing."""
    head = sentence[max(0, position - CONTEXT_CHARS_MAX) : position]
    return frozenset(words(grammar("reminds").sub("", _CLAUSE.split(head)[-1])))


def quote(sentence: str, start: int = 0, end: int = 0) -> str:
    """The sentence, or in a long one the words around a span."""
    if len(sentence) <= QUOTE_LENGTH_MAX:
        return sentence
    begin = max(0, min(start, end - QUOTE_LENGTH_MAX // 2))
    lead = "…" if begin else ""
    return lead + cut(sentence[begin:], length_max=QUOTE_LENGTH_MAX - len(lead))


def contains(whole: str, part: str) -> bool:
    """Whether a folded text holds another as whole words."""
    position = whole.find(part)
    while position >= 0:
        before, after = whole[:position][-1:], whole[position + len(part) :][:1]
        if not _WORD.match(before) and not _WORD.match(after):
            return True
        position = whole.find(part, position + 1)
    return False


def _line(line: str) -> TextLine:
    mark = _BULLET.match(line)
    if mark and mark["nth"] and _is_month(line[mark.end() :]):
        mark = None
    rest = line[mark.end() :] if mark else line
    box = "" if mark is None else "x" if mark["tick"] else box_of(mark["box"])
    is_bullet = bool(mark and (mark["mark"] or box))
    return TextLine(rest.replace("**", "").replace("__", ""), is_bullet, box)


def box_of(box: str | None) -> str:
    """What stands in a box: nothing, a blank, or ``x``."""
    return "" if box is None else "x" if box in "xX" else " "


def _is_abbreviation(text: str, stop: re.Match[str]) -> bool:
    """Whether a full stop belongs to its word: "ca.", "4. Dezember", "z. B."."""
    last = _LAST_WORD.search(text, max(0, stop.start() - 20), stop.start())
    if stop[0] != "." or last is None or stop.end() >= len(text):
        return False
    if last[0].isdecimal() and text[last.start() - 1 : last.start()] != ":":
        rest = text[stop.end() :]
        return len(last[0]) <= 2 and bool(_SMALL.match(rest) or _is_month(rest.lstrip(" ")))
    if fold(last[0]) in NEGATIVE:  # a number, or the end of "he said no."
        return text[stop.end() + 1 : stop.end() + 2].isdecimal()
    return fold(last[0]) in vocabulary("abbreviations")


def _is_month(text: str) -> bool:
    """Whether a text begins with a month, or with a part of its name."""
    first = next(iter(words(text[:20])), "")
    return len(first) > 2 and first in meanings("months")


def _speaks(said: str) -> bool:
    """Whether somebody speaks: in quotes, or of oneself or to another."""
    is_told = says(words(said[:80]), "addresses")
    return said[:1] in ('"', "„", "“", "'", "»") or is_told


# ----------------------------------------------------------------------------- what a sentence says


class Phrase(Struct, frozen=True):
    """A value, and the words it was read from."""

    value: str
    quote: str

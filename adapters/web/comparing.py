"""Two texts beside each other, word by word: what one has more, and what it has less."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

WORDS_MAX = 800  # of each text that are compared word by word; longer ones by lines
LINES_MAX = 800  # of texts that are not told as two wholes
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class Part(NamedTuple):
    """A piece of two texts: it stands in both, or in one of them."""

    kind: Literal["both", "added", "removed"]
    text: str


def differences(old: str, new: str) -> Sequence[Part]:
    """What of two texts is the same, and what is not, in the order of the newer one.

    >>> [tuple(one) for one in differences("due on Monday", "due on Friday")]
    [('both', 'due on '), ('removed', 'Monday'), ('added', 'Friday')]
    """
    before, after = _parted(old, new)
    if max(len(before), len(after)) > LINES_MAX:
        return [Part("removed", old), Part("added", new)]
    found: list[Part] = []
    matcher = SequenceMatcher(None, before, after)  # a word that fills a long text anchors nothing
    for _, first, last, begin, end in matcher.get_opcodes():
        gone, come = "".join(before[first:last]), "".join(after[begin:end])
        if gone == come:
            found.append(Part("both", come))
            continue
        found += [Part("removed", gone)] if gone else []
        found += [Part("added", come)] if come else []
    return found


def _parted(old: str, new: str) -> tuple[list[str], list[str]]:
    """Both texts in words, or in lines where they are long."""
    words = _WORDS.findall(old), _WORDS.findall(new)
    if max(map(len, words)) <= WORDS_MAX:
        return words
    return _LINES.findall(old), _LINES.findall(new)
